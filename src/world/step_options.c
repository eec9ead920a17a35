/* step_options.c - the options of a step, as a table. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/status.h"
#include "world/option_lines.h"
#include "world/world.h"

cairn_step_options cairn_step_options_default(void)
{
    return (cairn_step_options){ .scheme = "coulomb",
                                 .solver = "auto",
                                 .backend = "host",
                                 .tolerance = 1e-3,
                                 .max_iterations = 1000,
                                 .stabilisation = 1,
                                 .overlaps = "move",
                                 .directions = 8,
                                 .max_fixed_point = 100,
                                 .model_tolerance = 1e-4,
                                 .warm_start = true,
                                 .broad_phase = "auto",
                                 .reuse_pairs = true,
                                 .impact_rounds = 100 };
}

static void set_default(void *options)
{
    *(cairn_step_options *)options = cairn_step_options_default();
}

static const cairn_option options[] = {
    CAIRN_LINES_SOLVING(cairn_step_options),
    CAIRN_LINE_STABILISATION(cairn_step_options),
    { "overlaps", CAIRN_OPTION_NAME, false, offsetof(cairn_step_options, overlaps), 0, 0, "",
      "move: mended without velocity; push: by velocities, as in the papers; keep: left",
      cairn_overlaps_name },
    CAIRN_LINE_DIRECTIONS(cairn_step_options),
    CAIRN_LINE_LINEARISATIONS(cairn_step_options),
    { "fixed_point_tolerance", CAIRN_OPTION_REAL, false,
      offsetof(cairn_step_options, fixed_point_tolerance), 0, 1, "",
      "fixed-point, coulomb-newton: > 0 stops on the change of s as in [BL23]; 0 on the tolerance",
      NULL },
    { "max_fixed_point", CAIRN_OPTION_INTEGER, false, offsetof(cairn_step_options, max_fixed_point),
      1, 1e6, "",
      "fixed-point, coulomb-newton, auto: most convex solves; friction laws: most updates of mu",
      NULL },
    CAIRN_LINE_MODEL_TOLERANCE(cairn_step_options),
    { "impact_rounds", CAIRN_OPTION_INTEGER, false, offsetof(cairn_step_options, impact_rounds), 0,
      1e6, "", "Newton's restitution: most impacts one after the other in a step; 0: all at once",
      NULL },
    { "parts", CAIRN_OPTION_INTEGER, false, offsetof(cairn_step_options, parts), 0,
      CAIRN_MOST_PARTS, "",
      "that sweeps keep the bodies in, results depend on it; 0: by the number of contacts", NULL },
    { "margin", CAIRN_OPTION_REAL, false, offsetof(cairn_step_options, margin), 0, 1e12, "m",
      "candidates cover at least this much motion of each body; 0: what the step can need", NULL },
    { "warm_start", CAIRN_OPTION_FLAG, false, offsetof(cairn_step_options, warm_start), 0, 0, "",
      "start from the impulses of the last step", NULL },
    { "broad_phase", CAIRN_OPTION_NAME, false, offsetof(cairn_step_options, broad_phase), 0, 0, "",
      "how pairs that may touch are found", cairn_broad_phase_name },
    { "reuse_pairs", CAIRN_OPTION_FLAG, false, offsetof(cairn_step_options, reuse_pairs), 0, 0, "",
      "pairs found once serve while nothing leaves its place; never changes a result", NULL },
    { "sleep", CAIRN_OPTION_FLAG, false, offsetof(cairn_step_options, sleep), 0, 0, "",
      "groups at rest whose impulses still meet the tolerance are not solved again", NULL },
    { "threads", CAIRN_OPTION_INTEGER, false, offsetof(cairn_step_options, threads), 0, 4096, "",
      "worker threads; 0: as many as the machine has", NULL },
};

const cairn_record *cairn_step_record(void)
{
    static const cairn_record record = { .name = "step",
                                         .summary = "how the world steps; keys of run:",
                                         .size = sizeof(cairn_step_options),
                                         .set_default = set_default,
                                         .options = options,
                                         .option_count = sizeof options / sizeof options[0] };
    return &record;
}

/* Whether the solver treats problems of the scheme, here with further components of a contact. */
static bool solver_goes_with(const cairn_step_options *step, int dimension, int rolling,
                             int spinning)
{
    const cairn_scheme *scheme = cairn_scheme_find(step->scheme);
    bool edges = scheme->edges && dimension == 3;
    cairn_problem kind = { .dimension = dimension + rolling + spinning,
                           .rolling = rolling,
                           .spinning = spinning,
                           .directions = edges ? (int)step->directions : 0 };
    return cairn_scheme_accepts(scheme, step->backend, step->solver, &kind);
}

