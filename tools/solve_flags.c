/* solve_flags.c - the flags of `cairn solve`. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"

/* A whole text that is a positive number. */
static bool is_positive(const char *value, double *out)
{
    size_t length = cairn_number_read(value, out);
    return length > 0 && !value[length] && *out > 0 && isfinite(*out);
}

static const char *take_solver(cairn_arguments *arguments, const char *value)
{
    if (strcmp(value, "all") != 0 && !cairn_solver_summary(value))
        return "unknown solver; 'cairn list solvers' names them, 'all' takes each";
    arguments->solve.solver = value;
    return NULL;
}

static const char *take_backend(cairn_arguments *arguments, const char *value)
{
    arguments->solve.backend = value;
    return cairn_is_word(value) ? NULL : "expected a name of 'cairn list backends'";
}

static const char *take_law(cairn_arguments *arguments, const char *value)
{
    cairn_solve_arguments *solve = &arguments->solve;
    solve->convex = strcmp(value, "convex") == 0;
    solve->directions = 0;
    if (solve->convex || strcmp(value, "coulomb") == 0)
        return NULL;
    const char *number = value + strlen("polyhedral:");
    int64_t edges;
    if (strncmp(value, "polyhedral:", strlen("polyhedral:")) != 0)
        return "expected coulomb, convex or polyhedral:K";
    size_t length = cairn_integer_read(number, &edges);
    if (length == 0 || number[length] || edges < 4 || edges > 1024 || edges % 2)
        return "expected polyhedral:K with an even K from 4 to 1024";
    solve->directions = (int)edges;
    return NULL;
}

static const char *take_tolerance(cairn_arguments *arguments, const char *value)
{
    if (!is_positive(value, &arguments->solve.tolerance) || arguments->solve.tolerance > 1)
        return "expected a number > 0 and <= 1";
    return NULL;
}

static const char *take_time_limit(cairn_arguments *arguments, const char *value)
{
    if (!is_positive(value, &arguments->solve.time_limit))
        return "expected a number of seconds > 0";
    return NULL;
}

static const char *take_max_iterations(cairn_arguments *arguments, const char *value)
{
    int64_t count;
    size_t length = cairn_integer_read(value, &count);
    if (length == 0 || value[length] || count < 1 || count > 1000000000000)
        return "expected a whole number from 1 to 1e12";
    arguments->solve.max_iterations = count;
    return NULL;
}

static const char *take_repeat(cairn_arguments *arguments, const char *value)
{
    int64_t count;
    size_t length = cairn_integer_read(value, &count);
    if (length == 0 || value[length] || count < 0 || count > 1000000)
        return "expected a whole number from 0 to 1e6";
    arguments->solve.repeats = (int)count;
    return NULL;
}

static const char *take_measure(cairn_arguments *arguments, const char *value)
{
    arguments->solve.fclib_measure = strcmp(value, "fclib") == 0;
    if (!arguments->solve.fclib_measure && strcmp(value, "strict") != 0)
        return "expected strict or fclib";
    return NULL;
}

static const char *take_start(cairn_arguments *arguments, const char *value)
{
    static const char *const names[] = { "zero", "guess", "solution" };
    for (int i = 0; i < 3; i++)
        if (strcmp(names[i], value) == 0) {
            arguments->solve.start = (cairn_solve_start)i;
            return NULL;
        }
    return "expected zero, guess or solution";
}

static const char *take_csv(cairn_arguments *arguments, const char *value)
{
    arguments->solve.csv = value;
    return value[0] ? NULL : "expected the name of a file";
}

static const char *take_profile(cairn_arguments *arguments, const char *value)
{
    arguments->solve.profile = value;
    return value[0] ? NULL : "expected the name of a file";
}

/* Answers have names of their own, so a file's name is a mistake; a folder may have any. */
static const char *take_out(cairn_arguments *arguments, const char *value)
{
    struct stat found;
    size_t length = strlen(value);
    bool named_so = length >= 5 && strcmp(value + length - 5, ".hdf5") == 0;
    arguments->out = value;
    if (!value[0])
        return "expected the name of a folder";
    if (named_so && !(stat(value, &found) == 0 && S_ISDIR(found.st_mode)))
        return "expected the name of a folder: it gets a file PROBLEM-SOLVER.hdf5 for each answer";
    return NULL;
}

static const cairn_flag solver = { "--solver", 0, "NAME", "a solver, or all (default: auto)",
                                   take_solver };
static const cairn_flag backend = { "--backend", 0, "NAME", "where it runs (default: host)",
                                    take_backend };
static const cairn_flag law = { "--law", 0, "LAW", "coulomb (default), convex or polyhedral:K",
                                take_law };
static const cairn_flag tolerance = { "--tolerance", 0, "T",
                                      "relative residual to reach (default: 1e-3)",
                                      take_tolerance };
static const cairn_flag measure = { "--measure", 0, "NAME",
                                    "what the tolerance means: strict (default) or fclib",
                                    take_measure };
static const cairn_flag time_limit = { "--time-limit", 0, "S", "give up a solve after S seconds",
                                       take_time_limit };
static const cairn_flag max_iterations = { "--max-iterations", 0, "N",
                                           "give up a solve after N iterations (default: 20000)",
                                           take_max_iterations };
static const cairn_flag repeat = { "--repeat", 0, "N",
                                   "solve N times more, 1 s at most, and tell the shortest time",
                                   take_repeat };
static const cairn_flag start = { "--start", 0, "FROM", "zero (default), guess or solution",
                                  take_start };
static const cairn_flag out = { "--out", 'o', "DIR", "store each answer as DIR/PROBLEM-SOLVER.hdf5",
                                take_out };
static const cairn_flag csv = { "--csv", 0, "FILE", "write everything as a table", take_csv };
static const cairn_flag profile = { "--profile", 0, "FILE.svg", "draw a performance profile",
                                    take_profile };

const cairn_flag *const cairn_solve_flags[] = {
    &solver,
    &backend,
    &law,
    &tolerance,
    &measure,
    &time_limit,
    &max_iterations,
    &start,
    &cairn_flag_threads,
    &repeat,
    &out,
    &cairn_flag_force,
    &csv,
    &profile,
    NULL,
};
