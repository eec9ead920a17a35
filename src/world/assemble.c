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
 * impulses.c. Where contacts are linearised ahead, g is the gap that the linearisation gives back
 * at the start, of either sign. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/status.h"
#include "math/vec.h"
#include "problem/operator.h"
#include "world/scheme.h"

enum { GRAIN = 2048 }; /* bodies or contacts in one piece of parallel work */

/* ---- arrays --------------------------------------------------------------------------------- */

/* Whether something without a block moves a contact: w is needed. */
static bool imposes(const cairn_stage *stage)
{
    const cairn_body_store *b = &stage->world->bodies;
    bool any = stage->joints.blocks > 0;
    for (int i = 0; i < b->count && !any; i++)
        any = b->alive[i] && stage->block[i] < 0 &&
              (b->motion[i] == CAIRN_MOTION_DRIVEN || cairn_norm(b->surface_velocity[i]) > 0);
    return any;
}

/* Whether impulses and velocities of the problem are those of the list of contacts as they are. */
static bool shares_arrays(const cairn_stage *stage)
{
    const cairn_world *world = stage->world;
    bool turns = world->laws.rolling || world->laws.spinning; /* then moments are to be stored */
    return world->contacts.count > 0 && stage->joints.blocks == 0 && !world->laws.anisotropic &&
           !world->laws.adhesive && !turns && stage->components == world->dimension;
}

static void share_arrays(cairn_stage *stage)
{
    const cairn_contact_store *c = &stage->world->contacts;
    stage->r = c->impulse;
    stage->u = c->velocity;
    if (!stage->scheme->frictionless)
        stage->mu = c->mu;
}

static cairn_status take_arrays(cairn_stage *stage)
{
    cairn_arena *scratch = &stage->world->scratch;
    bool shared = shares_arrays(stage), frictionless = stage->scheme->frictionless;
    size_t d = (size_t)stage->components, n = (size_t)stage->block_size;
    size_t velocities = (size_t)stage->blocks * n,
           m = (size_t)(stage->world->contacts.count + stage->joints.blocks);
    const struct {
        double **array;
        size_t count;
        bool filled; /* all of it before anyone reads it */
    } wanted[] = {
        { &stage->mass_inverse, velocities, true },
        { &stage->v_problem, velocities, true },
        { &stage->v, velocities },
        { &stage->v_old, velocities, true },
        { &stage->H, (size_t)stage->stored * 2 * d * n },
        { &stage->w, imposes(stage) ? m * d : 0 },
        { &stage->r, shared ? 0 : m * d },
        { &stage->u, shared ? 0 : m * d },
        { &stage->b, m, stage->joints.blocks == 0 },
        { &stage->mu, shared && !frictionless ? 0 : m, stage->joints.blocks == 0 },
        { &stage->mu_rolling, stage->rolling ? m : 0 },
        { &stage->mu_spinning, stage->spinning ? m : 0 },
        { &stage->s, m, stage->joints.blocks == 0 },
    };
    for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++) {
        *wanted[k].array = wanted[k].filled
                               ? cairn_arena_take(scratch, wanted[k].count, sizeof(double))
                               : cairn_arena_doubles(scratch, wanted[k].count);
        if (!*wanted[k].array)
            return CAIRN_NO_MEMORY;
    }
    if (!imposes(stage))
        stage->w = NULL;
    if (shared)
        share_arrays(stage);
    stage->contact_block =
        cairn_arena_take(&stage->world->scratch, 2 * m, sizeof *stage->contact_block);
    return stage->contact_block ? CAIRN_OK : CAIRN_NO_MEMORY;
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

