#!/usr/bin/env python3
"""The pages: links lead somewhere, the README's scene is right and its commands are on the first screen, the
scenes and exit codes that pages speak of are there."""
import glob
import os
import re
import subprocess
import tempfile
import unittest

ROOT = os.environ.get("CAIRN_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..")
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

    def test_pages_below_are_named_by_the_one_above(self):
        for page in pages():
            above, name = os.path.split(page)
            if os.path.dirname(above):
                self.assertIn(f"({os.path.basename(above)}/{name}", read(above + ".md"))

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
            for name in re.findall(r"`((?:src|tests|tools|scenes|reproduce|bench)/[\w./-]*)`",
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
            return subprocess.run([CAIRN, *words], capture_output=True, text=True, timeout=60,
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
                                  cwd=folder, capture_output=True, text=True, timeout=200,
                                  check=False)
            checked = subprocess.run([CHECK, "out/first"], cwd=folder, capture_output=True, text=True,
                                     timeout=200, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("WARNING", done.stderr)
        self.assertTrue(checked.stdout.startswith("certified: 500 steps"), checked)

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
                                      timeout=60, check=False)
                self.assertEqual(done.returncode, 0, block + done.stderr)

    def test_every_scene_of_the_tree_is_right(self):
        scenes = glob.glob(os.path.join(ROOT, "scenes", "*.yaml"))
        self.assertGreater(len(scenes), 0)
        for scene in scenes:
            done = subprocess.run([CAIRN, "check", scene], capture_output=True, text=True,
                                  timeout=200, check=False)
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
                                      text=True, timeout=60, check=False)
                self.assertEqual(done.returncode, 0, block + done.stderr)

    def test_exit_codes_of_the_program_are_those_of_the_page(self):
        page, header = read("docs/cli.md"), read("tools/ending/ending.h")
        told = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
        known = {int(code) for code in re.findall(r"^    EXIT_\w+ = (\d+)", header, re.MULTILINE)}
        self.assertEqual(told, (known - {128}) | {129, 130, 143})


if __name__ == "__main__":
    unittest.main()
