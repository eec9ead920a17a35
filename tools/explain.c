/* explain.c - `cairn explain`: what was slow in a run, where accuracy was lost, what to change; and
 * on request, whether its step is short enough. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "studies/study.h"

/* ---- flags ----------------------------------------------------------------------------------- */

static const char *take_step_length(cairn_arguments *arguments, const char *value)
{
    (void)value;
    arguments->explain.step_length = true;
    return NULL;
}

static const char *take_scene(cairn_arguments *arguments, const char *value)
{
    arguments->explain.scene = value;
    return value[0] ? NULL : "expected a scene";
}

/* A number > 0. */
static const char *take_positive(const char *value, double *out)
{
    size_t length = cairn_number_read(value, out);
    return length > 0 && !value[length] && *out > 0 && *out < 1e12 ? NULL
                                                                   : "expected a number > 0, in s";
}

static const char *take_duration(cairn_arguments *arguments, const char *value)
{
    return take_positive(value, &arguments->explain.duration);
}

static const char *take_seconds(cairn_arguments *arguments, const char *value)
{
    return take_positive(value, &arguments->explain.seconds);
}

static const char *take_out(cairn_arguments *arguments, const char *value)
{
    arguments->out = value;
    return value[0] ? NULL : "expected the name of a folder";
}

static const cairn_flag flag_step_length = {
    "--step-length", 0, NULL,
    "run the scene again with half the step, and with a tenth of the tolerance", take_step_length
};
static const cairn_flag flag_duration = { "--duration", 0, "T",
                                          "simulate only the first T s of the scene",
                                          take_duration };
static const cairn_flag flag_seconds = { "--seconds", 0, "S",
                                         "take about S s for all runs; default 120", take_seconds };
static const cairn_flag flag_scene = { "--scene", 0, "FILE",
                                       "the scene of the run; default: the text in the run",
                                       take_scene };
static const cairn_flag flag_out = { "--out", 'o', "DIR",
                                     "folder of step-length.svg; default: plots in the run",
                                     take_out };

/* ---- what it will cost ----------------------------------------------------------------------- */

static const char *const run_names[CAIRN_STEP_RUNS] = { "as it was", "half the step",
                                                        "a tenth of the tolerance" };

typedef struct watch {
    const cairn_arguments *arguments;
    double limit; /* s */
    cairn_progress_view view;
} watch;

static void tell_cost(const watch *w, const cairn_step_progress *p)
{
    double cost = CAIRN_STEP_COST * p->wall_seconds;
    fprintf(stderr, "three runs of the scene, %g s of its time each", p->duration);
    if (p->wall_seconds > 0 && w->arguments->explain.duration == 0)
        fprintf(stderr, ": about %.2g s, as the run took %.2g s%s", cost, p->wall_seconds,
                cost > w->limit ? "; too long:" : "");
    if (cost > w->limit && w->arguments->explain.duration == 0)
        fprintf(stderr, " the beginning, for about %g s (see --seconds, --duration)", w->limit);
    fputc('\n', stderr);
}

static bool on_progress(const cairn_step_progress *p, void *context)
{
    watch *w = context;
    if (p->step) {
        cairn_progress_show(&w->view, p->step);
    } else if (!w->arguments->quiet) {
        cairn_progress_end(&w->view);
        if (p->run == CAIRN_STEP_PLAIN)
            tell_cost(w, p);
        fprintf(stderr, "run %d of %d: %s\n", p->run + 1, CAIRN_STEP_RUNS, run_names[p->run]);
        w->view = cairn_progress_start(false);
    }
    return cairn_interrupt_signal() == 0;
}

/* ---- the table ------------------------------------------------------------------------------- */

static void print_share(double share)
{
    char text[32];
    snprintf(text, sizeof text, share > 0 && share < 1e-5 ? "< 0.001 %%" : "%.3g %%", 100 * share);
    printf(" %11s", text);
}

static void print_quantities(const cairn_step_check *c)
{
    printf("%-28s %-6s %12s %12s %11s %12s %11s\n", "", "", "as it was", "half step", "change",
           "tolerance/10", "change");
    for (int i = 0; i < CAIRN_STEP_QUANTITIES; i++) {
        const cairn_step_quantity *q = &c->quantities[i];
        printf("%-28s %-6s %12.5g", q->name, q->unit, q->value[0]);
        for (int run = 1; run < CAIRN_STEP_RUNS; run++) {
            printf(" %12.5g", q->value[run]);
            print_share(q->change[run]);
        }
        putchar('\n');
    }
    printf("%-35s", "steps that missed the tolerance");
    for (int run = 0; run < CAIRN_STEP_RUNS; run++)
        printf(" %12lld%12s", (long long)c->summary[run].uncertified, "");
    puts("\n\nA change is a share of:");
    for (int i = 0; i < CAIRN_STEP_QUANTITIES; i++) {
        const cairn_step_quantity *q = &c->quantities[i];
        printf("  %-28s %.3g%s%s: %s\n", q->name, q->scale, q->unit[0] ? " " : "", q->unit,
               q->scale_name);
    }
    puts("An impact pushes for one step, so the number of contacts that push gives no verdict.");
}

