# %% [markdown]
# # First steps
#
# A world, a floor, a box of balls: make them, let them fall, look at them.

# %%
import matplotlib.pyplot as plt
import numpy as np

import cairn

# %% [markdown]
# A world has gravity and options of the step; each option can be given again at any time. Lengths
# are in metres, masses in kilograms, times in seconds.

# %%
world = cairn.World(time_step=2e-3, tolerance=1e-4, threads=1)
rock = world.add_material(friction=0.4)
world.add_body(cairn.InsideBox(size=(0.5, 0.5, 4)), motion="fixed", position=(0, 0, 2),
               material=rock)

# %% [markdown]
# Many bodies come from arrays in one call. What comes back are their numbers.

# %%
rng = np.random.default_rng(1)
grid = np.stack(np.meshgrid(*[np.arange(4)] * 3), axis=-1).reshape(-1, 3)
position = (grid - (1.5, 1.5, 0)) * 0.11 + (0, 0, 0.1) + rng.uniform(-0.004, 0.004, grid.shape)
radius = rng.uniform(0.04, 0.05, len(grid))
balls = world.add_bodies(cairn.Sphere, radius=radius, position=position, density=2500,
                         material=rock)
world

# %% [markdown]
# `run` steps for a time. A step that misses its tolerance is counted, never hidden.

# %%
report = world.run(2.0)
print(report)

# %% [markdown]
# Positions, velocities, contacts and impulses are numpy arrays over the library's own memory. They
# hold until the world next changes; a stale one raises. `copy()` keeps numbers for later.

# %%
speed = np.linalg.norm(world.velocities, axis=1)
weight = sum(world.body(b).mass for b in balls) * 9.81

# %% [markdown]
# An impulse has its part along the normal first, then those along two tangents. The floor carries
# most of the weight, and friction at the walls the rest.

# %%
contacts = world.contacts
axes = np.stack([contacts.normal, contacts.tangent,
                 np.cross(contacts.normal, contacts.tangent)], axis=1)
upward = (world.impulses * axes[:, :, 2]).sum(axis=1) / world.options["time_step"]
at_box = (contacts.body == 0).any(axis=1)
at_floor = at_box & (contacts.normal[:, 2] > 0.99)
carried, by_floor = upward[at_box].sum(), upward[at_floor].sum()
print(f"the balls weigh {weight:.2f} N, the box carries {carried:.2f} N, "
      f"its floor {by_floor:.2f} N of it")

# %%
ax = world.plot(colour=speed, label="speed [m/s]", forces=True)
ax.set_title(f"{len(balls)} balls after {world.time:.1f} s, and the forces between them")
plt.savefig("first_steps.png", dpi=120)
