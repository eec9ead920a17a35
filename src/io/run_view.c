/* run_view.c - paraview/view.py: a script that shows a run in ParaView as it was. Balls are glyphs;
 * other bodies are placed by a programmable filter: their shapes stand once in shapes_geometry.vtp,
 * and each frame has a position and an orientation for each body. */
#include "io/run_view.h"

#include "base/status.h"
#include "io/file.h"

static const char *const script =
    "\"\"\"Shows this run in ParaView: paraview --script=view.py, or File > Load State.\"\"\"\n"
    "import os\n"
    "\n"
    "from paraview.simple import (ColorBy, Glyph, GetActiveViewOrCreate, OpenDataFile,\n"
    "                             ProgrammableFilter, Render, ResetCamera, Show,\n"
    "                             GetAnimationScene)\n"
    "\n"
    "FOLDER = os.path.dirname(os.path.abspath(globals().get(\"__file__\", \"view.py\")))\n"
    "\n"
    "# x + R(q) p for the corners p of each body's shape, q = w, x, y, z\n"
    "PLACE = \"\"\"\n"
    "import numpy as np\n"
    "from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy\n"
    "from vtkmodules.vtkCommonCore import vtkPoints\n"
    "from vtkmodules.vtkCommonDataModel import vtkCellArray\n"
    "bodies, solids = inputs[0], inputs[1]\n"
    "corners = np.asarray(solids.Points)\n"
    "ends = vtk_to_numpy(solids.VTKObject.GetPolys().GetOffsetsArray())\n"
    "number = np.asarray(solids.CellData['geometry'])\n"
    "of = np.asarray(bodies.PointData['geometry'])\n"
    "first, last = np.searchsorted(number, of), np.searchsorted(number, of + 1)\n"
    "points, sizes = [np.zeros((0, 3))], [np.zeros(1, dtype=np.int64)]\n"
    "for a, b, x, q in zip(first, last, np.asarray(bodies.Points),\n"
    "                      np.asarray(bodies.PointData['orientation'])):\n"
    "    p = corners[ends[a]:ends[b]]\n"
    "    t = 2 * np.cross(q[1:], p)\n"
    "    points.append(x + p + q[0] * t + np.cross(q[1:], t))\n"
    "    sizes.append(np.diff(ends[a:b + 1]))\n"
    "points = np.concatenate(points)\n"
    "offsets = np.cumsum(np.concatenate(sizes)).astype(np.int64)\n"
    "places, cells = vtkPoints(), vtkCellArray()\n"
    "places.SetData(numpy_to_vtk(points, deep=True))\n"
    "cells.SetData(numpy_to_vtk(offsets, deep=True),\n"
    "              numpy_to_vtk(np.arange(len(points), dtype=np.int64), deep=True))\n"
    "output.VTKObject.Initialize()\n"
    "output.VTKObject.SetPoints(places)\n"
    "output.VTKObject.SetPolys(cells)\n"
    "for name in bodies.PointData.keys():\n"
    "    output.CellData.append(np.repeat(np.asarray(bodies.PointData[name]), last - first,\n"
    "                                     axis=0), name)\n"
    "\"\"\"\n"
    "\n"
    "\n"
    "def series(name):\n"
    "    path = os.path.join(FOLDER, name)\n"
    "    return OpenDataFile(path) if os.path.exists(path) else None\n"
    "\n"
    "\n"
    "def colour(shown, where):\n"
    "    ColorBy(shown, (where, \"speed\"))\n"
    "    shown.RescaleTransferFunctionToDataRangeOverTime()\n"
    "\n"
    "\n"
    "view = GetActiveViewOrCreate(\"RenderView\")\n"
    "balls, shapes, walls = series(\"bodies.pvd\"), series(\"shapes.pvd\"), series(\"walls.pvd\")\n"
    "if balls:\n"
    "    glyphs = Glyph(Input=balls, GlyphType=\"Sphere\", ScaleArray=[\"POINTS\", \"radius\"],\n"
    "                   ScaleFactor=2, GlyphMode=\"All Points\")\n"
    "    colour(Show(glyphs, view), \"POINTS\")\n"
    "if shapes:\n"
    "    placed = ProgrammableFilter(Input=[shapes, series(\"shapes_geometry.vtp\")],\n"
    "                                OutputDataSetType=\"vtkPolyData\", Script=PLACE)\n"
    "    colour(Show(placed, view), \"CELLS\")\n"
    "if walls:\n"
    "    Show(walls, view).Opacity = 0.2\n"
    "GetAnimationScene().UpdateAnimationUsingDataTimeSteps()\n"
    "ResetCamera(view)\n"
    "Render(view)\n";

cairn_status cairn_run_view_write(const char *folder, cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    cairn_file file;
    TRY(cairn_path_join(folder, "view.py", path, error));
    TRY(cairn_file_create(path, &file, error));
    fputs(script, file.stream);
    return cairn_file_commit(&file, error);
}
