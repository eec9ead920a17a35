/* integrate.c - motion without contact before the solve, and the new state after it.
 *
 * v_free = v + h (g + F/m). Rotation: J (w+ - w)/h = T - wm x J wm with wm = (w + w+)/2, the
 * implicit midpoint rule, which conserves the energy of a free body; equal moments need no
 * iteration. Positions: x += h v. Orientations: by the exponential map of h w or, if nothing pushes
 * the body, by the rule in the last section of this file. Loads are evaluated at mid-step.
 *
 * A body that is pushed by a moment m gets w+ = w_free + J^-1 m. Its contacts compare u+ with
 * u- = H (v, w~), where w~ is the w+ of the rule with T = 0 and m = 0. It has the energy of w, so
 *     (w+.J w+ - w.J w)/2 = (J (w_free - w~) + m).(w~ + w+)/2
 * is the work of torques and impulses alone: an impact by Newton's law with e = 1 conserves energy
 * to rounding, however the body tumbles. With u- = H (v, w) it would gain or lose
 * m.(w~ - w)/2 in each impact, of first order in h. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/parallel.h"
#include "math/vec.h"
#include "world/step.h"

enum { NEWTON_STEPS = 12, GRAIN = 1024 }; /* GRAIN: bodies in one piece of parallel work */

/* Only force and torque start as zero, since loads are added to them. v_eval and omega_eval are
 * written only if contacts are evaluated ahead, and are not read otherwise. */
static cairn_status take_arrays(const cairn_step *step, cairn_free_motion *motion)
{
    cairn_arena *scratch = &step->world->scratch;
    size_t n = (size_t)step->world->bodies.count;
    cairn_vec3 **vectors[] = { &motion->v_free,    &motion->omega_free, &motion->omega_coast,
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

/* ---- angular velocity ----------------------------------------------------------------------- */

/* -w x J w, N m in the body frame. */
static cairn_vec3 gyroscopic_torque(cairn_vec3 J, cairn_vec3 omega)
{
    return cairn_scale(-1, cairn_cross(omega, cairn_times(J, omega)));
}

/* Solve A x = b for a 3x3 matrix given by its columns, by Cramer's rule. */
static cairn_vec3 solve_columns(const cairn_vec3 A[3], cairn_vec3 b)
{
    double determinant = cairn_dot(A[0], cairn_cross(A[1], A[2]));
    return cairn_scale(1 / determinant, cairn_vec(cairn_dot(b, cairn_cross(A[1], A[2])),
                                                  cairn_dot(A[0], cairn_cross(b, A[2])),
                                                  cairn_dot(A[0], cairn_cross(A[1], b))));
}

/* Newton's method for f(w+) = J (w+ - w) - h (T - wm x J wm) = 0. If a body rotates by several
 * radians in the step, there are several such w+, or Newton's method finds none. The result is then
 * NaN, and the step is refused with the name of the body. */
static cairn_vec3 turn_freely(cairn_vec3 J, cairn_vec3 omega, cairn_vec3 torque, double h)
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
        /* convergence is quadratic: this is reached after few iterations */
        if (last <= 1e-15 * cairn_norm(next))
            break;
    }
    /* a looser limit than above: rounding may keep the last change above 1e-15; NaN fails as
     * well */
    return last <= 1e-10 * cairn_norm(next) ? next : cairn_vec(NAN, NAN, NAN);
}

/* The angular velocity after the step with a torque T in the body frame; NaN: there is none. */
static cairn_vec3 free_turning(const cairn_step *step, int i, cairn_vec3 T)
{
    const cairn_body_store *b = &step->world->bodies;
    cairn_vec3 J = b->inertia[i], omega = b->omega[i];
    /* then w x J w = 0, and the rule is explicit */
    bool equal = step->world->dimension == 2 || (J.x == J.y && J.y == J.z);
    if (!equal)
        return turn_freely(J, omega, T, step->h);
    return J.z > 0 ? cairn_add_scaled(omega, step->h / J.z, T) : omega;
}

/* For a prediction only, so a failed iteration is no error: the present velocity is used
 * instead. */
