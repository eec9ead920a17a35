"""Joints between two bodies, or between a body and the world. Points and directions are in the
world frame, at the poses of the bodies when the joint is made. docs/joint-methods.md has the
formulas."""
from __future__ import annotations

import sys

from . import _records
from ._kinds import Kind, describe, make_family, signature
from ._lib import ffi, lib


class Drive(Kind):
    """What acts along a free coordinate of a joint: limits, motor, dry friction, spring."""

    record = _records.single(ffi, lib, "DriveOptions")
    kind = 0


Drive.__doc__ = describe(Drive.record)
signature(Drive, [], Drive.record)


class JointKind(Kind):
    """A joint between two bodies; `turn` and `slide` are drives of its free coordinates."""

    def __init__(self, *, turn=None, slide=None, **options):
        drives = {"turn": turn, "slide": slide}
        given = {k: d if isinstance(d, Drive) else Drive(**d) for k, d in drives.items() if d}
        super().__init__(**given, **options)

    def _struct(self, dimension, keep):
        self._refuse_flat(dimension)
        out = ffi.new("cairn_joint_def *")
        out[0] = lib.cairn_joint_def_default()
        out.kind = self.kind
        if dimension == 2:  # as in scenes: rotation about z, sliding along x
            out.axis.x, out.axis.y, out.axis.z = 1.0, 0.0, 0.0
        self._fill(out, keep)
        for name in ("turn", "slide"):
            if name in self.options:
                self.options[name]._fill(ffi.addressof(out, name), keep)
        return out


KINDS = make_family("joints", JointKind, sys.modules[__name__].__dict__, ("turn", "slide"))


class Joint:
    """A joint of a world."""

    def __init__(self, world, number, generation):
        self.world, self._number, self._generation = world, number, generation

    def _id(self):
        out = ffi.new("cairn_joint_id *")
        out.index, out.generation = self._number, self._generation
        return out[0]

    @property
    def state(self) -> dict:
        """Its state after the last step: `turn` (rad), `slide` (m), `force` (N) and `torque`
        (N m) on its first body, `point` (m), `broken`, `drift`, `elastic` (J)."""
        with self.world._reading() as world:
            s = lib.cairn_world_joint(world, self._number)
        triple = {k: (v.x, v.y, v.z) for k, v in (
            ("point", s.point), ("point_b", s.point_b), ("force", s.force), ("torque", s.torque))}
        return dict(triple, alive=bool(s.alive), broken=bool(s.broken), turn=s.turn, slide=s.slide,
                    drift=s.drift, turn_drift=s.turn_drift, elastic=s.elastic,
                    kind=KINDS[s.kind].record.name)

    def aim(self, *, turn: float | None = None, slide: float | None = None) -> None:
        """Change the target of its motors from now on."""
        for is_turn, target in ((True, turn), (False, slide)):
            if target is not None:
                self.world._change(lib.cairn_joint_aim, self._id(), is_turn, float(target))

    def destroy(self) -> None:
        """Remove it."""
        self.world._change(lib.cairn_joint_destroy, self._id())

    def __repr__(self):
        s = self.state
        if not s["alive"]:
            return f"<Joint {self._number}: removed>"
        told = ", ".join(f"{k} {s[k]:.4g}" for k in ("turn", "slide"))
        return f"<Joint {self._number}: {s['kind']}{', broken' if s['broken'] else ''}, {told}>"


