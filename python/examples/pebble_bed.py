# %% [markdown]
# # A pebble bed and its pair correlation
#
# Fuel pebbles of 60 mm fall into a vessel with a conical bottom and settle. How dense is the bed,
# and how are the pebbles arranged? The pair correlation g(r) tells how many more pebbles than on
# the average are at a distance r from a pebble.

# %%
import os

import matplotlib.pyplot as plt

import cairn

QUICK = bool(os.environ.get("CAIRN_QUICK"))
pebbles = 200 if QUICK else 2000

# %%
scene = cairn.load({
    "cairn": 1, "title": f"Pebble bed, {pebbles} pebbles",
    "materials": {"graphite": {"friction": 0.3}},
    "bodies": [
        {"name": "wall", "motion": "fixed",
         "shape": {"inside_cylinder": {"radius": 0.18 if QUICK else 0.35}}},
        {"name": "bottom", "motion": "fixed", "position": [0, 0, -0.35],
         "shape": {"inside_cone": {"half_angle": 0.7853981633974483}}}],
    "generators": [{"pour": {"count": pebbles, "rate": 1000, "centre": [0, 0, 1.7],
                             "size": [0, 0, 0.6], "disk_radius": 0.14 if QUICK else 0.31,
                             "velocity": [0, 0, -2], "radius": 0.03, "mass": 0.2, "seed": 7}}],
    "run": {"time_step": 4e-3 if QUICK else 2e-3, "duration": 6, "rest_speed": 0.05 if QUICK else
            5e-3}})
summary = scene.run()
world = scene.world
print(f"at rest after {summary.time:.2f} s, {summary.uncertified} steps missed their tolerance")

# %% [markdown]
# The world can be measured as it stands.

# %%
packing = world.packing().fraction
correlation = world.statistic("pair-correlation", bins=60)
coordination = world.statistic("coordination")
print(f"packing fraction {packing:.3f}")
print(coordination.to_pandas() if "pandas" in globals() else coordination)

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 5))
world.plot(left, forces=True)
left.set_title("the bed and its forces")
right.plot(correlation["r"] / 0.06, correlation["g"])
right.axhline(1, color="0.7", linewidth=1)
right.set_xlabel("distance [diameters]")
right.set_ylabel("g(r)")
right.set_title(f"packing fraction {packing:.3f}")
plt.savefig("pebble_bed.png", dpi=120)
