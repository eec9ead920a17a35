#!/usr/bin/env python3
"""Random scenes, none of them wrong: some that once were, and some more. `make soak` runs 10,000. Under the
sanitizers every fourth."""
import sys

import random_scenes
import run_numbers

# points, and hulls beside their origin, that fell through faces; a ball poured into a solid; rounding of adhesion,
# of joints that fight each other and of directions along an axis; bodies that turn by several radians in a step; moments
# that a scheme without friction did not store; a point that passed a line at mid-step; half
# turns; polylines that met where the step would end; pivoting that failed; joints that contradict each other
ONCE_WRONG = [34, 46, 85, 145, 202, 226, 232, 236, 240, 248, 292, 294, 297, 330, 332, 351, 369, 399, 487, 552, 582, 583,
              597, 640, 761, 864, 1001, 1079, 2444, 2619, 20101, 20474, 20768, 20953, 30844, 41421, 41595,
              51125, 51580, 52636, 60185, 60468, 60539, 61242, 63808,
              63845, 63946, 64266, 65654, 67041, 67626, 68434, 74798, 76861,
              80034, 80333, 80805, 83521, 84636, 87229, 89241,
              101499, 102306, 104121, 104166, 105667]
MORE = range(10001, 10034)

try:
    run_numbers.load()
except ImportError as missing:
    print("skipped: %s" % missing)
    sys.exit(77)
seeds = ONCE_WRONG + list(MORE)
sys.exit(random_scenes.soak(seeds[::4] if random_scenes.SLOW else seeds, 2))
