/* test_geometry.c - shared data: who holds it, and what it shows. */
#include "cairn/world.h"
#include "failing_allocator.h"
#include "shape/geometry.h"
#include "solids.h"

static const cairn_vec3 square[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 }, { 0, 1, 0 } };

TEST(the_last_holder_frees_it)
{
    meter m = { 0 };
    const cairn_geometry *g;
    meter_install(&m);
    CHECK_OK(cairn_hull_create(square, 4, 2, &g, NULL));
    CHECK(cairn_geometry_retain(g) == g);
    cairn_geometry_release(g);
    CHECK_INT(cairn_geometry_look(g).vertex_count, 4);
    CHECK(m.alive > 0);
    cairn_geometry_release(g);
    CHECK_INT(m.alive, 0);
    CHECK(cairn_geometry_retain(NULL) == NULL);
    cairn_geometry_release(NULL);
    cairn_allocator_set(NULL);
}

static void check_world(bool remove_body)
{
    meter m = { 0 };
    cairn_world_def world_def = cairn_world_def_default();
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    cairn_world *world;
    world_def.dimension = 2;
    def.shape = cairn_shape_default(CAIRN_SHAPE_POLYHEDRON, 2);
    meter_install(&m);
    CHECK_OK(cairn_world_create(&world_def, &world));
    CHECK_OK(cairn_material_create(world, &(cairn_material_def){ .friction = 0.5 }, NULL));
    CHECK_OK(cairn_hull_create(square, 4, 2, &def.shape.geometry, NULL));
    CHECK_OK(cairn_body_create(world, &def, &id));
    cairn_geometry_release(def.shape.geometry);
    CHECK_INT(cairn_geometry_look(cairn_world_bodies(world).shapes[0].geometry).face_count, 4);
    if (remove_body)
        CHECK_OK(cairn_body_destroy(world, id));
    cairn_world_destroy(world);
    CHECK_INT(m.alive, 0);
    cairn_allocator_set(NULL);
}

TEST(a_body_holds_the_data_of_its_shape)
{
    check_world(false);
    check_world(true);
}

/* the unit square, counterclockwise: sides with normals -y, +x, +y, -x */
TEST(sides_of_a_polygon_follow_each_other)
{
    const cairn_geometry *g;
    CHECK_OK(cairn_hull_create(square, 4, 2, &g, NULL));
    cairn_geometry_view v = cairn_geometry_look(g);
    CHECK_INT(v.dimension, 2);
    for (int k = 0; k < 4; k++) {
        cairn_vec3 a = v.vertices[v.face_vertex[2 * k]], b = v.vertices[v.face_vertex[2 * k + 1]];
        CHECK_INT(v.face_vertex[2 * k + 1], v.face_vertex[2 * ((k + 1) % 4)]);
        CHECK_NEAR(v.face_normal[k].x, b.y - a.y, 1e-15);
        CHECK_NEAR(v.face_normal[k].y, a.x - b.x, 1e-15);
    }
    cairn_geometry_release(g);
}

/* a level cell, then one that climbs: two triangles each */
TEST(triangles_in_one_plane_are_a_patch)
{
    const double heights[6] = { 0, 0, 1, 0, 0, 1 };
    const cairn_height_field_def def = {
        .columns = 3, .rows = 2, .spacing = { 1, 1 }, .heights = heights
    };
    const cairn_geometry *g;
    CHECK_OK(cairn_height_field_create(&def, &g, NULL));
    CHECK_INT(g->view.face_count, 4);
    for (int face = 0; face < 4; face++)
        CHECK_INT(g->patch[face], face < 2 ? 0 : 2);
    cairn_geometry_release(g);
}

int main(void)
{
    RUN(CASE(the_last_holder_frees_it), CASE(a_body_holds_the_data_of_its_shape),
        CASE(sides_of_a_polygon_follow_each_other), CASE(triangles_in_one_plane_are_a_patch));
}
