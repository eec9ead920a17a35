/* correct.c - overlaps are mended by moving bodies, not by setting them in motion.
 *
 * An overlap -g that one step is to close asks for the velocity -g/h, and that velocity stays: the
 * bodies are thrown apart. And with b < 0 a packing that is tight may have no velocity that obeys
 * the law at all (with friction Hv + b must be in K*), while with b >= 0 there is always v = 0. So
 * the velocity problem sees no overlap,
 *
 *     b = max(gamma g/h, 0)
 *
 * and what is still to be mended after the solve,
 *
 *     c = u_N + gamma g/h < 0    where g < 0, at most PORTION of the smaller body in a step,
 *
 * is done by a displacement h z without velocity, the nearest one in the mass norm that opens it
 * and closes no other contact:
 *
 *     min 1/2 |z|_M^2   s.t.   H_N z + c >= 0
 *
 * which is a one-step problem without friction. It is solved only roughly: what is left is mended
 * in the next step. Where few contacts overlap, z moves the bodies of these and those up to RINGS
 * contacts further on; contacts wider open than z can close are left out. What is pushed together
 * at the rim is less than what was mended, and is mended when it is worth it. The potential that z
 * adds is a line of the energy ledger. The other ways to treat overlaps are there for comparison;
 * schemes of velocity level always keep them. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/status.h"
#include "math/vec.h"
#include "problem/part.h"
#include "world/scheme.h"

static const double PORTION = 0.02;    /* of the smaller body: most that a step mends */
static const double NEGLIGIBLE = 1e-9; /* of the smaller body: rounding               */
static const double SLACK = 0.02;      /* of h^2 |gravity|: too little to be worth it */
static const double ROUGH = 0.1;       /* relative residual                           */
static const double WIDE = 8;          /* of the worst overlap: z closes no more      */
enum { MOST_SWEEPS = 100, RINGS = 3, GRAIN = 2048 };

static const char *const ways[] = {
    [CAIRN_OVERLAPS_MOVE] = "move", [CAIRN_OVERLAPS_PUSH] = "push", [CAIRN_OVERLAPS_KEEP] = "keep"
};

enum { WAYS = sizeof ways / sizeof ways[0] };

const char *cairn_overlaps_name(int index)
{
    return index >= 0 && index < WAYS ? ways[index] : NULL;
}

cairn_overlaps cairn_overlaps_find(const char *name)
{
    int i = 0;
    while (i < WAYS - 1 && strcmp(ways[i], name) != 0)
        i++;
    return (cairn_overlaps)i;
}

/* Radius of the smaller of the two bodies; infinite when neither has a size. */
static double size_of(const cairn_stage *stage, int j)
{
    const int32_t *body = stage->world->contacts.body + 2 * (size_t)j;
    double size = INFINITY;
    for (int side = 0; side < 2; side++) {
        double extent = cairn_body_extent(stage->world, body[side]);
        if (extent > 0)
            size = fmin(size, extent);
    }
    return size;
}

/* c of a contact that overlaps by -c h after this step, more than SLACK allows; 0 where rounding
 * does. */
static double to_be_mended(const cairn_stage *stage, int j, double c)
{
    double size = size_of(stage, j), h = stage->h;
    return -c * h <= NEGLIGIBLE * size && isfinite(size) ? 0 : fmax(c, -PORTION * size / h);
}

/* c of contact j in m/s, at least 0 where nothing is to be mended: errors of the solver are not.
 * `slack` is the overlap over h that is not worth it. */
static inline double left_open(const cairn_stage *stage, int j, double slack)
{
    double gap = stage->world->contacts.gap[j];
    if (stage->behind)
        gap -= cairn_stage_behind(stage, j, stage->behind);
    double u = stage->u[(size_t)j * (size_t)stage->problem.dimension], closing = u < 0 ? u : 0;
    u -= (gap < 0) * closing; /* signs cannot be foreseen: no branches */
    double c = u + stage->options->stabilisation * gap / stage->h, open = c > 0 ? c : 0;
    if ((gap < 0) & (-c > slack))
        open = to_be_mended(stage, j, c);
    return open;
}

/* ---- which contacts take part --------------------------------------------------------------- */

typedef struct open_job {
    const cairn_stage *stage;
    double *c; /* of each contact */
} open_job;

static void open_range(int begin, int end, void *context, void *value)
{
    const open_job *job = context;
    double *least = value, slack = SLACK * job->stage->h * cairn_norm(job->stage->world->gravity);
    for (int j = begin; j < end; j++) {
        double c = left_open(job->stage, j, slack);
        job->c[j] = c;
        *least = c < *least ? c : *least;
    }
}

static void take_least(void *result, const void *value)
{
    *(double *)result = fmin(*(double *)result, *(const double *)value);
}

