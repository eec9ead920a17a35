/* compare.c - `cairn compare`: schemes, solvers and time steps on the same scene, as a table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

/* ---- flags: lists with commas between -------------------------------------------------------- */

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
               : "expected schemes separated by commas; 'cairn list schemes' lists them";
}

static const char *take_solvers(cairn_arguments *arguments, const char *value)
{
    cairn_compare_arguments *c = &arguments->compare;
    return read_names(cairn_solver_name, value, c->solvers, &c->solver_count)
               ? NULL
               : "expected solvers separated by commas; 'cairn list solvers' lists them";
}

/* Whether the text begins with a time step; *end: after it. */
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
            return "expected time steps in s separated by commas, each > 0 and <= 1e9";
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
        return "expected a scheme; 'cairn list schemes' lists them";
    if (value[length] && (!is_step(value + length + 1, &end, &c->reference_step) || *end))
        return "expected SCHEME:STEP with a time step in s, > 0 and <= 1e9";
    return NULL;
}

static const char *take_out(cairn_arguments *arguments, const char *value)
{
    arguments->out = value;
    return value[0] ? NULL : "expected the name of a folder";
}

static const cairn_flag flag_schemes = { "--schemes", 0, "A,B,...",
                                         "schemes to compare (default: all)", take_schemes };
static const cairn_flag flag_solvers = { "--solvers", 0, "A,B,...",
                                         "solvers to compare (default: the scene's)",
                                         take_solvers };
static const cairn_flag flag_time_steps = { "--time-steps", 0, "H,...",
                                            "time steps in s (default: the scene's)",
                                            take_time_steps };
static const cairn_flag flag_reference = { "--reference", 0, "NAME[:H]",
                                           "scheme and time step of the reference",
                                           take_reference };
static const cairn_flag flag_out = { "--out", 'o', "DIR",
                                     "write compare.csv and compare.svg to DIR", take_out };

static const cairn_flag *const flags[] = {
    &flag_schemes,       &flag_solvers,     &flag_time_steps,
    &flag_reference,     &flag_out,         &cairn_flag_set,
    &cairn_flag_threads, &cairn_flag_quiet, NULL,
};

/* ---- the table ------------------------------------------------------------------------------ */

static void print_heading(void)
{
    printf("%-18s %-12s %10s %9s %9s %9s %9s %12s %9s %9s %9s %9s %10s %9s %7s %6s %9s\n", "scheme",
           "solver", "step (s)", "end max", "end rms", "max", "rms", "energy", "rise", "overlap",
           "residual", "coulomb", "dilatation", "spurious", "missed", "iter", "time (s)");
}

/* A number in 9 columns; a dash when it is unknown. */
static void print_number(bool known, double value)
{
    if (known)
        printf(" %9.2e", value);
    else
        printf(" %9s", "-");
}

static void print_totals(const cairn_compared *a)
{
    const cairn_run_summary *s = &a->summary;
    const cairn_certificate *worst = &s->worst;
    printf(" %12.5g", s->energy.kinetic + s->energy.potential);
    print_number(true, a->energy_rise);
    print_number(true, worst->penetration);
    print_number(true, worst->judgement.asked.relative);
    print_number(true, worst->judgement.coulomb.relative);
    printf(" %10.2e", worst->dilatation);
    print_number(true, worst->spurious_work);
    printf(" %7lld %6.1f %9.3g", (long long)s->uncertified, s->mean_iterations, s->wall_seconds);
}

static void print_run(const cairn_compared *a)
{
    const cairn_run_difference *d = &a->difference;
    bool known = d->samples > 0;
    char reason[4 * sizeof a->error.message];
    cairn_text_escape(a->error.message[0] ? a->error.message : cairn_status_text(a->status), reason,
                      sizeof reason);
    printf("%-18s %-12s %10.4g", a->scheme, a->solver, a->time_step);
    if (a->status == CAIRN_UNSUPPORTED) {
        printf("  do not go together: %s\n", reason);
        return;
    }
    if (a->summary.steps > 0) {
        print_number(known, d->end_max);
        print_number(known, d->end_rms);
        print_number(known, d->whole_max);
        print_number(known, d->whole_rms);
        print_totals(a);
    }
    printf("%s%s%s\n", a->is_reference ? "  reference" : "",
           a->status == CAIRN_OK ? "" : "  failed: ", a->status == CAIRN_OK ? "" : reason);
}

/* One line for each scheme and solver whose order is known, after the first of its runs. */
static void print_orders(const cairn_comparison *c)
{
    const cairn_compared *a, *last = NULL;
    for (int i = 0; (a = cairn_comparison_at(c, i)); i++) {
        bool again = last && last->scheme == a->scheme && last->solver == a->solver;
        if (!isfinite(a->order) || again)
            continue;
        if (!last)
            printf("\nOrder of convergence: slope of log(rms difference) over log(time step)\n");
        printf("%-18s %-12s %10.2f\n", a->scheme, a->solver, a->order);
        last = a;
    }
}

