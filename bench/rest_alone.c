/* rest_alone.c - boxes at rest, and spheres that fall and settle in one, as a program of its own,
 * cairn_bench_rest, which the core without file formats can build:
 *     cairn_bench_rest FOLDER [N [SCHEME [COPIES [BEFORE [STEPS [PARTS [BACKEND [THREADS]]]]]]]]
 *     cairn_bench_rest FOLDER pour NX NY NZ STEPS FINE BACKEND THREADS SECONDS
 * The pour goes on over several calls. A loose lattice of NX x NY x NZ spheres falls until step STEPS, with exact Coulomb friction to 1e-2
 * and to 1e-3 in the last FINE steps. FOLDER/pour.csv gets a line for each step with its certificate,
 * and FOLDER/slab-STEP.bin the spheres of a thin slab now and then. After SECONDS the state goes to
 * FOLDER/pour.state, from which the next call continues. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* Lengths in distances of the lattice, gravity 1: the time step is such that the fastest sphere moves
 * by about a third of a radius. */
enum { SLABS_EVERY = 100 };
static const double radius_least = 0.42, radius_most = 0.48, slack = 0.01;

typedef struct pour {
    const char *folder, *backend;
    int count[3], steps, fine, threads;
    double seconds;
    cairn_world *world;
    int done;
} pour;

static void path_of(const pour *p, const char *name, char path[512])
{
    snprintf(path, 512, "%s/%s", p->folder, name);
}

/* ---- the world ------------------------------------------------------------------------------ */

static void add_wall(cairn_world *world, cairn_vec3 axis, cairn_vec3 at)
{
    cairn_body_def def = cairn_body_def_default();
    def.motion = CAIRN_MOTION_FIXED;
    def.shape.kind = CAIRN_SHAPE_HALF_SPACE;
    def.shape.axis = axis;
    def.position = at;
    cairn_status status = cairn_body_create(world, &def, NULL);
    if (status != CAIRN_OK)
        bench_fail("a wall", status);
}

static cairn_world *new_box(double width, double depth)
{
    cairn_world_def def = cairn_world_def_default();
    cairn_material_def material = cairn_material_def_default();
    cairn_world *world;
    def.gravity = (cairn_vec3){ 0, 0, -1 };
    material.friction = 0.3;
    if (cairn_world_create(&def, &world) != CAIRN_OK ||
        cairn_material_create(world, &material, NULL) != CAIRN_OK)
        bench_fail("a world", CAIRN_NO_MEMORY);
    add_wall(world, (cairn_vec3){ 0, 0, 1 }, (cairn_vec3){ 0, 0, 0 });
    add_wall(world, (cairn_vec3){ 1, 0, 0 }, (cairn_vec3){ 0, 0, 0 });
    add_wall(world, (cairn_vec3){ -1, 0, 0 }, (cairn_vec3){ width, 0, 0 });
    add_wall(world, (cairn_vec3){ 0, 1, 0 }, (cairn_vec3){ 0, 0, 0 });
    add_wall(world, (cairn_vec3){ 0, -1, 0 }, (cairn_vec3){ 0, depth, 0 });
    return world;
}

static void fill(pour *p)
{
    p->world = new_box(p->count[0], p->count[1]);
    cairn_generator grid = cairn_generator_default(CAIRN_GENERATOR_GRID, 3);
    grid.count = (cairn_vec3){ p->count[0], p->count[1], p->count[2] };
    grid.origin = (cairn_vec3){ 0.5, 0.5, 0.5 };
    grid.spacing = (cairn_vec3){ 1, 1, 1 };
    grid.jitter = slack;
    grid.seed = 2026;
    grid.radius = (cairn_distribution){ .kind = CAIRN_DISTRIBUTION_UNIFORM,
                                        .minimum = radius_least,
                                        .maximum = radius_most };
    grid.density = 1;
    cairn_status status =
        cairn_world_reserve(p->world, 5 + (int64_t)p->count[0] * p->count[1] * p->count[2]);
    if (status == CAIRN_OK)
        status = cairn_generate(p->world, &grid, NULL, NULL);
    if (status != CAIRN_OK)
        bench_fail("the spheres", status);
}

/* s: the fall height is what the lattice is looser than a packing of 0.6. */
static double time_step(const pour *p)
{
    double mean = 0.5 * (radius_least + radius_most), fraction = 4.19 * mean * mean * mean;
    double fall = p->count[2] * (1 - fraction / 0.6), fastest = sqrt(2 * fall);
    return 0.33 * radius_least / fastest;
}

/* ---- the state on disk ---------------------------------------------------------------------- */

static cairn_status write_bytes(const void *data, size_t bytes, void *context)
{
    return fwrite(data, 1, bytes, context) == bytes ? CAIRN_OK : CAIRN_IO_FAILED;
}

static void save(const pour *p)
{
    char path[512];
    path_of(p, "pour.state", path);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(&p->done, sizeof p->done, 1, file) != 1 ||
        cairn_world_save(p->world, write_bytes, file) != CAIRN_OK || fclose(file) != 0)
        bench_fail(path, CAIRN_IO_FAILED);
}

/* False: there is none. */
static bool load(pour *p)
{
    char path[512];
    path_of(p, "pour.state", path);
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    long bytes = 0;
    bool found = fread(&p->done, sizeof p->done, 1, file) == 1 && fseek(file, 0, SEEK_END) == 0 &&
                 (bytes = ftell(file) - (long)sizeof p->done) > 0 &&
                 fseek(file, sizeof p->done, SEEK_SET) == 0;
    void *data = found ? malloc((size_t)bytes) : NULL;
    cairn_error error;
    if (!data || fread(data, 1, (size_t)bytes, file) != (size_t)bytes ||
        cairn_world_load(data, (size_t)bytes, &p->world, &error) != CAIRN_OK)
        bench_fail(path, CAIRN_IO_FAILED);
    free(data);
    fclose(file);
    return true;
}

