/* scopi.c - the box of [BL23] 3.3.1, n^3 spheres without friction to t = 8, beside the times that SCoPI,
 * the program of that paper, took for it.
 *
 * The scene is scenes/box_of_spheres.yaml without friction and with a lid, as the paper's box is
 * closed. SCoPI's times were measured once on another machine, a loaded 2-core virtual Xeon, one
 * thread, 1,000 steps of its own demo scene to its own tolerance of 1e-3 (solver APGD-AR): ratios to
 * them tell an order of magnitude. cairn's tolerance of 1e-3 is the judge's, which is stricter. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"

/* CPU ms a step: mean of the run, and of its end; 0: not known. */
typedef struct published {
    int n;
    double mean, settled;
} published;

static const published scopi[] = { { 8, 51, 0 }, { 16, 690, 1000 }, { 32, 26000, 35000 } };

typedef struct outcome {
    int steps, missed, candidates, pushing;
    double mean, settled, sweeps; /* ms a step of all, of the last quarter; sweeps of these */
} outcome;

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void add_lid(cairn_world *world)
{
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    def.motion = CAIRN_MOTION_FIXED;
    def.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    def.shape.axis = (cairn_vec3){ 0, 0, -1 };
    def.position = (cairn_vec3){ 0, 0, 10 };
    cairn_status status = cairn_body_create(world, &def, &id);
    if (status != CAIRN_OK)
        bench_fail("the lid", status);
}

static outcome run_box(int n)
{
    cairn_scene *scene = bench_box(n, "frictionless", 1);
    cairn_step_report report = { 0 };
    double start = cpu_seconds(), quarter = start, sweeps = 0;
    outcome o = { .steps = (int)ceil(scene->run.duration / scene->step.time_step - 1e-9) };
    scene->step.threads = 1;
    add_lid(scene->world);
    for (int k = 0; k < o.steps; k++) {
        if (k == o.steps - o.steps / 4)
            quarter = cpu_seconds();
        cairn_status status = cairn_world_step(scene->world, &scene->step, &report);
        if (status != CAIRN_OK)
            bench_fail("a step", status);
        o.missed += !report.solve.converged;
        sweeps += 4 * k >= 3 * o.steps ? (double)report.solve.iterations : 0;
    }
    double end = cpu_seconds();
    o.mean = 1e3 * (end - start) / o.steps;
    o.settled = 1e3 * (end - quarter) / (o.steps / 4.0);
    o.sweeps = sweeps / (o.steps / 4.0);
    o.candidates = report.candidates;
    o.pushing = report.active;
    cairn_scene_destroy(scene);
    return o;
}

static void show(const published *theirs, const outcome *o, FILE *csv)
{
    int spheres = theirs->n * theirs->n * theirs->n;
    printf("%8d %6d %7d %9d %9d %7.0f %9.3g %9.3g %9g %6.0f", spheres, o->steps, o->missed,
           o->candidates, o->pushing, o->sweeps, o->mean, o->settled, theirs->mean,
           theirs->mean / o->mean);
    if (theirs->settled > 0)
        printf(" %9g %6.0f", theirs->settled, theirs->settled / o->settled);
    printf("\n");
    fprintf(csv, "%d,%d,%d,%d,%d,%.6g,%.6g,%.6g,%g,%g\n", spheres, o->steps, o->missed,
            o->candidates, o->pushing, o->sweeps, o->mean, o->settled, theirs->mean,
            theirs->settled);
    fflush(stdout);
}

void bench_scopi(const char *folder, int most)
{
    FILE *csv = bench_table(folder, "scopi.csv",
                            "spheres,steps,missed,candidates,pushing,sweeps,mean_ms,settled_ms,"
                            "scopi_mean_ms,scopi_settled_ms");
    printf("the closed box of [BL23], no friction, tolerance 1e-3, one thread; CPU ms a step: "
           "mean, and "
           "settled.\nSCoPI's own come from another machine: a ratio to them is an order of "
           "magnitude\n\n%8s %6s %7s %9s %9s %7s %9s %9s %9s %6s %9s %6s\n",
           "spheres", "steps", "missed", "contacts", "pushing", "sweeps", "mean", "settled",
           "SCoPI", "ratio", "settled", "ratio");
    for (size_t k = 0; k < sizeof scopi / sizeof scopi[0]; k++) {
        if (scopi[k].n > most)
            continue;
        outcome o = run_box(scopi[k].n);
        show(&scopi[k], &o, csv);
    }
    printf("\n");
    fclose(csv);
}
