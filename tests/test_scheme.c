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

int main(void)
{
    RUN(CASE(schemes_have_names_texts_and_laws),
        CASE(the_convex_scheme_lifts_what_slides_and_says_so),
        CASE(frictionless_ignores_the_materials));
}
