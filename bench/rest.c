/* rest.c - a box of spheres at rest, and many of them side by side and on each other: what a step
 * costs there.
 *
 * A box settles once; where its spheres are is kept in a file of the folder for the next time. For
 * sizes that would take a night to settle, copies of it are put together: mirrored along x and y,
 * so that what leaned on a wall leans on its image, and on top of each other along z. What the seams
 * disturb has some steps to come to rest before anything is measured. Every run starts without
 * impulses. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench.h"
#include "math/vec.h"

/* Time steps three times those of the scene, to its half time: dense, and almost at rest. */
static const double longer = 3, until = 4.3, side = 10;

/* One ball; velocities in space axes. */
typedef struct ball {
    cairn_vec3 x, v, omega;
    double radius, mass;
} ball;

typedef struct heap {
    ball *balls;
    size_t count;
    double time_step;
} heap;

/* ---- a box that has settled ----------------------------------------------------------------- */

static void settle(cairn_scene *scene)
{
    cairn_step_report report;
    int steps = (int)(until / scene->step.time_step);
    scene->step.threads = 0;
    for (int k = 0; k < steps; k++) {
        cairn_status status = cairn_world_step(scene->world, &scene->step, &report);
        if (status != CAIRN_OK)
            bench_fail("a step", status);
        if (k % 50 == 49)
            fprintf(stderr, "bench: settled %d of %d steps\n", k + 1, steps);
    }
}

static void take_balls(const cairn_world *world, heap *out)
{
    const cairn_bodies b = cairn_world_bodies(world);
    for (int i = 0; i < b.count; i++)
        if (b.motion[i] == CAIRN_MOTION_DYNAMIC)
            out->balls[out->count++] = (ball){ b.x[i], b.v[i], cairn_rotate(b.q[i], b.omega[i]),
                                               cairn_bodies_shape(&b, i)->radius, b.mass[i] };
}

/* From the file, where it is; else settled and kept there. */
static heap settled_box(const char *folder, int n, const char *scheme)
{
    char path[512];
    heap h = { .count = (size_t)n * (size_t)n * (size_t)n };
    cairn_scene *scene = bench_box(n, scheme, longer);
    h.time_step = scene->step.time_step;
    h.balls = calloc(h.count, sizeof *h.balls);
    snprintf(path, sizeof path, "%s/settled-%d-%s.bin", folder, n, scheme);
    FILE *file = fopen(path, "rb");
    if (!h.balls)
        bench_fail("memory", CAIRN_NO_MEMORY);
    if (!file || fread(h.balls, sizeof *h.balls, h.count, file) != h.count) {
        settle(scene);
        h.count = 0;
        take_balls(scene->world, &h);
        FILE *out = fopen(path, "wb");
        if (!out || fwrite(h.balls, sizeof *h.balls, h.count, out) != h.count || fclose(out))
            bench_fail(path, CAIRN_IO_FAILED);
    }
    if (file)
        fclose(file);
    cairn_scene_destroy(scene);
    return h;
}

/* ---- copies of it --------------------------------------------------------------------------- */

static double mirrored(double x, int place, bool turned)
{
    return place * side + (turned ? side - x : x);
}

/* A reflection turns angular velocities as well: along the axes that are kept. */
static ball placed(const ball *from, const int place[3], double height)
{
    bool flip_x = place[0] % 2 == 1, flip_y = place[1] % 2 == 1;
    double sx = flip_x ? -1 : 1, sy = flip_y ? -1 : 1;
    ball b = *from;
    b.x = cairn_vec(mirrored(b.x.x, place[0], flip_x), mirrored(b.x.y, place[1], flip_y),
                    b.x.z + place[2] * height);
    b.v = cairn_vec(sx * b.v.x, sy * b.v.y, b.v.z);
    b.omega = cairn_vec(sy * b.omega.x, sx * b.omega.y, sx * sy * b.omega.z);
    return b;
}

static void add_body(cairn_world *world, const cairn_body_def *def)
{
    cairn_status status = cairn_body_create(world, def, NULL);
    if (status != CAIRN_OK)
        bench_fail("a body", status);
}

static void add_wall(cairn_world *world, cairn_vec3 axis, cairn_vec3 at)
{
    cairn_body_def def = cairn_body_def_default();
    def.motion = CAIRN_MOTION_FIXED;
    def.shape.kind = CAIRN_SHAPE_HALF_SPACE;
    def.shape.axis = axis;
    def.position = at;
    add_body(world, &def);
}

static void add_ball(cairn_world *world, const ball *b)
{
    cairn_body_def def = cairn_body_def_default();
    def.shape.kind = CAIRN_SHAPE_SPHERE;
    def.shape.radius = b->radius;
    def.mass = b->mass;
    def.position = b->x;
    def.velocity = b->v;
    def.angular_velocity = b->omega;
    add_body(world, &def);
}

static double top_of(const heap *h)
{
    double top = 0;
    for (size_t i = 0; i < h->count; i++)
        top = fmax(top, h->balls[i].x.z + h->balls[i].radius);
    return top;
}

