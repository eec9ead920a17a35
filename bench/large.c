/* large.c - a box of very many spheres that begins to settle, every step certified: what a step
 * takes, in seconds and in bytes.
 *
 * The scene is scenes/box_of_spheres.yaml with n^3 spheres and three times its time step; they fall
 * from a grid. Steps that miss their tolerance are counted. */
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "bench.h"

static const double longer = 3;

/* kB at most so far */
static double peak_memory(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_maxrss;
}

/* Seconds of processor time so far, of all threads. */
static double processor_time(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_utime.tv_sec + 1e-6 * (double)use.ru_utime.tv_usec +
           (double)use.ru_stime.tv_sec + 1e-6 * (double)use.ru_stime.tv_usec;
}

typedef struct progress {
    double started, processor; /* s: at the last step */
    int64_t sweeps;
    int missed, candidates; /* steps; most at once */
} progress;

static void show_step(int step, const cairn_step_report *report, progress *at, FILE *csv)
{
    double now = cairn_clock_seconds(), processor = processor_time();
    double took = now - at->started, used = processor - at->processor;
    double peak = peak_memory() / 1e6;
    bool few = step < 10 || step % 10 == 9;
    if (few)
        printf("%6d %9d %9d %7lld %9.2e %8.2f %8.2f %7.2f%s\n", step + 1, report->candidates,
               report->active, (long long)report->solve.iterations,
               report->certificate.judgement.asked.relative, took, used, peak,
               report->solve.converged ? "" : "  missed");
    fprintf(csv, "%d,%d,%d,%lld,%.6g,%.6g,%.6g,%.6g\n", step + 1, report->candidates,
            report->active, (long long)report->solve.iterations,
            report->certificate.judgement.asked.relative, took, used, peak);
    fflush(stdout);
    fflush(csv);
    at->started = cairn_clock_seconds();
    at->processor = processor_time();
    at->sweeps += report->solve.iterations;
    at->missed += !report->solve.converged;
    at->candidates = report->candidates > at->candidates ? report->candidates : at->candidates;
}

static void show_memory(const cairn_world *world, int spheres, const progress *at)
{
    cairn_memory_use use = cairn_world_memory(world);
    const struct {
        const char *name;
        size_t bytes;
        double each;
    } lines[] = { { "bodies, a sphere", use.bodies, spheres },
                  { "contacts, a candidate", use.contacts, at->candidates },
                  { "pairs, a candidate", use.pairs, at->candidates },
                  { "a step, a candidate", use.step, at->candidates },
                  { "the solver, a candidate", use.solver, at->candidates } };
    printf("\nmemory held, most candidates at once %d; peak of the process %.2f GB\n",
           at->candidates, peak_memory() / 1e6);
    for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++)
        printf("  %-26s %9.1f MB %9.0f B\n", lines[k].name, (double)lines[k].bytes / 1e6,
               (double)lines[k].bytes / fmax(lines[k].each, 1));
}

void bench_large(const char *folder, int n, int steps, const char *scheme)
{
    FILE *csv = bench_table(folder, "large.csv",
                            "step,candidates,pushing,sweeps,residual,seconds,processor_s,peak_gb");
    printf("%d spheres in a box, mu 0.3, %s, tolerance 1e-3, %d steps, all threads. A million "
           "spheres\ntake some four minutes for 200 steps on two quiet cores.\n\n",
           n * n * n, scheme, steps);
    printf("%6s %9s %9s %7s %9s %8s %8s %7s\n", "step", "contacts", "pushing", "sweeps", "residual",
           "s", "cpu s", "peak GB");
    fflush(stdout);
    cairn_scene *scene = bench_box(n, scheme, longer);
    cairn_step_report report;
    progress at = { .started = cairn_clock_seconds(), .processor = processor_time() };
    scene->step.threads = 0;
    for (int k = 0; k < steps; k++) {
        cairn_status status = cairn_world_step(scene->world, &scene->step, &report);
        if (status != CAIRN_OK)
            bench_fail("a step", status);
        show_step(k, &report, &at, csv);
    }
    printf("\n%.1f sweeps a step; %d of %d steps missed their tolerance\n",
           (double)at.sweeps / (steps ? steps : 1), at.missed, steps);
    show_memory(scene->world, n * n * n, &at);
    cairn_scene_destroy(scene);
    fclose(csv);
}
