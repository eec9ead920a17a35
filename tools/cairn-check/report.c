/* report.c - see report.h. */
#include "report.h"

#include <float.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* "not certified: step 3, contact 7: gap: " of a finding that is to be printed. */
static bool begin_finding(check_report *report, check_place place, const char *component)
{
    if (report->findings++ >= report->most)
        return false;
    printf("not certified: ");
    if (place.step > 0)
        printf("step %ld%s", place.step, place.kind ? ", " : ": ");
    if (place.kind)
        printf("%s %ld: ", place.kind, place.number);
    printf("%s%s: ", place.what, component);
    return true;
}

static void compare(check_report *report, check_place place, const char *component,
                    const double numbers[3])
{
    double stored = numbers[0], computed = numbers[1], scale = numbers[2];
    report->compared++;
    /* infinite terms would make every number right, and a number that is none agrees with
     * nothing */
    bool finite = isfinite(stored) && isfinite(computed) && isfinite(scale);
    /* what is smaller than the smallest normal number has no digits to compare */
    double most = fmax(CHECK_ROUNDING * scale, DBL_MIN);
    if (finite && (stored == computed || fabs(stored - computed) <= most))
        return;
    if (begin_finding(report, place, component))
        printf("stored %.17g, recomputed %.17g\n", stored, computed);
}

void check_same(check_report *report, check_place place, double stored, double computed,
                double scale)
{
    compare(report, place, "", (const double[3]){ stored, computed, scale });
}

void check_same_vec(check_report *report, check_place place, vec stored, vec computed, double scale)
{
    compare(report, place, ".x", (const double[3]){ stored.x, computed.x, scale });
    compare(report, place, ".y", (const double[3]){ stored.y, computed.y, scale });
    compare(report, place, ".z", (const double[3]){ stored.z, computed.z, scale });
}

void check_same_quat(check_report *report, check_place place, quat stored, quat computed,
                     double scale)
{
    compare(report, place, ".w", (const double[3]){ stored.w, computed.w, scale });
    check_same_vec(report, place, (vec){ stored.x, stored.y, stored.z },
                   (vec){ computed.x, computed.y, computed.z }, scale);
}

void check_between(check_report *report, check_place place, double stored, double low, double high)
{
    report->compared++;
    if (isfinite(stored) && stored >= low && stored <= high)
        return;
    if (begin_finding(report, place, ""))
        printf("stored %.17g, recomputed between %.17g and %.17g\n", stored, low, high);
}

void check_true(check_report *report, check_place place, bool good, const char *words)
{
    report->compared++;
    if (!good && begin_finding(report, place, ""))
        printf("%s\n", words);
}

bool check_fail(check_report *report, const char *format, ...)
{
    va_list arguments;
    if (report->problem[0])
        return false;
    va_start(arguments, format);
    vsnprintf(report->problem, sizeof report->problem, format, arguments);
    va_end(arguments);
    for (char *c = report->problem; *c; c++) /* texts of the file must not steer the terminal */
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    return false;
}
