"""Scenes: YAML files, or the same as dicts of Python. docs/scene-format.md has their keys."""
from __future__ import annotations

import copy
import json
import os
import re
import tempfile
import warnings
import weakref

import numpy as np
import yaml

from . import _records
from ._lib import (BadInput, Caller, Destroyer, Error, NotFound, Struct, check, ffi, lib,
                   new_error, position, process, text)
from .body import Body
from .world import STEP, StepReport, UnitWarning, World, _Meter

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
    _warn(out[0], isinstance(scene, dict))
    return Scene(out[0], scene, set)


def _warn(scene, is_dict):
    """Numbers that are probably in another unit, as `cairn check` says. A dict has no lines."""
    doubt, told = scene.doubts, []
    while doubt:
        found = doubt.found
        place = "" if is_dict else f"{text(found.file)}:{found.line}:{found.column}: "
        more = f" (and {doubt.others} more like this)" if doubt.others else ""
        told.insert(0, f"{place}{text(found.key)}: {text(found.message)}{more}")
        doubt = doubt.next
    for message in told:
        warnings.warn(message, UnitWarning, stacklevel=3)


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
        destroyer = Destroyer(lib.cairn_scene_destroy)
        self._pointer = pointer = ffi.gc(pointer, destroyer)
        self._source, self._changes = source, dict(changes or {})
        self._ran = False
        self.world = World._of(pointer.world, pointer, destroyer)
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

    def begin(self, folder, *, force: bool = False) -> "Running":
        """Begin a run whose steps you take yourself, pushing and changing bodies in between; it
        writes the run folder of `run`. `force` overwrites an existing run."""
        if self._ran or self.world.time > 0:
            raise Error("the scene has run already; load it again")
        run = Running._begin(self._pointer, self.world, folder, force)
        self._ran, run.scene = True, self
        return run

    def __repr__(self):
        o = self.options
        return (f"<Scene '{self.title}': {self.world!r}, {o['duration']:g} s in steps of "
                f"{o['time_step']:g} s by {o['scheme']}>")

    def _repr_html_(self):
        return f"<b>{self.title}</b>" + self.world._repr_html_()


# ---- a loop of one's own ------------------------------------------------------------------------


class Running:
    """A run whose steps the program takes itself: see `Scene.begin`, `World.begin` and
    `continue_run`.

        with scene.begin("out") as run:
            while run.goes_on:
                ball.push((0, 0, 9.81 * ball.mass))
                run.step()
        run.result.series

    Ended before its time, with an exception or without, it is "interrupted" and has a checkpoint.
    Destroying the world ends it as well.
    """

    def __init__(self, pointer, world, folder, keep):
        self._pointer, self._keep = ffi.new("cairn_running **", pointer), keep
        self.world, self.folder = world, os.fspath(folder)
        self.scene = None  #: the scene; None: it was begun by a world
        self.summary = None  #: after its end
        world._running, world._destroyer.run = weakref.ref(self), self._pointer

    @classmethod
    def _begin(cls, scene, world, folder, force, keep=None):
        error, out, path = new_error(), ffi.new("cairn_running **"), os.fsencode(folder)
        if not force:
            check(lib.cairn_run_folder_check(path, error), error)
        process.computes()
        with world._reading():
            world._refuse_inside()
            check(lib.cairn_run_begin(scene, path, out, error), error)
        return cls(out[0], world, folder, (scene, keep))

    @property
    def goes_on(self) -> bool:
        """Whether there is a step left: its duration is not over, it is not at rest, no event has
        ended it and no step failed."""
        return self._pointer[0] != ffi.NULL and bool(lib.cairn_run_goes_on(self._pointer[0]))

    def step(self) -> StepReport:
        """Take a step and write it, with the frame, the checkpoint and the events that are due.
        Bodies may be pushed and changed before it, but not created or removed, and the world may
        not be stepped otherwise: this is refused, and the run goes on once it is undone."""
        if self._pointer[0] == ffi.NULL:
            raise Error("the run has ended")
        report, error = ffi.new("cairn_step_report *"), new_error()
        with self.world._lock:
            self.world._ready()
            try:
                status = lib.cairn_run_step(self._pointer[0], report, error)
            finally:
                self.world._clock.version += 1
            if status != lib.CAIRN_OK:
                self.world.settle()
        check(status, error)
        return StepReport(report)

    def end(self):
        """End the run now and complete its folder; returns it, a Run. A second call does
        nothing more."""
        self._finish()
        return self.result

    def _finish(self):
        if self._pointer[0] != ffi.NULL:
            summary, error = ffi.new("cairn_run_summary *"), new_error()
            with self.world._lock:
                status = lib.cairn_run_end(self._pointer, summary, error)
            self.summary = Struct(summary)
            check(status, error)

    @property
    def result(self):
        """The Run that it wrote, once it has ended."""
        if self._pointer[0] != ffi.NULL:
            raise Error("the run has not ended")
        from .recording import Run
        out = Run(self.folder)
        out.summary = self.summary
        return out

    def __enter__(self):
        return self

    def __exit__(self, kind, exception, trace):
        try:
            self.end()
        except Error:
            if exception is None:  # else the first one counts
                raise

    def __del__(self):
        pointer = getattr(self, "_pointer", None)
        if pointer is not None and pointer[0] != ffi.NULL:
            lib.cairn_run_end(pointer, ffi.NULL, ffi.NULL)

    def __repr__(self):
        state = "goes on" if self.goes_on else "ended"
        return f"<Running {self.folder}: t = {self.world.time:g} s, {state}>"


