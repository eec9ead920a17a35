/* assemble.c - from contacts to the one-step problem, and which bodies are balls in it.
 *
 * The rows of contact j for body a, with arm p, orientation R and direction e of the contact frame,
 * are
 *     H = (e, R'(p x e))      and the negative for body b,
 * because angular velocities are given in body frames (R at the start of the step). Those of balls
 * are given in the world frame, and contacts between balls need no stored rows: see the second half
 * of this file. Held bodies (fixed, driven) have no block; the velocity of their surface goes into
 * w. In a periodic world b may be an image: p is its arm there, and its velocity relative to b goes
 * into w.
 *
 * Bias: b = gamma g/h, and 0 for overlaps, which correct.c corrects. If a pair has restitution e
 * and closes in this step, b = min(gamma g/h, e u_N) with u_N the velocity before the step, or
 * after the impacts that chain.c resolves first. Schemes of velocity level have b = min(0, e u_N)
 * only. Poisson's e has no bias: see scheme.c. If contacts are linearised ahead, g is the gap that
 * the linearisation gives at the start of the step; it may have either sign. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/parallel.h"
#include "math/vec.h"
#include "problem/cut.h"
#include "problem/operator.h"
#include "world/step.h"

enum { GRAIN = 2048 }; /* bodies or contacts in one piece of parallel work */

/* ---- arrays --------------------------------------------------------------------------------- */

/* Whether w is needed: some contact or joint has a relative velocity that no block of the problem
 * describes, because a held body moves, its surface does, a joint has a target, or images move with
 * the edges of a periodic cell. */
static bool imposes(const cairn_step *step, const cairn_mechanism *joints)
{
    const cairn_body_store *b = &step->world->bodies;
    bool any = joints->any;
    for (int i = 0; i < 3 && !any; i++)
        any = cairn_norm(step->world->periodic.cell.rate[i]) > 0;
    for (int i = 0; i < b->held && !any; i++)
        any = b->motion[i] == CAIRN_MOTION_DRIVEN || cairn_norm(b->surface_velocity[i]) > 0;
    return any;
}

/* The contact list has no entries for joints, stores components of friction without the factors D
 * of anisotropy and the normal impulse without adhesion, and keeps moments in separate columns. In
 * all these cases the problem needs arrays of its own. */
bool cairn_posed_shares(const cairn_step *step, const cairn_mechanism *joints)
{
    const cairn_world *world = step->world;
    bool turns = world->materials.laws.rolling ||
                 world->materials.laws.spinning; /* then moments are to be stored */
    return world->contacts.count > 0 && !joints->any && !world->materials.laws.anisotropic &&
           !world->materials.laws.adhesive && !turns && step->components == world->dimension;
}

/* Memory of the problem. Arrays that are written completely before they are read need not be
 * zeroed, which saves a pass over the memory. The others must be zero: w is a sum; in H the sides
 * of held bodies and the linear parts of rolling rows are never written, and neither are the
 * entries of joints in b and mu. */
