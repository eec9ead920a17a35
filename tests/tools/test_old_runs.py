#!/usr/bin/env python3
"""Files of old versions and damaged ones:  test_old_runs.py test_old_runs, or test_old_runs.py test_flips [DAMAGES [SEED]]"""
import gzip
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest


# ==== test_old_runs: a run of version 1, before checksums, is read by every command =======================

CAIRN = os.environ.get("CAIRN", "build/release/tools/cairn")
CHECK = os.environ.get("CAIRN_CHECK", CAIRN + "-check")
SLOW = os.environ.get("CAIRN_SANITIZE") == "ON"
HERE = os.path.dirname(os.path.abspath(__file__))


def said(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.decode()


class OldRuns(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.home.name, "run.h5")
        with gzip.open(os.path.join(HERE, "run_version_1.h5.gz")) as packed, open(self.path, "wb") as file:
            file.write(packed.read())

    def tearDown(self):
        self.home.cleanup()

    def test_the_commands_read_it(self):
        for words, expected in ((["info"], "steps"), (["explain"], "4 steps of 0.005 s"),
                                (["stat", "energy"], "kinetic")):
            code, text = said(CAIRN, words[0], self.path, *words[1:])
            self.assertEqual(code, 0, text)
            self.assertIn(expected, text)

    def test_it_is_certified_without_checksums(self):
        code, text = said(CHECK, self.path)
        self.assertEqual(code, 0, text)
        self.assertIn("certified: 4 steps", text)
        self.assertIn("checksums: there are none in a file of version 1", text)


def test_old_runs():
    unittest.main(argv=["test_old_runs", "OldRuns"])


# ==== test_flips: every command ends by itself on damaged bytes, and says why when not with 0 =============

SCENE = """\
cairn: 1
materials: {rock: {friction: 0.4}}
bodies:
  - {name: floor, motion: fixed, shape: half_space}
  - {name: stone, position: [1, 0, 0.1], velocity: [-1, 0, 0], shape: {polyhedron: {points:
     [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2], [0.15, 0.15, 0.15]]}}}
  - {shape: {sphere: {radius: 0.1}}, position: [0, 0, 0.1]}
run: {time_step: 5e-3, duration: 0.1, frame_interval: 0.05, certificate: full, statistics: [energy],
      save_problem: [10], paraview: false, picture: false}
"""
# where HDF5 keeps what it believes
SIGNATURES = [b"\x89HDF", b"OHDR", b"OCHK", b"EAHD", b"EAIB", b"FRHP", b"FHDB", b"FHIB", b"BTHD",
              b"BTLF", b"TREE", b"HEAP", b"SNOD", b"GCOL"]
READERS = {"run": [[CAIRN, "info", "FILE"], [CAIRN, "stat", "FILE", "energy"],
                   [CAIRN, "explain", "FILE"], [CHECK, "FILE"]],
           "problem": [[CAIRN, "solve", "FILE"]]}


def fail(text):
    sys.exit("test_flips: " + text)


def places_of(data):
    """Offsets of all signatures."""
    found = []
    for name in SIGNATURES:
        at = data.find(name)
        while at >= 0:
            found.append(at)
            at = data.find(name, at + 1)
    return found


def damage(data, places, chance):
    """A copy with one to three bytes changed, or cut short, or with 64 bytes of zeros."""
    data = bytearray(data)
    how = chance.random()
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        at = chance.randrange(len(data)) if chance.random() < 0.3 else \
            min(len(data) - 1, chance.choice(places) + chance.randrange(160))
        if how < 0.9:
            data[at] ^= 1 << chance.randrange(8) if chance.random() < 0.5 else chance.randrange(1, 256)
        elif how < 0.95:
            data[at:at + 64] = bytes(len(data[at:at + 64]))
        else:
            del data[max(at, 1):]
    return bytes(data)


def read(words, path, what):
    """One command on one file."""
    words = [path if word == "FILE" else word for word in words]
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1500,
                              check=False)
    except subprocess.TimeoutExpired:
        fail("%s: does not end on %s" % (" ".join(words[:2]), what))
    if done.returncode not in (range(3) if words[0] == CHECK else range(5)):
        name = signal.Signals(-done.returncode).name if done.returncode < 0 else done.returncode
        shutil.copy(path, "damaged.h5")
        fail("%s: %s on %s, kept as damaged.h5: %s" % (" ".join(words[:2]), name, what,
                                                       done.stdout[-400:].decode(errors="replace")))
    if b"HDF5:" in done.stdout or b"closing library" in done.stdout:
        fail("%s: HDF5 complains on %s" % (" ".join(words[:2]), what))
    if done.returncode != 0 and not done.stdout.strip():
        fail("%s: ended with %d without a word on %s" % (" ".join(words[:2]), done.returncode, what))
    return done.returncode


def make_files(home):
    """A run and a problem, as they are written, and as they were written by HDF5's first format."""
    scene, folder = os.path.join(home, "scene.yaml"), os.path.join(home, "run")
    with open(scene, "w", encoding="utf-8") as file:
        file.write(SCENE)
    subprocess.run([CAIRN, "run", scene, "--out", folder, "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)
    problem = os.path.join(folder, "problems", os.listdir(os.path.join(folder, "problems"))[0])
    return [("run", os.path.join(folder, "run.h5")), ("problem", problem)] + old_files(home, problem)


def old_files(home, problem):
    """A run of version 1, and the problem likewise, in the first format: without check sums."""
    run = os.path.join(home, "old.h5")
    with gzip.open(os.path.join(HERE, "run_version_1.h5.gz")) as packed, open(run, "wb") as file:
        file.write(packed.read())
    try:
        import h5py
    except ImportError:
        return [("run", run)]
    old = os.path.join(home, "old.hdf5")
    with h5py.File(problem) as a, h5py.File(old, "w", libver="earliest") as b:
        def copy(name, item):
            if isinstance(item, h5py.Dataset):
                b[name] = item[()].decode() if item.dtype.kind == "S" else item[()]
        a.visititems(copy)
    return [("run", run), ("problem", old)]


def flip_bytes(wanted=60 if SLOW else 300, seed=1):
    """`ninja soak` asks for 6000 damages."""
    chance = random.Random(seed)
    codes = dict.fromkeys(range(5), 0)
    with tempfile.TemporaryDirectory() as home:
        files = make_files(home)
        whole = [open(path, "rb").read() for _, path in files]
        places = [places_of(data) for data in whole]
        path = os.path.join(home, "damaged.h5")
        for i in range(wanted):
            k = i % len(files)
            with open(path, "wb") as file:
                file.write(damage(whole[k], places[k], chance))
            readers = READERS[files[k][0]]
            for words in readers if wanted > 1000 else [chance.choice(readers)]:
                codes[read(words, path, "damage %d of %s" % (i, files[k][1]))] += 1
    print("%d damages: %s" % (wanted, ", ".join("%d times %d" % (n, c) for c, n in codes.items())))


def test_flips():
    flip_bytes(*(int(word) for word in sys.argv[2:]))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
