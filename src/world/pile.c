/* pile.c - steps of balls among walls that are computed on the device of a back end
 * (cairn/backend.h, docs/gpu.md): bodies and contacts stay there from step to step. Candidates,
 * impulses, penetration correction, motion and sums are the device's, by the formulas of
 * integrate.c, contacts.c, assemble.c, correct.c, certificate.c, motion.c and penetration.c.
 *
 * After such a step the list of contacts of the world is empty and says how many there are
 * elsewhere, and so do the columns of bodies; who looks at them makes cairn_pile_show and
 * cairn_pile_return copy them. Bodies that were copied go up again with the next step: somebody
 * may have changed them. The impulses for the next step are found by the uids of bodies, so rows
 * may change between steps. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/common.h"
#include "base/parallel.h"
#include "collide/convex.h"
#include "math/vec.h"
#include "shape/geometry.h"
#include "solve/solver.h"
#include "world/step.h"

enum { GRAIN = 2048, MOST_WALLS = 256 };
static const double ROOMY = 4; /* radii of balls: in a wider cylinder they touch at one point */

/* ---- which worlds are piles ------------------------------------------------------------------ */

/* Whether a scheme poses one problem for a solver, with gaps of the start and circular cones. */
static bool scheme_fits(const cairn_step_options *options)
{
    const cairn_scheme *s = cairn_scheme_find(options->scheme);
    return !s->edges && !s->velocity_level && !cairn_scheme_is_mixed(s) &&
           (s->solver_laws & (1u << s->law)) &&
           cairn_scheme_linearisations(s, options->linearisations) == 0;
}

/* Whether the world has no law or part that only the host knows. */
static bool laws_fit(const cairn_world *world)
{
    const cairn_material_list *m = &world->materials;
    const cairn_surface_laws *laws = &m->laws;
    bool plain = !m->friction_varies && !m->bouncing && !laws->anisotropic && !laws->adhesive &&
                 !laws->rolling && !laws->spinning && !laws->moving;
    return plain && world->dimension == 3 && world->joints.count == 0 && world->driven.count == 0 &&
           world->driven.cells.count == 0 && !cairn_lattice_of(world) &&
           !cairn_loads_act(&world->loaded) && !world->bodies.grouped && !world->exchange.link &&
           world->bodies.next_uid <= UINT32_MAX;
}

/* Shapes that fixed bodies of a pile can have, beside balls and half-spaces. */
typedef struct wall_form {
    bool is;
    cairn_wall_kind kind;
} wall_form;

static const wall_form forms[CAIRN_SHAPE_COUNT] = {
    [CAIRN_SHAPE_INSIDE_CYLINDER] = { true, CAIRN_WALL_TUBE },
    [CAIRN_SHAPE_INSIDE_CONE] = { true, CAIRN_WALL_CONE },
    [CAIRN_SHAPE_FUNNEL] = { true, CAIRN_WALL_FUNNEL },
    [CAIRN_SHAPE_INSIDE_BOX] = { true, CAIRN_WALL_CONTAINER },
    [CAIRN_SHAPE_BOX] = { true, CAIRN_WALL_BOX },
    [CAIRN_SHAPE_CAPSULE] = { true, CAIRN_WALL_CAPSULE },
    [CAIRN_SHAPE_CYLINDER] = { true, CAIRN_WALL_CYLINDER },
    [CAIRN_SHAPE_MESH] = { true, CAIRN_WALL_SURFACE },
    [CAIRN_SHAPE_HEIGHT_FIELD] = { true, CAIRN_WALL_SURFACE },
};

static bool is_wall(const cairn_shape *shape)
{
    return shape->kind == CAIRN_SHAPE_HALF_SPACE || forms[shape->kind].is;
}

typedef struct fit_job {
    const cairn_world *world;
    atomic_bool odd; /* some body is neither a wall nor a ball */
    atomic_int walls;
} fit_job;

static void fit_range(int begin, int end, void *context)
{
    fit_job *job = context;
    const cairn_body_store *b = &job->world->bodies;
    for (int i = begin; i < end; i++) {
        cairn_vec3 J = b->inertia[i];
        bool dynamic = b->motion[i] == CAIRN_MOTION_DYNAMIC;
        bool wall = !dynamic && is_wall(cairn_body_shape(b, i));
        bool ball = b->ball[i] > 0 && (!dynamic || (J.x == J.y && J.y == J.z && J.x > 0));
        if (wall)
            atomic_fetch_add(&job->walls, 1);
        if ((!wall && !ball) || b->motion[i] == CAIRN_MOTION_DRIVEN)
            atomic_store(&job->odd, true);
    }
}

