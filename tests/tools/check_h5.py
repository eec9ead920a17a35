#!/usr/bin/env python3
"""Checks run.h5 against its schema, docs/run-format.md, and against itself.

usage: check_h5.py RUN_FOLDER; exit code 77: h5py is not there."""
import json
import os
import sys

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

STEPS = """step time time_step candidates active upgraded attempts entered left changed broken asleep woken impacts
impact_rounds impacts_left impacts_reduced energy_made_groups energy_made linearisations
linearisation_error converged iterations outer_iterations solver asked_worst_contact
coulomb_worst_contact penetration gap_error cone_violation friction_direction complementarity
dilatation spurious_work friction_law joint_drift joint_turn_drift distance distance_body asked_worst asked_relative
asked_whole asked_fclib coulomb_worst coulomb_relative coulomb_whole
coulomb_fclib judge_cone_violation kinetic potential elastic entered_energy applied_energy load_work driver_work
motor_work gravity_work correction friction_loss impact_loss damping_loss sleep_loss numerical_loss entered_mass left_mass
collide_seconds
assemble_seconds solve_seconds
finish_seconds""".split()
BODIES = """shape motion material uid mass inertia born passes first radius half_angle bottom_radius
top_radius height axis length rounding exponents size semi_axes shape_x shape_q geometry volume""".split()
STATES = ["index", "x", "q", "v", "omega", "asleep"]
JOINTS = """kind body collide anchor_a anchor_b frame_a frame_b turn_motor slide_motor length pitch
ratio stiffness damping turn_stiffness turn_damping break_force break_torque turn_lower turn_upper
turn_friction turn_effort turn_spring turn_damper turn_rest slide_lower slide_upper slide_friction
slide_effort slide_spring slide_damper slide_rest""".split()
JOINT_STATES = "index broken point force torque turn slide drift turn_drift".split()
CONTACTS = ["body", "point", "normal", "tangent", "gap", "impulse", "velocity", "mu"]
SETTINGS = """format format_version rules version title scene dimension gravity time_step duration scheme
solver tolerance max_iterations frame_interval contacts paraview ending hash wall_seconds
initial_energy message""".split()


def same_rows(group, names, rows):
    """Every dataset of the group is there, has a unit and that many rows; nothing else is."""
    assert sorted(group) == sorted(names), (group.name, sorted(group), sorted(names))
    for name in names:
        assert isinstance(group[name].attrs["unit"], bytes), name
        assert len(group[name]) == rows, (group.name, name, len(group[name]), rows)


def check_settings(f):
    for name in SETTINGS:
        assert name in f.attrs, name
    assert f.attrs["format"] == b"cairn run" and f.attrs["format_version"] == 3
    assert f.attrs["gravity"].shape == (3,)
    for name, values in (("bodies/shape", b"sphere"), ("bodies/motion", b"dynamic")):
        assert values in list(f[name].attrs["names"]), name


def check_frames(f):
    flat = f.attrs["dimension"] == 2
    offset = f["frames/body_offset"][:]
    frames = len(f["frames/time"])
    assert frames >= 2 and len(f["frames/step"]) == frames and len(offset) == frames + 1
    assert offset[0] == 0 and (np.diff(offset) >= 0).all()
    more = (["angle"] if flat else []) + (["image"] if "cell" in f.attrs else [])
    same_rows(f["frames/bodies"], STATES + more, offset[-1])
    assert (np.diff(f["frames/time"][:]) > 0).all()
    assert f["frames/step"][-1] == f["steps/step"][-1]
    assert f["frames/time"][-1] == f["steps/time"][-1]
    index = f["frames/bodies/index"][:]
    assert index.min() == 0 and index.max() == len(f["bodies/mass"]) - 1
    for k in range(frames):  # no body twice in a frame
        rows = index[offset[k]:offset[k + 1]]
        assert len(np.unique(rows)) == len(rows)
    q = f["frames/bodies/q"][:]
    assert np.allclose((q * q).sum(axis=1), 1, atol=1e-9)


def check_contacts(f):
    if not f.attrs["contacts"]:
        assert "contacts" not in f["frames"]
        return
    offset = f["frames/contact_offset"][:]
    same_rows(f["frames/contacts"], CONTACTS + (["image"] if "cell" in f.attrs else []), offset[-1])
    assert len(offset) == len(f["frames/time"]) + 1 and (np.diff(offset) >= 0).all()
    c = f["frames/contacts"]
    assert c["impulse"].shape[1] == f.attrs["dimension"]
    steps = f["frames/step"][:]
    candidates = np.concatenate([[0], f["steps/candidates"][:]])
    assert (np.diff(offset)[1:] == candidates[steps][1:]).all()
    if len(c["gap"]) == 0:
        return
    n, t, r = c["normal"][:], c["tangent"][:], c["impulse"][:]
    assert np.allclose((n * n).sum(axis=1), 1) and np.allclose((t * t).sum(axis=1), 1)
    assert np.allclose((n * t).sum(axis=1), 0, atol=1e-9)
    # every impulse lies in its cone
    slip = np.sqrt((r[:, 1:] ** 2).sum(axis=1)) - c["mu"][:] * r[:, 0]
    assert slip.max() <= 1e-9 * (1 + np.abs(r).max())
    assert c["body"][:].min() >= 0 and c["body"][:].max() < len(f["bodies/mass"])


