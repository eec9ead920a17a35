/* distribution.c - distributions of positive numbers: radii and masses. */
#include <math.h>
#include <stddef.h>

#include "base/count.h"
#include "base/random.h"
#include "base/status.h"
#include "world/world.h"

enum { MOST_DRAWS = 10000 };

cairn_distribution cairn_distribution_default(cairn_distribution_kind kind)
{
    return (cairn_distribution){ .kind = kind, .maximum = INFINITY };
}

static void constant_default(void *d)
{
    *(cairn_distribution *)d = cairn_distribution_default(CAIRN_DISTRIBUTION_CONSTANT);
}

static void uniform_default(void *d)
{
    *(cairn_distribution *)d = cairn_distribution_default(CAIRN_DISTRIBUTION_UNIFORM);
}

static void normal_default(void *d)
{
    *(cairn_distribution *)d = cairn_distribution_default(CAIRN_DISTRIBUTION_NORMAL);
}

static void lognormal_default(void *d)
{
    *(cairn_distribution *)d = cairn_distribution_default(CAIRN_DISTRIBUTION_LOGNORMAL);
}

static void list_default(void *d)
{
    *(cairn_distribution *)d = cairn_distribution_default(CAIRN_DISTRIBUTION_LIST);
}

static const cairn_option constant_options[] = {
    { "value", CAIRN_OPTION_REAL, true, offsetof(cairn_distribution, value), 0, 1e30, "",
      "the number", NULL },
};
static const cairn_option uniform_options[] = {
    { "minimum", CAIRN_OPTION_REAL, true, offsetof(cairn_distribution, minimum), CAIRN_POSITIVE,
      1e30, "", "", NULL },
    { "maximum", CAIRN_OPTION_REAL, true, offsetof(cairn_distribution, maximum), CAIRN_POSITIVE,
      1e30, "", "", NULL },
};
static const cairn_option spread_options[] = {
    { "mean", CAIRN_OPTION_REAL, true, offsetof(cairn_distribution, mean), CAIRN_POSITIVE, 1e30, "",
      "mean", NULL },
    { "deviation", CAIRN_OPTION_REAL, true, offsetof(cairn_distribution, deviation), 0, 1e30, "",
      "standard deviation", NULL },
    { "minimum", CAIRN_OPTION_REAL, false, offsetof(cairn_distribution, minimum), 0, 1e30, "",
      "smaller draws are drawn again", NULL },
    { "maximum", CAIRN_OPTION_REAL, false, offsetof(cairn_distribution, maximum), CAIRN_POSITIVE,
      INFINITY, "", "larger draws are drawn again", NULL },
};
static const cairn_option list_options[] = {
    { "values", CAIRN_OPTION_LIST, true, offsetof(cairn_distribution, values), CAIRN_POSITIVE, 1e30,
      "", "what may be drawn", NULL },
    { "weights", CAIRN_OPTION_LIST, false, offsetof(cairn_distribution, weights), 0, 1e30, "",
      "how often, relative to each other; default: equally", NULL },
};

const cairn_record *cairn_distribution_record(int kind)
{
    static const cairn_record records[CAIRN_DISTRIBUTION_COUNT] = {
        { "constant", "always the same number", sizeof(cairn_distribution), constant_default,
          constant_options, CAIRN_COUNT(constant_options) },
        { "uniform", "evenly between minimum and maximum", sizeof(cairn_distribution),
          uniform_default, uniform_options, CAIRN_COUNT(uniform_options) },
        { "normal", "normal, cut to [minimum, maximum]", sizeof(cairn_distribution), normal_default,
          spread_options, CAIRN_COUNT(spread_options) },
        { "lognormal", "log-normal, cut to [minimum, maximum]", sizeof(cairn_distribution),
          lognormal_default, spread_options, CAIRN_COUNT(spread_options) },
        { "list", "one of a list of values, with weights", sizeof(cairn_distribution), list_default,
          list_options, CAIRN_COUNT(list_options) },
    };
    return kind >= 0 && kind < CAIRN_DISTRIBUTION_COUNT ? &records[kind] : NULL;
}

