// bullet.cpp - Bullet on a scene of the comparison (Debian: libbullet-dev).
//
// Setting: iterations of the sequential-impulse solver, as "50"; "nncg-50": of its nonlinear
// conjugate gradients, which converge better (btNNCGConstraintSolver.h). By the user manual ("Rigid
// body dynamics") and btContactSolverInfo.h: the dynamic tree as broad phase, two friction
// directions so that friction does not depend on the direction of sliding, split impulses at any
// depth (the threshold 0) so that mending an overlap adds no speed; 10 iterations are the default
// and more are for accuracy. Nothing is put to sleep.
#include "peer.h"

#include <btBulletDynamicsCommon.h>
#include <BulletDynamics/ConstraintSolver/btNNCGConstraintSolver.h>

#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

struct engine {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broad_phase;
    btConstraintSolver *solver = nullptr;
    btDiscreteDynamicsWorld *world = nullptr;
    std::vector<btRigidBody *> body;
    double time_step = 0;
};

btVector3 vector(const double *x)
{
    return {btScalar(x[0]), btScalar(x[1]), btScalar(x[2])};
}

btRigidBody *add_body(engine *e, double mass, btCollisionShape *shape, const btVector3 &x,
                      double mu)
{
    btVector3 inertia(0, 0, 0);
    if (mass > 0)
        shape->calculateLocalInertia(btScalar(mass), inertia);
    btRigidBody::btRigidBodyConstructionInfo info(btScalar(mass), nullptr, shape, inertia);
    info.m_startWorldTransform.setOrigin(x);
    info.m_friction = btScalar(mu);
    info.m_restitution = 0;
    info.m_linearDamping = info.m_angularDamping = 0;
    btRigidBody *body = new btRigidBody(info);
    body->setActivationState(DISABLE_DEACTIVATION);
    e->world->addRigidBody(body);
    return body;
}

// Bullet multiplies the friction of the two bodies.
void fill(engine *e, const peer_scene *scene)
{
    double normal[5][3], offset[5], mu = std::sqrt(scene->friction);
    int planes = peer_scene_planes(scene, normal, offset);
    for (int p = 0; p < planes; p++) {
        auto *shape = new btStaticPlaneShape(vector(normal[p]), btScalar(offset[p]));
        add_body(e, 0, shape, btVector3(0, 0, 0), mu);
    }
    for (int i = 0; i < scene->count; i++) {
        auto *shape = new btSphereShape(btScalar(scene->radius[i]));
        const btVector3 at = vector(scene->position + 3 * i);
        e->body.push_back(add_body(e, scene->mass[i], shape, at, mu));
    }
}

void *create(const peer_scene *scene, const char *setting)
{
    const bool nncg = std::strncmp(setting, "nncg-", 5) == 0;
    const int iterations = std::atoi(nncg ? setting + 5 : setting);
    if (iterations < 1 || scene->dimension != 3)
        return nullptr;
    auto *e = new engine;
    e->time_step = scene->time_step;
    e->solver = nncg ? new btNNCGConstraintSolver : new btSequentialImpulseConstraintSolver;
    e->world =
        new btDiscreteDynamicsWorld(&e->dispatcher, &e->broad_phase, e->solver, &e->configuration);
    e->world->setGravity(btVector3(0, 0, btScalar(-scene->gravity)));
    btContactSolverInfo &info = e->world->getSolverInfo();
    info.m_numIterations = iterations;
    info.m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
    info.m_splitImpulse = true;
    info.m_splitImpulsePenetrationThreshold = 0;
    fill(e, scene);
    return e;
}

void step(void *engine_)
{
    auto *e = static_cast<engine *>(engine_);
    e->world->stepSimulation(btScalar(e->time_step), 0);
}

void state(void *engine_, double *out)
{
    for (const btRigidBody *body : static_cast<engine *>(engine_)->body) {
        const btVector3 parts[3] = {body->getWorldTransform().getOrigin(),
                                    body->getLinearVelocity(), body->getAngularVelocity()};
        for (const btVector3 &part : parts)
            for (int k = 0; k < 3; k++)
                *out++ = double(part[k]);
    }
}

} // namespace

int main(int argc, char **argv)
{
    static const peer_engine bullet = {"bullet", create, step, state};
    return peer_main(argc, argv, &bullet);
}
