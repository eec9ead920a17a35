/* assemble.c - from contacts to the one-step problem.
 *
 * Rows of contact j for body a with arm p and orientation R, direction e of the contact frame:
 *     H = (e, R'(p x e))      and the negative for body b,
 * since angular velocities are in body frames (R at the start of the step); those of balls are in
 * space axes, and contacts of balls alone need no rows: ball_rows.c. Bodies that do not
 * answer to contact (fixed, driven) give no block; the velocity of their surface goes into w. Bias:
 * b = gamma g/h, 0 for overlaps (correct.c mends them); where a pair has restitution e and closes
 * in this step, b = min(that, e u_N) with the velocity before, or after the impacts that chain.c
 * resolves first. Schemes of velocity level have b = min(0, e u_N) alone. Poisson's e has no bias:
 * phases.c. Where contacts are linearised ahead, g is the gap that the linearisation gives back
 * at the start, of either sign. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/status.h"
#include "math/vec.h"
#include "problem/operator.h"
#include "problem/segments.h"
#include "world/step.h"

enum { GRAIN = 2048 }; /* bodies or contacts in one piece of parallel work */

/* ---- arrays --------------------------------------------------------------------------------- */

/* Whether something without a block moves a contact: w is needed. */
static bool imposes(const cairn_step *step, const cairn_mechanism *joints)
{
    const cairn_body_store *b = &step->world->bodies;
    bool any = joints->blocks > 0;
    for (int i = 0; i < b->held && !any; i++)
        any = b->motion[i] == CAIRN_MOTION_DRIVEN || cairn_norm(b->surface_velocity[i]) > 0;
    return any;
}

bool cairn_posed_shares(const cairn_step *step, const cairn_mechanism *joints)
{
    const cairn_world *world = step->world;
    bool turns = world->materials.laws.rolling ||
                 world->materials.laws.spinning; /* then moments are to be stored */
    return world->contacts.count > 0 && joints->blocks == 0 && !world->materials.laws.anisotropic &&
           !world->materials.laws.adhesive && !turns && step->components == world->dimension;
}

static cairn_status take_arrays(const cairn_step *step, const cairn_mechanism *joints,
                                cairn_posed *posed)
{
    cairn_arena *scratch = &step->world->scratch;
    bool shared = cairn_posed_shares(step, joints) && !step->scheme->frictionless;
    size_t d = (size_t)step->components, n = (size_t)step->block_size;
    size_t velocities = (size_t)step->blocks * n,
           m = (size_t)(step->world->contacts.count + joints->blocks);
    const struct {
        double **array;
        size_t count;
        bool filled; /* all of it before anyone reads it */
    } wanted[] = {
        { &posed->mass_inverse, velocities, true },
        { &posed->v_free, velocities, true },
        { &posed->v_old, velocities, true },
        { &posed->H, (size_t)posed->stored * 2 * d * n },
        { &posed->w, imposes(step, joints) ? m * d : 0 },
        { &posed->b, m, joints->blocks == 0 },
        { &posed->mu, shared ? 0 : m, joints->blocks == 0 },
        { &posed->mu_rolling, step->rolling ? m : 0 },
        { &posed->mu_spinning, step->spinning ? m : 0 },
    };
    for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++) {
        *wanted[k].array = wanted[k].filled
                               ? cairn_arena_take(scratch, wanted[k].count, sizeof(double))
                               : cairn_arena_doubles(scratch, wanted[k].count);
        if (!*wanted[k].array)
            return CAIRN_NO_MEMORY;
    }
    if (!imposes(step, joints))
        posed->w = NULL;
    if (shared)
        posed->mu = step->world->contacts.mu;
    posed->block = cairn_arena_take(&step->world->scratch, 2 * m, sizeof *posed->block);
    return posed->block ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* ---- bodies --------------------------------------------------------------------------------- */

static double inverse(double x)
{
    return x > 0 ? 1 / x : 0;
}

/* The velocity of a body in the problem's layout. */
static void fill_velocity(int dimension, cairn_vec3 v, cairn_vec3 omega, double *out)
{
    const double flat[3] = { v.x, v.y, omega.z };
    const double full[6] = { v.x, v.y, v.z, omega.x, omega.y, omega.z };
    if (dimension == 2)
        memcpy(out, flat, sizeof flat);
    else
        memcpy(out, full, sizeof full);
}

