/* test_state_arrays.c - bodies of every shape and contacts of every law to bytes and back. */
#include "saved_world.h"

TEST(shapes_and_surface_laws_go_on_with_the_same_bits)
{
    static const int before[] = { 0, 1, 20, 45 };
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        cairn_scene *scene = scene_text_good(scene_shapes, NULL);
        check_goes_on(scene, before[i], 20);
        cairn_scene_destroy(scene);
    }
}

static bool equal(const double *a, const double *b, size_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

/* What a reader of the world sees of contacts and bodies: nothing is left out. */
TEST(contacts_and_bodies_look_the_same)
{
    cairn_scene *scene = scene_text_good(scene_shapes, NULL);
    advance(scene->world, &scene->step, 45);
    saved s = save(scene->world);
    cairn_world *copy = load(&s);
    cairn_contacts c = cairn_world_contacts(scene->world), d = cairn_world_contacts(copy);
    size_t n = (size_t)c.count;
    CHECK(n > 5);
    CHECK_INT(d.count, c.count);
    CHECK_INT(d.moments, 3);
    CHECK_INT(c.moments, 3);
    CHECK(memcmp(c.feature, d.feature, n * sizeof *c.feature) == 0);
    CHECK(equal(c.impulse, d.impulse, 3 * n) && equal(c.velocity, d.velocity, 3 * n));
    CHECK(equal(c.moment, d.moment, 3 * n) && equal(c.turning, d.turning, 3 * n));
    CHECK(equal(c.mu, d.mu, n) && equal(c.mu_2, d.mu_2, n) && equal(c.adhesion, d.adhesion, n));
    CHECK(equal(c.gap, d.gap, n) && equal(c.restitution, d.restitution, n));
    CHECK(memcmp(c.point, d.point, n * sizeof *c.point) == 0);
    CHECK(memcmp(c.normal, d.normal, n * sizeof *c.normal) == 0);
    CHECK(memcmp(c.tangent, d.tangent, n * sizeof *c.tangent) == 0);
    CHECK(equal(c.mu_rolling, d.mu_rolling, n) && equal(c.mu_spinning, d.mu_spinning, n));
    cairn_bodies a = cairn_world_bodies(scene->world), b = cairn_world_bodies(copy);
    size_t m = (size_t)a.count;
    CHECK(memcmp(a.pose, b.pose, m * sizeof *a.pose) == 0);
    CHECK(memcmp(a.surface_velocity, b.surface_velocity, m * sizeof *a.surface_velocity) == 0);
    CHECK(memcmp(a.friction_axis, b.friction_axis, m * sizeof *a.friction_axis) == 0);
    CHECK(cairn_world_surface_laws(copy).moving && cairn_world_surface_laws(copy).adhesive);
    cairn_world_destroy(copy);
    cairn_scene_destroy(scene);
    free(s.data);
}

/* A belt that was removed is still known to the run file, whose columns tell of it. */
TEST(a_belt_that_is_gone_is_remembered)
{
    cairn_world *world = world_create(3);
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    def.motion = CAIRN_MOTION_FIXED;
    def.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    def.surface_velocity.x = 1;
    CHECK_OK(cairn_body_create(world, &def, &id));
    CHECK_OK(cairn_body_destroy(world, id));
    saved s = save(world);
    cairn_world *copy = load(&s);
    CHECK(cairn_world_surface_laws(copy).moving);
    cairn_world_destroy(copy);
    cairn_world_destroy(world);
    free(s.data);
}

TEST(damaged_bytes_of_shapes_do_no_harm)
{
    cairn_scene *scene = scene_text_good(scene_shapes, NULL);
    advance(scene->world, &scene->step, 30);
    saved s = save(scene->world);
    check_damage_does_no_harm(&s, 211);
    cairn_scene_destroy(scene);
    free(s.data);
}

TEST(without_memory_no_shape_is_left)
{
    cairn_scene *scene = scene_text_good(scene_shapes, NULL);
    advance(scene->world, &scene->step, 30);
    saved s = save(scene->world);
    check_without_memory(&s);
    cairn_scene_destroy(scene);
    free(s.data);
}

int main(void)
{
    RUN(CASE(shapes_and_surface_laws_go_on_with_the_same_bits),
        CASE(contacts_and_bodies_look_the_same), CASE(a_belt_that_is_gone_is_remembered),
        CASE(damaged_bytes_of_shapes_do_no_harm), CASE(without_memory_no_shape_is_left));
}
