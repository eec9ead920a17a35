#!/usr/bin/env python3
"""300 damaged files (60 under the sanitizers, which are slow); `ninja soak` does 6000."""
import os
import subprocess
import sys

flips = os.path.join(os.path.dirname(os.path.abspath(__file__)), "flips.py")
count = "60" if os.environ.get("CAIRN_SANITIZE") == "ON" else "300"
sys.exit(subprocess.call([sys.executable, flips, count]))
