/* blocks.c - which velocity block of the one-step problem each dynamic body is.
 *
 * Blocks of many bodies are numbered along a curve through space: cells of a grid with 2^k cells on
 * a side, in the order of the interleaved bits of their places. Neighbours then lie close in memory
 * and a range of blocks is a region, wherever the bodies have moved. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/status.h"
#include "math/vec.h"
#include "world/step.h"

enum { WORTH_ORDER = 2048, MOST_LEVELS = 6, GRAIN = 4096 };

typedef struct curve {
    cairn_vec3 low;
    double cells_per_length;
    int levels; /* k */
} curve;

static curve curve_through(const cairn_step *step)
{
    const cairn_body_store *b = &step->world->bodies;
    cairn_vec3 low = { INFINITY, INFINITY, INFINITY }, high = { -INFINITY, -INFINITY, -INFINITY };
    for (int i = 0; i < b->count; i++) {
        if (step->block[i] < 0)
            continue;
        cairn_vec3 x = b->x[i];
        low = cairn_vec(cairn_smaller(low.x, x.x), cairn_smaller(low.y, x.y),
                        cairn_smaller(low.z, x.z));
        high = cairn_vec(cairn_larger(high.x, x.x), cairn_larger(high.y, x.y),
                         cairn_larger(high.z, x.z));
    }
    double side = cairn_larger(high.x - low.x, cairn_larger(high.y - low.y, high.z - low.z));
    curve c = { .low = low };
    while (c.levels < MOST_LEVELS && 4 << (3 * c.levels) < step->blocks)
        c.levels++;
    c.cells_per_length = side > 0 ? ldexp(1, c.levels) / side : 0;
    return c;
}

static unsigned cell_along(const curve *c, double distance)
{
    int most = (1 << c->levels) - 1, cell = (int)(distance * c->cells_per_length);
    return (unsigned)(cell < most ? cell : most);
}

/* The bits of a number with two zeros after each; MOST_LEVELS bits at most. */
static unsigned spread(unsigned x)
{
    x = (x | x << 16) & 0x030000ff;
    x = (x | x << 8) & 0x0300f00f;
    x = (x | x << 4) & 0x030c30c3;
    return (x | x << 2) & 0x09249249;
}

/* The place of a cell along the curve. */
static int place_of(const curve *c, cairn_vec3 x)
{
    return (int)(spread(cell_along(c, x.x - c->low.x)) |
                 spread(cell_along(c, x.y - c->low.y)) << 1 |
                 spread(cell_along(c, x.z - c->low.z)) << 2);
}

typedef struct place_job {
    const cairn_vec3 *x;
    int32_t *block;
    curve c;
} place_job;

static void place_range(int begin, int end, void *context)
{
    const place_job *job = context;
    const cairn_vec3 *x = job->x;
    int32_t *block = job->block;
    for (int i = begin; i < end; i++)
        if (block[i] >= 0)
            block[i] = place_of(&job->c, x[i]);
}

static cairn_status order(const cairn_step *step)
{
    int count = step->world->bodies.count;
    place_job job = { step->world->bodies.x, step->block, curve_through(step) };
    size_t places = (size_t)1 << (3 * job.c.levels);
    int32_t *next = cairn_arena_take(&step->world->scratch, places + 1, sizeof *next);
    if (!next)
        return CAIRN_NO_MEMORY;
    cairn_parallel_for(count, GRAIN, place_range, &job);
    memset(next, 0, (places + 1) * sizeof *next);
    for (int i = 0; i < count; i++)
        if (step->block[i] >= 0)
            next[step->block[i] + 1]++;
    for (size_t k = 0; k < places; k++)
        next[k + 1] += next[k];
    for (int i = 0; i < count; i++)
        if (step->block[i] >= 0)
            step->block[i] = next[step->block[i]]++;
    return CAIRN_OK;
}

cairn_status cairn_step_number_blocks(cairn_step *step)
{
    const cairn_body_store *b = &step->world->bodies;
    step->block = cairn_arena_take(&step->world->scratch, (size_t)b->count, sizeof *step->block);
    if (!step->block)
        return CAIRN_NO_MEMORY;
    step->blocks = 0;
    for (int i = 0; i < b->count; i++)
        step->block[i] = b->alive[i] && b->motion[i] == CAIRN_MOTION_DYNAMIC ? step->blocks++ : -1;
    return step->blocks < WORTH_ORDER ? CAIRN_OK : order(step);
}

/* All contacts of a problem have the same components: rolling and spinning ones where some material
 * has such friction. */
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

cairn_status cairn_step_begin(cairn_world *world, const cairn_step_options *options,
                              cairn_step_report *report, cairn_step *step)
{
    *step = (cairn_step){ .world = world,
                          .options = options,
                          .h = options->time_step,
                          .scheme = cairn_scheme_find(options->scheme),
                          .overlaps = cairn_overlaps_find(options->overlaps),
                          .broad = cairn_broad_phase_find(options->broad_phase),
                          .report = report };
    step->linearisations = cairn_scheme_linearisations(step->scheme, options->linearisations);
    if (step->linearisations) /* the gap where the step ends is what counts, whatever it was */
        step->overlaps = CAIRN_OVERLAPS_PUSH;
    choose_components(step);
    cairn_arena_reset(&world->scratch);
    world->problem_r = NULL;
    world->contacts.count = 0;
    return cairn_step_number_blocks(step);
}