static void fill_block(cairn_stage *stage, int i)
{
    const cairn_body_store *b = &stage->world->bodies;
    size_t first = (size_t)stage->block[i] * (size_t)stage->block_size;
    double *mass = stage->mass_inverse + first, m = inverse(b->mass[i]);
    cairn_vec3 J = b->inertia[i];
    if (stage->world->dimension == 2) {
        const double values[3] = { m, m, inverse(J.z) };
        memcpy(mass, values, sizeof values);
    } else {
        double x = inverse(J.x), y = J.y == J.x ? x : inverse(J.y),
               z = J.z == J.x ? x : inverse(J.z);
        const double values[6] = { m, m, m, x, y, z };
        memcpy(mass, values, sizeof values);
    }
    cairn_vec3 free =
        cairn_stage_swings(stage, i) ? stage->joints.swing[i].omega_free : stage->omega_free[i];
    cairn_vec3 old = b->omega[i];
    if (cairn_stage_in_space(stage, i)) {
        bool same = free.x == old.x && free.y == old.y && free.z == old.z;
        old = cairn_rotate(b->q[i], old);
        free = same ? old : cairn_rotate(b->q[i], free);
    }
    fill_velocity(stage->world->dimension, stage->v_free[i], free, stage->v_problem + first);
    fill_velocity(stage->world->dimension, b->v[i], old, stage->v_old + first);
}

/* ---- contacts ------------------------------------------------------------------------------- */

/* What the rows of a contact say: directions of relative velocity, and of relative turning. */
typedef struct frame {
    cairn_vec3 row[3], turn[3];
} frame;

double *cairn_stage_rows(const cairn_stage *stage, int j, int side)
{
    size_t at = (size_t)(stage->rows ? stage->rows[j] : j);
    return stage->H + (at * 2 + (size_t)side) * (size_t)(stage->components * stage->block_size);
}

/* An angular part of a row: in the body frame, for balls in space. */
static void fill_angular(const cairn_stage *stage, int body, cairn_vec3 turn, double *H)
{
    if (!cairn_stage_in_space(stage, body))
        turn = cairn_rotate_back(stage->world->bodies.q[body], turn);
    const double parts[3] = { turn.x, turn.y, turn.z };
    memcpy(H + 3, parts, sizeof parts);
}

static void fill_rows(const cairn_stage *stage, int j, int side, const frame *f)
{
    int n = stage->block_size, body = stage->world->contacts.body[2 * j + side];
    double sign = side ? -1 : 1;
    double *H = cairn_stage_rows(stage, j, side);
    cairn_vec3 arm = cairn_contact_arm(stage, j, side);
    for (int i = 0; i < 3; i++, H += n) {
        cairn_vec3 e = cairn_scale(sign, f->row[i]);
        memcpy(H, &e, 3 * sizeof *H);
        fill_angular(stage, body, cairn_cross(arm, e), H);
    }
    for (int i = 0; i < stage->rolling + stage->spinning; i++, H += n)
        fill_angular(stage, body, cairn_scale(sign, f->turn[i]), H);
}

/* Likewise in 2D, where all turns about z. */
static void fill_flat_rows(const cairn_stage *stage, int j, int side, const frame *f)
{
    double sign = side ? -1 : 1;
    double *H = cairn_stage_rows(stage, j, side);
    cairn_vec3 arm = cairn_contact_arm(stage, j, side);
    for (int i = 0; i < 2; i++, H += 3) {
        H[0] = sign * f->row[i].x;
        H[1] = sign * f->row[i].y;
        H[2] = arm.x * H[1] - arm.y * H[0];
    }
    for (int i = 0; i < stage->rolling + stage->spinning; i++, H += 3)
        H[2] = sign * f->turn[i].z;
}

/* Velocity of a body's point: of a given state (v, omega in the body frame). The frame is that of
 * the start: R omega is the same all along the step, which turns about omega; and a ball's angular
 * momentum then changes by exactly p x r. */
static cairn_vec3 point_velocity(const cairn_stage *stage, int body, cairn_vec3 arm, cairn_vec3 v,
                                 cairn_vec3 omega)
{
    cairn_vec3 in_world = cairn_rotate(stage->world->bodies.q[body], omega);
    return cairn_add(v, cairn_cross(in_world, arm));
}

