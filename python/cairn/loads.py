"""Forces and torques on dynamic bodies, as functions of time."""
from __future__ import annotations

import sys

from ._kinds import Kind, make_family
from ._lib import lib


class Load(Kind):
    """A force and torque on a dynamic body."""

    def _fill_struct(self, place, keep):
        """Write it as the library takes it."""
        place[0] = lib.cairn_load_default(self.kind)
        self._fill(place, keep)


KINDS = make_family("loads", Load, sys.modules[__name__].__dict__)