static cairn_world *put_together(const heap *h, const int copies[3])
{
    cairn_world_def def = cairn_world_def_default();
    cairn_material_def material = cairn_material_def_default();
    cairn_world *world;
    def.gravity = cairn_vec(0, 0, -1);
    material.friction = 0.3;
    if (cairn_world_create(&def, &world) != CAIRN_OK ||
        cairn_material_create(world, &material, NULL) != CAIRN_OK)
        bench_fail("a world", CAIRN_NO_MEMORY);
    add_wall(world, cairn_vec(0, 0, 1), cairn_vec(0, 0, 0));
    add_wall(world, cairn_vec(1, 0, 0), cairn_vec(0, 0, 0));
    add_wall(world, cairn_vec(-1, 0, 0), cairn_vec(copies[0] * side, 0, 0));
    add_wall(world, cairn_vec(0, 1, 0), cairn_vec(0, 0, 0));
    add_wall(world, cairn_vec(0, -1, 0), cairn_vec(0, copies[1] * side, 0));
    double height = top_of(h);
    int place[3];
    for (place[2] = 0; place[2] < copies[2]; place[2]++)
        for (place[1] = 0; place[1] < copies[1]; place[1]++)
            for (place[0] = 0; place[0] < copies[0]; place[0]++)
                for (size_t i = 0; i < h->count; i++) {
                    ball b = placed(&h->balls[i], place, height);
                    add_ball(world, &b);
                }
    return world;
}

/* ---- what a step costs ---------------------------------------------------------------------- */

static double processor_time(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_utime.tv_sec + 1e-6 * (double)use.ru_utime.tv_usec +
           (double)use.ru_stime.tv_sec + 1e-6 * (double)use.ru_stime.tv_usec;
}

static cairn_step_report step(cairn_world *world, const cairn_step_options *options)
{
    cairn_step_report report;
    cairn_status status = cairn_world_step(world, options, &report);
    if (status != CAIRN_OK)
        bench_fail("a step", status);
    return report;
}

typedef struct cost {
    cairn_timing sum;
    double processor;
    int64_t sweeps;
    int candidates, missed;
} cost;

static cost measure(cairn_world *world, const cairn_step_options *options, int steps)
{
    cost c = { 0 };
    double start = processor_time();
    for (int k = 0; k < steps; k++) {
        cairn_step_report report = step(world, options);
        c.sum.collide += report.timing.collide / steps;
        c.sum.assemble += report.timing.assemble / steps;
        c.sum.solve += report.timing.solve / steps;
        c.sum.finish += report.timing.finish / steps;
        c.sweeps += report.solve.iterations;
        c.missed += !report.solve.converged;
        c.candidates = report.candidates;
    }
    c.processor = (processor_time() - start) / steps;
    return c;
}

static void show(const char *scheme, double spheres, const cost *c, int steps)
{
    double rest = c->sum.collide + c->sum.assemble + c->sum.finish;
    double all = rest + c->sum.solve, sweeps = (double)c->sweeps / steps;
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    printf("%-12s %8.0f %9d %7.0f %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %7.3f %7.1f %6.2f%s\n",
           scheme, spheres, c->candidates, sweeps, 1e3 * c->sum.collide, 1e3 * c->sum.assemble,
           1e3 * c->sum.solve, 1e3 * c->sum.finish, 1e3 * all, 1e3 * c->processor,
           1e6 * rest * c->processor / all / spheres,
           sweeps > 0 ? rest / (c->sum.solve / sweeps) : 0, (double)use.ru_maxrss / 1e6,
           c->missed ? "  some missed" : "");
}

/* One more row of rest.csv; a size that was measured before has the last one count. */
static void keep_row(const char *folder, const char *scheme, double spheres, const cost *c,
                     int steps)
{
    char path[512];
    snprintf(path, sizeof path, "%s/rest.csv", folder);
    FILE *csv = fopen(path, "r");
    if (csv)
        fclose(csv);
    else
        fclose(bench_table(folder, "rest.csv",
                           "scheme,bodies,candidates,sweeps,collide_s,assemble_s,solve_s,finish_s,"
                           "processor_s"));
    csv = fopen(path, "a");
    if (!csv)
        bench_fail(path, CAIRN_IO_FAILED);
    fprintf(csv, "%s,%.0f,%d,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g\n", scheme, spheres, c->candidates,
            (double)c->sweeps / steps, c->sum.collide, c->sum.assemble, c->sum.solve, c->sum.finish,
            c->processor);
    fclose(csv);
}

void bench_rest(const char *folder, const bench_rest_options *o)
{
    heap h = settled_box(folder, o->n, o->scheme);
    cairn_world *world = put_together(&h, o->copies);
    cairn_step_options options = cairn_step_options_default();
    double spheres = (double)h.count * o->copies[0] * o->copies[1] * o->copies[2];
    options.time_step = h.time_step;
    options.scheme = o->scheme;
    options.tolerance = 1e-3;
    options.threads = 1;
    printf(
        "at rest, tolerance 1e-3, one thread: %d steps to settle, then %d measured\n%-12s %8s %9s "
        "%7s %8s %8s %8s %8s %8s %8s %7s %7s %6s\n",
        o->before, o->steps, "", "spheres", "contacts", "sweeps", "collide", "assemble", "solve",
        "finish", "step ms", "cpu ms", "us each", "sweeps", "GB");
    for (int k = 0; k < o->before; k++)
        step(world, &options);
    cost c = measure(world, &options, o->steps);
    show(o->scheme, spheres, &c, o->steps);
    keep_row(folder, o->scheme, spheres, &c, o->steps);
    cairn_world_destroy(world);
    free(h.balls);
}