static void print_legend(void)
{
    puts("\nend max, end rms, max, rms: difference of positions from the reference (m), at the\n"
         "end and over all times; energy: at the end (J); rise: largest rise of energy in a step\n"
         "(J); overlap: deepest overlap (m); residual, coulomb: largest residual of the scheme's\n"
         "own law and of exact Coulomb friction; dilatation: largest gap that a convex law keeps\n"
         "during sliding (m); spurious: largest work in a step of lifting sliding bodies (J);\n"
         "missed: steps that missed their tolerance; iter: iterations per step.");
}

static void print_table(const cairn_comparison *c)
{
    print_heading();
    for (int i = 0; i < cairn_comparison_count(c); i++)
        print_run(cairn_comparison_at(c, i));
    print_orders(c);
    print_legend();
}

/* ---- files ---------------------------------------------------------------------------------- */

static void draw(const char *folder)
{
    static const char *const words[] = {
        [PLOT_DRAWN] = "difference against time step",
        [PLOT_NO_GNUPLOT] = "not drawn: gnuplot is not installed; compare.gp is its script",
        [PLOT_FAILED] = "not drawn: gnuplot failed on compare.gp",
    };
    cairn_plot_outcome outcome = cairn_plot_draw(folder, "compare.gp", "compare.svg");
    if (outcome == PLOT_DRAWN)
        printf("  %s/compare.svg: %s\n", folder, words[outcome]);
    else
        fprintf(stderr, "%s/compare.svg: note: %s\n", folder, words[outcome]);
}

static int write_files(const cairn_comparison *c, const char *folder)
{
    cairn_error error = { 0 };
    bool drawable;
    cairn_status status = cairn_comparison_write(c, folder, &drawable, &error);
    if (status != CAIRN_OK)
        return cairn_error_print(status, &error);
    printf("\n  %s/compare.csv: all runs\n", folder);
    if (drawable)
        draw(folder);
    else
        fprintf(stderr, "%s/compare.svg: note: not drawn: there is no difference to draw\n",
                folder);
    return EXIT_DONE;
}

/* ---- the command ---------------------------------------------------------------------------- */

static bool on_progress(const cairn_compare_progress *progress, void *context)
{
    const bool *quiet = context;
    const cairn_compared *now = progress->now;
    if (!progress->step && !*quiet)
        fprintf(stderr, "run %d of %d: %s, %s, time step %g s\n", progress->run, progress->runs,
                now->scheme, now->solver, now->time_step);
    return cairn_interrupt_signal() == 0;
}

static cairn_compare_options options_of(const cairn_arguments *arguments)
{
    const cairn_compare_arguments *a = &arguments->compare;
    return (cairn_compare_options){ .schemes = a->schemes,
                                    .scheme_count = a->scheme_count,
                                    .solvers = a->solvers,
                                    .solver_count = a->solver_count,
                                    .time_steps = { a->time_steps, a->time_step_count },
                                    .reference = a->reference,
                                    .reference_step = a->reference_step,
                                    .overrides = arguments->overrides,
                                    .override_count = arguments->override_count,
                                    .progress = on_progress,
                                    .context = (void *)&arguments->quiet };
}

static bool any_failed(const cairn_comparison *c)
{
    const cairn_compared *a;
    for (int i = 0; (a = cairn_comparison_at(c, i)); i++)
        if (a->status != CAIRN_OK && a->status != CAIRN_UNSUPPORTED)
            return true;
    return false;
}

/* Print and write all results, also those of an interrupted comparison. */
static int report(const cairn_comparison *c, const cairn_arguments *arguments, bool stopped)
{
    int code = any_failed(c) ? EXIT_FAILED : EXIT_DONE;
    print_table(c);
    if (arguments->out) {
        int written = write_files(c, arguments->out);
        code = written != EXIT_DONE ? written : code;
    }
    if (!stopped)
        return code;
    fprintf(stderr, "cairn: interrupted; the runs that had finished are kept\n");
    return EXIT_SIGNAL_BASE + cairn_interrupt_signal();
}

static int compare(const cairn_arguments *arguments)
{
    cairn_compare_options options = options_of(arguments);
    cairn_comparison *comparison = NULL;
    cairn_error error = { 0 };
    if (arguments->out && cairn_folder_prepare("compare", arguments->out) != EXIT_DONE)
        return EXIT_FAILED;
    cairn_interrupt_watch();
    cairn_status status = cairn_compare(arguments->operand, &options, &comparison, &error);
    if (!error.file[0])
        snprintf(error.file, sizeof error.file, "%s", arguments->operand);
    int code = comparison ? report(comparison, arguments, status == CAIRN_STOPPED)
                          : cairn_error_print(status, &error);
    cairn_comparison_destroy(comparison);
    return code;
}

const cairn_command cairn_command_compare = {
    .name = "compare",
    .operand = "SCENE",
    .summary = "Compare schemes, solvers and time steps on one scene",
    .details =
        "Differences are of positions, from those of the reference run, in m. With several time\n"
        "steps the order of convergence is estimated. The default reference is fixed-point with\n"
        "a tenth of the smallest of several time steps. A run that fails does not stop the "
        "others.\n"
        "Exit codes: 0 success, 1 a run failed or a file cannot be written, 2 usage error,\n"
        "3 invalid scene; 129, 130 and 143: ended by SIGHUP, SIGINT and SIGTERM.",
    .flags = flags,
    .run = compare,
};
