#!/usr/bin/env python3
"""`cairn export`: a page, a scene of glTF, a table, a picture and a film of a run, against its own numbers."""
import csv
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import unittest

from view_server import CAIRN, make_run

SHAPES = """cairn: 1
title: One of each
dimension: 3
gravity: [0, 0, -10]
bodies:
  - {motion: fixed, shape: half_space}
  - {shape: {sphere: {radius: 0.2}}, mass: 1, position: [0, 0, 2]}
  - {shape: {box: {size: [0.2, 0.3, 0.4]}}, mass: 1, position: [1, 0, 2]}
  - {shape: {cylinder: {radius: 0.1, height: 0.3}}, mass: 1, position: [2, 0, 2]}
  - {shape: {cone: {radius: 0.1, height: 0.4}}, mass: 1, position: [3, 0, 2]}
  - {shape: {polyhedron: {points: [[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3]]}}, mass: 1, position: [4, 0, 2]}
  - shape: {compound: {parts: [{shape: {sphere: {radius: 0.1}}, position: [0.2, 0, 0]},
                               {shape: {box: {size: [0.2, 0.2, 0.2]}}, position: [-0.2, 0, 0]}]}}
    mass: 1
    position: [5, 0, 2]
run: {time_step: 0.01, duration: 0.1, frame_interval: 0.05, paraview: false, picture: false}
"""

