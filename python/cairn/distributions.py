"""Distributions of positive numbers: radii, masses."""
from __future__ import annotations

import sys

from ._kinds import Kind, make_family
from ._lib import lib


class Distribution(Kind):
    """A distribution of numbers."""

    def _fill_struct(self, place, keep):
        """Write it as the library takes it."""
        place[0] = lib.cairn_distribution_default(self.kind)
        self._fill(place, keep)


KINDS = make_family("distributions", Distribution, sys.modules[__name__].__dict__)


def of(value) -> Distribution:
    """A distribution; a number alone is always that number."""
    return value if isinstance(value, Distribution) else Constant(value=value)  # noqa: F821
