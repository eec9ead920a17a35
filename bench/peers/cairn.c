/* cairn.c - cairn as one of the engines of the comparison.
 *
 * Setting "SCHEME:TOLERANCE", as "convex:1e-3"; all else by default, one thread. */
#include "peer.h"

#include <stdlib.h>
#include <string.h>

#include "cairn/cairn.h"

typedef struct engine {
    cairn_world *world;
    cairn_step_options step;
    char scheme[32];
    int count;
} engine;

static void must(cairn_status status, const char *what)
{
    if (status == CAIRN_OK)
        return;
    fprintf(stderr, "peer cairn: %s: %s\n", what, cairn_status_text(status));
    exit(1);
}

static void add_planes(engine *e, const peer_scene *scene, int material)
{
    double n[5][3], offset[5];
    int count = peer_scene_planes(scene, n, offset);
    for (int p = 0; p < count; p++) {
        cairn_body_def def = cairn_body_def_default();
        cairn_body_id id;
        def.motion = CAIRN_MOTION_FIXED;
        def.material = material;
        def.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, scene->dimension);
        def.shape.axis = (cairn_vec3){ n[p][0], n[p][1], n[p][2] };
        def.position =
            (cairn_vec3){ n[p][0] * offset[p], n[p][1] * offset[p], n[p][2] * offset[p] };
        must(cairn_body_create(e->world, &def, &id), "a wall");
    }
}

/* The balls come first, so that their indices are those of the scene. */
static void add_balls(engine *e, const peer_scene *scene, int material)
{
    for (int i = 0; i < scene->count; i++) {
        const double *x = scene->position + 3 * i;
        cairn_body_def def = cairn_body_def_default();
        cairn_body_id id;
        def.material = material;
        def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, scene->dimension);
        def.shape.radius = scene->radius[i];
        def.mass = scene->mass[i];
        def.position = (cairn_vec3){ x[0], x[1], x[2] };
        must(cairn_body_create(e->world, &def, &id), "a ball");
    }
}

static void build(engine *e, const peer_scene *scene)
{
    cairn_world_def world = cairn_world_def_default();
    cairn_material_def surface = cairn_material_def_default();
    int material;
    world.dimension = scene->dimension;
    world.gravity = (cairn_vec3){ 0, 0, -scene->gravity };
    if (scene->dimension == 2)
        world.gravity = (cairn_vec3){ 0, -scene->gravity, 0 };
    must(cairn_world_create(&world, &e->world), "the world");
    surface.friction = scene->friction;
    surface.restitution = 0;
    must(cairn_material_create(e->world, &surface, &material), "the material");
    add_balls(e, scene, material);
    add_planes(e, scene, material);
}

static void *create(const peer_scene *scene, const char *setting)
{
    engine *e = calloc(1, sizeof *e);
    double tolerance;
    if (!e || sscanf(setting, "%31[^:]:%lf", e->scheme, &tolerance) != 2)
        return NULL;
    e->count = scene->count;
    e->step = cairn_step_options_default();
    e->step.time_step = scene->time_step;
    e->step.scheme = e->scheme;
    e->step.tolerance = tolerance;
    e->step.threads = 1;
    build(e, scene);
    must(cairn_world_step_check(e->world, &e->step, NULL), setting);
    return e;
}

static void step(void *engine_)
{
    engine *e = engine_;
    cairn_step_report report;
    must(cairn_world_step(e->world, &e->step, &report), "a step");
}

static void state(void *engine_, double *out)
{
    engine *e = engine_;
    cairn_bodies bodies = cairn_world_bodies(e->world);
    for (int i = 0; i < e->count; i++) {
        const cairn_vec3 *parts[3] = { &bodies.x[i], &bodies.v[i], &bodies.omega[i] };
        for (int k = 0; k < 3; k++) {
            *out++ = parts[k]->x;
            *out++ = parts[k]->y;
            *out++ = parts[k]->z;
        }
    }
}

int main(int argc, char **argv)
{
    static const peer_engine cairn = { "cairn", create, step, state };
    return peer_main(argc, argv, &cairn);
}