static double sum(cairn_list list)
{
    double total = 0;
    for (int i = 0; i < list.count; i++)
        total += list.values[i];
    return total;
}

static cairn_status check_list(const cairn_distribution *d, cairn_error *error)
{
    if (d->values.count == 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, "values", "the list is empty");
    if (d->weights.count != 0 && d->weights.count != d->values.count)
        return cairn_fail(error, CAIRN_BAD_INPUT, "weights",
                          "found %d numbers, expected %d as in values", d->weights.count,
                          d->values.count);
    if (d->weights.count != 0 && !(sum(d->weights) > 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, "weights", "all are 0, expected one > 0");
    return CAIRN_OK;
}

/* Cut so far from the mean that draws would be rejected nearly always. */
static bool cut_too_hard(const cairn_distribution *d)
{
    double reach = 3.5 * d->deviation;
    return d->maximum <= 0 || d->minimum > d->mean + reach || d->maximum < d->mean - reach ||
           (d->deviation == 0 && (d->mean < d->minimum || d->mean > d->maximum));
}

cairn_status cairn_distribution_check(const cairn_distribution *d, cairn_error *error)
{
    const cairn_record *record = cairn_distribution_record((int)d->kind);
    if (!record)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "unknown distribution %d", (int)d->kind);
    TRY(cairn_record_check(record, d, error));
    if (d->kind == CAIRN_DISTRIBUTION_LIST)
        return check_list(d, error);
    if (d->kind != CAIRN_DISTRIBUTION_CONSTANT && d->maximum < d->minimum)
        return cairn_fail(error, CAIRN_BAD_INPUT, "maximum", "found %g, expected at least %g",
                          d->maximum, d->minimum);
    bool spread = d->kind == CAIRN_DISTRIBUTION_NORMAL || d->kind == CAIRN_DISTRIBUTION_LOGNORMAL;
    if (spread && cut_too_hard(d))
        return cairn_fail(error, CAIRN_BAD_INPUT, "minimum",
                          "[minimum, maximum] lies more than 3.5 deviations from the mean");
    return CAIRN_OK;
}

static double draw_list(const cairn_distribution *d, uint64_t *state)
{
    double u = cairn_random_uniform(state);
    int n = d->values.count;
    if (d->weights.count == 0)
        return d->values.values[(int)(u * n)];
    double left = u * sum(d->weights);
    for (int i = 0; i < n; i++) {
        left -= d->weights.values[i];
        if (left < 0)
            return d->values.values[i];
    }
    return d->values.values[n - 1];
}

/* ln X is normal with variance ln(1 + (deviation/mean)^2) and mean ln(mean) - variance/2. */
static double draw_spread(const cairn_distribution *d, uint64_t *state)
{
    double ratio = d->deviation / d->mean, variance = log(1 + ratio * ratio);
    for (int k = 0; k < MOST_DRAWS; k++) {
        double z = cairn_random_normal(state);
        double x = d->kind == CAIRN_DISTRIBUTION_NORMAL
                       ? d->mean + d->deviation * z
                       : exp(log(d->mean) - 0.5 * variance + sqrt(variance) * z);
        if (x > 0 && x >= d->minimum && x <= d->maximum)
            return x;
    }
    return fmin(fmax(d->mean, d->minimum), d->maximum);
}

double cairn_distribution_draw(const cairn_distribution *d, uint64_t *state)
{
    switch (d->kind) {
    case CAIRN_DISTRIBUTION_UNIFORM:
        return cairn_random_between(state, d->minimum, d->maximum);
    case CAIRN_DISTRIBUTION_LIST:
        return draw_list(d, state);
    case CAIRN_DISTRIBUTION_NORMAL:
    case CAIRN_DISTRIBUTION_LOGNORMAL:
        return draw_spread(d, state);
    default:
        return d->value;
    }
}
