/* friction.c - friction that depends on the sliding speed ([A06] 5.1): continuous, never rising.
 *
 *     stribeck   mu = mu_d + (mu_s - mu_d) exp(-(|u_T|/v_s)^p)
 *     table      values at speeds, linear in between, constant outside
 * How a step finds mu together with the speed: phases.c. */
#include <math.h>
#include <stddef.h>

#include "base/status.h"
#include "world/world.h"

cairn_friction_law cairn_friction_law_default(cairn_friction_kind kind)
{
    return (cairn_friction_law){ .kind = kind, .exponent = 2 };
}

static void constant_default(void *law)
{
    *(cairn_friction_law *)law = cairn_friction_law_default(CAIRN_FRICTION_CONSTANT);
}

static void stribeck_default(void *law)
{
    *(cairn_friction_law *)law = cairn_friction_law_default(CAIRN_FRICTION_STRIBECK);
}

static void table_default(void *law)
{
    *(cairn_friction_law *)law = cairn_friction_law_default(CAIRN_FRICTION_TABLE);
}

static const cairn_option stribeck_options[] = {
    { "static", CAIRN_OPTION_REAL, true, offsetof(cairn_friction_law, mu_static), 0, 1e6, "",
      "mu at rest", NULL },
    { "dynamic", CAIRN_OPTION_REAL, true, offsetof(cairn_friction_law, mu_dynamic), 0, 1e6, "",
      "mu at high speed, at most the static one", NULL },
    { "speed", CAIRN_OPTION_REAL, true, offsetof(cairn_friction_law, speed), CAIRN_POSITIVE, 1e12,
      "m/s", "sliding speed at which 1/e of the difference is left", NULL },
    { "exponent", CAIRN_OPTION_REAL, false, offsetof(cairn_friction_law, exponent), CAIRN_POSITIVE,
      100, "", "p in exp(-(|u_T|/speed)^p)", NULL },
};
static const cairn_option table_options[] = {
    { "speeds", CAIRN_OPTION_LIST, true, offsetof(cairn_friction_law, speeds), 0, 1e12, "m/s",
      "sliding speeds, rising", NULL },
    { "values", CAIRN_OPTION_LIST, true, offsetof(cairn_friction_law, values), 0, 1e6, "",
      "mu at these speeds, never rising; linear in between, constant outside", NULL },
};

const cairn_record *cairn_friction_law_record(int kind)
{
    static const cairn_record records[] = {
        { "constant", "mu is the friction of the material at any speed", sizeof(cairn_friction_law),
          constant_default, NULL, 0 },
        { "stribeck", "from static to dynamic friction as sliding gets faster",
          sizeof(cairn_friction_law), stribeck_default, stribeck_options, 4 },
        { "table", "mu from a table of sliding speeds", sizeof(cairn_friction_law), table_default,
          table_options, 2 },
    };
    return kind >= 0 && kind <= CAIRN_FRICTION_TABLE ? &records[kind] : NULL;
}

static cairn_status check_table(const cairn_friction_law *law, cairn_error *error)
{
    const double *speeds = law->speeds.values, *values = law->values.values;
    if (law->speeds.count < 1)
        return cairn_fail(error, CAIRN_BAD_INPUT, "speeds", "the list is empty");
    if (law->values.count != law->speeds.count)
        return cairn_fail(error, CAIRN_BAD_INPUT, "values",
                          "found %d numbers, expected %d as in speeds", law->values.count,
                          law->speeds.count);
    for (int i = 1; i < law->speeds.count; i++) {
        if (!(speeds[i] > speeds[i - 1]))
            return cairn_fail(error, CAIRN_BAD_INPUT, "speeds",
                              "entry %d is %g, expected more than %g before it", i + 1, speeds[i],
                              speeds[i - 1]);
        if (!(values[i] <= values[i - 1]))
            return cairn_fail(error, CAIRN_BAD_INPUT, "values",
                              "entry %d is %g, expected at most %g before it: friction must not "
                              "rise with the sliding speed",
                              i + 1, values[i], values[i - 1]);
    }
    return CAIRN_OK;
}

cairn_status cairn_friction_law_check(const cairn_friction_law *law, cairn_error *error)
{
    const cairn_record *record = cairn_friction_law_record((int)law->kind);
    if (!record)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "unknown friction law %d", (int)law->kind);
    TRY(cairn_record_check(record, law, error));
    if (law->kind == CAIRN_FRICTION_TABLE)
        return check_table(law, error);
    if (law->kind == CAIRN_FRICTION_STRIBECK && law->mu_dynamic > law->mu_static)
        return cairn_fail(error, CAIRN_BAD_INPUT, "dynamic",
                          "found %g, expected at most %g, the static friction: friction must not "
                          "rise with the sliding speed",
                          law->mu_dynamic, law->mu_static);
    return CAIRN_OK;
}

/* The last entry at or below the speed is found by halving. */
static double interpolate(cairn_list at, cairn_list value, double x)
{
    int low = 0, high = at.count - 1;
    if (x <= at.values[low])
        return value.values[low];
    if (x >= at.values[high])
        return value.values[high];
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        *(at.values[middle] <= x ? &low : &high) = middle;
    }
    double share = (x - at.values[low]) / (at.values[high] - at.values[low]);
    return value.values[low] + share * (value.values[high] - value.values[low]);
}

double cairn_friction_law_at(const cairn_friction_law *law, double constant, double speed)
{
    switch (law->kind) {
    case CAIRN_FRICTION_STRIBECK:
        return law->mu_dynamic +
               (law->mu_static - law->mu_dynamic) * exp(-pow(speed / law->speed, law->exponent));
    case CAIRN_FRICTION_TABLE:
        return interpolate(law->speeds, law->values, speed);
    default:
        return constant;
    }
}
