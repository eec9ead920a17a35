#!/usr/bin/env python3
"""50 kills at random moments; `ninja soak` does 1000."""
import os
import subprocess
import sys

kills = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kills.py")
sys.exit(subprocess.call([sys.executable, kills, "50"]))