static void fill_block(const cairn_step *step, const cairn_free_motion *motion,
                       const cairn_mechanism *joints, const cairn_posed *posed, int i)
{
    const cairn_body_store *b = &step->world->bodies;
    size_t first = (size_t)cairn_step_block(step, i) * (size_t)step->block_size;
    double *mass = posed->mass_inverse + first, m = inverse(b->mass[i]);
    cairn_vec3 J = b->inertia[i];
    if (step->world->dimension == 2) {
        const double values[3] = { m, m, inverse(J.z) };
        memcpy(mass, values, sizeof values);
    } else {
        double x = inverse(J.x), y = J.y == J.x ? x : inverse(J.y),
               z = J.z == J.x ? x : inverse(J.z);
        const double values[6] = { m, m, m, x, y, z };
        memcpy(mass, values, sizeof values);
    }
    cairn_vec3 free =
        cairn_mechanism_swings(joints, i) ? joints->swing[i].omega_free : motion->omega_free[i];
    cairn_vec3 old = b->omega[i];
    if (cairn_balls_hold(&posed->balls, cairn_step_block(step, i))) {
        bool same = free.x == old.x && free.y == old.y && free.z == old.z;
        old = cairn_rotate(b->q[i], old);
        free = same ? old : cairn_rotate(b->q[i], free);
    }
    fill_velocity(step->world->dimension, motion->v_free[i], free, posed->v_free + first);
    fill_velocity(step->world->dimension, b->v[i], old, posed->v_old + first);
}

/* ---- contacts ------------------------------------------------------------------------------- */

/* What the rows of a contact say: directions of relative velocity, and of relative turning. */
typedef struct frame {
    cairn_vec3 row[3], turn[3];
} frame;

/* A body in a contact. */
typedef struct lever {
    int contact, side, body;
    cairn_vec3 arm; /* m: from its centre to its witness point */
} lever;

double *cairn_posed_rows(const cairn_posed *posed, int j, int side)
{
    size_t at = (size_t)(posed->rows ? posed->rows[j] : j);
    return posed->H +
           (at * 2 + (size_t)side) * (size_t)(posed->problem.dimension * posed->problem.block_size);
}

/* An angular part of a row: in the body frame, for balls in space. */
static void fill_angular(const cairn_step *step, const cairn_posed *posed, int body,
                         cairn_vec3 turn, double *H)
{
    if (!cairn_balls_hold(&posed->balls, cairn_step_block(step, body)))
        turn = cairn_rotate_back(step->world->bodies.q[body], turn);
    const double parts[3] = { turn.x, turn.y, turn.z };
    memcpy(H + 3, parts, sizeof parts);
}

static void fill_rows(const cairn_step *step, const cairn_posed *posed, const lever *at,
                      const frame *f)
{
    int n = step->block_size;
    double sign = at->side ? -1 : 1;
    double *H = cairn_posed_rows(posed, at->contact, at->side);
    for (int i = 0; i < 3; i++, H += n) {
        cairn_vec3 e = cairn_scale(sign, f->row[i]);
        memcpy(H, &e, 3 * sizeof *H);
        fill_angular(step, posed, at->body, cairn_cross(at->arm, e), H);
    }
    for (int i = 0; i < step->rolling + step->spinning; i++, H += n)
        fill_angular(step, posed, at->body, cairn_scale(sign, f->turn[i]), H);
}

/* Likewise in 2D, where all turns about z. */
static void fill_flat_rows(const cairn_step *step, const cairn_posed *posed, const lever *at,
                           const frame *f)
{
    double sign = at->side ? -1 : 1;
    double *H = cairn_posed_rows(posed, at->contact, at->side);
    for (int i = 0; i < 2; i++, H += 3) {
        H[0] = sign * f->row[i].x;
        H[1] = sign * f->row[i].y;
        H[2] = at->arm.x * H[1] - at->arm.y * H[0];
    }
    for (int i = 0; i < step->rolling + step->spinning; i++, H += 3)
        H[2] = sign * f->turn[i].z;
}

/* Velocity of a body's point: of a given state (v, omega in the body frame). The frame is that of
 * the start: R omega is the same all along the step, which turns about omega; and a ball's angular
 * momentum then changes by exactly p x r. */
static cairn_vec3 point_velocity(cairn_quat q, cairn_vec3 arm, cairn_vec3 v, cairn_vec3 omega)
{
    cairn_vec3 in_world = cairn_rotate(q, omega);
    return cairn_add(v, cairn_cross(in_world, arm));
}

