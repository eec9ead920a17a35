/* mpi.c - boxes of spheres at rest, computed by all ranks of MPI: times, messages and bytes of a
 * sweep, and a model of them. Run by mpirun; `make bench-mpi` does it all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "bench.h"
#include "mpi/mpi.h"
#include "world/world.h"

static cairn_link open_link(void)
{
    cairn_link link;
    cairn_error error = { 0 };
    cairn_status status = cairn_mpi_open(&link, &error);
    if (status != CAIRN_OK) {
        fprintf(stderr, "bench: %s\n", error.message);
        exit(1);
    }
    return link;
}

static void check(const cairn_link *link, const char *what, cairn_status status)
{
    if (status == CAIRN_OK)
        status = link->status;
    if (status != CAIRN_OK)
        bench_fail(what, status);
}

/* Append a row to a table, which is begun if it is not there. */
static FILE *open_table(const char *folder, const char *name, const char *head)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *csv = fopen(path, "r");
    if (csv)
        fclose(csv);
    else
        fclose(bench_table(folder, name, head));
    csv = fopen(path, "a");
    if (!csv)
        bench_fail(path, CAIRN_IO_FAILED);
    return csv;
}

/* ---- boxes ---------------------------------------------------------------------------------- */

typedef struct row {
    int ranks, parts;
    double spheres, contacts, sweeps; /* sweeps: a step                                         */
    double step, sweep;               /* s: of the slowest rank                                  */
    double messages, bytes;           /* that the busiest rank sends in a sweep                  */
    double imbalance;                 /* computing time of the slowest rank over the mean, less 1 */
    double visits;  /* the same of contacts that a rank computes, over all sweeps */
    double doubled; /* contacts that two ranks compute, over all               */
} row;

static cairn_step_report step(cairn_world *world, const cairn_step_options *o, cairn_link *link)
{
    cairn_step_report report;
    check(link, "a step", cairn_world_step(world, o, &report));
    return report;
}

/* The sum over all ranks of a number of seconds, to a nanosecond. */
static double sum_of(cairn_link *link, double seconds)
{
    return 1e-9 * (double)cairn_link_sum(link, (int64_t)(1e9 * seconds));
}

static void measure_steps(cairn_world *world, const cairn_step_options *o, int steps,
                          cairn_link *link, row *out)
{
    cairn_traffic before = link->traffic;
    double start = cairn_clock_seconds(), solve = 0, sweeps = 0, visits = 0;
    for (int k = 0; k < steps; k++) {
        cairn_step_report report = step(world, o, link);
        solve += report.timing.solve;
        sweeps += (double)report.solve.iterations;
        out->contacts = report.candidates;
        const cairn_problem *own = cairn_world_problem(world, NULL);
        visits += own ? (double)own->contacts * (double)report.solve.iterations : 0;
    }
    double seconds = cairn_clock_seconds() - start;
    double apart = link->traffic.sending - before.sending + link->traffic.waiting - before.waiting;
    const cairn_problem *p = cairn_world_problem(world, NULL);
    double busy = seconds - apart, here = p ? p->contacts : 0;
    out->sweeps = sweeps / steps;
    out->step = cairn_link_largest(link, seconds) / steps;
    out->sweep = cairn_link_largest(link, solve) / fmax(sweeps, 1);
    out->imbalance = cairn_link_largest(link, busy) * link->members / sum_of(link, busy) - 1;
    out->visits =
        cairn_link_largest(link, visits) * link->members / sum_of(link, 1e-9 * visits) * 1e-9 - 1;
    out->doubled = (double)cairn_link_sum(link, (int64_t)here) / out->contacts - 1;
}

/* Messages and bytes of a step of so many sweeps: the tolerance cannot be met. */
static cairn_traffic traffic_of(cairn_world *world, cairn_step_options o, int sweeps,
                                cairn_link *link)
{
    cairn_traffic before = link->traffic;
    o.tolerance = 1e-30;
    o.max_iterations = sweeps;
    step(world, &o, link);
    return (cairn_traffic){ .messages = link->traffic.messages - before.messages,
                            .bytes = link->traffic.bytes - before.bytes };
}

static double middle_of(const double x[3])
{
    return fmax(fmin(x[0], x[1]), fmin(fmax(x[0], x[1]), x[2]));
}

