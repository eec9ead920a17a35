#!/usr/bin/env python3
"""Runs that stop and go on:  test_resume.py test_resume, or test_resume.py test_kills [KILLS [SEED]]"""
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest


# ==== test_resume: after signals, on a full disk, in a folder without rights, with damaged files ==========

CAIRN = os.environ.get("CAIRN", "build/release/tools/cairn")
SLOW = os.environ.get("CAIRN_SANITIZE") == "ON"
SCENE = """\
cairn: 1
dimension: 2
materials: {rock: {friction: 0.4}}
bodies:
  - {motion: fixed, shape: {inside_cone: {half_angle: 0.8}}}
generators:
  - pour: {count: 40, rate: 100, centre: [0, 1.6], size: [0.8, 0.3], radius: 0.05}
run: {time_step: 2e-3, duration: 0.6, frame_interval: 0.01, scheme: coulomb, threads: 1,
      checkpoint_every: 0.05, paraview: false, picture: false, statistics: [centre]}
"""


class Resume(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory()
        os.chmod(cls.home.name, 0o755)
        cls.scene = os.path.join(cls.home.name, "scene.yaml")
        with open(cls.scene, "w", encoding="utf-8") as file:
            file.write(SCENE)
        cls.cairn("run", cls.scene, "--out", cls.path("alone"), "--quiet")
        cls.hash = cls.hash_of("alone")

    @classmethod
    def tearDownClass(cls):
        cls.home.cleanup()

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.home.name, *names)

    @staticmethod
    def cairn(*words, code=0, **how):
        done = subprocess.run([CAIRN, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, check=False, **how)
        if done.returncode != code:
            raise AssertionError("cairn %s ended with %d: %s" %
                                 (" ".join(words), done.returncode, done.stderr))
        return done

    @classmethod
    def value(cls, file, key):
        lines = cls.cairn("info", cls.path(file)).stdout.splitlines()
        return [line.split(None, 1)[1].strip() for line in lines if line.split()[:1] == [key]][0]

    @classmethod
    def hash_of(cls, folder):
        return cls.value(folder, "hash")

    def resume_to_the_end(self, folder):
        self.cairn("resume", self.path(folder), "--quiet")
        self.assertEqual(self.hash_of(folder), self.hash)
        with open(self.path(folder, "statistics/centre.csv"), encoding="utf-8") as found:
            with open(self.path("alone/statistics/centre.csv"), encoding="utf-8") as expected:
                self.assertEqual(found.read(), expected.read())

    def start(self, folder):
        """A run that is under way for some steps."""
        child = subprocess.Popen([CAIRN, "run", self.scene, "--out", self.path(folder), "--quiet"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while child.poll() is None and not os.path.exists(self.path(folder, "checkpoint")):
            time.sleep(0.002)
        return child

    def test_signals_leave_a_checkpoint_to_go_on_from(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            folder = "signal%d" % number
            child = self.start(folder)
            child.send_signal(number)
            _, err = child.communicate(timeout=1500)
            if child.returncode == 0:
                self.skipTest("the run was faster than the signal")
            self.assertEqual(child.returncode, 128 + number, err)
            self.assertIn(b"to continue: cairn resume ", err)
            self.assertEqual(self.value(folder, "ending"), "interrupted")
            self.resume_to_the_end(folder)

    @staticmethod
    def deliver(child, number):
        """Send a signal and wait until the process has taken it, or has ended."""
        child.send_signal(number)
        while child.poll() is None:
            with open("/proc/%d/status" % child.pid, encoding="utf-8") as file:
                pending = [int(line.split()[1], 16) for line in file if line[:6] in ("ShdPnd", "SigPnd")]
            if not any(bits >> (number - 1) & 1 for bits in pending):
                return
            time.sleep(0.001)

    def signal_twice(self, folder, number, wait=0.0):
        """Returns the exit code, and how long at most the second signal came after the first."""
        child = self.start(folder)
        began = time.monotonic()
        self.deliver(child, number)
        if wait and child.poll() is None:  # it must not end before the second one
            child.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            time.sleep(wait)
            child.send_signal(number)
            child.send_signal(signal.SIGCONT)
        self.deliver(child, number)
        passed = time.monotonic() - began
        child.communicate()
        return child.returncode, passed

    @unittest.skipUnless(os.path.exists("/proc/self/status"), "there is no /proc")
    def test_a_signal_that_is_repeated_at_once_does_not_kill(self):
        """timeout(1) and schedulers send it to the process and then to its group."""
        passed = 1
        while passed > 0.9:  # else the machine is so busy that it was not at once
            code, passed = self.signal_twice("repeated", signal.SIGTERM)
            if passed > 0.9:
                shutil.rmtree(self.path("repeated"))
        if code != 0:
            self.assertEqual(code, 128 + signal.SIGTERM)
            self.resume_to_the_end("repeated")

    @unittest.skipUnless(os.path.exists("/proc/self/status"), "there is no /proc")
    def test_a_second_ctrl_c_kills_and_so_does_a_signal_after_a_second(self):
        for number, wait in ((signal.SIGINT, 0.01), (signal.SIGTERM, 1.01)):
            code, _ = self.signal_twice("twice%d" % number, number, wait)
            self.assertIn(code, (-number, 128 + number, 0))  # or it ended before the second one

    def partly(self, folder):
        """A run of which the first 0.3 s are there, with the checkpoint of a kill."""
        child = self.start(folder)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        if not os.path.exists(self.path(folder, "checkpoint")):
            self.skipTest("the run was faster than the kill")
        # a kill within a commit leaves a journal, which makes good what is cut off: finish it (test_kills does not)
        self.cairn("info", self.path(folder, "run.h5.part"))

    def test_a_full_disk_ends_with_an_error_and_can_be_resumed(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing fails, as on a full disk
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        words = ("run", self.scene, "--quiet", "--set", "run.certificate=full", "--out")
        self.cairn(*words, self.path("enough"))
        size = os.path.getsize(self.path("enough/run.h5"))
        for i, room in enumerate((int(0.5 * size), int(0.8 * size))):  # sizes vary with flushes
            folder = "full%d" % i
            done = self.cairn(*words, self.path(folder), code=1, preexec_fn=limit)
            self.assertIn("File too large", done.stderr)
            self.assertIn(folder, done.stderr)
            self.assertFalse(os.path.exists(self.path(folder, "run.h5")))
            # what was there before is readable, and goes on once there is room
            self.assertGreater(int(self.value(folder + "/run.h5.part", "frames")), 1)
            self.assertEqual(self.value(folder + "/run.h5.part", "ending"), "unfinished")
            self.cairn("resume", self.path(folder), code=1, preexec_fn=limit)
            self.assertGreater(int(self.value(folder + "/run.h5.part", "frames")), 1)
            self.resume_to_the_end(folder)

    @staticmethod
    def be_nobody():
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)

    def be_nobody_or_skip(self):
        """Skip where another user cannot run the program or enter the folder of this test."""
        try:
            self.cairn("--version", preexec_fn=self.be_nobody)
            subprocess.run(["ls", self.path()], preexec_fn=self.be_nobody, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except (PermissionError, subprocess.SubprocessError):
            self.skipTest("nobody else may run the program")

    def test_a_folder_that_cannot_be_written_to_is_told_and_left_alone(self):
        self.be_nobody_or_skip()
        self.partly("locked")
        os.chmod(self.path("locked"), 0o555)
        for name in os.listdir(self.path("locked")):
            if os.path.isfile(self.path("locked", name)):
                os.chmod(self.path("locked", name), 0o444)
        try:
            done = self.cairn("resume", self.path("locked"), code=1, preexec_fn=self.be_nobody)
            self.assertIn("ermission denied", done.stderr)
            self.assertIn("locked", done.stderr)
        finally:
            os.chmod(self.path("locked"), 0o755)
            for name in os.listdir(self.path("locked")):
                os.chmod(self.path("locked", name), 0o755)
        self.resume_to_the_end("locked")

    def test_a_folder_that_cannot_be_reached_is_not_called_missing(self):
        self.be_nobody_or_skip()
        os.makedirs(self.path("closed/run"))
        os.chmod(self.path("closed"), 0)
        done = self.cairn("resume", self.path("closed/run"), code=1, preexec_fn=self.be_nobody)
        os.chmod(self.path("closed"), 0o755)
        self.assertIn("ermission denied", done.stderr)
        self.assertNotIn("no such folder", done.stderr)

    def refused(self, folder, text):
        before = {name: os.stat(self.path(folder, name)).st_size
                  for name in os.listdir(self.path(folder))}
        done = self.cairn("resume", self.path(folder), code=1)
        self.assertIn(text, done.stderr)
        self.assertIn("checkpoint", done.stderr)
        after = {name: os.stat(self.path(folder, name)).st_size
                 for name in os.listdir(self.path(folder))}
        self.assertEqual(before, after)
        self.assertEqual(self.value(folder + "/run.h5.part", "ending"), "unfinished")

    def test_a_checkpoint_that_is_cut_short_or_changed_is_refused(self):
        self.partly("damaged")
        file, kept = self.path("damaged/checkpoint"), self.path("kept")
        shutil.copy(file, kept)
        size = os.path.getsize(file)
        for bytes_left in (0, 10, 100, size // 2, size - 1):
            os.truncate(file, bytes_left)
            self.refused("damaged", "damaged" if bytes_left >= 40 else "not a checkpoint")
            shutil.copy(kept, file)
        for at in (40, size // 3, size // 2, size - 3):
            with open(file, "r+b") as open_file:
                open_file.seek(at)
                byte = open_file.read(1)[0]
                open_file.seek(at)
                open_file.write(bytes([byte ^ 0x10]))
            self.refused("damaged", "damaged: its check sum is")
            shutil.copy(kept, file)
        self.resume_to_the_end("damaged")

    def test_a_run_file_that_is_gone_or_cut_short_is_told(self):
        self.partly("cut")
        file = self.path("cut/run.h5.part")
        shutil.copy(file, self.path("kept.h5"))
        os.truncate(file, os.path.getsize(file) // 10) # half of it may be of after the last flush
        done = self.cairn("resume", self.path("cut"), code=1)
        self.assertIn("run.h5.part", done.stderr)
        os.remove(file)
        done = self.cairn("resume", self.path("cut"), code=1)
        self.assertIn("there is no run.h5.part to go on with", done.stderr)
        shutil.copy(self.path("kept.h5"), file)
        self.resume_to_the_end("cut")

    def test_a_run_whose_file_is_removed_or_replaced_ends_and_does_not_call_it_kept(self):
        def replace(name):
            shutil.copy(self.scene, name + "x")
            os.replace(name + "x", name)

        for number, act in enumerate((os.remove, replace)):
            child = self.start("removed%d" % number)
            child.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            if child.poll() is not None:
                self.skipTest("the run was faster than the stop")
            act(self.path("removed%d" % number, "run.h5.part"))
            child.send_signal(signal.SIGTERM)
            child.send_signal(signal.SIGCONT)
            _, err = child.communicate()
            self.assertEqual(child.returncode, 1, err)
            self.assertIn(b"run.h5.part: cannot write: it was removed, or replaced by another file", err)
            self.assertNotIn(b"to continue", err)

    def test_two_programs_do_not_write_one_run(self):
        self.partly("busy")
        child = subprocess.Popen([CAIRN, "resume", self.path("busy"), "--quiet"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        second = subprocess.run([CAIRN, "resume", self.path("busy"), "--quiet"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        child.communicate()
        # one of them did it; the other waits for nobody and says so, or came when all was done
        self.assertIn(0, (child.returncode, second.returncode))
        self.assertEqual(self.hash_of("busy"), self.hash)

    def test_a_second_run_is_refused_and_takes_nothing_away(self):
        child = self.start("taken")
        child.send_signal(signal.SIGSTOP)
        # it writes until it has stopped
        os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        try:
            if child.poll() is not None:
                self.skipTest("the run was faster than the stop")
            before = self.files("taken")
            for words in (("run", self.scene, "--out"), ("resume",)):
                done = self.cairn(*words, self.path("taken"), code=1)
                self.assertIn("another run is writing into this folder", done.stderr)
            self.assertEqual(self.files("taken"), before)
        finally:
            child.send_signal(signal.SIGCONT)
            child.communicate(timeout=1500)
        self.assertEqual(child.returncode, 0)
        self.assertEqual(self.hash_of("taken"), self.hash)

    def files(self, folder):
        found = {}
        for name in os.listdir(self.path(folder)):
            if os.path.isfile(self.path(folder, name)):
                with open(self.path(folder, name), "rb") as file:
                    found[name] = file.read()
        return found

    def test_a_run_ignores_what_its_caller_ignores(self):
        """nohup: the terminal is closed, the run goes on."""
        def ignore():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        child = subprocess.Popen([CAIRN, "run", self.scene, "--out", self.path("nohup"), "--quiet"],
                                 preexec_fn=ignore)
        while child.poll() is None and not os.path.exists(self.path("nohup", "checkpoint")):
            time.sleep(0.002)
        child.send_signal(signal.SIGHUP)
        child.communicate(timeout=1500)
        self.assertEqual(child.returncode, 0)

    def test_without_a_checkpoint_it_says_so_and_what_can_be_read(self):
        child = subprocess.Popen([CAIRN, "run", self.scene, "--out", self.path("none"), "--quiet",
                                  "--set", "run.checkpoint_every=0"])
        flushed = [CAIRN, "info", self.path("none/run.h5.part")]
        while child.poll() is None and subprocess.call(flushed, stdout=subprocess.DEVNULL,
                                                       stderr=subprocess.DEVNULL) != 0:
            time.sleep(0.002)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        if child.returncode == 0:
            self.skipTest("the run was faster than the kill")
        done = self.cairn("resume", self.path("none"), code=1)
        self.assertIn("this run has no checkpoint yet (run.checkpoint_every makes them)", done.stderr)
        self.assertRegex(done.stderr, r"run.h5.part can be read up to t = \S+ s, \d+ frames")
        self.assertEqual(self.value("none/run.h5.part", "ending"), "unfinished")

    def test_a_journal_of_an_earlier_run_is_not_taken_for_this_one(self):
        """Killed within a commit, run again, killed again, resumed."""
        self.partly("stale")
        for name in ("journal", "writer"):  # as a kill within a commit leaves them
            with open(self.path("stale/run.h5.part." + name), "w", encoding="utf-8") as file:
                file.write("left by another run")
        self.partly("stale")
        with open(self.path("stale/run.h5.part.journal"), "w", encoding="utf-8") as file:
            file.write("copied from another run")
        self.resume_to_the_end("stale")
        self.assertEqual([n for n in os.listdir(self.path("stale")) if "part" in n], [])

    def test_resumed_with_other_threads(self):
        self.partly("threads")
        self.cairn("resume", self.path("threads"), "--quiet", "--threads", "3")
        self.assertEqual(self.hash_of("threads"), self.hash)


def test_resume():
    unittest.main(argv=["test_resume", "Resume"])


# ==== test_kills: killed at random moments and resumed, a run ends with every bit of the one left alone ====

# disks that are poured into a shaken wedge: inlets, drivers, loads, warm starts
POUR = """\
cairn: 1
dimension: 2
materials: {rock: {friction: 0.4, restitution: 0.2}}
bodies:
  - {motion: driven, shape: {inside_cone: {half_angle: 0.8}},
     drivers: [{shake: {amplitude: [0.02, 0.01], frequency: 4}}]}
  - {shape: {sphere: {radius: 0.1}}, position: [0, 0.4], angular_velocity: 3,
     loads: [{sine: {force: [20, 0], frequency: 3}}]}
generators:
  - pour: {count: 30, rate: 150, centre: [0, 1.6], size: [0.8, 0.3], seed: 5,
           radius: {uniform: {minimum: 0.03, maximum: 0.06}}, velocity: [0, -1]}
run: {time_step: 2e-3, duration: 0.6, frame_interval: 0.02, scheme: coulomb, threads: 1,
      checkpoint_every: 0.03, certificate: full, picture: false}
"""
# joints with motors, springs and limits, hulls and compounds, rolling friction, a belt, statistics
MACHINE = """\
cairn: 1
materials: {rock: {friction: 0.4, rolling_friction: 0.002, spinning_friction: 0.001}}
bodies:
  - {name: belt, motion: fixed, shape: half_space, surface_velocity: [0.5, 0, 0]}
  - {name: hub, shape: {sphere: {radius: 0.1}}, mass: 1, position: [0, 0, 0.5]}
  - {name: arm, shape: {box: {size: [0.3, 0.06, 0.06]}}, position: [0.3, 0, 0.5]}
  - {name: bob, shape: {sphere: {radius: 0.05}}, mass: 0.4, position: [0.55, 0, 0.5]}
  - {name: stone, position: [1, 0, 0.1], velocity: [-1, 0, 0], shape: {polyhedron: {points:
     [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2], [0.15, 0.15, 0.15]], rounding: 0.01}}}
  - {name: dumbbell, position: [0.5, 0.5, 0.2], angular_velocity: [1, 2, 3], shape: {compound: {parts: [
     {shape: {sphere: {radius: 0.08}}, position: [-0.1, 0, 0]}, {shape: {sphere: {radius: 0.05}},
     position: [0.1, 0, 0]}, {shape: {capsule: {radius: 0.02, length: 0.2}},
     orientation: {axis: [0, 1, 0], angle: 1.57}}]}}}
joints:
  - ball: {a: hub, anchor: [0, 0, 0.8]}
  - revolute: {a: arm, b: hub, anchor: [0.1, 0, 0.5], axis: [0, 1, 0],
               turn: {lower: -0.5, upper: 0.4, friction: 0.05}}
  - spring: {a: bob, b: arm, anchor: [0.55, 0, 0.5], anchor_b: [0.45, 0, 0.5],
             slide: {stiffness: 200, damping: 1, rest: 0.1}}
  - fixed: {a: dumbbell, anchor: [0.5, 0.5, 0.2], break_force: 30}
run: {time_step: 2e-3, duration: 0.5, frame_interval: 0.02, scheme: coulomb, threads: 1,
      checkpoint_every: 0.03, statistics: [centre, coordination, energy], picture: false}
"""
SCENES = {"pour": POUR, "machine": MACHINE}


def fail(text):
    sys.exit("test_kills: " + text)


def cairn(*words):
    done = subprocess.run([CAIRN, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        fail("cairn %s: %s" % (" ".join(words), done.stderr.decode()))
    return done.stdout.decode()


def hash_of(folder):
    return [line.split()[1] for line in cairn("info", folder).splitlines() if "hash" in line][0]


def start(words, seconds):
    """Runs a command until it ends, or kills it after so many seconds: was it killed?"""
    child = subprocess.Popen([CAIRN, *words, "--quiet"], stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE)
    try:
        _, err = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
        child.communicate()
        return True
    if child.returncode != 0:
        fail("cairn %s ended with %d: %s" % (" ".join(words), child.returncode, err.decode()))
    return False


def differences(one, other):
    """Names of datasets that differ; wall clock times, and with them checksums, may."""
    import h5py
    found = []
    with h5py.File(one, "r") as a, h5py.File(other, "r") as b:
        def look(name, item):
            if isinstance(item, h5py.Dataset) and not name.endswith("_seconds") \
                    and not name.startswith("checksums/"):
                texts = item.dtype.kind == "O"
                bits = (lambda d: d[()].tolist()) if texts else (lambda d: d[()].tobytes())
                if name not in b or bits(item) != bits(b[name]):
                    found.append(name)
        a.visititems(look)
    return found


def other_files(one, other):
    """Names of files of the series and statistics, and lines of summary.json, that differ."""
    found = []
    for inside in ("paraview", "statistics"):
        mine, its = os.path.join(one, inside), os.path.join(other, inside)
        names = set(os.listdir(mine)) if os.path.isdir(mine) else set()
        found += names ^ (set(os.listdir(its)) if os.path.isdir(its) else set())
        for name in names - set(found):
            with open(os.path.join(mine, name), "rb") as a, open(os.path.join(its, name), "rb") as b:
                found += [] if a.read() == b.read() else [name]
    with open(os.path.join(one, "summary.json")) as a, open(os.path.join(other, "summary.json")) as b:
        found += [line for line, its in zip(a, b) if line != its and "_seconds" not in line]
    return found


def run_with_kills(scene, folder, whole, chance):
    """One run from start to end; how often it was killed."""
    kills, resumed = 0, False
    while True:
        there = os.path.exists(os.path.join(folder, "checkpoint"))
        words = ["resume", folder] if there else ["run", scene, "--out", folder, "--force"]
        if resumed and not there:
            fail("the checkpoint is gone")
        resumed = resumed or there
        # each kill leaves the next attempt more time: a machine that became busy since `whole` was measured
        # would otherwise never reach another checkpoint
        if not start(words, chance.uniform(0.01, 0.4 * whole) * 1.1 ** kills):
            return kills
        kills += 1
        # a run that is finished but for its checkpoint has nothing to resume
        if os.path.exists(os.path.join(folder, "run.h5")):
            return kills


def compare(name, alone, folder, expected):
    """A run that was killed is the run that was left alone."""
    if hash_of(folder) != expected:
        fail("%s ended with the hash %s, expected %s" % (name, hash_of(folder), expected))
    found = other_files(alone, folder)
    try:
        found += differences(os.path.join(alone, "run.h5"), os.path.join(folder, "run.h5"))
    except ImportError:
        pass  # the hash and the other files were compared all the same
    if found:
        fail("%s: not the same numbers in %s" % (name, ", ".join(found)))


def run_alone(home, name):
    """The scene without a kill: scene file, folder, seconds, hash."""
    scene, alone = os.path.join(home, name + ".yaml"), os.path.join(home, name)
    with open(scene, "w", encoding="utf-8") as file:
        file.write(SCENES[name])
    began = time.time()
    cairn("run", scene, "--out", alone, "--quiet")
    return scene, alone, time.time() - began, hash_of(alone)


def kill_and_resume(wanted=20 if SLOW else 50, seed=1):
    """`ninja soak` asks for 1000 kills. The bits are those of the release build: the sanitizers see fewer."""
    chance = random.Random(seed)
    kills = runs = 0
    with tempfile.TemporaryDirectory() as home:
        whole = {name: run_alone(home, name) for name in SCENES}
        while kills < wanted:
            name = list(SCENES)[runs % len(SCENES)]
            scene, alone, seconds, expected = whole[name]
            folder = os.path.join(home, "killed")
            kills += run_with_kills(scene, folder, seconds, chance)
            runs += 1
            compare(name, alone, folder, expected)
            subprocess.run(["rm", "-rf", folder], check=True)
    print("%d kills in %d runs: all ended as the runs that were left alone" % (kills, runs))


def test_kills():
    kill_and_resume(*(int(word) for word in sys.argv[2:]))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
