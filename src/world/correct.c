/* correct.c - penetration is corrected by moving bodies, not by giving them a velocity.
 *
 * To close an overlap -g in one step would require the velocity -g/h, and that velocity would
 * remain: the bodies would be thrown apart. Moreover, with b < 0 a tight packing may have no
 * velocity that satisfies the law at all (with friction Hv + b must be in K*), while with b >= 0
 * there is always v = 0. So the velocity problem ignores overlaps,
 *
 *     b = max(gamma g/h, 0)
 *
 * and the overlap that is still there after the solve,
 *
 *     c = u_N + gamma g/h < 0    where g < 0, at most PORTION of the smaller body in a step,
 *
 * (with the term of second order of arc.c added along round walls)
 * is corrected by a displacement h z without velocity: the smallest one in the mass norm that opens
 * it and closes no other contact:
 *
 *     min 1/2 |z|_M^2   s.t.   H_N z + c >= 0
 *
 * This is a one-step problem without friction. It is solved only approximately, because the next
 * step corrects the remainder. If few contacts overlap, z moves only their bodies and those up to
 * RINGS contacts away; contacts that are open wider than z can close are left out. Overlaps that
 * this causes at the rim are smaller than those corrected, and are corrected when they are worth
 * it. The potential energy that z adds is an entry of the ledger. The other ways to treat overlaps
 * exist for comparison; schemes of velocity level always keep them. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/parallel.h"
#include "math/vec.h"
#include "problem/cut.h"
#include "problem/forms.h"
#include "world/step.h"

static const double PORTION = 0.02;    /* of the smaller radius: most that a step corrects        */
static const double NEGLIGIBLE = 1e-9; /* of the smaller radius: rounding                         */
static const double SLACK = 0.02;      /* of h^2 |gravity|: too small to be worth a solve         */
static const double ROUGH = 0.1;       /* relative residual of the solve for z                    */
static const double WIDE = 8;          /* times the worst overlap: a wider gap is not closed by z */
enum { MOST_SWEEPS = 100, RINGS = 3, GRAIN = 2048 };

static const char *const ways[] = {
    [CAIRN_OVERLAPS_MOVE] = "move", [CAIRN_OVERLAPS_PUSH] = "push", [CAIRN_OVERLAPS_KEEP] = "keep"
};

enum { WAYS = sizeof ways / sizeof ways[0] };

const char *cairn_overlaps_name(int index)
{
    return index >= 0 && index < WAYS ? ways[index] : NULL;
}

/* The options were checked before: an unknown name does not occur here. */
cairn_overlaps cairn_overlaps_find(const char *name)
{
    int i = 0;
    while (i < WAYS - 1 && strcmp(ways[i], name) != 0)
        i++;
    return (cairn_overlaps)i;
}

/* The radius of the smaller of the two bodies, m; infinite if neither has a size. */
static double size_of(const cairn_world *world, int j)
{
    const int32_t *body = world->contacts.body + 2 * (size_t)j;
    double size = INFINITY;
    for (int side = 0; side < 2; side++) {
        double extent = cairn_body_extent(world, body[side]);
        if (extent > 0)
            size = fmin(size, extent);
    }
    return size;
}

/* c of a contact that overlaps by -c h after this step, which is more than SLACK allows: limited to
 * PORTION, and 0 if the overlap is only rounding. */
static double to_be_mended(const cairn_step *step, int j, double c)
{
    double size = size_of(step->world, j), h = step->h;
    return -c * h <= NEGLIGIBLE * size && isfinite(size) ? 0 : fmax(c, -PORTION * size / h);
}

/* c of contact j in m/s; at least 0 if nothing is to be corrected. A closing velocity of a contact
 * that already overlaps is an error of the solver and is not corrected, so it is not counted.
 * `slack` is the overlap, over h, that is not worth correcting. */
