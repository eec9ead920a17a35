#!/usr/bin/env python3
"""Reads every ParaView file of a run with VTK's own reader and compares it with run.h5.

usage: check_vtk.py RUN_FOLDER...; exit code 77: vtk or h5py is not there."""
import os
import sys
import xml.etree.ElementTree as ET

try:
    import h5py
    import numpy as np
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

POINT_ARRAYS = {"radius": 1, "force": 3, "mass": 1, "id": 1, "material": 1, "motion": 1, "speed": 1,
                "velocity": 3, "angular_velocity": 3, "orientation": 4}
CONTACT_ARRAYS = {"force": 3, "normal_force": 1, "tangential_force": 1, "gap": 1,
                  "sliding_speed": 1, "body_a": 1, "body_b": 1}


JOINT_ARRAYS = {"joint": 1, "force": 3, "torque": 3, "turn": 1, "slide": 1, "drift": 1}


class Complaints:
    """Collects what VTK has to say instead of printing it."""
    def __init__(self):
        self.texts = []

    @vtk.calldata_type(vtk.VTK_STRING)
    def __call__(self, caller, event, text):
        self.texts.append(f"{event}: {text}")


def read(path):
    reader, complaints = vtk.vtkXMLPolyDataReader(), Complaints()
    reader.AddObserver("ErrorEvent", complaints)
    reader.AddObserver("WarningEvent", complaints)
    assert reader.CanReadFile(path), path
    reader.SetFileName(path)
    reader.Update()
    assert not complaints.texts, complaints.texts
    assert reader.GetErrorCode() == 0, path
    return reader.GetOutput()


def arrays(data):
    return {data.GetArrayName(i): vtk_to_numpy(data.GetArray(i))
            for i in range(data.GetNumberOfArrays()) if data.GetArray(i)}


def same_names(found, wanted, tuples):
    assert set(found) == set(wanted), (sorted(found), sorted(wanted))
    for name, width in wanted.items():
        shape = (tuples,) if width == 1 else (tuples, width)
        assert found[name].shape == shape, (name, found[name].shape, shape)


def series(folder, name):
    """(time, path) of each line of a .pvd file."""
    root = ET.parse(os.path.join(folder, name + ".pvd")).getroot()
    assert root.tag == "VTKFile" and root.get("type") == "Collection"
    for line in root.find("Collection"):
        yield float(line.get("timestep")), os.path.join(folder, line.get("file"))


def points_of(data):
    if data.GetNumberOfPoints() == 0:
        return np.zeros((0, 3))
    return vtk_to_numpy(data.GetPoints().GetData())


def check_time(data, time):
    assert data.GetFieldData().GetArray("TimeValue").GetValue(0) == time


def check_bodies(f, k, data):
    rows = slice(*f["frames/body_offset"][k:k + 2])
    index = f["frames/bodies/index"][rows]
    names = list(f["bodies/shape"].attrs["names"].astype(str))
    round_ones = np.isin(f["bodies/shape"][:][index], [names.index("sphere"), names.index("point")])
    index, x = index[round_ones], f["frames/bodies/x"][rows][round_ones]
    assert data.GetNumberOfPoints() == data.GetNumberOfVerts() == len(index)
    if len(index) == 0:
        return
    found = arrays(data.GetPointData())
    same_names(found, POINT_ARRAYS, len(index))
    v = f["frames/bodies/v"][rows][round_ones]
    assert (points_of(data) == x).all() and (found["id"] == index).all()
    assert (found["radius"] == f["bodies/radius"][:][index]).all()
    assert (found["mass"] == f["bodies/mass"][:][index]).all()
    assert (found["material"] == f["bodies/material"][:][index]).all()
    assert (found["velocity"] == v).all()
    assert np.allclose(found["speed"], np.linalg.norm(v, axis=1))
    assert (found["orientation"] == f["frames/bodies/q"][rows][round_ones]).all()
    check_force(f, k, found)
    check_names(f, data.GetPointData(), index)
    omega = f["frames/bodies/omega"][rows][round_ones]
    assert np.allclose(np.linalg.norm(found["angular_velocity"], axis=1),
                       np.linalg.norm(omega, axis=1))


