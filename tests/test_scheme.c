/* test_scheme.c - schemes by name, and what sets them apart. */
#include "worlds.h"

static const cairn_vec3 zero = { 0, 0, 0 };

TEST(schemes_have_names_texts_and_laws)
{
    CHECK_TEXT(cairn_scheme_name(0), "convex");
    for (int i = 0; cairn_scheme_name(i); i++)
        CHECK(strlen(cairn_scheme_summary(cairn_scheme_name(i))) > 20);
    CHECK_INT(cairn_scheme_law("convex"), CAIRN_LAW_CONVEX);
    CHECK_INT(cairn_scheme_law("fixed-point"), CAIRN_LAW_COULOMB);
    CHECK_INT(cairn_scheme_law("nonsense"), CAIRN_LAW_COUNT);
    CHECK(cairn_scheme_summary("nonsense") == NULL);
    CHECK(cairn_scheme_name(-1) == NULL);
}

/* A ball sliding at 1 m/s on a floor, mu = 0.2: its height above the floor after a while. */
static double height_while_sliding(const char *scheme, double *dilatation)
{
    cairn_world *world = new_world(3, 10, 0.2, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.1 }, (cairn_vec3){ 1, 0, 0 });
    cairn_step_options options = step_by(0.001, scheme, 1e-10);
    *dilatation = advance(world, &options, 100).certificate.dilatation;
    double height = cairn_world_bodies(world).x[1].z - 0.1;
    cairn_world_destroy(world);
    return height;
}

/* after 0.1 s the surface slides with 1 - 0.1 * 0.2 * 10 * 3.5 = 0.3 m/s: gap 0.001 * 0.2 * 0.3 */
TEST(the_convex_scheme_lifts_what_slides_and_says_so)
{
    double lift, none;
    CHECK_NEAR(height_while_sliding("convex", &lift), 6e-5, 1e-6);
    CHECK_NEAR(lift, 6e-5, 1e-6);
    CHECK_NEAR(height_while_sliding("fixed-point", &none), 0, 1e-9);
    CHECK(none == 0);
}

TEST(frictionless_ignores_the_materials)
{
    cairn_world *world = new_world(3, 10, 0.9, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.1 }, (cairn_vec3){ 1, 0, 0 });
    cairn_step_options options = step_by(0.001, "frictionless", 1e-10);
    advance(world, &options, 100);
    CHECK_NEAR(cairn_world_bodies(world).v[1].x, 1, 1e-12);
    CHECK_NEAR(cairn_world_bodies(world).omega[1].y, 0, 1e-12);
    cairn_world_destroy(world);
}

/* On an incline of 30 degrees along x, mu 0.1: the exact schemes slide alike and keep no gap; cones
 * with edges are exact along an edge, so lcp agrees too; the convex ones agree with each other. */
static cairn_vec3 slide(const char *scheme, int dimension)
{
    cairn_world_def def = cairn_world_def_default();
    cairn_material_def material = { .friction = 0.1 };
    cairn_world *world;
    double down = -sqrt(0.75);
    def.dimension = dimension;
    def.gravity = dimension == 2 ? (cairn_vec3){ 0.5, down, 0 } : (cairn_vec3){ 0.5, 0, down };
    CHECK_OK(cairn_world_create(&def, &world));
    CHECK_OK(cairn_material_create(world, &material, NULL));
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.2, dimension == 2 ? (cairn_vec3){ 0, 0.2, 0 } : (cairn_vec3){ 0, 0, 0.2 },
             zero);
    cairn_step_options options = step_by(0.01, scheme, 1e-9);
    advance(world, &options, 100);
    cairn_vec3 x = cairn_world_bodies(world).x[1];
    cairn_world_destroy(world);
    return dimension == 2 ? (cairn_vec3){ x.x, 0, x.y } : x;
}

TEST(schemes_of_one_law_agree)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        cairn_vec3 exact = slide("fixed-point", dimension), convex = slide("convex", dimension);
        const char *const same[] = { "coulomb", "coulomb-newton", "lcp", "moreau-jean" };
        for (int i = 0; i < 4; i++) {
            CHECK_NEAR(slide(same[i], dimension).x, exact.x, 1e-7);
            CHECK_NEAR(slide(same[i], dimension).z, 0.2, 1e-7);
        }
        CHECK_NEAR(exact.x, (0.5 - 0.1 * sqrt(0.75)) * 1.01 / 2, 1e-7);
        CHECK_NEAR(slide("convex-polyhedral", dimension).x, convex.x, 1e-7);
        CHECK(convex.z > 0.2 + 1e-4);
    }
}

/* sliding between two edges of a four-sided cone friction is weaker: mu cos(45 degrees) */
TEST(few_edges_make_friction_depend_on_the_direction)
{
    cairn_world *world = new_world(3, 10, 0.2, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.1 }, (cairn_vec3){ 2, 2, 0 });
    cairn_step_options options = step_by(0.001, "lcp", 1e-9);
    options.directions = 4;
    advance(world, &options, 10);
    cairn_contacts c = cairn_world_contacts(world);
    double friction = hypot(c.impulse[1], c.impulse[2]) / c.impulse[0];
    CHECK(friction <= 0.2 + 1e-12 && friction >= 0.2 * sqrt(0.5) - 1e-12);
    options.directions = 32;
    advance(world, &options, 10);
    c = cairn_world_contacts(world);
    CHECK_NEAR(hypot(c.impulse[1], c.impulse[2]) / c.impulse[0], 0.2, 1e-3);
    cairn_world_destroy(world);
}

/* Velocity level: a falling disk is stopped when it overlaps at mid-step, and what it overlaps then
 * stays: no more, no less. The position-level schemes touch exactly. */
TEST(moreau_jean_stops_the_fall_and_keeps_the_overlap)
{
    cairn_world *world = new_world(2, 10, 0.3, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0.5, 0 }, zero);
    cairn_step_options options = step_by(0.01, "moreau-jean", 1e-10);
    double deepest = 0;
    for (int k = 0; k < 100; k++)
        deepest = fmax(deepest, advance(world, &options, 1).certificate.penetration);
    CHECK_NEAR(cairn_world_bodies(world).v[1].y, 0, 1e-12);
    CHECK(deepest <= 0.01 * sqrt(2 * 10 * 0.4)); /* at most one step of the fall */
    CHECK(deepest > 0);
    CHECK_NEAR(0.1 - cairn_world_bodies(world).x[1].y, deepest, 1e-12);
    cairn_world_destroy(world);
}

/* e = 0.5: the speed after the impact is half of the speed before, to rounding */
TEST(moreau_jean_restores_the_speed)
{
    cairn_world *world = new_world(2, 0, 0, 0.5);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0.5, 0 }, (cairn_vec3){ 0, -2, 0 });
    cairn_step_options options = step_by(0.01, "moreau-jean", 1e-10);
    advance(world, &options, 40);
    CHECK_NEAR(cairn_world_bodies(world).v[1].y, 1, 1e-12);
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(schemes_have_names_texts_and_laws),
        CASE(the_convex_scheme_lifts_what_slides_and_says_so),
        CASE(frictionless_ignores_the_materials), CASE(schemes_of_one_law_agree),
        CASE(few_edges_make_friction_depend_on_the_direction),
        CASE(moreau_jean_stops_the_fall_and_keeps_the_overlap),
        CASE(moreau_jean_restores_the_speed));
}