static cairn_status take_arrays(const cairn_step *step, const cairn_mechanism *joints,
                                cairn_posed *posed)
{
    cairn_arena *scratch = &step->world->scratch;
    bool shared = cairn_posed_shares(step, joints) && !step->scheme->frictionless;
    bool arcs = cairn_step_has_arcs(step);
    size_t d = (size_t)step->components, n = (size_t)step->block_size;
    size_t velocities = (size_t)step->blocks * n,
           m = (size_t)(step->world->contacts.count + joints->blocks);
    const struct {
        double **array;
        size_t count;
        bool filled; /* completely written before it is read, so it need not be zeroed */
    } wanted[] = {
        { &posed->mass_inverse, velocities, true },
        { &posed->v_free, velocities, true },
        { &posed->v_old, velocities, true },
        { &posed->H, (size_t)posed->stored * 2 * d * n },
        { &posed->w, imposes(step, joints) ? m * d : 0 },
        { &posed->b, m, !joints->any },
        { &posed->mu, shared ? 0 : m, !joints->any },
        { &posed->arc, arcs ? m : 0 },
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
    /* NULL tells the operators that w = 0, which saves them an array to read */
    if (!imposes(step, joints))
        posed->w = NULL;
    if (!arcs)
        posed->arc = NULL;
    posed->demand = NULL; /* joints have it, and the next two */
    posed->corrects = NULL;
    posed->added = NULL;
    /* without a copy; fill_contact then writes each value onto itself */
    if (shared)
        posed->mu = step->world->contacts.mu;
    posed->block = cairn_arena_take(&step->world->scratch, 2 * m, sizeof *posed->block);
    return posed->block ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* ---- bodies --------------------------------------------------------------------------------- */

/* A body without moment of inertia (a point) has an inverse of 0: no moment turns it. */
static double inverse(double x)
{
    return x > 0 ? 1 / x : 0;
}

/* The velocity of a body in the layout of the problem: (v_x, v_y, omega_z) in 2D. */
static void fill_velocity(int dimension, cairn_vec3 v, cairn_vec3 omega, double *out)
{
    const double flat[3] = { v.x, v.y, omega.z };
    const double full[6] = { v.x, v.y, v.z, omega.x, omega.y, omega.z };
    if (dimension == 2)
        memcpy(out, flat, sizeof flat);
    else
        memcpy(out, full, sizeof full);
}

/* Inverse mass, free velocity and old velocity of one dynamic body. Equal moments are inverted
 * once, because divisions are slow and all moments of a ball are equal. */
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
    cairn_vec3 old = cairn_turning_before(step, motion, joints, i);
    /* balls: from the body frame into the world frame; without a torque one rotation serves both */
    if (cairn_balls_hold(&posed->balls, cairn_step_block(step, i))) {
        bool same = free.x == old.x && free.y == old.y && free.z == old.z;
        old = cairn_rotate(b->q[i], old);
        free = same ? old : cairn_rotate(b->q[i], free);
    }
    fill_velocity(step->world->dimension, motion->v_free[i], free, posed->v_free + first);
    fill_velocity(step->world->dimension, b->v[i], old, posed->v_old + first);
}

/* ---- contacts ------------------------------------------------------------------------------- */

/* The directions of the rows of a contact: of relative velocity (row) and of relative rotation
 * (turn). */
typedef struct frame {
    cairn_vec3 row[3], turn[3];
} frame;

/* One of the two bodies of a contact. */
typedef struct lever {
    int contact, side, body;
    cairn_vec3 arm; /* m: from its centre to its witness point */
} lever;

/* Rows of contact j: first all components of side a, then those of side b, each `block_size`
 * numbers. Contacts of balls have no rows, and must not ask for them. */
double *cairn_posed_rows(const cairn_posed *posed, int j, int side)
{
    size_t at = (size_t)(posed->rows ? posed->rows[j] : j);
    return posed->H +
           (at * 2 + (size_t)side) * (size_t)(posed->problem.dimension * posed->problem.block_size);
}

/* The angular part of a row: in the body frame, for balls in the world frame. */
static void fill_angular(const cairn_step *step, const cairn_posed *posed, int body,
                         cairn_vec3 turn, double *H)
{
    if (!cairn_balls_hold(&posed->balls, cairn_step_block(step, body)))
        turn = cairn_rotate_back(step->world->bodies.q[body], turn);
    const double parts[3] = { turn.x, turn.y, turn.z };
    memcpy(H + 3, parts, sizeof parts);
}

/* H = (e, R'(p x e)) for the three directions; rows of rolling and spinning have no linear part. */
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

/* The same in 2D, where all rotation is about z: p x e = p_x e_y - p_y e_x. */
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

/* The velocity of a point of a body from its v and its omega, in the body frame. The orientation is
 * that of the start of the step: the step rotates about omega, so R omega is the same throughout.
 * The angular momentum of a ball then changes by exactly p x r. */
static cairn_vec3 point_velocity(cairn_quat q, cairn_vec3 arm, cairn_vec3 v, cairn_vec3 omega)
{
    cairn_vec3 in_world = cairn_rotate(q, omega);
    return cairn_add(v, cairn_cross(in_world, arm));
}

/* The part of u that bodies without a block impose: w += +-(v + omega x p) and the velocity of a
 * moving surface, which acts along the tangents only (a belt does not lift what lies on it). */
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

/* m/s: velocity of the image of b relative to b itself, in contact j. */
static cairn_vec3 drift_of(const cairn_step *step, int j)
{
    const cairn_contact_store *c = &step->world->contacts;
    return c->image ? cairn_lattice_drift(&step->world->periodic.cell, c->image[j])
                    : cairn_vec(0, 0, 0);
}

/* The part of u that the motion of a periodic cell imposes: w -= h' k. Images do not rotate. */
static void fill_drift(const cairn_step *step, const cairn_posed *posed, int j, const frame *f)
{
    double *w = posed->w + (size_t)j * (size_t)step->components;
    cairn_vec3 drift = drift_of(step, j);
    for (int i = 0; i < step->world->dimension; i++)
        w[i] -= cairn_dot(drift, f->row[i]);
}

/* u_N of contact j for the given velocities of the dynamic bodies; driven bodies have their own. */
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
    return c->image ? u - cairn_dot(drift_of(step, j), c->normal[j]) : u;
}