static inline double left_open(const cairn_step *step, const cairn_answer *answer, int j,
                               double slack)
{
    double gap = step->world->contacts.gap[j];
    if (answer->impacts.behind)
        gap -= cairn_contact_behind(&answer->problem, j, answer->impacts.behind);
    double u = answer->u[(size_t)j * (size_t)answer->problem.dimension], closing = u < 0 ? u : 0;
    u -= (gap < 0) * closing; /* no branch: the signs cannot be predicted */
    double arc = answer->arc ? answer->arc[j] : 0;
    double c = u + arc + step->options->stabilisation * gap / step->h, open = c > 0 ? c : 0;
    if ((gap < 0) & (-c > slack))
        open = to_be_mended(step, j, c);
    return open;
}

/* ---- the contacts that take part ------------------------------------------------------------ */

typedef struct open_job {
    const cairn_step *step;
    const cairn_answer *answer;
    double *c; /* m/s, of each contact */
} open_job;

static void open_range(int begin, int end, void *context, void *value)
{
    const open_job *job = context;
    double *least = value, slack = SLACK * job->step->h * cairn_norm(job->step->world->gravity);
    end = cairn_step_contacts(job->step, end);
    for (int j = begin; j < end; j++) {
        double c = left_open(job->step, job->answer, j, slack);
        job->c[j] = c;
        *least = c < *least ? c : *least;
    }
}

static void take_least(void *result, const void *value)
{
    *(double *)result = fmin(*(double *)result, *(const double *)value);
}

/* c of all contacts, 0 for the rows of joints; *worst is the smallest of them, at most 0. */
static cairn_status find_open(const cairn_step *step, const cairn_answer *answer, double **c,
                              double *worst)
{
    static const double none = 0;
    cairn_arena *scratch = &step->world->scratch;
    open_job job = { step, answer, cairn_arena_doubles(scratch, (size_t)answer->problem.contacts) };
    if (!job.c)
        return CAIRN_NO_MEMORY;
    const cairn_reduction all = { .count = step->world->contacts.count,
                                  .grain = GRAIN,
                                  .parted = cairn_problem_parted(&answer->problem),
                                  .work = open_range,
                                  .join = take_least,
                                  .context = &job,
                                  .neutral = &none,
                                  .size = sizeof none };
    *c = job.c;
    *worst = 0;
    return cairn_arena_reduce(scratch, &all, worst);
}

/* The contacts around those that overlap. Only they enter the solve for z, because in a large pile
 * few contacts overlap. */
typedef struct region {
    const cairn_problem *p;
    const double *c;
    double widest;    /* m/s: largest c of contacts that z might close                            */
    uint8_t *ring;    /* of each block: distance from an overlap in contacts, + 1; 0: not reached */
    uint8_t *chosen;  /* of each contact: it is in the region                                     */
    int32_t *contact; /* the chosen contacts, ascending                                           */
    int count;
} region;

/* Choose contact j if it overlaps (ring 0) or has a block of an earlier ring; its other block then
 * belongs to the next ring. */
static void reach(region *g, int j, int ring)
{
    const int32_t *block = g->p->block + 2 * (size_t)j;
    bool reached = ring == 0;
    if (g->chosen[j] || g->c[j] > g->widest)
        return;
    for (int side = 0; side < 2; side++)
        reached |= g->ring[block[side]] > 0 && g->ring[block[side]] <= ring;
    for (int side = 0; reached && side < 2; side++)
        if (block[side] >= 0 && g->ring[block[side]] == 0)
            g->ring[block[side]] = (uint8_t)(ring + 1);
    g->chosen[j] = reached;
    g->count += reached;
}

/* The blocks of overlapping contacts are ring 1. */
static void find_overlaps(region *g)
{
    for (int j = 0; j < g->p->contacts; j++)
        if (g->c[j] < 0)
            reach(g, j, 0);
}

/* Extend the region by one contact. Most contacts are not near: for them only the two rings are
 * read. */
static void grow(region *g, int ring)
{
    const int32_t *block = g->p->block;
    for (int j = 0; j < g->p->contacts; j++)
        if (g->ring[block[2 * j]] | g->ring[block[2 * j + 1]])
            reach(g, j, ring);
}