cairn_vec3 cairn_body_mean_turning(const cairn_step *step, const cairn_free_motion *motion, int i,
                                   cairn_vec3 moment)
{
    cairn_vec3 omega = step->world->bodies.omega[i];
    cairn_vec3 next = free_turning(step, i, cairn_add(motion->torque[i], moment));
    return cairn_is_finite(next) ? cairn_scale(0.5, cairn_add(omega, next)) : omega;
}

/* ---- before the solve ----------------------------------------------------------------------- */

/* A driven body: its pose at the end of the step, and the mean velocity that leads there. Contacts
 * see this velocity, so the body and what it pushes arrive at the same place. */
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

static bool is_zero(cairn_vec3 a)
{
    return a.x == 0 && a.y == 0 && a.z == 0;
}

/* A dynamic body: v_free = v + h (g + F/m), and the midpoint rule for rotation, with torques and
 * without. */
static void fly(const cairn_step *step, int i, cairn_free_motion *motion)
{
    const cairn_body_store *b = &step->world->bodies;
    double light = b->mass[i] > 0 ? 1 / b->mass[i] : 0; /* only walls of cells have no mass */
    cairn_vec3 pull = cairn_add_scaled(step->world->gravity, light, motion->force[i]);
    motion->v_free[i] = cairn_add_scaled(b->v[i], step->h, pull);
    cairn_vec3 coast = free_turning(step, i, cairn_vec(0, 0, 0)), T = motion->torque[i];
    motion->omega_coast[i] = coast;
    motion->omega_free[i] =
        is_zero(T) || !cairn_is_finite(coast) ? coast : free_turning(step, i, T);
}

/* The pose at which contacts are evaluated: at the start of the step, or `ahead` s later with the
 * velocity v^ (driven bodies: their pose at that time). */
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

/* The first v^ is the present velocity. If there is more than one linearisation, a body that would
 * move farther than its size is first evaluated where it is, since ahead it could be found behind
 * the body that it should hit; the next evaluation is at the result. */
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

/* Fixed bodies get velocities of 0 as well: later stages read them without a test. */
static void free_range(int begin, int end, void *context)
{
    const free_job *job = context;
    const cairn_step *step = job->step;
    cairn_free_motion *motion = job->motion;
    const cairn_body_store *b = &step->world->bodies;
    double ahead = step->h * cairn_scheme_ahead(step->scheme, step->linearisations);
    for (int i = begin; i < end; i++) {
        motion->v_free[i] = motion->omega_free[i] = motion->omega_coast[i] = cairn_vec(0, 0, 0);
        if (ahead != 0 || step->linearisations)
            predict(step, i, motion);
        cairn_body_place(step, i, ahead, motion);
        if (cairn_step_block(step, i) >= 0)
            fly(step, i, motion);
        else if (b->motion[i] == CAIRN_MOTION_DRIVEN)
            drive(step, i, motion);
    }
}

/* Loads are evaluated at mid-step: the impulse of a load that depends on time is then of second
 * order. */
cairn_status cairn_step_free_motion(const cairn_step *step, cairn_free_motion *motion)
{
    cairn_world *world = step->world;
    free_job job = { step, motion };
    TRY(take_arrays(step, motion));
    TRY(cairn_loads_at(world, 0.5 * step->h, motion->force, motion->torque));
    cairn_parallel_for(world->bodies.count, GRAIN, free_range, &job);
    TRY(cairn_step_control(step, motion));
    return cairn_step_check_free_motion(step, motion);
}

/* ---- after the solve ------------------------------------------------------------------------ */

/* For balls the problem holds omega in the world frame; rotate it back. */
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

/* The pose of a dynamic body at the end of the step: x += h v, and a rotation by the exponential
 * map, or by the rule for free rotation. Bodies that swing move with the mean of both
 * velocities. */
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

/* Driven bodies take the velocity and pose of the free motion, dynamic ones those of the answer. */
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

/* Time is start + (count + done) * step, so that many equal steps do not accumulate rounding
 * errors. */
