"""The one-step problem as data, and its solvers.

    u = W r + q,   K  contains  r  orthogonal to  u + (b + mu |u_T|) n  in  K*

A Problem comes from arrays, from scipy sparse matrices, from an FCLib file or from a world; `solve`
takes any of them.
"""
from __future__ import annotations

import os
import time as _time
from typing import Any

import numpy as np

from . import _records
from ._lib import BadInput, Error, Struct, check, ffi, lib, new_error, numbers, process, text

SOLVE = _records.single(ffi, lib, "SolveOptions")
LAWS = {text(lib.cairn_law_name(k)): k for k in range(lib.CAIRN_LAW_COUNT)}


def _doubles(array):
    return ffi.cast("double *", ffi.from_buffer(array))


def _ints(array):
    return ffi.cast("int32_t *", ffi.from_buffer(array))


def _sparse(value, shape, key, keep):
    """A cairn_matrix of a dense array or of a scipy sparse matrix."""
    if hasattr(value, "tocsr"):
        csr = value.tocsr().sorted_indices()
        csr.sum_duplicates()
        start, column, data = csr.indptr, csr.indices, csr.data
        found = csr.shape
    else:
        dense = numbers(value, key, ndim=2)
        found = dense.shape
        filled = dense != 0
        start = np.concatenate([[0], np.cumsum(filled.sum(axis=1))])
        column, data = np.nonzero(filled)[1], dense[filled]
    if found != shape:
        raise BadInput(f"found a matrix of {found[0]} x {found[1]}, expected {shape[0]} x "
                       f"{shape[1]}", key)
    start = np.ascontiguousarray(start, np.int64)
    column = np.ascontiguousarray(column, np.int32)
    data = numbers(data, key)
    keep += [start, column, data]
    out = ffi.new("cairn_matrix *")
    out.rows, out.columns = found
    out.start = ffi.cast("int64_t *", ffi.from_buffer(start))
    out.column, out.value = _ints(column), _doubles(data)
    keep.append(out)
    return out


def _dense(matrix):
    """A cairn_matrix as arrays (start, column, value)."""
    n = matrix.start[matrix.rows]
    return (np.frombuffer(ffi.buffer(matrix.start, 8 * (matrix.rows + 1)), np.int64).copy(),
            np.frombuffer(ffi.buffer(matrix.column, 4 * n), np.int32).copy() if n else
            np.zeros(0, np.int32),
            np.frombuffer(ffi.buffer(matrix.value, 8 * n), np.float64).copy() if n else
            np.zeros(0))


