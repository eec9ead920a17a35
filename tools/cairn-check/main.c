/* main.c - cairn-check RUN: recomputes a stored run, step by step, and reports whether the file
 * proves its claims. It shares no code with the library that wrote the file; docs/cairn-check.md
 * lists what it cannot check. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

enum { CERTIFIED = 0, NOT_CERTIFIED = 1, CANNOT_CHECK = 2 };

/* The largest value that the steps claim, for the last line. */
static double largest(const double *column, int count)
{
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fmax(most, column[i]);
    return most;
}

static bool check_step(check_run *run, long step)
{
    if (!check_run_load(run, step))
        return false;
    check_uids(run);
    if (step == 0) {
        check_births(run);
        check_energy_start(run);
        check_statistics_of(run);
        return true;
    }
    check_cell_of(run);
    check_prepare(run);
    if (!check_rows_make(run))
        return false;
    check_find_added(run);
    check_swings(run);
    check_rows_ease(run);
    check_start(run);
    check_motion_of(run);
    check_births(run);
    check_servos(run);
    check_start_law(run);
    check_contacts_of(run);
    check_law_of(run);
    check_certificate_of(run);
    check_linearised(run);
    check_joints_of(run);
    check_energy_of(run);
    check_creation_of(run);
    check_distance_of(run);
    check_slowness(run);
    check_forces_of(run);
    check_statistics_of(run);
    return check_gain_of(run) && check_fields_of(run) && check_complete(run);
}

static bool check_everything(check_run *run)
{
    bool good = check_statistics_open(run) && check_forces_open(run) && check_fields_open(run) &&
                check_frames(run) && check_claims(run);
    check_volumes(run);
    check_events(run);
    check_attempts(run);
    for (long step = 0; step <= run->steps.count && good; step++)
        good = check_step(run, step);
    check_ledgers(run);
    check_forces(run);
    if (good)
        check_ending(run, true);
    return good && check_statistics(run);
}

/* A run without details: the ledger, and whether the steps claim to have met their tolerance. */
static void check_summary(check_run *run)
{
    const check_steps *t = &run->steps;
    check_ledgers(run);
    check_ending(run, false);
    check_gain_of_ledger(run);
    check_events(run);
    check_attempts(run);
    for (long i = 0; i < t->count; i++) {
        check_place place = { i + 1, NULL, 0, "converged" };
        check_true(run->report, place, t->converged[i] == 1,
                   "the file says that the step missed its tolerance");
        check_true(run->report, place,
                   t->converged[i] == 0 || !t->energy_made || t->energy_made[i] == 0,
                   "contacts made energy, and yet the step is said to have met its tolerance");
        if (t->converged[i] == 1 && !(run->settings.increment > 0))
            check_between(run->report, (check_place){ i + 1, NULL, 0, "asked_relative" },
                          t->asked_relative[i], 0, run->settings.tolerance);
    }
}

/* How gaps and normals were checked. */
static void print_gaps(const check_report *report)
{
    const long *gaps = report->gaps;
    long all = gaps[CHECK_BY_FORMULA] + gaps[CHECK_BY_POINTS] + gaps[CHECK_NOT_AT_ALL];
    if (all > 0)
        printf("gaps: %ld computed again, %ld proved by their points", gaps[CHECK_BY_FORMULA],
               gaps[CHECK_BY_POINTS]);
    if (gaps[CHECK_NOT_AT_ALL] > 0)
        printf(", %ld of %ld (%.0f %%) not checked: shapes without measures in the file",
               gaps[CHECK_NOT_AT_ALL], all, 100.0 * (double)gaps[CHECK_NOT_AT_ALL] / (double)all);
    if (all > 0)
        putchar('\n');
}

/* Energy that contacts made is a finding only if it is more than the law allows, in a step that is
 * said to have met its tolerance. Of a run without details only the sums of all bodies are
 * known. */
static void print_gain(const check_run *run, bool full)
{
    const check_gain *gain = &run->gain;
    if (run->beyond > 0)
        printf("energy: more than the law allows in %ld step%s, %.3g J altogether\n", run->beyond,
               run->beyond == 1 ? "" : "s", run->beyond_made);
    if (gain->steps == 0) {
        puts("energy: no step in which contacts made any");
        return;
    }
    printf("energy: contacts made some in %ld step%s: at most %.2g of the energy of %s,\n"
           "%+.3g J in step %ld (normal impulses %+.3g J, tangential %+.3g J)\n",
           gain->steps, gain->steps == 1 ? "" : "s", gain->share,
           full ? "the bodies concerned" : "all bodies", gain->made, gain->step, gain->normal,
           gain->tangential);
}

