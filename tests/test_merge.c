/* test_merge.c - bodies on flat regions made of triangles: as many contacts as on a plane, and the
 * motion on a plane. */
#include "math/vec.h"
#include "worlds.h"

static const cairn_vec3 zero = { 0, 0, 0 };

enum { CELLS = 40 };

/* Level ground of 40 x 40 cells of 0.23 m: a height field, or an open mesh. */
static cairn_shape ground(cairn_shape_kind kind)
{
    double heights[(CELLS + 1) * (CELLS + 1)] = { 0 };
    const cairn_height_field_def def = {
        .columns = CELLS + 1, .rows = CELLS + 1, .spacing = { 0.23, 0.23 }, .heights = heights
    };
    cairn_shape field = cairn_shape_default(CAIRN_SHAPE_HEIGHT_FIELD, 3);
    cairn_shape mesh = cairn_shape_default(CAIRN_SHAPE_MESH, 3);
    CHECK_OK(cairn_height_field_create(&def, &field.geometry, NULL));
    if (kind == CAIRN_SHAPE_HEIGHT_FIELD)
        return field;
    cairn_geometry_view view = cairn_geometry_look(field.geometry);
    const cairn_mesh_def sheet = { view.vertices, view.vertex_count, view.face_vertex,
                                   view.face_count };
    CHECK_OK(cairn_mesh_create(&sheet, &mesh.geometry, NULL));
    cairn_geometry_release(field.geometry);
    return mesh;
}

/* A body with a velocity on the ground; `kind` half-space: a plane. Its index is 1. */
static cairn_world *world_of(cairn_shape_kind kind, const cairn_body_def *def)
{
    cairn_world *world = new_world(3, 9.81, 0.3, 0);
    cairn_shape floor = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    if (kind != CAIRN_SHAPE_HALF_SPACE)
        floor = ground(kind);
    add_wall(world, floor, zero);
    cairn_geometry_release(floor.geometry);
    CHECK_OK(cairn_body_create(world, def, NULL));
    return world;
}

/* Largest distance, m or 1, between what a body does on a plane and on triangles; `contacts`: how
 * many it has in each step. */
static double difference(cairn_shape_kind kind, const cairn_body_def *def, int contacts)
{
    cairn_world *plane = world_of(CAIRN_SHAPE_HALF_SPACE, def), *faces = world_of(kind, def);
    cairn_step_options options = step_by(0.005, "coulomb", 1e-12);
    double most = 0;
    for (int k = 0; k < 200; k++) {
        CHECK_INT(advance(plane, &options, 1).candidates, contacts);
        CHECK_INT(advance(faces, &options, 1).candidates, contacts);
        cairn_bodies a = cairn_world_bodies(plane), b = cairn_world_bodies(faces);
        double turned = fabs(a.q[1].x - b.q[1].x) + fabs(a.q[1].y - b.q[1].y) +
                        fabs(a.q[1].z - b.q[1].z) + fabs(a.q[1].w - b.q[1].w);
        most = fmax(most, fmax(turned, cairn_norm(cairn_sub(a.x[1], b.x[1]))));
    }
    CHECK(cairn_norm(cairn_sub(cairn_world_bodies(faces).x[1], def->position)) >
          0.6); /* it went somewhere */
    cairn_world_destroy(plane);
    cairn_world_destroy(faces);
    return most;
}

/* It slides over a dozen of edges. Without turning: then friction does not depend on how four contacts
 * share the weight. */
TEST(a_box_slides_over_triangles_as_over_a_plane)
{
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    def.shape.size = (cairn_vec3){ 0.7, 0.5, 0.4 };
    def.orientation = cairn_quat_exp((cairn_vec3){ 0, 0, 0.3 });
    def.position = (cairn_vec3){ -0.3, 0.1, 0.2 };
    def.velocity = (cairn_vec3){ 2, 0.7, 0 };
    CHECK(difference(CAIRN_SHAPE_HEIGHT_FIELD, &def, 4) < 1e-9);
    CHECK(difference(CAIRN_SHAPE_MESH, &def, 4) < 1e-9);
}

TEST(a_ball_rolls_over_triangles_as_over_a_plane)
{
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    def.shape.radius = 0.2;
    def.position = (cairn_vec3){ -0.3, 0.1, 0.2 };
    def.velocity = (cairn_vec3){ 2, 0.7, 0 };
    CHECK(difference(CAIRN_SHAPE_HEIGHT_FIELD, &def, 1) < 1e-9);
    CHECK(difference(CAIRN_SHAPE_MESH, &def, 1) < 1e-9);
}

