"""Many bodies at once: grids, packings, piles, random fill. The same seed makes the same bodies."""
from __future__ import annotations

import sys

from . import distributions
from ._kinds import Kind, make_family
from ._lib import BadInput, ffi, lib


class Generator(Kind):
    """Makes many bodies of one `shape` (by default a sphere of `radius`); `radius` and `mass` may
    be distributions."""

    def _struct(self, world, keep):
        self._refuse_flat(world.dimension)
        out = ffi.new("cairn_generator *")
        out[0] = lib.cairn_generator_default(self.kind, world.dimension)
        self._fill(out, keep)
        fill_grains(out, self.options, world, keep)
        if self.options.get("mass") is not None:
            distributions.of(self.options["mass"])._fill_struct(ffi.addressof(out, "mass"), keep)
            if not (out.mass.kind or out.mass.value > 0):
                raise BadInput("found 0, expected a mass > 0 kg", "mass")
        return out


def fill_grains(out, given, world, keep):
    """Shape, radius and material, which generators and inlets share. Without a radius bodies are as
    large as their shape."""
    shape, radius = given.get("shape"), given.get("radius")
    out.shape = lib.cairn_shape_default(lib.CAIRN_SHAPE_SPHERE, world.dimension)
    if shape is not None:
        struct, kept = shape._struct(world.dimension)
        keep.append(kept)
        out.shape = struct[0]
    if radius is None:
        radius = out.shape.radius if out.shape.kind == lib.CAIRN_SHAPE_SPHERE else 0.0
    distributions.of(radius)._fill_struct(ffi.addressof(out, "radius"), keep)
    out.material = world._material_number(given.get("material"))


KINDS = make_family("generators", Generator, sys.modules[__name__].__dict__,
                    ("shape", "radius", "mass", "material"))
