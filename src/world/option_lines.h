/* option_lines.h - lines of option tables that worlds of bodies and Lagrangian systems share: how a
 * one-step problem is made and solved. `type` is the struct that the line is about. */
#ifndef CAIRN_WORLD_OPTION_LINES_H
#define CAIRN_WORLD_OPTION_LINES_H

#include <stddef.h>

#include "cairn/backend.h"
#include "cairn/solve.h"
#include "world/scheme.h"

/* clang-format off */
#define CAIRN_LINES_SOLVING(type)                                                                  \
    { "time_step", CAIRN_OPTION_REAL, true, offsetof(type, time_step), CAIRN_POSITIVE, 1e9, "s",   \
      "length of a step", NULL },                                                                  \
    { "scheme", CAIRN_OPTION_NAME, false, offsetof(type, scheme), 0, 0, "",                        \
      "time-stepping scheme", cairn_scheme_name },                                                 \
    { "solver", CAIRN_OPTION_NAME, false, offsetof(type, solver), 0, 0, "",                        \
      "method for the one-step problem", cairn_solver_name },                                      \
    { "backend", CAIRN_OPTION_WORD, false, offsetof(type, backend), 0, 0, "",                      \
      "where the one-step problem is solved", cairn_backend_name },                                \
    { "tolerance", CAIRN_OPTION_REAL, false, offsetof(type, tolerance), 0, 1, "",                  \
      "relative residual of the scheme's law at which a step is solved", NULL },                   \
    { "max_iterations", CAIRN_OPTION_INTEGER, false, offsetof(type, max_iterations), 1, 1e12, "",  \
      "sweeps or gradient steps after which a solve gives up and says so", NULL }

#define CAIRN_LINE_STABILISATION(type)                                                             \
    { "stabilisation", CAIRN_OPTION_REAL, false, offsetof(type, stabilisation), CAIRN_POSITIVE, 1, \
      "", "gamma: share of a gap or overlap that one step may close", NULL }

#define CAIRN_LINE_DIRECTIONS(type)                                                                \
    { "directions", CAIRN_OPTION_INTEGER, false, offsetof(type, directions), 4, 1000, "",          \
      "lcp, stewart-trinkle, convex-polyhedral in 3D: edges of a friction cone, an even number",   \
      NULL }

#define CAIRN_LINE_LINEARISATIONS(type)                                                            \
    { "linearisations", CAIRN_OPTION_INTEGER, false, offsetof(type, linearisations), 0, 1000, "",  \
      "n: gaps linearised at q + h v, then at the result, n times at most; 0: as the scheme has "  \
      "it", NULL }

#define CAIRN_LINE_MODEL_TOLERANCE(type)                                                           \
    { "model_tolerance", CAIRN_OPTION_REAL, false, offsetof(type, model_tolerance), 0,             \
      CAIRN_UNBOUNDED, "m", "auto: largest gap h mu |u_T| that a sliding contact may keep", NULL }
/* clang-format on */

#endif