static bool bodies_fit(const cairn_world *world)
{
    fit_job job = { .world = world };
    cairn_parallel_for(world->bodies.count, GRAIN, fit_range, &job);
    return !atomic_load(&job.odd) && atomic_load(&job.walls) <= MOST_WALLS;
}

/* Whether a step with these options is one of a pile, on a back end that has any. */
static bool is_pile(const cairn_world *world, const cairn_step_options *options)
{
    bool plain = !options->sleep && options->parts == 0 && options->probe_count == 0;
    return plain && scheme_fits(options) && laws_fit(world);
}

const char *cairn_world_choose_backend(cairn_world *world, const cairn_step_options *options,
                                       const char *device, int64_t to_come)
{
    cairn_step_options there = *options;
    int64_t balls = world->bodies.count - world->bodies.held + to_come;
    there.backend = device;
    bool fits = balls >= CAIRN_AUTO_BODIES && is_pile(world, options) && bodies_fit(world);
    bool usable = fits && cairn_world_step_check(world, &there, NULL) == CAIRN_OK;
    return usable ? device : cairn_backend_name(0);
}

/* Depends on the world and the options alone. */
const cairn_backend *cairn_pile_backend(cairn_world *world, const cairn_step_options *options)
{
    bool fits = is_pile(world, options) && world->bodies.count > world->bodies.held;
    if (!fits || cairn_backend_summary(options->backend))
        return NULL; /* back ends of the library have no piles */
    if (world->workspace->pile &&
        strcmp(world->workspace->use.backend->name, options->backend) != 0)
        cairn_world_name_rows(world); /* a pile ends with its back end */
    const cairn_backend *backend = cairn_workspace_backend(world->workspace, options->backend);
    bool known = world->bodies.elsewhere & CAIRN_STATES_ELSEWHERE; /* nobody changed them */
    return backend && backend->pile && (known || bodies_fit(world)) ? backend : NULL;
}

static cairn_pile *pile_of(const cairn_step *step)
{
    return step->world->workspace->pile;
}

/* Whether some wall is no plane, or, `faces`, has faces. */
static bool has_kind(const cairn_step *step, bool faces)
{
    const cairn_body_store *b = &step->world->bodies;
    for (int i = 0; i < step->held; i++) {
        const cairn_shape *shape = cairn_body_shape(b, i);
        if (b->ball[i] < 0 && (faces ? cairn_shape_has_faces(shape) : forms[shape->kind].is))
            return true;
    }
    return false;
}

/* ---- the start ------------------------------------------------------------------------------- */

/* The impulse of contact j on its body a, in world axes, N s. */
static cairn_vec3 impulse_of(const cairn_contact_store *c, int j)
{
    const double *r = c->impulse + 3 * (size_t)j;
    cairn_vec3 p = cairn_scale(r[0], c->normal[j]);
    p = cairn_add_scaled(p, r[1], c->tangent[j]);
    return cairn_add_scaled(p, r[2], cairn_cross(c->normal[j], c->tangent[j]));
}

/* What distinguishes contact j of the last step from others of the same two bodies. */
static cairn_pile_part part_of(const cairn_world *world, const cairn_contact_store *last, int j)
{
    const int32_t *body = last->body + 2 * (size_t)j;
    const uint64_t *uid = world->bodies.uid;
    int first = uid[body[0]] < uid[body[1]] ? 0 : 1;
    cairn_pile_part part = { last->feature[j], -1, -1 };
    for (int i = 0; i < 2; i++) {
        cairn_piece piece = cairn_contact_piece(last, j, i);
        if (piece.part >= 0 || piece.face < 0)
            continue;
        const cairn_shape *shape = cairn_body_shape(&world->bodies, body[i ^ first]);
        part.face = piece.face;
        part.patch = cairn_piece_patch(shape, piece).face;
    }
    return part;
}

