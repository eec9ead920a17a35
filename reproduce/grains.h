/* grains.h - many balls or disks: the scenes of [BL23] 3.3 and the shaken boxes of [A06], [A05]. */
#ifndef CAIRN_REPRODUCE_GRAINS_H
#define CAIRN_REPRODUCE_GRAINS_H

#include "cairn/cairn.h"

/* [BL23] 3.3.1: n^3 spheres on a jittered grid in an open box of side 10, gravity 1. The walls come
 * first. */
cairn_status cairn_grains_box(int n, cairn_world **out);

enum { BOX_WALLS = 5 };

/* Its time step: no sphere moves more than 20 % of 0.9 of the mean radius. */
double cairn_grains_box_step(int n);

/* [BL23] 3.3.2: n^dimension equal balls or disks on a grid of width 10 over a plane, the lowest
 * layer shifted by half a radius, gravity 1. The plane comes first. */
cairn_status cairn_grains_column(int dimension, int n, double mu, cairn_world **out);
double cairn_grains_column_radius(int n);
/* Nothing moves more than 10 % of a radius in it. */
double cairn_grains_column_step(int n);

/* [BL23] 3.3.3: ten by ten ellipses, vertical semi-axis 0.45, the other between 0.22 and 0.68, over
 * a floor of fixed disks of radius 0.045, which come first; gravity 5, no friction. */
cairn_status cairn_grains_ellipses(cairn_world **out);

enum { ELLIPSE_GLUED = 601, ELLIPSES = 100 };

/* A box of disks, shaken up and down; one disk at the middle of its floor has a size of its own. */
typedef struct cairn_nut_box {
    double width, amplitude, period; /* m, m, s                                        */
    double settle;                   /* s before the shaking                           */
    int disks;                       /* small ones, radius 0.5 (1 +- 0.1)              */
    double big;                      /* m: radius of the other                         */
    double restitution;              /* of every impact                                */
    uint64_t seed;
} cairn_nut_box;

/* The three walls come first, then the big disk. */
cairn_status cairn_grains_nut(const cairn_nut_box *box, cairn_world **out);

enum { NUT_WALLS = 3, NUT_BIG = 3 };

/* Small disks whose centre is above that of the big one. */
int cairn_grains_above(const cairn_world *world);

#endif