/* ---- the verdict ----------------------------------------------------------------------------- */

/* The quantities of a verdict, with the change by one of the runs; returns the largest change. */
static double list_them(const cairn_step_check *c, cairn_step_verdict verdict, int run)
{
    double most = 0;
    for (int i = 0; i < CAIRN_STEP_QUANTITIES; i++) {
        const cairn_step_quantity *q = &c->quantities[i];
        if (q->verdict != verdict)
            continue;
        printf("  %-28s %.3g %%\n", q->name, 100 * q->change[run]);
        most = q->change[run] > most ? q->change[run] : most;
    }
    return most;
}

static int count_them(const cairn_step_check *c, cairn_step_verdict verdict)
{
    int count = 0;
    for (int i = 0; i < CAIRN_STEP_QUANTITIES; i++)
        count += c->quantities[i].verdict == verdict;
    return count;
}

/* With an error C h, half the step changes a quantity by half its error. */
static void print_too_long(const cairn_step_check *c)
{
    printf("\nThe step of %g s is too long for what half the step changes by more than %g %%:\n",
           c->time_step, 100 * CAIRN_STEP_LIMIT);
    double most = list_them(c, CAIRN_STEP_TOO_LONG, CAIRN_STEP_HALVED);
    printf("The error falls with the step, so that about run.time_step: %.2g would bring it to %g "
           "%%.\nRun that, and check it again.\n",
           c->time_step * CAIRN_STEP_LIMIT / (2 * most), 100 * CAIRN_STEP_LIMIT);
}

static void print_sensitive(const cairn_step_check *c)
{
    puts("\nA tenth of the tolerance, with the same step, changes:");
    list_them(c, CAIRN_STEP_SENSITIVE, CAIRN_STEP_STRICT);
    printf("That is at least half of what half the step changes, so these depend on the tolerance "
           "(try\nrun.tolerance: %.2g) or on chance, as in a pile that collapses. Chance is no "
           "matter of the\nstep: take means over several runs, such as cairn sweep --vary "
           "seed=1..5 gives.\n",
           c->tolerance / 10);
}

