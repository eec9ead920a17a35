/* four_balls.h - [ST96] 4: a thrown ball lands, rolls and hits a row of three. */
#ifndef CAIRN_REPRODUCE_FOUR_BALLS_H
#define CAIRN_REPRODUCE_FOUR_BALLS_H

#include "cairn/cairn.h"

enum { BALLS = 4, BALL_COMPONENTS = 6 * BALLS, BALL_STEPS = 800 };

/* One run to t = 1: of each ball 3 linear and 3 angular components in the world frame. */
typedef struct cairn_throw {
    int steps;
    double v[BALL_STEPS + 1][BALL_COMPONENTS];
    double q[BALL_STEPS + 1][BALL_COMPONENTS]; /* angles: the angular velocities summed up       */
    double table, collision;        /* s: start of the step that first has an impulse             */
    double penetration;             /* m: deepest                                                 */
    double rise;                    /* J: largest rise of energy in a step                        */
    int linearisations, candidates; /* most of a step                                             */
} cairn_throw;

/* Throw in `steps` steps, at most BALL_STEPS. */
cairn_status cairn_balls_throw(int steps, cairn_throw *out);

/* The largest total variation of a component of the velocity. */
double cairn_throw_variation(const cairn_throw *t);

/* Integral of |v - v_fine|, velocities being constant in a step; largest |q - q_fine|. */
void cairn_throw_compare(const cairn_throw *t, const cairn_throw *fine, double *velocity,
                         double *position);

#endif
