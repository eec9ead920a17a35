"""Friction as a function of the sliding speed; docs/friction.md has the laws."""
from __future__ import annotations

import sys

from ._kinds import Kind, make_family
from ._lib import lib


class FrictionLaw(Kind):
    """Friction over the sliding speed."""

    def _fill_struct(self, place, keep):
        """Write it as the library takes it."""
        place[0] = lib.cairn_friction_law_default(self.kind)
        self._fill(place, keep)


KINDS = make_family("friction", FrictionLaw, sys.modules[__name__].__dict__)