/* The contacts of the last step become those of the pile, if the host has them. */
static cairn_status take_over(const cairn_step *step)
{
    cairn_world *world = step->world;
    const cairn_contact_store *last = &world->last;
    cairn_arena *scratch = &world->scratch;
    cairn_arena_moment before = cairn_arena_now(scratch);
    size_t count = (size_t)last->count;
    uint64_t *uid = cairn_arena_take(scratch, 2 * count, sizeof *uid);
    cairn_vec3 *impulse = cairn_arena_take(scratch, count, sizeof *impulse);
    cairn_pile_part *part = NULL;
    bool parts = has_kind(step, false);
    if (parts)
        part = cairn_arena_take(scratch, count, sizeof *part);
    if (!uid || !impulse || (parts && !part))
        return CAIRN_NO_MEMORY;
    for (size_t j = 0; j < count; j++) {
        uid[2 * j] = world->bodies.uid[last->body[2 * j]];
        uid[2 * j + 1] = world->bodies.uid[last->body[2 * j + 1]];
        impulse[j] = impulse_of(last, (int)j);
        if (parts)
            part[j] = part_of(world, last, (int)j);
    }
    TRY(step->pile->pile->start(pile_of(step), (int)count, uid, impulse, part));
    cairn_arena_return(scratch, before);
    world->workspace->pile_is_last = true;
    return CAIRN_OK;
}

/* m: the largest radius of balls, if some body is round inside; else 0. */
static double widest_ball(const cairn_body_store *b)
{
    double widest = 0;
    bool round = false;
    for (int i = 0; i < b->held; i++)
        round |= cairn_body_shape(b, i)->kind == CAIRN_SHAPE_INSIDE_CYLINDER;
    for (int i = b->held; round && i < b->count; i++)
        widest = fmax(widest, b->ball[i]);
    return widest;
}

/* The triangles of a mesh or height field. */
static cairn_wall_surface surface_of(const cairn_geometry *g)
{
    return (cairn_wall_surface){ .vertices = g->view.vertex_count,
                                 .faces = g->view.face_count,
                                 .vertex = g->view.vertices,
                                 .normal = g->view.face_normal,
                                 .corner = g->view.face_vertex,
                                 .neighbour = g->neighbour,
                                 .patch = g->patch,
                                 .order = g->tree.items };
}

/* The wall of a held body, in memory that is 0. An open mesh is a sheet with two sides. */
static void describe_wall(const cairn_world *world, int row, cairn_pile_wall *out)
{
    const cairn_collider c = cairn_body_collider(world, row);
    const cairn_shape *s = c.shape;
    bool funnel = s->kind == CAIRN_SHAPE_FUNNEL, solid = s->kind == CAIRN_SHAPE_BOX;
    out->row = row;
    out->kind = (int32_t)forms[s->kind].kind;
    out->over = cairn_corner_feature(0);
    out->x = c.x;
    out->q = c.q;
    out->axis = cairn_rotate(c.q, cairn_unit(s->axis));
    out->rounding = solid ? s->rounding : 0;
    out->half = cairn_vec(0.5 * s->size.x - out->rounding, 0.5 * s->size.y - out->rounding,
                          0.5 * s->size.z - out->rounding);
    out->radius = funnel ? s->bottom_radius : s->radius;
    out->top = s->top_radius;
    out->height = s->kind == CAIRN_SHAPE_CAPSULE ? s->length : s->height;
    out->sine = sin(s->half_angle);
    out->cosine = cos(s->half_angle);
    out->extent = cairn_shape_extent(s);
    if (cairn_shape_has_faces(s)) {
        out->two_sided = s->kind == CAIRN_SHAPE_MESH && !s->geometry->view.closed;
        out->surface = surface_of(s->geometry);
    }
}

/* The walls among the held bodies. */
typedef struct wall_columns {
    cairn_vec3 *axis; /* of planes and wide cylinders          */
    double *inside;   /* as cairn_pile_bodies says             */
    cairn_pile_wall *walls;
    int count;
} wall_columns;

