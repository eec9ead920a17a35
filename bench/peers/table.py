#!/usr/bin/env python3
"""The tables of one comparison: engines, or cairn and Siconos.

usage: table.py FOLDER CSV      FOLDER holds scene.csv, times.csv and quality.csv
       table.py FOLDER          FOLDER holds cairn_1e-4.csv, cairn_1e-8.csv and siconos.csv

Engines: times are the shortest of the rounds. The last columns name the fastest setting of cairn (with the same
friction and the scene's time step) that overlaps no more than this engine, at most and on average, and
the ratio of the times of the last quarter of the steps, and of the whole run: above 1 cairn is faster.
The last one is the ratio of the whole run when cairn, too, may choose its time step.

Siconos: for each problem and tolerance, the time of cairn's `auto` and of the fastest Siconos solver
that really met the tolerance (its residual was recomputed). The sums run over the problems that both
solved; a problem that only one of them solved counts for that one.
"""
import csv
import os
import re
import sys

COLUMNS = ["engine", "setting", "step_ms", "mean_step_ms", "total_s", "overlap_max", "overlap_mean",
           "overlap_worst", "approach", "kinetic", "energy_rise", "height", "cairn", "ratio", "ratio_total",
           "ratio_any_step"]
HEAD = ["engine", "setting", "ms/step", "total s", "max %", "mean %", "worst %", "v_n", "kinetic",
        "rise", "height", "cairn as good", "ratio", "total", "any h"]

TOLERANCES = ["1e-4", "1e-8"]


def read(path):
    with open(path, newline="") as stream:
        return list(csv.DictReader(stream))


def least_times(rows):
    """(engine, setting) -> (ms a step settled, ms a step of all, s of all)"""
    best = {}
    for row in rows:
        key, steps = (row["engine"], row["setting"]), int(row["steps"])
        quarter = steps // 4
        found = (1e3 * float(row["last_s"]) / quarter, 1e3 * float(row["total_s"]) / steps, float(row["total_s"]))
        best[key] = tuple(map(min, zip(found, best.get(key, found))))
    return best


def joined(times, quality):
    rows = []
    for q in quality:
        key = (q["engine"], q["setting"])
        if key not in times:
            continue
        row = {name: float(q[name]) for name in COLUMNS[5:12]}
        row.update(zip(COLUMNS[:5], key + times[key]))
        rows.append(row)
    return rows


def is_longer(setting):
    """Whether the time steps are longer than the scene's."""
    return re.search(r":\d+x$", setting) is not None


def overlaps_no_more(a, b):
    return a["overlap_max"] <= b["overlap_max"] and a["overlap_mean"] <= b["overlap_mean"]


def judge(rows):
    """Name the fastest cairn that overlaps no more."""
    cairn = [r for r in rows if r["engine"] == "cairn" and not r["setting"].startswith("frictionless")]
    for row in rows:
        row.update(cairn="", ratio="", ratio_total="", ratio_any_step="")
        as_good = [c for c in cairn if overlaps_no_more(c, row)]
        equal = [c for c in as_good if not is_longer(c["setting"])]
        if row["engine"] == "cairn" or not equal:
            continue
        settled = min(equal, key=lambda c: c["step_ms"])
        row.update(cairn=settled["setting"], ratio=row["step_ms"] / settled["step_ms"],
                   ratio_total=row["total_s"] / min(c["total_s"] for c in equal),
                   ratio_any_step=row["total_s"] / min(c["total_s"] for c in as_good))


def show(rows):
    line = "%-9s %-18s %8s %9s %8s %8s %8s %7s %8s %8s %7s  %-15s %6s %6s %6s"
    print(line % tuple(HEAD))
    for r in rows:
        ratios = tuple("%.2f" % r[k] if r[k] != "" else "" for k in ("ratio", "ratio_total", "ratio_any_step"))
        numbers = ("%.3g" % r["step_ms"], "%.3g" % r["total_s"], "%.2g" % r["overlap_max"], "%.2g" % r["overlap_mean"],
                   "%.2g" % r["overlap_worst"], "%.2g" % r["approach"], "%.2g" % r["kinetic"], "%.1g" % r["energy_rise"],
                   "%.3f" % r["height"])
        print(line % ((r["engine"], r["setting"]) + numbers + (r["cairn"] or "",) + ratios))


def stem(name):
    return os.path.splitext(os.path.basename(name))[0]


def best_of_siconos(rows, tolerance):
    """problem -> (seconds, solver) of the fastest that solved it."""
    best = {}
    for row in rows:
        if row["verdict"] != "solved" or float(row["tolerance"]) != float(tolerance):
            continue
        candidate = (float(row["seconds"]), row["solver"])
        name = stem(row["file"])
        best[name] = min(best.get(name, candidate), candidate)
    return best


def compare_solvers(folder):
    """cairn and the best of Siconos on each problem, for each tolerance."""
    siconos = read(os.path.join(folder, "siconos.csv"))
    for tolerance in TOLERANCES:
        ours = read(os.path.join(folder, "cairn_%s.csv" % tolerance))
        best = best_of_siconos(siconos, tolerance)
        print("\nexact Coulomb to %s in the literature's measure: seconds" % tolerance)
        print("%-42s %8s %10s %10s %-8s %6s" % ("problem", "contacts", "cairn", "siconos", "by", "ratio"))
        sums, solved, seen = [0, 0], [0, len(best)], set()
        for row in ours:
            name, seconds = stem(row["problem"]), float(row["seconds"])
            if name in seen:
                continue
            seen.add(name)
            ok = row["verdict"] == "solved"
            solved[0] += ok
            peer = best.get(name)
            if ok and peer:
                sums[0] += seconds
                sums[1] += peer[0]
            print("%-42s %8s %10s %10s %-8s %6s" % (
                name[-42:], row["contacts"], "%.3g" % seconds if ok else "-",
                "%.3g" % peer[0] if peer else "-", peer[1] if peer else "",
                "%.2f" % (peer[0] / seconds) if ok and peer and seconds > 0 else ""))
        print("solved by cairn %d, by the best of Siconos %d of %d; sums over those both solved: %.4g s and %.4g s"
              % (solved[0], solved[1], len(seen), sums[0], sums[1]))


def compare_engines(folder, target):
    """Times and quality of all engines, and the fastest cairn that is as good."""
    rows = joined(least_times(read(os.path.join(folder, "times.csv"))), read(os.path.join(folder, "quality.csv")))
    scene = read(os.path.join(folder, "scene.csv"))[0]
    rows.sort(key=lambda r: (r["engine"] != "cairn", r["engine"], r["step_ms"]))
    judge(rows)
    with open(target, "w", newline="") as stream:
        table = csv.DictWriter(stream, COLUMNS, extrasaction="ignore")
        table.writeheader()
        table.writerows(rows)
    print("\n%s balls, %s steps; CPU time of one thread, settled: the last quarter of the steps" % (scene["count"], scene["steps"]))
    show(rows)
    print()


if __name__ == "__main__":
    if len(sys.argv) == 2:
        compare_solvers(sys.argv[1])
    else:
        compare_engines(*sys.argv[1:])
