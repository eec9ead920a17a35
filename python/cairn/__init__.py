"""cairn: rigid bodies with hard contact and Coulomb friction.

    import cairn

    world = cairn.World(time_step=1e-3)
    world.add_body(cairn.HalfSpace(), motion="fixed")
    ball = world.add_body(cairn.Sphere(radius=0.1), position=(0, 0, 0.5), density=2500)
    world.run(1.0)
    print(ball.position)

SI units throughout. docs/python.md is the manual.
"""
from __future__ import annotations

from ._kinds import names  # isort: skip - it makes the modules distributions, drivers, ...
from . import distributions, drivers, friction, generators, joints, loads, shapes
from ._lib import (VERSION, BadInput, Closed, Error, Forked, IoFailed, NoMemory, NotFinite,
                   NotFound, StaleView, Stopped, Unsupported)
from .body import Body, Material
from .joints import Drive, Joint
from .lagrange import Lagrange
from .problem import Problem, Solution, solve
from .programs import check, reproduce, reproduce_names
from .recording import Frame, Run, Table
from .scene import Running, Scene, continue_run, from_yaml, load, schema, to_yaml
from .statistics import compare, stat
from .views import View
from .world import RunReport, StepReport, UnitWarning, World

__version__ = VERSION

# shapes are used most, and are also names of the package
for _kind in shapes.KINDS:
    globals()[_kind.__name__] = _kind
del _kind
