# %% [markdown]
# # Solvers on FCLib problems, and a performance profile
#
# A step of a world is one contact problem. Here problems of a collapsing heap are written as FCLib
# files, read back, and given to several solvers. Put the folder of your own files into
# FCLIB_FOLDER.

# %%
import glob
import os
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import cairn

QUICK = bool(os.environ.get("CAIRN_QUICK"))
folder = os.environ.get("FCLIB_FOLDER") or tempfile.mkdtemp()

# %%
if "FCLIB_FOLDER" not in os.environ:
    world = cairn.World(time_step=5e-3, threads=1)
    world.add_body(cairn.HalfSpace(), motion="fixed")
    world.generate(cairn.generators.Pile(rows=3 if QUICK else 5, radius=0.1, gap=0.002,
                                         origin=(0, 0, 0.12)))
    for k in range(6 if QUICK else 20):
        world.run(0.05)
        problem = world.problem()
        if problem.contacts:
            problem.save(os.path.join(folder, f"pile-{k:02d}.hdf5"), problem.r)
paths = sorted(glob.glob(os.path.join(folder, "*.hdf5")))
problems = [cairn.Problem.load(path) for path in paths]
problems[-1]

# %% [markdown]
# One solve, and how its residual falls.

# %%
solution = cairn.solve(problems[-1], "pgs", tolerance=1e-8, max_iterations=100000, history=True)
print(solution)

# %% [markdown]
# The profile of Dolan and More: for each solver the share of problems that it solved within a
# factor of the time of the fastest on that problem.

# %%
solvers = [name for name in ("auto", "pgs", "ngs", "newton") if problems[0].accepts(name)]
seconds = np.full((len(problems), len(solvers)), np.inf)
for i, problem in enumerate(problems):
    for j, name in enumerate(solvers):
        found = cairn.solve(problem, name, tolerance=1e-6, max_iterations=20000)
        if found.converged:
            seconds[i, j] = found.seconds
best = seconds.min(axis=1, keepdims=True)
ratio = seconds[np.isfinite(best[:, 0])] / best[np.isfinite(best[:, 0])]

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
left.loglog(solution.history[:, 0], solution.history[:, 1], "o-")
left.set_xlabel("sweeps")
left.set_ylabel("residual")
left.set_title("pgs on the last problem")
factor = np.geomspace(1, 100, 200)
for j, name in enumerate(solvers):
    right.semilogx(factor, [(ratio[:, j] <= f).mean() for f in factor], label=name)
right.set_xlabel("factor of the fastest time")
right.set_ylabel("share of problems solved")
right.legend()
plt.savefig("solvers.png", dpi=120)
