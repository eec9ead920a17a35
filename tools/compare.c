/* compare.c - `cairn compare`: schemes, solvers and time steps on the same scene, as a table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "folder.h"
#include "ending/interrupt.h"
#include "plot.h"

/* ---- the table ------------------------------------------------------------------------------ */

static void print_heading(void)
{
    printf("%-18s %-12s %10s %9s %9s %9s %9s %12s %9s %9s %9s %9s %10s %9s %7s %6s %9s\n", "scheme",
           "solver", "step (s)", "end max", "end rms", "max", "rms", "energy", "rise", "overlap",
           "residual", "coulomb", "dilatation", "spurious", "missed", "iter", "time (s)");
}

/* A number in 9 places; a dash when it is not known. */
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
    puts(
        "\nend max, end rms, max, rms: difference of positions from the reference (m), at the end\n"
        "and over all times; energy (J) at the end; rise: its largest in a step (J); overlap: the\n"
        "deepest (m); residual, coulomb: largest of the scheme's own law and of exact Coulomb\n"
        "friction; dilatation: largest gap kept while sliding by a convex law (m); spurious:\n"
        "largest work in a step of lifting what slides (J); missed: steps that missed their\n"
        "tolerance; iter: iterations a step.");
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

/* Print and write what there is, also of a comparison that was interrupted. */
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
    fprintf(stderr, "cairn: interrupted; the runs that ended before are kept\n");
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
    .summary = "Run schemes, solvers and time steps on one scene, side by side",
    .details =
        "Differences are those of the positions from the reference run, in m. With several time\n"
        "steps the order of convergence is estimated. A run that fails does not end the others.\n"
        "Exit codes: 0 done, 1 a run failed or a file cannot be written, 2 usage, 3 bad scene,\n"
        "129, 130 and 143 ended by SIGHUP, SIGINT and SIGTERM.",
    .flags = cairn_compare_flags,
    .run = compare,
};
