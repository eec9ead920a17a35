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
# hold it.

# %%
gripper = Gripper()
force, rows = 2.0, []
while gripper.world.time < 2.0:
    held = gripper.grip()
    speed = 0.1 if (held > 1.0).all() else 0.0
    slip = gripper.hand.velocity[2] - gripper.ball.velocity[2]
    force = min(20.0, force + (0.5 if slip > 0.01 else 0.02))
    gripper.act(force, speed)
    rows.append((gripper.world.time, gripper.ball.position[2], force, held.mean()))
log = np.array(rows)
lifted = log[-1, 1] - 0.1
print(f"the ball was lifted by {lifted:.3f} m with {log[-1, 3]:.1f} N a finger")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
gripper.world.plot(left, forces=True)
right.plot(log[:, 0], log[:, 1] * 100, label="height of the ball [cm]")
right.plot(log[:, 0], log[:, 3], label="force of a finger [N]")
right.set_xlabel("time [s]")
right.legend()
plt.savefig("grasp.png", dpi=120)
