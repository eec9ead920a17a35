/* ode.c - the Open Dynamics Engine on a scene of the comparison (Debian: libode-dev).
 *
 * Setting: the number of iterations of QuickStep, as "50". By the manual (ode.org/wiki, Manual):
 * QuickStep for many bodies ("Stepping functions"), 20 iterations are its default and more are for
 * accuracy ("QuickStep"); friction bounded by mu times the normal force, dContactApprox1
 * ("Contact"); ERP 0.2 and CFM as they come ("How to use ERP and CFM"); the sweep-and-prune space
 * for scenes with many bodies ("Collision detection: spaces"). Nothing is put to sleep. */
#include "peer.h"

#include <ode/ode.h>
#include <stdlib.h>

typedef struct engine {
    dWorldID world;
    dSpaceID space;
    dJointGroupID contacts;
    dBodyID *body;
    double friction, time_step;
    int count;
} engine;

static void add_ball(engine *e, const peer_scene *scene, int i)
{
    const double *x = scene->position + 3 * i;
    dMass mass;
    dGeomID geom = dCreateSphere(e->space, scene->radius[i]);
    e->body[i] = dBodyCreate(e->world);
    dMassSetSphereTotal(&mass, scene->mass[i], scene->radius[i]);
    dBodySetMass(e->body[i], &mass);
    dBodySetPosition(e->body[i], x[0], x[1], x[2]);
    dBodySetGyroscopicMode(e->body[i], 0); /* balls have no gyroscopic torque */
    dGeomSetBody(geom, e->body[i]);
}

static void *create(const peer_scene *scene, const char *setting)
{
    double normal[5][3], offset[5];
    int planes = peer_scene_planes(scene, normal, offset), iterations = atoi(setting);
    engine *e = calloc(1, sizeof *e);
    if (!e || iterations < 1 || scene->dimension != 3)
        return NULL;
    dInitODE2(0);
    e->world = dWorldCreate();
    e->space = dSweepAndPruneSpaceCreate(0, dSAP_AXES_XYZ);
    e->contacts = dJointGroupCreate(0);
    e->body = calloc((size_t)scene->count, sizeof *e->body);
    e->friction = scene->friction;
    e->time_step = scene->time_step;
    e->count = scene->count;
    dWorldSetGravity(e->world, 0, 0, -scene->gravity);
    dWorldSetQuickStepNumIterations(e->world, iterations);
    for (int p = 0; p < planes; p++)
        dCreatePlane(e->space, normal[p][0], normal[p][1], normal[p][2], offset[p]);
    for (int i = 0; i < scene->count; i++)
        add_ball(e, scene, i);
    return e;
}

static void on_near(void *engine_, dGeomID a, dGeomID b)
{
    engine *e = engine_;
    dContact contact = { .surface = { .mode = dContactApprox1, .mu = e->friction } };
    if (dCollide(a, b, 1, &contact.geom, sizeof contact) == 0)
        return;
    dJointAttach(dJointCreateContact(e->world, e->contacts, &contact), dGeomGetBody(a),
                 dGeomGetBody(b));
}

static void step(void *engine_)
{
    engine *e = engine_;
    dSpaceCollide(e->space, e, on_near);
    dWorldQuickStep(e->world, e->time_step);
    dJointGroupEmpty(e->contacts);
}

static void state(void *engine_, double *out)
{
    engine *e = engine_;
    for (int i = 0; i < e->count; i++) {
        const dReal *parts[3] = { dBodyGetPosition(e->body[i]), dBodyGetLinearVel(e->body[i]),
                                  dBodyGetAngularVel(e->body[i]) };
        for (int k = 0; k < 9; k++)
            *out++ = parts[k / 3][k % 3];
    }
}

int main(int argc, char **argv)
{
    static const peer_engine ode = { "ode", create, step, state };
    return peer_main(argc, argv, &ode);
}
