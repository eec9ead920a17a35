/* test_common_normal.c - smooth pairs: closed forms, and the conditions at the witnesses. */
#include "couples.h"
#include "random_shapes.h"

/* |x/a|^n + |y/b|^n at a point of the surface, as the length it is off along the ray. */
static double off_surface(const cairn_convex *c, cairn_vec3 p)
{
    cairn_vec3 q = { cairn_dot(c->axes[0], p), cairn_dot(c->axes[1], p), cairn_dot(c->axes[2], p) };
    const cairn_shape *s = c->shape;
    bool super = s->kind == CAIRN_SHAPE_SUPERELLIPSOID;
    double n = super ? s->exponent : 2, k = super ? s->exponent_z : 2;
    double flat =
        pow(pow(fabs(q.x / s->semi_axes.x), n) + pow(fabs(q.y / s->semi_axes.y), n), k / n);
    return fabs(pow(flat + pow(fabs(q.z / s->semi_axes.z), k), 1 / k) - 1);
}

/* Ellipsoids with ends at 2 and 7 - 3 on the x axis. */
TEST(ellipsoids_tip_to_tip)
{
    placed p = { .shape = { { .kind = CAIRN_SHAPE_ELLIPSOID, .semi_axes = { 3, 1, 2 } },
                            { .kind = CAIRN_SHAPE_ELLIPSOID, .semi_axes = { 2, 1.5, 1 } } } };
    cairn_distance d = { .normal = { 0.8, 0.6, 0 } };
    put(&p, 3, 7, 0, 0);
    CHECK(cairn_common_normal(&p.couple, &d));
    CHECK_NEAR(d.gap, 2, 1e-13);
    CHECK_VEC(d.normal, 1, 0, 0, 1e-12);
    CHECK_VEC(d.on_a, 4, 0, 0, 1e-11);
    CHECK_VEC(d.on_b, 2, 0, 0, 1e-11);
}

/* The point (0, 4) and the ellipse x^2/9 + y^2 = 1: nearest is (0, 1). From (0.5, 0) inside, the
 * common normal is the way out at x = 9/8 0.5, y = sqrt(1 - x^2/9). */
TEST(a_point_and_an_ellipse)
{
    placed p = { .shape = { { .kind = CAIRN_SHAPE_POINT },
                            { .kind = CAIRN_SHAPE_ELLIPSOID, .semi_axes = { 3, 1, 0 } } } };
    cairn_distance d = { .normal = { 0.6, 0.8, 0 } };
    put(&p, 2, 0, 4, 0);
    CHECK(cairn_common_normal(&p.couple, &d));
    CHECK_NEAR(d.gap, 3, 1e-13);
    put(&p, 2, 0.5, 0, 0);
    d = (cairn_distance){ .normal = { 0, 1, 0 } };
    CHECK(cairn_common_normal(&p.couple, &d));
    double x = 9.0 / 8 * 0.5, y = sqrt(1 - x * x / 9);
    CHECK_NEAR(d.gap, -hypot(x - 0.5, y), 1e-12);
    CHECK_VEC(d.on_b, x, y, 0, 1e-10);
}

/* Over the flat end of a superellipsoid of exponent 6 the slope at y is y^5: the nearest point is
 * found to 1e-10 although its normal differs from z by 3e-9 only. */
TEST(flat_ends)
{
    placed p = { .shape = { { .kind = CAIRN_SHAPE_SPHERE, .radius = 0.5 },
                            { .kind = CAIRN_SHAPE_SUPERELLIPSOID,
                              .semi_axes = { 1, 1, 1 },
                              .exponent = 6,
                              .exponent_z = 6 } } };
    cairn_distance d = { .normal = { 0.01, 0.02, 1 } };
    put(&p, 3, 0.01, 0.02, 3);
    d.normal = cairn_unit(d.normal);
    CHECK(cairn_common_normal(&p.couple, &d));
    CHECK_NEAR(d.gap, 2, 1e-9);
    CHECK_VEC(d.on_b, 0.01, 0.02 - 2 * pow(0.02, 5), 1, 3e-10);
}

/* At the witnesses of random pairs: on both surfaces, on one line, along both normals. */
static void check_conditions(const cairn_couple *c, const cairn_distance *d)
{
    cairn_vec3 between = cairn_sub(d->on_a, d->on_b);
    cairn_vec3 p = cairn_sub(d->on_a, c->offset);
    CHECK(d->residual <= 1e-10);
    CHECK_NEAR(cairn_norm(cairn_sub(between, cairn_scale(d->gap, d->normal))), 0, 1e-10 * c->size);
    CHECK_NEAR(off_surface(c->a, p), 0, 1e-9);
    CHECK_NEAR(off_surface(c->b, d->on_b), 0, 1e-9);
    CHECK_NEAR(cairn_couple_gap_along(c, d->normal), d->gap, 1e-10 * c->size);
}

TEST(conditions_hold_at_the_witnesses)
{
    static const cairn_shape_kind kinds[2] = { CAIRN_SHAPE_ELLIPSOID, CAIRN_SHAPE_SUPERELLIPSOID };
    uint64_t state = 4;
    for (int k = 0; k < 2000; k++) {
        placed p;
        for (int i = 0; i < 2; i++) {
            p.shape[i] = draw_shape(kinds[(k >> i) % 2], 3, &state);
            p.at[i] = draw_collider(&p.shape[i], 3, 4, &state);
        }
        couple_up(&p, 3);
        cairn_distance d;
        CHECK(cairn_distance_find(&p.couple, 1e9, &d));
        check_conditions(&p.couple, &d);
    }
}

int main(void)
{
    RUN(CASE(ellipsoids_tip_to_tip), CASE(a_point_and_an_ellipse), CASE(flat_ends),
        CASE(conditions_hold_at_the_witnesses));
}