/* c of all contacts, 0 for the rows of joints; *worst is the least of them. */
static cairn_status find_open(const cairn_stage *stage, double **c, double *worst)
{
    static const double none = 0;
    cairn_arena *scratch = &stage->world->scratch;
    open_job job = { stage, cairn_arena_doubles(scratch, (size_t)stage->problem.contacts) };
    if (!job.c)
        return CAIRN_NO_MEMORY;
    const cairn_reduction all = { .count = stage->world->contacts.count,
                                  .grain = GRAIN,
                                  .work = open_range,
                                  .join = take_least,
                                  .context = &job,
                                  .neutral = &none,
                                  .size = sizeof none };
    *c = job.c;
    *worst = 0;
    return cairn_arena_reduce(scratch, &all, worst);
}

/* Contacts around those that overlap. */
typedef struct region {
    const cairn_problem *p;
    const double *c;
    double widest;    /* m/s: c of those that z might close                      */
    uint8_t *ring;    /* of each block: in how many contacts it is reached, + 1; of -1: 0 */
    uint8_t *chosen;  /* of each contact                                         */
    int32_t *contact; /* the chosen ones, ascending                              */
    int count;
} region;

/* Contact j is chosen if it overlaps (ring 0) or a block of a ring before this one is in it; its
 * blocks are then of the next ring. */
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

/* The blocks of overlaps are ring 1. */
static void find_overlaps(region *g)
{
    for (int j = 0; j < g->p->contacts; j++)
        if (g->c[j] < 0)
            reach(g, j, 0);
}

/* Each turn reaches one contact further. Few are near: no more than that is asked of most. */
static void grow(region *g, int ring)
{
    const int32_t *block = g->p->block;
    for (int j = 0; j < g->p->contacts; j++)
        if (g->ring[block[2 * j]] | g->ring[block[2 * j + 1]])
            reach(g, j, ring);
}

static cairn_status find_region(cairn_arena *scratch, region *g)
{
    size_t contacts = (size_t)g->p->contacts, blocks = (size_t)g->p->blocks;
    uint8_t *rings = cairn_arena_take(scratch, blocks + 1, sizeof *rings);
    g->chosen = cairn_arena_take(scratch, contacts, sizeof *g->chosen);
    if (!rings || !g->chosen)
        return CAIRN_NO_MEMORY;
    memset(rings, 0, blocks + 1);
    memset(g->chosen, 0, contacts);
    g->ring = rings + 1;
    find_overlaps(g);
    for (int ring = 1; ring <= RINGS; ring++)
        grow(g, ring);
    g->contact = cairn_arena_take(scratch, (size_t)g->count, sizeof *g->contact);
    if (!g->contact)
        return CAIRN_NO_MEMORY;
    for (int j = 0, k = 0; j < g->p->contacts; j++)
        if (g->chosen[j])
            g->contact[k++] = j;
    return CAIRN_OK;
}

/* ---- the displacement ----------------------------------------------------------------------- */

/* Of the rows of joints those that hold go on to hold; motors, springs and the like do not move
 * anything here. */
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

/* The problem of z: rows and masses of the step, without friction, from rest. */
static cairn_status pose(const cairn_stage *stage, const region *g, cairn_problem_part *part)
{
    cairn_arena *scratch = &stage->world->scratch;
    cairn_problem whole = stage->problem;
    whole.directions = 0;
    whole.w = whole.mu_rolling = whole.mu_spinning = whole.v_free = whole.mu = NULL;
    whole.b = g->c;
    TRY(cairn_problem_take_part(&whole, g->contact, g->count, scratch, part));
    cairn_problem *p = &part->problem;
    p->v_free = cairn_arena_doubles(scratch, (size_t)p->blocks * (size_t)p->block_size);
    p->mu = cairn_arena_doubles(scratch, (size_t)p->contacts);
    if (!p->v_free || !p->mu)
        return CAIRN_NO_MEMORY;
    return p->bounded ? keep_held(scratch, p) : CAIRN_OK;
}

/* z of all blocks, and the normal impulses for whoever wants to compute it again; joints ask for
 * all of theirs. */
static cairn_status keep(cairn_stage *stage, const region *g, const cairn_problem_part *part,
                         const double *r, const double *z)
{
    const cairn_problem *p = &part->problem;
    cairn_arena *scratch = &stage->world->scratch;
    size_t velocities = (size_t)stage->blocks * (size_t)stage->block_size;
    stage->correction = cairn_arena_doubles(scratch, (size_t)stage->problem.contacts);
    stage->shift = cairn_arena_doubles(scratch, velocities);
    stage->shifted = g->ring;
    if (!stage->correction || !stage->shift)
        return CAIRN_NO_MEMORY;
    if (stage->joints.blocks > 0) {
        size_t rows = (size_t)stage->problem.contacts * (size_t)p->dimension;
        stage->shift_r = cairn_arena_doubles(scratch, rows);
        if (!stage->shift_r)
            return CAIRN_NO_MEMORY;
        cairn_part_spread(part->contact, p->contacts, p->dimension, r, stage->shift_r);
    }
    cairn_part_spread(part->block, p->blocks, p->block_size, z, stage->shift);
    for (int k = 0; k < p->contacts; k++)
        stage->correction[part->contact[k]] = r[(size_t)k * (size_t)p->dimension];
    return CAIRN_OK;
}

