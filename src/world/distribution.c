/* distribution.c - distributions of positive numbers: radii and masses.
 *
 * Normal and log-normal ones are truncated by drawing again. A grading (a sieve curve, a list by
 * mass) is a distribution of mass over size: a body of size x has a mass that goes with x^p (p = 3,
 * in 2D 2; of masses 1), so bodies are drawn with the density of mass over x^p. Few of them are
 * large, and each of these is a large part of the mass: independent draws of N bodies miss the part
 * of a sieve that n of them are in by n^-1/2 of it. So gradings are drawn in strata: the quantiles
 * of N bodies lie evenly in [0, 1], in random order, and every sieve has the right number of bodies
 * to about one. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/common.h"
#include "cairn/generate.h"
#include "world/lists.h"

enum { MOST_DRAWS = 10000 }; /* attempts before a truncated distribution gives up */

cairn_distribution cairn_distribution_default(cairn_distribution_kind kind)
{
    return (cairn_distribution){
        .kind = kind, .maximum = INFINITY, .by = "number", .between = "log", .power = 3
    };
}

/* What weights count. */
static const char *by_name(int index)
{
    static const char *const names[] = { "number", "mass" };
    return index >= 0 && index < CAIRN_COUNT(names) ? names[index] : NULL;
}

/* How a sieve curve runs between two sieves. */
static const char *between_name(int index)
{
    static const char *const names[] = { "log", "linear" };
    return index >= 0 && index < CAIRN_COUNT(names) ? names[index] : NULL;
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

static void sieve_default(void *d)
{
    *(cairn_distribution *)d = cairn_distribution_default(CAIRN_DISTRIBUTION_SIEVE);
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
      "shares of the number or of the mass of bodies, see by; default: equal", NULL },
    { "by", CAIRN_OPTION_NAME, false, offsetof(cairn_distribution, by), 0, 0, "",
      "what weights count: the number of bodies, or their mass", by_name },
};
static const cairn_option sieve_options[] = {
    { "sizes", CAIRN_OPTION_LIST, true, offsetof(cairn_distribution, values), CAIRN_POSITIVE, 1e30,
      "m", "openings of the sieves, rising; a body has half the size as its radius", NULL },
    { "passing", CAIRN_OPTION_LIST, true, offsetof(cairn_distribution, weights), 0, 100, "%",
      "share of the mass that passes each sieve, from 0 to 100", NULL },
    { "between", CAIRN_OPTION_NAME, false, offsetof(cairn_distribution, between), 0, 0, "",
      "between two sieves passing is linear in the logarithm of the size, or in the size",
      between_name },
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
        { "list", "one of a list of values, with weights by number or by mass",
          sizeof(cairn_distribution), list_default, list_options, CAIRN_COUNT(list_options) },
        { "sieve", "a sieve curve: sizes, and the share of the mass that passes them",
          sizeof(cairn_distribution), sieve_default, sieve_options, CAIRN_COUNT(sieve_options) },
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

/* The curve must say where all of the mass is. */
static cairn_status check_sieves(const cairn_distribution *d, cairn_error *error)
{
    const double *size = d->values.values, *passing = d->weights.values;
    int n = d->values.count;
    if (n < 2)
        return cairn_fail(error, CAIRN_BAD_INPUT, "sizes", "found %d sizes, expected 2 or more", n);
    if (d->weights.count != n)
        return cairn_fail(error, CAIRN_BAD_INPUT, "passing",
                          "found %d numbers, expected %d as in sizes", d->weights.count, n);
    for (int i = 1; i < n; i++) {
        if (!(size[i] > size[i - 1]))
            return cairn_fail(error, CAIRN_BAD_INPUT, "sizes",
                              "found %g after %g, expected sizes that rise", size[i], size[i - 1]);
        if (passing[i] < passing[i - 1])
            return cairn_fail(error, CAIRN_BAD_INPUT, "passing",
                              "found %g after %g, expected numbers that never fall", passing[i],
                              passing[i - 1]);
    }
    if (passing[0] != 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, "passing",
                          "found %g %% at the smallest size, expected 0: begin with the size that "
                          "nothing passes",
                          passing[0]);
    if (passing[n - 1] != 100)
        return cairn_fail(error, CAIRN_BAD_INPUT, "passing",
                          "found %g %% at the largest size, expected 100: shares are in percent",
                          passing[n - 1]);
    return CAIRN_OK;
}

/* Whether [minimum, maximum] is so far from the mean that nearly all draws would be rejected. */
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
    if (d->kind == CAIRN_DISTRIBUTION_SIEVE)
        return check_sieves(d, error);
    if (d->kind != CAIRN_DISTRIBUTION_CONSTANT && d->maximum < d->minimum)
        return cairn_fail(error, CAIRN_BAD_INPUT, "maximum", "found %g, expected at least %g",
                          d->maximum, d->minimum);
    bool spread = d->kind == CAIRN_DISTRIBUTION_NORMAL || d->kind == CAIRN_DISTRIBUTION_LOGNORMAL;
    if (spread && cut_too_hard(d))
        return cairn_fail(error, CAIRN_BAD_INPUT, "minimum",
                          "[minimum, maximum] lies more than 3.5 deviations from the mean");
    return CAIRN_OK;
}

/* By the cumulative weights. Rounding may leave a rest after the last one, which then counts. */
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