static void advance_clock(cairn_world *world, const cairn_step *step)
{
    cairn_world_clock *clock = &world->clock;
    if (step->whole != clock->step)
        *clock = (cairn_world_clock){ .start = world->time, .step = step->whole };
    clock->share = step->h / step->whole;
    clock->done += clock->share;
    if (clock->done >= 1) {
        clock->done = 0;
        clock->count++;
    }
    world->time = clock->start + ((double)clock->count + clock->done) * clock->step;
}

/* Fixed bodies do not change. */
static void commit_range(int begin, int end, void *context)
{
    const commit_job *job = context;
    const cairn_body_store *b = &job->step->world->bodies;
    for (int i = begin; i < end; i++)
        if (b->motion[i] != CAIRN_MOTION_FIXED)
            commit_body(job, i);
}

/* Time advances last, when all rows have their new state. */
void cairn_step_commit(const cairn_step *step, const cairn_free_motion *motion,
                       const cairn_answer *answer, const cairn_arrival *arrival)
{
    commit_job job = { step, motion, answer, arrival };
    if (!step->pile)
        cairn_parallel_for(step->world->bodies.count, GRAIN, commit_range, &job);
    advance_clock(step->world, step);
    cairn_drivers_advance(step->world);
}

/* ==== the start of a step ===================================================================== */

/* All contacts of a problem have the same number of components: rolling and spinning ones are added
 * if some material has such friction. A uniform width keeps the arrays simple. */
static void choose_components(cairn_step *step)
{
    const cairn_surface_laws *laws = &step->world->materials.laws;
    int d = step->world->dimension;
    bool frictionless = step->scheme->frictionless;
    step->rolling = laws->rolling && !frictionless ? d - 1 : 0;
    step->spinning = laws->spinning && !frictionless ? 1 : 0;
    step->components = d + step->rolling + step->spinning;
    step->block_size = d == 2 ? 3 : 6;
}

/* The options were checked before, so all names are known. */
cairn_step cairn_step_begin(cairn_world *world, const cairn_step_options *options,
                            cairn_step_report *report)
{
    cairn_step step = { .world = world,
                        .options = options,
                        .h = options->time_step,
                        .whole = options->time_step,
                        .scheme = cairn_scheme_find(options->scheme),
                        .overlaps = cairn_overlaps_find(options->overlaps),
                        .broad = cairn_broad_phase_find(options->broad_phase),
                        .held = world->bodies.held,
                        .blocks = world->bodies.count - world->bodies.held,
                        .report = report };
    step.linearisations = cairn_scheme_linearisations(step.scheme, options->linearisations);
    if (step.linearisations) /* such schemes enforce the gap at the end, overlaps included */
        step.overlaps = CAIRN_OVERLAPS_PUSH;
    choose_components(&step);
    world->contacts.count = 0;
    world->contacts.elsewhere = 0;
    return step;
}

/* ==== free rotation =========================================================================== */

/* The rotation of a body that nothing pushes in a step.
 *
 * Without impulses the angular velocity follows the implicit midpoint rule,
 *     J (w+ - w) = h (T - wm x J wm),    wm = (w + w+)/2,
 * which is (1 + [h wm]/2) J w+ = (1 - [h wm]/2) J w + h T with [a] b = a x b. Let
 *     C = (1 - [h wm]/2)^-1 (1 + [h wm]/2),
 * Cayley's map: the rotation about wm by 2 atan(h |wm|/2). Multiplied by (1 - [h wm]/2)^-1, the
 * rule becomes
 *     C J w+ = J w + h (1 - [h wm]/2)^-1 T.
 * So with the orientation q C the angular momentum in the world frame is conserved to rounding, and
 * a torque adds h T, rotated to mid-step. C falls short of the angle h |wm| by
 *     d = h |wm| - 2 atan(h |wm|/2).
 * The component of this along the angular momentum, l = J w/|J w|, can be added without changing
 * the momentum:
 *     q+ = q exp(d (l.wm/|wm|) l) C.
 * The rule is of second order and, without a torque, symmetric in time; it conserves energy and
 * angular momentum, and is exact for rotation about a principal axis.
 *
 * A body that a contact or a joint pushes rotates by exp(h w+) instead, because the gaps that the
 * step has solved for are those of h w+. */

/* ---- which bodies are not pushed ------------------------------------------------------------ */