/* u_N with the velocities before the step, to which loads have not yet been added. Bodies that
 * swing have no contacts. */
double cairn_contact_before(const cairn_step *step, const cairn_free_motion *motion, int j)
{
    return normal_velocity(step, motion, j, step->world->bodies.v, motion->omega_coast);
}

/* The gap at the start of the step, extrapolated from the linearisation at q + h v^:
 *     g(q + h v^) - h n.v^
 * With it u_N + b = (g(q + h v^) + h n.(v - v^))/h, the linearised gap at the end of the step over
 * h. */
double cairn_contact_gap(const cairn_step *step, const cairn_free_motion *motion, int j)
{
    double gap = step->world->contacts.gap[j];
    if (!step->linearisations)
        return gap;
    return gap - step->h * normal_velocity(step, motion, j, motion->v_eval, motion->omega_eval);
}

/* Newton's e; 0 if the contact follows Poisson's law, which scheme.c treats without a bias. */
static double restitution(const cairn_contact_store *c, int j)
{
    return c->poisson && c->poisson[j] ? 0 : c->restitution[j];
}

/* gamma g/h, with overlaps g < 0 counted only if they push. */
double cairn_contact_apart(const cairn_step *step, double gap, double overlap, double leaves)
{
    double rate = step->options->stabilisation / step->h;
    double apart = fmax(rate * (gap - overlap), -leaves);
    return step->overlaps == CAIRN_OVERLAPS_PUSH ? apart + rate * overlap : apart;
}

/* b of contact j, `arc` is its term of second order. The velocity before the step costs two
 * rotations and is computed only if there is restitution. */
static double bias(const cairn_step *step, const cairn_free_motion *motion, int j, double arc)
{
    double gap = cairn_contact_gap(step, motion, j), e = restitution(&step->world->contacts, j);
    const cairn_approach at = { .gap = gap,
                                .apart = cairn_contact_apart(step, gap, fmin(0, gap), 0) + arc,
                                .before = e > 0 ? cairn_contact_before(step, motion, j) : 0,
                                .restitution = e,
                                .error = cairn_step_promised(step) };
    return cairn_scheme_bias(step->scheme->velocity_level, step->h, &at);
}

/* The rows of a contact and the velocities imposed on it. Contacts of balls have no stored rows, so
 * without w there is nothing to fill. */
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
    if (posed->w && c->image)
        fill_drift(step, posed, j, &f);
}

/* Everything about contact j: every range of contacts writes to entries of its own only. */
static void fill_contact(const cairn_step *step, const cairn_free_motion *motion,
                         const cairn_posed *posed, int j)
{
    const cairn_contact_store *c = &step->world->contacts;
    for (int side = 0; side < 2; side++)
        posed->block[2 * j + side] = cairn_step_block(step, c->body[2 * j + side]);
    fill_sides(step, motion, posed, j);
    if (posed->arc)
        posed->arc[j] = cairn_contact_arc(step, motion, j);
    posed->b[j] = bias(step, motion, j, posed->arc ? posed->arc[j] : 0);
    /* the larger one: with anisotropic friction the smaller is expressed by the factors D of the
     * rows */
    posed->mu[j] = step->scheme->frictionless ? 0 : fmax(c->mu[j], c->mu_2[j]);
    if (step->rolling)
        posed->mu_rolling[j] = c->mu_rolling[j];
    if (step->spinning)
        posed->mu_spinning[j] = c->mu_spinning[j];
}

/* What the loops over bodies and contacts read. */
typedef struct fill_job {
    const cairn_step *step;
    const cairn_free_motion *motion;
    const cairn_mechanism *joints;
    const cairn_posed *posed; /* its arrays are filled */
} fill_job;

/* Held bodies have no block. */
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

/* Adhesion pulls with a known force, so it is added to v_free. Several contacts may add to one
 * body: this is a serial loop in the order of the contacts, which keeps the sums deterministic. */
static cairn_status adhere(const cairn_step *step, const cairn_free_motion *motion,
                           cairn_posed *posed)
{
    const cairn_contact_store *c = &step->world->contacts;
    for (int j = 0; step->world->materials.laws.adhesive && j < c->count; j++)
        if (c->adhesion[j] > 0)
            TRY(cairn_contact_adhere(step, motion, j, posed));
    return CAIRN_OK;
}

