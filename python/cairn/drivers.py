"""Motions of driven bodies, as functions of time."""
from __future__ import annotations

import sys

from ._kinds import Kind, make_family
from ._lib import lib


class Driver(Kind):
    """A motion of a driven body."""

    def _fill_struct(self, place, keep):
        """Write it as the library takes it."""
        place[0] = lib.cairn_driver_default(self.kind)
        self._fill(place, keep)


KINDS = make_family("drivers", Driver, sys.modules[__name__].__dict__)
