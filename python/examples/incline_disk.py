# %% [markdown]
# # A disk on an incline, and the order of the method
#
# A disk of radius 1 m and mass 1 kg starts 1 m above an incline of 30 degrees in gravity of 1
# m/s^2, falls on it, slides and rolls. With friction 0.1 it slips for ever, and the answer is
# known: at t = 10 s its centre is at x = 20.769873 m and it has turned by -8.460254 rad.

# %%
import matplotlib.pyplot as plt
import numpy as np

import cairn

# %%
INCLINE = {
    "cairn": 1, "title": "Disk on an incline", "dimension": 2,
    "gravity": [0.5, -np.sqrt(3) / 2],  # the incline is the x axis, and gravity is tilted
    "materials": {"surface": {"friction": 0.1}},
    "bodies": [{"name": "incline", "motion": "fixed", "shape": "half_space"},
               {"name": "disk", "shape": {"sphere": {"radius": 1}}, "mass": 1, "position": [0, 2]}],
    "run": {"time_step": 0.01, "duration": 10, "scheme": "fixed-point", "tolerance": 1e-8},
}
EXACT = 20.769873

# %% [markdown]
# A scene is a file or a dict; `set` changes any of its keys.

# %%
steps = np.array([0.08, 0.04, 0.02, 0.01, 0.005])
errors = {}
for scheme in ("fixed-point", "moreau-jean"):
    ends = []
    for h in steps:
        scene = cairn.load(INCLINE, set={"run.time_step": h, "run.scheme": scheme})
        scene.run()
        ends.append(scene.body("disk").position[0])
    errors[scheme] = np.abs(np.array(ends) - EXACT)

# %%
for scheme, error in errors.items():
    order = np.polyfit(np.log(steps), np.log(error), 1)[0]
    print(f"{scheme}: order {order:.2f}")
    plt.loglog(steps, error, "o-", label=f"{scheme}, order {order:.2f}")
plt.loglog(steps, steps * errors["fixed-point"][0] / steps[0], "k:", label="first order")
plt.xlabel("time step [s]")
plt.ylabel("error of x at 10 s [m]")
plt.legend()
plt.savefig("incline_disk.png", dpi=120)
