/* box2d3.c - Box2D 3 on a 2D scene of the comparison, built from the folder that BOX2D3 names.
 *
 * Setting "HERTZ:SUBSTEPS:SCALE": steps a second (0: the scene's own time step), sub-steps of each,
 * and how many of Box2D's metres a metre of the scene is. By its manual ("Simulation"): 60 Hz with
 * 4 sub-steps, moving bodies of 0.1 to 10 m. One thread; nothing is put to sleep; no continuous
 * collision, since nothing moves by its radius in a step. */
#include "peer.h"

#include <box2d/box2d.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct engine {
    b2WorldId world;
    b2BodyId *body;
    int count, substeps;
    double scale, time_step, scene_step, time, reached;
} engine;

static b2ShapeDef surface(double mu, double density)
{
    b2ShapeDef def = b2DefaultShapeDef();
    def.material.friction = (float)mu; /* Box2D mixes two equal ones to the same */
    def.material.restitution = 0;
    def.density = (float)density;
    return def;
}

static void add_floor(engine *e, const peer_scene *scene)
{
    b2BodyDef at = b2DefaultBodyDef();
    b2ShapeDef def = surface(scene->friction, 0);
    float far = (float)(100 * e->scale);
    b2Segment line = { { -far, 0 }, { far, 0 } };
    b2CreateSegmentShape(b2CreateBody(e->world, &at), &def, &line);
}

static void add_disk(engine *e, const peer_scene *scene, int i)
{
    const double *x = scene->position + 3 * i, radius = e->scale * scene->radius[i];
    b2BodyDef at = b2DefaultBodyDef();
    b2Circle disk = { { 0, 0 }, (float)radius };
    b2ShapeDef def =
        surface(scene->friction, scene->mass[i] / (3.14159265358979 * radius * radius));
    at.type = b2_dynamicBody;
    at.position.x = (float)(e->scale * x[0]);
    at.position.y = (float)(e->scale * x[1]);
    e->body[i] = b2CreateBody(e->world, &at);
    b2CreateCircleShape(e->body[i], &def, &disk);
}

static b2WorldId new_world(const peer_scene *scene, double scale)
{
    b2WorldDef def = b2DefaultWorldDef();
    def.gravity = (b2Vec2){ 0, (float)(-scale * scene->gravity) };
    def.enableSleep = false;
    def.enableContinuous = false;
    def.workerCount = 1;
    return b2CreateWorld(&def);
}

static void *create(const peer_scene *scene, const char *setting)
{
    double hertz, scale;
    int substeps;
    if (sscanf(setting, "%lf:%d:%lf", &hertz, &substeps, &scale) != 3 || scene->dimension != 2 ||
        scene->side > 0)
        return NULL;
    engine *e = calloc(1, sizeof *e);
    if (e)
        e->body = calloc((size_t)scene->count, sizeof *e->body);
    if (!e || !e->body)
        return NULL;
    e->world = new_world(scene, scale);
    e->count = scene->count;
    e->substeps = substeps;
    e->scale = scale;
    e->scene_step = scene->time_step;
    e->time_step = hertz > 0 ? 1 / hertz : scene->time_step;
    add_floor(e, scene);
    for (int i = 0; i < scene->count; i++)
        add_disk(e, scene, i);
    return e;
}

/* One step of the scene: as many of its own steps as fit. */
static void step(void *engine_)
{
    engine *e = engine_;
    e->time += e->scene_step;
    for (; e->reached < e->time - 1e-9; e->reached += e->time_step)
        b2World_Step(e->world, (float)e->time_step, e->substeps);
}

static void state(void *engine_, double *out)
{
    const engine *e = engine_;
    for (int i = 0; i < e->count; i++, out += PEER_STATE) {
        b2Vec2 v = b2Body_GetLinearVelocity(e->body[i]);
        double numbers[PEER_STATE] = { b2Body_GetPosition(e->body[i]).x / e->scale,
                                       b2Body_GetPosition(e->body[i]).y / e->scale,
                                       0,
                                       v.x / e->scale,
                                       v.y / e->scale,
                                       0,
                                       0,
                                       0,
                                       b2Body_GetAngularVelocity(e->body[i]) };
        for (int k = 0; k < PEER_STATE; k++)
            out[k] = numbers[k];
    }
}

int main(int argc, char **argv)
{
    static const peer_engine box2d = { "box2d3", create, step, state };
    return peer_main(argc, argv, &box2d);
}
