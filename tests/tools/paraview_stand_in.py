#!/usr/bin/env python3
"""What the scripts for ParaView use of `paraview.simple`, by VTK alone, and a picture of it.

usage: paraview_stand_in.py SCRIPT PICTURE.png HEIGHT X Z

Runs SCRIPT and draws the last time along y, without perspective: HEIGHT m high, 400 x 400 pixels, with x = X and
z = Z in the middle. Needs a display for versions of VTK that can do nothing else: run it in xvfb-run. Exit code 77: VTK
is not there, or too old for a file."""
import os
import sys
import types
import xml.etree.ElementTree as ElementTree

try:
    import vtkmodules.vtkInteractionStyle  # noqa: F401
    import vtkmodules.vtkRenderingFreeType  # noqa: F401
    import vtkmodules.vtkRenderingOpenGL2  # noqa: F401
    from vtkmodules.numpy_interface import dataset_adapter
    from vtkmodules.vtkCommonCore import vtkVersion
    from vtkmodules.vtkCommonDataModel import vtkPolyData
    from vtkmodules.vtkFiltersCore import vtkGlyph3D, vtkThreshold
    from vtkmodules.vtkFiltersSources import vtkSphereSource
    from vtkmodules.vtkIOImage import vtkPNGWriter
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader
    from vtkmodules.vtkRenderingCore import vtkActor, vtkDataSetMapper, vtkRenderer, vtkRenderWindow, vtkWindowToImageFilter
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

PIXELS = 400


class Proxy:
    """Something that has data: at the last time of the run."""

    def __init__(self, make):
        self.make = make

    @property
    def data(self):
        return self.make()

    def UpdatePipeline(self):
        pass

    def GetDataInformation(self):
        return self.data


def read_vtp(path):
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(path)
    reader.Update()
    return reader.GetOutput()


def read_vtkhdf(path):
    if (vtkVersion.GetVTKMajorVersion(), vtkVersion.GetVTKMinorVersion()) < (9, 3):
        print("skipped: VTK before 9.3 reads no steps of polygons")
        sys.exit(77)
    from vtkmodules.vtkIOHDF import vtkHDFReader
    reader = vtkHDFReader()
    reader.SetFileName(path)
    reader.UpdateInformation()
    reader.SetStep(reader.GetNumberOfSteps() - 1)
    reader.Update()
    return reader.GetOutputDataObject(0)


def open_data_file(path):
    if path.endswith(".vtkhdf"):
        return Proxy(lambda: read_vtkhdf(path))
    if path.endswith(".pvd"):
        last = max(ElementTree.parse(path).getroot().iter("DataSet"), key=lambda d: float(d.get("timestep")))
        path = os.path.join(os.path.dirname(path), last.get("file"))
    return Proxy(lambda: read_vtp(path))


def glyph(Input, GlyphType, ScaleArray, ScaleFactor, GlyphMode):
    assert (GlyphType, ScaleArray[0], GlyphMode) == ("Sphere", "POINTS", "All Points")
    ball = vtkSphereSource()  # as ParaView's: radius 0.5, eight by eight

    def make():
        source, filter_, kind = vtkSphereSource(), vtkGlyph3D(), made.GlyphType
        source.SetRadius(ball.GetRadius())
        source.SetThetaResolution(kind.ThetaResolution)
        source.SetPhiResolution(kind.PhiResolution)
        filter_.SetInputData(Input.data)
        filter_.SetSourceConnection(source.GetOutputPort())
        filter_.SetInputArrayToProcess(0, 0, 0, 0, ScaleArray[1])
        filter_.SetScaleModeToScaleByScalar()
        filter_.SetScaleFactor(ScaleFactor)
        filter_.Update()
        return filter_.GetOutput()
    made = Proxy(make)
    made.GlyphType = types.SimpleNamespace(ThetaResolution=8, PhiResolution=8)
    return made


def threshold(Input, Scalars, LowerThreshold, ThresholdMethod):
    assert ThresholdMethod == "Above Lower Threshold"

    def make():
        filter_ = vtkThreshold()
        filter_.SetInputData(Input.data)
        filter_.SetInputArrayToProcess(0, 0, 0, 0, Scalars[1])
        filter_.SetThresholdFunction(vtkThreshold.THRESHOLD_UPPER)
        filter_.SetUpperThreshold(LowerThreshold)
        filter_.Update()
        return filter_.GetOutput()
    return Proxy(make)


def programmable_filter(Input, OutputDataSetType, Script):
    assert OutputDataSetType == "vtkPolyData"

    def make():
        output = dataset_adapter.WrapDataObject(vtkPolyData())
        exec(Script, {"inputs": [dataset_adapter.WrapDataObject(i.data) for i in Input], "output": output})
        return output.VTKObject
    return Proxy(make)


class View:
    """One window; what a script knows of it is where its camera is."""

    def __init__(self):
        self.shown, self.CameraPosition, self.CameraFocalPoint, self.CameraViewUp = [], [0, 0, 10], [0, 0, 0], [0, 1, 0]

    def show(self, proxy, _view):
        look = types.SimpleNamespace(Opacity=1, RescaleTransferFunctionToDataRangeOverTime=lambda: None)
        self.shown.append((proxy, look))
        return look

    def draw(self, path, height, x, z):
        assert self.CameraViewUp == [0, 0, 1] and self.CameraPosition[1] < self.CameraFocalPoint[1], "expected the front"
        window, renderer, writer, picture = vtkRenderWindow(), vtkRenderer(), vtkPNGWriter(), vtkWindowToImageFilter()
        window.SetOffScreenRendering(1)
        window.SetMultiSamples(0)
        window.SetSize(PIXELS, PIXELS)
        window.AddRenderer(renderer)
        for proxy, look in self.shown:
            mapper, actor = vtkDataSetMapper(), vtkActor()
            mapper.SetInputData(proxy.data)
            mapper.ScalarVisibilityOff()
            actor.SetMapper(mapper)
            actor.GetProperty().SetLighting(False)
            actor.GetProperty().SetOpacity(look.Opacity)
            renderer.AddActor(actor)
        camera = renderer.GetActiveCamera()
        camera.ParallelProjectionOn()
        camera.SetParallelScale(height / 2)
        camera.SetFocalPoint(x, 0, z)
        camera.SetPosition(x, -10 * height, z)
        camera.SetViewUp(*self.CameraViewUp)
        renderer.ResetCameraClippingRange()
        window.Render()
        picture.SetInput(window)
        writer.SetInputConnection(picture.GetOutputPort())
        writer.SetFileName(path)
        writer.Write()


def main():
    script, path, height, x, z = sys.argv[1], sys.argv[2], *map(float, sys.argv[3:])
    view, simple = View(), types.ModuleType("paraview.simple")
    vars(simple).update(
        ColorBy=lambda *_: None, GetActiveViewOrCreate=lambda _: view, Glyph=glyph, OpenDataFile=open_data_file, Threshold=threshold,
        ProgrammableFilter=programmable_filter, Render=lambda _: None, ResetCamera=lambda _: None, Show=view.show,
        GetAnimationScene=lambda: types.SimpleNamespace(UpdateAnimationUsingDataTimeSteps=lambda: None))
    sys.modules.update({"paraview": types.ModuleType("paraview"), "paraview.simple": simple})
    with open(script, encoding="utf-8") as file:
        exec(compile(file.read(), script, "exec"), {"__file__": script})
    view.draw(path, height, x, z)


if __name__ == "__main__":
    main()
