#!/usr/bin/env python3
"""Put cairn's and Siconos' results of one run side by side.

usage: compare.py FOLDER      holding cairn_1e-4.csv, cairn_1e-8.csv and siconos.csv

For each problem and tolerance: the time of cairn's `auto`, and of the best Siconos solver that really
met the tolerance (its residual was recomputed). The sums run over the problems that Siconos solved;
a problem that only one of them solved is counted for that one.
"""
import csv
import os
import sys

TOLERANCES = ["1e-4", "1e-8"]


def read(path):
    with open(path, newline="") as stream:
        return list(csv.DictReader(stream))


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


def main():
    folder = sys.argv[1]
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


if __name__ == "__main__":
    main()
