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
#include "world/step.h"

enum { NEWTON_STEPS = 12, GRAIN = 1024 };

/* What only a look ahead needs may hold anything elsewhere. */
static cairn_status take_arrays(const cairn_step *step, cairn_free_motion *motion)
{
    cairn_arena *scratch = &step->world->scratch;
    size_t n = (size_t)step->world->bodies.count;
    cairn_vec3 **vectors[] = { &motion->v_free,    &motion->omega_free, &motion->gyroscopic,
                               &motion->x_next,    &motion->x_eval,     &motion->v_eval,
                               &motion->omega_eval };
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        *vectors[k] = cairn_arena_take(scratch, n, sizeof(cairn_vec3));
        if (!*vectors[k])
            return CAIRN_NO_MEMORY;
    }
    motion->force = (cairn_vec3 *)cairn_arena_doubles(scratch, 3 * n);
    motion->torque = (cairn_vec3 *)cairn_arena_doubles(scratch, 3 * n);
    motion->q_next = cairn_arena_take(scratch, n, sizeof *motion->q_next);
    motion->q_eval = cairn_arena_take(scratch, n, sizeof *motion->q_eval);
    motion->angle_next = cairn_arena_take(scratch, n, sizeof *motion->angle_next);
    bool complete =
        motion->force && motion->torque && motion->q_next && motion->q_eval && motion->angle_next;
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
static cairn_vec3 free_turning(const cairn_step *step, int i, cairn_vec3 T, cairn_vec3 *gyroscopic)
{
    const cairn_body_store *b = &step->world->bodies;
    cairn_vec3 J = b->inertia[i], omega = b->omega[i];
    *gyroscopic = cairn_vec(0, 0, 0);
    bool equal = step->world->dimension == 2 || (J.x == J.y && J.y == J.z);
    if (!equal)
        return turn_freely(J, omega, T, step->h, gyroscopic);
    return J.z > 0 ? cairn_add_scaled(omega, step->h / J.z, T) : omega;
}

cairn_vec3 cairn_body_mean_turning(const cairn_step *step, const cairn_free_motion *motion, int i,
                                   cairn_vec3 moment)
{
    cairn_vec3 omega = step->world->bodies.omega[i], G;
    cairn_vec3 next = free_turning(step, i, cairn_add(motion->torque[i], moment), &G);
    return cairn_is_finite(next) ? cairn_scale(0.5, cairn_add(omega, next)) : omega;
}

/* ---- before the solve ----------------------------------------------------------------------- */

static void drive(const cairn_step *step, int i, cairn_free_motion *motion)
{
    cairn_world *world = step->world;
    const cairn_body_store *b = &world->bodies;
    double h = step->h, angle = b->angle[i];
    cairn_vec3 x = b->x[i];
    cairn_quat q = b->q[i];
    cairn_driven_pose(world, i, world->time + h, &x, &q, &angle);
    motion->x_next[i] = x;
    motion->q_next[i] = q;
    motion->angle_next[i] = angle;
    motion->v_free[i] = cairn_scale(1 / h, cairn_sub(x, b->x[i]));
    cairn_quat turned = cairn_quat_multiply(cairn_quat_conjugate(b->q[i]), q);
    motion->omega_free[i] = world->dimension == 2 ? cairn_vec(0, 0, (angle - b->angle[i]) / h)
                                                  : cairn_scale(1 / h, cairn_quat_log(turned));
}

static void fly(const cairn_step *step, int i, cairn_free_motion *motion)
{
    const cairn_body_store *b = &step->world->bodies;
    cairn_vec3 pull = cairn_add_scaled(step->world->gravity, 1 / b->mass[i], motion->force[i]);
    motion->v_free[i] = cairn_add_scaled(b->v[i], step->h, pull);
    motion->omega_free[i] = free_turning(step, i, motion->torque[i], &motion->gyroscopic[i]);
}

/* Where contacts are evaluated: at the start of the step, or `ahead` s on with the velocity v^
 * (driven bodies: where they will be then). */
void cairn_body_place(const cairn_step *step, int i, double ahead, cairn_free_motion *motion)
{
    const cairn_body_store *b = &step->world->bodies;
    double angle = b->angle[i];
    motion->x_eval[i] = b->x[i];
    motion->q_eval[i] = b->q[i];
    if (ahead == 0)
        return;
    if (b->motion[i] == CAIRN_MOTION_DRIVEN) {
        cairn_driven_pose(step->world, i, step->world->time + ahead, &motion->x_eval[i],
                          &motion->q_eval[i], &angle);
    } else if (b->motion[i] == CAIRN_MOTION_DYNAMIC) {
        cairn_quat turn = cairn_quat_exp(cairn_scale(ahead, motion->omega_eval[i]));
        motion->x_eval[i] = cairn_add_scaled(b->x[i], ahead, motion->v_eval[i]);
        motion->q_eval[i] = cairn_quat_normalised(cairn_quat_multiply(b->q[i], turn));
    }
}

/* The first v^: the velocity now. A body that moves further than its size is looked at where it is,
 * lest it be found behind what it should hit; the next look is at the result. */
static void predict(const cairn_step *step, int i, cairn_free_motion *motion)
{
    const cairn_body_store *b = &step->world->bodies;
    bool again = step->linearisations > 1;
    bool far = again && step->h * cairn_norm(b->v[i]) > cairn_body_extent(step->world, i);
    motion->v_eval[i] = far ? cairn_vec(0, 0, 0) : b->v[i];
    motion->omega_eval[i] = b->omega[i];
}

typedef struct free_job {
    const cairn_step *step;
    cairn_free_motion *motion;
} free_job;

