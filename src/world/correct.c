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
 * in the next step. The potential it adds is a line of the energy ledger. The other ways to treat
 * overlaps are there for comparison; schemes of velocity level always keep them. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "math/vec.h"
#include "problem/operator.h"
#include "world/scheme.h"

static const double PORTION = 0.02;    /* of the smaller body: most that a step mends */
static const double NEGLIGIBLE = 1e-9; /* of the smaller body: rounding               */
static const double SLACK = 0.02;      /* of h^2 |gravity|: too little to be worth it */
static const double ROUGH = 0.1;       /* relative residual                           */
enum { MOST_SWEEPS = 100 };

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

/* c of contact j in m/s, at least 0 where nothing is to be mended: errors of the solver are not. */
static double left_open(const cairn_stage *stage, int j)
{
    double gap = stage->world->contacts.gap[j], h = stage->h;
    double u = stage->u[(size_t)j * (size_t)stage->problem.dimension];
    double c = (gap < 0 ? fmax(u, 0) : u) + stage->options->stabilisation * gap / h;
    if (gap >= 0 || c >= 0)
        return fmax(c, 0);
    double size = size_of(stage, j), g = cairn_norm(stage->world->gravity);
    double slack = fmax(SLACK * h * h * g, isfinite(size) ? NEGLIGIBLE * size : 0);
    return -c * h <= slack ? 0 : fmax(c, -PORTION * size / h);
}

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

/* The problem of z: the rows and masses of the step, without friction, from rest. */
static cairn_status pose(const cairn_stage *stage, const double *c, cairn_problem *p)
{
    cairn_arena *scratch = &stage->world->scratch;
    size_t velocities = (size_t)stage->blocks * (size_t)stage->block_size;
    *p = stage->problem;
    p->directions = 0;
    p->w = p->mu_rolling = p->mu_spinning = NULL;
    p->b = c;
    p->v_free = cairn_arena_doubles(scratch, velocities);
    p->mu = cairn_arena_doubles(scratch, (size_t)p->contacts);
    if (!p->v_free || !p->mu)
        return CAIRN_NO_MEMORY;
    return p->bounded ? keep_held(scratch, p) : CAIRN_OK;
}

/* The normal impulses, for whoever wants to compute z again. */
static cairn_status keep_correction(cairn_stage *stage, const double *r)
{
    int contacts = stage->problem.contacts, d = stage->problem.dimension;
    stage->correction = cairn_arena_doubles(&stage->world->scratch, (size_t)contacts);
    if (!stage->correction)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < contacts; j++)
        stage->correction[j] = r[(size_t)j * (size_t)d];
    return CAIRN_OK;
}

static cairn_status solve(cairn_stage *stage, const double *c)
{
    cairn_problem p;
    cairn_solve_report report;
    cairn_solve_options options = cairn_solve_options_default();
    cairn_arena *scratch = &stage->world->scratch;
    TRY(pose(stage, c, &p));
    size_t rows = (size_t)p.contacts * (size_t)p.dimension;
    double *r = cairn_arena_doubles(scratch, rows), *u = cairn_arena_doubles(scratch, rows);
    double *z = cairn_arena_doubles(scratch, (size_t)p.blocks * (size_t)p.block_size);
    if (!r || !u || !z)
        return CAIRN_NO_MEMORY;
    options.solver = "ngs";
    options.tolerance = ROUGH;
    options.max_iterations = MOST_SWEEPS;
    TRY(cairn_solve(&p, &options, stage->world->workspace, r, z, u, &report));
    stage->shift = z;
    stage->shift_r = r;
    return keep_correction(stage, r);
}

cairn_status cairn_stage_correct(cairn_stage *stage)
{
    int contacts = stage->world->contacts.count;
    bool any = false;
    stage->shift = stage->correction = stage->shift_r = NULL;
    if (stage->overlaps != CAIRN_OVERLAPS_MOVE || stage->scheme->velocity_level)
        return CAIRN_OK;
    for (int j = 0; j < contacts && !any; j++)
        any = left_open(stage, j) < 0;
    if (!any)
        return CAIRN_OK;
    double *c = cairn_arena_doubles(&stage->world->scratch, (size_t)stage->problem.contacts);
    if (!c)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < contacts; j++)
        c[j] = left_open(stage, j);
    return solve(stage, c);
}

cairn_vec3 cairn_stage_shift(const cairn_stage *stage, int i)
{
    if (!stage->shift)
        return cairn_vec(0, 0, 0);
    const double *z = stage->shift + (size_t)stage->block[i] * (size_t)stage->block_size;
    return cairn_vec(z[0], z[1], stage->world->dimension == 3 ? z[2] : 0);
}

cairn_vec3 cairn_stage_shift_turn(const cairn_stage *stage, int i)
{
    if (!stage->shift)
        return cairn_vec(0, 0, 0);
    return cairn_stage_turning(stage, i, stage->shift);
}

/* x += h z; turned by h times its angular part */
static void move(cairn_stage *stage, int i)
{
    cairn_body_store *b = &stage->world->bodies;
    double h = stage->h;
    cairn_vec3 way = cairn_scale(h, cairn_stage_shift(stage, i));
    cairn_vec3 angle = cairn_scale(h, cairn_stage_shift_turn(stage, i));
    b->x[i] = cairn_add(b->x[i], way);
    stage->report->energy.correction -= b->mass[i] * cairn_dot(stage->world->gravity, way);
    if (stage->world->dimension == 2) {
        b->angle[i] += angle.z;
        b->q[i] = (cairn_quat){ cos(0.5 * b->angle[i]), 0, 0, sin(0.5 * b->angle[i]) };
    } else {
        b->q[i] = cairn_quat_normalised(cairn_quat_multiply(b->q[i], cairn_quat_exp(angle)));
    }
}

void cairn_stage_move_apart(cairn_stage *stage)
{
    for (int i = 0; stage->shift && i < stage->world->bodies.count; i++)
        if (stage->block[i] >= 0)
            move(stage, i);
}
