"""gripper.py - a hand with two fingers and a ball, for the examples grasp and gym_grasp."""
import numpy as np

import cairn


class Gripper:
    """A hand on a guide of the world, two fingers on guides of the hand, a ball on the floor."""

    def __init__(self, friction=0.8, time_step=5e-3):
        self.world = world = cairn.World(time_step=time_step, tolerance=1e-6, threads=1)
        rubber = world.add_material(friction=friction)

        def ball(radius, mass, position):
            return world.add_body(cairn.Sphere(radius=radius), mass=mass, position=position,
                                  material=rubber)
        world.add_body(cairn.HalfSpace(), motion="fixed", material=rubber)
        self.ball = ball(0.1, 0.5, (0, 0, 0.1))
        self.hand = ball(0.05, 1.0, (0, 0, 0.4))
        self.fingers = [ball(0.03, 0.2, (s * 0.15, 0, 0.09)) for s in (-1, 1)]
        guide = cairn.joints.Prismatic
        self.lift = world.add_joint(guide(
            anchor=(0, 0, 0.4), axis=(0, 0, 1),
            slide=dict(motor="velocity", target=0.0, effort=100, upper=0.3)), self.hand)
        self.squeeze = [world.add_joint(guide(
            anchor=(s * 0.15, 0, 0.09), axis=(-s, 0, 0),
            slide=dict(motor="force", target=0.0, lower=-0.05, upper=0.1)), finger, self.hand)
            for s, finger in zip((-1, 1), self.fingers)]

    def grip(self):
        """N: normal force of each finger on the ball."""
        rows, ball = [finger.row for finger in self.fingers], self.ball.row
        sides = np.sort(self.world.contacts.body, axis=1)
        force = self.world.impulses[:, 0] / self.world.options["time_step"]
        return np.array([force[(sides == sorted((row, ball))).all(axis=1)].sum() for row in rows])

    def act(self, force, speed, run=None):
        """Squeeze with a force (N) and lift at a speed (m/s) for one step, of a run if given."""
        for joint in self.squeeze:
            joint.aim(slide=force)
        self.lift.aim(slide=speed)
        return (run or self.world).step()