/* Set the problem to its arrays, before they are filled. Normals, tangents and radii are passed
 * only if some contacts are of balls, where they replace rows in H, or if there are no contacts: a
 * member without any solves with the others, whose contacts may all be of balls. */
static void pose_problem(const cairn_step *step, const cairn_mechanism *joints, cairn_posed *posed)
{
    const cairn_world *world = step->world;
    bool edges = step->scheme->edges && world->dimension == 3;
    bool rows_only = posed->stored > 0 && posed->stored == world->contacts.count + joints->blocks;
    bool balls = posed->balls.radius && !rows_only;
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

/* Spans end where the joint changes, as they do where the wall changes. */
static void part_joints(const cairn_step *step, int32_t *wall)
{
    const cairn_world *world = step->world;
    int32_t *at = wall + world->contacts.count;
    for (size_t k = 0; k < world->joints.count; k++)
        for (int i = 0; i < world->joints.items[k].rows; i += step->components)
            *at++ = step->held + (int32_t)k;
}

/* Cut the problem into the parts of the world. A member knows only some of the contacts and joints
 * of a ghost, so its inverse mass and v_free, to which these add, are copied from its owner. */
static cairn_status cut(const cairn_step *step, const cairn_mechanism *joints, cairn_posed *posed)
{
    const cairn_exchange *x = &step->world->exchange;
    const cairn_contact_store *c = &step->world->contacts;
    size_t all = (size_t)posed->problem.contacts, bytes = (size_t)step->block_size * sizeof(double);
    if (x->parts == 0)
        return CAIRN_OK;
    int32_t *wall = cairn_arena_take(&step->world->scratch, all, sizeof *wall);
    const cairn_cutting by = { x->parts, x->part, wall, x->link };
    if (!wall)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < c->count; j++) {
        /* held bodies have the lowest rows: if one of the two is held, it is the lower */
        int32_t lower = (int32_t)(cairn_contact_key(c, j) >> 32);
        wall[j] = lower < step->held ? lower : -1;
    }
    part_joints(step, wall);
    TRY(cairn_problem_cut(&posed->problem, &by, &step->world->scratch));
    if (step->world->materials.laws.adhesive || joints->any)
        cairn_problem_fetch(&posed->problem, posed->v_free, bytes);
    if (joints->any)
        cairn_problem_fetch(&posed->problem, posed->mass_inverse, bytes);
    return CAIRN_OK;
}

cairn_status cairn_step_pose(const cairn_step *step, const cairn_free_motion *motion,
                             const cairn_candidates *candidates, const cairn_mechanism *joints,
                             cairn_posed *posed)
{
    const cairn_world *world = step->world;
    fill_job job = { step, motion, joints, posed };
    TRY(cairn_step_find_balls(step, motion, candidates->plain, joints, posed));
    TRY(take_arrays(step, joints, posed));
    /* the order matters: joints add to the moments of filled blocks; contacts ask the posed problem
     * which of them are of balls; adhesion needs filled rows; segments look at the complete
     * problem */
    cairn_parallel_for(world->bodies.count, GRAIN, block_range, &job);
    cairn_joints_steady(step, joints, posed);
    cairn_servos_pose(step, motion, posed);
    pose_problem(step, joints, posed);
    cairn_parallel_for(world->contacts.count, GRAIN, contact_range, &job);
    TRY(adhere(step, motion, posed));
    TRY(cairn_joints_pose(step, motion, joints, posed));
    TRY(cut(step, joints, posed));
    return cairn_problem_find_segments(&posed->problem, &step->world->scratch);
}

/* ==== balls =================================================================================== */

/* Which bodies are balls in the one-step problem, and which contacts follow from their normal and
 * tangent alone (cairn_problem.normal).
 *
 * A ball is a sphere about its centre of mass with three equal moments of inertia, held by no
 * joint. Its angular velocity in the problem is in the world frame, that of all other bodies in the
 * body frame. Its arm is -+R n, so its rows (e, -+R n x e) need neither H nor the orientation. */

enum { BALLS = 4096 }; /* bodies in one piece of parallel work */

static const double ROUND = 1e-7; /* largest distance of an arm from R n, relative to the radius */

/* Geometry treats a point as a ball of radius 0, but a point has no moment of inertia, so here it
 * is no ball. */
static bool is_ball(const cairn_body_store *b, int i)
{
    cairn_vec3 J = b->inertia[i];
    return b->ball[i] > 0 && J.x == J.y && J.y == J.z;
}

typedef struct radius_job {
    const cairn_body_store *bodies;
    double *radius; /* of each block */
} radius_job;

