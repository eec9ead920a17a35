#!/usr/bin/env python3
"""MuJoCo on a scene of the comparison (PyPI: mujoco).

Setting "SOLVER:CONTACT:PARTS": newton or cg; soft or hard; PARTS steps of its own in a step of the scene.
By the manual (mujoco.readthedocs.io): elliptic cones and Newton's method, its defaults being 100
iterations to 1e-8 ("Modeling: Solver settings"); contacts as stiff as the time step allows,
solref = (2 steps, 1), and "soft" with the default solimp, "hard" with impedances near 1
("Modeling: Solver parameters"); friction against slip by impratio 10 ("Slippage"). Contacts are soft by
design: stiffness, and with it overlap, follows from the time step. One thread.
"""
import mujoco
import numpy as np

import peer

SOLVERS = {"newton": mujoco.mjtSolver.mjSOL_NEWTON, "cg": mujoco.mjtSolver.mjSOL_CG}
IMPEDANCE = {"soft": [0.9, 0.95, 0.001, 0.5, 2], "hard": [0.99, 0.999, 0.001, 0.5, 2]}


def model_text(scene):
    """Balls on free joints within five planes, as MJCF."""
    s = scene.side
    planes = [("0 0 0", "0 0 1"), ("0 0 0", "1 0 0"), ("%r 0 0" % s, "-1 0 0"),
              ("0 0 0", "0 1 0"), ("0 %r 0" % s, "0 -1 0")]
    text = ["<mujoco><size memory='2G'/><worldbody>"]
    for at, axis in planes:
        text.append("<geom type='plane' size='0 0 1' pos='%s' zaxis='%s'/>" % (at, axis))
    for (x, y, z), r, m in zip(scene.position, scene.radius, scene.mass):
        text.append("<body pos='%.17g %.17g %.17g'><freejoint/>"
                    "<geom type='sphere' size='%.17g' mass='%.17g'/></body>" % (x, y, z, r, m))
    return "".join(text) + "</worldbody></mujoco>"


class Engine:
    name = "mujoco"

    def __init__(self, scene, setting):
        solver, contact, parts = setting.split(":")
        self.count, self.parts = scene.count, int(parts)
        self.model = mujoco.MjModel.from_xml_string(model_text(scene))
        option = self.model.opt
        option.timestep = scene.time_step / self.parts
        option.gravity[:] = [0, 0, -scene.gravity]
        option.solver = SOLVERS[solver]
        option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        option.impratio = 10
        self.model.geom_friction[:] = [scene.friction, 0, 0]
        self.model.geom_condim[:] = 3
        self.model.geom_solref[:] = [2 * option.timestep, 1]
        self.model.geom_solimp[:] = IMPEDANCE[contact]
        self.data = mujoco.MjData(self.model)

    def step(self, count):
        mujoco.mj_step(self.model, self.data, count * self.parts)

    def state(self):
        position = self.data.qpos.reshape(self.count, 7)[:, :3]
        return np.hstack([position, self.data.qvel.reshape(self.count, 6)])


if __name__ == "__main__":
    peer.main(Engine)
