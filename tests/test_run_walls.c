/* test_run_walls.c - walls drawn as polygons that lie on their shapes and inside the scene. */
#include "io/run_walls.h"
#include "run_scene.h"

typedef struct drawn {
    cairn_run_roll roll;
    cairn_arena arena;
    cairn_run_walls walls;
    bool changed;
} drawn;

static void draw(drawn *d, const cairn_world *world)
{
    cairn_run_frame frame;
    CHECK_OK(cairn_run_frame_take(world, &d->roll, &d->arena, &frame));
    CHECK_OK(cairn_run_walls_draw(&d->walls, &frame, &d->changed));
}

static void drawn_destroy(drawn *d)
{
    cairn_run_walls_destroy(&d->walls);
    cairn_run_roll_destroy(&d->roll);
    cairn_arena_destroy(&d->arena);
}

static cairn_shape half_space(double x, double y, double z)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    shape.axis = (cairn_vec3){ x, y, z };
    return shape;
}

TEST(a_floor_is_one_rectangle_under_the_bodies)
{
    cairn_scene s = scene_create(3); /* spheres of radius 0.1 at x = 0, 1, 2 */
    drawn d = { 0 };
    draw(&d, s.world);
    const cairn_run_walls *w = &d.walls;
    CHECK(d.changed);
    CHECK_INT(w->mesh.cells, 1);
    CHECK_INT(w->mesh.offsets[0], 4);
    CHECK_INT(w->mesh.body[0], 0);
    double low = 1e9, high = -1e9;
    for (size_t i = 0; i < w->mesh.points; i++) {
        CHECK_NEAR(w->mesh.x[i].z, 0, 1e-12);
        low = fmin(low, w->mesh.x[i].x);
        high = fmax(high, w->mesh.x[i].x);
    }
    CHECK(low <= -0.1 && low > -0.5 && high >= 2.1 && high < 2.5);
    drawn_destroy(&d);
    scene_destroy(&s);
}

TEST(two_walls_of_a_corner_end_where_they_meet)
{
    cairn_scene s = scene_create(3);
    drawn d = { 0 };
    add_wall(s.world, half_space(1, 0, 0), (cairn_vec3){ -0.1, 0, 0 });
    draw(&d, s.world);
    CHECK_INT(d.walls.mesh.cells, 2);
    for (size_t i = 0; i < d.walls.mesh.points; i++) {
        CHECK(d.walls.mesh.x[i].x >= -0.1 - 1e-9);
        CHECK(d.walls.mesh.x[i].z >= -1e-9);
    }
    drawn_destroy(&d);
    scene_destroy(&s);
}

TEST(fixed_walls_are_drawn_once_while_bodies_stay_in_the_box)
{
    cairn_scene s = scene_create(3);
    drawn d = { 0 };
    draw(&d, s.world);
    draw(&d, s.world);
    CHECK(!d.changed);
    add_sphere(s.world, 0.1, (cairn_vec3){ 50, 0, 1 });
    draw(&d, s.world);
    CHECK(d.changed);
    CHECK(d.walls.box.high.x > 50.1);
    drawn_destroy(&d);
    scene_destroy(&s);
}

TEST(a_cylinder_over_a_cone_ends_where_the_cone_begins)
{
    cairn_world *world = world_create(3);
    cairn_shape cylinder = cairn_shape_default(CAIRN_SHAPE_INSIDE_CYLINDER, 3);
    cairn_shape cone = cairn_shape_default(CAIRN_SHAPE_INSIDE_CONE, 3);
    drawn d = { 0 };
    cylinder.radius = 1;
    cone.half_angle = M_PI / 4; /* meets the cylinder at z = 1 */
    add_wall(world, cylinder, (cairn_vec3){ 0, 0, 0 });
    add_wall(world, cone, (cairn_vec3){ 0, 0, 0 });
    add_sphere(world, 0.1, (cairn_vec3){ 0, 0, 3 });
    draw(&d, world);
    const cairn_run_walls *w = &d.walls;
    size_t corner = 0, both[2] = { 0, 0 };
    for (size_t c = 0; c < w->mesh.cells; c++) {
        both[w->mesh.body[c]]++;
        for (; corner < (size_t)w->mesh.offsets[c]; corner++) {
            cairn_vec3 x = w->mesh.x[w->mesh.connectivity[corner]];
            double radius = hypot(x.x, x.y);
            CHECK_NEAR(radius, w->mesh.body[c] == 0 ? 1 : x.z, 1e-9);
            CHECK(w->mesh.body[c] == 0 ? x.z > 0.85 : x.z < 1.15); /* half a ring of slack */
        }
    }
    CHECK(both[0] > 100 && both[1] > 100);
    drawn_destroy(&d);
    cairn_world_destroy(world);
}

