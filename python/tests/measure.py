#!/usr/bin/env python3
"""measure.py - what the package costs: a step beyond the C call, a million bodies from arrays, a
frame of a million bodies. Prints the least of many; docs/python.md has the numbers.

    measure.py [BODIES]
"""
import os
import sys
import tempfile
import time

import numpy as np

import cairn


def least(function, times):
    """s: of the fastest of several calls."""
    best = float("inf")
    for _ in range(times):
        began = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - began)
    return best


def step_overhead():
    world = cairn.World(time_step=1e-3, threads=1)
    world.add_body(cairn.HalfSpace(), motion="fixed")
    world.add_body(cairn.Sphere(radius=0.1), position=(0, 0, 0.1), mass=1)
    world.run(0.1)
    n, fast = 500, [1.0]

    def by_python():
        for _ in range(n):
            world.step()

    def in_c():
        report = world.run(n * 1e-3)
        fast[0] = min(fast[0], report.seconds / report.steps)

    slow = least(by_python, 200) / n
    least(in_c, 200)
    return slow - fast[0], fast[0]


def creation(count):
    x, radius = np.random.default_rng(1).uniform(0, 100, (count, 3)), np.full(count, 0.01)

    def create():
        with cairn.World() as world:
            world.add_bodies(cairn.Sphere, radius=radius, position=x, density=2500)
    return least(create, 7)


def frame(count, folder):
    edge = round(count ** (1 / 3))
    run = cairn.load({
        "cairn": 1, "gravity": [0, 0, 0],
        "generators": [{"grid": {"count": [edge] * 3, "spacing": [0.1] * 3, "radius": 0.04,
                                 "jitter": 0.01, "velocity": [1, 2, 3]}}],
        "run": {"time_step": 1e-3, "duration": 1e-3, "contacts": False, "paraview": False,
                "picture": False, "certificate": "off"}}).run(folder)
    last = run.frame()
    columns = [last.x, last.q, last.v, last.omega]
    seconds = least(lambda: [getattr(last, name) for name in ("x", "q", "v", "omega")], 5)
    path = os.path.join(folder, "run.h5")

    def copy():
        with open(path, "rb") as file:
            while file.read(1 << 24):
                pass
    return seconds, sum(c.nbytes for c in columns), os.path.getsize(path), least(copy, 5)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
    extra, alone = step_overhead()
    print(f"world.step(): {extra * 1e6:.2f} us beyond the {alone * 1e6:.2f} us of the C call")
    print(f"{count} spheres from arrays: {creation(count):.2f} s")
    with tempfile.TemporaryDirectory() as folder:
        seconds, size, stored, copied = frame(count, os.path.join(folder, "run"))
        print(f"a frame of {count} bodies: {seconds:.3f} s for {size / 1e6:.0f} MB of numbers; "
              f"the file of {stored / 1e6:.0f} MB reads in {copied:.3f} s")


if __name__ == "__main__":
    main()
