"""Names of what one may choose: solvers, schemes, ..."""
from __future__ import annotations

from ._lib import BadInput, lib, text

_LISTS = {
    "solvers": (lib.cairn_solver_name, lib.cairn_solver_summary),
    "schemes": (lib.cairn_scheme_name, lib.cairn_scheme_summary),
    "backends": (lib.cairn_backend_name, lib.cairn_backend_summary),
    "statistics": (lib.cairn_statistic_name, lib.cairn_statistic_summary),
    "broad_phases": (lib.cairn_broad_phase_name, lib.cairn_broad_phase_summary),
}


def names(what: str) -> dict:
    """Names with a line about each: of "solvers", "schemes", "backends", "statistics" or
    "broad_phases"."""
    if what not in _LISTS:
        raise BadInput(f"found {what!r}, expected one of {', '.join(_LISTS)}", "what")
    name, summary = _LISTS[what]
    found, index = {}, 0
    while name(index):
        found[text(name(index))] = text(summary(name(index)))
        index += 1
    return found