static void print_checksums(const check_run *run)
{
    if (run->skip_checksums)
        puts("checksums: not verified");
    else if (run->settings.version < 2)
        puts("checksums: there are none in a file of version 1");
    else
        printf("checksums: %ld groups and datasets agree\n", run->report->checksums);
}

static int conclude(const check_run *run, bool full)
{
    const check_report *report = run->report;
    const check_steps *t = &run->steps;
    if (report->findings > report->most)
        printf("not certified: %ld more\n", report->findings - report->most);
    if (report->problem[0]) {
        fflush(stdout);
        fprintf(stderr, "cairn-check: %s\n", report->problem);
        return report->findings > 0 ? NOT_CERTIFIED : CANNOT_CHECK;
    }
    if (report->findings > 0) {
        print_gain(run, full);
        return NOT_CERTIFIED;
    }
    if (!full) {
        puts("not checked in full: the run keeps a summary. What it says does not contradict\n"
             "itself: the energy ledger of every step closes, and every step claims to have met\n"
             "its tolerance. Motion, contacts and residuals cannot be recomputed; for that, run\n"
             "with `certificate: full` under `run` (--set run.certificate=full).");
        print_gain(run, full);
        return CANNOT_CHECK;
    }
    printf("certified: %d steps, %ld numbers agree; residual at most %.2e (%s), of exact Coulomb\n"
           "friction %.2e; penetration at most %.2e m\n",
           t->count, report->compared, largest(t->asked_relative, t->count),
           run->settings.scheme->name, largest(t->coulomb_relative, t->count),
           largest(t->penetration, t->count));
    if (run->unfinished)
        puts("the run did not end: it was checked as far as it goes");
    print_gaps(report);
    print_gain(run, true);
    print_checksums(run);
    return CERTIFIED;
}

static int check_path(const char *path, int most, bool skip_checksums)
{
    check_report report = { .most = most };
    check_run run = { .report = &report, .skip_checksums = skip_checksums };
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    bool good = check_run_open(&run, path), full = strcmp(run.settings.level, "full") == 0;
    if (good && full)
        check_everything(&run);
    else if (good)
        check_summary(&run);
    int code = conclude(&run, full);
    check_run_close(&run);
    return code;
}

/* Damaged bytes can make HDF5 crash: then the child dies, and this process reports it. */
static int check_in_a_child(const char *path, int most, bool skip_checksums)
{
    int state = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child <= 0) { /* it works without a child as well */
        H5dont_atexit();
        int code = check_path(path, most, skip_checksums);
        if (child < 0)
            return code;
        fflush(NULL);
        _exit(code);
    }
    while (waitpid(child, &state, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(state))
        return WEXITSTATUS(state);
    bool crashed = WTERMSIG(state) == SIGSEGV || WTERMSIG(state) == SIGBUS ||
                   WTERMSIG(state) == SIGABRT || WTERMSIG(state) == SIGFPE ||
                   WTERMSIG(state) == SIGILL;
    if (WTERMSIG(state) == SIGPROF)
        fprintf(stderr, "cairn-check: %s: reading does not terminate: the file is damaged\n", path);
    else if (crashed)
        fprintf(stderr, "cairn-check: %s: reading ended with signal %d: the file is damaged\n",
                path, WTERMSIG(state));
    else
        raise(WTERMSIG(state)); /* it was killed, or its output is not read */
    return CANNOT_CHECK;
}

static int usage(FILE *out)
{
    fputs(
        "usage: cairn-check [--all] [--no-checksums] RUN\n"
        "Recompute the run in RUN (a folder or its run.h5), compare every number, and verify the\n"
        "checksums of the file (unless --no-checksums). The run must have been made with\n"
        "certificate: full. Prints the first 10 numbers that disagree, or all with --all.\n"
        "Exit codes: 0 certified, 1 not certified, 2 could not be checked.\n",
        out);
    return CANNOT_CHECK;
}

int main(int count, char **words)
{
    bool all = false, skip_checksums = false;
    int at = 1;
    for (; at < count && words[at][0] == '-'; at++) {
        if (strcmp(words[at], "--help") == 0 || strcmp(words[at], "-h") == 0) {
            usage(stdout);
            return 0;
        }
        all = all || strcmp(words[at], "--all") == 0;
        skip_checksums = skip_checksums || strcmp(words[at], "--no-checksums") == 0;
        if (strcmp(words[at], "--all") != 0 && strcmp(words[at], "--no-checksums") != 0)
            return usage(stderr);
    }
    if (at + 1 != count)
        return usage(stderr);
    return check_in_a_child(words[at], all ? INT32_MAX : 10, skip_checksums);
}
