/* rounded.h - what a ball adds to a convex hull that it sweeps. */
#ifndef CAIRN_SHAPE_ROUNDED_H
#define CAIRN_SHAPE_ROUNDED_H

#include "shape/moments.h"

/* Add to the moments of a hull those of everything within `radius` outside it. */
void cairn_rounded_add(const cairn_geometry_view *hull, double radius, cairn_moments *sum);

#endif
