/* view_script.c - paraview/view.py: a script that shows a run in ParaView as it was. Balls are
 * glyphs. The script needs the folder only, not cairn. */
#include <stdio.h>

#include "base/common.h"
#include "file/file.h"
#include "run/drawing.h"

static const char *const script =
    "\"\"\"Shows this run in ParaView, started in this folder: paraview --script=view.py\"\"\"\n"
    "import os\n"
    "\n"
    "from paraview.simple import (ColorBy, Glyph, GetActiveViewOrCreate, GetAnimationScene,\n"
    "                             OpenDataFile, Render, ResetCamera, Show)\n"
    "\n"
    "# ParaView does not tell a script where it is; pvpython does\n"
    "FOLDER = os.path.dirname(os.path.abspath(globals().get(\"__file__\", \"view.py\")))\n"
    "if not os.path.exists(os.path.join(FOLDER, \"walls.pvd\")):\n"
    "    raise RuntimeError(\"start ParaView in the folder of view.py: there is no walls.pvd "
    "here\")\n"
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
    "    count = balls.GetDataInformation().GetNumberOfPoints()\n"
    "    glyphs.GlyphType.ThetaResolution = 32 if count < 5000 else 16 if count < 50000 else 8\n"
    "    glyphs.GlyphType.PhiResolution = glyphs.GlyphType.ThetaResolution // 2\n"
    "    colour(Show(glyphs, view), \"POINTS\")\n"
    "if shapes:\n"
    "    colour(Show(shapes, view), \"CELLS\")\n"
    "if walls:\n"
    "    Show(walls, view).Opacity = 0.2\n"
    "cell = series(\"cell.pvd\")\n"
    "if cell:  # of a periodic run\n"
    "    Show(cell, view)\n"
    "GetAnimationScene().UpdateAnimationUsingDataTimeSteps()\n"
    "ResetCamera(view)\n"
    "bounds = [s.GetDataInformation().GetBounds() for s in (balls, shapes, walls) if s]\n"
    "if max(b[5] for b in bounds) > min(b[4] for b in bounds):  # 3D: from the front, z up\n"
    "    reach = view.CameraPosition[2] - view.CameraFocalPoint[2]\n"
    "    x, y, z = view.CameraFocalPoint\n"
    "    view.CameraPosition, view.CameraViewUp = [x, y - reach, z], [0, 0, 1]\n"
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