/* Rings are found breadth first, one pass over the contacts per ring. This needs no lists of
 * neighbours. */
static cairn_status find_region(cairn_arena *scratch, region *g)
{
    size_t contacts = (size_t)g->p->contacts, blocks = (size_t)g->p->blocks;
    /* one entry more, at index -1, so that held bodies (block -1) need no test; it stays 0 */
    uint8_t *rings = cairn_arena_take(scratch, blocks + 1, sizeof *rings);
    g->chosen = cairn_arena_take(scratch, contacts, sizeof *g->chosen);
    if (!rings || !g->chosen)
        return CAIRN_NO_MEMORY;
    memset(rings, 0, blocks + 1);
    memset(g->chosen, 0, contacts);
    g->ring = rings + 1;
    find_overlaps(g);
    for (int ring = 1; ring <= RINGS; ring++) {
        /* a ghost may have been reached through a contact that only its owner has */
        cairn_problem_fetch(g->p, g->ring, sizeof *g->ring);
        grow(g, ring);
    }
    g->contact = cairn_arena_take(scratch, (size_t)g->count, sizeof *g->contact);
    if (!g->contact)
        return CAIRN_NO_MEMORY;
    for (int j = 0, k = 0; j < g->p->contacts; j++)
        if (g->chosen[j])
            g->contact[k++] = j;
    return CAIRN_OK;
}

/* ---- the displacement ----------------------------------------------------------------------- */

/* Of the rows of joints, keep the equations (no bounds, no compliance). All others, such as motors,
 * springs and limits, must not move anything here: they get the bounds 0, 0. */
static cairn_status keep_held(cairn_arena *scratch, cairn_problem *p)
{
    size_t rows = (size_t)p->contacts * (size_t)p->dimension;
    double *lower = cairn_arena_doubles(scratch, rows), *upper = cairn_arena_doubles(scratch, rows);
    if (!lower || !upper)
        return CAIRN_NO_MEMORY;
    for (size_t i = 0; i < rows; i++)
        if (isinf(p->lower[i]) && isinf(p->upper[i]) && p->compliance[i] == 0) {
            lower[i] = p->lower[i];
            upper[i] = p->upper[i];
        }
    p->lower = lower;
    p->upper = upper;
    return CAIRN_OK;
}

/* The problem of z: rows and masses of the step, bias c, no friction, v_free = 0. */
static cairn_status pose(cairn_arena *scratch, const region *g, cairn_problem_part *part)
{
    cairn_problem whole = *g->p;
    whole.directions = 0;
    whole.w = whole.mu_rolling = whole.mu_spinning = whole.v_free = whole.mu = NULL;
    whole.scale = whole.most = NULL;
    whole.b = g->c;
    TRY(cairn_problem_take_part(&whole, g->contact, g->count, scratch, part));
    cairn_problem *p = &part->problem;
    p->v_free = cairn_arena_doubles(scratch, (size_t)p->blocks * (size_t)p->block_size);
    p->mu = cairn_arena_doubles(scratch, (size_t)p->contacts);
    if (!p->v_free || !p->mu)
        return CAIRN_NO_MEMORY;
    return p->bounded ? keep_held(scratch, p) : CAIRN_OK;
}

/* The solution for the contacts of a region. */
typedef struct displacement {
    cairn_problem_part part;
    double *r, *z; /* impulses of its contacts; velocities z of its blocks */
} displacement;

/* z of all blocks, and the normal impulses, from which a checker can compute z again. Joints need
 * all of their components. */
