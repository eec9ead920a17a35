#!/usr/bin/env python3
"""The viewer, `cairn view`: its server, and its page in a browser:  test_view.py GROUP"""
import array
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from view_server import CAIRN, ROOT, SCENE, Viewer, make_run
from view_server import Viewer, make_run


# ==== test_view_server: what it gives, and what it refuses ================================================

class Server(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory()
        cls.run_folder = make_run(cls.home.name)
        cls.viewer = Viewer("view", cls.run_folder)

    @classmethod
    def tearDownClass(cls):
        cls.viewer.__exit__()
        cls.home.cleanup()

    def ask(self, path, method="GET", body=None, **headers):
        """Status, headers and body of an answer; `path` as it goes over the wire."""
        link = http.client.HTTPConnection("127.0.0.1", self.viewer.port, timeout=1500)
        link.request(method, path, body=body, headers={k.replace("_", "-"): v for k, v in headers.items()})
        answer = link.getresponse()
        found = answer.status, dict(answer.getheaders()), answer.read()
        link.close()
        return found

    def path(self, what=""):
        return f"/{self.viewer.token}/{what}"

    # ---- what it gives

    def test_the_page_is_one_packed_file_that_may_not_be_framed(self):
        status, headers, body = self.ask(self.path())
        self.assertEqual(status, 200)
        self.assertEqual(headers["Content-Encoding"], "gzip")
        self.assertEqual(headers["X-Frame-Options"], "DENY")
        self.assertEqual(headers["Cache-Control"], "no-store")
        self.assertEqual(body[:2], b"\x1f\x8b")

    def test_rows_are_those_of_the_file(self):
        status, _, body = self.ask(self.path("rows/0?c=frames/bodies/index,i4,0,5&c=frames/bodies/x,f8,2,1"))
        self.assertEqual(status, 200)
        self.assertEqual(list(array.array("i", body[:20])), [0, 1, 2, 3, 4])
        self.assertEqual(list(array.array("d", body[24:48])), [0.0, 0.0, 0.7])
        self.assertEqual(len(body), 48)

    def test_the_description_is_json_with_units_and_names(self):
        status, _, body = self.ask(self.path("run/0"))
        self.assertEqual(status, 200)
        about = json.loads(body)
        self.assertEqual(about["attributes"]["title"], "Balls and a box")
        self.assertEqual(about["columns"]["frames/bodies/v"]["unit"], "m/s")
        self.assertEqual(about["columns"]["frames/time"]["rows"], 21)
        self.assertEqual(about["texts"]["materials/name"], ["default", "rock", "rubber"][-len(about["texts"]["materials/name"]):])
        self.assertFalse(about["grows"])

    # ---- what it refuses

    def refuse(self, status, *request, **more):
        found = self.ask(*request, **more)
        self.assertEqual(found[0], status, found)

    def test_a_wrong_token_is_refused(self):
        other = ("0" if self.viewer.token[0] != "0" else "1") + self.viewer.token[1:]
        for path in ("/", f"/{other}/", f"/{self.viewer.token}", f"/{self.viewer.token}x/", f"/{other}/rows/0"):
            self.refuse(403, path)

    def test_there_is_no_way_out_of_the_few_addresses(self):
        for what in ("../../../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "run/7", "run/0/../1", "run/00", "runs/",
                     "rows/9?c=frames/time,f4,0,1"):
            self.refuse(404, self.path(what))
        for column in ("../x", "/frames/time", "frames//time", "frames/time%00", "FRAMES/time", "a" * 200):
            self.refuse(400, self.path(f"rows/0?c={column},f4,0,1"))
        self.refuse(404, self.path("rows/0?c=frames/nothing,f4,0,1"))

    def test_wrong_numbers_are_refused(self):
        for part in ("frames/time,f4,0", "frames/time,f4,-1,1", "frames/time,f4,0,-1", "frames/time,f16,0,1",
                     "frames/time,f4,0,1,2", "frames/time,f4,99999999999999999999,1", "frames/time,f4,0x1,1"):
            self.refuse(400, self.path(f"rows/0?c={part}"))
        self.refuse(404, self.path("rows/0?c=frames/time,f4,21,1"))
        self.refuse(400, self.path("rows/0?x=1"))
        self.refuse(400, self.path("rows/0?" + "&".join(["c=frames/time,f4,0,1"] * 33)))
        self.refuse(413, self.path("rows/0?c=frames/time,f8,0,90000000"))

    def test_a_foreign_host_is_refused(self):
        for host in ("evil.example", f"evil.example:{self.viewer.port}", "127.0.0.1", "127.0.0.1:1", ""):
            self.refuse(403, self.path(), Host=host)
        self.refuse(200, self.path("runs"), Host=f"localhost:{self.viewer.port}")

    def test_a_foreign_page_is_refused(self):
        for origin in ("http://evil.example", "null", "https://127.0.0.1:%d" % self.viewer.port, "http://127.0.0.1:1"):
            self.refuse(403, self.path("runs"), Origin=origin)
        self.refuse(200, self.path("runs"), Origin=f"http://127.0.0.1:{self.viewer.port}")

    def test_bodies_and_other_methods_are_refused(self):
        self.refuse(413, self.path(), method="POST", body=b"x" * 100)
        self.refuse(405, self.path(), method="POST")
        self.refuse(405, self.path("runs"), method="DELETE")

    def talk(self, data, pause=0.0):
        """Send bytes, one by one with a pause if there is one; what comes back, and how many were taken."""
        with socket.create_connection(("127.0.0.1", self.viewer.port), timeout=1500) as link:
            sent, answer = 0, b""
            try:
                for i in range(len(data)) if pause else [0]:
                    link.sendall(data[i:i + 1] if pause else data)
                    sent += 1 if pause else len(data)
                    time.sleep(pause)
                while chunk := link.recv(65536):
                    answer += chunk
            except (ConnectionError, BrokenPipeError):
                pass
            return answer, sent

    def test_oversized_requests_are_refused(self):
        line = f"GET {self.path()} HTTP/1.1\r\nHost: 127.0.0.1:{self.viewer.port}\r\n"
        for big in (f"GET /{'a' * 200000} HTTP/1.1\r\n\r\n", line + "X: " + "b" * 200000 + "\r\n\r\n",
                    line + "Y: c\r\n" * 40000 + "\r\n"):
            answer, _ = self.talk(big.encode())
            self.assertNotIn(b"200 OK", answer)
        self.refuse(200, self.path("runs"))

    def test_a_request_that_comes_drop_by_drop_is_cut_off(self):
        drops = b"GET / HTTP/1.1\r\nX-Slow: " + b"a" * 4000  # 1000 s of them
        self.assertLess(self.talk(drops, pause=0.25)[1], len(drops))
        self.refuse(200, self.path("runs"))

    def test_more_than_a_few_connections_are_refused_and_do_no_harm(self):
        links, start = [], time.monotonic()
        for _ in range(40):
            link = socket.socket()
            link.settimeout(2)
            try:
                link.connect(("127.0.0.1", self.viewer.port))
                links.append(link)
            except OSError:
                link.close()
        left = self.still_open(links)
        while left > 12:
            time.sleep(0.05)
            left = self.still_open(links)
        self.assertLessEqual(left, 12)
        if time.monotonic() < start + 4:  # after 5 s it closes all that ask for nothing
            self.assertGreaterEqual(left, 6)
        for link in links:
            link.close()
        self.answers_again()

    @staticmethod
    def still_open(links):
        """How many links the server has not closed."""
        count = 0
        for link in links:
            link.setblocking(False)
            try:
                count += link.recv(1, socket.MSG_PEEK) != b""
            except BlockingIOError:
                count += 1
            except OSError:
                pass
        return count

    def answers_again(self):
        """It has to notice first that the links are closed."""
        while True:
            try:
                if self.ask(self.path("runs"))[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)


class Ends(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.run_folder = make_run(self.home.name)

    def tearDown(self):
        self.home.cleanup()

    def test_ctrl_c_ends_it(self):
        with Viewer("view", self.run_folder) as viewer:
            viewer.process.send_signal(signal.SIGINT)
            self.assertEqual(viewer.process.wait(timeout=1500), 0)

    def test_the_page_can_end_it(self):
        with Viewer("view", self.run_folder, self.run_folder) as viewer:
            link = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=1500)
            link.request("GET", f"/{viewer.token}/runs")
            self.assertEqual(len(json.loads(link.getresponse().read())["runs"]), 2)
            link.request("POST", f"/{viewer.token}/end")
            self.assertEqual(link.getresponse().status, 200)
            link.close()
            self.assertEqual(viewer.process.wait(timeout=1500), 0)

    def test_a_run_that_was_killed_is_interrupted_and_not_under_way(self):
        live, scene = (os.path.join(self.home.name, name) for name in ("killed", "run.yaml"))
        with Viewer("run", scene, "--out", live, "--view", "--quiet", "--set", "run.duration=1e5", start_new_session=True) as viewer:
            try:
                viewer.process.kill()  # the run; its viewer lives on
                viewer.process.wait(timeout=1500)
                link = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=1500)
                link.request("GET", f"/{viewer.token}/run/0")
                about = json.loads(link.getresponse().read())
                self.assertEqual((about["grows"], about["interrupted"], about["attributes"]["ending"]), (False, True, "unfinished"))
                link.request("GET", f"/{viewer.token}/rows/0?c=frames/bodies/x,f8,2,1")
                self.assertEqual(list(array.array("d", link.getresponse().read())), [0.0, 0.0, 0.7])
                link.close()
            finally:
                os.killpg(viewer.process.pid, signal.SIGTERM)

    def test_a_run_under_way_is_followed_and_gives_the_same_bits(self):
        scene = os.path.join(self.home.name, "run.yaml")
        live = os.path.join(self.home.name, "live")
        with Viewer("run", scene, "--out", live, "--view", "--quiet", "--set", "run.duration=20") as viewer:
            frames, grew = [], []
            while not grew or grew[-1]:
                link = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=1500)
                link.request("GET", f"/{viewer.token}/run/0")
                answer = link.getresponse()
                text = answer.read()
                link.close()
                if answer.status == 503:
                    continue
                about = json.loads(text)
                grew.append(about["grows"])
                frames.append(about["columns"]["frames/time"]["rows"])
            self.assertEqual(frames[-1], 401)
            self.assertEqual(frames, sorted(frames))
            viewer.process.send_signal(signal.SIGTERM)
            viewer.process.wait(timeout=1500)
        alone = make_run(self.home.name, open(scene, encoding="utf-8").read().replace("duration: 1,", "duration: 20,"), "alone")
        sums = [json.load(open(os.path.join(f, "summary.json"), encoding="utf-8"))["hash"] for f in (live, alone)]
        self.assertEqual(*sums)


