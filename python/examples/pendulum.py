# %% [markdown]
# # A Lagrangian system of one's own
#
# A double pendulum that rubs along the floor: unit masses on rods of 1 m and 2 m, the floor 2.6 m
# below the pivot, friction 0.01. Mass matrix, forces and contact are functions of Python.

# %%
import matplotlib.pyplot as plt
import numpy as np

import cairn

LENGTH, GRAVITY, DEPTH = np.array([1.0, 2.0]), 9.81, 2.6


# %%
def mass(q):
    coupling = LENGTH[0] * LENGTH[1] * np.cos(q[0] - q[1])
    return [[2 * LENGTH[0]**2, coupling], [coupling, LENGTH[1]**2]]


def force(t, q, v):
    coupling = LENGTH[0] * LENGTH[1] * np.sin(q[0] - q[1])
    return [-2 * GRAVITY * LENGTH[0] * np.sin(q[0]) - coupling * v[1]**2,
            -GRAVITY * LENGTH[1] * np.sin(q[1]) + coupling * v[0]**2]


def contact(q, k):
    """The height of the lower mass over the floor; rows: derivatives of its y and of its x."""
    return {"gap": DEPTH - LENGTH @ np.cos(q), "mu": 0.01,
            "rows": [LENGTH * np.sin(q), LENGTH * np.cos(q)]}


def potential(q):
    return -GRAVITY * (2 * LENGTH[0] * np.cos(q[0]) + LENGTH[1] * np.cos(q[1]))


# %%
system = cairn.Lagrange([np.pi / 4, np.pi / 2], mass=mass, force=force, contact=contact, contacts=1,
                        potential=potential, time_step=1e-3, scheme="fixed-point")
times, angles, energies, impulses = [], [], [], []
for _ in range(2000):
    report = system.step()
    times.append(system.time)
    angles.append(system.q)
    energies.append(report.kinetic + report.potential)
    impulses.append(system.impulses[0, 0])
angles = np.array(angles)
tip = np.stack([np.sin(angles) @ LENGTH, -np.cos(angles) @ LENGTH], axis=1)
lowest = tip[:, 1].min()
print(f"the tip gets down to {lowest:.4f} m; the floor is at {-DEPTH} m")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
left.plot(tip[:, 0], tip[:, 1])
left.axhline(-DEPTH, color="0.4")
left.set_aspect("equal")
left.set_title("path of the lower mass [m]")
right.plot(times, energies)
right.set_xlabel("time [s]")
right.set_ylabel("energy [J]")
plt.savefig("pendulum.png", dpi=120)