static cairn_status find_walls(const cairn_step *step, wall_columns *out)
{
    const cairn_body_store *b = &step->world->bodies;
    cairn_arena *scratch = &step->world->scratch;
    size_t held = (size_t)step->held;
    double widest = widest_ball(b);
    out->axis = cairn_arena_take(scratch, held + 1, sizeof *out->axis);
    out->inside = cairn_arena_doubles(scratch, held + 1);
    out->walls = cairn_arena_take(scratch, MOST_WALLS, sizeof *out->walls);
    out->count = 0;
    if (!out->axis || !out->inside || !out->walls)
        return CAIRN_NO_MEMORY;
    memset(out->walls, 0, MOST_WALLS * sizeof *out->walls);
    for (int i = 0; i < step->held; i++) {
        const cairn_shape *s = cairn_body_shape(b, i);
        bool ball = b->ball[i] >= 0, plane = s->kind == CAIRN_SHAPE_HALF_SPACE;
        bool wide = s->kind == CAIRN_SHAPE_INSIDE_CYLINDER && s->radius > ROOMY * widest;
        out->axis[i] = ball ? cairn_vec(0, 0, 0) : cairn_rotate(b->q[i], cairn_unit(s->axis));
        out->inside[i] = wide ? s->radius : 0;
        if (ball || plane || wide)
            continue;
        out->inside[i] = -cairn_shape_extent(s);
        describe_wall(step->world, i, &out->walls[out->count++]);
    }
    return CAIRN_OK;
}

/* The bodies of the host become those of the pile. */
static cairn_status give_bodies(const cairn_step *step)
{
    const cairn_body_store *b = &step->world->bodies;
    wall_columns walls;
    TRY(find_walls(step, &walls));
    const cairn_pile_bodies bodies = { .count = b->count,
                                       .held = step->held,
                                       .x = b->x,
                                       .q = b->q,
                                       .v = b->v,
                                       .omega = b->omega,
                                       .axis = walls.axis,
                                       .inside = walls.inside,
                                       .radius = b->ball,
                                       .uid = b->uid,
                                       .material = b->material,
                                       .mass = b->mass,
                                       .inertia = b->inertia,
                                       .walls = walls.walls,
                                       .wall_count = walls.count };
    return step->pile->pile->take(pile_of(step), &bodies);
}

static cairn_status open_pile(const cairn_step *step)
{
    cairn_workspace *w = step->world->workspace;
    if (!w->pile)
        TRY(step->pile->pile->create(&w->pile));
    if (!(step->world->bodies.elsewhere & CAIRN_STATES_ELSEWHERE))
        TRY(give_bodies(step));
    return w->pile_is_last ? CAIRN_OK : take_over(step);
}

/* ---- what the device is given ---------------------------------------------------------------- */

static cairn_status give_rule(const cairn_step *step, double ratio, cairn_pile_rule *out)
{
    const cairn_step_options *o = step->options;
    size_t materials = step->world->materials.count;
    double *friction =
        cairn_arena_take(&step->world->scratch, materials * materials, sizeof *friction);
    if (!friction)
        return CAIRN_NO_MEMORY;
    for (size_t a = 0; a < materials; a++)
        for (size_t b = 0; b < materials; b++)
            friction[a * materials + b] =
                step->scheme->frictionless
                    ? 0
                    : cairn_material_pair(step->world, (int)a, (int)b).friction;
    double rate = o->stabilisation / step->h;
    *out = (cairn_pile_rule){ .h = step->h,
                              .gravity = step->world->gravity,
                              .margin = o->margin,
                              .closing = rate,
                              .pushing = step->overlaps == CAIRN_OVERLAPS_PUSH ? rate : 0,
                              .ratio = o->warm_start ? ratio : 0,
                              .materials = (int)materials,
                              .friction = friction,
                              .arcs = o->arcs };
    return CAIRN_OK;
}

/* ---- candidates, impulses, correction -------------------------------------------------------- */

/* Bytes that a solve takes for each contact and block, beside those of the pile: docs/gpu.md. */
enum { SOLVE_CONTACT = 780, SOLVE_BLOCK = 350 };

/* Refuses a problem that would not fit into the memory of the device, with the numbers. */
static cairn_status check_room(const cairn_step *step, const cairn_problem *p)
{
    double needed = (double)SOLVE_CONTACT * p->contacts + (double)SOLVE_BLOCK * p->blocks;
    double left = step->pile->pile->room();
    if (needed <= left)
        return CAIRN_OK;
    return cairn_fail(&step->world->error, CAIRN_NO_MEMORY, "run.backend",
                      "the solve of %d bodies and %d contacts takes about %.1f GB on the device, "
                      "which has %.1f GB left beside %.1f GB for the contacts: expected fewer "
                      "bodies, or the back end host",
                      p->blocks, p->contacts, 1e-9 * needed, 1e-9 * left,
                      1e-9 * (double)step->pile->pile->bytes(pile_of(step)));
}

