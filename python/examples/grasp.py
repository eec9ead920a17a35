# %% [markdown]
# # A control loop: a grasp
#
# Two fingers close on a ball and lift it. The loop is Python's: after every step it looks at the
# contacts and the ball, and aims the motors of the fingers and of the hand anew. The gripper itself
# is in gripper.py: bodies, and joints with motors.

# %%
import matplotlib.pyplot as plt
import numpy as np
from gripper import Gripper

# %% [markdown]
# The controller squeezes harder while the ball slips against the hand, and lifts once both fingers
# hold it. After 1.5 s the ball is struck from the side. The steps are those of a run, whose folder
# is like that of a scene: cairn view shows it, cairn-check certifies it.

# %%
gripper = Gripper()
force, rows, struck = 2.0, [], False
with gripper.world.begin("grasp", duration=2.0, certificate="full", frame_interval=0.05, force=True,
                         series=[dict(name="ball", bodies=gripper.ball)]) as run:
    while run.goes_on:
        held = gripper.grip()
        speed = 0.1 if (held > 1.0).all() else 0.0
        slip = gripper.hand.velocity[2] - gripper.ball.velocity[2]
        force = min(20.0, force + (0.5 if slip > 0.01 else 0.02))
        if gripper.world.time > 1.5 and not struck:
            gripper.ball.strike((0, 0.05, 0))
            struck = True
        gripper.act(force, speed, run)
        rows.append((gripper.world.time, gripper.ball.position[2], force, held.mean()))
log = np.array(rows)
lifted = log[-1, 1] - 0.1
print(f"the ball was lifted by {lifted:.3f} m with {log[-1, 3]:.1f} N a finger")

# %% [markdown]
# Everything is in the folder as well. The force that hand and floor exert on the ball was written
# in every step: less its weight, its sum is the momentum that the ball has got.

# %%
recorded = run.result
carried = recorded.series["ball"].force_z
momentum = 0.005 * (carried - 0.5 * 9.81).sum()
print(f"momentum by the series {momentum:.6f} N s, "
      f"of the ball {0.5 * gripper.ball.velocity[2]:.6f} N s")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
gripper.world.plot(left, forces=True)
right.plot(log[:, 0], log[:, 1] * 100, label="height of the ball [cm]")
right.plot(log[:, 0], log[:, 3], label="force of a finger [N]")
right.set_xlabel("time [s]")
right.legend()
plt.savefig("grasp.png", dpi=120)