def contact_forces(f, k):
    """Sum of the contact forces on each row of /bodies, N; None: the run keeps no contacts."""
    if not f.attrs["contacts"]:
        return None
    c, rows = f["frames/contacts"], slice(*f["frames/contact_offset"][k:k + 2])
    r, n, t = c["impulse"][rows], c["normal"][rows], c["tangent"][rows]
    force = r[:, :1] * n + r[:, 1:2] * t
    if r.shape[1] == 3:
        force += r[:, 2:] * np.cross(n, t)
    total = np.zeros((len(f["bodies/shape"]), 3))
    np.add.at(total, c["body"][rows][:, 0], force / f.attrs["time_step"])
    np.add.at(total, c["body"][rows][:, 1], -force / f.attrs["time_step"])
    return total


def check_force(f, k, found):
    total = contact_forces(f, k)
    if total is not None:
        scale = np.abs(total).max() + 1e-12
        assert np.allclose(found["force"], total[found["id"]], atol=1e-9 * scale)


def looks(f):
    """'ball', 'wall' or 'shape' for each row of /bodies."""
    kinds = list(f["bodies/shape"].attrs["names"].astype(str))
    motions = list(f["bodies/motion"].attrs["names"].astype(str))
    walls = ("half_space", "inside_cylinder", "inside_cone", "inside_box", "funnel", "polyline")
    names = [kinds[k] for k in f["bodies/shape"][:]]
    fixed = [motions[m] == "fixed" for m in f["bodies/motion"][:]]
    return ["ball" if n in ("sphere", "point") else "wall" if n in walls or still else "shape"
            for n, still in zip(names, fixed)]


def texts_of(data, name):
    found = data.GetAbstractArray(name)
    return [found.GetValue(i) for i in range(found.GetNumberOfValues())] if found else None


def check_names(f, data, index):
    """Names of bodies and materials, as in run.h5; without a name: empty."""
    named = dict(zip(f["names/body"][:], f["names/name"].asstr()[:])) if "names" in f else {}
    wanted = [named.get(i, "") for i in index] if named else None
    assert texts_of(data, "name") == wanted, (texts_of(data, "name"), wanted)
    materials = f["materials/name"].asstr()[:]
    assert texts_of(data, "material_name") == [materials[f["bodies/material"][i]] for i in index]


def volume_of(surface):
    """The volume inside closed polygons whose corners are in one order as seen from outside; m^3."""
    triangles, mass = vtk.vtkTriangleFilter(), vtk.vtkMassProperties()
    triangles.SetInputData(surface)
    mass.SetInputConnection(triangles.GetOutputPort())
    mass.Update()
    return mass.GetVolume()


def check_solid(f, body, surface):
    """The polygons of a body are closed, share their corners, and have about its volume."""
    edges = vtk.vtkFeatureEdges()
    edges.SetInputData(surface)
    edges.NonManifoldEdgesOff()  # parts of compounds may touch
    edges.FeatureEdgesOff()
    edges.Update()
    assert edges.GetOutput().GetNumberOfCells() == 0, (body, edges.GetOutput().GetNumberOfCells())
    volume = f["bodies/volume"][body]
    assert abs(volume_of(surface) / volume - 1) < 0.05, (body, volume_of(surface), volume)


def polygons_of(data, body):
    """What a reader sees of one body."""
    chosen = vtk.vtkThreshold()
    chosen.SetInputData(data)
    chosen.SetInputArrayToProcess(0, 0, 0, vtk.vtkDataObject.FIELD_ASSOCIATION_CELLS, "id")
    chosen.SetLowerThreshold(body)
    chosen.SetUpperThreshold(body)
    surface = vtk.vtkGeometryFilter()
    surface.SetInputConnection(chosen.GetOutputPort())
    surface.Update()
    return surface.GetOutput()