/* 28 x 28 triangles and more lie under it: of hundreds of points the four corners stay. */
TEST(a_large_plate_has_four_contacts)
{
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    def.shape.size = (cairn_vec3){ 6.5, 6.5, 0.1 };
    def.position = (cairn_vec3){ 0.03, 0.05, 0.05 };
    cairn_world *world = world_of(CAIRN_SHAPE_HEIGHT_FIELD, &def);
    cairn_step_options options = step_by(0.005, "convex", 1e-10);
    CHECK_INT(advance(world, &options, 2).candidates, 4);
    cairn_contacts c = cairn_world_contacts(world);
    double weight = 0; /* N */
    for (int j = 0; j < 4; j++) {
        CHECK_NEAR(fabs(c.point[j].x - 0.03), 3.25, 1e-9);
        CHECK_NEAR(fabs(c.point[j].y - 0.05), 3.25, 1e-9);
        weight += c.impulse[3 * j] / 0.005;
    }
    CHECK_NEAR(weight, 4225 * 9.81, 1e-3);
    cairn_world_destroy(world);
}

/* ---- over edges ----------------------------------------------------------------------------- */

/* A hill and two higher corners: heights of 3 x 3 points, 1 m apart. */
static const double hills[9] = { 0, 0, 0.05, 0, 0.02, 0, 0.05, 0, 0 };

/* Whether n is the normal of a triangle of the ground. */
static bool is_normal_of_ground(const cairn_geometry *ground_faces, cairn_vec3 n)
{
    cairn_geometry_view view = cairn_geometry_look(ground_faces);
    for (int k = 0; k < view.face_count; k++)
        if (cairn_norm(cairn_sub(view.face_normal[k], n)) <= 1e-9)
            return true;
    return false;
}

/* m: the lowest corner of a cube of edge 0.1 along n. */
static double lowest_corner(const cairn_pose *cube, cairn_vec3 n)
{
    double low = INFINITY;
    for (int k = 0; k < 8; k++) {
        cairn_vec3 corner = { k & 1 ? 0.05 : -0.05, k & 2 ? 0.05 : -0.05, k & 4 ? 0.05 : -0.05 };
        low = fmin(low, cairn_dot(n, cairn_pose_apply(cube, corner)));
    }
    return low;
}

/* m: how far the lowest contact point with the normal of contact j is above the lowest corner. */
static double missed_by(const cairn_contacts *c, int j, double lowest)
{
    double low = INFINITY;
    for (int i = 0; i < c->count; i++)
        if (cairn_norm(cairn_sub(c->normal[i], c->normal[j])) <= 1e-9)
            low = fmin(low, cairn_dot(c->normal[j], c->point[i]) + 0.5 * c->gap[i]);
    return low - lowest;
}

/* Along a normal that is not of a triangle, an edge meets an edge or a corner: one of the contacts
 * with this normal (to 1e-9) is where the cube is lowest along it. Both triangles at an edge of the
 * ground find that point; their normals may differ by rounding, and each keeps its own. Returns how
 * many contacts have such a normal. */
static int check_edges(const cairn_world *world, const cairn_geometry *ground_faces,
                       cairn_pose cube)
{
    cairn_contacts c = cairn_world_contacts(world);
    int edges = 0;
    for (int j = 0; j < c.count; j++) {
        if (is_normal_of_ground(ground_faces, c.normal[j]))
            continue;
        CHECK_NEAR(missed_by(&c, j, lowest_corner(&cube, c.normal[j])), 0, 4e-8);
        edges++;
    }
    return edges;
}

/* A cube falls onto the hill and comes to rest with its top below it, almost flat on one side. */
TEST(every_normal_of_an_edge_keeps_its_deepest_point)
{
    const cairn_height_field_def field = {
        .columns = 3, .rows = 3, .spacing = { 1, 1 }, .heights = hills
    };
    cairn_shape floor = cairn_shape_default(CAIRN_SHAPE_HEIGHT_FIELD, 3);
    CHECK_OK(cairn_height_field_create(&field, &floor.geometry, NULL));
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    add_wall(world, floor, zero);
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    def.shape.size = (cairn_vec3){ 0.1, 0.1, 0.1 };
    def.position = (cairn_vec3){ -0.004565, -0.050509, 0.15 };
    def.angular_velocity = (cairn_vec3){ 1.51593, 2.88723, -4.0614 };
    CHECK_OK(cairn_body_create(world, &def, NULL));
    cairn_step_options options = step_by(0.002, "coulomb", 1e-3);
    int edges = 0;
    for (int k = 0; k < 700; k++) {
        const cairn_bodies b = cairn_world_bodies(world);
        const cairn_pose cube = { b.x[1], b.q[1] };
        advance(world, &options, 1);
        edges += check_edges(world, floor.geometry, cube);
    }
    CHECK(edges > 500);
    cairn_world_destroy(world);
    cairn_geometry_release(floor.geometry);
}

int main(void)
{
    RUN(CASE(a_box_slides_over_triangles_as_over_a_plane),
        CASE(a_ball_rolls_over_triangles_as_over_a_plane), CASE(a_large_plate_has_four_contacts),
        CASE(every_normal_of_an_edge_keeps_its_deepest_point));
}