/* The part of u that bodies without a block impose. */
static void fill_imposed(const cairn_step *step, const cairn_free_motion *motion,
                         const cairn_posed *posed, const lever *at, const frame *f)
{
    const cairn_body_store *b = &step->world->bodies;
    int d = step->world->dimension, body = at->body;
    double *w = posed->w + (size_t)at->contact * (size_t)step->components;
    double sign = at->side ? -1 : 1;
    cairn_vec3 normal = step->world->contacts.normal[at->contact];
    cairn_vec3 surface = cairn_surface_velocity(b, motion->q_eval[body], body, normal);
    for (int i = 1; i < d; i++)
        w[i] += sign * cairn_dot(surface, f->row[i]);
    if (b->motion[body] != CAIRN_MOTION_DRIVEN)
        return;
    cairn_vec3 omega = motion->omega_free[body];
    cairn_vec3 v = point_velocity(b->q[body], at->arm, motion->v_free[body], omega);
    for (int i = 0; i < d; i++)
        w[i] += sign * cairn_dot(v, f->row[i]);
    omega = cairn_rotate(b->q[body], omega);
    for (int i = 0; i < step->rolling + step->spinning; i++)
        w[d + i] += sign * cairn_dot(omega, f->turn[i]);
}

/* Normal velocity with given velocities of dynamic bodies. */
static double normal_velocity(const cairn_step *step, const cairn_free_motion *motion, int j,
                              const cairn_vec3 *linear, const cairn_vec3 *angular)
{
    const cairn_contact_store *c = &step->world->contacts;
    const cairn_body_store *b = &step->world->bodies;
    double u = 0;
    for (int side = 0; side < 2; side++) {
        int body = c->body[2 * j + side];
        bool driven = b->motion[body] == CAIRN_MOTION_DRIVEN;
        cairn_vec3 v = point_velocity(b->q[body], cairn_contact_arm(c, motion->x_eval, j, side),
                                      driven ? motion->v_free[body] : linear[body],
                                      driven ? motion->omega_free[body] : angular[body]);
        u += (side ? -1 : 1) * cairn_dot(v, c->normal[j]);
    }
    return u;
}

/* Normal velocity with the bodies' velocities before the step (loads not yet counted). */
static double normal_velocity_before(const cairn_step *step, const cairn_free_motion *motion, int j)
{
    const cairn_body_store *b = &step->world->bodies;
    return normal_velocity(step, motion, j, b->v, b->omega);
}

/* The gap at the start of the step, as its linearisation where it was evaluated has it:
 * g(q + h v^) - h n.v^. With it u_N + b = (g(q + h v^) + h n.(v - v^))/h. */
double cairn_contact_gap(const cairn_step *step, const cairn_free_motion *motion, int j)
{
    double gap = step->world->contacts.gap[j];
    if (!step->linearisations)
        return gap;
    return gap - step->h * normal_velocity(step, motion, j, motion->v_eval, motion->omega_eval);
}

/* Newton's e. */
static double restitution(const cairn_contact_store *c, int j)
{
    return c->poisson && c->poisson[j] ? 0 : c->restitution[j];
}

/* gamma g/h, of an overlap g < 0 only where overlaps push. */
double cairn_contact_apart(const cairn_step *step, double gap, double overlap, double leaves)
{
    double rate = step->options->stabilisation / step->h;
    double apart = fmax(rate * (gap - overlap), -leaves);
    return step->overlaps == CAIRN_OVERLAPS_PUSH ? apart + rate * overlap : apart;
}

/* Without restitution nobody asks for the velocity before. */
static double bias(const cairn_step *step, const cairn_free_motion *motion, int j)
{
    double gap = cairn_contact_gap(step, motion, j), e = restitution(&step->world->contacts, j);
    const cairn_approach at = { .gap = gap,
                                .apart = cairn_contact_apart(step, gap, fmin(0, gap), 0),
                                .before = e > 0 ? normal_velocity_before(step, motion, j) : 0,
                                .restitution = e };
    return cairn_scheme_bias(step->scheme->velocity_level, step->h, &at);
}

/* Rows and what is imposed, of a contact that has any. */
static void fill_sides(const cairn_step *step, const cairn_free_motion *motion,
                       const cairn_posed *posed, int j)
{
    const cairn_contact_store *c = &step->world->contacts;
    bool of_balls = cairn_is_of_balls(&posed->problem, j);
    frame f;
    if (of_balls && !posed->w)
        return;
    cairn_contact_rows(c, j, f.row);
    cairn_contact_turns(step, j, f.turn);
    for (int side = 0; side < 2; side++) {
        int body = c->body[2 * j + side], block = cairn_step_block(step, body);
        const lever at = { j, side, body, cairn_contact_arm(c, motion->x_eval, j, side) };
        if (block >= 0 && !of_balls)
            (step->world->dimension == 3 ? fill_rows : fill_flat_rows)(step, posed, &at, &f);
        else if (block < 0 && posed->w)
            fill_imposed(step, motion, posed, &at, &f);
    }
}