/* ---- what is kept of the run ---------------------------------------------------------------- */

/* The cut through the middle of y: x, z and radius of each disc, and its layer at the start, as
 * floats. */
static void write_slab(const pour *p)
{
    char name[64], path[512];
    snprintf(name, sizeof name, "slab-%04d.bin", p->done);
    path_of(p, name, path);
    FILE *file = fopen(path, "wb");
    const cairn_bodies b = cairn_world_bodies(p->world);
    for (int i = 0; file && i < b.count; i++) {
        double radius = cairn_bodies_shape(&b, i)->radius;
        double off = fabs(b.x[i].y - floor(0.5 * p->count[1]) - 0.5);
        if (b.motion[i] != CAIRN_MOTION_DYNAMIC || off > radius)
            continue;
        radius = sqrt(radius * radius - off * off);
        int64_t layer = (int64_t)(b.uid[i] - 5) / ((int64_t)p->count[0] * p->count[1]);
        const float row[4] = { (float)b.x[i].x, (float)b.x[i].z, (float)radius, (float)layer };
        fwrite(row, sizeof row, 1, file);
    }
    if (!file || fclose(file) != 0)
        bench_fail(path, CAIRN_IO_FAILED);
}

static void write_line(FILE *csv, const pour *p, const cairn_step_report *r, double wall)
{
    const cairn_residual *asked = &r->solve.judgement.asked;
    fprintf(csv, "%d,%.5g,%.4f,%.4f,%.4f,%.4f,%d,%d,%lld,%d,%d,%.3e,%.3e,%.3e,%.3e,%.6e,%.6e,%d\n",
            p->done, cairn_world_time(p->world), wall, r->timing.collide, r->timing.solve,
            r->timing.finish, r->candidates, r->active, (long long)r->solve.iterations,
            r->solve.converged, r->attempts, asked->relative, asked->worst,
            r->certificate.gap_error, r->overlap, r->energy.kinetic, r->energy.potential,
            r->resident);
    fflush(csv);
}

static const char head[] = "step,time,wall_s,collide_s,solve_s,finish_s,contacts,active,sweeps,"
                           "certified,attempts,residual,worst,gap_error,overlap,kinetic,potential,"
                           "resident";

static FILE *open_csv(const pour *p)
{
    char path[512];
    path_of(p, "pour.csv", path);
    if (p->done == 0)
        return bench_table(p->folder, "pour.csv", head);
    FILE *csv = fopen(path, "a");
    if (!csv)
        bench_fail(path, CAIRN_IO_FAILED);
    return csv;
}

/* ---- the run -------------------------------------------------------------------------------- */

static void run(pour *p)
{
    cairn_step_options o = cairn_step_options_default();
    FILE *csv = open_csv(p);
    double start = bench_clock();
    o.time_step = time_step(p);
    o.scheme = "coulomb";
    o.backend = p->backend;
    o.threads = p->threads;
    while (p->done < p->steps && bench_clock() - start < p->seconds) {
        cairn_step_report report;
        double clock = bench_clock();
        o.tolerance = p->done >= p->steps - p->fine ? 1e-3 : 1e-2;
        cairn_status status = cairn_world_step(p->world, &o, &report);
        if (status != CAIRN_OK) {
            fprintf(stderr, "%s\n", cairn_world_error(p->world)->message);
            bench_fail("a step", status);
        }
        p->done++;
        write_line(csv, p, &report, bench_clock() - clock);
        if (p->done % SLABS_EVERY == 0 || p->done == p->steps)
            write_slab(p);
    }
    fclose(csv);
    printf("%d of %d steps in %.1f s\n", p->done, p->steps, bench_clock() - start);
}

static int pour_and_settle(int argc, char **argv)
{
    if (argc < 11) {
        fprintf(stderr, "usage: cairn_bench_rest FOLDER pour NX NY NZ STEPS FINE BACKEND THREADS "
                        "SECONDS\n");
        return 2;
    }
    pour p = { .folder = argv[1],
               .backend = argv[8],
               .count = { bench_number_at(argc, argv, 3, 1), bench_number_at(argc, argv, 4, 1),
                          bench_number_at(argc, argv, 5, 1) },
               .steps = bench_number_at(argc, argv, 6, 1),
               .fine = atoi(argv[7]),
               .threads = bench_number_at(argc, argv, 9, 1),
               .seconds = bench_number_at(argc, argv, 10, 1) };
    double clock = bench_clock();
    if (!load(&p)) {
        fill(&p);
        write_slab(&p);
    }
    printf("%d spheres, time step %.4g, ready after %.1f s\n",
           cairn_world_bodies(p.world).count - 5, time_step(&p), bench_clock() - clock);
    fflush(stdout);
    run(&p);
    clock = bench_clock();
    if (p.done < p.steps) {
        save(&p);
        printf("state saved in %.1f s\n", bench_clock() - clock);
    }
    cairn_world_destroy(p.world);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: cairn_bench_rest FOLDER [N [SCHEME [COPIES [BEFORE [STEPS [PARTS "
                        "[BACKEND [THREADS]]]]]]]]\n");
        return 2;
    }
    if (argc > 2 && strcmp(argv[2], "pour") == 0)
        return pour_and_settle(argc, argv);
    bench_rest_options options = bench_read_rest(argc, argv, 2);
    bench_rest(argv[1], &options);
    return 0;
}
