#!/usr/bin/env python3
"""The pages, the examples and the picture of the README:  test_docs.py GROUP"""
import glob
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree


# ==== test_docs: links lead somewhere, scenes and commands of the pages work ==============================

ROOT = os.environ.get("CAIRN_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..", "..")
CAIRN = os.environ.get("CAIRN", os.path.join(ROOT, "build/release/tools/cairn"))
CHECK = os.environ.get("CAIRN_CHECK", CAIRN + "-check")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def pages():
    found = (glob.glob(os.path.join(ROOT, "*.md")) +
             glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True))
    return sorted(os.path.relpath(path, ROOT) for path in found)


def anchors(page):
    """Names that headings get where pages are shown: in small letters, dashes for spaces."""
    text = re.sub(r"```.*?```", "", read(page), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]


class Pages(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for page in pages():
            for link in re.findall(r"\]\(([^)\s]+)[^)]*\)", read(page)):
                if link.startswith("http"):
                    continue
                path, _, anchor = link.partition("#")
                target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                self.assertTrue(os.path.exists(os.path.join(ROOT, target)), f"{page}: {link}")
                if anchor:
                    self.assertIn(anchor, anchors(target), f"{page}: {link}")

    def test_the_index_names_every_page(self):
        index = read("docs/index.md")
        for page in pages():
            if os.path.dirname(page) == "docs" and page != "docs/index.md":
                self.assertIn(f"({os.path.basename(page)})", index)

    def test_pages_are_short(self):
        for page in pages():
            if page.startswith("docs/"):
                self.assertLess(len(read(page).splitlines()), 300, page)

    def test_notes_have_a_date(self):
        notes = [page for page in pages() if page.startswith("docs/notes/")]
        self.assertGreater(len(notes), 0)
        for page in notes:
            self.assertRegex(os.path.basename(page), r"^20\d\d-\d\d-\d\d-")

    def test_the_picture_of_the_data_flow_names_every_folder_of_src(self):
        picture, page = read("docs/pictures/data_flow.svg"), read("docs/architecture.md")
        folders = [name for name in os.listdir(os.path.join(ROOT, "src"))
                   if os.path.isdir(os.path.join(ROOT, "src", name))]
        self.assertGreater(len(folders), 8)
        for name in folders:
            self.assertRegex(picture, rf"[ >]{name}/")
            self.assertIn(f"    src/{name}/ ", page)

    def test_pages_below_are_named_by_the_one_above(self):
        """By the page with the name of their folder, or if there is none by the index."""
        for page in pages():
            above, name = os.path.split(page)
            if os.path.dirname(above):
                own = above + ".md"
                namer = own if os.path.exists(os.path.join(ROOT, own)) else "docs/index.md"
                self.assertIn(f"({os.path.basename(above)}/{name}", read(namer))

    def test_files_that_pages_name_are_there(self):
        found = [os.path.relpath(os.path.join(folder, name), ROOT)
                 for folder, _, names in os.walk(ROOT) for name in names
                 if not os.path.relpath(folder, ROOT).startswith(("build", ".git", "out"))]
        for page in pages():
            if page == "CHANGELOG.md":
                continue
            for name in re.findall(r"`([\w./-]+\.(?:c|h|py|sh|md|obj|cmake))`", read(page)):
                self.assertTrue(any(("/" + path).endswith("/" + name) for path in found),
                                f"{page}: {name}")
            for name in re.findall(r"`((?:src|tests|tools|scenes|studies|bench)/[\w./-]*)`",
                                   read(page)):
                self.assertTrue(os.path.exists(os.path.join(ROOT, name)), f"{page}: {name}")

    def test_symbols_that_pages_name_are_public(self):
        known = set()
        for path in (glob.glob(os.path.join(ROOT, "include", "cairn", "*.h")) +
                     [os.path.join(ROOT, "bench", "CMakeLists.txt")]):  # programs
            known.update(re.findall(r"\bcairn_\w+", read(os.path.relpath(path, ROOT))))
        for page in pages():
            if page not in ("CHANGELOG.md", "CONTRIBUTING.md"):
                for name in re.findall(r"`(cairn_\w+)", read(page)):
                    self.assertTrue(name in known, f"{page}: {name}")

    def test_the_page_of_the_program_names_every_flag_and_topic(self):
        page = read("docs/cli.md")

        def told(*words):
            return subprocess.run([CAIRN, *words], capture_output=True, text=True, timeout=1500,
                                  check=False).stdout

        commands = re.findall(r"^  (\w+) ", told("help"), re.MULTILINE)
        self.assertGreater(len(commands), 10)
        for command in commands:
            self.assertIn(f"cairn {command}", page)
            for flag in re.findall(r"--[a-z-]+", told("help", command)):
                self.assertIn(flag, page, command)
        topics = re.findall(r"^([\w-]+) - ", told("list"), re.MULTILINE)
        self.assertGreater(len(topics), 8)
        for topic in topics:
            self.assertIn(f"`{topic}`", page)

    def test_name_picture_and_the_two_commands_are_on_the_first_screen(self):
        lines = read("README.md").splitlines()[:12]
        self.assertEqual(lines[0], "# cairn")
        picture = [line.startswith("![") for line in lines].index(True)
        run = [line.startswith("make run") for line in lines].index(True)
        self.assertLess(picture, run)
        self.assertTrue(lines[run + 1].startswith("make test"))

    def test_the_first_scene_is_right(self):
        scene = re.search(r"```yaml\n(.*?)```", read("README.md"), re.DOTALL).group(1)
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "first.yaml"), "w", encoding="utf-8") as file:
                file.write(scene)
            done = subprocess.run([CAIRN, "run", "first.yaml", "--set", "run.duration=0.5"],
                                  cwd=folder, capture_output=True, text=True, timeout=1500,
                                  check=False)
            checked = subprocess.run([CHECK, "out/first"], cwd=folder, capture_output=True, text=True,
                                     timeout=1500, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("WARNING", done.stderr)
        self.assertTrue(checked.stdout.startswith("certified: 500 steps"), checked)

    def test_the_lines_for_pip_are_right(self):
        """They end in a package with pictures and the page of the viewer: what they name is there."""
        lines = re.search(r"## From Python\n\n```sh\n(.*?)```", read("README.md"), re.DOTALL).group(1).splitlines()
        words = [line.split("#")[0].split() for line in lines]
        self.assertEqual(words[0][0], "scripts/setup")
        packages = subprocess.run([os.path.join(ROOT, "scripts", "setup"), "missing", *words[0][1:]], capture_output=True,
                                  text=True, check=True, timeout=1500, env={"PATH": "/nowhere:/usr/bin:/bin"})
        self.assertEqual(packages.stderr, "")
        with open(os.path.join(ROOT, "scripts", "setup"), encoding="utf-8") as file:
            needed = re.search(r'packages_pip="(.*?)"', file.read(), re.DOTALL).group(1).split()
        self.assertEqual(sorted(needed), ["nodejs", "npm", "python3-dev", "python3-venv"])
        self.assertIn("pip", words[0])
        self.assertIn("-v", words[1])  # or pip is silent while it compiles
        extra = re.search(r"'\.\[(.*)\]'", lines[1]).group(1)
        self.assertRegex(read("pyproject.toml"), rf"(?m)^{extra} = \[\"matplotlib\"\]$")
        self.assertRegex(read("python/CMakeLists.txt"), r"\n  execute_process\(COMMAND \$\{root\}/scripts/viewer --if-possible\)")
        self.assertIn("pip install -v '.[plots]'", read("docs/python.md"))

    def test_the_joints_of_the_page_are_right(self):
        blocks = re.findall(r"```yaml\n(.*?)```", read("docs/joints.md"), re.DOTALL)
        kinds = [re.match(r"- (\w+):", block).group(1) for block in blocks]
        self.assertEqual(kinds, re.findall(r"^### (\w+)$", read("docs/joints.md"), re.MULTILINE))
        self.assertEqual(len(kinds), 14)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "joints.yaml")
            for block in blocks:
                with open(path, "w", encoding="utf-8") as file:
                    file.write("cairn: 1\nrun: {time_step: 1e-3, duration: 1}\nbodies:\n"
                               "  - {name: a, shape: {sphere: {radius: 0.1}}}\n"
                               "  - {name: b, shape: {sphere: {radius: 0.1}}, position: [1, 0, 0]}\n"
                               "joints:\n" + block)
                done = subprocess.run([CAIRN, "check", path], capture_output=True, text=True,
                                      timeout=1500, check=False)
                self.assertEqual(done.returncode, 0, block + done.stderr)

    def test_every_scene_of_the_tree_is_right(self):
        scenes = [path for folder in ("scenes", "scenes/laboratory", "scenes/periodic", "scenes/series", "scenes/trust")
                  for path in glob.glob(os.path.join(ROOT, folder, "*.yaml"))]
        self.assertGreater(len(scenes), 0)
        for scene in scenes:
            done = subprocess.run([CAIRN, "check", scene], capture_output=True, text=True,
                                  timeout=1500, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_shapes_of_the_page_are_right(self):
        blocks = re.findall(r"```yaml\n(.*?)```", read("docs/shapes.md"), re.DOTALL)
        table = re.findall(r"\| `(\{.*?\})` \|", read("docs/shapes.md"))
        self.assertGreater(len(blocks) + len(table), 15)
        corners = ["0 0 0", "2 0 0", "0 3 0", "0 0 4"]
        faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
        obj = "".join(f"v {c}\n" for c in corners) + "".join(
            f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in faces)
        stl = "solid a\n" + "".join(
            "facet normal 0 0 0\nouter loop\n" + "".join(f"vertex {corners[i]}\n" for i in f) +
            "endloop\nendfacet\n" for f in faces) + "endsolid a\n"
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("hook.obj", obj), ("stone.stl", stl)):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            for block in blocks + [f"shape: {line}\n" for line in table]:
                flat = "dimension: 2\n" if "2D only" in block else ""
                body = "".join("    " + line + "\n" for line in block.splitlines())
                with open(os.path.join(folder, "s.yaml"), "w", encoding="utf-8") as file:
                    file.write("cairn: 1\nrun: {time_step: 1e-3, duration: 1}\n" + flat +
                               "bodies:\n  - motion: fixed\n" + body)
                done = subprocess.run([CAIRN, "check", "s.yaml"], cwd=folder, capture_output=True,
                                      text=True, timeout=1500, check=False)
                self.assertEqual(done.returncode, 0, block + done.stderr)

    def test_exit_codes_of_the_program_are_those_of_the_page(self):
        page, header = read("docs/cli.md"), read("tools/ending/ending.h")
        told = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
        known = {int(code) for code in re.findall(r"^    EXIT_\w+ = (\d+)", header, re.MULTILINE)}
        self.assertEqual(told, (known - {128}) | {129, 130, 143})