static cairn_status solve(const cairn_step *step, const cairn_pile_problem *found)
{
    const cairn_solving s = cairn_step_solving(step, NULL);
    const cairn_answer there = {
        .problem = found->problem, .r = found->r, .v = found->v, .u = found->u
    };
    cairn_scheme_job job = cairn_solving_job(&s, &there);
    job.nothing = !found->warm;
    return step->scheme->solve(&job);
}

/* The displacement that corrects overlaps, as correct.c. *any: there is one. */
static cairn_status mend(const cairn_step *step, bool *any)
{
    const cairn_pile_overlaps overlaps = cairn_mending_rule(step);
    cairn_pile_problem part = { 0 };
    cairn_solve_report report;
    *any = false;
    if (step->overlaps != CAIRN_OVERLAPS_MOVE)
        return CAIRN_OK;
    TRY(step->pile->pile->mend(pile_of(step), &overlaps, &part));
    *any = part.problem.contacts > 0;
    if (!*any)
        return CAIRN_OK;
    const cairn_solve_options options = cairn_mending_options(step);
    return cairn_solve(&part.problem, &options, step->world->workspace, part.r, part.v, part.u,
                       &report);
}

/* A displacement of balls without rotation, as numbers of blocks. */
typedef struct spread_job {
    const double *linear; /* 3 of each block */
    double *shift;        /* 6 of each block */
} spread_job;

static void spread_range(int begin, int end, void *context)
{
    const spread_job *job = context;
    for (size_t k = (size_t)begin; k < (size_t)end; k++) {
        memcpy(job->shift + 6 * k, job->linear + 3 * k, 3 * sizeof *job->shift);
        memset(job->shift + 6 * k + 3, 0, 3 * sizeof *job->shift);
    }
}

/* Velocities and displacement of the blocks, for the host. */
static cairn_status fetch_velocities(const cairn_step *step, bool mended, cairn_answer *answer,
                                     cairn_mending *mending)
{
    cairn_arena *scratch = &step->world->scratch;
    size_t blocks = (size_t)step->blocks;
    uint8_t *shifted = NULL;
    double *linear = NULL;
    answer->v = cairn_arena_take(scratch, 6 * blocks, sizeof *answer->v);
    if (mended) {
        linear = cairn_arena_take(scratch, 3 * blocks, sizeof *linear);
        mending->shift = cairn_arena_take(scratch, 6 * blocks, sizeof *mending->shift);
        mending->shifted = shifted = cairn_arena_take(scratch, blocks, 1);
        mending->mended = mending->shift;
    }
    if (!answer->v || (mended && (!linear || !mending->shift || !shifted)))
        return CAIRN_NO_MEMORY;
    TRY(step->pile->pile->velocities(pile_of(step), answer->v, linear, shifted));
    spread_job job = { linear, mending->shift };
    if (mended)
        cairn_parallel_for((int)blocks, GRAIN, spread_range, &job);
    return CAIRN_OK;
}

/* The motion of a body without contact is not finite: the host says which, and how fast. */
static cairn_status refuse_motion(const cairn_step *step, int row)
{
    cairn_free_motion motion = { 0 };
    cairn_pile_return(step->world);
    TRY(cairn_step_free_motion(step, &motion));
    return cairn_fail(&step->world->error, CAIRN_NOT_FINITE, NULL,
                      "the energy of body %lld would be too large for a number",
                      cairn_row_uid(step->world, row));
}

cairn_status cairn_pile_velocities(const cairn_step *step, cairn_candidates *candidates)
{
    cairn_pile_rule rule;
    cairn_pile_problem found;
    bool again = step->report->attempts > 1;
    double clock = cairn_clock_seconds();
    if (!again) {
        TRY(open_pile(step));
        candidates->before_attempts = cairn_arena_now(&step->world->scratch);
    }
    TRY(give_rule(step, candidates->warm_ratio, &rule));
    TRY(step->pile->pile->find(pile_of(step), &rule, again, &found));
    step->report->timing.collide += cairn_clock_seconds() - clock;
    clock = cairn_clock_seconds();
    if (found.wild >= 0)
        return refuse_motion(step, found.wild);
    step->report->candidates = found.problem.contacts;
    candidates->plain = true;
    TRY(check_room(step, &found.problem));
    TRY(solve(step, &found));
    TRY(mend(step, &candidates->mended));
    step->report->timing.solve += cairn_clock_seconds() - clock;
    return CAIRN_OK;
}

