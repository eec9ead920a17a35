/* turning.h - how a rigid body turns, by Runge and Kutta's rule of fourth order: what tests compare
 * time steps with. */
#ifndef CAIRN_TESTS_TURNING_H
#define CAIRN_TESTS_TURNING_H

#include "math/vec.h"

/* Angular velocity in the body's frame, and orientation; also their rates of change. */
typedef struct turning {
    cairn_vec3 w;
    cairn_quat q;
} turning;

/* J w' = torque - w x J w, q' = q (0, w)/2: the torque, in the body's frame, of an orientation. */
typedef cairn_vec3 turning_torque(cairn_quat q, cairn_vec3 given);

static inline turning turning_rate(turning s, cairn_vec3 J, turning_torque *torque,
                                   cairn_vec3 given)
{
    cairn_vec3 t = cairn_sub(torque(s.q, given), cairn_cross(s.w, cairn_times(J, s.w)));
    cairn_quat w = { 0, 0.5 * s.w.x, 0.5 * s.w.y, 0.5 * s.w.z };
    return (turning){ cairn_vec(t.x / J.x, t.y / J.y, t.z / J.z), cairn_quat_multiply(s.q, w) };
}

static inline turning turning_along(turning s, double h, turning k)
{
    s.w = cairn_add_scaled(s.w, h, k.w);
    s.q =
        (cairn_quat){ s.q.w + h * k.q.w, s.q.x + h * k.q.x, s.q.y + h * k.q.y, s.q.z + h * k.q.z };
    return s;
}

/* The orientation after so many steps of h. */
static inline cairn_quat turning_follow(turning s, cairn_vec3 J, turning_torque *torque,
                                        cairn_vec3 given, double h, int steps)
{
    for (int k = 0; k < steps; k++) {
        turning a = turning_rate(s, J, torque, given);
        turning b = turning_rate(turning_along(s, h / 2, a), J, torque, given);
        turning c = turning_rate(turning_along(s, h / 2, b), J, torque, given);
        turning d = turning_rate(turning_along(s, h, c), J, torque, given);
        s = turning_along(turning_along(s, h / 6, a), h / 3, b);
        s = turning_along(turning_along(s, h / 3, c), h / 6, d);
        s.q = cairn_quat_normalised(s.q);
    }
    return s.q;
}

#endif