static cairn_status keep(cairn_arena *scratch, const region *g, const displacement *found,
                         cairn_mending *mending)
{
    const cairn_problem_part *part = &found->part;
    const cairn_problem *p = &part->problem, *whole = g->p;
    const double *r = found->r;
    size_t velocities = (size_t)whole->blocks * (size_t)whole->block_size;
    mending->correction = cairn_arena_doubles(scratch, (size_t)whole->contacts);
    mending->shift = cairn_arena_doubles(scratch, velocities);
    mending->shifted = g->ring;
    if (!mending->correction || !mending->shift)
        return CAIRN_NO_MEMORY;
    if (whole->bounded) {
        size_t rows = (size_t)whole->contacts * (size_t)p->dimension;
        mending->impulses = cairn_arena_doubles(scratch, rows);
        if (!mending->impulses)
            return CAIRN_NO_MEMORY;
        cairn_part_spread(part->contact, p->contacts, p->dimension, r, mending->impulses);
    }
    cairn_part_spread(part->block, p->blocks, p->block_size, found->z, mending->shift);
    for (int k = 0; k < p->contacts; k++)
        mending->correction[part->contact[k]] = r[(size_t)k * (size_t)p->dimension];
    return CAIRN_OK;
}

/* Fixed, whatever solver the user chose for the velocities: this problem is always convex. */
cairn_solve_options cairn_mending_options(const cairn_step *step)
{
    cairn_solve_options options = cairn_solve_options_default();
    options.solver = "ngs";
    options.backend = step->options->backend;
    options.tolerance = ROUGH;
    options.max_iterations = MOST_SWEEPS;
    return options;
}

cairn_pile_overlaps cairn_mending_rule(const cairn_step *step)
{
    return (cairn_pile_overlaps){ .h = step->h,
                                  .gamma = step->options->stabilisation / step->h,
                                  .slack = SLACK * step->h * cairn_norm(step->world->gravity),
                                  .negligible = NEGLIGIBLE,
                                  .portion = PORTION,
                                  .wide = WIDE,
                                  .rings = RINGS };
}

/* Solve for z. A result that misses ROUGH is used as it is: the next step corrects the
 * remainder. */
static cairn_status solve(const cairn_step *step, const region *g, cairn_mending *mending)
{
    displacement found;
    cairn_solve_report report;
    const cairn_solve_options options = cairn_mending_options(step);
    cairn_arena *scratch = &step->world->scratch;
    TRY(pose(scratch, g, &found.part));
    const cairn_problem *p = &found.part.problem;
    size_t rows = (size_t)p->contacts * (size_t)p->dimension;
    double *u = cairn_arena_doubles(scratch, rows);
    found.r = cairn_arena_doubles(scratch, rows);
    found.z = cairn_arena_doubles(scratch, (size_t)p->blocks * (size_t)p->block_size);
    if (!found.r || !u || !found.z)
        return CAIRN_NO_MEMORY;
    TRY(cairn_solve(p, &options, step->world->workspace, found.r, found.z, u, &report));
    return keep(scratch, g, &found, mending);
}

/* Find and apply the correction; without an overlap that is worth it, `mending` stays empty. */
static cairn_status mend(const cairn_step *step, const cairn_answer *answer, cairn_mending *mending)
{
    double *c, worst;
    if (step->overlaps != CAIRN_OVERLAPS_MOVE || step->scheme->velocity_level)
        return CAIRN_OK;
    TRY(find_open(step, answer, &c, &worst));
    if (worst >= 0)
        return CAIRN_OK;
    region g = { .p = &answer->problem, .c = c, .widest = -WIDE * worst };
    TRY(find_region(&step->world->scratch, &g));
    return solve(step, &g, mending);
}

/* After impacts within the step bodies end at x + h v - y (chain.c): add -y/h to the
 * displacement. */
static cairn_status fall_behind(const cairn_step *step, const cairn_impacts *impacts,
                                cairn_mending *mending)
{
    cairn_arena *scratch = &step->world->scratch;
    size_t blocks = (size_t)step->blocks, n = (size_t)step->block_size;
    uint8_t *marks = cairn_arena_take(scratch, blocks, sizeof *marks);
    double *z = cairn_arena_doubles(scratch, blocks * n);
    if (!marks || !z)
        return CAIRN_NO_MEMORY;
    for (size_t i = 0; i < blocks; i++)
        marks[i] = impacts->struck[i] || (mending->shift && mending->shifted[i]);
    for (size_t i = 0; i < blocks * n; i++)
        z[i] = (mending->shift ? mending->shift[i] : 0) - impacts->behind[i] / step->h;
    mending->shift = z;
    mending->shifted = marks;
    return CAIRN_OK;
}

