/* integrate.c - motion without contact before the solve, and the new state after it.
 *
 * v_free = v + h (g + F/m). Turning: J (w+ - w)/h = T - wm x J wm with wm = (w + w+)/2, the
 * implicit midpoint rule, which keeps the energy of a free body; equal moments need no iteration.
 * Positions: x += h v; orientation by the exponential map of h w, or as free_turn.c says where
 * nothing pushes a body. Loads count at mid-step. */
#include <math.h>

#include "base/parallel.h"
#include "base/status.h"
#include "math/vec.h"
#include "world/scheme.h"

enum { NEWTON_STEPS = 12, GRAIN = 1024 };

/* What only a look ahead needs may hold anything elsewhere. */
static cairn_status take_arrays(cairn_stage *stage)
{
    cairn_arena *scratch = &stage->world->scratch;
    size_t n = (size_t)stage->world->bodies.count;
    cairn_vec3 **vectors[] = { &stage->v_free,    &stage->omega_free, &stage->gyroscopic,
                               &stage->x_next,    &stage->x_eval,     &stage->v_eval,
                               &stage->omega_eval };
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        *vectors[k] = cairn_arena_take(scratch, n, sizeof(cairn_vec3));
        if (!*vectors[k])
            return CAIRN_NO_MEMORY;
    }
    stage->force = (cairn_vec3 *)cairn_arena_doubles(scratch, 3 * n);
    stage->torque = (cairn_vec3 *)cairn_arena_doubles(scratch, 3 * n);
    stage->q_next = cairn_arena_take(scratch, n, sizeof *stage->q_next);
    stage->q_eval = cairn_arena_take(scratch, n, sizeof *stage->q_eval);
    stage->angle_next = cairn_arena_take(scratch, n, sizeof *stage->angle_next);
    bool complete =
        stage->force && stage->torque && stage->q_next && stage->q_eval && stage->angle_next;
    return complete ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* ---- turning -------------------------------------------------------------------------------- */

static cairn_vec3 gyroscopic_torque(cairn_vec3 J, cairn_vec3 omega)
{
    return cairn_scale(-1, cairn_cross(omega, cairn_times(J, omega)));
}

/* Solve A x = b for a 3x3 matrix given by columns. */
static cairn_vec3 solve_columns(const cairn_vec3 A[3], cairn_vec3 b)
{
    double determinant = cairn_dot(A[0], cairn_cross(A[1], A[2]));
    return cairn_scale(1 / determinant, cairn_vec(cairn_dot(b, cairn_cross(A[1], A[2])),
                                                  cairn_dot(A[0], cairn_cross(b, A[2])),
                                                  cairn_dot(A[0], cairn_cross(A[1], b))));
}

/* Newton on f(w+) = J (w+ - w) - h (T - wm x J wm). A body that turns by several radians in the
 * step has several such w+, or Newton finds none: then it is not a number, and the step is
 * refused. */
