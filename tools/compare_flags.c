/* compare_flags.c - the flags of `cairn compare`: lists with commas between. */
#include <string.h>

#include "command.h"

/* The name in the table that is the first `length` characters of `word`; NULL: none. */
static const char *find_name(const char *(*name_at)(int), const char *word, size_t length)
{
    for (int i = 0; name_at(i); i++)
        if (strlen(name_at(i)) == length && strncmp(name_at(i), word, length) == 0)
            return name_at(i);
    return NULL;
}

/* Read "a,b,c" by a table; a name given twice counts once. False: one of them is not in it. */
static bool read_names(const char *(*name_at)(int), const char *value,
                       const char *out[COMPARE_MOST], int *count)
{
    *count = 0;
    for (const char *word = value;; word++) {
        size_t length = strcspn(word, ",");
        const char *name = find_name(name_at, word, length);
        bool known = false;
        for (int i = 0; i < *count; i++)
            known |= out[i] == name;
        if (!name || (!known && *count == COMPARE_MOST))
            return false;
        if (!known)
            out[(*count)++] = name;
        word += length;
        if (!*word)
            return true;
    }
}

static const char *take_schemes(cairn_arguments *arguments, const char *value)
{
    cairn_compare_arguments *c = &arguments->compare;
    return read_names(cairn_scheme_name, value, c->schemes, &c->scheme_count)
               ? NULL
               : "expected schemes with commas between; 'cairn list schemes' names them";
}

static const char *take_solvers(cairn_arguments *arguments, const char *value)
{
    cairn_compare_arguments *c = &arguments->compare;
    return read_names(cairn_solver_name, value, c->solvers, &c->solver_count)
               ? NULL
               : "expected solvers with commas between; 'cairn list solvers' names them";
}

/* Whether the text begins with a time step; *end: behind it. */
static bool is_step(const char *text, const char **end, double *out)
{
    const cairn_option *option = cairn_record_find(cairn_step_record(), "time_step");
    *end = text + cairn_number_read(text, out);
    return *end != text && *out >= option->minimum && *out <= option->maximum;
}

static const char *take_time_steps(cairn_arguments *arguments, const char *value)
{
    cairn_compare_arguments *c = &arguments->compare;
    c->time_step_count = 0;
    for (const char *word = value;; word++) {
        double step;
        const char *end;
        bool known = false;
        if (!is_step(word, &end, &step) || (*end && *end != ','))
            return "expected time steps in s, numbers > 0 and <= 1e9, with commas between";
        for (int i = 0; i < c->time_step_count; i++)
            known |= c->time_steps[i] == step;
        if (!known && c->time_step_count == COMPARE_MOST)
            return "too many time steps; 32 at most";
        if (!known)
            c->time_steps[c->time_step_count++] = step;
        word = end;
        if (!*word)
            return NULL;
    }
}

/* "fixed-point" or "fixed-point:1e-4" */
static const char *take_reference(cairn_arguments *arguments, const char *value)
{
    cairn_compare_arguments *c = &arguments->compare;
    size_t length = strcspn(value, ":");
    const char *end;
    c->reference = find_name(cairn_scheme_name, value, length);
    c->reference_step = 0;
    if (!c->reference)
        return "expected a scheme; 'cairn list schemes' names them";
    if (value[length] && (!is_step(value + length + 1, &end, &c->reference_step) || *end))
        return "expected SCHEME:STEP with a time step in s, > 0 and <= 1e9";
    return NULL;
}

static const char *take_out(cairn_arguments *arguments, const char *value)
{
    arguments->out = value;
    return value[0] ? NULL : "expected the name of a folder";
}

static const cairn_flag schemes = { "--schemes", 0, "A,B,...",
                                    "schemes to compare (default: all there are)", take_schemes };
static const cairn_flag solvers = { "--solvers", 0, "A,B,...",
                                    "solvers to compare (default: the scene's)", take_solvers };
static const cairn_flag time_steps = { "--time-steps", 0, "H,...",
                                       "time steps in s (default: the scene's)", take_time_steps };
static const cairn_flag reference = { "--reference", 0, "NAME[:H]",
                                      "scheme (default: fixed-point) and time step (default: a "
                                      "tenth of the smallest of several) of the reference",
                                      take_reference };
static const cairn_flag out = { "--out", 'o', "DIR", "write compare.csv and compare.svg into DIR",
                                take_out };

const cairn_flag *const cairn_compare_flags[] = {
    &schemes, &solvers,        &time_steps,         &reference,
    &out,     &cairn_flag_set, &cairn_flag_threads, &cairn_flag_quiet,
    NULL,
};
