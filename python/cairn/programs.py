"""The programs `cairn` and `cairn-check`, which come inside the package.

They do what the library does not: recompute a run, reproduce published tables and figures, write
the page of a run. `cairn-check` shares no code with the library; that is its point.
"""
from __future__ import annotations

import csv
import os
import subprocess
import sys

from ._lib import Error, NotFound


def path(name: str) -> str:
    """Where a program is: inside the package."""
    found = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name)
    if not os.path.exists(found):
        raise NotFound(f"the program {name} is not in the package: {found}")
    return found


def call(name: str, *arguments, expected=(0,)) -> subprocess.CompletedProcess:
    """Run a program; an unexpected exit code is an Error with its output."""
    done = subprocess.run([path(name), *[os.fspath(a) for a in arguments]], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode not in expected:
        told = (done.stderr or done.stdout).strip()
        raise Error(f"{name} {' '.join(str(a) for a in arguments)} ended with {done.returncode}: "
                    f"{told}")
    return done


class CheckResult:
    """The result of cairn-check: true if the run is certified."""

    def __init__(self, certified, text):
        self.certified, self.text = certified, text

    def __bool__(self):
        return self.certified

    def __repr__(self):
        return f"<CheckResult: {'certified' if self.certified else 'not certified'}>"


def check(run, *, all: bool = False, checksums: bool = True) -> CheckResult:
    """Recompute a run with an independent program and compare. The run must have been made with
    `certificate: full`. `all` lists every number that disagrees."""
    folder = getattr(run, "path", run)
    flags = (["--all"] if all else []) + ([] if checksums else ["--no-checksums"])
    done = call("cairn-check", *flags, folder, expected=(0, 1))
    return CheckResult(done.returncode == 0, done.stdout + done.stderr)


class Reproduced:
    """Published numbers beside those computed here."""

    def __init__(self, folder, rows, text):
        self.folder, self.rows, self.text = folder, rows, text

    def __repr__(self):
        return f"<Reproduced: {len(self.rows)} numbers, pages in {self.folder}>"


def reproduce(name: str = "all", *, quick: bool = True, out="out/reproduce",
              jobs: int | None = None) -> Reproduced:
    """Recompute published tables and figures; `rows` has a verdict for each number. The names are
    those of `reproduce_names()`."""
    flags = ["--out", os.fspath(out)] + (["--quick"] if quick else [])
    flags += ["--jobs", str(jobs)] if jobs else []
    done = call("cairn", "reproduce", name, *flags)
    found, rows = os.path.join(out, "rows.csv"), []
    if os.path.exists(found):
        with open(found, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    return Reproduced(os.fspath(out), rows, done.stdout)


def reproduce_names() -> list:
    """Names of what `reproduce` can compute."""
    lines = call("cairn", "reproduce", "--list").stdout.splitlines()
    return [line.split()[0] for line in lines if line.strip() and not line.startswith(" " * 4)]


def _become(name):
    os.execv(path(name), [name] + sys.argv[1:])


def main_cairn():
    """The command `cairn`."""
    _become("cairn")


def main_cairn_check():
    """The command `cairn-check`."""
    _become("cairn-check")