/* The part of u that bodies without a block impose. */
static void fill_imposed(const cairn_stage *stage, int j, int side, const frame *f)
{
    const cairn_contact_store *c = &stage->world->contacts;
    int d = stage->world->dimension, body = c->body[2 * j + side];
    double *w = stage->w + (size_t)j * (size_t)stage->components, sign = side ? -1 : 1;
    cairn_vec3 surface = cairn_surface_velocity(stage, body, c->normal[j]);
    for (int i = 1; i < d; i++)
        w[i] += sign * cairn_dot(surface, f->row[i]);
    if (stage->world->bodies.motion[body] != CAIRN_MOTION_DRIVEN)
        return;
    cairn_vec3 arm = cairn_contact_arm(stage, j, side), omega = stage->omega_free[body];
    cairn_vec3 v = point_velocity(stage, body, arm, stage->v_free[body], omega);
    for (int i = 0; i < d; i++)
        w[i] += sign * cairn_dot(v, f->row[i]);
    omega = cairn_rotate(stage->world->bodies.q[body], omega);
    for (int i = 0; i < stage->rolling + stage->spinning; i++)
        w[d + i] += sign * cairn_dot(omega, f->turn[i]);
}

/* Normal velocity with given velocities of dynamic bodies. */
static double normal_velocity(const cairn_stage *stage, int j, const cairn_vec3 *linear,
                              const cairn_vec3 *angular)
{
    const cairn_contact_store *c = &stage->world->contacts;
    const cairn_body_store *b = &stage->world->bodies;
    double u = 0;
    for (int side = 0; side < 2; side++) {
        int body = c->body[2 * j + side];
        bool driven = b->motion[body] == CAIRN_MOTION_DRIVEN;
        cairn_vec3 v = point_velocity(stage, body, cairn_contact_arm(stage, j, side),
                                      driven ? stage->v_free[body] : linear[body],
                                      driven ? stage->omega_free[body] : angular[body]);
        u += (side ? -1 : 1) * cairn_dot(v, c->normal[j]);
    }
    return u;
}

/* Normal velocity with the bodies' velocities before the step (loads not yet counted). */
static double normal_velocity_before(const cairn_stage *stage, int j)
{
    const cairn_body_store *b = &stage->world->bodies;
    return normal_velocity(stage, j, b->v, b->omega);
}

/* The gap at the start of the step, as its linearisation where it was evaluated has it:
 * g(q + h v^) - h n.v^. With it u_N + b = (g(q + h v^) + h n.(v - v^))/h. */
double cairn_stage_gap(const cairn_stage *stage, int j)
{
    double gap = stage->world->contacts.gap[j];
    if (!stage->linearisations)
        return gap;
    return gap - stage->h * normal_velocity(stage, j, stage->v_eval, stage->omega_eval);
}

/* Newton's e. */
static double restitution(const cairn_stage *stage, int j)
{
    const cairn_contact_store *c = &stage->world->contacts;
    return c->poisson && c->poisson[j] ? 0 : c->restitution[j];
}

/* gamma g/h, of an overlap g < 0 only where overlaps push. */
double cairn_stage_apart(const cairn_stage *stage, double gap, double overlap, double leaves)
{
    double rate = stage->options->stabilisation / stage->h;
    double apart = fmax(rate * (gap - overlap), -leaves);
    return stage->overlaps == CAIRN_OVERLAPS_PUSH ? apart + rate * overlap : apart;
}

/* Without restitution nobody asks for the velocity before. */
static double bias(const cairn_stage *stage, int j)
{
    double gap = cairn_stage_gap(stage, j), e = restitution(stage, j);
    const cairn_approach at = { .gap = gap,
                                .apart = cairn_stage_apart(stage, gap, fmin(0, gap), 0),
                                .before = e > 0 ? normal_velocity_before(stage, j) : 0,
                                .restitution = e };
    return cairn_scheme_bias(stage->scheme, stage->h, &at);
}

/* Rows and what is imposed, of a contact that has any. */
static void fill_sides(const cairn_stage *stage, int j)
{
    const cairn_contact_store *c = &stage->world->contacts;
    bool of_balls = cairn_is_of_balls(&stage->problem, j);
    frame f;
    if (of_balls && !stage->w)
        return;
    cairn_contact_rows(c, j, f.row);
    cairn_contact_turns(stage, j, f.turn);
    for (int side = 0; side < 2; side++) {
        int block = stage->block[c->body[2 * j + side]];
        if (block >= 0 && !of_balls)
            (stage->world->dimension == 3 ? fill_rows : fill_flat_rows)(stage, j, side, &f);
        else if (block < 0 && stage->w)
            fill_imposed(stage, j, side, &f);
    }
}

