/* settle.c - boxes of spheres that settle, of growing size: what a step costs over the last quarter
 * of the run, in milliseconds and in nanoseconds a candidate contact, and the exponent of growth. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench.h"

/* Time steps three times those of the scene, to its half time: dense, and almost at rest. */
static const double longer = 3, until = 4.3;

typedef struct cost {
    cairn_timing sum;
    int64_t sweeps;
    int steps, candidates;
} cost;

static cost run_box(int n, const char *scheme)
{
    cost c = { 0 };
    cairn_scene *scene = bench_box(n, scheme, longer);
    cairn_step_report report;
    scene->step.threads = 1;
    int steps = (int)(until / scene->step.time_step);
    for (int k = 0; k < steps; k++) {
        cairn_status status = cairn_world_step(scene->world, &scene->step, &report);
        if (status != CAIRN_OK)
            bench_fail("a step", status);
        if (4 * k < 3 * steps)
            continue;
        c.sum.collide += report.timing.collide;
        c.sum.assemble += report.timing.assemble;
        c.sum.solve += report.timing.solve;
        c.sum.finish += report.timing.finish;
        c.sweeps += report.solve.iterations;
        c.steps++;
    }
    c.candidates = report.candidates;
    cairn_scene_destroy(scene);
    return c;
}

static void show(const char *scheme, int bodies, const cost *c, double *last, FILE *csv)
{
    const double part[4] = { c->sum.collide, c->sum.assemble, c->sum.solve, c->sum.finish };
    double step = (part[0] + part[1] + part[2] + part[3]) / c->steps;
    double exponent = last[0] > 0 ? log(step / last[1]) / log(bodies / last[0]) : NAN;
    printf("%-12s %8d %9d %8.0f", scheme, bodies, c->candidates, (double)c->sweeps / c->steps);
    for (int i = 0; i < 4; i++)
        printf(" %9.2f", 1e3 * part[i] / c->steps);
    printf(" %9.2f %9.0f %8.2f\n", 1e3 * step, 1e9 * step / c->candidates, exponent);
    fprintf(csv, "%s,%d,%d,%.6g", scheme, bodies, c->candidates, (double)c->sweeps / c->steps);
    for (int i = 0; i < 4; i++)
        fprintf(csv, ",%.6g", part[i] / c->steps);
    fprintf(csv, ",%.6g\n", step);
    fflush(stdout);
    last[0] = bodies;
    last[1] = step;
}

void bench_settle(const char *folder, int most)
{
    static const char *const schemes[] = { "frictionless", "convex" };
    FILE *csv = bench_table(folder, "settle.csv",
                            "scheme,bodies,candidates,sweeps,collide_s,assemble_s,solve_s,finish_s,"
                            "step_s");
    printf("boxes that settle, tolerance 1e-3, one thread; milliseconds a step\n%-12s %8s %9s %8s "
           "%9s %9s %9s %9s %9s %9s %8s\n",
           "", "bodies", "contacts", "sweeps", "collide", "assemble", "solve", "finish", "step",
           "ns each", "exponent");
    for (int k = 0; k < 2; k++) {
        double last[2] = { 0, 0 };
        for (int n = 10; n * n * n <= most; n = (int)(1.5 * n)) {
            cost c = run_box(n, schemes[k]);
            show(schemes[k], n * n * n, &c, last, csv);
        }
    }
    printf("\n");
    fclose(csv);
}