def test_view_server():
    unittest.main(argv=["test_view_server", "Server", "Ends"])


# ==== test_view_browser: what it shows is what h5py reads; Debian's chromium through playwright-core ======

VIEWER = os.path.join(ROOT, "viewer")


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


def chains_of(bodies, forces):
    """What pairs of bodies push each other with, in N, in increasing order."""
    pairs = {}
    for pair, force in zip(bodies, forces):
        pairs[tuple(pair)] = pairs.get(tuple(pair), 0) + max(float(force), 0)
    return sorted(force for force in pairs.values() if force > 0)


def forces_of(folder):
    """98th percentiles of the forces between pairs of bodies, in N: over the whole run, and in the last frame."""
    import h5py
    with h5py.File(os.path.join(folder, "run.h5")) as file:
        offset, forces = file["frames/contact_offset"][:], file["frames/contacts/impulse"][:][:, 0] / 0.005
        bodies = file["frames/contacts/body"][:]
        frames = [chains_of(bodies[i:j], forces[i:j]) for i, j in zip(offset, offset[1:])]
        run, frame = (some[int(0.98 * (len(some) - 1))] for some in (sorted(sum(frames, [])), frames[-1]))
        return {"run": run, "frame": frame, "time": float(file["frames/time"][-1])}


def largest_difference(a, b):
    return float(max(((last_places(a) - last_places(b)) ** 2).sum(axis=1)) ** 0.5)