static void fill_contact(const cairn_stage *stage, int j)
{
    const cairn_contact_store *c = &stage->world->contacts;
    for (int side = 0; side < 2; side++)
        stage->contact_block[2 * j + side] = stage->block[c->body[2 * j + side]];
    fill_sides(stage, j);
    stage->b[j] = bias(stage, j);
    stage->mu[j] = stage->scheme->frictionless ? 0 : fmax(c->mu[j], c->mu_2[j]);
    if (stage->rolling)
        stage->mu_rolling[j] = c->mu_rolling[j];
    if (stage->spinning)
        stage->mu_spinning[j] = c->mu_spinning[j];
}

static void block_range(int begin, int end, void *context)
{
    cairn_stage *stage = context;
    for (int i = begin; i < end; i++) {
        cairn_stage_ask_to_write(stage, i + CAIRN_AHEAD, stage->mass_inverse);
        cairn_stage_ask_to_write(stage, i + CAIRN_AHEAD, stage->v_problem);
        cairn_stage_ask_to_write(stage, i + CAIRN_AHEAD, stage->v_old);
        if (stage->block[i] >= 0)
            fill_block(stage, i);
    }
}

static void contact_range(int begin, int end, void *context)
{
    for (int j = begin; j < end; j++)
        fill_contact(context, j);
}

/* What adhesion pulls adds up in v_free: contact by contact. */
static cairn_status adhere(cairn_stage *stage)
{
    const cairn_contact_store *c = &stage->world->contacts;
    for (int j = 0; stage->world->laws.adhesive && j < c->count; j++)
        if (c->adhesion[j] > 0)
            TRY(cairn_stage_adhere(stage, j));
    return CAIRN_OK;
}

/* All contacts of a problem have the same components: rolling and spinning ones where some material
 * has such friction. */
static void choose_components(cairn_stage *stage)
{
    cairn_world *world = stage->world;
    int d = world->dimension;
    stage->rolling = world->laws.rolling && !stage->scheme->frictionless ? d - 1 : 0;
    stage->spinning = world->laws.spinning && !stage->scheme->frictionless ? 1 : 0;
    stage->components = d + stage->rolling + stage->spinning;
    world->contacts.moments = world->laws.rolling || world->laws.spinning ? 2 * d - 3 : 0;
}

/* The problem on the arrays of the stage, before they are filled. */
static void pose_problem(cairn_stage *stage)
{
    const cairn_world *world = stage->world;
    bool edges = stage->scheme->edges && world->dimension == 3;
    bool balls = stage->stored < world->contacts.count + stage->joints.blocks;
    stage->problem = (cairn_problem){ .dimension = stage->components,
                                      .rolling = stage->rolling,
                                      .spinning = stage->spinning,
                                      .directions = edges ? (int)stage->options->directions : 0,
                                      .block_size = stage->block_size,
                                      .blocks = stage->blocks,
                                      .contacts = world->contacts.count,
                                      .parts = (int)stage->options->parts,
                                      .mass_inverse = stage->mass_inverse,
                                      .v_free = stage->v_problem,
                                      .block = stage->contact_block,
                                      .H = stage->H,
                                      .normal = balls ? world->contacts.normal : NULL,
                                      .tangent = balls ? world->contacts.tangent : NULL,
                                      .radius = balls ? stage->radius : NULL,
                                      .rows = balls ? stage->rows : NULL,
                                      .w = stage->w,
                                      .b = stage->b,
                                      .mu = stage->mu,
                                      .mu_rolling = stage->rolling ? stage->mu_rolling : NULL,
                                      .mu_spinning = stage->spinning ? stage->mu_spinning : NULL };
}

cairn_status cairn_stage_assemble(cairn_stage *stage)
{
    const cairn_world *world = stage->world;
    stage->behind = NULL; /* of the last attempt */
    choose_components(stage);
    TRY(cairn_stage_joints_prepare(stage));
    TRY(cairn_stage_find_balls(stage));
    TRY(take_arrays(stage));
    cairn_parallel_for(world->bodies.count, GRAIN, block_range, stage);
    cairn_stage_joints_steady(stage);
    pose_problem(stage);
    cairn_parallel_for(world->contacts.count, GRAIN, contact_range, stage);
    TRY(adhere(stage));
    cairn_stage_warm_start(stage);
    return cairn_stage_joints_fill(stage);
}