static void print_verdict(const cairn_step_check *c)
{
    int too_long = count_them(c, CAIRN_STEP_TOO_LONG), chance = count_them(c, CAIRN_STEP_SENSITIVE);
    if (too_long > 0)
        print_too_long(c);
    if (chance > 0)
        print_sensitive(c);
    if (too_long == 0)
        printf("\nThe step of %g s is short enough%s: half of it changes %s by more than %g %%.\n",
               c->time_step, chance > 0 ? " for all else" : "",
               chance > 0 ? "no other quantity" : "nothing above", 100 * CAIRN_STEP_LIMIT);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* The folder of the picture: that of --out, or `plots` in the folder of the run. */
static void find_folder(const cairn_arguments *arguments, char *out, size_t capacity)
{
    struct stat about;
    bool inside = stat(arguments->operand, &about) == 0 && S_ISDIR(about.st_mode);
    const char *slash = strrchr(arguments->operand, '/');
    if (arguments->out)
        snprintf(out, capacity, "%s", arguments->out);
    else if (inside)
        snprintf(out, capacity, "%s/plots", arguments->operand);
    else
        snprintf(out, capacity, "%.*splots", slash ? (int)(slash - arguments->operand + 1) : 0,
                 arguments->operand);
}

static int draw(const cairn_step_check *c, const char *folder)
{
    cairn_error error = { 0 };
    cairn_status status = cairn_step_check_write(c, folder, &error);
    if (status != CAIRN_OK) {
        cairn_error_print(status, &error);
        return EXIT_FAILED;
    }
    cairn_plot_outcome outcome = cairn_plot_draw(folder, "step-length.gp", "step-length.svg");
    if (outcome == PLOT_DRAWN)
        printf("\n  %s/step-length.svg\n", folder);
    else
        fprintf(stderr,
                "%s/step-length.svg: note: not drawn: gnuplot %s; step-length.gp is its "
                "script\n",
                folder, outcome == PLOT_NO_GNUPLOT ? "is not installed" : "failed");
    return EXIT_DONE;
}

static int report(const cairn_step_check *c, const char *folder)
{
    printf("%s\nstep %g s, tolerance %g; %s%g s of the scene, %d samples\n\n",
           c->title[0] ? c->title : "a run", c->time_step, c->tolerance,
           c->whole ? "all " : "the first ", c->duration, c->samples);
    if (c->whole && !c->same_hash)
        puts("The scene did not end in the state of the run: another version of cairn or of the "
             "scene\nmade the run, or a program changed it.\n");
    print_quantities(c);
    print_verdict(c);
    return draw(c, folder);
}

/* What is wrong with a scene has an exit code of its own. */
static int tell_failure(const cairn_arguments *arguments, cairn_status status,
                        const cairn_error *error)
{
    const char *scene = arguments->explain.scene;
    bool stored = !scene && strstr(error->file, "cairn-scene-");
    if (status == CAIRN_STOPPED) {
        fprintf(stderr, "cairn: interrupted\n");
        return EXIT_SIGNAL_BASE + cairn_interrupt_signal();
    }
    int code = cairn_error_print(status, error);
    if (stored)
        fputs("cairn explain: the scene is the text in the run; if it names other files, give it "
              "with --scene FILE\n",
              stderr);
    bool given = scene && strcmp(error->file, scene) == 0;
    return stored || given || strcmp(error->file, "--set") == 0 ? code : EXIT_FAILED;
}

static int check_step(const cairn_arguments *arguments)
{
    const cairn_explain_arguments *e = &arguments->explain;
    watch w = { .arguments = arguments,
                .limit = e->seconds > 0 ? e->seconds : 120,
                .view = cairn_progress_start(arguments->quiet) };
    const cairn_step_check_options options = { .scene = e->scene,
                                               .duration = e->duration,
                                               .seconds = w.limit,
                                               .overrides = arguments->overrides,
                                               .override_count = arguments->override_count,
                                               .progress = on_progress,
                                               .context = &w };
    char folder[4096];
    cairn_run_info info;
    cairn_error error = { 0 };
    cairn_status status = cairn_run_read_info(arguments->operand, &info, &error);
    if (status != CAIRN_OK)
        return tell_failure(arguments, status, &error);
    find_folder(arguments, folder, sizeof folder);
    if (cairn_folder_prepare("explain", folder) != EXIT_DONE)
        return EXIT_FAILED;
    cairn_step_check *check = cairn_block_take(1, sizeof *check);
    cairn_interrupt_watch();
    status =
        check ? cairn_run_check_step(arguments->operand, &options, check, &error) : CAIRN_NO_MEMORY;
    cairn_progress_end(&w.view);
    int code = status == CAIRN_OK ? report(check, folder) : tell_failure(arguments, status, &error);
    cairn_block_free(check);
    return code;
}

static int explain(const cairn_arguments *arguments)
{
    cairn_error error = { 0 };
    const cairn_explain_arguments *e = &arguments->explain;
    if (e->step_length)
        return check_step(arguments);
    if (e->scene || e->duration > 0 || e->seconds > 0 || arguments->out ||
        arguments->override_count > 0) {
        fputs("cairn explain: --scene, --duration, --seconds, --set, --threads and --out need "
              "--step-length\n",
              stderr);
        return EXIT_USAGE;
    }
    cairn_status status = cairn_run_explain(arguments->operand, stdout, &error);
    if (status == CAIRN_OK)
        return EXIT_DONE;
    cairn_error_print(status, &error);
    return EXIT_FAILED;
}

static const cairn_flag *const flags[] = {
    &flag_step_length,   &flag_duration, &flag_seconds,     &flag_scene, &cairn_flag_set,
    &cairn_flag_threads, &flag_out,      &cairn_flag_quiet, NULL
};

const cairn_command cairn_command_explain = {
    .name = "explain",
    .operand = "RUN",
    .summary = "Explain what was slow in a run, where accuracy was lost, and what to change",
    .details =
        "--step-length answers whether the step was short enough: it runs the scene of the run\n"
        "again as it was, with half the step and with a tenth of the tolerance, compares\n"
        "places, energies, forces and contacts, and draws them into step-length.svg. A check\n"
        "takes about 4.5 times as long as the run. Of a run for which --seconds are not enough\n"
        "it takes the beginning.",
    .flags = flags,
    .run = explain,
};
