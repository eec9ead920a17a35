/* doubts.c - numbers that are possible, but are probably in another unit: degrees, percent,
 * millimetres, g/cm^3; and steps that are too long for the sizes and gravity. They change nothing:
 * `cairn check` prints them.
 *
 * A rule has a bound that no ordinary scene reaches (tests/tools/test_check.py: none of scenes/).
 * The first number that a rule doubts is told with its place, the others are counted. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "scene/stages.h"

/* ---- rules ---------------------------------------------------------------------------------- */

/* A number of an option of this unit, and of this name if there is one, in [least, most]. `factor`
 * gives the number in the unit of the option. */
typedef struct number_rule {
    cairn_scene_doubtful rule;
    const char *unit, *name;
    double least, most;
    bool round; /* only multiples of 15, as angles in degrees mostly are */
    double factor;
    const char *text; /* with the number, and the number times the factor */
} number_rule;

#define COEFFICIENT "found %g, which hardly any surface has; if it is in percent, write %.4g"

static const number_rule number_rules[] = {
    { CAIRN_DOUBT_DEGREES, "rad", NULL, 2.01 * M_PI, INFINITY, false, M_PI / 180,
      "found %g rad, more than a full turn; if it is in degrees, write %.5g" },
    { CAIRN_DOUBT_LIMITS, "m or rad", NULL, 4 * M_PI, INFINITY, true, M_PI / 180,
      "found %g, which for an angle is several turns; if it is in degrees, write %.5g" },
    { CAIRN_DOUBT_PERCENT, "", "friction", 5, 100, false, 0.01, COEFFICIENT },
    { CAIRN_DOUBT_PERCENT, "", "friction_2", 5, 100, false, 0.01, COEFFICIENT },
    { CAIRN_DOUBT_PERCENT, "", "static", 5, 100, false, 0.01, COEFFICIENT },
    { CAIRN_DOUBT_PERCENT, "", "dynamic", 5, 100, false, 0.01, COEFFICIENT },
    { CAIRN_DOUBT_DENSITY, "kg/m^3", "density", 0.5, 10, false, 1000,
      "found %g kg/m^3, lighter than foam; if it is in g/cm^3, write %g" },
    { CAIRN_DOUBT_GRAVITY, "m/s^2", "gravity", 5000, INFINITY, false, 1e-3,
      "found %g m/s^2, over 500 times that of the earth; if it is in mm/s^2, write %.4g" },
};

/* m: sizes of dynamic bodies, above which they are doubted; of those from files without a
 * `scale`, because files are often in mm */
static const double large = 20, large_of_file = 3;

/* ---- telling -------------------------------------------------------------------------------- */