cairn_status cairn_pile_outran(const cairn_step *step, bool *outran)
{
    cairn_pile_race race;
    TRY(step->pile->pile->race(pile_of(step), &race));
    *outran = race.outran > 0;
    return CAIRN_OK;
}

/* The motion is proportional to the time step, as in cairn_step_needed. */
double cairn_pile_needed(const cairn_step *step, int *body)
{
    cairn_pile_race race;
    *body = -1;
    if (step->pile->pile->race(pile_of(step), &race) != CAIRN_OK || !(race.share > 1))
        return 0.5 * step->h;
    *body = race.body;
    return step->h / race.share;
}

/* The next attempt starts from the impulses of this one, which the pile has. */
cairn_status cairn_pile_set_aside(const cairn_step *step, cairn_candidates *candidates)
{
    cairn_arena_return(&step->world->scratch, candidates->before_attempts);
    candidates->warm_ratio = 1;
    return CAIRN_OK;
}

/* ---- certificate ----------------------------------------------------------------------------- */

cairn_status cairn_pile_certify(const cairn_step *step, cairn_candidates *candidates)
{
    cairn_step_report *report = step->report;
    cairn_certificate *c = &report->certificate;
    cairn_pile_sums sums;
    TRY(step->pile->pile->measure(pile_of(step), step->scheme->law, &sums));
    c->judgement = report->solve.judgement;
    c->cone_violation = c->judgement.cone_violation;
    c->gap_error = sums.gap_error;
    c->complementarity = sums.complementarity;
    c->friction_direction = sums.friction_direction;
    c->dilatation = sums.dilatation;
    c->spurious_work = sums.spurious_work;
    report->active = (int)sums.active;
    candidates->far = sums.far > 0;
    report->distance_body[0] = report->distance_body[1] = -1;
    report->energy.impact_loss += sums.impact_loss;
    report->energy.friction_loss += sums.friction_loss;
    if (cairn_report_is_finite(report))
        return CAIRN_OK;
    return cairn_fail(&step->world->error, CAIRN_NOT_FINITE, NULL,
                      "the impulses of this step are too large for numbers");
}

/* ---- the end of a step ----------------------------------------------------------------------- */

/* Room for the contacts of the pile on the host, so that showing them cannot fail, and for what the
 * inputs of the step say about each. */
static cairn_status make_room(const cairn_step *step)
{
    cairn_world *world = step->world;
    size_t count = (size_t)step->report->candidates;
    double *bias = cairn_arena_take(&world->scratch, count, sizeof *bias);
    double *correction = cairn_arena_take(&world->scratch, count, sizeof *correction);
    size_t rows = (size_t)world->bodies.count;
    cairn_vec3 *x = cairn_arena_take(&world->scratch, rows, sizeof *x);
    cairn_vec3 *load = cairn_arena_take(&world->scratch, rows, sizeof *load);
    cairn_quat *q = cairn_arena_take(&world->scratch, rows, sizeof *q);
    if (!bias || !correction || !x || !load || !q)
        return CAIRN_NO_MEMORY;
    world->inputs = (cairn_step_inputs){ .count = (int)rows,
                                         .force = load,
                                         .torque = load,
                                         .x = x,
                                         .q = q,
                                         .bias = bias,
                                         .correction = correction };
    /* far more than needed: memory that is not used costs nothing, to move it does */
    size_t most = 2 * count > 4 * rows ? 2 * count : 4 * rows;
    bool grows = count > world->contacts.capacity;
    unsigned set = has_kind(step, true) ? CAIRN_CONTACTS_PIECES : 0;
    return cairn_contacts_reserve(&world->contacts, grows ? most : count, set, world->dimension);
}

typedef struct name_job {
    cairn_world *world;
    atomic_bool gone; /* some body is no more */
} name_job;

