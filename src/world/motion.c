/* motion.c - the motion that a step would produce, examined before anything is changed: its entries
 * in the energy ledger, the new poses, and whether all of it is finite.
 *
 * A number that is not finite spoils everything computed from it, and is easily overlooked: a
 * comparison with NaN is false, and a ratio of infinities can pass any test. So a step that
 * produces one fails at once, and the world stays as it was. Squares must be finite too, because
 * energies and distances consist of them. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/parallel.h"
#include "math/vec.h"
#include "world/step.h"

enum { GRAIN = 1024 }; /* bodies in one range of the reduction */

/* Sums and extremes over one range of bodies. */
typedef struct tally {
    cairn_energy added;
    double energy;  /* J: kinetic energy plus |potential energy| after the step          */
    double most;    /* J: largest energy of one body; not finite: too large for a number */
    long long body; /* uid of that body; -1: no body was counted                         */
    double longest; /* m: the longest motion of a point of any body                      */
    double least;   /* m: the smallest radius of the dynamic bodies                      */
} tally;

static const tally nothing = { .body = -1, .least = INFINITY };

/* The energy of a body with velocities v, omega at x; not finite if one of these, or its square, is
 * not. The absolute potential is added so that it cannot cancel the kinetic energy. */
static double energy_of(const cairn_world *world, int i, cairn_vec3 x, const cairn_vec3 v[2])
{
    double potential = world->bodies.mass[i] * cairn_dot(world->gravity, x);
    double energy = cairn_body_kinetic(world, i, v[0], v[1]) + fabs(potential);
    return isfinite(cairn_dot(x, x)) ? energy : INFINITY;
}

/* The first body that is not finite stays in the tally, so that the message names it; !(<=) also
 * catches NaN. */
static void count_body(tally *t, long long uid, double energy)
{
    t->energy += energy;
    if (t->body < 0 || (isfinite(t->most) && !(energy <= t->most))) {
        t->most = energy;
        t->body = uid;
    }
}

/* A length whose square may overflow; it appears only in messages. */
static double length_of(cairn_vec3 a)
{
    return hypot(hypot(a.x, a.y), a.z);
}

static cairn_status refuse_speed(const cairn_step *step, int i, cairn_vec3 v, cairn_vec3 omega)
{
    return cairn_fail(
        &step->world->error, CAIRN_NOT_FINITE, NULL,
        "body %lld would get a velocity of %g m/s and %g rad/s: its energy is too large "
        "for a number",
        cairn_row_uid(step->world, i), length_of(v), length_of(omega));
}

/* Joins two tallies. count_body adds the energy of the named body, so the sum is set afterwards. */
static void add_tally(void *result, const void *value)
{
    tally *all = result;
    const tally *t = value;
    cairn_energy_add_up(&t->added, 1, &all->added);
    all->longest = fmax(all->longest, t->longest);
    all->least = fmin(all->least, t->least);
    if (t->body < 0)
        return;
    double before = all->energy;
    count_body(all, t->body, t->most);
    all->energy = before + t->energy;
}

/* Reduces over ranges in a fixed order, and adds the energy entries to the report. */
static cairn_status tally_bodies(const cairn_step *step, cairn_value_fn *count, void *context,
                                 tally *out)
{
    const cairn_reduction of_bodies = { .count = step->world->bodies.count,
                                        .grain = GRAIN,
                                        .parted = cairn_world_parted(step->world),
                                        .work = count,
                                        .join = add_tally,
                                        .context = context,
                                        .neutral = &nothing,
                                        .size = sizeof nothing };
    *out = nothing;
    TRY(cairn_arena_reduce(&step->world->scratch, &of_bodies, out));
    cairn_energy_add_up(&out->added, 1, &step->report->energy);
    return CAIRN_OK;
}

/* The row of the body of a tally; -1 if another member has it. */
static int row_of(const cairn_step *step, const tally *t)
{
    return cairn_directory_find(&step->world->bodies.directory, (uint64_t)t->body);
}

