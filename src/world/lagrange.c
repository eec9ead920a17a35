/* lagrange.c - systems in generalised coordinates: options and state. The step is in
 * lagrange_step.c; the schemes are those of scheme.c. */
#include "world/lagrange.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "world/option_lines.h"

/* ---- options -------------------------------------------------------------------------------- */

cairn_lagrange_options cairn_lagrange_options_default(void)
{
    return (cairn_lagrange_options){ .scheme = "coulomb",
                                     .solver = "auto",
                                     .backend = "host",
                                     .tolerance = 1e-10,
                                     .max_iterations = 20000,
                                     .max_outer = 100,
                                     .model_tolerance = 1e-4,
                                     .directions = 8,
                                     .stabilisation = 1,
                                     .reach = CAIRN_UNBOUNDED };
}

static void set_default(void *options)
{
    *(cairn_lagrange_options *)options = cairn_lagrange_options_default();
}

static const cairn_option options[] = {
    CAIRN_LINES_SOLVING(cairn_lagrange_options),
    { "max_outer", CAIRN_OPTION_INTEGER, false, offsetof(cairn_lagrange_options, max_outer), 1, 1e6,
      "", "fixed-point, coulomb-newton, auto: most outer iterations", NULL },
    CAIRN_LINE_MODEL_TOLERANCE(cairn_lagrange_options),
    CAIRN_LINE_DIRECTIONS(cairn_lagrange_options),
    { "velocity_level", CAIRN_OPTION_FLAG, false, offsetof(cairn_lagrange_options, velocity_level),
      0, 1, "", "only contacts that touch, with their velocities; else gaps are kept open", NULL },
    CAIRN_LINE_STABILISATION(cairn_lagrange_options),
    CAIRN_LINE_LINEARISATIONS(cairn_lagrange_options),
    { "reach", CAIRN_OPTION_REAL, false, offsetof(cairn_lagrange_options, reach), 0,
      CAIRN_UNBOUNDED, "m", "contacts with a larger gap are left out", NULL },
};

const cairn_record *cairn_lagrange_record(void)
{
    static const cairn_record record = { .name = "lagrange",
                                         .summary = "how a Lagrangian system steps",
                                         .size = sizeof(cairn_lagrange_options),
                                         .set_default = set_default,
                                         .options = options,
                                         .option_count = sizeof options / sizeof options[0] };
    return &record;
}

/* ---- state ---------------------------------------------------------------------------------- */

static cairn_status check_system(const cairn_lagrange_system *system, cairn_error *error)
{
    if (system->coordinates < 1)
        return cairn_fail(error, CAIRN_BAD_INPUT, "coordinates", "found %d, expected at least 1",
                          system->coordinates);
    if (system->dimension != 2 && system->dimension != 3)
        return cairn_fail(error, CAIRN_BAD_INPUT, "dimension", "found %d, expected 2 or 3",
                          system->dimension);
    if (system->contacts < 0 || system->contacts > INT_MAX / system->dimension)
        return cairn_fail(error, CAIRN_BAD_INPUT, "contacts", "found %d", system->contacts);
    if (!system->mass)
        return cairn_fail(error, CAIRN_BAD_INPUT, "mass", "the callback is missing");
    if (system->contacts && !system->contact)
        return cairn_fail(error, CAIRN_BAD_INPUT, "contact", "the callback is missing");
    return CAIRN_OK;
}

static cairn_status copy_state(int n, const double *from, const char *key, double *to,
                               cairn_error *error)
{
    for (int i = 0; from && i < n; i++) {
        if (!isfinite(from[i]))
            return cairn_fail(error, CAIRN_NOT_FINITE, key, "coordinate %d is %g", i, from[i]);
        to[i] = from[i];
    }
    return CAIRN_OK;
}

static cairn_status fill(cairn_lagrange *l, const double *q, const double *v, cairn_error *error)
{
    const cairn_lagrange_system *system = &l->system;
    size_t m = (size_t)system->coordinates, contacts = (size_t)system->contacts;
    TRY(check_system(system, error));
    l->q = cairn_arena_doubles(&l->owned, m);
    l->v = cairn_arena_doubles(&l->owned, m);
    l->r = cairn_arena_doubles(&l->owned, contacts * (size_t)system->dimension);
    l->s = cairn_arena_doubles(&l->owned, contacts);
    if (!l->q || !l->v || !l->r || !l->s)
        return CAIRN_NO_MEMORY;
    TRY(cairn_workspace_create(&l->workspace));
    TRY(copy_state(system->coordinates, q, "q", l->q, error));
    return copy_state(system->coordinates, v, "v", l->v, error);
}

cairn_status cairn_lagrange_create(const cairn_lagrange_system *system, const double *q,
                                   const double *v, cairn_lagrange **out, cairn_error *error)
{
    cairn_lagrange *l = cairn_memory_zeroed(1, sizeof *l);
    *out = NULL;
    if (!l)
        return CAIRN_NO_MEMORY;
    l->system = *system;
    cairn_status status = fill(l, q, v, error);
    if (status == CAIRN_OK)
        *out = l;
    else
        cairn_lagrange_destroy(l);
    return status;
}

void cairn_lagrange_destroy(cairn_lagrange *lagrange)
{
    if (!lagrange)
        return;
    cairn_workspace_destroy(lagrange->workspace);
    cairn_arena_destroy(&lagrange->scratch);
    cairn_arena_destroy(&lagrange->owned);
    cairn_memory_free(lagrange);
}

double cairn_lagrange_time(const cairn_lagrange *lagrange)
{
    return lagrange->time;
}

const double *cairn_lagrange_position(const cairn_lagrange *lagrange)
{
    return lagrange->q;
}

const double *cairn_lagrange_velocity(const cairn_lagrange *lagrange)
{
    return lagrange->v;
}

const double *cairn_lagrange_impulse(const cairn_lagrange *lagrange)
{
    return lagrange->r;
}