/* The rows of bodies that are given by uid, and what follows from their materials. */
static void name_range(int begin, int end, void *context)
{
    name_job *job = context;
    cairn_world *world = job->world;
    cairn_contact_store *c = &world->contacts;
    cairn_contact_law law = { .a = -1, .b = -1 };
    for (int j = begin; j < end; j++) {
        bool there = true;
        for (int side = 0; side < 2; side++) {
            int32_t *body = c->body + 2 * (size_t)j + side;
            *body = cairn_directory_find(&world->bodies.directory, (uint32_t)*body);
            there = there && *body >= 0;
        }
        if (there)
            cairn_contact_meet(world, world->bodies.q, j, &law);
        else
            atomic_store(&job->gone, true);
    }
}

static void drop_gone(cairn_world *world)
{
    cairn_contact_store *c = &world->contacts;
    int kept = 0;
    for (int j = 0; j < c->count; j++)
        if (c->body[2 * j] >= 0 && c->body[2 * j + 1] >= 0) {
            if (kept < j)
                cairn_contacts_copy(c, j, c, kept, world->dimension);
            kept++;
        }
    c->count = kept;
}

/* Copy `count` contacts of the pile into the list of the world, where there is room for them. */
static void copy_contacts(cairn_world *world, int count, bool now)
{
    cairn_contact_store *c = &world->contacts;
    cairn_workspace *w = world->workspace;
    const cairn_pile_contacts to = { c->body,
                                     c->point,
                                     c->normal,
                                     c->tangent,
                                     c->gap,
                                     c->impulse,
                                     c->velocity,
                                     (double *)world->inputs.bias,
                                     (double *)world->inputs.correction,
                                     c->feature,
                                     (int32_t *)c->piece };
    name_job job = { .world = world };
    c->moments = 0;
    c->count = w->use.backend->pile->show(w->pile, now, &to) == CAIRN_OK ? count : 0;
    cairn_parallel_for(c->count, GRAIN, name_range, &job);
    if (atomic_load(&job.gone))
        drop_gone(world);
    world->contacts_sorted = false;
}

/* The stages of the host, for a step that it has to examine. */
typedef struct seen {
    cairn_free_motion motion;
    cairn_answer answer;
    cairn_mending mending;
    cairn_arrival arrival;
} seen;

/* The values of these stages. The ledger has the device's numbers already. */
static cairn_status see(const cairn_step *step, bool mended, seen *s)
{
    const cairn_mechanism joints = { 0 };
    const cairn_energy energy = step->report->energy;
    *s = (seen){ .answer = { .balls = { .all = true } } };
    cairn_pile_return(step->world);
    TRY(cairn_step_free_motion(step, &s->motion));
    TRY(fetch_velocities(step, mended, &s->answer, &s->mending));
    TRY(cairn_step_arrive(step, &s->motion, &joints, &s->answer, &s->arrival));
    TRY(cairn_step_move_apart(step, &s->answer.balls, &s->mending, &s->arrival));
    step->report->energy = energy;
    return CAIRN_OK;
}

/* A body moved far past one that pushes it: the host examines the contacts (limit.c). */
static cairn_status limit(const cairn_step *step, bool mended)
{
    cairn_world *world = step->world;
    seen here;
    TRY(see(step, mended, &here));
    copy_contacts(world, step->report->candidates, true);
    here.answer.r = world->contacts.impulse;
    here.answer.u = world->contacts.velocity;
    here.answer.problem = (cairn_problem){ .dimension = 3, .b = world->inputs.bias };
    cairn_status status =
        cairn_step_limit(step, &here.motion, !has_kind(step, false), &here.answer, &here.arrival);
    world->contacts.count = 0;
    return status;
}

/* The state of some body at the end is not finite: the host says which, and how fast. */
static cairn_status refuse_end(const cairn_step *step, bool mended, int row)
{
    seen here;
    TRY(see(step, mended, &here));
    return cairn_fail(&step->world->error, CAIRN_NOT_FINITE, NULL,
                      "the energy of body %lld would be too large for a number",
                      cairn_row_uid(step->world, row));
}

