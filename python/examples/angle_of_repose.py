# %% [markdown]
# # The angle of repose over friction and shape, on all cores
#
# Grains are poured onto a floor and form a heap. How steep it gets depends on friction and on
# shape. Each heap is a world of its own with one thread; as steps release the interpreter lock, a
# pool of threads keeps all cores busy.

# %%
import os
from concurrent.futures import ThreadPoolExecutor

import matplotlib.pyplot as plt
import numpy as np

import cairn

QUICK = bool(os.environ.get("CAIRN_QUICK"))
grains, duration = (30, 0.8) if QUICK else (200, 3.0)
frictions = [0.1, 0.5] if QUICK else [0.05, 0.1, 0.2, 0.3, 0.5, 0.8]
shapes = {"disks": cairn.Sphere(radius=0.025), "squares": cairn.Box(size=(0.044, 0.044))}

# %% [markdown]
# Half of a triangle of height H and half width L lies below (1 - sqrt(1/2)) H, and half of it
# closer than (1 - sqrt(1/2)) L to the middle: the ratio of both medians is the slope.


# %%
def angle(world):
    moving = world.bodies.dynamic
    x, y = world.positions[moving, 0], world.positions[moving, 1] - 0.022
    return np.degrees(np.arctan2(np.median(y), np.median(np.abs(x - np.median(x)))))


def heap(shape, friction):
    world = cairn.World(2, time_step=2e-3, threads=1)
    rough = world.add_material(friction=friction)
    world.add_body(cairn.HalfSpace(), motion="fixed", material=rough)
    world.add_inlet(shape=shape, turned=True, count=grains, rate=100, centre=(0, 0.5),
                    size=(0.2, 0), velocity=(0, -1), density=2500, material=rough, seed=4)
    world.run(duration)
    return world


# %%
cases = [(name, mu) for name in shapes for mu in frictions]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    worlds = list(pool.map(lambda case: heap(shapes[case[0]], case[1]), cases))
angles = {case: angle(world) for case, world in zip(cases, worlds)}

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
for name in shapes:
    left.plot(frictions, [angles[name, mu] for mu in frictions], "o-", label=name)
left.set_xlabel("friction")
left.set_ylabel("angle of repose [degrees]")
left.legend()
worlds[-1].plot(right)
right.set_title(f"{cases[-1][0]} with friction {cases[-1][1]}")
plt.savefig("angle_of_repose.png", dpi=120)
for case, value in angles.items():
    print(f"{case[0]}, friction {case[1]}: {value:.1f} degrees")