/* The message of members that do not have the body and cannot name its velocity. */
static cairn_status refuse_energy(const cairn_step *step, const tally *t)
{
    return cairn_fail(&step->world->error, CAIRN_NOT_FINITE, NULL,
                      "the energy of body %lld would be too large for a number", t->body);
}

/* ---- before contacts are looked for --------------------------------------------------------- */

typedef struct free_job {
    const cairn_step *step;
    const cairn_free_motion *motion;
} free_job;

/* Checks the free motion: a position, velocity or energy that overflows is found before collision
 * detection uses it. */
static void free_range(int begin, int end, void *context, void *value)
{
    const free_job *job = context;
    const cairn_step *step = job->step;
    const cairn_free_motion *motion = job->motion;
    const cairn_body_store *b = &step->world->bodies;
    tally *t = value;
    for (int i = begin; i < end; i++) {
        const cairn_vec3 v[2] = { motion->v_free[i], motion->omega_free[i] };
        if (b->motion[i] != CAIRN_MOTION_FIXED)
            count_body(t, cairn_row_uid(step->world, i),
                       energy_of(step->world, i, cairn_add_scaled(b->x[i], step->h, v[0]), v));
    }
}

/* The implicit midpoint rule of integrate.c found no rotation and returned NaN. It always converges
 * for half a radian per step, hence the recommended time step. */
static cairn_status refuse_turning(const cairn_step *step, const cairn_free_motion *motion, int i)
{
    const cairn_body_store *b = &step->world->bodies;
    cairn_vec3 J = b->inertia[i];
    double least = cairn_smaller(J.x, cairn_smaller(J.y, J.z));
    double fast = cairn_norm(b->omega[i]) + step->h * cairn_norm(motion->torque[i]) / least;
    if (!isfinite(fast)) /* of a force function */
        return cairn_fail(&step->world->error, CAIRN_NOT_FINITE, "torque",
                          "the torque on body %lld is not a finite number",
                          cairn_row_uid(step->world, i));
    step->world->exchange.long_here = true;
    return cairn_fail(&step->world->error, CAIRN_BAD_INPUT, "run.time_step",
                      "body %lld turns too far in one step of %g s, by about %.2g rad, expected at "
                      "most %.2g s",
                      cairn_row_uid(step->world, i), step->h, step->h * fast, 0.5 / fast);
}

/* The status of members that do not have the body that turns too far. */
static cairn_status wait_for_owner(const cairn_step *step, const tally *t)
{
    step->world->exchange.long_here = true;
    return cairn_fail(&step->world->error, CAIRN_BAD_INPUT, "run.time_step",
                      "body %lld turns too far in one step of %g s", t->body, step->h);
}

cairn_status cairn_step_check_free_motion(const cairn_step *step, const cairn_free_motion *motion)
{
    free_job job = { step, motion };
    tally all;
    TRY(tally_bodies(step, free_range, &job, &all));
    if (isfinite(all.energy))
        return CAIRN_OK;
    /* all members come here, and those that do not have the body wait for its owner to say whether
     * a shorter step would help */
    int body = row_of(step, &all);
    bool turning = body >= 0 && isnan(motion->omega_free[body].x);
    bool anywhere = cairn_link_any(step->world->exchange.link, turning);
    if (turning)
        return refuse_turning(step, motion, body);
    if (anywhere)
        return wait_for_owner(step, &all);
    if (body < 0)
        return refuse_energy(step, &all);
    return refuse_speed(step, body, motion->v_free[body], motion->omega_free[body]);
}

/* ---- before the new state ------------------------------------------------------------------- */

/* Bound on the motion of the points of a body with these velocities. */
static void count_way(const cairn_step *step, int i, const cairn_vec3 v[2], tally *t)
{
    double arm = cairn_body_arm(step->world, i), turning = cairn_norm(v[1]);
    double speed = cairn_norm(v[0]) + (turning > 0 && arm > 0 ? arm * turning : 0);
    t->longest = cairn_larger(t->longest, step->h * speed);
}

