/* measure_options.c - how to measure: the table behind `measure:` in a scene and
 * `cairn stat --set`. */
#include <math.h>

#include "base/status.h"
#include "measure/measure.h"

static const double OPEN = 1e30; /* m: a side of the box out there is open */

static const char *axis_name(int index)
{
    static const char *const names[] = { "up", "x", "y", "z" };
    return index >= 0 && index < 4 ? names[index] : NULL;
}

static const char *classes_name(int index)
{
    static const char *const names[] = { "radius", "material" };
    return index >= 0 && index < 2 ? names[index] : NULL;
}

cairn_measure_options cairn_measure_options_default(void)
{
    return (cairn_measure_options){ .low = { -OPEN, -OPEN, -OPEN },
                                    .high = { OPEN, OPEN, OPEN },
                                    .trim = 0.15,
                                    .axis = "up",
                                    .bins = 50,
                                    .range = 5,
                                    .classes = "radius" };
}

static void set_default(void *options)
{
    *(cairn_measure_options *)options = cairn_measure_options_default();
}

static const cairn_option options[] = {
    { "low", CAIRN_OPTION_VECTOR, false, offsetof(cairn_measure_options, low), -1e30, 1e30, "m",
      "lower corner of the box that is measured; -1e30: open", NULL },
    { "high", CAIRN_OPTION_VECTOR, false, offsetof(cairn_measure_options, high), -1e30, 1e30, "m",
      "upper corner; 1e30: open", NULL },
    { "trim", CAIRN_OPTION_REAL, false, offsetof(cairn_measure_options, trim), 0, 0.49, "",
      "share of the grains left out at each open side where a volume is needed", NULL },
    { "axis", CAIRN_OPTION_NAME, false, offsetof(cairn_measure_options, axis), 0, 0, "",
      "axis of slices and of the surface", axis_name },
    { "bins", CAIRN_OPTION_INTEGER, false, offsetof(cairn_measure_options, bins), 1, 4096, "",
      "rows of a profile or a histogram", NULL },
    { "range", CAIRN_OPTION_REAL, false, offsetof(cairn_measure_options, range), CAIRN_POSITIVE,
      1000, "", "largest distance of the pair correlation, in mean diameters", NULL },
    { "classes", CAIRN_OPTION_NAME, false, offsetof(cairn_measure_options, classes), 0, 0, "",
      "what tells the two classes of a mixture", classes_name },
    { "cell", CAIRN_OPTION_REAL, false, offsetof(cairn_measure_options, cell), 0, CAIRN_UNBOUNDED,
      "m", "edge of the cells of the mixing index; 0: 20 grains in a cell", NULL },
    { "kinetic", CAIRN_OPTION_FLAG, false, offsetof(cairn_measure_options, kinetic), 0, 1, "",
      "add the stress that moving grains carry", NULL },
};

const cairn_record *cairn_measure_record(void)
{
    static const cairn_record record = {
        "measure", "how statistics are measured",      sizeof(cairn_measure_options), set_default,
        options,   sizeof options / sizeof options[0],
    };
    return &record;
}

cairn_status cairn_measure_options_check(const cairn_measure_options *o, int dimension,
                                         cairn_error *error)
{
    TRY(cairn_record_check(cairn_measure_record(), o, error));
    if (dimension == 2 && o->axis[0] == 'z')
        return cairn_fail(error, CAIRN_BAD_INPUT, "axis", "found z, expected up, x or y in 2D");
    for (int k = 0; k < dimension; k++)
        if (!(cairn_component(o->low, k) < cairn_component(o->high, k)))
            return cairn_fail(error, CAIRN_BAD_INPUT, "high",
                              "found %g, expected more than the lower corner's %g in m",
                              cairn_component(o->high, k), cairn_component(o->low, k));
    return CAIRN_OK;
}
