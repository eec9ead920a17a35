"""The extension module, errors of the library as exceptions, and the check against fork."""
from __future__ import annotations

import os

from ._cairn import ffi, lib

lib.cairn_python_start()


def text(pointer) -> str:
    """A text of C; NULL is empty."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer else ""


class Error(Exception):
    """What the library says when a call fails.

    `message` says what was found and what was expected, `key` names the value (a dotted path, as in
    ``run.time_step``), `file`, `line` and `column` the place in a file. What is not known is an
    empty text or 0.
    """

    def __init__(self, message: str = "", key: str = "", file: str = "", line: int = 0,
                 column: int = 0):
        super().__init__(message)
        self.message, self.key = message, key
        self.file, self.line, self.column = file, line, column

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        return ": ".join(part for part in (place, self.key, self.message) if part)

    def __reduce__(self):
        return type(self), (self.message, self.key, self.file, self.line, self.column)


class NoMemory(Error, MemoryError):
    """There is not enough memory."""


class BadInput(Error, ValueError):
    """A value, key or the content of a file is not allowed."""


class NotFinite(Error, ValueError):
    """NaN or infinity appeared where a number was needed."""


class NotFound(Error, LookupError):
    """No such file, body, joint or name."""


class IoFailed(Error):
    """The operating system or a file library refused."""


class Unsupported(Error):
    """Valid, but not something that this solver, shape or scheme treats."""


class Stopped(Error):
    """A callback asked to stop, or a strict run met a step that missed its tolerance."""


class StaleView(Error):
    """The world changed since an array of its numbers was taken. Take it again, or keep a copy."""


class Closed(Error):
    """The world was destroyed."""


class Forked(Error):
    """The process is a fork of one that computed: its worker threads are not there."""


#: exceptions by cairn_status; a test compares them with the enumeration
BY_STATUS = {
    lib.CAIRN_NO_MEMORY: NoMemory,
    lib.CAIRN_BAD_INPUT: BadInput,
    lib.CAIRN_NOT_FINITE: NotFinite,
    lib.CAIRN_NOT_FOUND: NotFound,
    lib.CAIRN_IO_FAILED: IoFailed,
    lib.CAIRN_UNSUPPORTED: Unsupported,
    lib.CAIRN_STOPPED: Stopped,
}


for _kind in list(BY_STATUS.values()) + [Error, StaleView, Closed, Forked]:
    _kind.__module__ = "cairn"


def failure(status: int, error=None) -> Error:
    """The exception of a status, with what a cairn_error says."""
    kind = BY_STATUS.get(status, Error)
    message = text(error.message) if error else ""
    if not message:
        message = text(lib.cairn_status_text(status))
    if not error:
        return kind(message)
    return kind(message, text(error.key), text(error.file), error.line, error.column)


def check(status: int, error=None) -> None:
    """Raise unless a call went well."""
    if status != lib.CAIRN_OK:
        raise failure(status, error)


def new_error():
    return ffi.new("cairn_error *")


class _Process:
    """Whether threads of the library may be missing: they do not survive a fork."""

    def __init__(self):
        self.computed = False  # something ran that may have started threads
        self.forked = False    # in a child of a process that had computed
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def _after_fork(self):
        self.forked = self.forked or self.computed

    def computes(self):
        """Called before anything that may use threads."""
        if self.forked:
            raise Forked("this process was forked from one in which cairn had computed, and has "
                         "none of its threads; start it by multiprocessing's spawn or forkserver")
        self.computed = True


process = _Process()

#: version of the library, and of the package
VERSION = text(lib.cairn_version())