cairn_status cairn_pile_arrive(const cairn_step *step, const cairn_candidates *candidates)
{
    cairn_energy *energy = &step->report->energy;
    cairn_pile_end end;
    TRY(step->pile->pile->arrive(pile_of(step), &end));
    if (!isfinite(end.energy) || end.body >= 0)
        return refuse_end(step, candidates->mended, end.body);
    energy->kinetic = end.kinetic;
    energy->potential = end.potential;
    energy->numerical_loss += end.numerical_loss;
    energy->correction += end.correction;
    if (!cairn_energy_is_finite(energy))
        return cairn_fail(&step->world->error, CAIRN_NOT_FINITE, NULL,
                          "the work of this step is too large for a number");
    TRY(make_room(step));
    cairn_step_report *report = step->report;
    cairn_pile_depth deepest;
    TRY(step->pile->pile->deepest(pile_of(step), &deepest));
    report->certificate.penetration = deepest.depth;
    report->overlap = deepest.share;
    for (int k = 0; k < 2; k++)
        report->overlap_body[k] = cairn_row_uid(step->world, deepest.body[k]);
    /* no face will detect such a ball from now on: penetration.c */
    report->solve.converged = report->solve.converged && deepest.lost == 0;
    /* balls and planes that do not push each other end no closer than predicted: limit.c */
    return candidates->far ? limit(step, candidates->mended) : CAIRN_OK;
}

/* Bodies that nobody looked at since they went to a device are not valid here. Where programs are
 * checked, nobody can overlook that. */
static void spoil(cairn_body_store *b)
{
#ifndef NDEBUG
    for (int i = b->held; i < b->count; i++)
        b->x[i] = b->v[i] = b->omega[i] = cairn_vec(NAN, NAN, NAN);
#endif
    (void)b;
}

void cairn_pile_keep(const cairn_step *step)
{
    cairn_world *world = step->world;
    cairn_body_store *b = &world->bodies;
    step->pile->pile->keep(pile_of(step));
    world->contacts.count = 0;
    world->contacts.elsewhere = step->report->candidates;
    if (!(b->elsewhere & CAIRN_STATES_ELSEWHERE)) {
        memset(b->asleep + b->held, 0, (size_t)(b->count - b->held) * sizeof *b->asleep);
        memset(b->calm + b->held, 0, (size_t)(b->count - b->held) * sizeof *b->calm);
    }
    b->elsewhere = CAIRN_STATES_ELSEWHERE | CAIRN_INPUTS_ELSEWHERE;
    step->report->resident = true;
    spoil(b);
}

/* ---- what somebody looks at ------------------------------------------------------------------ */

/* The inputs of the step stay valid until the scratch is reset; after that nobody asks for them. */
void cairn_pile_show(cairn_world *world)
{
    int count = world->contacts.elsewhere;
    world->contacts.elsewhere = 0;
    if (!world->exchange.gathered)
        world->inputs.bias = world->inputs.correction = NULL;
    if (count > 0)
        copy_contacts(world, count, false);
}

/* Copies of arrays that are there need no memory but the buffers of the driver, so this does not
 * fail; if the device is lost, the numbers are not finite and the next step says so. */
void cairn_pile_return(cairn_world *world)
{
    cairn_body_store *b = &world->bodies;
    cairn_workspace *w = world->workspace;
    if (!(b->elsewhere & CAIRN_STATES_ELSEWHERE))
        return;
    const cairn_pile_states to = { b->x, b->q, b->v, b->omega };
    b->elsewhere &= (uint8_t)~CAIRN_STATES_ELSEWHERE;
    if (w->use.backend->pile->states(w->pile, false, &to) != CAIRN_OK)
        for (int i = b->held; i < b->count; i++)
            b->x[i] = b->v[i] = cairn_vec(NAN, NAN, NAN);
}

void cairn_pile_show_inputs(cairn_world *world)
{
    cairn_step_inputs *in = &world->inputs;
    cairn_workspace *w = world->workspace;
    const cairn_pile_states to = { (cairn_vec3 *)in->x, (cairn_quat *)in->q, NULL, NULL };
    if (!(world->bodies.elsewhere & CAIRN_INPUTS_ELSEWHERE))
        return;
    world->bodies.elsewhere &= (uint8_t)~CAIRN_INPUTS_ELSEWHERE;
    if (w->use.backend->pile->states(w->pile, true, &to) != CAIRN_OK)
        in->count = 0;
    memset((cairn_vec3 *)in->force, 0, (size_t)in->count * sizeof *in->force);
}

cairn_status cairn_pile_apart(cairn_world *world, double far, int64_t *sum)
{
    cairn_workspace *w = world->workspace;
    return w->use.backend->pile->apart(w->pile, far, sum);
}