static void free_range(int begin, int end, void *context)
{
    const free_job *job = context;
    const cairn_step *step = job->step;
    cairn_free_motion *motion = job->motion;
    const cairn_body_store *b = &step->world->bodies;
    double ahead = step->h * cairn_scheme_ahead(step->scheme, step->linearisations);
    for (int i = begin; i < end; i++) {
        motion->v_free[i] = motion->omega_free[i] = motion->gyroscopic[i] = cairn_vec(0, 0, 0);
        if (ahead != 0 || step->linearisations)
            predict(step, i, motion);
        cairn_body_place(step, i, ahead, motion);
        if (cairn_step_block(step, i) >= 0)
            fly(step, i, motion);
        else if (b->motion[i] == CAIRN_MOTION_DRIVEN)
            drive(step, i, motion);
    }
}

cairn_status cairn_step_free_motion(const cairn_step *step, cairn_free_motion *motion)
{
    cairn_world *world = step->world;
    free_job job = { step, motion };
    TRY(take_arrays(step, motion));
    TRY(cairn_loads_at(world, 0.5 * step->h, motion->force, motion->torque));
    cairn_parallel_for(world->bodies.count, GRAIN, free_range, &job);
    return cairn_step_check_free_motion(step, motion);
}

/* ---- after the solve ------------------------------------------------------------------------ */

cairn_vec3 cairn_block_turning(const cairn_step *step, const cairn_balls *balls, int i,
                               const double *x)
{
    x += (size_t)cairn_step_block(step, i) * (size_t)step->block_size;
    if (step->world->dimension == 2)
        return cairn_vec(0, 0, x[2]);
    cairn_vec3 omega = cairn_vec(x[3], x[4], x[5]);
    bool turned = cairn_balls_hold(balls, cairn_step_block(step, i));
    return turned ? cairn_rotate_back(step->world->bodies.q[i], omega) : omega;
}

cairn_vec3 cairn_block_moving(const cairn_step *step, int i, const double *x)
{
    x += (size_t)cairn_step_block(step, i) * (size_t)step->block_size;
    return cairn_vec(x[0], x[1], step->world->dimension == 2 ? 0 : x[2]);
}

void cairn_answer_velocity(const cairn_step *step, const cairn_answer *answer, int i, cairn_vec3 *v,
                           cairn_vec3 *omega)
{
    *v = cairn_block_moving(step, i, answer->v);
    *omega = cairn_block_turning(step, &answer->balls, i, answer->v);
}

/* x += h v, orientation by the exponential map, freely, or both with the mean velocities of what
 * swings: where a dynamic body will be. */
void cairn_body_arrive(const cairn_step *step, const cairn_free_motion *motion,
                       const cairn_body_end *end, cairn_arrival *arrival)
{
    const cairn_body_store *b = &step->world->bodies;
    int i = end->body;
    cairn_vec3 v = end->v[0], omega = end->v[1];
    bool freely = cairn_body_turns_freely(step, motion, arrival->pushed, i);
    double h = step->h;
    if (end->swings) {
        v = cairn_scale(0.5, cairn_add(b->v[i], v));
        omega = cairn_scale(0.5, cairn_add(b->omega[i], omega));
    }
    arrival->x[i] = cairn_add_scaled(b->x[i], h, v);
    arrival->angle[i] = b->angle[i];
    if (step->world->dimension == 2) {
        arrival->angle[i] += h * (freely ? 0.5 * (b->omega[i].z + omega.z) : omega.z);
        arrival->q[i] = cairn_quat_in_plane(arrival->angle[i]);
    } else {
        cairn_quat turn = freely ? cairn_free_turn(b->inertia[i], b->omega[i], omega, h)
                                 : cairn_quat_exp(cairn_scale(h, omega));
        arrival->q[i] = cairn_quat_normalised(cairn_quat_multiply(b->q[i], turn));
    }
}

typedef struct commit_job {
    const cairn_step *step;
    const cairn_free_motion *motion;
    const cairn_answer *answer;
    const cairn_arrival *arrival;
} commit_job;

static void commit_body(const commit_job *job, int i)
{
    cairn_body_store *b = &job->step->world->bodies;
    const cairn_rest *rest = &job->answer->rest;
    bool dynamic = b->motion[i] == CAIRN_MOTION_DYNAMIC;
    b->v[i] = job->motion->v_free[i];
    b->omega[i] = job->motion->omega_free[i];
    if (dynamic) {
        cairn_answer_velocity(job->step, job->answer, i, &b->v[i], &b->omega[i]);
        b->asleep[i] = rest->asleep ? rest->asleep[i] : 0;
        b->calm[i] = rest->calm ? rest->calm[i] : 0;
    }
    b->x[i] = job->arrival->x[i];
    b->q[i] = job->arrival->q[i];
    b->angle[i] = job->arrival->angle[i];
}

/* Time as start + steps * h, so that many equal steps do not add up rounding. */
static void advance_clock(cairn_world *world, double h)
{
    if (h != world->clock.step) {
        world->clock.start = world->time;
        world->clock.step = h;
        world->clock.count = 0;
    }
    world->clock.count++;
    world->time = world->clock.start + (double)world->clock.count * h;
}

static void commit_range(int begin, int end, void *context)
{
    const commit_job *job = context;
    const cairn_body_store *b = &job->step->world->bodies;
    for (int i = begin; i < end; i++)
        if (b->motion[i] != CAIRN_MOTION_FIXED)
            commit_body(job, i);
}

void cairn_step_commit(const cairn_step *step, const cairn_free_motion *motion,
                       const cairn_answer *answer, const cairn_arrival *arrival)
{
    commit_job job = { step, motion, answer, arrival };
    cairn_parallel_for(step->world->bodies.count, GRAIN, commit_range, &job);
    advance_clock(step->world, step->h);
}