def check_shapes(f, k, data):
    """Every moving body that is no ball is a closed surface about its place."""
    rows = slice(*f["frames/body_offset"][k:k + 2])
    index, look = f["frames/bodies/index"][rows], np.array(looks(f))
    mine = look[index] == "shape"
    assert data.GetNumberOfPolys() == data.GetNumberOfCells() > mine.sum() > 0
    found = arrays(data.GetCellData())
    wanted = {**POINT_ARRAYS, "position": 3}
    del wanted["radius"]
    same_names(found, wanted, data.GetNumberOfCells())
    assert list(dict.fromkeys(found["id"])) == list(index[mine])
    row = np.searchsorted(index, found["id"])
    assert (found["velocity"] == f["frames/bodies/v"][rows][row]).all()
    assert (found["position"] == f["frames/bodies/x"][rows][row]).all()
    check_force(f, k, found)
    check_names(f, data.GetCellData(), found["id"])
    for body in index[mine] if f.attrs["dimension"] == 3 else []:
        check_solid(f, body, polygons_of(data, body))


def check_contacts(f, k, data):
    c, rows = f["frames/contacts"], slice(*f["frames/contact_offset"][k:k + 2])
    r = c["impulse"][rows]
    pushing = (r != 0).any(axis=1)
    r, h = r[pushing], f.attrs["time_step"]
    assert data.GetNumberOfLines() == len(r), (data.GetNumberOfLines(), len(r))
    assert data.GetNumberOfPoints() == 2 * len(r)
    if len(r) == 0:
        return
    found = arrays(data.GetCellData())
    same_names(found, CONTACT_ARRAYS, len(r))
    n, t = c["normal"][rows][pushing], c["tangent"][rows][pushing]
    force = r[:, :1] * n + r[:, 1:2] * t
    if r.shape[1] == 3:
        force += r[:, 2:] * np.cross(n, t)
    scale = np.abs(force).max() / h
    assert np.allclose(found["force"], force / h, atol=1e-9 * scale)
    assert np.allclose(found["normal_force"], r[:, 0] / h)
    assert np.allclose(found["tangential_force"], np.linalg.norm(r[:, 1:], axis=1) / h)
    slide = np.linalg.norm(c["velocity"][rows][pushing][:, 1:], axis=1)
    assert np.allclose(found["sliding_speed"], slide)
    assert (found["gap"] == c["gap"][rows][pushing]).all()
    pair = c["body"][rows][pushing]
    assert (found["body_a"] == pair[:, 0]).all() and (found["body_b"] == pair[:, 1]).all()
    check_line_ends(f, k, data, pair)


def cell_of(f, k):
    """The edges of the periodic cell in a frame, as rows."""
    step = f["frames/step"][k]
    return (f["steps/cell"][step - 1] if step else f.attrs["cell"]).reshape(3, 3)


def check_line_ends(f, k, data, pair):
    """A line ends in the centre of a sphere or moving body, or of its image, or on a wall."""
    rows = slice(*f["frames/body_offset"][k:k + 2])
    place = {i: x for i, x in zip(f["frames/bodies/index"][rows], f["frames/bodies/x"][rows])}
    kind, names = f["bodies/shape"][:], list(f["bodies/shape"].attrs["names"].astype(str))
    motion, motions = f["bodies/motion"][:], list(f["bodies/motion"].attrs["names"].astype(str))
    shift = np.zeros((len(pair), 3))
    if "frames/contacts/image" in f:
        rows = slice(*f["frames/contact_offset"][k:k + 2])
        pushing = f["frames/contacts/impulse"][rows].any(axis=1)
        shift = f["frames/contacts/image"][rows][pushing] @ cell_of(f, k)
    ends = points_of(data).reshape(-1, 2, 3)
    for line, (a, b), by in zip(ends, pair, shift):
        for end, body, move in zip(line, (a, b), (0, by)):
            if names[kind[body]] in ("sphere", "point") or motions[motion[body]] == "dynamic":
                assert np.allclose(end, place[body] + move, rtol=0, atol=1e-14)