def check_joints(f):
    offset, bodies = f["frames/joint_offset"][:], f["joints/body"][:]
    same_rows(f["joints"], JOINTS, len(f["joints/kind"]))
    same_rows(f["frames/joints"], JOINT_STATES, offset[-1])
    assert len(offset) == len(f["frames/time"]) + 1 and (np.diff(offset) >= 0).all()
    assert list(f["joints/kind"].attrs["names"])[0] == b"ball"
    if len(bodies) == 0:
        return
    assert bodies.min() >= -1 and bodies[:, 0].min() >= 0 and bodies.max() < len(f["bodies/mass"])
    s, k = f["frames/joints"], len(offset) - 2
    assert s["drift"][:].max() <= f["steps/joint_drift"][:].max()
    # the last frame: a joint's point stands on its first body, as far away as at the start
    last = slice(offset[k], offset[k + 1])
    place = dict(zip(f["frames/bodies/index"][:], f["frames/bodies/x"][:]))
    start = dict(reversed(list(zip(f["frames/bodies/index"][:], f["frames/bodies/x"][:]))))
    for index, point, first in zip(s["index"][last], s["point"][last], s["point"][:offset[1]]):
        a = bodies[index, 0]
        assert np.isclose(np.linalg.norm(point - place[a]), np.linalg.norm(first - start[a]))
    assert s["broken"][last].sum() == f["steps/broken"][:].sum()
    assert not s["force"][last][s["broken"][last] == 1].any()


def check_energy(f):
    """The ledger closes, step by step: d(kinetic + potential + elastic) = entered + works + correction - losses."""
    s = {name: f["steps/" + name][:] for name in STEPS}
    total = s["kinetic"] + s["potential"] + s["elastic"]
    before = np.concatenate([[f.attrs["initial_energy"]], total[:-1]])
    flow = (s["entered_energy"] + s["applied_energy"] + s["load_work"] + s["driver_work"] + s["motor_work"] +
            s["gravity_work"] + s["correction"] -
            s["friction_loss"] - s["impact_loss"] - s["damping_loss"] - s["sleep_loss"] -
            s["numerical_loss"])
    scale = 1 + np.abs(total).max() + np.abs(s["kinetic"]).max()
    left = np.abs(total - before - flow)
    assert left.max() <= 1e-9 * scale, left.max()


def check_summary(f, folder):
    with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
        summary = json.load(file)
    steps = f["steps"]
    assert summary["steps"] == len(steps["time"]) and summary["frames"] == len(f["frames/time"])
    assert summary["uncertified"] == (steps["converged"][:] == 0).sum()
    assert summary["hash"] == f"{f.attrs['hash']:016x}"
    assert summary["ending"] == f.attrs["ending"].decode()
    assert summary["broken"] == steps["broken"][:].sum()
    assert summary["joints"] + summary["broken"] == len(f["joints/kind"])
    assert summary["contacts"]["max_active"] == steps["active"][:].max()
    for name, worst in summary["certificate"]["worst"].items():
        values = steps[name][:]
        assert worst == values.max(), name
        assert np.isclose(summary["certificate"]["mean"][name], values.mean(), rtol=1e-9), name
        assert name in summary["units"], name
    for name, value in summary["energy"].items():
        values = steps[name][:]
        found = values[-1] if name in ("kinetic", "potential", "elastic") else values.sum()
        assert np.isclose(value, found, rtol=1e-9, atol=1e-12), name


def crc64(data):
    """The lines of docs/run-format.md."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0xc96c5795d7870f42 if byte & 1 else 0)
        table.append(byte)
    r = 2**64 - 1
    for byte in data:
        r = r >> 8 ^ table[(r ^ byte) & 255]
    return r ^ 2**64 - 1


def kind(dtype, count):
    return f"{dtype.kind}{dtype.itemsize} {count}\0".encode()


def head_of(item):
    words = b""
    if isinstance(item, h5py.Dataset):
        words += kind(item.dtype, item.shape[1] if item.ndim == 2 else 1)
    for name in sorted(item.attrs, key=str.encode):
        attribute = item.attrs.get_id(name)
        values = np.zeros(attribute.shape, attribute.dtype)
        if values.size:
            attribute.read(values)
        words += name.encode() + b"\0" + kind(attribute.dtype, values.size) + values.tobytes()
    return crc64(words)


def check_checksums(f):
    """Every object has its two sums, and nothing else has."""
    names = [name.decode() for name in f["checksums/name"]]
    there = ["/"]
    f.visit(lambda name: there.append("/" + name))
    assert sorted(names) == sorted(there), set(names) ^ set(there)
    for name, head, data in zip(names, f["checksums/head"], f["checksums/data"]):
        numbers = isinstance(f[name], h5py.Dataset) and not name.startswith("/checksums/")
        assert head_of(f[name]) == head, name
        assert (crc64(f[name][()].tobytes()) if numbers else 0) == data, name


def check(folder):
    with h5py.File(os.path.join(folder, "run.h5"), "r") as f:
        check_settings(f)
        same_rows(f["steps"], STEPS + (["cell", "cell_rate"] if "cell" in f.attrs else []), len(f["steps/time"]))
        same_rows(f["bodies"], BODIES, len(f["bodies/mass"]))
        check_frames(f)
        check_contacts(f)
        check_joints(f)
        check_energy(f)
        check_summary(f, folder)
        check_checksums(f)
        # the three lines of docs/run-format.md
        k = len(f["frames/time"]) - 1
        rows = slice(*f["frames/body_offset"][k:k + 2])
        x, q = f["frames/bodies/x"][rows], f["frames/bodies/q"][rows]
        assert x.shape[0] == q.shape[0] > 0 and x.shape[1:] == (3,) and q.shape[1:] == (4,)
        print(f"{folder}: {len(f['steps/time'])} steps, {k + 1} frames, {len(x)} bodies: fine")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        check(argument)
