#!/usr/bin/env python3
"""The viewer in a real browser: what it shows is what h5py reads in the run file. Debian's chromium through
playwright-core, with rendering in software; skipped where one of them, or h5py, is not there."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from view_server import CAIRN, ROOT, SCENE, Viewer, make_run

HOME = os.path.join(ROOT, "viewer")


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def read_run(folder):
    """Frames, masses and names, as h5py reads them."""
    import h5py
    with h5py.File(os.path.join(folder, "run.h5")) as file:
        offset = file["frames/body_offset"][:]
        frames = [{"index": k, "time": float(file["frames/time"][k]),
                   "x": file["frames/bodies/x"][offset[k]:offset[k + 1]].ravel().tolist()}
                  for k in (3, 20, 11, 0)]
        return frames, file["bodies/mass"][:].tolist(), file["frames/time"].shape[0]


def last_places(folder):
    import h5py
    with h5py.File(os.path.join(folder, "run.h5")) as file:
        offset = file["frames/body_offset"][:]
        return file["frames/bodies/x"][offset[-2]:offset[-1]]


def largest_difference(a, b):
    return float(max(((last_places(a) - last_places(b)) ** 2).sum(axis=1)) ** 0.5)


def make_task(home, run, other):
    frames, mass, _ = read_run(run)
    place = frames[0]["x"][9:12]
    digits = ", ".join("0" if v == 0 else f"{v:.4g}" for v in place)
    # falling freely: v = g t
    speed = f"{10 * frames[0]['time']:.3g}"
    html = os.path.join(home, "sent.html")
    done = subprocess.run([CAIRN, "export", run, "--html", html], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return {"bodies": 4, "frames": frames, "coloured": {"time": 0.0, "rows": [4, 3, 2], "mass": [mass[r] for r in (4, 3, 2)]},
            "picked": {"row": 3, "name": "high", "position": digits, "mass": "2 kg", "speed": speed},
            "difference": largest_difference(run, other), "resting": 2, "html": "file://" + html, "quantum": 1e-4}


def hold(process, folder):
    """Stop a run, but not while it commits, when nobody could read its file."""
    while True:
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        if not os.path.exists(os.path.join(folder, "run.h5.part.journal")):
            return
        process.send_signal(signal.SIGCONT)
        time.sleep(0.01)


def main():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        skip("there is no chromium")
    if not shutil.which("node") or not os.path.isdir(os.path.join(HOME, "node_modules", "playwright-core")):
        skip("there is no playwright-core: 'make viewer' fetches it")
    try:
        import h5py  # noqa: F401
    except ImportError:
        skip("there is no h5py")
    with tempfile.TemporaryDirectory() as home:
        run = make_run(home)
        other = make_run(home, SCENE.replace("position: [1.5, 0, 2]", "position: [1.5, 0, 2.5]"), "other")
        live = os.path.join(home, "live")
        task = make_task(home, run, other)
        # browser.mjs ends it, long before its time
        with Viewer("view", run) as one, Viewer("view", run, other) as two, \
                Viewer("run", os.path.join(home, "run.yaml"), "--out", live, "--view", "--quiet", "--set",
                       "run.time_step=5e-4", "--set", "run.duration=1e5", "--set", "run.checkpoint_every=1",
                       start_new_session=True) as third:
            hold(third.process, live)  # until its page is open: it need not work for nothing
            task.update({"address": one.address, "pair": two.address, "live": third.address, "cairn": CAIRN,
                         "liveFolder": live, "liveProcess": third.process.pid})
            path = os.path.join(home, "task.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(task, file)
            try:
                done = subprocess.run(["node", os.path.join(HOME, "test", "browser.mjs"), chromium, path], timeout=250, cwd=HOME,
                                      check=False)
            finally:
                os.killpg(third.process.pid, signal.SIGCONT)
                os.killpg(third.process.pid, signal.SIGTERM)  # its viewer outlives the run, which browser.mjs kills
            sys.exit(done.returncode)


if __name__ == "__main__":
    main()