/* Normal or log-normal; for the latter ln X is normal with variance ln(1 + (deviation/mean)^2) and
 * mean ln(mean) - variance/2, so that X has the given mean and deviation. After MOST_DRAWS
 * rejections the mean is returned, moved into the interval; cairn_distribution_check makes this all
 * but impossible. */
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

/* ---- gradings ------------------------------------------------------------------------------- */

bool cairn_distribution_graded(const cairn_distribution *d)
{
    return d->kind == CAIRN_DISTRIBUTION_SIEVE ||
           (d->kind == CAIRN_DISTRIBUTION_LIST && strcmp(d->by, "mass") == 0);
}

/* The bodies between two sieves a < b, or of one value of a list, are
 *     number(x) = factor (a^-q - x^-q)
 * up to the size x. With the share s of the mass its density is s/(x ln(b/a)) for `log`, which
 * divided by x^p gives q = p, and s/(b - a) for `linear`: q = p - 1. */
typedef struct fraction {
    double low, high, factor, q;
    double number; /* of its bodies; for a list the only member besides low */
} fraction;

static int fraction_count(const cairn_distribution *d)
{
    return d->kind == CAIRN_DISTRIBUTION_SIEVE ? d->values.count - 1 : d->values.count;
}

/* Sizes are related to the last one, so that powers of them are ordinary numbers. */
static fraction fraction_at(const cairn_distribution *d, int i)
{
    const double *x = d->values.values, *w = d->weights.values, unit = x[d->values.count - 1];
    if (d->kind == CAIRN_DISTRIBUTION_LIST)
        return (fraction){ .low = x[i],
                           .number = (d->weights.count ? w[i] : 1) / pow(x[i] / unit, d->power) };
    bool log_linear = strcmp(d->between, "log") == 0;
    double a = x[i] / unit, b = x[i + 1] / unit, q = log_linear ? d->power : d->power - 1;
    double factor = (w[i + 1] - w[i]) / (log_linear ? log(b / a) : b - a) / q;
    return (fraction){ x[i], x[i + 1], factor, q, factor * (pow(a, -q) - pow(b, -q)) };
}

/* The size up to which a fraction has `number` bodies. */
static double size_within(const cairn_distribution *d, const fraction *f, double number)
{
    double unit = d->values.values[d->values.count - 1];
    if (d->kind == CAIRN_DISTRIBUTION_LIST)
        return f->low;
    double x = unit * pow(pow(f->low / unit, -f->q) - number / f->factor, -1 / f->q);
    return fmin(fmax(x, f->low), f->high) / 2;
}

/* The value below which the share u of all bodies lies. Empty fractions are passed over. */
static double quantile(const cairn_distribution *d, double u)
{
    int n = fraction_count(d);
    double total = 0;
    for (int i = 0; i < n; i++)
        total += fraction_at(d, i).number;
    fraction f = { 0 };
    double left = u * total;
    for (int i = 0; i < n; i++) {
        const fraction next = fraction_at(d, i);
        if (next.number > 0 && left >= f.number) {
            left -= f.number;
            f = next;
        }
    }
    return size_within(d, &f, fmin(left, f.number));
}

/* A permutation of 0 ... count - 1 for each key, computed from the index alone: an invertible
 * function on the numbers of as many bits, repeated until the result is in range. */
static uint64_t shuffled(uint64_t index, uint64_t count, uint64_t key)
{
    enum { ROUNDS = 4 };
    int bits = 0;
    while ((UINT64_C(1) << bits) < count)
        bits++;
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    do {
        uint64_t state = key;
        for (int k = 0; k < ROUNDS; k++) {
            index *= cairn_random_next(&state) | 1;
            index = (index + cairn_random_next(&state)) & mask;
            index ^= index >> (bits + 1) / 2;
        }
    } while (index >= count);
    return index;
}

/* The quantile of body `index` of `count`. Blocks of so many bodies are stratified each for itself;
 * multiples of the golden ratio shift them against each other. */
static double stratum(uint64_t seed, int64_t index, int64_t count, int64_t most)
{
    const double golden = 0.61803398874989485;
    int64_t block = index / most, rest = count - block * most;
    int64_t size = rest < most ? rest : most;
    uint64_t key = seed + (uint64_t)block * UINT64_C(0xd1342543de82ef95);
    double shift = 0.5 + (double)block * golden;
    double place = (double)shuffled((uint64_t)(index % most), (uint64_t)size, key);
    return (place + shift - floor(shift)) / (double)size;
}

double cairn_distribution_pick(const cairn_distribution *d, uint64_t seed, int64_t index,
                               int64_t count, int64_t block)
{
    return quantile(d, stratum(seed, index, count, block));
}

double cairn_distribution_largest(const cairn_distribution *d)
{
    double largest = 0;
    if (d->kind == CAIRN_DISTRIBUTION_CONSTANT)
        return d->value;
    if (d->kind == CAIRN_DISTRIBUTION_SIEVE)
        return d->values.values[d->values.count - 1] / 2;
    if (d->kind != CAIRN_DISTRIBUTION_LIST)
        return d->maximum;
    for (int i = 0; i < d->values.count; i++)
        largest = fmax(largest, d->values.values[i]);
    return largest;
}

double cairn_distribution_draw(const cairn_distribution *d, uint64_t *state)
{
    if (cairn_distribution_graded(d))
        return quantile(d, cairn_random_uniform(state));
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