POLYLINE = """cairn: 1
title: A ditch
dimension: 2
bodies:
  - {motion: fixed, shape: {polyline: {points: [[2, 1], [1, 0], [-1, 0], [-2, 1]]}}}
  - {shape: {sphere: {radius: 0.2}}, mass: 1, position: [0, 1]}
run: {time_step: 0.01, duration: 0.1, frame_interval: 0.05, paraview: false, picture: false}
"""


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory()
        cls.run_folder = make_run(cls.home.name)
        cls.shapes = make_run(cls.home.name, SHAPES, "shapes")

    @classmethod
    def tearDownClass(cls):
        cls.home.cleanup()

    def path(self, name):
        return os.path.join(self.home.name, name)

    def export(self, *words, code=0, **more):
        done = subprocess.run([CAIRN, "export", *words], capture_output=True, text=True, timeout=200, check=False,
                              cwd=self.home.name, **more)
        if code == 0 and "built without the page" in done.stderr:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, code, f"{words}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def glb(self, name):
        """JSON and bytes of a .glb file."""
        with open(self.path(name), "rb") as file:
            data = file.read()
        magic, version, length, text = struct.unpack("<4sIII", data[:16])
        self.assertEqual((magic, version, length), (b"glTF", 2, len(data)))
        about, rest = json.loads(data[20:20 + text]), data[20 + text:]
        self.assertEqual(struct.unpack("<I4s", rest[:8]), (len(rest) - 8, b"BIN\0"))
        self.assertEqual(about["buffers"][0]["byteLength"], len(rest) - 8)
        return about, rest[8:]

    def numbers(self, glb, accessor):
        about, data = glb
        a = about["accessors"][accessor]
        view = about["bufferViews"][a["bufferView"]]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[a["type"]]
        stride = view.get("byteStride", 4 * width)
        start = view.get("byteOffset", 0) + a.get("byteOffset", 0)
        self.assertLessEqual(a.get("byteOffset", 0) + stride * (a["count"] - 1) + 4 * width, view["byteLength"])
        return [struct.unpack_from(f"<{width}f", data, start + stride * i) for i in range(a["count"])]

    def table(self):
        self.export("run", "--csv", "table.csv")
        with open(self.path("table.csv"), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def test_the_table_has_a_row_for_each_body_in_each_frame(self):
        rows = self.table()
        self.assertEqual(len(rows), 5 * 21)
        self.assertEqual([float(rows[3][k]) for k in ("time", "body", "x", "y", "z", "qw")], [0, 3, 1.5, 0, 2, 1])
        falling = [r for r in rows if r["body"] == "3"][2]
        self.assertAlmostEqual(float(falling["vz"]), -10 * 0.1)

    def test_a_scene_of_gltf_moves_as_the_run_did(self):
        said = self.export("run", "--gltf", "run.glb")
        self.assertRegex(said, r"run\.glb: 0\.\d\d MB")
        glb = self.glb("run.glb")
        about = glb[0]
        self.assertEqual(len(about["nodes"]), 4 + 1)  # the floor is without end; one node is above all
        node = next(i for i, n in enumerate(about["nodes"]) if n["name"] == "body 3")
        channel = next(c for c in about["animations"][0]["channels"]
                       if c["target"] == {"node": node, "path": "translation"})
        sampler = about["animations"][0]["samplers"][channel["sampler"]]
        times, places = self.numbers(glb, sampler["input"]), self.numbers(glb, sampler["output"])
        rows = [r for r in self.table() if r["body"] == "3"]
        self.assertEqual(len(places), len(rows))
        for row, time, place in zip(rows, times, places):
            self.assertAlmostEqual(float(row["time"]), time[0], places=6)
            for name, found in zip("xyz", place):
                self.assertAlmostEqual(float(row[name]), found, places=5)

    def test_every_solid_has_triangles_with_unit_normals(self):
        self.export("shapes", "--gltf", "shapes.glb")
        glb = self.glb("shapes.glb")
        self.assertEqual(len(glb[0]["meshes"]), 6)
        for mesh in glb[0]["meshes"]:
            attributes = mesh["primitives"][0]["attributes"]
            corners, normals = self.numbers(glb, attributes["POSITION"]), self.numbers(glb, attributes["NORMAL"])
            self.assertEqual(len(corners) % 3, 0)
            self.assertGreaterEqual(len(corners), 12)
            for normal in normals:
                self.assertAlmostEqual(sum(c * c for c in normal), 1, places=4)

    def steps(self, name, k):
        """Points, ends of vertices, ends and corners of polygons and ids of step k, by the offsets of the file."""
        import h5py
        with h5py.File(self.path(name)) as file:
            root = file["VTKHDF"]
            self.assertEqual(bytes(root.attrs["Type"]), b"PolyData")
            self.assertEqual(list(root.attrs["Version"]), [2, 0])
            steps = root["Steps"]
            first, count = steps["PointOffsets"][k], root["NumberOfPoints"][k]
            polygons, kind = root["Polygons"], 2
            cell, ids = steps["CellOffsets"][k][kind], steps["ConnectivityIdOffsets"][k][kind]
            ends = polygons["Offsets"][cell + k:][:polygons["NumberOfCells"][k] + 1]  # one more than cells in each step
            return (steps["Values"][k], root["Points"][first:first + count], root["Vertices/NumberOfCells"][k], ends,
                    polygons["Connectivity"][ids:ids + polygons["NumberOfConnectivityIds"][k]],
                    root["PointData/id"][first:first + count], root["PointData/radius"][first:first + count])

    def test_a_file_for_paraview_has_balls_as_points_and_the_box_as_six_polygons(self):
        try:
            import h5py  # noqa: F401
        except ImportError:
            self.skipTest("there is no h5py")
        self.export("run", "--vtkhdf", "run.vtkhdf")
        time, points, balls, ends, corners, ids, radius = self.steps("run.vtkhdf", 2)
        self.assertAlmostEqual(time, 0.1)
        self.assertEqual((balls, len(points), list(ends)), (3, 3 + 8, [0, 4, 8, 12, 16, 20, 24]))
        rows = {int(r["body"]): r for r in self.table() if float(r["time"]) == time}
        for k in range(3):
            for name, found in zip("xyz", points[k]):
                self.assertAlmostEqual(float(rows[int(ids[k])][name]), found, places=6)
        self.assertEqual([round(float(r), 6) for r in radius[:4]], [0.2, 0.3, 0.25, 0])
        box = points[corners]
        self.assertEqual(set(ids[corners]), {1})
        for axis, size in enumerate((1, 1, 0.5)):
            self.assertAlmostEqual(float(box[:, axis].max() - box[:, axis].min()), size, places=5)

    def test_polygons_of_a_body_share_their_corners(self):
        try:
            import h5py  # noqa: F401
        except ImportError:
            self.skipTest("there is no h5py")
        self.export("shapes", "--vtkhdf", "shapes.vtkhdf")
        _, points, _, ends, corners, ids, _ = self.steps("shapes.vtkhdf", 2)
        edges = {}
        for first, last in zip(ends, ends[1:]):
            ring = [int(c) for c in corners[first:last]]
            edges.setdefault(int(ids[ring[0]]), []).extend(zip(ring, ring[1:] + ring[:1]))
        # box, cylinder, cone, tetrahedron, and a compound of two: each edge has a face on both of its sides
        self.assertEqual(sorted(edges), [2, 3, 4, 5, 6])
        for body, found in edges.items():
            self.assertEqual(sorted(found), sorted((b, a) for a, b in found), body)
            self.assertEqual(len(set(found)), len(found), body)
        # Euler: corners - edges + faces = 2
        self.assertEqual([len({a for a, _ in edges[body]}) for body in (2, 5)], [8, 4])
        self.assertEqual(len({tuple(p) for p in points[ids == 6]}), sum(ids == 6))

    def test_a_polyline_is_a_line(self):
        try:
            import h5py
        except ImportError:
            self.skipTest("there is no h5py")
        make_run(self.home.name, POLYLINE, "line")
        self.export("line", "--vtkhdf", "line.vtkhdf")
        with h5py.File(self.path("line.vtkhdf")) as file:
            lines, polygons = file["VTKHDF/Lines"], file["VTKHDF/Polygons"]
            self.assertEqual((lines["NumberOfCells"][0], polygons["NumberOfCells"][0]), (3, 1))  # the disk is a polygon
            points = file["VTKHDF/Points"][:]
            ends = [points[c].tolist() for c in lines["Connectivity"][:6]]
        self.assertEqual([p[:2] for p in ends], [[2, 1], [1, 0], [1, 0], [-1, 0], [-1, 0], [-2, 1]])

    def test_the_file_for_paraview_comes_with_a_script_that_names_it(self):
        said = self.export("run", "--vtkhdf", "with script.vtkhdf")
        self.assertIn("with script.vtkhdf.py", said)
        with open(self.path("with script.vtkhdf.py"), encoding="utf-8") as file:
            text = file.read()
        compile(text, "script", "exec")
        self.assertIn('NAME = "with script.vtkhdf"\nDIMENSION = 3\n', text)

    def test_vtk_reads_that_file_as_it_is(self):
        try:
            from vtkmodules.vtkCommonCore import vtkVersion
            from vtkmodules.vtkIOHDF import vtkHDFReader
        except ImportError:
            self.skipTest("there is no VTK with its HDF reader")
        if (vtkVersion.GetVTKMajorVersion(), vtkVersion.GetVTKMinorVersion()) < (9, 3):
            self.skipTest("VTK before 9.3 reads no steps of polygons")
        self.export("run", "--vtkhdf", "read.vtkhdf")
        reader = vtkHDFReader()
        reader.SetFileName(self.path("read.vtkhdf"))
        reader.UpdateInformation()
        self.assertEqual(reader.GetNumberOfSteps(), 21)
        last = [r for r in self.table() if r["body"] == "3"][-1]
        reader.SetStep(20)
        reader.Update()
        data = reader.GetOutputDataObject(0)
        self.assertEqual((data.GetNumberOfVerts(), data.GetNumberOfPolys()), (3, 6))
        for name, found in zip("xyz", data.GetPoint(1)):
            self.assertAlmostEqual(float(last[name]), found, places=6)

    def test_a_page_holds_its_data_and_tells_its_size(self):
        said = self.export("run", "--html", "page.html")
        size = os.path.getsize(self.path("page.html"))
        self.assertAlmostEqual(float(re.search(r"([\d.]+) MB", said).group(1)), size / 1e6, delta=0.006)
        with open(self.path("page.html"), encoding="utf-8") as file:
            text = file.read()
        self.assertGreater(len(re.search(r'type="text/plain">([A-Za-z0-9+/=]+)</script>', text).group(1)), 1000)
        self.assertIn("default-src 'none'", text)

    def test_what_cannot_be_done_is_said_and_leaves_no_file(self):
        self.assertIn("expected --html", self.export("run", code=2))
        self.assertIn(".glb", self.export("run", "--gltf", "run.obj", code=2))
        self.assertIn("time in s", self.export("run", "--png", "soon", code=2))
        self.assertIn("WIDTHxHEIGHT", self.export("run", "--png", "1", "--size", "9", code=2))
        self.assertIn("expected words", self.export("run", "--png", "1", "--look", "a b", code=2))
        self.assertIn("expected a time of the run: 0 to", self.export("run", "--png", "99", code=3))
        self.assertIn("found -1 s", self.export("run", "--png", "-1", code=3))
        self.assertFalse(os.path.exists(self.path("run.png")))
        self.export("nothing", "--csv", "none.csv", code=1)
        self.assertFalse(os.path.exists(self.path("none.csv")))
        bare = self.path("bin")
        os.makedirs(bare, exist_ok=True)
        for tool in ("sh", "rm"):
            if not os.path.exists(os.path.join(bare, tool)):
                os.symlink(shutil.which(tool), os.path.join(bare, tool))
        said = self.export("run", "--png", "0", "--out", "none.png", code=1, env={**os.environ, "PATH": bare})
        self.assertIn("chromium", said)
        self.assertFalse(os.path.exists(self.path("none.png")))

    @unittest.skipUnless(shutil.which("chromium"), "there is no chromium")
    def test_a_picture_has_the_size_that_was_asked_for(self):
        said = self.export("run", "--png", "0.5", "--size", "320x200", "--out", "one.png", "--look", "color=mass&theme=light")
        with open(self.path("one.png"), "rb") as file:
            head = file.read(24)
        self.assertEqual(head[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(struct.unpack(">II", head[16:24]), (320, 200))

    @unittest.skipUnless(shutil.which("chromium") and shutil.which("ffprobe"), "there is no chromium or no ffmpeg")
    def test_a_film_has_thirty_pictures_a_second(self):
        said = self.export("shapes", "--video", "film.mp4", "--size", "160x120")
        found = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=nb_frames,width,height", "-of", "csv=p=0",
                                self.path("film.mp4")], capture_output=True, text=True, check=True).stdout
        self.assertEqual(found.strip(), "160,120,4")  # 0.1 s: 0, 1/30, 2/30, 3/30


if __name__ == "__main__":
    unittest.main()