class Problem:
    """A contact problem. `dimension` numbers belong to each contact, the normal one first; `r` is
    where a solver starts (default 0)."""

    r: np.ndarray
    title: str
    solution: np.ndarray | None = None  #: stored in the file it was loaded from
    guesses: list = []
    _p: Any
    _keep: list

    def __init__(self):
        raise TypeError("a Problem comes from Problem.local, block, general, load or world.problem")

    @classmethod
    def _new(cls, pointer, keep, r=None, title=""):
        self = cls.__new__(cls)
        self._p, self._keep, self.title = pointer, keep, title
        error = new_error()
        check(lib.cairn_problem_check(pointer, error), error)
        self.r = np.zeros((self.contacts, self.dimension)) if r is None else r
        return self

    # ---- where they come from -------------------------------------------------------------------

    @classmethod
    def local(cls, W, q, mu, *, b=None, s=None) -> "Problem":
        """u = W r + q. `W` is a dense array or a scipy sparse matrix (kg^-1), `q` a row of 2 or 3
        numbers for each contact (m/s), `mu` the friction of each; `b` normal bias (m/s)."""
        q = numbers(q, "q", ndim=2)
        n, d = q.shape
        keep = [q]
        p = ffi.new("cairn_problem *")
        p.dimension, p.contacts = d, n
        p.W, p.q = _sparse(W, (n * d, n * d), "W", keep), _doubles(q)
        cls._fill(p, keep, n, mu=mu, b=b, s=s)
        return cls._new(p, keep)

    @classmethod
    def block(cls, mass_inverse, v_free, block, H, mu, *, w=None, b=None, s=None) -> "Problem":
        """M (v - v_free) = H'r, u = H v + w, with M diagonal. `mass_inverse` and `v_free` have a
        row of velocities for each body; `block` names the two bodies of each contact (-1: none);
        `H` has shape (contacts, 2, dimension, velocities of a body)."""
        inverse = numbers(mass_inverse, "mass_inverse", ndim=2)
        free = numbers(v_free, "v_free", shape=inverse.shape)
        sides = numbers(block, "block", ndim=2, dtype=np.int32)
        rows = numbers(H, "H", ndim=4)
        n, d = len(rows), rows.shape[2]
        if sides.shape != (n, 2) or rows.shape != (n, 2, d, inverse.shape[1]):
            raise BadInput(f"found arrays of shape {rows.shape} and {sides.shape}, expected "
                           "(contacts, 2, dimension, size of a block) and (contacts, 2)", "H")
        keep = [inverse, free, sides, rows]
        p = ffi.new("cairn_problem *")
        p.dimension, p.contacts = d, n
        p.blocks, p.block_size = inverse.shape
        p.mass_inverse, p.v_free = _doubles(inverse), _doubles(free)
        p.block, p.H = _ints(sides), _doubles(rows)
        if w is not None:
            keep.append(numbers(w, "w", shape=(n, d)))
            p.w = _doubles(keep[-1])
        cls._fill(p, keep, n, mu=mu, b=b, s=s)
        return cls._new(p, keep)

    @classmethod
    def general(cls, M, H, f, w, mu) -> "Problem":
        """M v = H r + f, u = H'v + w, with any positive definite M (FCLib's global problem). `H`
        has a row for each velocity, `w` a row of 2 or 3 numbers for each contact."""
        w = numbers(w, "w", ndim=2)
        f = numbers(f, "f", ndim=1)
        n, d = w.shape
        keep = [w, f]
        g = ffi.new("cairn_global *")
        g.dimension, g.contacts = d, n
        g.M = _sparse(M, (len(f), len(f)), "M", keep)[0]
        g.H = _sparse(H, (len(f), n * d), "H", keep)[0]
        g.f, g.w = _doubles(f), _doubles(w)
        keep.append(numbers(mu, "mu", shape=(n,)))
        g.mu = _doubles(keep[-1])
        out, error = ffi.new("cairn_condensed **"), new_error()
        check(lib.cairn_condense(g, out, error), error)
        condensed = ffi.gc(out[0], lib.cairn_condensed_destroy)
        return cls._new(lib.cairn_condensed_problem(condensed), keep + [g, condensed])

    @classmethod
    def load(cls, path) -> "Problem":
        """The problem of an FCLib file. Its stored answers are `solution` and `guesses`."""
        out, error = ffi.new("cairn_fclib **"), new_error()
        check(lib.cairn_fclib_load(os.fsencode(path), out, error), error)
        file = ffi.gc(out[0], lib.cairn_fclib_destroy)
        self = cls._new(ffi.addressof(file, "problem"), [file], title=text(file.title))
        shape = (self.contacts, self.dimension)
        self.solution = _answer(file.solution, shape) if file.solution else None
        self.guesses = [_answer(file.guesses + k, shape) for k in range(file.guess_count)]
        return self

    @classmethod
    def of_world(cls, world) -> "Problem":
        """The problem of the last step of a world, copied, in the block form."""
        with world._reading() as pointer:
            place = ffi.new("const double **")
            p = lib.cairn_world_problem(pointer, place)
            if not p:
                raise Error("there is no problem: the world has not stepped, or the step failed")
            return cls._copy(p, place[0])

    @classmethod
    def _copy(cls, p, r):
        n, d, size = p.contacts, p.dimension, p.block_size
        keep: list = []
        out = ffi.new("cairn_problem *", p[0])

        def own(name, count, dtype):
            given = getattr(p, name)
            if given:
                keep.append(np.frombuffer(ffi.buffer(given, count * np.dtype(dtype).itemsize),
                                          dtype).copy() if count else np.zeros(1, dtype))
                kind = {"f8": "double *", "i4": "int32_t *", "u1": "uint8_t *"}[
                    np.dtype(dtype).str[1:]]
                setattr(out, name, ffi.cast(kind, ffi.from_buffer(keep[-1])))

        rows = np.zeros((n, 2, d, size))
        for j in range(n):
            for side in range(2):
                lib.cairn_problem_rows(p, j, side, ffi.cast("double *",
                                                            ffi.from_buffer(rows[j, side])))
        own("mass_inverse", p.blocks * size, np.float64)
        own("v_free", p.blocks * size, np.float64)
        own("block", 2 * n, np.int32)
        for name in ("w", "lower", "upper", "compliance"):
            own(name, n * d, np.float64)
        for name in ("b", "s", "mu", "mu_rolling", "mu_spinning", "scale", "most"):
            own(name, n, np.float64)
        own("bounded", n, np.uint8)
        keep.append(rows)
        out.H = _doubles(rows)
        out.normal = out.tangent = out.radius = out.rows = ffi.NULL
        start = np.frombuffer(ffi.buffer(r, 8 * n * d)).reshape(n, d).copy() if n else None
        return cls._new(out, keep, start)

    @staticmethod
    def _fill(p, keep, n, **columns):
        for name, value in columns.items():
            if value is not None:
                value = np.broadcast_to(np.asarray(value), (n,)) if np.ndim(value) == 0 else value
                keep.append(numbers(value, name, shape=(n,)))
                setattr(p, name, _doubles(keep[-1]))

    # ---- what they are --------------------------------------------------------------------------

    @property
    def contacts(self) -> int:
        """Number of contacts, blocks of joints included."""
        return self._p.contacts

    @property
    def dimension(self) -> int:
        """Numbers of a contact: 2 or 3, and those of rolling and spinning."""
        return self._p.dimension

    @property
    def mu(self) -> np.ndarray:
        """Friction of each contact, copied."""
        return np.frombuffer(ffi.buffer(self._p.mu, 8 * self.contacts)).copy() \
            if self.contacts else np.zeros(0)

    @property
    def W(self):
        """The matrix of the local form as a scipy sparse matrix; None in the block form."""
        if not self._p.W:
            return None
        import scipy.sparse
        start, column, value = _dense(self._p.W)
        return scipy.sparse.csr_matrix((value, column, start),
                                       shape=(self._p.W.rows, self._p.W.columns))

    @property
    def q(self):
        """The vector of the local form, a row for each contact; None in the block form."""
        if not self._p.q:
            return None
        return np.frombuffer(ffi.buffer(self._p.q, 8 * self.contacts * self.dimension)).reshape(
            self.contacts, self.dimension).copy()

    def _room(self):
        n, d = max(self.contacts, 1), self.dimension
        return np.zeros(max(self._p.blocks * self._p.block_size, 1)), np.zeros((n, d))

    def apply(self, r) -> tuple:
        """Velocities v of the bodies (a row each; none in the local form) and u of the contacts
        that result from impulses r."""
        r = numbers(r, "r", shape=(self.contacts, self.dimension))
        v, u = self._room()
        lib.cairn_problem_apply(self._p, _doubles(r) if r.size else ffi.NULL, _doubles(v),
                                _doubles(u))
        return self._velocities(v), u[:self.contacts]

    def _velocities(self, v):
        p = self._p
        return v[:p.blocks * p.block_size].reshape(p.blocks, p.block_size) if p.blocks else None

    def judge(self, r, law: str = "coulomb") -> Struct:
        """How well impulses satisfy a law: residuals `asked` and `coulomb`, `cone_violation`."""
        r = numbers(r, "r", shape=(self.contacts, self.dimension), finite=False)
        v, u = self._room()
        out = ffi.new("cairn_judgement *")
        lib.cairn_judge(self._p, _law(law), _doubles(r) if r.size else ffi.NULL, _doubles(v),
                        _doubles(u), out)
        return Struct(out)

    def accepts(self, solver: str, law: str = "coulomb") -> bool:
        """Whether a solver treats a law on this problem."""
        return bool(lib.cairn_solver_accepts(solver.encode(), _law(law), self._p))

    def save(self, path, r=None, solver: str = "") -> None:
        """Write an FCLib file, with impulses r as its solution."""
        given = None if r is None else numbers(r, "r", shape=(self.contacts, self.dimension))
        error = new_error()
        check(lib.cairn_fclib_save_problem(os.fsencode(path), self._p, self.title.encode(),
                                           solver.encode(),
                                           _doubles(given) if given is not None else ffi.NULL,
                                           error), error)

    def __repr__(self):
        form = "local form" if self._p.W else f"{self._p.blocks} bodies"
        title = f" '{self.title}'" if self.title else ""
        return f"<Problem{title}: {self.contacts} contacts of dimension {self.dimension}, {form}>"