/* Everything that the end of a body depends on. */
typedef struct end_job {
    const cairn_step *step;
    const cairn_free_motion *motion;
    const cairn_mechanism *joints;
    const cairn_answer *answer;
    cairn_arrival *arrival;
} end_job;

/* The velocities with which a body ends the step, and the rule that moves it. */
static void find_end(const end_job *job, int i, cairn_body_end *end)
{
    end->body = i;
    end->swings = cairn_mechanism_swings(job->joints, i);
    end->swing = end->swings ? &job->joints->swing[i] : NULL;
    end->behind = job->answer->impacts.behind;
    cairn_answer_velocity(job->step, job->answer, i, &end->v[0], &end->v[1]);
}

/* New pose, energy and motion of one dynamic body, in one pass over the data. */
static void end_dynamic(const end_job *job, int i, tally *t)
{
    const cairn_step *step = job->step;
    cairn_body_end end;
    find_end(job, i, &end);
    cairn_body_arrive(step, job->motion, &end, job->arrival);
    cairn_energy_add_body(step, job->motion, &end, &t->added);
    count_body(t, cairn_row_uid(step->world, i),
               energy_of(step->world, i, job->arrival->x[i], end.v));
    count_way(step, i, end.v, t);
    t->least = cairn_smaller(t->least, step->world->bodies.extent[i]);
}

/* Driven bodies have their new poses already, in the same arrays; fixed ones keep theirs. */
static void end_range(int begin, int end, void *context, void *value)
{
    const end_job *job = context;
    const cairn_step *step = job->step;
    const cairn_body_store *b = &step->world->bodies;
    tally *t = value;
    for (int i = begin; i < end; i++) {
        if (cairn_step_block(step, i) >= 0) {
            end_dynamic(job, i, t);
        } else if (b->motion[i] == CAIRN_MOTION_DRIVEN) {
            const cairn_vec3 v[2] = { job->motion->v_free[i], job->motion->omega_free[i] };
            count_way(step, i, v, t);
        } else {
            job->arrival->x[i] = b->x[i];
            job->arrival->q[i] = b->q[i];
        }
    }
}

/* A sum is not finite if any of its terms is not. */
bool cairn_energy_is_finite(const cairn_energy *e)
{
    return isfinite(e->load_work + e->driver_work + e->motor_work + e->friction_loss +
                    e->impact_loss + e->damping_loss + e->numerical_loss + e->sleep_loss);
}

cairn_status cairn_step_arrive(const cairn_step *step, const cairn_free_motion *motion,
                               const cairn_mechanism *joints, const cairn_answer *answer,
                               cairn_arrival *arrival)
{
    end_job job = { step, motion, joints, answer, arrival };
    tally all;
    *arrival = (cairn_arrival){ motion->x_next, motion->q_next, motion->angle_next,
                                cairn_lattice_ahead(&step->world->periodic.cell, step->h) };
    TRY(cairn_joints_energy(step, motion, joints, answer));
    TRY(cairn_step_find_pushed(step, motion, answer, arrival));
    TRY(tally_bodies(step, end_range, &job, &all));
    /* two bodies move at most twice the longest motion relative to each other; images also move
     * with the edges of the cell */
    double drift = 0;
    for (int i = 0; i < 3; i++)
        drift += step->h * cairn_norm(step->world->periodic.cell.rate[i]);
    arrival->far = 2 * all.longest + drift > all.least;
    if (!isfinite(all.energy)) {
        cairn_vec3 v, omega;
        int body = row_of(step, &all);
        if (body < 0)
            return refuse_energy(step, &all);
        cairn_answer_velocity(step, answer, body, &v, &omega);
        return refuse_speed(step, body, v, omega);
    }
    if (cairn_energy_is_finite(&step->report->energy))
        return CAIRN_OK;
    return cairn_fail(&step->world->error, CAIRN_NOT_FINITE, NULL,
                      "the work of this step is too large for a number");
}