def make_task(home, run, other):
    frames, mass, _ = read_run(run)
    place = frames[0]["x"][9:12]
    digits = ", ".join("0" if v == 0 else f"{v:.4g}" for v in place)
    # falling freely: v = g t
    speed = f"{10 * frames[0]['time']:.3g}"
    html = os.path.join(home, "sent.html")
    done = subprocess.run([CAIRN, "export", run, "--html", html], capture_output=True, text=True, timeout=1500, check=False)
    assert done.returncode == 0, done.stderr
    return {"bodies": 4, "frames": frames, "coloured": {"time": 0.0, "rows": [4, 3, 2], "mass": [mass[r] for r in (4, 3, 2)]},
            "picked": {"row": 3, "name": "high", "position": digits, "mass": "2 kg", "speed": speed},
            "forces": forces_of(run), "difference": largest_difference(run, other), "resting": 2, "html": "file://" + html, "quantum": 1e-4}


# two disks that lean on a third, one of them across a face of the cell
PERIODIC = """cairn: 1
dimension: 2
gravity: [5, 0]
periodic: {axes: [x, y], high: [1, 1], gradient_x: [0, 1]}
materials: {red: {friction: 0.5}, blue: {friction: 0.5}}
bodies:
  - {motion: fixed, material: red, position: [0.22, 0.5], shape: {sphere: {radius: 0.1}}}
  - {material: red, position: [0.02, 0.5], shape: {sphere: {radius: 0.1}}}
  - {material: blue, position: [0.82, 0.5], shape: {sphere: {radius: 0.1}}}
series: [{name: middle, low: [0.5, 0.2], high: [1, 0.8]}]
run: {time_step: 0.01, duration: 0.4, frame_interval: 0.1, statistics: [fields], paraview: false, picture: false}
"""
PRESS = """cairn: 1
bodies:
  - {name: floor, motion: fixed, shape: half_space}
  - {name: lid, position: [0, 0, 0.25], shape: {box: {size: [9, 9, 0.1]}}}
  - {position: [0, 0, 0.1], shape: {sphere: {radius: 0.1}}}
cells: [{z: {low: floor, high: lid, force: 10}}]
run: {time_step: 0.01, duration: 0.02, frame_interval: 0.01, paraview: false, picture: false}
"""
# a ball that turns in its place at the bottom of a drum
DRUM = """cairn: 1
gravity: [0, 0, 0]
bodies:
  - {name: drum, motion: fixed, shape: {inside_cylinder: {radius: 0.5, axis: [0, 1, 0]}}}
  - {position: [0, 0, -0.3], angular_velocity: [0, 3, 0], shape: {sphere: {radius: 0.1}}}
run: {time_step: 0.01, duration: 0.02, frame_interval: 0.01, paraview: false, picture: false}
"""
FALL = """cairn: 1
materials: {steel: {friction: 0.5}, wood: {friction: 0.5}}
bodies:
  - {material: steel, shape: {sphere: {radius: 0.1}}}
  - {material: wood, position: [1, 0, 0], shape: {sphere: {radius: 0.1}}}
run: {time_step: 0.01, duration: 0.1, frame_interval: 0.05, paraview: false, picture: false}
"""