def _answer(c, shape):
    return np.frombuffer(ffi.buffer(c.r, 8 * shape[0] * shape[1])).reshape(shape).copy()


def _law(law):
    if law not in LAWS:
        raise BadInput(f"found {law!r}, expected one of {', '.join(LAWS)}", "law")
    return LAWS[law]


class Solution:
    """Impulses and their judgement."""

    def __init__(self, r, v, u, report, seconds):
        self.r, self.v, self.u = r, v, u
        self.report, self.seconds, self.history = Struct(report), seconds, None

    @property
    def converged(self) -> bool:
        """Whether the tolerance was met."""
        return bool(self.report.converged)

    @property
    def iterations(self) -> int:
        """Sweeps, gradient or Newton steps."""
        return self.report.iterations

    @property
    def solver(self) -> str:
        """The solver that ran: the choice of "auto"."""
        return self.report.solver

    @property
    def residual(self) -> float:
        """The relative residual of the chosen law."""
        return self.report.judgement.asked.relative

    def __repr__(self):
        met = "converged" if self.converged else "not converged"
        return (f"<Solution by {self.solver}: {met}, residual {self.residual:.2e} "
                f"after {self.iterations} iterations, "
                f"{self.seconds:.3g} s>")


def solve(problem: Problem, solver: str = "auto", *, law: str = "coulomb", r=None,
          history: bool = False, **options) -> Solution:
    """Solve a problem from impulses `r` (those of the problem unless given). Not converging is a
    report, not an error. With `history` the solve is repeated with 1, 2, 4, 8, ... iterations at
    most, and `solution.history` has a row of iterations, residual and seconds for each: what the
    judge says of the impulses at which the solver then stops."""
    given = ffi.new("cairn_solve_options *")
    given[0] = lib.cairn_solve_options_default()
    keep: list = []
    names = {"solver": solver, **options}
    names = {k: v for k, v in names.items() if k in SOLVE.options or SOLVE.find(k)}
    SOLVE.write(given, names, keep)
    given.law = _law(law)
    error = new_error()
    check(lib.cairn_record_check(SOLVE.pointer, given, error), error)
    start = problem.r if r is None else numbers(r, "r", shape=problem.r.shape)
    process.computes()
    solution = _solve(problem, given, start)
    if history:
        solution.history = _history(problem, given, start, solution)
    return solution


