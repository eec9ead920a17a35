# %% [markdown]
# # A masonry arch
#
# A semicircular arch of stones stands by friction and its own weight. How thick must its ring be? A
# thin one folds. The limit of Milankovitch is a thickness of 0.1075 of the mean radius.

# %%
import os

import matplotlib.pyplot as plt
import numpy as np

import cairn

QUICK = bool(os.environ.get("CAIRN_QUICK"))
STONES = 11


# %%
def arch(thickness, friction=0.7):
    """A world with an arch of mean radius 1 m."""
    world = cairn.World(2, time_step=5e-3, tolerance=1e-8, threads=1)
    stone = world.add_material(friction=friction)
    world.add_body(cairn.HalfSpace(), motion="fixed", material=stone)
    inner, outer = 1 - thickness / 2, 1 + thickness / 2
    edges = np.linspace(0, np.pi, STONES + 1)
    for a, b in zip(edges[:-1], edges[1:]):
        corners = [(r * np.cos(t), r * np.sin(t)) for r, t in
                   ((inner, a), (outer, a), (outer, b), (inner, b))]
        world.add_body(cairn.Polyhedron(corners), density=2000, material=stone)
    return world


def sinks(thickness):
    """m: how far the crown comes down in two seconds."""
    world = arch(thickness)
    top = world.positions[:, 1].max()
    world.run(0.6 if QUICK else 2.0)
    return top - world.positions[:, 1].max(), world


# %%
thicknesses = [0.06, 0.2] if QUICK else [0.06, 0.08, 0.1, 0.11, 0.12, 0.15, 0.2]
found = {t: sinks(t) for t in thicknesses}
sinking = {t: s for t, (s, _) in found.items()}
for t, s in sinking.items():
    print(f"thickness {t:.2f}: the crown sinks by {s:.2e} m")

# %%
figure, axes = plt.subplots(1, 3, figsize=(14, 4))
for ax, t in zip(axes, (thicknesses[0], thicknesses[-1])):
    found[t][1].plot(ax, forces=True)
    ax.set_title(f"thickness {t}")
axes[2].semilogy(list(sinking), np.maximum(list(sinking.values()), 1e-12), "o-")
axes[2].axvline(0.1075, color="0.6", linestyle=":")
axes[2].set_xlabel("thickness / mean radius")
axes[2].set_ylabel("the crown sinks by [m]")
plt.savefig("arch.png", dpi=120)
