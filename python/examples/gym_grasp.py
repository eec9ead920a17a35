# %% [markdown]
# # The grasp as a Gymnasium environment
#
# Gymnasium is optional: `pip install cairn[gym]`. A reset brings back the saved state of the world,
# which takes no building and gives the same bits every time.

# %%
import gymnasium
import matplotlib.pyplot as plt
import numpy as np
from gripper import Gripper

import cairn


# %%
class GraspEnv(gymnasium.Env):
    """Lift a ball with two fingers. Actions: squeezing force and speed of the hand, from -1 to 1.
    The reward is the height gained, less a little for squeezing."""

    metadata = {"render_modes": ["rgb_array"]}
    frame = 10  # steps of the world for one of the environment

    def __init__(self, render_mode=None):
        self.render_mode = render_mode
        self.gripper = Gripper()
        self.start, self.options = self.gripper.world.save(), self.gripper.world.options
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float64)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (6,), np.float64)

    def _observe(self):
        g = self.gripper
        return np.concatenate([[g.ball.position[2], g.hand.position[2], g.ball.velocity[2],
                                g.hand.velocity[2]], g.grip()])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        world = cairn.World.load(self.start, **self.options)
        old, self.gripper.world = self.gripper.world, world
        for thing in (self.gripper.ball, self.gripper.hand, *self.gripper.fingers,
                      self.gripper.lift, *self.gripper.squeeze):
            thing.world = world  # bodies and joints keep their numbers
        old.destroy()
        return self._observe(), {}

    def step(self, action):
        squeeze, lift = np.clip(action, -1, 1)
        before = self.gripper.ball.position[2]
        for _ in range(self.frame):
            self.gripper.act(10.0 * (squeeze + 1), 0.2 * lift)
        gained = self.gripper.ball.position[2] - before
        done = self.gripper.world.time >= 2.0
        return self._observe(), 10 * gained - 1e-3 * (squeeze + 1), False, done, {}

    def render(self):
        figure = plt.figure(figsize=(4, 4))
        self.gripper.world.plot(figure.add_subplot(), forces=True)
        figure.canvas.draw()
        picture = np.asarray(figure.canvas.buffer_rgba())[..., :3].copy()
        plt.close(figure)
        return picture


# %%
env = GraspEnv("rgb_array")
returns = {}
for name, policy in {"let go": (-1.0, 0.5), "hold and lift": (0.5, 0.5)}.items():
    observation, _ = env.reset(seed=1)
    total, over = 0.0, False
    while not over:
        early = env.gripper.world.time < 0.4  # first close the fingers
        action = (policy[0], 0.0) if early else policy
        observation, reward, ended, over, _ = env.step(np.array(action))
        total += reward
    returns[name] = total
    print(f"{name}: {total:.3f}")

# %%
plt.imshow(env.render())
plt.axis("off")
plt.savefig("gym_grasp.png", dpi=120)