__attribute__((format(printf, 4, 5))) static cairn_status tell(cairn_scene_build *b,
                                                               cairn_scene_doubtful rule,
                                                               const cairn_yaml_node *node,
                                                               const char *format, ...)
{
    char message[300];
    va_list arguments;
    if (b->doubts[rule]) {
        b->doubts[rule]->others++;
        return CAIRN_OK;
    }
    cairn_doubt *doubt = cairn_arena_take(b->arena, 1, sizeof *doubt);
    if (!doubt)
        return cairn_scene_no_memory(b);
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    *doubt = (cairn_doubt){ .next = b->scene->doubts };
    cairn_yaml_fail(node, NULL, &doubt->found, "%s", message);
    b->scene->doubts = b->doubts[rule] = doubt;
    return CAIRN_OK;
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* Lists of angles are those of motions, which may turn often. In 2D densities are per area. */
static bool applies(const cairn_scene_build *b, const number_rule *r, const cairn_option *option,
                    double number)
{
    double size = fabs(number);
    if (option->type == CAIRN_OPTION_LIST || (r->name && strcmp(r->name, option->name) != 0) ||
        strcmp(r->unit, option->unit) != 0)
        return false;
    if (r->rule == CAIRN_DOUBT_DENSITY && b->dimension == 2)
        return false;
    if (r->rule == CAIRN_DOUBT_LIMITS && b->part != 0) /* of a slide: in metres */
        return false;
    return isfinite(size) && size >= r->least && size <= r->most &&
           (!r->round || fmod(size, 15) == 0);
}

cairn_status cairn_scene_doubt_number(cairn_scene_build *b, const cairn_yaml_node *node,
                                      const cairn_option *option, double number)
{
    for (int i = 0; i < CAIRN_COUNT(number_rules); i++) {
        const number_rule *r = &number_rules[i];
        if (applies(b, r, option, number))
            return tell(b, r->rule, node, r->text, number, r->factor * number);
    }
    return CAIRN_OK;
}

/* ---- bodies and the step --------------------------------------------------------------------- */

/* Whether the shape of a body comes from a file, and the scene says nothing about its scale. */
static bool is_unscaled_file(const cairn_yaml_node *body)
{
    const cairn_yaml_node *shape = cairn_yaml_find(body, "shape");
    const cairn_yaml_node *options =
        shape && shape->kind == CAIRN_YAML_MAPPING ? shape->first : NULL;
    return options && cairn_yaml_find(options, "file") && !cairn_yaml_find(options, "scale");
}

static cairn_status doubt_size(cairn_scene_build *b, const cairn_bodies *bodies, int row)
{
    if (!(2 * bodies->extent[row] > large_of_file)) /* a ball that holds it */
        return CAIRN_OK;
    double size = cairn_shape_size(cairn_bodies_shape(bodies, row), b->dimension);
    if (!(size > large_of_file && isfinite(size)))
        return CAIRN_OK;
    const cairn_yaml_node *node =
        cairn_scene_origin_of(b, (cairn_body_id){ .uid = bodies->uid[row] });
    if (is_unscaled_file(node))
        return tell(b, CAIRN_DOUBT_FILE, node,
                    "a body of this file is %.4g m large and has %.4g kg; if the file is in mm, "
                    "write scale: 0.001, and if not, scale: 1",
                    size, bodies->mass[row]);
    if (size > large)
        return tell(b, CAIRN_DOUBT_SIZE, node,
                    "a body is %.4g m large and has %.4g kg; lengths are in m", size,
                    bodies->mass[row]);
    return CAIRN_OK;
}

/* From rest a body falls by g h^2 in the first step. If that is much of its size, contacts are felt
 * late, and heights of falls are wrong by as much. */
static cairn_status doubt_step(cairn_scene_build *b, double smallest)
{
    const double share = 0.25;
    const cairn_yaml_node *run = cairn_yaml_find(b->tree.root, "run");
    const cairn_yaml_node *step = cairn_yaml_find(run, "time_step");
    cairn_vec3 g = cairn_world_gravity(b->scene->world);
    double h = b->scene->step.time_step, weight = sqrt(g.x * g.x + g.y * g.y + g.z * g.z);
    if (!isfinite(smallest) || !(weight * h * h > share * smallest))
        return CAIRN_OK;
    return tell(b, CAIRN_DOUBT_STEP, step ? step : run,
                "in a step of %g s a body that is let go falls by %.3g m, and the smallest body is "
                "%.3g m large; expected at most %.2g s, with which it falls by 1 %% of that",
                h, weight * h * h, 2 * smallest, sqrt(0.02 * smallest / weight));
}

/* The least and the most that a distribution usually gives: without the tails of a normal one. */
static void find_range(const cairn_distribution *d, double *least, double *most)
{
    bool spread = d->kind == CAIRN_DISTRIBUTION_NORMAL || d->kind == CAIRN_DISTRIBUTION_LOGNORMAL;
    double unit = d->kind == CAIRN_DISTRIBUTION_SIEVE ? 0.5 : 1;
    *least = d->kind == CAIRN_DISTRIBUTION_UNIFORM ? d->minimum : spread ? d->mean : d->value;
    *most = d->kind == CAIRN_DISTRIBUTION_UNIFORM ? d->maximum : *least;
    if (d->values.count == 0)
        return;
    *least = INFINITY;
    *most = 0;
    for (int i = 0; i < d->values.count; i++) {
        *least = fmin(*least, unit * d->values.values[i]);
        *most = fmax(*most, unit * d->values.values[i]);
    }
}

/* Shapes without a radius have their own size, which is not looked at. */
cairn_status cairn_scene_doubt_inlet(cairn_scene_build *b, const cairn_yaml_node *node,
                                     const cairn_inlet_def *def)
{
    const cairn_yaml_node *radius = cairn_yaml_find(node, "radius");
    double least, most;
    find_range(&def->radius, &least, &most);
    if (!(least > 0))
        return CAIRN_OK;
    bool smaller = b->smallest_to_come == 0 || least < b->smallest_to_come;
    b->smallest_to_come = smaller ? least : b->smallest_to_come;
    return 2 * most > large ? tell(b, CAIRN_DOUBT_SIZE, radius ? radius : node,
                                   "bodies of up to %.4g m come in; lengths are in m", 2 * most)
                            : CAIRN_OK;
}

cairn_status cairn_scene_doubt_world(cairn_scene_build *b)
{
    const cairn_bodies bodies = cairn_world_bodies(b->scene->world);
    double smallest = b->smallest_to_come > 0 ? b->smallest_to_come : INFINITY;
    for (int i = 0; i < bodies.count; i++) {
        if (bodies.motion[i] != CAIRN_MOTION_DYNAMIC)
            continue;
        TRY(doubt_size(b, &bodies, i));
        if (bodies.extent[i] > 0)
            smallest = fmin(smallest, bodies.extent[i]);
    }
    return doubt_step(b, smallest);
}