/* `mended` keeps the part that corrects penetration, because only its potential belongs to the
 * entry `correction` of the ledger; that of -y is a numerical loss. */
cairn_status cairn_step_mend(const cairn_step *step, const cairn_answer *answer,
                             cairn_mending *mending)
{
    *mending = (cairn_mending){ 0 };
    TRY(mend(step, answer, mending));
    mending->mended = mending->shift;
    return answer->impacts.behind ? fall_behind(step, &answer->impacts, mending) : CAIRN_OK;
}

/* x += h z, and a rotation by h times the angular part of z. Returns the potential energy added,
 * J. */
static double move(const cairn_step *step, const cairn_balls *balls, const cairn_mending *mending,
                   int i, cairn_arrival *arrival)
{
    double h = step->h;
    cairn_vec3 way = cairn_scale(h, cairn_block_moving(step, i, mending->shift));
    cairn_vec3 angle = cairn_scale(h, cairn_block_turning(step, balls, i, mending->shift));
    double mass = step->world->bodies.mass[i], potential = 0;
    cairn_quat *q = &arrival->q[i];
    arrival->x[i] = cairn_add(arrival->x[i], way);
    if (mending->mended) {
        cairn_vec3 mended = cairn_scale(h, cairn_block_moving(step, i, mending->mended));
        potential = -mass * cairn_dot(step->world->gravity, mended);
    }
    if (step->world->dimension == 2 && angle.z != 0) {
        arrival->angle[i] += angle.z;
        *q = cairn_quat_in_plane(arrival->angle[i]);
    } else if (step->world->dimension == 3) {
        *q = cairn_quat_normalised(cairn_quat_multiply(*q, cairn_quat_exp(angle)));
    }
    return potential;
}

typedef struct move_job {
    const cairn_step *step;
    const cairn_balls *balls;
    const cairn_mending *mending;
    cairn_arrival *arrival;
} move_job;

static void move_range(int begin, int end, void *context, void *value)
{
    const move_job *job = context;
    double *sum = value;
    for (int i = begin; i < end; i++)
        if (cairn_step_block(job->step, i) >= 0 && cairn_mending_moves(job->step, job->mending, i))
            *sum += move(job->step, job->balls, job->mending, i, job->arrival);
}

static void add_potential(void *result, const void *value)
{
    *(double *)result += *(const double *)value;
}

/* A member knows only some of the contacts that move its ghosts: their owners tell where these
 * end. */
static void fetch_ends(const cairn_step *step, const cairn_mending *mending, cairn_arrival *arrival)
{
    const cairn_world *world = step->world;
    cairn_exchange_fetch(world, arrival->x, sizeof *arrival->x);
    cairn_exchange_fetch(world, arrival->q, sizeof *arrival->q);
    if (world->dimension == 2)
        cairn_exchange_fetch(world, arrival->angle, sizeof *arrival->angle);
    cairn_exchange_fetch(world, mending->shifted - step->held, sizeof *mending->shifted);
}

/* Move all bodies. The potential energy is summed by ranges or parts, so that it does not depend on
 * threads or members. */
cairn_status cairn_step_move_apart(const cairn_step *step, const cairn_balls *balls,
                                   const cairn_mending *mending, cairn_arrival *arrival)
{
    static const double none = 0;
    move_job job = { step, balls, mending, arrival };
    const cairn_reduction all = { .count = step->world->bodies.count,
                                  .grain = GRAIN,
                                  .parted = cairn_world_parted(step->world),
                                  .work = move_range,
                                  .join = add_potential,
                                  .context = &job,
                                  .neutral = &none,
                                  .size = sizeof none };
    arrival->shifted = mending->shift ? mending->shifted : NULL;
    if (!mending->shift)
        return CAIRN_OK;
    TRY(cairn_arena_reduce(&step->world->scratch, &all, &step->report->energy.correction));
    fetch_ends(step, mending, arrival);
    return CAIRN_OK;
}