def test_docs():
    unittest.main(argv=["test_docs", "Pages"])


# ==== test_examples: the example programs print what the pages say of them ================================

BUILD = os.environ.get("CAIRN_BINARY_DIR") or os.path.join(ROOT, "build/release")


class Examples(unittest.TestCase):
    def test_double_pendulum_swings_as_the_page_shows(self):
        program = os.path.join(BUILD, "examples", "double_pendulum")
        done = subprocess.run([program], capture_output=True, text=True, timeout=1500, check=True)
        self.assertEqual(done.stderr, "")
        lines = [line.split() for line in done.stdout.splitlines()]
        rows = {float(line[0]): [float(x) for x in line[1:]] for line in lines[1:]}
        self.assertEqual(len(rows), 10)
        self.assertAlmostEqual(rows[1.0][0], -0.72753332, delta=1e-8)
        self.assertAlmostEqual(rows[1.0][1], 0.38455775, delta=1e-8)
        self.assertEqual(rows[0.6][2], 0)  # the floor is met at 0.63 s
        with open(os.path.join(ROOT, "docs", "lagrange.md"), encoding="utf-8") as page:
            self.assertIn("\n".join("    " + line for line in done.stdout.splitlines()[4:6]),
                          page.read())

    def test_balance_keeps_the_pole_upright_and_is_certified(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "run")
            program = os.path.join(BUILD, "examples", "balance")
            done = subprocess.run([program, out], capture_output=True, text=True, timeout=1500, check=True)
            self.assertEqual(done.stderr, "")
            with open(os.path.join(ROOT, "docs", "c-api.md"), encoding="utf-8") as page:
                self.assertIn("    " + done.stdout.strip(), page.read())
            check = os.path.join(BUILD, "tools", "cairn-check")
            subprocess.run([check, out], capture_output=True, timeout=1500, check=True)
            refused = subprocess.run([program], capture_output=True, text=True, timeout=1500, check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("usage", refused.stderr)

    def test_rocking_block_loses_as_the_page_shows(self):
        program = os.path.join(BUILD, "examples", "rocking_block")
        done = subprocess.run([program], capture_output=True, text=True, timeout=1500, check=True)
        self.assertEqual(done.stderr, "")
        rows = [[float(x) for x in line.split()] for line in done.stdout.splitlines()[1:]]
        self.assertEqual(len(rows), 4)
        for row in rows:
            self.assertAlmostEqual(row[3], 1 - 1.5 * 0.0625 / 1.0625, delta=0.01)
        with open(os.path.join(ROOT, "docs", "lagrange.md"), encoding="utf-8") as page:
            self.assertIn("\n".join("    " + line for line in done.stdout.splitlines()), page.read())


    def test_a_heap_is_steeper_with_rolling_friction(self):
        program = os.path.join(BUILD, "examples", "angle_of_repose")
        scene = os.path.join(ROOT, "scenes", "rolling_heap_2d.yaml")
        small = ["generators.0.pour.count=60", "run.time_step=2e-3", "run.duration=1.5"]
        angles = []
        for friction in ["0", "2.5e-3", "1e-2"]:
            done = subprocess.run(
                [program, scene, "materials.disk.rolling_friction=" + friction] + small,
                capture_output=True, text=True, timeout=1500, check=True)
            self.assertEqual(done.stderr, "")
            angles.append(float(done.stdout))
        self.assertLess(angles[0], 5)  # the disks roll away
        self.assertGreater(angles[1], angles[0] + 3)
        self.assertGreater(angles[2], angles[1] + 3)


def test_examples():
    unittest.main(argv=["test_examples", "Examples"])


# ==== test_moving_picture: small, without anything from elsewhere, and as the run was =====================

SVG = "{http://www.w3.org/2000/svg}"
KEPT = os.path.join(ROOT, "docs/pictures/rotating_drum.svg")


def moves(group, kind):
    """The values of an animated transform, as lists of numbers."""
    found = group.find(f"{SVG}animateTransform[@type='{kind}']")
    return [[float(v) for v in value.split()] for value in found.get("values").split(";")]


class Kept(unittest.TestCase):
    def test_it_is_small_and_asks_for_nothing(self):
        self.assertLess(os.path.getsize(KEPT), 0.5e6)
        with open(KEPT, encoding="utf-8") as file:
            text = file.read()
        self.assertNotRegex(text.replace('xmlns="http://www.w3.org/2000/svg"', ""), r"https?:|<script|href|url\(")
        self.assertEqual(len(ElementTree.fromstring(text).findall(f".//{SVG}circle")), 170 + 2)

    def test_the_readme_shows_it(self):
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            self.assertIn("(docs/pictures/rotating_drum.svg)", file.read())


class Drawn(unittest.TestCase):
    def test_disks_are_where_h5py_finds_them(self):
        try:
            import h5py
        except ImportError:
            self.skipTest("there is no h5py")
        with tempfile.TemporaryDirectory() as home:
            run, picture = os.path.join(home, "run"), os.path.join(home, "run.svg")
            subprocess.run([CAIRN, "run", os.path.join(ROOT, "scenes/rotating_drum_2d.yaml"), "--out", run, "--quiet", "--set",
                            "run.duration=0.2"], check=True, timeout=1500)
            subprocess.run([sys.executable, os.path.join(ROOT, "scripts/moving-picture"), run, picture], check=True, timeout=1500)
            drawn = ElementTree.parse(picture).getroot()
            with h5py.File(os.path.join(run, "run.h5")) as file:
                x = file["frames/bodies/x"][:].reshape(5, 91, 3)  # 0, 0.05, ... 0.2 s: the drum and 90 disks
                angle, radius = file["frames/bodies/angle"][:].reshape(5, 91), file["bodies/radius"][:]
        # the drum, of radius 1, is as wide as the picture without its margin of 4: 236 pixels a metre
        disks = drawn.findall(f"{SVG}g")[1].findall(f"{SVG}g")
        self.assertEqual(len(disks), 90)
        for i, disk in enumerate(disks, 1):
            circle = disk.find(f".//{SVG}circle")
            self.assertAlmostEqual(float(circle.get("r")), 236 * radius[i], delta=0.06)
            for (px, py), place, (turn,), a in zip(moves(disk, "translate"), x[:, i], moves(disk.find(f"{SVG}g"), "rotate"), angle[:, i]):
                self.assertAlmostEqual(px, 4 + 236 * (1 + place[0]), delta=0.06)
                self.assertAlmostEqual(py, 4 + 236 * (1 - place[1]), delta=0.06)
                self.assertAlmostEqual(turn, -math.degrees(a), delta=0.51)
        frames = [g for g in drawn.iter(f"{SVG}animate") if g.get("attributeName") == "visibility"]
        self.assertEqual([g.get("keyTimes") for g in frames], ["0;0.125", "0;0.125;0.375", "0;0.375;0.625", "0;0.625;0.875", "0;0.875"])

    def test_a_run_in_space_is_refused(self):
        try:
            import h5py  # noqa: F401
        except ImportError:
            self.skipTest("there is no h5py")
        with tempfile.TemporaryDirectory() as home:
            run = os.path.join(home, "run")
            subprocess.run([CAIRN, "run", os.path.join(ROOT, "scenes/ball_drop.yaml"), "--out", run, "--quiet", "--set",
                            "run.duration=0.1"], check=True, timeout=1500)
            done = subprocess.run([sys.executable, os.path.join(ROOT, "scripts/moving-picture"), run, os.path.join(home, "x.svg")],
                                  capture_output=True, text=True, timeout=1500, check=False)
            self.assertTrue(re.search("in 3D, expected one in 2D", done.stderr), done)
            self.assertFalse(os.path.exists(os.path.join(home, "x.svg")))


def test_moving_picture():
    unittest.main(argv=["test_moving_picture", "Kept", "Drawn"])


if __name__ == "__main__":
    globals()[sys.argv[1]]()