/* The difference of two steps, so that only what sweeps send is counted, the judge included. Steps
 * also send bodies on their way, and not always the same number: the middle one of three counts. */
static void measure_traffic(cairn_world *world, const cairn_step_options *o, cairn_link *link,
                            row *out)
{
    enum { FEW = 20, MANY = 80 };
    double messages[3], bytes[3];
    for (int k = 0; k < 3; k++) {
        cairn_traffic few = traffic_of(world, *o, FEW, link);
        cairn_traffic many = traffic_of(world, *o, MANY, link);
        messages[k] = (double)(many.messages - few.messages) / (MANY - FEW);
        bytes[k] = (double)(many.bytes - few.bytes) / (MANY - FEW);
    }
    out->messages = cairn_link_largest(link, middle_of(messages));
    out->bytes = cairn_link_largest(link, middle_of(bytes));
}

static void show(const char *folder, const char *kind, const char *scheme, const row *r)
{
    FILE *csv =
        open_table(folder, "mpi.csv",
                   "kind,scheme,ranks,parts,spheres,contacts,sweeps,step_s,sweep_s,messages,"
                   "bytes,imbalance,doubled");
    fprintf(csv, "%s,%s,%d,%d,%.0f,%.0f,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g\n", kind, scheme,
            r->ranks, r->parts, r->spheres, r->contacts, r->sweeps, r->step, r->sweep, r->messages,
            r->bytes, r->imbalance, r->doubled);
    fclose(csv);
    printf("%-8s %5d %5d %9.0f %9.0f %7.1f %9.2f %9.4f %9.1f %10.0f %9.2f %8.1f %8.1f\n", kind,
           r->ranks, r->parts, r->spheres, r->contacts, r->sweeps, 1e3 * r->step, 1e3 * r->sweep,
           r->messages, r->bytes, r->bytes / pow(r->spheres / r->ranks, 2.0 / 3),
           100 * r->imbalance, 100 * r->doubled);
}

/* One rank computes the world as a program without MPI does. */
void bench_mpi(const char *folder, const char *kind, const bench_rest_options *o)
{
    cairn_link link = open_link();
    cairn_world *world;
    cairn_step_options options;
    if (link.member == 0)
        bench_heap(folder, o, NULL, &options); /* the others find the file */
    cairn_link_all(&link, true);
    row r = { .ranks = link.members, .spheres = bench_heap(folder, o, &world, &options) };
    r.parts = (int)options.parts;
    options.solver = "ngs";
    if (link.members > 1)
        check(&link, "joining", cairn_world_join(world, &link));
    for (int k = 0; k < o->before; k++)
        step(world, &options, &link);
    measure_steps(world, &options, o->steps, &link, &r);
    measure_traffic(world, &options, &link, &r);
    check(&link, "messages", CAIRN_OK);
    if (link.member == 0)
        show(folder, kind, o->scheme, &r);
    cairn_world_destroy(world);
    cairn_mpi_close(&link);
}

/* ---- a pour --------------------------------------------------------------------------------- */

/* Spheres of 2 cm that are poured into a cylinder, all within 400 steps. */
static cairn_world *pour(int spheres, cairn_step_options *o)
{
    double radius = 0.01, wide = 1.2 * radius * cbrt(spheres), h = 1e-3;
    cairn_world_def def = cairn_world_def_default();
    cairn_body_def floor = cairn_body_def_default(), wall = cairn_body_def_default();
    cairn_inlet_def inlet = cairn_inlet_def_default();
    cairn_world *world;
    if (cairn_world_create(&def, &world) != CAIRN_OK)
        bench_fail("the world of the pour", CAIRN_NO_MEMORY);
    cairn_material_def stone = cairn_material_def_default();
    int material;
    stone.friction = 0.3;
    cairn_status status = cairn_material_create(world, &stone, &material);
    floor.motion = wall.motion = CAIRN_MOTION_FIXED;
    floor.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    wall.shape = cairn_shape_default(CAIRN_SHAPE_INSIDE_CYLINDER, 3);
    wall.shape.radius = wide;
    inlet.count = spheres;
    inlet.rate = spheres / (400 * h);
    inlet.centre = (cairn_vec3){ 0, 0, 3 * wide };
    inlet.size = (cairn_vec3){ 0, 0, 3 * wide };
    inlet.disk_radius = wide;
    inlet.velocity = (cairn_vec3){ 0, 0, -2 };
    inlet.radius.value = radius;
    if (status == CAIRN_OK)
        status = cairn_body_create(world, &floor, NULL);
    if (status == CAIRN_OK)
        status = cairn_body_create(world, &wall, NULL);
    if (status == CAIRN_OK)
        status = cairn_inlet_create(world, &inlet);
    if (status != CAIRN_OK)
        bench_fail("the pour", status);
    *o = cairn_step_options_default();
    o->time_step = h;
    o->scheme = "convex";
    o->solver = "ngs";
    o->threads = 1;
    return world;
}