def begin_world(world, folder, force, series, options):
    """The run of a world that no scene made; see World.begin."""
    keep: list = []
    scene = ffi.new("cairn_scene *")
    scene.run, scene.measure = lib.cairn_run_options_default(), lib.cairn_measure_options_default()
    keep.append(ffi.new("char[]", b""))
    scene.text = keep[0]
    scene.title = str(options.pop("title", "")).encode()[:127]
    scene.world, scene.step = world._pointer, world._step[0]
    RUN.write(ffi.addressof(scene, "run"), options, keep)
    _attach_series(scene, world, series, keep)
    keep.append(world._kept)
    error = new_error()
    check(lib.cairn_record_check(RUN.pointer, ffi.addressof(scene, "run"), error), error)
    return Running._begin(scene, world, folder, force, keep)


def _attach_series(scene, world, series, keep):
    """Series of forces: dicts with the keys of docs/series.md; bodies, materials and joints are
    objects of the world."""
    given = list(series)
    room = max(len(given), 1)
    probes, names = ffi.new("cairn_probe[]", room), ffi.new("cairn_force_series[]", room)
    for k, one in enumerate(given):
        one = dict(one)
        probes[k] = lib.cairn_probe_default()
        names[k].name = _series_name(one, given[:k], keep)
        names[k].interval = float(one.pop("interval", 0))
        _fill_probe(probes[k], world, one, keep)
        if one:
            raise TypeError(f"a series has no key '{next(iter(one))}'; expected name, bodies, "
                            "material, group, low, high, joint, about or interval")
    scene.step.probes, scene.step.probe_count = probes, len(given)
    scene.series, scene.series_count = names, len(given)
    keep.append((probes, names))


def _series_name(one, before, keep):
    name = one.pop("name", None)
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", name):
        raise BadInput(f"found {name!r}, expected 1 to 40 letters, digits, - and _", "series.name")
    if any(other["name"] == name for other in before):
        raise BadInput(f"there are two series '{name}'", "series.name")
    keep.append(ffi.new("char[]", name.encode()))
    return keep[-1]


def _fill_probe(probe, world, one, keep):
    if not {"bodies", "material", "group", "low", "joint"} & set(one):
        raise BadInput("expected bodies, material, group, low and high, or a joint", "series")
    bodies = one.pop("bodies", None)
    if bodies is not None:
        uids = [b.uid for b in ([bodies] if isinstance(bodies, Body) else bodies)]
        keep.append(ffi.new("uint64_t[]", uids))
        probe.bodies, probe.body_count = keep[-1], len(uids)
    if "material" in one:
        probe.material = world._material_number(one.pop("material"))
    probe.group = int(one.pop("group", -1))
    if "joint" in one:
        probe.joint = one.pop("joint")._number
    probe.boxed, probe.about_point = "low" in one or "high" in one, "about" in one
    for name, far in (("low", -1e30), ("high", 1e30), ("about", 0.0)):
        at = one.pop(name, None)
        vector = (far,) * 3 if at is None else position(at, world.dimension, name)
        for axis, x in zip("xyz", vector):
            setattr(getattr(probe, name), axis, x)
    if probe.boxed and world.dimension == 2:
        probe.low.z, probe.high.z = -1e30, 1e30


def continue_run(folder) -> Running:
    """Go on with a run that was ended early or killed, from its last checkpoint. Its bits are those
    of a run that never stopped if the program does the same again in each step."""
    out, scene, error = ffi.new("cairn_running **"), ffi.new("cairn_scene **"), new_error()
    process.computes()
    status = lib.cairn_run_continue(os.fsencode(folder), ffi.NULL, scene, out, error)
    if status != lib.CAIRN_OK and scene[0] != ffi.NULL:
        lib.cairn_scene_destroy(scene[0])
    check(status, error)
    made = Scene(scene[0], text(scene[0].text), None)
    run = Running(out[0], made.world, folder, (made._pointer, None))
    made._ran, run.scene = True, made
    return run


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
