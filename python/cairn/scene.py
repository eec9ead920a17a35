"""Scenes: YAML files, or the same as dicts of Python. docs/scene-format.md has their keys."""
from __future__ import annotations

import copy
import json
import os
import re
import tempfile

import numpy as np
import yaml

from . import _records
from ._lib import Caller, Error, NotFound, Struct, check, ffi, lib, new_error, process, text
from .body import Body
from .world import STEP, World, _Meter

RUN = _records.single(ffi, lib, "RunOptions")


class _Loader(yaml.SafeLoader):
    """Numbers as the library reads them: 1e-3 is a number, which PyYAML alone reads as a text."""


_Loader.yaml_implicit_resolvers = {
    key: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:float"]
    for key, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(\d+\.\d*|\.\d+|\d+)([eE][-+]?\d+)?$|^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN)$"),
    list("-+0123456789."))
# whole numbers before floats, which look the same without a decimal point
_Loader.yaml_implicit_resolvers = {
    key: sorted(pairs, key=lambda pair: pair[0] == "tag:yaml.org,2002:float")
    for key, pairs in _Loader.yaml_implicit_resolvers.items()}


def plain(value):
    """Convert numbers and arrays of numpy to those of Python, for YAML and JSON."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    return value.item() if isinstance(value, np.generic) else value


def to_yaml(scene: dict) -> str:
    """A scene given as a dict, as the text of a YAML file."""
    return yaml.safe_dump(plain(scene), sort_keys=False, default_flow_style=None, width=98)


def from_yaml(source) -> dict:
    """The dict of a YAML file: a path, or the text itself."""
    if isinstance(source, str) and "\n" in source:
        return yaml.load(source, _Loader)
    with open(source, encoding="utf-8") as file:
        return yaml.load(file.read(), _Loader)


def overrides(given):
    """Texts "path=value" of a dict of changes."""
    texts = []
    for path, value in (given or {}).items():
        value = plain(value)
        texts.append(f"{path}={value if isinstance(value, str) else json.dumps(value)}")
    return texts


def texts_of_c(texts, keep):
    items = [ffi.new("char[]", t.encode()) for t in texts]
    array = ffi.new("const char *[]", items or [ffi.NULL])
    keep += items + [array]
    return array


class _SceneFile:
    """A path for the library: that of a file, or of a temporary one for a dict."""

    def __init__(self, source, folder):
        self.path, self.temporary = source, isinstance(source, dict)
        if self.temporary:
            handle, self.path = tempfile.mkstemp(suffix=".yaml", prefix="scene-", dir=folder)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(to_yaml(source))

    def __enter__(self):
        return os.fsencode(self.path)

    def __exit__(self, *exception):
        if self.temporary:
            os.unlink(self.path)


def load(scene, set: dict | None = None, folder=None) -> "Scene":
    """Read a scene, a path or a dict, and build its world. `set` changes values by their dotted
    paths, as in {"run.time_step": 1e-3, "bodies.0.mass": 2}. Files that a dict names are looked for
    in `folder`."""
    keep: list = []
    changes = overrides(set)
    out, error = ffi.new("cairn_scene **"), new_error()
    process.computes()
    with _SceneFile(scene, folder) as path:
        status = lib.cairn_scene_load(path, texts_of_c(changes, keep), len(changes), out, error)
    check(status, error)
    return Scene(ffi.gc(out[0], lib.cairn_scene_destroy), scene, set)


def _change(tree, path, value):
    *way, last = path.split(".")
    for key in way:
        tree = tree[int(key)] if isinstance(tree, list) else tree.setdefault(key, {})
    if isinstance(tree, list):
        tree[int(last)] = value
    else:
        tree[last] = value


class _Watch(Caller):
    """Called after every step of a run: shows progress, and lets Ctrl-C through."""

    def __init__(self, show, until, duration, world):
        super().__init__()
        self._world = world
        self._meter = _Meter(0.0, duration) if show else None
        self._until = until

    def progress(self, progress):
        self._world._clock.version += 1  # a step is done: views become stale
        if self._meter:
            self._meter.show(progress.time)
        return not (self._until is not None and self._until(Struct(progress)))


class Scene:
    """A scene with its world and the settings of its run."""

    def __init__(self, pointer, source, changes):
        self._pointer, self._source, self._changes = pointer, source, dict(changes or {})
        self._ran = False
        self.world = World._of(pointer.world, owner=pointer)
        self.world._step[0] = pointer.step
        self.title = text(pointer.title)
        self.materials = [text(pointer.material_names[k]) for k in range(pointer.material_count)]
        self._names = {}  # uid of each
        for k in range(pointer.body_count):
            if pointer.body_names[k]:
                self._names[text(pointer.body_names[k])] = k

    @property
    def text(self) -> str:
        """The file as read, with changes listed as comments at its end."""
        return text(self._pointer.text)

    @property
    def options(self) -> dict:
        """The settings of the run, by the keys of `run:`."""
        run = {o.name: RUN.read(ffi.addressof(self._pointer, "run"), o)
               for o in RUN.options.values()}
        step = {o.name: STEP.read(ffi.addressof(self._pointer, "step"), o)
                for o in STEP.options.values()}
        return {**step, **run}

    @property
    def names(self) -> list:
        """Names of the bodies that have one."""
        return list(self._names)

    def body(self, name: str) -> Body:
        """The body of a name."""
        if name not in self._names:
            near = _records.nearest(ffi, lib, name, self.names) if self.names else None
            raise NotFound(f"there is no body '{name}'" + (f"; did you mean '{near}'?" if near else
                                                           ""), "bodies")
        return Body(self.world, self._names[name])

    def to_dict(self) -> dict:
        """The scene as a dict, with the changes of `set` in it."""
        source = self._source
        tree = copy.deepcopy(source) if isinstance(source, dict) else from_yaml(source)
        for path, value in self._changes.items():
            _change(tree, path, value)
        return tree

    def save(self, path) -> None:
        """Write the scene as a YAML file, with the changes of `set` in it."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(to_yaml(self.to_dict()))

    def run(self, folder=None, *, progress: bool = False, until=None, force: bool = False):
        """Run the scene from its start to its end. With a folder everything is written there, and
        the result is a Run; otherwise it is the summary. `until(progress)` ends the run if it
        returns True, as does Ctrl-C: the results so far are kept. `force` overwrites an existing
        run."""
        if self._ran or self.world.time > 0:
            raise Error("the scene has run already; load it again")
        error, summary = new_error(), ffi.new("cairn_run_summary *")
        path = ffi.NULL if folder is None else os.fsencode(folder)
        if folder is not None and not force:
            check(lib.cairn_run_folder_check(path, error), error)
        process.computes()
        watch = _Watch(progress, until, self._pointer.run.duration, self.world)
        with self.world._reading():
            self.world._refuse_inside()
            self._ran = True
            self.world._clock.version += 1
            self.world._inside = True  # until the end Python only runs callbacks
            try:
                status = lib.cairn_run(self._pointer, path, lib.cairn_python_on_progress,
                                       watch.handle, summary, error)
            finally:
                self.world._inside = False
                self.world._clock.version += 1
        watch.settle()
        check(status, error)
        if folder is None:
            return Struct(summary)
        from .recording import Run
        out = Run(folder)
        out.summary = Struct(summary)
        return out

    def __repr__(self):
        o = self.options
        return (f"<Scene '{self.title}': {self.world!r}, {o['duration']:g} s in steps of "
                f"{o['time_step']:g} s by {o['scheme']}>")

    def _repr_html_(self):
        return f"<b>{self.title}</b>" + self.world._repr_html_()


def schema() -> dict:
    """The JSON Schema of scenes, made from the option tables."""
    return json.loads(written(lambda file: lib.cairn_scene_schema(file)))


def written(write) -> str:
    """The text that a function of the library writes to a file."""
    file = lib.tmpfile()
    if not file:
        raise Error("no temporary file can be made")
    try:
        check(write(file))
        lib.rewind(file)
        parts, room = [], ffi.new("char[]", 1 << 16)
        while True:
            count = lib.fread(room, 1, 1 << 16, file)
            if count == 0:
                break
            parts.append(bytes(ffi.buffer(room, count)))
        return b"".join(parts).decode("utf-8", "replace")
    finally:
        lib.fclose(file)