def surroundings(home):
    """Pages of a sheared periodic run, of a press and of a drum, and what h5py reads in the first."""
    import h5py
    out = {"diameter": 0.2}
    for name, scene in (("cell", PERIODIC), ("press", PRESS), ("drum", DRUM), ("fall", FALL)):
        make_run(home, scene, name)
        subprocess.run([CAIRN, "export", name, "--html", name + ".html"], check=True, timeout=1500, cwd=home, stdout=subprocess.DEVNULL)
        out[name] = "file://" + os.path.join(home, name + ".html")
    with h5py.File(os.path.join(home, "cell", "run.h5")) as file:
        fields, out["time"] = file["statistics/fields"], float(file["frames/time"][-1])
        out["far"] = float(file["steps/cell"][-1].reshape(3, 3)[:2, 0].sum())
        out["solid"] = float(fields["solid"][:][fields["time"][:] == out["time"]].max())
    return out


def hold(process, folder):
    """Stop a run, but not while it commits, when nobody could read its file."""
    while True:
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        if not os.path.exists(os.path.join(folder, "run.h5.part.journal")):
            return
        process.send_signal(signal.SIGCONT)
        time.sleep(0.01)


def chromium_or_skip():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        skip("there is no chromium")
    return chromium


def package_or_skip(name):
    if not shutil.which("node") or not os.path.isdir(os.path.join(VIEWER, "node_modules", name)):
        skip(f"there is no {name}: 'make viewer' fetches it")


