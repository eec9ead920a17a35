/* export.c - scenes of the comparison as files that every engine reads (bench/peers/peer.h), made
 * from the scenes of cairn: box_of_spheres with n^3 spheres, the same after it has settled, and
 * column_collapse_2d. And the contact problem of a box that has settled, as a file that solvers of
 * others read. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "peers/peer.h"

enum { FRAMES = 80, REST_STEPS = 160 };

/* Dynamic bodies of the world, which are balls; their numbers go into the scene. */
static void take_balls(const cairn_scene *scene, peer_scene *out)
{
    cairn_bodies bodies = cairn_world_bodies(scene->world);
    size_t most = (size_t)bodies.count;
    out->position = calloc(3 * most, sizeof(double));
    out->radius = calloc(most, sizeof(double));
    out->mass = calloc(most, sizeof(double));
    if (!out->position || !out->radius || !out->mass)
        bench_fail("memory", CAIRN_NO_MEMORY);
    for (int i = 0; i < bodies.count; i++) {
        if (bodies.motion[i] != CAIRN_MOTION_DYNAMIC)
            continue;
        double *x = out->position + 3 * out->count;
        x[0] = bodies.x[i].x;
        x[1] = bodies.x[i].y;
        x[2] = bodies.x[i].z;
        out->radius[out->count] = cairn_bodies_shape(&bodies, i)->radius;
        out->mass[out->count++] = bodies.mass[i];
    }
}

static void write_scene(const cairn_scene *scene, double side, const char *path)
{
    cairn_vec3 gravity = cairn_world_gravity(scene->world);
    cairn_material_def material;
    peer_scene out = { .side = side };
    if (cairn_material_get(scene->world, 0, &material) != CAIRN_OK)
        bench_fail("the material", CAIRN_NOT_FOUND);
    take_balls(scene, &out);
    out.dimension = cairn_world_dimension(scene->world);
    out.gravity = out.dimension == 3 ? -gravity.z : -gravity.y;
    out.friction = material.friction;
    out.time_step = scene->step.time_step;
    out.steps = (int)ceil(scene->run.duration / out.time_step - 1e-9);
    out.frame_every = out.steps > FRAMES ? out.steps / FRAMES : 1;
    peer_scene_write(path, &out);
    peer_scene_destroy(&out);
}

static cairn_scene *column(void)
{
    cairn_scene *scene;
    cairn_error error = { 0 };
    if (cairn_scene_load(CAIRN_SOURCE_DIR "/scenes/column_collapse_2d.yaml", NULL, 0, &scene,
                         &error) != CAIRN_OK)
        bench_fail(error.message, CAIRN_BAD_INPUT);
    return scene;
}

/* A box of n^3 spheres with exact friction, at the end of its run with steps longer by a factor. */
static cairn_scene *settled_box(int n, double longer)
{
    cairn_scene *scene = bench_box(n, "coulomb", longer);
    cairn_step_report report;
    int steps = (int)(scene->run.duration / scene->step.time_step);
    scene->step.threads = 1;
    for (int k = 0; k < steps; k++) {
        cairn_status status = cairn_world_step(scene->world, &scene->step, &report);
        if (status != CAIRN_OK)
            bench_fail("a step", status);
    }
    return scene;
}

/* n spheres along an edge, after `before` in the name of the scene; 0: not one of these. */
static int edge_of(const char *which, const char *before)
{
    size_t length = strlen(before);
    int n = strncmp(which, before, length) == 0 ? atoi(which + length) : 0;
    return n >= 2 && n <= 100 ? n : 0;
}

void bench_export(const char *path, const char *which)
{
    int n = edge_of(which, ""), rest = edge_of(which, "rest-");
    bool flat = strcmp(which, "column") == 0;
    if (!flat && !n && !rest)
        bench_fail("export: expected column, N or rest-N, N from 2 to 100", CAIRN_BAD_INPUT);
    cairn_scene *scene = flat ? column() : rest ? settled_box(rest, 3) : bench_box(n, "convex", 1);
    if (rest) {
        scene->step.time_step /= 3;
        scene->run.duration = REST_STEPS * scene->step.time_step;
    }
    write_scene(scene, flat ? 0 : 10, path);
    cairn_scene_destroy(scene);
}

void bench_problem(const char *path, const char *which)
{
    int n = atoi(which);
    if (n < 2 || n > 50)
        bench_fail("problem: expected a number from 2 to 50", CAIRN_BAD_INPUT);
    cairn_scene *scene = settled_box(n, 1);
    cairn_error error = { 0 };
    const cairn_problem *problem = cairn_world_problem(scene->world, NULL);
    if (cairn_fclib_save_problem(path, problem, "box_of_spheres", NULL, NULL, &error) != CAIRN_OK)
        bench_fail(error.message, CAIRN_IO_FAILED);
    cairn_scene_destroy(scene);
}