static cairn_status solve(cairn_stage *stage, const region *g)
{
    cairn_problem_part part;
    cairn_solve_report report;
    cairn_solve_options options = cairn_solve_options_default();
    cairn_arena *scratch = &stage->world->scratch;
    TRY(pose(stage, g, &part));
    const cairn_problem *p = &part.problem;
    size_t rows = (size_t)p->contacts * (size_t)p->dimension;
    double *r = cairn_arena_doubles(scratch, rows), *u = cairn_arena_doubles(scratch, rows);
    double *z = cairn_arena_doubles(scratch, (size_t)p->blocks * (size_t)p->block_size);
    if (!r || !u || !z)
        return CAIRN_NO_MEMORY;
    options.solver = "ngs";
    options.backend = stage->options->backend;
    options.tolerance = ROUGH;
    options.max_iterations = MOST_SWEEPS;
    TRY(cairn_solve(p, &options, stage->world->workspace, r, z, u, &report));
    return keep(stage, g, &part, r, z);
}

static cairn_status mend(cairn_stage *stage)
{
    double *c, worst;
    if (stage->overlaps != CAIRN_OVERLAPS_MOVE || stage->scheme->velocity_level)
        return CAIRN_OK;
    TRY(find_open(stage, &c, &worst));
    if (worst >= 0)
        return CAIRN_OK;
    region g = { .p = &stage->problem, .c = c, .widest = -WIDE * worst };
    TRY(find_region(&stage->world->scratch, &g));
    return solve(stage, &g);
}

/* After impacts within the step bodies end at x + h v - y: chain.c. */
static cairn_status fall_behind(cairn_stage *stage)
{
    cairn_arena *scratch = &stage->world->scratch;
    size_t blocks = (size_t)stage->blocks, n = (size_t)stage->block_size;
    uint8_t *marks = cairn_arena_take(scratch, blocks, sizeof *marks);
    double *z = cairn_arena_doubles(scratch, blocks * n);
    if (!marks || !z)
        return CAIRN_NO_MEMORY;
    for (size_t i = 0; i < blocks; i++)
        marks[i] = stage->struck[i] || (stage->shift && stage->shifted[i]);
    for (size_t i = 0; i < blocks * n; i++)
        z[i] = (stage->shift ? stage->shift[i] : 0) - stage->behind[i] / stage->h;
    stage->shift = z;
    stage->shifted = marks;
    return CAIRN_OK;
}

cairn_status cairn_stage_correct(cairn_stage *stage)
{
    stage->shift = stage->correction = stage->shift_r = NULL;
    TRY(mend(stage));
    stage->mended = stage->shift;
    return stage->behind ? fall_behind(stage) : CAIRN_OK;
}

static bool is_shifted(const cairn_stage *stage, int i)
{
    return stage->shift && stage->shifted[stage->block[i]];
}

cairn_vec3 cairn_stage_shift(const cairn_stage *stage, int i)
{
    if (!is_shifted(stage, i))
        return cairn_vec(0, 0, 0);
    return cairn_stage_moving(stage, i, stage->shift);
}

cairn_vec3 cairn_stage_shift_turn(const cairn_stage *stage, int i)
{
    if (!is_shifted(stage, i))
        return cairn_vec(0, 0, 0);
    return cairn_stage_turning(stage, i, stage->shift);
}

/* x += h z; turned by h times its angular part */
static void move(cairn_stage *stage, int i)
{
    double h = stage->h;
    cairn_vec3 way = cairn_scale(h, cairn_stage_shift(stage, i));
    cairn_vec3 angle = cairn_scale(h, cairn_stage_shift_turn(stage, i));
    double mass = stage->world->bodies.mass[i];
    cairn_quat *q = &stage->q_next[i];
    stage->x_next[i] = cairn_add(stage->x_next[i], way);
    if (stage->mended) {
        cairn_vec3 mended = cairn_scale(h, cairn_stage_moving(stage, i, stage->mended));
        stage->report->energy.correction -= mass * cairn_dot(stage->world->gravity, mended);
    }
    if (stage->world->dimension == 2 && angle.z != 0) {
        stage->angle_next[i] += angle.z;
        *q = cairn_quat_in_plane(stage->angle_next[i]);
    } else if (stage->world->dimension == 3) {
        *q = cairn_quat_normalised(cairn_quat_multiply(*q, cairn_quat_exp(angle)));
    }
}

void cairn_stage_move_apart(cairn_stage *stage)
{
    for (int i = 0; stage->shift && i < stage->world->bodies.count; i++)
        if (stage->block[i] >= 0 && is_shifted(stage, i))
            move(stage, i);
}
