// box2d.cpp - Box2D 2.4 on a 2D scene of the comparison (Debian: libbox2d-dev).
//
// Setting "HERTZ:VELOCITY+POSITION:SCALE": steps a second (0: the scene's own time step), velocity
// and position iterations, and how many of Box2D's metres a metre of the scene is. By the manual
// (box2d.org/documentation, "Simulation"): 60 Hz with 8 and 3 iterations; moving bodies of 0.1 to
// 10 m ("Units"), in which overlaps of 0.005 m are meant to stay: so a larger scale is finer.
// Nothing is put to sleep.
#include "peer.h"

#include <box2d/box2d.h>

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

struct engine {
    explicit engine(b2Vec2 gravity) : world(gravity) {}
    b2World world;
    std::vector<b2Body *> body;
    double scale = 1, time_step = 0, scene_step = 0, time = 0, reached = 0;
    int velocity = 8, position = 3;
};

b2FixtureDef surface(const b2Shape *shape, double mu, double density)
{
    b2FixtureDef def;
    def.shape = shape;
    def.friction = float(mu); // Box2D mixes two equal ones to the same
    def.restitution = 0;
    def.density = float(density);
    return def;
}

void add_floor(engine *e, const peer_scene *scene)
{
    b2BodyDef at;
    b2EdgeShape line;
    const float far = float(100 * e->scale);
    line.SetTwoSided(b2Vec2(-far, 0), b2Vec2(far, 0));
    const b2FixtureDef def = surface(&line, scene->friction, 0);
    e->world.CreateBody(&at)->CreateFixture(&def);
}

void add_disk(engine *e, const peer_scene *scene, int i)
{
    const double *x = scene->position + 3 * i, radius = e->scale * scene->radius[i];
    b2BodyDef at;
    b2CircleShape disk;
    at.type = b2_dynamicBody;
    at.position.Set(float(e->scale * x[0]), float(e->scale * x[1]));
    disk.m_radius = float(radius);
    const double area = 3.14159265358979 * radius * radius;
    const b2FixtureDef def = surface(&disk, scene->friction, scene->mass[i] / area);
    e->body.push_back(e->world.CreateBody(&at));
    e->body.back()->CreateFixture(&def);
}

void *create(const peer_scene *scene, const char *setting)
{
    double hertz, scale;
    int velocity, position;
    if (std::sscanf(setting, "%lf:%d+%d:%lf", &hertz, &velocity, &position, &scale) != 4 ||
        scene->dimension != 2 || scene->side > 0)
        return nullptr;
    auto *e = new engine(b2Vec2(0, float(-scale * scene->gravity)));
    e->world.SetAllowSleeping(false);
    e->world.SetContinuousPhysics(false); // nothing moves by its radius in a step: 8 % faster
    e->scale = scale;
    e->scene_step = scene->time_step;
    e->time_step = hertz > 0 ? 1 / hertz : scene->time_step;
    e->velocity = velocity;
    e->position = position;
    add_floor(e, scene);
    for (int i = 0; i < scene->count; i++)
        add_disk(e, scene, i);
    return e;
}

// One step of the scene: as many of its own as there are time for.
void step(void *engine_)
{
    auto *e = static_cast<engine *>(engine_);
    e->time += e->scene_step;
    for (; e->reached < e->time - 1e-9; e->reached += e->time_step)
        e->world.Step(float(e->time_step), e->velocity, e->position);
}

void state(void *engine_, double *out)
{
    auto *e = static_cast<engine *>(engine_);
    for (const b2Body *body : e->body) {
        const b2Vec2 x = body->GetPosition(), v = body->GetLinearVelocity();
        const double numbers[PEER_STATE] = {x.x / e->scale, x.y / e->scale, 0, v.x / e->scale,
                                            v.y / e->scale, 0, 0, 0, body->GetAngularVelocity()};
        for (double number : numbers)
            *out++ = number;
    }
}

} // namespace

int main(int argc, char **argv)
{
    static const peer_engine box2d = {"box2d", create, step, state};
    return peer_main(argc, argv, &box2d);
}
