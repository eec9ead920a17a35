"""What the engines that run from Python share: peer.h said again. A module gives

    class Engine:
        name = "..."
        def __init__(self, scene, setting): ...
        def step(self, count): ...      # so many time steps of the scene
        def state(self): ...            # array of count x 9: position, velocity, angular velocity

and ends with `peer.main(Engine)`: usage SCENE SETTING FRAMES TIMES. Only CPU time of `step` counts.
"""
import os
import sys
import time

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"

import numpy as np

NAMES = ["dimension", "count", "steps", "frame_every", "side", "gravity", "friction", "time_step"]


class Scene:
    """The numbers of a scene file as attributes, and the arrays position, radius, mass."""

    def __init__(self, path):
        with open(path) as stream:
            names, values = stream.readline().strip().split(","), stream.readline().strip().split(",")
            if names != NAMES:
                sys.exit("peer: %s: is not a scene of the comparison" % path)
            for name, value in zip(names, values):
                setattr(self, name, int(value) if name in NAMES[:4] else float(value))
            balls = np.loadtxt(stream, delimiter=",", skiprows=1, ndmin=2)
        self.position, self.radius, self.mass = balls[:, :3], balls[:, 3], balls[:, 4]


def write_frame(stream, scene, engine, step):
    np.array([step * scene.time_step]).tofile(stream)
    np.ascontiguousarray(engine.state(), dtype=np.float64).tofile(stream)


def go_through(scene, engine, frames):
    """CPU seconds of all steps and of the last quarter of them."""
    total, last, step = 0.0, 0.0, 0
    quarter = scene.steps - scene.steps // 4
    with open(frames, "wb") as stream:
        write_frame(stream, scene, engine, 0)
        while step < scene.steps:
            count = min(scene.frame_every, scene.steps - step)
            if step < quarter:
                count = min(count, quarter - step)
            start = time.process_time()
            engine.step(count)
            seconds = time.process_time() - start
            total += seconds
            last += seconds if step >= quarter else 0
            step += count
            if step % scene.frame_every == 0:
                write_frame(stream, scene, engine, step)
    return total, last


def main(Engine):
    if len(sys.argv) != 5:
        sys.exit("usage: %s SCENE SETTING FRAMES TIMES" % sys.argv[0])
    scene = Scene(sys.argv[1])
    engine = Engine(scene, sys.argv[2])
    total, last = go_through(scene, engine, sys.argv[3])
    with open(sys.argv[4], "a") as stream:
        stream.write("%s,%s,%d,%.6g,%.6g\n" % (Engine.name, sys.argv[2], scene.steps, total, last))
