"""Threads, Ctrl-C, fork, pickling, memory."""
import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest

import cairn
from conftest import falling_ball, heap

FORK = hasattr(os, "fork")


def test_a_copy_goes_on_with_the_same_bits():
    world = heap()
    world.run(0.2)
    others = [copy.copy(world), copy.deepcopy(world), pickle.loads(pickle.dumps(world)),
              world.copy(), cairn.World.load(world.save(), **world.options)]
    world.run(0.2)
    for other in others:
        assert other.options == world.options
        other.run(0.2)
        assert other.hash == world.hash


def test_a_state_that_makes_no_sense_is_refused():
    state = falling_ball().save()
    for bad in (b"", b"nonsense", state[:-5], state + b"x"):
        with pytest.raises((cairn.BadInput, cairn.Unsupported)):
            cairn.World.load(bad)


def test_worlds_in_several_threads_have_the_same_bits():
    worlds = [heap(threads=1 + k % 2) for k in range(4)]
    threads = [threading.Thread(target=w.run, args=(0.3,)) for w in worlds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({w.hash for w in worlds}) == 1


def test_threads_on_one_world_wait_for_each_other():
    world = heap()
    errors = []

    def work():
        try:
            for _ in range(50):
                world.step()
                world.positions.copy()
                world.energy()
        except cairn.StaleView:
            pass  # another thread stepped between the two
        except Exception as error:  # noqa: B902
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and world.time > 0.05


def test_the_interpreter_is_free_while_a_world_runs():
    """Another thread counts while many steps run in one call of the library."""
    world, count, done = heap(), [0], threading.Event()

    def tick():
        while not done.is_set():
            count[0] += 1
            time.sleep(1e-3)

    thread = threading.Thread(target=tick)
    thread.start()
    while count[0] == 0:
        time.sleep(1e-3)
    steps, during = 500, 0
    while during < 3 and steps < 200000:
        before = count[0]
        world._advance(cairn.RunReport(), steps, False)
        during = count[0] - before
        steps *= 2
    done.set()
    thread.join()
    assert during >= 3


def heed_ctrl_c():
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run_script(text, **options):
    """In a process that heeds Ctrl-C, even if this one was told to ignore it."""
    options.setdefault("preexec_fn", heed_ctrl_c)
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True,
                          timeout=1500, check=False, cwd=os.path.dirname(__file__), **options)


def test_ctrl_c_ends_a_run_after_a_whole_step():
    script = """
import os, signal, threading, time, cairn
from conftest import heap
world = heap()

def press():
    while world.time < 0.1:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=press).start()
try:
    world.run(1e6)
except KeyboardInterrupt:
    steps = world.time / 2e-3
    assert abs(steps - round(steps)) < 1e-6 and steps > 10, steps
    before = world.time
    world.step()
    assert world.time > before
    print("ended")
"""
    done = run_script(script)
    assert done.stdout.strip() == "ended", done.stderr


def test_ctrl_c_ends_a_scene_and_keeps_its_folder(tmp_path, scenes):
    script = f"""
import os, signal, cairn
scene = cairn.load({os.path.join(scenes, "box_stack_2d.yaml")!r},
                   set={{"run.duration": 1e5, "run.frame_interval": 1.0}})
try:
    scene.run({str(tmp_path / "run")!r},
              until=lambda p: p.step == 50 and os.kill(os.getpid(), signal.SIGINT))
except KeyboardInterrupt:
    print(cairn.Run({str(tmp_path / "run")!r}).info.ending)
"""
    done = run_script(script)
    assert done.stdout.strip() == "interrupted", done.stderr


@pytest.mark.skipif(not FORK, reason="there is no fork")
def test_a_fork_of_a_process_that_computed_is_refused():
    script = """
import os, cairn
from conftest import heap
heap().run(0.01)
pid = os.fork()
if pid == 0:
    try:
        heap().step()
    except cairn.Forked as error:
        os._exit(7 if "spawn" in str(error) else 1)
    os._exit(2)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
heap().run(0.01)
print("ok")
"""
    done = run_script(script)
    assert done.stdout.strip() == "ok", done.stderr


@pytest.mark.skipif(not FORK, reason="there is no fork")
def test_a_fork_before_anything_was_computed_computes():
    script = """
import os, cairn
from conftest import heap
pid = os.fork()
if pid == 0:
    heap(threads=2).run(0.05)
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
print("ok")
"""
    done = run_script(script)
    assert done.stdout.strip() == "ok", done.stderr


def _hash_of(state):
    world = cairn.World.load(state, time_step=2e-3, threads=1)
    world.run(0.1)
    return world.hash


def test_worlds_go_to_other_processes_by_their_state():
    world = heap()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.apply(_hash_of, (world.save(),))
    world.run(0.1)
    assert there == world.hash


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="there is no /proc")
def test_memory_does_not_grow_over_10000_steps():
    world = falling_ball()

    def steps(count):
        for _ in range(count):
            report = world.step()
            x, r = world.positions, world.impulses
            assert report.converged and len(x) == 2 and len(r) <= 1

    steps(3000)
    before = resident()
    steps(10000)
    assert resident() - before < 1 << 20


def test_signals_of_others_are_left_alone():
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        pytest.skip("whoever started the tests ignores Ctrl-C")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.slow
def test_a_step_costs_less_than_10_microseconds_more_than_in_c():
    world, n = falling_ball(), 200
    world.run(1.0)  # at rest: the same work in every step
    slow = fast = 1.0
    for _ in range(50):
        began = time.thread_time()  # not of the clock: others may have the processor
        for _ in range(n):
            world.step()
        middle = time.thread_time()
        report = world.run(n * 1e-3)
        slow = min(slow, (middle - began) / n)
        fast = min(fast, (time.thread_time() - middle) / report.steps)
    assert slow - fast < 10e-6, (slow, fast)
