/* motion.c - what bodies are about to do in a step, looked at before anything is changed: what they
 * add to the energy ledger, where they will be, and whether all of it can be written as numbers.
 *
 * A number that is not finite spoils everything after it, and hides: a comparison with NaN is
 * false, and a ratio of infinities is judged as anything. So a step ends where it makes one, with
 * the world as it was. Squares count: energies and distances are made of them. */
#include <math.h>

#include "base/parallel.h"
#include "base/status.h"
#include "math/vec.h"
#include "world/step.h"

enum { GRAIN = 1024 };

/* What the bodies of one range do. */
typedef struct tally {
    cairn_energy added;
    double energy;  /* J: kinetic, and the size of the potential, after the step          */
    double most;    /* J: the most that one of them has; not finite: too much for a number */
    int body;       /* which; -1: none has any                                             */
    double longest; /* m: the longest way of a point of one of them                       */
    double least;   /* m: the smallest radius of those that are dynamic                   */
} tally;

static const tally nothing = { .body = -1, .least = INFINITY };

/* How much energy a body has with velocities v, omega when it gets to x; not finite where one of
 * these, or its square, is not. */
static double energy_of(const cairn_world *world, int i, cairn_vec3 x, const cairn_vec3 v[2])
{
    double potential = world->bodies.mass[i] * cairn_dot(world->gravity, x);
    double energy = cairn_body_kinetic(world, i, v[0], v[1]) + fabs(potential);
    return isfinite(cairn_dot(x, x)) ? energy : INFINITY;
}

static void count_body(tally *t, int i, double energy)
{
    t->energy += energy;
    if (t->body < 0 || (isfinite(t->most) && !(energy <= t->most))) {
        t->most = energy;
        t->body = i;
    }
}

/* A length that may be too large for its square. */
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

/* The tallies of ranges together; what they add goes to the ledger at once. */
typedef struct sum {
    tally all;
    cairn_energy *ledger;
} sum;

static void add_tally(void *result, const void *value)
{
    sum *s = result;
    const tally *t = value;
    cairn_energy_add_up(&t->added, 1, s->ledger);
    s->all.longest = fmax(s->all.longest, t->longest);
    s->all.least = fmin(s->all.least, t->least);
    if (t->body < 0)
        return;
    double before = s->all.energy;
    count_body(&s->all, t->body, t->most);
    s->all.energy = before + t->energy;
}

static cairn_status tally_bodies(const cairn_step *step, cairn_value_fn *count, void *context,
                                 tally *out)
{
    sum s = { nothing, &step->report->energy };
    const cairn_reduction of_bodies = { .count = step->world->bodies.count,
                                        .grain = GRAIN,
                                        .work = count,
                                        .join = add_tally,
                                        .context = context,
                                        .neutral = &nothing,
                                        .size = sizeof nothing };
    TRY(cairn_arena_reduce(&step->world->scratch, &of_bodies, &s));
    *out = s.all;
    return CAIRN_OK;
}

/* ---- before contacts are looked for --------------------------------------------------------- */

typedef struct free_job {
    const cairn_step *step;
    const cairn_free_motion *motion;
} free_job;

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
            count_body(t, i,
                       energy_of(step->world, i, cairn_add_scaled(b->x[i], step->h, v[0]), v));
    }
}

/* The turning of a body could not be found (integrate.c): half a radian in a step always can. */
static cairn_status refuse_turning(const cairn_step *step, const cairn_free_motion *motion, int i)
{
    const cairn_body_store *b = &step->world->bodies;
    cairn_vec3 J = b->inertia[i];
    double least = cairn_smaller(J.x, cairn_smaller(J.y, J.z));
    double fast = cairn_norm(b->omega[i]) + step->h * cairn_norm(motion->torque[i]) / least;
    return cairn_fail(&step->world->error, CAIRN_BAD_INPUT, "run.time_step",
                      "body %lld turns too far in one step of %g s, by about %.2g rad, expected at "
                      "most %.2g s",
                      cairn_row_uid(step->world, i), step->h, step->h * fast, 0.5 / fast);
}

cairn_status cairn_step_check_free_motion(const cairn_step *step, const cairn_free_motion *motion)
{
    free_job job = { step, motion };
    tally all;
    TRY(tally_bodies(step, free_range, &job, &all));
    if (isfinite(all.energy))
        return CAIRN_OK;
    if (isnan(motion->omega_free[all.body].x))
        return refuse_turning(step, motion, all.body);
    return refuse_speed(step, all.body, motion->v_free[all.body], motion->omega_free[all.body]);
}

/* ---- before the new state ------------------------------------------------------------------- */

/* How far the points of a body can get with these velocities. */
static void count_way(const cairn_step *step, int i, const cairn_vec3 v[2], tally *t)
{
    double arm = cairn_body_arm(step->world, i), turning = cairn_norm(v[1]);
    double speed = cairn_norm(v[0]) + (turning > 0 && arm > 0 ? arm * turning : 0);
    t->longest = cairn_larger(t->longest, step->h * speed);
}

typedef struct end_job {
    const cairn_step *step;
    const cairn_free_motion *motion;
    const cairn_mechanism *joints;
    const cairn_answer *answer;
    cairn_arrival *arrival;
} end_job;

static void find_end(const end_job *job, int i, cairn_body_end *end)
{
    end->body = i;
    end->swings = cairn_mechanism_swings(job->joints, i);
    end->gyroscopic = end->swings ? &job->joints->swing[i].gyroscopic : &job->motion->gyroscopic[i];
    end->behind = job->answer->impacts.behind;
    cairn_answer_velocity(job->step, job->answer, i, &end->v[0], &end->v[1]);
}

static void end_dynamic(const end_job *job, int i, tally *t)
{
    const cairn_step *step = job->step;
    cairn_body_end end;
    find_end(job, i, &end);
    cairn_body_arrive(step, job->motion, &end, job->arrival);
    cairn_energy_add_body(step, job->motion, &end, &t->added);
    count_body(t, i, energy_of(step->world, i, job->arrival->x[i], end.v));
    count_way(step, i, end.v, t);
    t->least = cairn_smaller(t->least, step->world->bodies.extent[i]);
}

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

/* Whether every line of the ledger is a number. */
static bool is_finite(const cairn_energy *e)
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
    *arrival = (cairn_arrival){ motion->x_next, motion->q_next, motion->angle_next };
    cairn_joints_energy(step, motion, joints, answer);
    TRY(cairn_step_find_pushed(step, motion, answer, arrival));
    TRY(tally_bodies(step, end_range, &job, &all));
    arrival->far = 2 * all.longest > all.least;
    if (!isfinite(all.energy)) {
        cairn_vec3 v, omega;
        cairn_answer_velocity(step, answer, all.body, &v, &omega);
        return refuse_speed(step, all.body, v, omega);
    }
    if (is_finite(&step->report->energy))
        return CAIRN_OK;
    return cairn_fail(&step->world->error, CAIRN_NOT_FINITE, NULL,
                      "the work of this step is too large for a number");
}
