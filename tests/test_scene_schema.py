#!/usr/bin/env python3
"""The JSON Schema of the scene format, as `cairn list schema` prints it, is JSON and, where the
python package jsonschema is there, accepts every scene of the tree and refuses wrong ones."""
import copy
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.environ.get("CAIRN_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..")
CAIRN = os.environ.get("CAIRN", os.path.join(ROOT, "build/release/tools/cairn"))

try:
    import jsonschema
    import yaml
except ImportError:
    jsonschema = None

SCENE = {"cairn": 1, "run": {"time_step": 0.001, "duration": 1},
         "bodies": [{"shape": {"sphere": {"radius": 1}}, "mass": 1, "position": [0, 0, 0]}],
         "generators": [{"grid": {"count": [1, 1, 1], "spacing": [1, 1, 1], "radius": 1}}]}

# path to a value, and what must not stand there
WRONG = [(["cairn"], 2), (["dimension"], 4), (["gravitiy"], [0, 0, 0]), (["run", "time_step"], 0),
         (["run", "time_step"], "fast"), (["run", "scheme"], "none"), (["run", "contacts"], 1),
         (["bodies", 0, "mass"], -1), (["bodies", 0, "motion"], "flying"),
         (["bodies", 0, "shape"], {"spere": {}}), (["bodies", 0, "shape"], {"sphere": {}}),
         (["bodies", 0, "shape"], "sphere"), (["bodies", 0, "position"], [0]),
         (["bodies", 0, "drivers"], [{"shake": {"amplitude": [0, 0, 1]}}]),
         (["generators", 0, "grid", "radius"], {"uniform": {"minimum": 1}}),
         (["generators", 0, "grid", "radius"], "big"), (["materials"], {"rock": {"friction": -1}}),
         (["materials"], {"rock": {"restitution_law": "hooke"}}),
         (["materials"], {"rock": {"friction_law": {"stribeck": {"static": 1}}}})]


def schema():
    done = subprocess.run([CAIRN, "list", "schema"], capture_output=True, text=True, timeout=60,
                          check=True)
    return json.loads(done.stdout)


def load_yaml(path):
    """YAML 1.2 numbers: PyYAML alone takes 1e-3 for a text."""
    class Loader(yaml.SafeLoader):
        pass
    number = re.compile(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)$")
    Loader.add_implicit_resolver("tag:yaml.org,2002:float", number, list("-+.0123456789"))
    with open(path, encoding="utf-8") as file:
        return yaml.load(file, Loader)


def names_of(part):
    """All names of properties anywhere in a schema."""
    names = set()
    if isinstance(part, dict):
        names |= set(part.get("properties", {}))
        for value in part.values():
            names |= names_of(value)
    elif isinstance(part, list):
        for value in part:
            names |= names_of(value)
    return names


class Schema(unittest.TestCase):
    def test_the_page_names_every_key(self):
        with open(os.path.join(ROOT, "docs", "scene-format.md"), encoding="utf-8") as file:
            page = file.read()
        names = names_of(schema())
        self.assertGreater(len(names), 80)
        self.assertEqual([name for name in sorted(names) if f"`{name}`" not in page], [])

    def test_the_examples_of_the_page_are_right(self):
        with open(os.path.join(ROOT, "docs", "scene-format.md"), encoding="utf-8") as file:
            blocks = re.findall(r"```yaml\n(.*?)```", file.read(), re.DOTALL)
        parts = {re.match(r"\w+", b).group(): b for b in blocks if not b.startswith("#")}
        self.assertEqual(sorted(parts), ["bodies", "cairn", "generators", "joints", "materials",
                                         "run", "title"])
        head = "cairn: 1\n" + parts["run"]
        default = "materials: {rock: {}, wall: {}}\n"
        for text in (parts["cairn"], head + parts["materials"], head + default + parts["bodies"],
                     parts["cairn"] + parts["joints"], head + parts["generators"],
                     "cairn: 1\n" + parts["title"]):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "example.yaml")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                done = subprocess.run([CAIRN, "check", path], capture_output=True, text=True,
                                      timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_it_is_json_with_every_part(self):
        s = schema()
        self.assertEqual(s["$schema"], "https://json-schema.org/draft/2020-12/schema")
        self.assertEqual(sorted(s["$defs"]), sorted(
            ["run", "material", "pair", "body", "part", "orientation", "shape", "driver", "load",
             "joint", "drive", "distribution", "generator", "friction_law", "measure"]))
        self.assertEqual(s["required"], ["cairn", "run"])
        self.assertEqual(s["$defs"]["run"]["required"], ["time_step", "duration"])
        self.assertEqual(s["$defs"]["run"]["properties"]["time_step"]["exclusiveMinimum"], 0)
        self.assertEqual(s["$defs"]["run"]["properties"]["on_uncertified"]["enum"],
                         ["warn", "stop"])
        self.assertEqual(s["$defs"]["material"]["properties"]["friction"]["default"], 0.5)

    @unittest.skipUnless(jsonschema, "the python packages jsonschema and yaml are not there")
    def test_the_scenes_of_the_tree_are_accepted(self):
        check = jsonschema.Draft202012Validator(schema())
        scenes = glob.glob(os.path.join(ROOT, "scenes", "*.yaml"))
        self.assertGreater(len(scenes), 5)
        for path in scenes:
            errors = [e.message for e in check.iter_errors(load_yaml(path))]
            self.assertEqual(errors, [], path)

    @unittest.skipUnless(jsonschema, "the python packages jsonschema and yaml are not there")
    def test_wrong_scenes_are_refused(self):
        jsonschema.Draft202012Validator.check_schema(schema())
        check = jsonschema.Draft202012Validator(schema())
        self.assertTrue(check.is_valid(SCENE))
        for path, value in WRONG:
            scene = copy.deepcopy(SCENE)
            place = scene
            for part in path[:-1]:
                place = place[part]
            place[path[-1]] = value
            self.assertFalse(check.is_valid(scene), f"{path} = {value}")


if __name__ == "__main__":
    if not os.path.exists(CAIRN):
        print("skipped: the program is not built")
        sys.exit(77)
    if not jsonschema:
        print("the python packages jsonschema and yaml are not there: scenes are not validated")
    unittest.main()