/* Whether the angular velocity of a body changes without being pushed. If not, it is constant in
 * the body frame and h w+ is already the exact rotation. */
static bool has_own_change(const cairn_step *step, const cairn_free_motion *motion, int i)
{
    cairn_vec3 coasts = cairn_sub(motion->omega_coast[i], step->world->bodies.omega[i]);
    return cairn_step_block(step, i) >= 0 && !(is_zero(coasts) && is_zero(motion->torque[i]));
}

/* Adhesion pushes too: its impulse is not part of r. */
static void mark_contacts(const cairn_step *step, const cairn_answer *answer, uint8_t *pushed)
{
    const cairn_contact_store *c = &step->world->contacts;
    int d = answer->problem.dimension;
    for (int j = 0; j < c->count; j++) {
        const double *r = answer->r + (size_t)j * (size_t)d;
        bool pushes = c->adhesion[j] != 0;
        for (int i = 0; i < d; i++)
            pushes |= r[i] != 0;
        pushed[c->body[2 * j]] |= pushes;
        pushed[c->body[2 * j + 1]] |= pushes;
    }
}

/* All bodies of joints, whatever their impulses: their rows, like gaps, were solved for h w+. */
static void mark_joints(const cairn_world *world, uint8_t *pushed)
{
    for (size_t k = 0; k < world->joints.count; k++)
        for (int side = 0; side < 2 && world->joints.items[k].rows > 0; side++)
            if (world->joints.items[k].body[side] >= 0)
                pushed[world->joints.items[k].body[side]] = 1;
}

/* NULL if no body could rotate freely anyway: then the marks, which cost a pass over the contacts,
 * are not needed. */
cairn_status cairn_step_find_pushed(const cairn_step *step, const cairn_free_motion *motion,
                                    const cairn_answer *answer, cairn_arrival *arrival)
{
    const cairn_world *world = step->world;
    size_t count = (size_t)world->bodies.count;
    bool wanted = false;
    arrival->pushed = NULL;
    /* balls without loads turn steadily */
    for (int i = 0; !step->pile && i < world->bodies.count && !wanted; i++)
        wanted = has_own_change(step, motion, i);
    if (!wanted)
        return CAIRN_OK;
    arrival->pushed = cairn_arena_take(&step->world->scratch, count, sizeof *arrival->pushed);
    if (!arrival->pushed)
        return CAIRN_NO_MEMORY;
    memset(arrival->pushed, 0, count);
    if (answer->rest.asleep) /* bodies that sleep are stopped */
        memcpy(arrival->pushed, answer->rest.asleep, count);
    mark_contacts(step, answer, arrival->pushed);
    mark_joints(world, arrival->pushed);
    return CAIRN_OK;
}

bool cairn_body_turns_freely(const cairn_step *step, const cairn_free_motion *motion,
                             const uint8_t *pushed, int i)
{
    return pushed && !pushed[i] && has_own_change(step, motion, i);
}

/* ---- the rotation --------------------------------------------------------------------------- */

/* x - 2 atan(x/2). For small x the difference would be lost to cancellation; there by its series
 * x^3/12 - x^5/80 + ... */
static double shortfall(double x)
{
    double xx = x * x;
    return x > 0.01 ? x - 2 * atan(0.5 * x) : x * xx / 12 * (1 - 0.15 * xx);
}

/* The rotation exp(d (l.wm/|wm|) l) C of the section head. The quaternion (1, h wm/2) is C up to
 * its length. */
cairn_quat cairn_free_turn(cairn_vec3 J, cairn_vec3 omega, cairn_vec3 next, double h)
{
    cairn_vec3 way = cairn_scale(0.5 * h, cairn_add(omega, next)); /* h wm */
    cairn_vec3 l = cairn_unit(cairn_times(J, omega));
    double angle = cairn_norm(way);
    cairn_quat cayley = { 1, 0.5 * way.x, 0.5 * way.y, 0.5 * way.z };
    if (!(angle > 0))
        return cayley;
    double about_l = shortfall(angle) * cairn_dot(l, way) / angle;
    return cairn_quat_normalised(
        cairn_quat_multiply(cairn_quat_exp(cairn_scale(about_l, l)), cayley));
}