static void radius_range(int begin, int end, void *context)
{
    const radius_job *job = context;
    const cairn_body_store *b = job->bodies;
    for (int k = begin; k < end; k++)
        job->radius[k] = is_ball(b, b->held + k) ? b->ball[b->held + k] : -1;
}

/* The radius of each block, -1 if it is no ball. A body that a joint holds is none, because rows of
 * joints are written in the body frame. */
static void find_radii(const cairn_step *step, double *radius)
{
    const cairn_world *world = step->world;
    radius_job job = { &world->bodies, radius };
    cairn_parallel_for(step->blocks, BALLS, radius_range, &job);
    for (size_t k = 0; k < world->joints.count; k++) {
        const cairn_joint *joint = &world->joints.items[k];
        /* of the joint of a ghost it is only known that it acts */
        bool holds = joint->rows > 0 || (joint->elsewhere && joint->alive && !joint->broken);
        for (int side = 0; side < 2 && holds; side++) {
            int block = cairn_step_block(step, joint->body[side]);
            if (block >= 0)
                radius[block] = -1;
        }
    }
}

/* Whether the witness point is where a ball has it: at -R n from the centre of a, at R n from that
 * of b. Held bodies have no rows, so theirs need not be tested. */
static bool is_round(const cairn_step *step, const cairn_vec3 *x, const double *radius, int j,
                     int side)
{
    const cairn_contact_store *c = &step->world->contacts;
    int block = cairn_step_block(step, c->body[2 * j + side]);
    double R = block < 0 ? 0 : radius[block];
    cairn_vec3 arm = cairn_contact_arm(c, x, j, side);
    arm = cairn_add_scaled(arm, side ? -R : R, c->normal[j]);
    return block < 0 || (R >= 0 && cairn_norm(arm) <= ROUND * R);
}

/* Anisotropic friction scales the tangent rows, so such a contact needs stored rows. */
static bool is_of_balls(const cairn_step *step, const cairn_vec3 *x, const double *radius, int j)
{
    const cairn_contact_store *c = &step->world->contacts;
    return c->mu[j] == c->mu_2[j] && is_round(step, x, radius, j, 0) &&
           is_round(step, x, radius, j, 1);
}

/* Indices in H for the contacts that need stored rows, and for the blocks of joints after them. */
static cairn_status give_places(const cairn_step *step, const cairn_free_motion *motion,
                                const cairn_mechanism *joints, cairn_posed *posed)
{
    int contacts = step->world->contacts.count, all = contacts + joints->blocks;
    posed->rows = cairn_arena_take(&step->world->scratch, (size_t)all, sizeof *posed->rows);
    if (!posed->rows)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < all; j++)
        posed->rows[j] = j < contacts && is_of_balls(step, motion->x_eval, posed->balls.radius, j)
                             ? -1
                             : posed->stored++;
    return CAIRN_OK;
}

/* Whether all contacts are of balls for reasons that do not depend on the contacts: all dynamic
 * bodies are balls, all shapes balls or planes. This saves a test per contact. All members must
 * agree, so that they pose pieces of the same problem. */
static bool all_balls(const cairn_step *step, bool plain, const cairn_mechanism *joints,
                      const double *radius)
{
    bool all = plain && !joints->any && !step->world->materials.laws.anisotropic;
    for (int k = 0; all && k < step->blocks; k++)
        all = radius[k] >= 0;
    return cairn_link_all(step->world->exchange.link, all);
}

/* `rows` and `stored` describe H: NULL and all contacts if every one has rows, NULL and 0 if none
 * has. */
cairn_status cairn_step_find_balls(const cairn_step *step, const cairn_free_motion *motion,
                                   bool plain, const cairn_mechanism *joints, cairn_posed *posed)
{
    posed->balls.radius = NULL;
    posed->balls.all = false;
    posed->rows = NULL;
    posed->stored = step->world->contacts.count + joints->blocks;
    /* 2D has kernels of its own; rows of rolling and spinning friction are always stored */
    if (step->world->dimension == 2 || step->components != 3)
        return CAIRN_OK;
    posed->balls.radius =
        cairn_arena_take(&step->world->scratch, (size_t)step->blocks, sizeof *posed->balls.radius);
    if (!posed->balls.radius)
        return CAIRN_NO_MEMORY;
    find_radii(step, posed->balls.radius);
    posed->balls.all = all_balls(step, plain, joints, posed->balls.radius);
    posed->stored = 0;
    if (!posed->balls.all)
        TRY(give_places(step, motion, joints, posed));
    if (posed->stored == 0)
        posed->rows = NULL; /* each contact turned out to be of balls */
    return CAIRN_OK;
}
