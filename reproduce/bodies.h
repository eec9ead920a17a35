/* bodies.h - worlds of the papers: one material, balls or disks, walls, a step that must hold. */
#ifndef CAIRN_REPRODUCE_BODIES_H
#define CAIRN_REPRODUCE_BODIES_H

#include "cairn/cairn.h"

/* A world with one material without restitution. */
cairn_status cairn_plain_world(int dimension, cairn_vec3 gravity, double mu, cairn_world **out);

/* What is added to it. */
typedef struct cairn_ball {
    double radius, mass;
    double inertia; /* kg m^2; 0: of a solid ball or disk */
    cairn_vec3 x, v;
} cairn_ball;

cairn_status cairn_add_ball(cairn_world *world, const cairn_ball *ball);
/* A fixed half-space through x with the outward normal. */
cairn_status cairn_add_wall(cairn_world *world, cairn_vec3 normal, cairn_vec3 x);

/* One step; CAIRN_STOPPED when it missed its tolerance. */
cairn_status cairn_solved_step(cairn_world *world, const cairn_step_options *options,
                               cairn_step_report *report);

#endif
