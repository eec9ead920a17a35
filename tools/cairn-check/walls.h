/* walls.h - how deep bodies are in walls: half-spaces, insides of boxes, cylinders and cones. */
#ifndef CHECK_WALLS_H
#define CHECK_WALLS_H

#include "convex.h"

enum { CHECK_PLANES = 6 }; /* of a wall, at most */

/* n.(p - origin of the wall) >= level for all points p that may be in it. */
typedef struct check_plane {
    vec n; /* unit */
    double level;
} check_plane;

/* The planes of a wall that is made of planes (half-space, inside of a box, in 2D a wedge),
 * turned by q; how many, 0: it is no such wall. */
int check_planes(const check_run *run, int wall, quat q, check_plane out[CHECK_PLANES]);
/* The inside of a cylinder or, in 3D, of a cone. */
bool check_is_round_wall(const check_run *run, int body);
/* Any of these, or a funnel. */
bool check_is_wall(const check_run *run, int body);
/* m: how deep body a, where it is, reaches through the plane of a wall; negative: it does not. */
double check_plane_depth(const check_run *run, int a, check_place_of at, vec wall,
                         const check_plane *plane);
/* m: the same of a round wall, where it is deepest. */
double check_round_depth(const check_run *run, int a, check_place_of at, int wall,
                         check_place_of at_wall);
/* m: how far above the lowest point of a body the contacts with a wall may end. */
double check_lowest_doubt(const check_run *run, int body);
/* m: how far above the deepest point in a round wall they may end. */
double check_round_doubt(const check_run *run, int body);

#endif