/* How unevenly the ranks compute a pour, in 400 steps after parts have first moved between them. */
void bench_mpi_pour(const char *folder, int spheres, int parts)
{
    enum { MOST = 2000, STEPS = 400 };
    cairn_link link = open_link();
    cairn_step_options options;
    cairn_world *world = pour(spheres, &options);
    row r = { .ranks = link.members, .parts = parts };
    int before = 0;
    if (link.members < 2)
        bench_fail("mpi-pour: two ranks or more are needed", CAIRN_BAD_INPUT);
    options.parts = parts;
    check(&link, "joining", cairn_world_join(world, &link));
    while (before < MOST && !world->exchange.pace.bound) {
        step(world, &options, &link);
        before++;
    }
    measure_steps(world, &options, STEPS, &link, &r);
    r.spheres = (double)(cairn_world_body_count(world) - 2);
    if (link.member == 0) {
        FILE *csv =
            open_table(folder, "mpi_pour.csv", "ranks,parts,spheres,before,imbalance,visits");
        fprintf(csv, "%d,%d,%.0f,%d,%.6g,%.6g\n", r.ranks, r.parts, r.spheres, before, r.imbalance,
                r.visits);
        fclose(csv);
        printf("pour: %d ranks, %d parts, %.0f spheres at the end; parts %s after %d steps; then "
               "imbalance %.1f %% of the time, %.1f %% of the contacts computed\n",
               r.ranks, r.parts, r.spheres, world->exchange.pace.bound ? "moved" : "never moved",
               before, 100 * r.imbalance, 100 * r.visits);
    }
    cairn_world_destroy(world);
    cairn_mpi_close(&link);
}

/* ---- messages ------------------------------------------------------------------------------- */

/* Seconds for a message there and back, halved: the mean of many. */
static double one_way(cairn_link *link, void *bytes, size_t count, int rounds)
{
    double start = cairn_clock_seconds();
    for (int k = 0; k < rounds && link->member < 2; k++) {
        if (link->member == 0)
            cairn_link_send(link, 1, bytes, count);
        cairn_link_receive_into(link, 1 - link->member, bytes, count);
        if (link->member == 1)
            cairn_link_send(link, 0, bytes, count);
    }
    return (cairn_clock_seconds() - start) / rounds / 2;
}

void bench_mpi_link(const char *folder)
{
    enum { LARGE = 1 << 20 };
    static char bytes[LARGE];
    cairn_link link = open_link();
    if (link.members < 2)
        bench_fail("mpi-link: two ranks are needed", CAIRN_BAD_INPUT);
    one_way(&link, bytes, 8, 1000); /* the first ones are slower */
    double latency = one_way(&link, bytes, 8, 10000), large = one_way(&link, bytes, LARGE, 200);
    check(&link, "messages", CAIRN_OK);
    if (link.member == 0) {
        FILE *csv = bench_table(folder, "mpi_link.csv", "latency_s,bytes_per_s");
        fprintf(csv, "%.6g,%.6g\n", latency, LARGE / fmax(large - latency, 1e-9));
        fclose(csv);
        printf("messages between two ranks: %.2f us, %.2f GB/s\n\n", 1e6 * latency,
               1e-9 * LARGE / fmax(large - latency, 1e-9));
    }
    cairn_mpi_close(&link);
}

/* ---- the model ------------------------------------------------------------------------------ */

/* A sweep of a rank takes
 *     work (1 + doubled) contacts/ranks + latency messages + bytes/bandwidth
 * seconds, as if nothing were overlapped. */