def _solve(problem, options, start):
    r = np.array(start, dtype=float, order="C")
    if r.size == 0:
        r = np.zeros((1, problem.dimension))
    v, u = problem._room()
    report = ffi.new("cairn_solve_report *")
    out = ffi.new("cairn_workspace **")
    check(lib.cairn_workspace_create(out))
    workspace = ffi.gc(out[0], lib.cairn_workspace_destroy)
    began = _time.perf_counter()
    status = lib.cairn_solve(problem._p, options, workspace, _doubles(r), _doubles(v), _doubles(u),
                             report)
    seconds = _time.perf_counter() - began
    if status != lib.CAIRN_OK:
        remark = text(report.remark)
        note = new_error()
        note.message = (remark or text(lib.cairn_status_text(status))).encode()[:500]
        note.key = b"solver"
        check(status, note)
    n = problem.contacts
    return Solution(r[:n], problem._velocities(v), u[:n], report, seconds)


def _history(problem, options, start, final):
    limit, most, rows = options.max_iterations, 1, []
    while most < final.iterations:
        options.max_iterations = most
        part = _solve(problem, options, start)
        rows.append((part.iterations, part.residual, part.seconds))
        most *= 2
    options.max_iterations = limit
    rows.append((final.iterations, final.residual, final.seconds))
    return np.array(rows)


solve.__doc__ += "\n\nOptions\n-------\n" + SOLVE.table("")