def test_view_browser():
    chromium = chromium_or_skip()
    package_or_skip("playwright-core")
    try:
        import h5py  # noqa: F401
    except ImportError:
        skip("there is no h5py")
    with tempfile.TemporaryDirectory() as home:
        run = make_run(home)
        other = make_run(home, SCENE.replace("position: [1.5, 0, 2]", "position: [1.5, 0, 2.5]"), "other")
        live = os.path.join(home, "live")
        task = make_task(home, run, other)
        task["around"] = surroundings(home)
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
                done = subprocess.run(["node", os.path.join(VIEWER, "test", "browser.mjs"), chromium, path], timeout=1500, cwd=VIEWER,
                                      check=False)
            finally:
                os.killpg(third.process.pid, signal.SIGCONT)
                os.killpg(third.process.pid, signal.SIGTERM)  # its viewer outlives the run, which browser.mjs kills
            sys.exit(done.returncode)


# ==== test_view_looks: axes, colours, and what pictures refuse =========================================================

def test_view_units():
    package_or_skip("esbuild")
    sys.exit(subprocess.run(["node", os.path.join(VIEWER, "test", "units.mjs")], timeout=1500, check=False).returncode)


def colours_in(path, begin, end):
    """Names and numbers between two lines of a source."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        part = file.read().split(begin, 1)[1].split(end, 1)[0]
    return re.findall(r"[a-z]+(?=['\"],)", part), re.findall(r"\d+", part)


def test_view_colours():
    """picture.svg has the colours of the viewer."""
    page, program = "viewer/src/quantities.ts", "src/run/palette.c"
    _, ramp = colours_in(page, "const ramps = [", "];")
    assert len(ramp) == 30 and ramp == colours_in(program, "ramp[][3] = {", "};")[1], ramp
    names, numbers = colours_in(page, "const palette: [string, number[]][] = [", "\n];")
    more = colours_in(page, "  ...palette, ", "\n];")
    assert len(names) == 10 and len(numbers) == 30, names
    assert (names + more[0], numbers + more[1]) == colours_in(program, "named[] = {", "\n};"), names


def page_or_skip(home, run):
    """The page is part of the program only where node was there to build it."""
    done = subprocess.run([CAIRN, "export", run, "--html", os.path.join(home, "page.html")], capture_output=True, text=True, timeout=1500,
                          check=False)
    if "without the page" in done.stderr:
        skip("this cairn was built without the page")
    assert done.returncode == 0, done
    os.remove(os.path.join(home, "page.html"))


def test_view_looks():
    chromium_or_skip()
    with tempfile.TemporaryDirectory() as home:
        run, picture = make_run(home), os.path.join(home, "picture.png")
        page_or_skip(home, run)
        for look, message in (
                ("color=velocity", "--look: found color=velocity, expected speed, spin, force, pressure, contacts, residual, size, mass, height"),
                ("bodies=solid&colour=speed", "--look: found 'colour', expected color, field, cut, bodies, chains, contacts, velocities, joints, walls, "
                                              "cell, view, theme, legend, still"),
                ("bodies=steel", "--look: found bodies=steel, expected solid, glass, hidden"), ("view=above", "expected home, front, back, left, right"),
                ("theme=", "--look: found theme=, expected light, dark, contrast"), ("chains=1&chains=0", "--look: found chains twice"),
                ("color=Speed", "expected words such as"), ("", None), ("color=mass&theme=dark&cut=y", None)):
            done = subprocess.run([CAIRN, "export", run, "--png", "0.5", "--out", picture, "--look", look], capture_output=True, text=True,
                                  timeout=1500, check=False)
            assert (done.returncode == 0) == (message is None) == os.path.exists(picture), (look, done)
            assert message is None or message in done.stderr, (look, done.stderr)
            if message is None:
                os.remove(picture)
            assert sorted(os.listdir(home)) == ["run", "run.yaml"], os.listdir(home)
        with open(picture, "w", encoding="utf-8") as file:
            file.write("old")
        for arguments, message in ((["--png", "0.5", "--look", "color=none"], "found color=none"), (["--png", "0.5", "--look", "film=0"], "found 'film'"),
                                   (["--html", "page.html", "--look", "color=speed"], "--look: only pictures have a look"),
                                   (["--html", "page.html", "--size", "99x99"], "--size: only pictures"), (["--csv", "a.csv", "--time", "0"], "--time: expected also"),
                                   (["--video", "film.avi"], "film.avi: expected a file .mp4, .webm or .gif")):
            done = subprocess.run([CAIRN, "export", run, *arguments] + (["--out", picture] if "--png" in arguments else []), capture_output=True,
                                  text=True, timeout=1500, check=False, cwd=home)
            assert done.returncode in (2, 3) and message in done.stderr, (arguments, done)
            assert sorted(os.listdir(home)) == ["picture.png", "run", "run.yaml"], os.listdir(home)
            with open(picture, encoding="utf-8") as file:
                assert file.read() == "old", arguments


def test_view_missing():
    """Without chromium or ffmpeg, one line says what to install."""
    with tempfile.TemporaryDirectory() as home:
        run, tools = make_run(home), os.path.join(home, "tools")
        os.mkdir(tools)
        for name in ("sh", "rm"):
            os.symlink(shutil.which(name), os.path.join(tools, name))
        for program, arguments in (("chromium", ["--png", "0.5", "--out", "picture.png"]), ("ffmpeg", ["--video", "film.mp4"])):
            done = subprocess.run([CAIRN, "export", run, *arguments], env={"PATH": tools}, capture_output=True, text=True, timeout=1500, check=False, cwd=home)
            said = f"cairn: {'pictures' if program == 'chromium' else 'films'} need {program}, which is not installed; on Debian: apt install {program}\n"
            assert (done.returncode, done.stderr) == (1, said), done
            with open(os.path.join(tools, "chromium"), "w", encoding="utf-8") as file:  # now there is one
                file.write("#!/bin/sh\n")
            os.chmod(os.path.join(tools, "chromium"), 0o755)
        assert sorted(os.listdir(home)) == ["run", "run.yaml", "tools"], os.listdir(home)


def test_view_film():
    """A film has a picture for each thirtieth of a second, and keeps the old one if it cannot be drawn."""
    chromium_or_skip()
    if not shutil.which("ffmpeg") or not shutil.which("ffprobe"):
        skip("there is no ffmpeg")
    with tempfile.TemporaryDirectory() as home:
        run = make_run(home)
        page_or_skip(home, run)
        for name in ("film.mp4", "film.webm", "film.gif"):
            path = os.path.join(home, name)
            for look, good in ((), True), (("--look", "color=none"), False):
                done = subprocess.run([CAIRN, "export", run, "--video", path, "--size", "320x240", *look], capture_output=True, text=True, timeout=1500,
                                      check=False)
                assert (done.returncode == 0) == good, done
                frames = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=width,height,nb_read_frames", "-of", "csv=p=0",
                                         path], capture_output=True, text=True, timeout=1500, check=True).stdout.strip()
                assert frames == "320,240,31", (name, frames)
        done = subprocess.run([CAIRN, "export", run, "--video", "no/film.mp4"], capture_output=True, text=True, timeout=1500, check=False, cwd=home)
        assert done.returncode == 1 and "cannot create no/film.part.mp4" in done.stderr, done
        assert sorted(os.listdir(home)) == ["film.gif", "film.mp4", "film.webm", "run", "run.yaml"], os.listdir(home)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