static cairn_vec3 turn_freely(cairn_vec3 J, cairn_vec3 omega, cairn_vec3 torque, double h,
                              cairn_vec3 *gyroscopic)
{
    cairn_vec3 next = omega, middle = omega;
    double last = INFINITY;
    for (int k = 0; k < NEWTON_STEPS; k++) {
        middle = cairn_scale(0.5, cairn_add(omega, next));
        cairn_vec3 total = cairn_add(torque, gyroscopic_torque(J, middle));
        cairn_vec3 f = cairn_add_scaled(cairn_times(J, cairn_sub(next, omega)), -h, total);
        /* df/dw+ = J + h/2 ([wm]x J - [J wm]x), column by column */
        cairn_vec3 Jm = cairn_times(J, middle), columns[3];
        const cairn_vec3 units[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
        for (int i = 0; i < 3; i++) {
            cairn_vec3 Je = cairn_times(J, units[i]);
            cairn_vec3 c = cairn_sub(cairn_cross(middle, Je), cairn_cross(Jm, units[i]));
            columns[i] = cairn_add_scaled(Je, 0.5 * h, c);
        }
        cairn_vec3 change = solve_columns(columns, f);
        next = cairn_sub(next, change);
        last = cairn_norm(change);
        if (last <= 1e-15 * cairn_norm(next))
            break;
    }
    if (!(last <= 1e-10 * cairn_norm(next)))
        next = cairn_vec(NAN, NAN, NAN);
    middle = cairn_scale(0.5, cairn_add(omega, next));
    *gyroscopic = gyroscopic_torque(J, middle);
    return next;
}

/* The angular velocity after the step with a torque T, body frame; not a number: there is none. */
static cairn_vec3 free_turning(const cairn_stage *stage, int i, cairn_vec3 T,
                               cairn_vec3 *gyroscopic)
{
    const cairn_body_store *b = &stage->world->bodies;
    cairn_vec3 J = b->inertia[i], omega = b->omega[i];
    *gyroscopic = cairn_vec(0, 0, 0);
    bool equal = stage->world->dimension == 2 || (J.x == J.y && J.y == J.z);
    if (!equal)
        return turn_freely(J, omega, T, stage->h, gyroscopic);
    return J.z > 0 ? cairn_add_scaled(omega, stage->h / J.z, T) : omega;
}

cairn_vec3 cairn_stage_mean_turning(const cairn_stage *stage, int i, cairn_vec3 moment)
{
    cairn_vec3 omega = stage->world->bodies.omega[i], G;
    cairn_vec3 next = free_turning(stage, i, cairn_add(stage->torque[i], moment), &G);
    return cairn_is_finite(next) ? cairn_scale(0.5, cairn_add(omega, next)) : omega;
}

/* ---- before the solve ----------------------------------------------------------------------- */

static void drive(cairn_stage *stage, int i)
{
    cairn_world *world = stage->world;
    const cairn_body_store *b = &world->bodies;
    double h = stage->h, angle = b->angle[i];
    cairn_vec3 x = b->x[i];
    cairn_quat q = b->q[i];
    cairn_driven_pose(world, i, world->time + h, &x, &q, &angle);
    stage->x_next[i] = x;
    stage->q_next[i] = q;
    stage->angle_next[i] = angle;
    stage->v_free[i] = cairn_scale(1 / h, cairn_sub(x, b->x[i]));
    cairn_quat turned = cairn_quat_multiply(cairn_quat_conjugate(b->q[i]), q);
    stage->omega_free[i] = world->dimension == 2 ? cairn_vec(0, 0, (angle - b->angle[i]) / h)
                                                 : cairn_scale(1 / h, cairn_quat_log(turned));
}

static void fly(cairn_stage *stage, int i)
{
    const cairn_body_store *b = &stage->world->bodies;
    cairn_vec3 pull = cairn_add_scaled(stage->world->gravity, 1 / b->mass[i], stage->force[i]);
    stage->v_free[i] = cairn_add_scaled(b->v[i], stage->h, pull);
    stage->omega_free[i] = free_turning(stage, i, stage->torque[i], &stage->gyroscopic[i]);
}

/* Where contacts are evaluated: at the start of the step, or `ahead` s on with the velocity v^
 * (driven bodies: where they will be then). */
void cairn_stage_place(cairn_stage *stage, int i, double ahead)
{
    const cairn_body_store *b = &stage->world->bodies;
    double angle = b->angle[i];
    stage->x_eval[i] = b->x[i];
    stage->q_eval[i] = b->q[i];
    if (ahead == 0 || !b->alive[i])
        return;
    if (b->motion[i] == CAIRN_MOTION_DRIVEN) {
        cairn_driven_pose(stage->world, i, stage->world->time + ahead, &stage->x_eval[i],
                          &stage->q_eval[i], &angle);
    } else if (b->motion[i] == CAIRN_MOTION_DYNAMIC) {
        cairn_quat turn = cairn_quat_exp(cairn_scale(ahead, stage->omega_eval[i]));
        stage->x_eval[i] = cairn_add_scaled(b->x[i], ahead, stage->v_eval[i]);
        stage->q_eval[i] = cairn_quat_normalised(cairn_quat_multiply(b->q[i], turn));
    }
}

/* The first v^: the velocity now. A body that moves further than its size is looked at where it is,
 * lest it be found behind what it should hit; the next look is at the result. */
static void predict(cairn_stage *stage, int i)
{
    const cairn_body_store *b = &stage->world->bodies;
    bool again = stage->linearisations > 1 && b->alive[i];
    bool far = again && stage->h * cairn_norm(b->v[i]) > cairn_body_extent(stage->world, i);
    stage->v_eval[i] = far ? cairn_vec(0, 0, 0) : b->v[i];
    stage->omega_eval[i] = b->omega[i];
}

static void free_range(int begin, int end, void *context)
{
    cairn_stage *stage = context;
    const cairn_body_store *b = &stage->world->bodies;
    double ahead = stage->h * cairn_scheme_ahead(stage->scheme, stage->linearisations);
    for (int i = begin; i < end; i++) {
        stage->v_free[i] = stage->omega_free[i] = stage->gyroscopic[i] = cairn_vec(0, 0, 0);
        if (ahead != 0 || stage->linearisations)
            predict(stage, i);
        cairn_stage_place(stage, i, ahead);
        if (stage->block[i] >= 0)
            fly(stage, i);
        else if (b->alive[i] && b->motion[i] == CAIRN_MOTION_DRIVEN)
            drive(stage, i);
    }
}

cairn_status cairn_stage_free_motion(cairn_stage *stage)
{
    cairn_world *world = stage->world;
    const cairn_body_store *b = &world->bodies;
    TRY(take_arrays(stage));
    cairn_loads_at(world, 0.5 * stage->h, stage->force, stage->torque);
    TRY(cairn_stage_number_blocks(stage));
    cairn_parallel_for(b->count, GRAIN, free_range, stage);
    return cairn_stage_check_free_motion(stage);
}

/* ---- after the solve ------------------------------------------------------------------------ */

cairn_vec3 cairn_stage_turning(const cairn_stage *stage, int i, const double *x)
{
    x += (size_t)stage->block[i] * (size_t)stage->block_size;
    if (stage->world->dimension == 2)
        return cairn_vec(0, 0, x[2]);
    cairn_vec3 omega = cairn_vec(x[3], x[4], x[5]);
    bool turned = cairn_stage_in_space(stage, i);
    return turned ? cairn_rotate_back(stage->world->bodies.q[i], omega) : omega;
}

cairn_vec3 cairn_stage_moving(const cairn_stage *stage, int i, const double *x)
{
    x += (size_t)stage->block[i] * (size_t)stage->block_size;
    return cairn_vec(x[0], x[1], stage->world->dimension == 2 ? 0 : x[2]);
}

/* The velocity of a dynamic body out of the problem's. */
void cairn_stage_new_velocity(const cairn_stage *stage, int i, cairn_vec3 *v, cairn_vec3 *omega)
{
    *v = cairn_stage_moving(stage, i, stage->v);
    *omega = cairn_stage_turning(stage, i, stage->v);
}

/* x += h v, orientation by the exponential map, freely, or both with the mean velocities of what
 * swings: where a dynamic body will be. */
void cairn_stage_arrive(cairn_stage *stage, int i, cairn_vec3 v, cairn_vec3 omega)
{
    const cairn_body_store *b = &stage->world->bodies;
    bool freely = cairn_stage_turns_freely(stage, i);
    double h = stage->h;
    if (cairn_stage_swings(stage, i)) {
        v = cairn_scale(0.5, cairn_add(b->v[i], v));
        omega = cairn_scale(0.5, cairn_add(b->omega[i], omega));
    }
    stage->x_next[i] = cairn_add_scaled(b->x[i], h, v);
    stage->angle_next[i] = b->angle[i];
    if (stage->world->dimension == 2) {
        stage->angle_next[i] += h * (freely ? 0.5 * (b->omega[i].z + omega.z) : omega.z);
        stage->q_next[i] = cairn_quat_in_plane(stage->angle_next[i]);
    } else {
        cairn_quat turn = freely ? cairn_free_turn(b->inertia[i], b->omega[i], omega, h)
                                 : cairn_quat_exp(cairn_scale(h, omega));
        stage->q_next[i] = cairn_quat_normalised(cairn_quat_multiply(b->q[i], turn));
    }
}

static void commit_body(cairn_stage *stage, int i)
{
    cairn_body_store *b = &stage->world->bodies;
    bool dynamic = b->motion[i] == CAIRN_MOTION_DYNAMIC;
    b->v[i] = stage->v_free[i];
    b->omega[i] = stage->omega_free[i];
    if (dynamic) {
        cairn_stage_new_velocity(stage, i, &b->v[i], &b->omega[i]);
        b->asleep[i] = stage->asleep ? stage->asleep[i] : 0;
        b->calm[i] = stage->calm ? stage->calm[i] : 0;
    }
    b->x[i] = stage->x_next[i];
    b->q[i] = stage->q_next[i];
    b->angle[i] = stage->angle_next[i];
}

/* Time as start + steps * h, so that many equal steps do not add up rounding. */
static void advance_clock(cairn_world *world, double h)
{
    if (h != world->clock_step) {
        world->clock_start = world->time;
        world->clock_step = h;
        world->clock_count = 0;
    }
    world->clock_count++;
    world->time = world->clock_start + (double)world->clock_count * h;
}

static void commit_range(int begin, int end, void *context)
{
    cairn_stage *stage = context;
    const cairn_body_store *b = &stage->world->bodies;
    for (int i = begin; i < end; i++) {
        cairn_stage_ask_for(stage, i + CAIRN_AHEAD, stage->v);
        if (b->alive[i] && b->motion[i] != CAIRN_MOTION_FIXED)
            commit_body(stage, i);
    }
}

void cairn_stage_commit(cairn_stage *stage)
{
    cairn_parallel_for(stage->world->bodies.count, GRAIN, commit_range, stage);
    advance_clock(stage->world, stage->h);
}