def check_cell(f, k, data):
    """The lines of the box are the edges of the cell, and begin at its corner."""
    points, edges = points_of(data), cell_of(f, k)
    flat = f.attrs["dimension"] == 2
    assert data.GetNumberOfLines() == (4 if flat else 12)
    corner = [x for x, edge in zip(f.attrs["cell_corner"], edges) if edge.any()]
    assert [x for x, edge in zip(points[0], edges) if edge.any()] == corner
    for i in range(data.GetNumberOfLines()):
        cell = data.GetCell(i)
        way = points[cell.GetPointId(1)] - points[cell.GetPointId(0)]
        assert any(np.allclose(way, edge, atol=1e-14) for edge in edges if edge.any()) or not flat


def check_joints(f, k, data):
    """A line for each joint that is whole: from centre to centre through the joint's point."""
    s, rows = f["frames/joints"], slice(*f["frames/joint_offset"][k:k + 2])
    whole = s["broken"][rows] == 0
    index = s["index"][rows][whole]
    assert data.GetNumberOfLines() == len(index)
    if len(index) == 0:
        return
    found = arrays(data.GetCellData())
    same_names(found, JOINT_ARRAYS, len(index))
    assert (found["joint"] == index).all()
    for name in ("force", "torque", "turn", "slide", "drift"):
        assert (found[name] == s[name][rows][whole]).all(), name
    bodies = slice(*f["frames/body_offset"][k:k + 2])
    place = dict(zip(f["frames/bodies/index"][bodies], f["frames/bodies/x"][bodies]))
    points, first = points_of(data), 0
    for line, (a, b) in enumerate(f["joints/body"][:][index]):
        corners = data.GetCell(line).GetNumberOfPoints()
        assert corners == (4 if b >= 0 else 3)
        assert (points[first] == place[a]).all()
        assert (points[first + 1] == s["point"][rows][whole][line]).all()
        assert b < 0 or (points[first + 3] == place[b]).all()
        first += corners


def check_walls(f, data):
    flat = f.attrs["dimension"] == 2
    names = list(f["bodies/shape"].attrs["names"].astype(str))
    walls = [i for i, kind in enumerate(f["bodies/shape"][:])
             if names[kind] not in ("sphere", "point")]
    cells = data.GetNumberOfLines() if flat else data.GetNumberOfPolys()
    assert data.GetNumberOfCells() == cells
    if not walls:
        return
    drawn = arrays(data.GetCellData())["body"]
    check_names(f, data.GetCellData(), drawn)
    assert set(drawn) <= set(walls) and len(drawn) == cells > 0
    assert np.isfinite(points_of(data)).all()


def check_nothing_else(folder, used):
    """No part is left over, and every .vtp file is listed."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        assert path in used or name.endswith(".pvd") or name == "view.py", path


def check(run):
    folder, used = os.path.join(run, "paraview"), set()
    with h5py.File(os.path.join(run, "run.h5"), "r") as f:
        times = f["frames/time"][:]
        kinds = ["walls"] + (["contacts"] if f.attrs["contacts"] else [])
        kinds += ["bodies"] if "ball" in looks(f) else []
        kinds += ["shapes"] if "shape" in looks(f) else []
        kinds += ["joints"] if len(f["joints/kind"]) else []
        kinds += ["cell"] if "cell" in f.attrs else []
        for kind in kinds:
            listed = list(series(folder, kind))
            assert [time for time, _ in listed] == list(times), kind
            for k, (time, path) in enumerate(listed):
                data = read(path)
                used.add(path)
                if kind == "walls":
                    check_walls(f, data)
                    continue
                check_time(data, time)
                if kind == "shapes":
                    check_shapes(f, k, data)
                    continue
                {"bodies": check_bodies, "contacts": check_contacts,
                 "joints": check_joints, "cell": check_cell}[kind](f, k, data)
    check_nothing_else(folder, used)
    print(f"{run}: {len(used)} files, {len(times)} frames: fine")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        check(argument)