cairn_status cairn_step_options_check(const cairn_step_options *step, int dimension,
                                      cairn_error *error)
{
    TRY(cairn_record_check(cairn_step_record(), step, error));
    TRY(cairn_solver_check(step->solver, step->backend, error));
    const cairn_scheme *scheme = cairn_scheme_find(step->scheme);
    bool on_host = strcmp(step->backend, cairn_backend_name(0)) == 0;
    if (step->directions % 2)
        return cairn_fail(error, CAIRN_BAD_INPUT, "directions",
                          "found %lld, expected an even number", (long long)step->directions);
    if (scheme->velocity_level && step->linearisations)
        return cairn_fail(error, CAIRN_BAD_INPUT, "linearisations",
                          "found %lld, expected 0: the scheme %s does not use gaps",
                          (long long)step->linearisations, step->scheme);
    if (step->sleep && cairn_scheme_is_mixed(scheme))
        return cairn_fail(error, CAIRN_UNSUPPORTED, "sleep",
                          "found true with the scheme %s, expected another scheme: which of its "
                          "contacts have exact friction is found for all together",
                          step->scheme);
    if (step->sleep && !step->warm_start)
        return cairn_fail(error, CAIRN_BAD_INPUT, "sleep",
                          "found true with warm_start false, expected true: what sleeps keeps its "
                          "impulses");
    if (!solver_goes_with(step, dimension, 0, 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, "solver",
                          "%s does not treat the %s cones in %dD that the scheme %s has%s%s; "
                          "see cairn list solvers",
                          step->solver, scheme->edges ? "edged" : "circular", dimension,
                          step->scheme, on_host ? "" : " on the back end ",
                          on_host ? "" : step->backend);
    return CAIRN_OK;
}

/* Rolling and spinning friction, where some material has it. */
static cairn_status check_turning(const cairn_world *world, const cairn_step_options *step,
                                  cairn_error *error)
{
    const cairn_scheme *scheme = cairn_scheme_find(step->scheme);
    int d = world->dimension, rolling = world->materials.laws.rolling ? d - 1 : 0,
        spinning = world->materials.laws.spinning;
    if (rolling + spinning == 0 || scheme->frictionless)
        return CAIRN_OK;
    if (cairn_materials_have_poisson(world))
        return cairn_fail(
            error, CAIRN_UNSUPPORTED, "scheme",
            "a material has rolling or spinning friction and one bounces by Poisson's "
            "law, expected restitution_law newton or no restitution");
    cairn_step_options usual = *step;
    usual.solver = "auto";
    if (!solver_goes_with(&usual, d, rolling, spinning))
        return cairn_fail(
            error, CAIRN_UNSUPPORTED, "scheme",
            "found %s, expected one that treats rolling and spinning friction (convex, "
            "coulomb, moreau-jean, frictionless): a material has it",
            step->scheme);
    if (!solver_goes_with(step, d, rolling, spinning))
        return cairn_fail(
            error, CAIRN_UNSUPPORTED, "solver",
            "%s does not treat rolling and spinning friction with the scheme %s, and a "
            "material has it; see cairn list solvers",
            step->solver, step->scheme);
    return CAIRN_OK;
}

/* Rows with bounds are not for every solver, and not for the two phases of Poisson's impacts. */
static cairn_status check_joints(const cairn_world *world, const cairn_step_options *step,
                                 cairn_error *error)
{
    const uint8_t bounded = 1;
    const double lower[3] = { -INFINITY, -INFINITY, -INFINITY };
    const double upper[3] = { INFINITY, INFINITY, INFINITY };
    const cairn_scheme *scheme = cairn_scheme_find(step->scheme);
    bool edges = scheme->edges && world->dimension == 3;
    cairn_problem kind = { .dimension = world->dimension,
                           .directions = edges ? (int)step->directions : 0,
                           .contacts = 1,
                           .bounded = &bounded,
                           .lower = lower,
                           .upper = upper };
    if (world->joints.count == 0)
        return CAIRN_OK;
    if (!cairn_scheme_accepts(scheme, step->backend, step->solver, &kind))
        return cairn_fail(error, CAIRN_UNSUPPORTED, "solver",
                          "%s does not treat the rows of joints with the scheme %s; "
                          "see cairn list solvers",
                          step->solver, step->scheme);
    if (cairn_materials_have_poisson(world))
        return cairn_fail(error, CAIRN_UNSUPPORTED, "restitution_law",
                          "found poisson in a world with joints, expected newton");
    return CAIRN_OK;
}

cairn_status cairn_world_step_check(const cairn_world *world, const cairn_step_options *step,
                                    cairn_error *error)
{
    TRY(cairn_step_options_check(step, world->dimension, error));
    const cairn_scheme *scheme = cairn_scheme_find(step->scheme);
    if (world->materials.friction_varies && scheme->law != CAIRN_LAW_COULOMB &&
        !scheme->frictionless)
        return cairn_fail(error, CAIRN_UNSUPPORTED, "scheme",
                          "found %s, expected a scheme of exact Coulomb friction (coulomb, "
                          "fixed-point, ...): a friction law depends on the sliding speed",
                          step->scheme);
    if (world->materials.friction_varies && world->materials.laws.anisotropic &&
        !scheme->frictionless)
        return cairn_fail(error, CAIRN_UNSUPPORTED, "scheme",
                          "a material has friction_2 and one a friction_law that depends on the "
                          "sliding speed, expected one of the two");
    if (world->materials.friction_varies && step->sleep && !scheme->frictionless)
        return cairn_fail(error, CAIRN_UNSUPPORTED, "sleep",
                          "found true, expected false: a friction law depends on the sliding "
                          "speed, which who sleeps has not");
    TRY(check_turning(world, step, error));
    return check_joints(world, step, error);
}
