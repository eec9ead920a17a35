#!/usr/bin/env python3
"""Solve FCLib problems with Siconos' solvers, one process a solve, and write a CSV.

usage: siconos_solve.py --csv OUT [--tolerance T]... [--time-limit S] FILE...

Needs python3-siconos, python3-h5py, python3-scipy and python3-numpy (Debian). Global problems are
condensed to W = H' M^-1 H first, outside the timed region. Every solver runs with its default
options but for the tolerance and the iteration limit; times are CPU seconds of the solve alone, the
shortest of up to 20 solves within a second, as with `cairn solve --repeat 20`; the residual is recomputed here from the impulses by the measure of the literature:
|r - P_K(r - (u + mu |u_T| n))| / max(|q|, |r|, |u|).
"""
import argparse
import csv
import multiprocessing
import os
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import h5py
import numpy as np
import scipy.sparse
import scipy.sparse.linalg

SOLVERS_3D = ["NSGS", "NSN_AC", "NSN_FB", "ADMM", "PROX", "FPP", "DSFP"]
SOLVERS_2D = ["NSGS", "CPG", "LEMKE", "ENUM"]


def read_matrix(group):
    """A sparse matrix; nz = -2: by rows, -1: by columns, >= 0: triplets with p = column, i = row."""
    rows, columns, nz = (int(group[name][0]) for name in ("m", "n", "nz"))
    p, i, x = group["p"][:], group["i"][:], group["x"][:]
    if nz == -2:
        return scipy.sparse.csr_matrix((x[: p[rows]], i[: p[rows]], p[: rows + 1]), (rows, columns))
    if nz == -1:
        return scipy.sparse.csc_matrix((x[: p[columns]], i[: p[columns]], p[: columns + 1]), (rows, columns))
    return scipy.sparse.coo_matrix((x[:nz], (i[:nz], p[:nz])), (rows, columns)).tocsr()


def read_problem(path):
    """dimension, W, q, mu of a local or global problem."""
    with h5py.File(path) as file:
        root = file.get("fclib_local") or file.get("fclib_global")
        if root is None:
            raise ValueError("neither fclib_local nor fclib_global")
        dimension = int(root["spacedim"][0])
        vectors = root["vectors"]
        mu = vectors["mu"][:]
        if "W" in root:
            return dimension, read_matrix(root["W"]), vectors["q"][:], mu
        M, H = read_matrix(root["M"]).tocsc(), read_matrix(root["H"]).tocsc()
        inverse = scipy.sparse.linalg.splu(M)
        MH = inverse.solve(H.toarray())
        W = H.T @ MH
        q = H.T @ inverse.solve(vectors["f"][:]) + vectors["w"][:]
        return dimension, scipy.sparse.csr_matrix(0.5 * (W + W.T)), q, mu


def project(dimension, mu, r):
    """Contact by contact onto |r_T| <= mu r_N."""
    r = r.reshape(-1, dimension).copy()
    normal, tangent = r[:, 0].copy(), np.linalg.norm(r[:, 1:], axis=1)
    inside = (normal >= 0) & (tangent <= mu * normal)
    on_edge = np.maximum(normal + mu * tangent, 0) / (1 + mu**2)
    scale = np.where(tangent > 0, mu * on_edge / np.where(tangent > 0, tangent, 1), 0)
    r[:, 0] = np.where(inside, normal, on_edge)
    r[:, 1:] = np.where(inside[:, None], r[:, 1:], r[:, 1:] * scale[:, None])
    return r.ravel()


def residual(dimension, W, q, mu, r):
    u = W @ r + q
    shifted = u.reshape(-1, dimension).copy()
    shifted[:, 0] += mu * np.linalg.norm(shifted[:, 1:], axis=1)
    error = np.linalg.norm(r - project(dimension, mu, r - shifted.ravel()))
    return error / max(np.linalg.norm(q), np.linalg.norm(r), np.linalg.norm(u))


def solve(path, name, tolerance, limit, out):
    """In a process of its own: puts (seconds, residual) into the queue."""
    import siconos.numerics as sn

    dimension, W, q, mu = read_problem(path)
    problem = sn.FrictionContactProblem(dimension, len(mu), W if dimension == 3 else W.toarray(), q, mu)
    identity = getattr(sn, "SICONOS_FRICTION_%dD_%s" % (dimension, name))
    options = sn.SolverOptions(identity)
    options.dparam[sn.SICONOS_DPARAM_TOL] = tolerance
    options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = 1000000 if name in ("NSGS", "ADMM", "FPP", "DSFP", "CPG") else 1000
    driver = sn.fc3d_driver if dimension == 3 else sn.fc2d_driver
    r, u = np.zeros(W.shape[0]), np.zeros(W.shape[0])
    sys.stdout.flush()
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    seconds, began = float("inf"), time.process_time()
    for _ in range(20):
        r[:], u[:] = 0, 0
        start = time.process_time()
        driver(problem, r, u, options)
        seconds = min(seconds, time.process_time() - start)
        if time.process_time() - began > 1:
            break
    out.put((seconds, residual(dimension, W, q, mu, r)))


def attempt(path, name, tolerance, limit):
    """(seconds, residual, verdict); a crash or a timeout is a verdict, too."""
    queue = multiprocessing.Queue()
    process = multiprocessing.Process(target=solve, args=(path, name, tolerance, limit, queue))
    process.start()
    process.join(limit + 5)
    if process.is_alive():
        process.kill()
        process.join()
        return limit, float("nan"), "time"
    if queue.empty():
        return float("nan"), float("nan"), "crashed"
    seconds, error = queue.get()
    return seconds, error, "solved" if error <= tolerance else "missed"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--csv", required=True)
    parser.add_argument("--tolerance", type=float, action="append")
    parser.add_argument("--time-limit", type=float, default=20)
    options = parser.parse_args()
    with open(options.csv, "w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["file", "solver", "tolerance", "seconds", "fclib", "verdict"])
        for path in options.files:
            try:
                dimension = read_problem(path)[0]
            except (OSError, ValueError, KeyError) as problem:
                print("%s: %s" % (path, problem), file=sys.stderr)
                continue
            for tolerance in options.tolerance or [1e-4, 1e-8]:
                for name in SOLVERS_3D if dimension == 3 else SOLVERS_2D:
                    row = attempt(path, name, tolerance, options.time_limit)
                    table.writerow([os.path.basename(path), name, tolerance, *row])
                    stream.flush()


if __name__ == "__main__":
    main()
