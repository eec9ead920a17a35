/* stat_flags.c - the flags of `cairn stat` and `cairn plot`. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

static const char *take_set(cairn_arguments *arguments, const char *value)
{
    cairn_error error = { 0 };
    if (cairn_record_assign(cairn_measure_record(), &arguments->measure, value, &error) == CAIRN_OK)
        return NULL;
    snprintf(arguments->problem, sizeof arguments->problem, "%s", error.message);
    return arguments->problem;
}

/* Numbers with commas between, a star for an open side; how many, -1: not so. */
static int read_sides(const char *text, double side[6])
{
    for (int count = 0; count < 6; count++) {
        const char *end = text + 1;
        side[count] = count % 2 ? 1e30 : -1e30;
        if (*text != '*')
            end = text + cairn_number_read(text, &side[count]);
        if (end == text || !isfinite(side[count]) || (*end && *end != ','))
            return -1;
        if (!*end)
            return count + 1;
        text = end + 1;
    }
    return -1;
}

static const char *take_region(cairn_arguments *arguments, const char *value)
{
    double side[6] = { -1e30, 1e30, -1e30, 1e30, -1e30, 1e30 };
    int count = read_sides(value, side);
    if (count != 4 && count != 6)
        return "expected x0,x1,y0,y1 and in 3D z0,z1 in m, with * for an open side";
    arguments->measure.low = (cairn_vec3){ side[0], side[2], count == 6 ? side[4] : -1e30 };
    arguments->measure.high = (cairn_vec3){ side[1], side[3], count == 6 ? side[5] : 1e30 };
    return NULL;
}

static const char *take_out(cairn_arguments *arguments, const char *value)
{
    arguments->out = value;
    return value[0] ? NULL : "expected the name of a folder";
}

static const cairn_flag region = { "--region", 0, "X0,...",
                                   "box to measure: x0,x1,y0,y1[,z0,z1] in m; *: open",
                                   take_region };
static const cairn_flag set = { "--set", 's', "KEY=VALUE",
                                "how to measure, by 'cairn list statistics': bins=20", take_set };
static const cairn_flag tables = { "--out", 'o', "DIR", "write every frame as DIR/NAME.csv",
                                   take_out };
static const cairn_flag pictures = { "--out", 'o', "DIR",
                                     "where the pictures go (default: plots in the run folder)",
                                     take_out };

const cairn_flag *const cairn_stat_flags[] = { &region, &set, &tables, NULL };
const cairn_flag *const cairn_plot_flags[] = { &region, &set, &pictures, NULL };