typedef struct model {
    double work, latency, bandwidth; /* s a contact, s a message, bytes/s */
} model;

static double predict(const model *m, const row *r)
{
    return m->work * (1 + r->doubled) * r->contacts / r->ranks + m->latency * r->messages +
           r->bytes / m->bandwidth;
}

enum { MOST_ROWS = 256 };

static int read_rows(const char *folder, char kind[][32], row *rows)
{
    char path[512], line[512], scheme[32];
    int count = 0;
    snprintf(path, sizeof path, "%s/mpi.csv", folder);
    FILE *csv = fopen(path, "r");
    if (!csv)
        bench_fail(path, CAIRN_IO_FAILED);
    while (count < MOST_ROWS && fgets(line, sizeof line, csv)) {
        row *r = &rows[count];
        count +=
            sscanf(line, "%31[^,],%31[^,],%d,%d,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", kind[count],
                   scheme, &r->ranks, &r->parts, &r->spheres, &r->contacts, &r->sweeps, &r->step,
                   &r->sweep, &r->messages, &r->bytes, &r->imbalance, &r->doubled) == 13;
    }
    fclose(csv);
    return count;
}

static model read_link(const char *folder)
{
    char path[512], line[512];
    model m = { 0 };
    snprintf(path, sizeof path, "%s/mpi_link.csv", folder);
    FILE *csv = fopen(path, "r");
    if (!csv)
        bench_fail(path, CAIRN_IO_FAILED);
    while (fgets(line, sizeof line, csv))
        sscanf(line, "%lf,%lf", &m.latency, &m.bandwidth);
    fclose(csv);
    return m;
}

/* 10^9 spheres on 10^4 cores with the processor and the messages measured here, one part each. Two
 * ranks of n spheres share one face, (2 n)^(2/3) spheres wide; in the middle of many, a rank has six
 * faces of n^(2/3). Messages: 26 neighbours, and the sums. */
static void extrapolate(const model *m, const row *two)
{
    const double ratio = 1e9 / 1e4 / (two->spheres / 2), faces = 6 / pow(2, 2.0 / 3);
    row r = { .ranks = 10000, .spheres = 1e9 };
    r.contacts = 1e9 * two->contacts / two->spheres;
    r.bytes = two->bytes * faces * pow(ratio, 2.0 / 3) + 16.0 * r.ranks;
    r.messages = 26 + 2 * ceil(log2(r.ranks));
    r.doubled = two->doubled * faces * pow(ratio, -1.0 / 3);
    double seconds = predict(m, &r);
    printf("\non paper, not measured: 10^9 spheres on 10^4 cores, 10^5 each: %.3f ms a sweep, of "
           "which %.1f %%\nwork on own contacts; %.0f messages and %.0f kB a rank and sweep\n",
           1e3 * seconds, 100 * m->work * r.contacts / r.ranks / seconds, r.messages,
           1e-3 * r.bytes);
}

void bench_mpi_model(const char *folder)
{
    static char kind[MOST_ROWS][32];
    static row rows[MOST_ROWS];
    int count = read_rows(folder, kind, rows), largest = -1;
    model m = read_link(folder);
    printf("the model: %.2f us a message, %.2f GB/s; work by the row of one rank before each\n%-8s "
           "%5s %9s %12s %12s %12s %8s\n",
           1e6 * m.latency, 1e-9 * m.bandwidth, "", "ranks", "spheres", "ns/contact", "model ms",
           "measured ms", "ratio");
    for (int k = 0; k < count; k++) {
        const row *r = &rows[k];
        if (r->ranks == 1 && r->contacts > 0)
            m.work = r->sweep / r->contacts;
        if (m.work == 0)
            continue;
        printf("%-8s %5d %9.0f %12.2f %12.4f %12.4f %8.2f\n", kind[k], r->ranks, r->spheres,
               1e9 * m.work, 1e3 * predict(&m, r), 1e3 * r->sweep, r->sweep / predict(&m, r));
        if (r->ranks == 2 && (largest < 0 || r->spheres >= rows[largest].spheres))
            largest = k;
    }
    if (largest >= 0)
        extrapolate(&m, &rows[largest]);
}
