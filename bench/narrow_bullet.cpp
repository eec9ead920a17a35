/* narrow_bullet.cpp - Bullet's closest points of two convex shapes: GJK apart, EPA overlapping, as its
 * own convex algorithm calls them. */
#include "narrow.h"

#include <BulletCollision/CollisionShapes/btConvexInternalShape.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkEpaPenetrationDepthSolver.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkPairDetector.h>
#include <BulletCollision/NarrowPhaseCollision/btPointCollector.h>
#include <BulletCollision/NarrowPhaseCollision/btVoronoiSimplexSolver.h>

namespace
{

/* A shape that asks a support map. */
class MappedShape : public btConvexInternalShape
{
  public:
    MappedShape(const cairn_bullet_shape &shape, cairn_bullet_support *support)
        : from(shape), map(support)
    {
        m_shapeType = CUSTOM_CONVEX_SHAPE_TYPE;
        setMargin(btScalar(shape.margin));
    }
    btVector3 localGetSupportingVertexWithoutMargin(const btVector3 &d) const override
    {
        const double direction[3] = { d.x(), d.y(), d.z() };
        double p[3];
        map(from.shape, direction, p);
        return btVector3(btScalar(p[0]), btScalar(p[1]), btScalar(p[2]));
    }
    void batchedUnitVectorGetSupportingVertexWithoutMargin(const btVector3 *d, btVector3 *out,
                                                           int count) const override
    {
        for (int k = 0; k < count; k++)
            out[k] = localGetSupportingVertexWithoutMargin(d[k]);
    }
    void calculateLocalInertia(btScalar, btVector3 &inertia) const override
    {
        inertia.setValue(0, 0, 0);
    }
    const char *getName() const override
    {
        return "mapped";
    }

  private:
    const cairn_bullet_shape &from;
    cairn_bullet_support *map;
};

btTransform place(const cairn_bullet_shape &s)
{
    btTransform t;
    t.setIdentity();
    t.setOrigin(btVector3(btScalar(s.x[0]), btScalar(s.x[1]), btScalar(s.x[2])));
    return t;
}

} // namespace

double cairn_bullet_distance(const cairn_bullet_shape *a, const cairn_bullet_shape *b,
                             cairn_bullet_support *support)
{
    MappedShape first(*a, support), second(*b, support);
    btVoronoiSimplexSolver simplex;
    btGjkEpaPenetrationDepthSolver epa;
    btGjkPairDetector detector(&first, &second, &simplex, &epa);
    btGjkPairDetector::ClosestPointInput input;
    btPointCollector found;
    input.m_transformA = place(*a);
    input.m_transformB = place(*b);
    detector.getClosestPoints(input, found, nullptr);
    return found.m_hasResult ? double(found.m_distance) : BT_LARGE_FLOAT;
}
