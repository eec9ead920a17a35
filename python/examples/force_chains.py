# %% [markdown]
# # Reading a run and plotting its force chains
#
# A run folder holds frames, contacts, the certificate of every step and the energy ledger. Data
# are read only when they are used.

# %%
import os
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import cairn

QUICK = bool(os.environ.get("CAIRN_QUICK"))
folder = os.path.join(tempfile.mkdtemp(), "heap")

# %%
scene = cairn.load({
    "cairn": 1, "title": "Disks in a bin", "dimension": 2,
    "materials": {"disk": {"friction": 0.5}},
    "bodies": [{"name": "bin", "motion": "fixed", "position": [0, 1],
                "shape": {"inside_box": {"size": [0.6, 2]}}}],
    "generators": [{"fill": {"bodies": 40 if QUICK else 150, "centre": [0, 1], "size": [0.55, 1.9],
                             "radius": {"uniform": {"minimum": 0.02, "maximum": 0.035}},
                             "density": 2500}}],
    "run": {"time_step": 2e-3, "duration": 1.5, "frame_interval": 0.1, "certificate": "full",
            "statistics": ["energy", "coordination"], "paraview": False, "picture": False}})
scene.run(folder)

# %%
run = cairn.Run(folder)
frame = run.frames[-1]
contacts = frame.contacts
force = contacts["impulse"][:, 0] / run.attributes["time_step"]
print(run)
print(f"{(force > 0).sum()} contacts push, the largest force is {force.max():.1f} N")

# %% [markdown]
# An independent program computes the run again from its certificate.

# %%
checked = cairn.check(run)
print(checked)

# %%
figure, axes = plt.subplots(1, 3, figsize=(15, 5))
frame.plot(axes[0], forces=True)
axes[0].set_title("force chains")
ledger = run.ledger
axes[1].plot(ledger["time"], ledger["kinetic"], label="kinetic")
for name in ("friction_loss", "impact_loss"):
    axes[1].plot(ledger["time"], np.cumsum(ledger[name]), label=name.replace("_", " "))
axes[1].set_xlabel("time [s]")
axes[1].set_ylabel("energy [J]")
axes[1].legend()
axes[2].semilogy(run.certificate["time"], np.maximum(run.certificate["asked_relative"], 1e-16))
axes[2].set_xlabel("time [s]")
axes[2].set_ylabel("residual of each step")
plt.savefig("force_chains.png", dpi=120)