TEST(a_funnel_is_drawn_from_rim_to_rim)
{
    cairn_world *world = world_create(3);
    cairn_shape funnel = cairn_shape_default(CAIRN_SHAPE_FUNNEL, 3);
    drawn d = { 0 };
    funnel.bottom_radius = 0.5;
    funnel.top_radius = 2;
    funnel.height = 3;
    add_wall(world, funnel, (cairn_vec3){ 0, 0, 1 });
    draw(&d, world);
    CHECK_INT(d.walls.mesh.cells, 64 * 32);
    for (size_t i = 0; i < d.walls.mesh.points; i++) {
        cairn_vec3 x = d.walls.mesh.x[i];
        CHECK(x.z > 1 - 1e-9 && x.z < 4 + 1e-9);
        CHECK_NEAR(hypot(x.x, x.y), 0.5 + (x.z - 1) / 2, 1e-9);
    }
    drawn_destroy(&d);
    cairn_world_destroy(world);
}

TEST(in_2d_walls_are_segments)
{
    cairn_scene s = scene_create(2);
    cairn_shape circle = cairn_shape_default(CAIRN_SHAPE_INSIDE_CYLINDER, 2);
    cairn_shape wedge = cairn_shape_default(CAIRN_SHAPE_INSIDE_CONE, 2);
    drawn d = { 0 };
    circle.radius = 5;
    wedge.half_angle = 1.5;
    add_wall(s.world, circle, (cairn_vec3){ 1, 1, 0 });
    add_wall(s.world, wedge, (cairn_vec3){ 1, -1, 0 });
    draw(&d, s.world);
    size_t kinds[6] = { 0 };
    for (size_t c = 0; c < d.walls.mesh.cells; c++) {
        CHECK_INT(d.walls.mesh.offsets[c], 2 * (c + 1));
        kinds[d.walls.mesh.body[c]]++;
    }
    CHECK_INT(kinds[0], 1);
    CHECK(kinds[4] > 10 && kinds[4] < 64); /* the part of the circle above floor and wedge */
    for (size_t i = 0; i < d.walls.mesh.points; i++)
        CHECK_NEAR(d.walls.mesh.x[i].z, 0, 0);
    drawn_destroy(&d);
    scene_destroy(&s);
}

TEST(a_world_without_walls_draws_nothing)
{
    cairn_world *world = world_create(3);
    drawn d = { 0 };
    draw(&d, world);
    CHECK_INT(d.walls.mesh.cells, 0);
    add_sphere(world, 0.1, (cairn_vec3){ 0, 0, 0 });
    draw(&d, world);
    CHECK_INT(d.walls.mesh.cells, 0);
    drawn_destroy(&d);
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(a_floor_is_one_rectangle_under_the_bodies),
        CASE(two_walls_of_a_corner_end_where_they_meet),
        CASE(fixed_walls_are_drawn_once_while_bodies_stay_in_the_box),
        CASE(a_cylinder_over_a_cone_ends_where_the_cone_begins),
        CASE(a_funnel_is_drawn_from_rim_to_rim), CASE(in_2d_walls_are_segments),
        CASE(a_world_without_walls_draws_nothing));
}