static void fill_contact(const cairn_step *step, const cairn_free_motion *motion,
                         const cairn_posed *posed, int j)
{
    const cairn_contact_store *c = &step->world->contacts;
    for (int side = 0; side < 2; side++)
        posed->block[2 * j + side] = cairn_step_block(step, c->body[2 * j + side]);
    fill_sides(step, motion, posed, j);
    posed->b[j] = bias(step, motion, j);
    posed->mu[j] = step->scheme->frictionless ? 0 : fmax(c->mu[j], c->mu_2[j]);
    if (step->rolling)
        posed->mu_rolling[j] = c->mu_rolling[j];
    if (step->spinning)
        posed->mu_spinning[j] = c->mu_spinning[j];
}

/* What ranges of bodies and of contacts are filled from. */
typedef struct fill_job {
    const cairn_step *step;
    const cairn_free_motion *motion;
    const cairn_mechanism *joints;
    const cairn_posed *posed; /* whose arrays are filled */
} fill_job;

static void block_range(int begin, int end, void *context)
{
    const fill_job *job = context;
    const cairn_step *step = job->step;
    const cairn_posed *posed = job->posed;
    for (int i = begin; i < end; i++) {
        if (cairn_step_block(step, i) >= 0)
            fill_block(step, job->motion, job->joints, posed, i);
    }
}

static void contact_range(int begin, int end, void *context)
{
    const fill_job *job = context;
    for (int j = begin; j < end; j++)
        fill_contact(job->step, job->motion, job->posed, j);
}

/* What adhesion pulls adds up in v_free: contact by contact. */
static cairn_status adhere(const cairn_step *step, const cairn_free_motion *motion,
                           cairn_posed *posed)
{
    const cairn_contact_store *c = &step->world->contacts;
    for (int j = 0; step->world->materials.laws.adhesive && j < c->count; j++)
        if (c->adhesion[j] > 0)
            TRY(cairn_contact_adhere(step, motion, j, posed));
    return CAIRN_OK;
}

/* The problem on its arrays, before they are filled. */
static void pose_problem(const cairn_step *step, const cairn_mechanism *joints, cairn_posed *posed)
{
    const cairn_world *world = step->world;
    bool edges = step->scheme->edges && world->dimension == 3;
    bool balls = posed->stored < world->contacts.count + joints->blocks;
    posed->problem = (cairn_problem){ .dimension = step->components,
                                      .rolling = step->rolling,
                                      .spinning = step->spinning,
                                      .directions = edges ? (int)step->options->directions : 0,
                                      .block_size = step->block_size,
                                      .blocks = step->blocks,
                                      .contacts = world->contacts.count,
                                      .parts = (int)step->options->parts,
                                      .mass_inverse = posed->mass_inverse,
                                      .v_free = posed->v_free,
                                      .block = posed->block,
                                      .H = posed->H,
                                      .normal = balls ? world->contacts.normal : NULL,
                                      .tangent = balls ? world->contacts.tangent : NULL,
                                      .radius = balls ? posed->balls.radius : NULL,
                                      .rows = balls ? posed->rows : NULL,
                                      .w = posed->w,
                                      .b = posed->b,
                                      .mu = posed->mu,
                                      .mu_rolling = step->rolling ? posed->mu_rolling : NULL,
                                      .mu_spinning = step->spinning ? posed->mu_spinning : NULL };
}

cairn_status cairn_step_pose(const cairn_step *step, const cairn_free_motion *motion,
                             const cairn_candidates *candidates, const cairn_mechanism *joints,
                             cairn_posed *posed)
{
    const cairn_world *world = step->world;
    fill_job job = { step, motion, joints, posed };
    TRY(cairn_step_find_balls(step, motion, candidates->plain, joints, posed));
    TRY(take_arrays(step, joints, posed));
    cairn_parallel_for(world->bodies.count, GRAIN, block_range, &job);
    cairn_joints_steady(step, joints, posed);
    pose_problem(step, joints, posed);
    cairn_parallel_for(world->contacts.count, GRAIN, contact_range, &job);
    TRY(adhere(step, motion, posed));
    TRY(cairn_joints_pose(step, motion, joints, posed));
    return cairn_problem_find_segments(&posed->problem, &step->world->scratch);
}
