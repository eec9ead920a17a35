/* test_contacts.c - contacts of a world: found, merged, stored, matched with the last step,
 * assembled. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cairn/joint.h"
#include "math/vec.h"
#include "tests/check.h"
#include "tests/problems/worlds.h"
#include "world/step.h"
#include "world/world.h"

/* ==== test_contacts: candidates and contact frames ============================================ */

static const cairn_vec3 zero = { 0, 0, 0 };

/* candidates reach as far as the step can move things, and no further than that makes sense */
TEST(candidates_follow_the_speed)
{
    const double speeds[] = { 0, 1, 10 };
    const int expected[] = { 0, 0, 1 }; /* 0.2 m apart, h = 0.02 s */
    for (int i = 0; i < 3; i++) {
        cairn_world *world = new_world(3, 0, 0.3, 0);
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
        add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.3 }, (cairn_vec3){ 0, 0, -speeds[i] });
        cairn_step_options options = step_by(0.02, "convex", 1e-6);
        CHECK_INT(advance(world, &options, 1).candidates, expected[i]);
        cairn_world_destroy(world);
    }
}

TEST(a_margin_makes_candidates_of_things_further_away)
{
    cairn_world *world = new_world(3, 0, 0.3, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.3 }, zero);
    cairn_step_options options = step_by(0.02, "convex", 1e-6);
    options.margin = 0.25;
    CHECK_INT(advance(world, &options, 1).candidates, 1);
    cairn_world_destroy(world);
}

/* Two ellipsoids beside two balls: the least exact distance is theirs, and better than promised. */
TEST(the_worst_distance_of_a_step_is_recorded)
{
    cairn_world *world = new_world(3, 0, 0.3, 0);
    add_ball(world, 0.1, zero, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0.2, 0, 0 }, zero);
    cairn_step_options options = step_by(0.01, "convex", 1e-6);
    cairn_step_report report = advance(world, &options, 1);
    CHECK(report.certificate.distance == 0);
    CHECK_INT(report.distance_body[0], -1);
    for (int k = 0; k < 2; k++) {
        cairn_body_def def = cairn_body_def_default();
        def.shape = cairn_shape_default(CAIRN_SHAPE_ELLIPSOID, 3);
        def.shape.semi_axes = (cairn_vec3){ 0.1, 0.2, 0.3 };
        def.position = (cairn_vec3){ 5 + 0.15 * k, 0.13 * k, 0.11 * k };
        CHECK_OK(cairn_body_create(world, &def, NULL));
    }
    report = advance(world, &options, 1);
    CHECK_INT(report.candidates, 2);
    CHECK(report.certificate.distance > 0 && report.certificate.distance < 1e-10);
    CHECK_INT(report.distance_body[0], 2);
    CHECK_INT(report.distance_body[1], 3);
    cairn_world_destroy(world);
}

/* frames are right-handed and orthonormal, normals point from b to a */
TEST(contact_frames_are_orthonormal)
{
    cairn_world *world = new_heap(3, 0.3, 3);
    cairn_step_options options = step_by(0.005, "convex", 1e-4);
    advance(world, &options, 100);
    cairn_contacts c = cairn_world_contacts(world);
    cairn_bodies b = cairn_world_bodies(world);
    CHECK(c.count > 10);
    for (int j = 0; j < c.count; j++) {
        cairn_vec3 n = c.normal[j], t = c.tangent[j];
        CHECK_NEAR(n.x * n.x + n.y * n.y + n.z * n.z, 1, 1e-14);
        CHECK_NEAR(t.x * t.x + t.y * t.y + t.z * t.z, 1, 1e-14);
        CHECK_NEAR(n.x * t.x + n.y * t.y + n.z * t.z, 0, 1e-14);
        cairn_vec3 a = b.x[c.body[2 * j]], p = c.point[j];
        /* the ball a lies on the side of the point to which the normal shows */
        CHECK((a.x - p.x) * n.x + (a.y - p.y) * n.y + (a.z - p.z) * n.z > 0);
    }
    cairn_world_destroy(world);
}

/* A pile of 60 balls on a floor; a box far away has them go through the narrow phase of any shapes. */
static cairn_world *new_pile(bool box)
{
    cairn_world *world = new_world(3, 9.81, 0.3, 0);
    cairn_shape cube = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    cube.size = (cairn_vec3){ 1, 1, 1 };
    if (box)
        add_wall(world, cube, (cairn_vec3){ 100, 0, 0 });
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    for (int i = 0; i < 60; i++)
        add_ball(world, 0.05 + 0.0001 * i,
                 (cairn_vec3){ 0.11 * (i % 4), 0.11 * (i / 4 % 4), 0.06 + 0.11 * (i / 16) }, zero);
    return world;
}

TEST(balls_meet_alike_whatever_else_is_there)
{
    cairn_world *one = new_pile(false), *two = new_pile(true);
    cairn_step_options options = step_by(0.005, "convex", 1e-6);
    advance(one, &options, 40);
    advance(two, &options, 40);
    cairn_contacts a = cairn_world_contacts(one), b = cairn_world_contacts(two);
    CHECK(a.count > 60);
    CHECK_INT(a.count, b.count);
    CHECK(memcmp(a.gap, b.gap, (size_t)a.count * sizeof *a.gap) == 0);
    CHECK(memcmp(a.point, b.point, (size_t)a.count * sizeof *a.point) == 0);
    CHECK(memcmp(a.tangent, b.tangent, (size_t)a.count * sizeof *a.tangent) == 0);
    cairn_world_destroy(one);
    cairn_world_destroy(two);
}

/* A level rod of 2 m, 0.79 m above the floor; its tips go 1 m for each radian: 0.8 m in a step of
 * 0.02 s at 40 rad/s. */
TEST(turning_brings_candidates)
{
    const double spins[3] = { 0, 3, 40 };
    const int expected[3] = { 0, 0, 1 };
    for (int k = 0; k < 3; k++) {
        cairn_world *world = new_world(2, 0, 0.3, 0);
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
        cairn_body_def def = cairn_body_def_default();
        def.shape = cairn_shape_default(CAIRN_SHAPE_CAPSULE, 2);
        def.shape.radius = 0.01;
        def.shape.length = 2;
        def.shape.axis = (cairn_vec3){ 1, 0, 0 };
        def.position.y = 0.8;
        def.angular_velocity.z = spins[k];
        CHECK_OK(cairn_body_create(world, &def, NULL));
        cairn_step_options options = step_by(0.02, "convex", 1e-6);
        CHECK_INT(advance(world, &options, 1).candidates > 0, expected[k]);
        cairn_world_destroy(world);
    }
}

/* a spinning rod strikes a ball that rests beside it and never goes through it: what turns past it
 * in a step is less than its radius, or the step is refused */
TEST(a_turning_rod_does_not_pass_through_a_ball)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_CAPSULE, 2);
    def.shape.radius = 0.01;
    def.shape.length = 2;
    def.shape.axis = (cairn_vec3){ 1, 0, 0 };
    def.angular_velocity.z = 20; /* 0.02 rad and 0.018 m at the ball in a step of 1 ms */
    CHECK_OK(cairn_body_create(world, &def, NULL));
    int ball = add_ball(world, 0.02, (cairn_vec3){ 0, 0.9, 0 }, zero);
    cairn_step_options options = step_by(0.01, "convex", 1e-8);
    cairn_step_report report;
    double deepest = 0;
    cairn_status status = CAIRN_OK;
    options.max_substeps = 1;
    for (int k = 0; k < 100 && status == CAIRN_OK; k++)
        status = cairn_world_step(world, &options, &report);
    CHECK_INT(status, CAIRN_BAD_INPUT);
    options.time_step = 0.001;
    for (int k = 0; k < 1000; k++)
        deepest = fmax(deepest, advance(world, &options, 1).certificate.penetration);
    CHECK(deepest < 2e-4); /* curved within the step: (1 - cos 0.02) 0.9 = 1.8e-4 */
    CHECK(cairn_world_bodies(world).v[ball].x < -1);
    cairn_world_destroy(world);
}

/* Three cubes of edge 1, one on the other, shifted a little: nothing moves in a second. */
TEST(a_stack_of_cubes_stays)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    def.shape.size = (cairn_vec3){ 1, 1, 1 };
    for (int k = 0; k < 3; k++) {
        def.position = (cairn_vec3){ 0.1 * k, 0.05 * k, 0.5 + k };
        CHECK_OK(cairn_body_create(world, &def, NULL));
    }
    cairn_step_options options = step_by(0.005, "convex", 1e-8);
    CHECK_INT(advance(world, &options, 200).candidates, 12);
    cairn_bodies b = cairn_world_bodies(world);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(b.x[1 + k].x, 0.1 * k, 1e-5);
        CHECK_NEAR(b.x[1 + k].z, 0.5 + k, 1e-5);
    }
    cairn_world_destroy(world);
}

GROUP(test_contacts)
{
    RUN(CASE(candidates_follow_the_speed), CASE(a_margin_makes_candidates_of_things_further_away),
        CASE(the_worst_distance_of_a_step_is_recorded), CASE(contact_frames_are_orthonormal),
        CASE(balls_meet_alike_whatever_else_is_there), CASE(turning_brings_candidates),
        CASE(a_turning_rod_does_not_pass_through_a_ball), CASE(a_stack_of_cubes_stays));
}

/* ==== test_merge: bodies on flat regions made of triangles: as many contacts as on a plane,
 * and the motion on a plane. */

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

GROUP(test_merge)
{
    RUN(CASE(a_box_slides_over_triangles_as_over_a_plane),
        CASE(a_ball_rolls_over_triangles_as_over_a_plane), CASE(a_large_plate_has_four_contacts),
        CASE(every_normal_of_an_edge_keeps_its_deepest_point));
}

/* ==== test_contact_store: a list of contacts has memory for what its contacts can need ======== */

TEST(laws_that_nobody_has_take_no_memory)
{
    cairn_contact_store c = { 0 };
    CHECK_OK(cairn_contacts_reserve(&c, 800, 0, 3));
    CHECK_INT(c.capacity, 900); /* an eighth to spare */
    CHECK_INT(c.bytes, 900 * 156);
    CHECK(c.mu_2 == c.mu && c.adhesion == c.zeros && c.restitution == c.zeros);
    CHECK(!c.piece && !c.poisson);
    CHECK(c.zeros[899] == 0);
    cairn_contacts_release(&c);
}

TEST(a_law_that_comes_later_gets_its_column)
{
    cairn_contact_store c = { 0 };
    CHECK_OK(cairn_contacts_reserve(&c, 10, 0, 3));
    c.gap[9] = 7;
    CHECK_OK(cairn_contacts_reserve(&c, 10, CAIRN_CONTACTS_AXES | CAIRN_CONTACTS_PIECES, 3));
    CHECK(c.mu_2 != c.mu && c.piece);
    CHECK(c.adhesion == c.zeros);
    c.mu_2[10] = 1; /* all of the room there is */
    CHECK_INT(c.bytes, c.capacity * (156 + 8 + 16));
    CHECK_OK(cairn_contacts_reserve(&c, 100, CAIRN_CONTACTS_ALL, 3));
    CHECK(c.adhesion != c.zeros && c.restitution != c.zeros && c.poisson && c.moment != c.zeros);
    CHECK(c.gap[9] == 7);
    CHECK_INT(c.bytes, c.capacity * (156 + 8 + 16 + 9 + 8 + 16 + 48 + 12 + 24));
    cairn_contacts_release(&c);
}

TEST(without_memory_there_is_room_for_none)
{
    cairn_status status = CAIRN_NO_MEMORY;
    for (long n = 1; status != CAIRN_OK; n++) {
        cairn_contact_store c = { 0 };
        meter m = { .fail_at = n };
        meter_install(&m);
        status = cairn_contacts_reserve(&c, 5, CAIRN_CONTACTS_BOUNCE, 2);
        if (status == CAIRN_OK)
            status = cairn_contacts_reserve(&c, 50, CAIRN_CONTACTS_ALL, 2);
        CHECK_INT(status, m.calls >= n ? CAIRN_NO_MEMORY : CAIRN_OK);
        CHECK(status == CAIRN_OK || c.capacity == 0);
        cairn_contacts_release(&c);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
    }
}

/* A ball 0.003 above the floor: from its centre to its lowest point, and from the origin of the
 * floor to the point below. */
TEST(arms_end_at_the_witness_points)
{
    cairn_world *world = new_world(3, 0, 0.3, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, (cairn_vec3){ 1, 0, 0 });
    add_ball(world, 0.1, (cairn_vec3){ 0.4, 0.5, 0.103 }, (cairn_vec3){ 0, 0, -1 });
    cairn_step_options options = step_by(0.01, "convex", 1e-6);
    CHECK_INT(advance(world, &options, 1).candidates, 1);
    const cairn_vec3 x[2] = { { 1, 0, 0 }, { 0.4, 0.5, 0.103 } };
    cairn_vec3 a = cairn_contact_arm(&world->contacts, x, 0, 0);
    cairn_vec3 b = cairn_contact_arm(&world->contacts, x, 0, 1);
    CHECK_INT(world->contacts.body[0], 1);
    CHECK(cairn_norm(cairn_sub(a, cairn_vec(0, 0, -0.1))) < 1e-15);
    CHECK(cairn_norm(cairn_sub(b, cairn_vec(-0.6, 0.5, 0))) < 1e-15);
    CHECK_INT(cairn_contact_piece(&world->contacts, 0, 1).face, -1);
    cairn_world_destroy(world);
}

GROUP(test_contact_store)
{
    RUN(CASE(laws_that_nobody_has_take_no_memory), CASE(a_law_that_comes_later_gets_its_column),
        CASE(without_memory_there_is_room_for_none), CASE(arms_end_at_the_witness_points));
}

/* ==== test_warm: matching with the last step, and with the last attempt ======================= */

/* Sweeps of 20 steps. */
static int64_t count_sweeps(cairn_world *world, const cairn_step_options *options)
{
    int64_t sweeps = 0;
    for (int k = 0; k < 20; k++)
        sweeps += advance(world, options, 1).solve.iterations;
    return sweeps;
}

/* a ball slides round a cylinder: the normal turns each step, the push stays the same in size; the
 * carried impulse is nearly the next answer: cold steps need a sweep each, warm ones none */
TEST(impulses_are_carried_over_as_vectors_in_space)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    add_fixed(world, CAIRN_SHAPE_INSIDE_CYLINDER, 1, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0.9, 0, 0 }, (cairn_vec3){ 0, 1, 0 });
    cairn_step_options options = step_by(0.001, "convex", 1e-4);
    advance(world, &options, 3); /* then it moves along chords of the ring */
    CHECK_INT(count_sweeps(world, &options), 0);
    options.warm_start = false;
    CHECK_INT(count_sweeps(world, &options), 20);
    cairn_world_destroy(world);
}

/* contact order and warm start survive bodies that come and go */
TEST(removed_bodies_do_not_confuse_the_matching)
{
    cairn_world *world = new_world(2, 10, 0.5, 0);
    cairn_body_id ids[5];
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    for (int i = 0; i < 5; i++)
        ids[i] = (cairn_body_id){ (uint64_t)add_ball(world, 0.1, (cairn_vec3){ i, 0.1, 0 }, zero) };
    cairn_step_options options = step_by(0.01, "convex", 1e-10);
    advance(world, &options, 10);
    CHECK_INT(cairn_world_contacts(world).count, 5);
    CHECK_OK(cairn_body_destroy(world, ids[2]));
    cairn_step_report report = advance(world, &options, 1);
    CHECK_INT(report.candidates, 4);
    CHECK_INT(report.solve.iterations, 0); /* the other four were carried over exactly */
    cairn_world_destroy(world);
}

TEST(changing_the_time_step_scales_the_warm_start)
{
    cairn_world *world = new_world(2, 10, 0.5, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0.1, 0 }, zero);
    cairn_step_options options = step_by(0.01, "convex", 1e-10);
    advance(world, &options, 10);
    options.time_step = 0.002;
    CHECK_INT(advance(world, &options, 1).solve.iterations, 0); /* m g h is 1/5 of before */
    CHECK_NEAR(cairn_world_contacts(world).impulse[0], 0.02, 1e-12);
    cairn_world_destroy(world);
}

/* What an attempt leaves behind is the impulse of each contact as a vector in space. */
TEST(an_attempt_is_set_aside_in_space_axes)
{
    cairn_world *world = new_heap(3, 0.3, 3);
    cairn_step_options options = step_by(0.005, "convex", 1e-6);
    advance(world, &options, 60);
    cairn_contacts c = cairn_world_contacts(world);
    const cairn_step step = { .world = world };
    const cairn_answer answer = { .r = world->contacts.impulse };
    cairn_candidates found = { .before_attempts = cairn_arena_now(&world->scratch) };
    int count = c.count;
    CHECK(count > 5);
    CHECK_OK(cairn_step_set_aside(&step, &answer, &found));
    CHECK_INT(found.aside.count, count);
    CHECK_INT(world->contacts.count, 0);
    CHECK(found.warm == &found.aside && found.warm_ratio == 1);
    for (int j = 0; j < count; j++) {
        cairn_vec3 n = c.normal[j], t = c.tangent[j], b = cairn_cross(n, t);
        const double *r = c.impulse + 3 * j, *p = found.aside.impulse + 3 * j;
        cairn_vec3 push = cairn_vec(p[0], p[1], p[2]);
        CHECK_NEAR(cairn_dot(push, n), r[0], 1e-14);
        CHECK_NEAR(cairn_dot(push, t), r[1], 1e-14);
        CHECK_NEAR(cairn_dot(push, b), r[2], 1e-14);
        CHECK_INT(found.aside.body[2 * j], c.body[2 * j]);
    }
    cairn_world_destroy(world);
}

/* Balls in a row, the first hits the others hard: the step is done again with more candidates, and
 * momentum is what it was. */
TEST(a_step_that_is_done_again_is_solved_as_well)
{
    cairn_world *world = new_world(3, 0, 0.3, 0);
    for (int i = 0; i < 5; i++)
        add_ball(world, 0.1, (cairn_vec3){ 0.25 * i, 0, 0 }, (cairn_vec3){ i == 0 ? 20 : 0, 0, 0 });
    cairn_step_options options = step_by(0.01, "convex", 1e-10);
    cairn_step_report report = advance(world, &options, 1);
    double sum = 0;
    CHECK(report.attempts > 1);
    for (int i = 0; i < 5; i++)
        sum += cairn_world_bodies(world).v[i].x;
    CHECK_NEAR(sum, 20, 1e-12);
    CHECK(cairn_world_bodies(world).v[1].x > 1);
    cairn_world_destroy(world);
}

GROUP(test_warm)
{
    RUN(CASE(impulses_are_carried_over_as_vectors_in_space),
        CASE(removed_bodies_do_not_confuse_the_matching),
        CASE(changing_the_time_step_scales_the_warm_start),
        CASE(an_attempt_is_set_aside_in_space_axes),
        CASE(a_step_that_is_done_again_is_solved_as_well));
}

/* ==== test_ball_rows: which contacts of a world are given by their normal alone, and that
 * balls move the same however they are turned. */

static int add_cube(cairn_world *world, cairn_vec3 x)
{
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    def.shape.size = (cairn_vec3){ 0.2, 0.2, 0.2 };
    def.mass = 1;
    def.position = x;
    CHECK_OK(cairn_body_create(world, &def, &id));
    return cairn_body_row(world, id);
}

static const cairn_problem *problem_of(cairn_world *world)
{
    cairn_step_options options = step_by(0.01, "convex", 1e-8);
    advance(world, &options, 1);
    return cairn_world_problem(world, NULL);
}

/* How many contacts have rows of their own. */
static int stored(const cairn_problem *p)
{
    int count = 0;
    for (int j = 0; j < p->contacts; j++)
        count += !p->normal || (p->rows && p->rows[j] >= 0);
    return count;
}

TEST(balls_and_walls_need_no_rows)
{
    cairn_world *world = new_heap(3, 0.3, 3);
    cairn_step_options options = step_by(0.01, "convex", 1e-6);
    advance(world, &options, 20);
    const cairn_problem *p = problem_of(world);
    CHECK(p->contacts >= 9 && p->normal && !p->rows);
    CHECK_OK(cairn_problem_check(p, NULL));
    cairn_world_destroy(world);
}

/* ball on ball on floor, a cube beside: its 4 corners and its contact with a ball have rows */
TEST(a_cube_among_balls_has_rows)
{
    cairn_world *world = new_world(3, 9.81, 0.3, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, cairn_vec(0, 0, 0.1), zero);
    add_ball(world, 0.1, cairn_vec(0, 0, 0.3), zero);
    add_cube(world, cairn_vec(0.2, 0, 0.1));
    const cairn_problem *p = problem_of(world);
    CHECK_OK(cairn_problem_check(p, NULL));
    CHECK_INT(p->contacts, 7);
    CHECK_INT(stored(p), 5);
    cairn_world_destroy(world);
}

/* a ball that a joint holds is a body like any other; the one that lies on it as well */
TEST(a_ball_on_a_joint_has_rows)
{
    cairn_world *world = new_world(3, 9.81, 0.3, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, cairn_vec(0, 0, 0.1), zero);
    int held = add_ball(world, 0.1, cairn_vec(1, 0, 0.1), zero);
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = CAIRN_JOINT_BALL;
    def.a = (cairn_body_id){ cairn_world_bodies(world).uid[held] };
    def.anchor = cairn_vec(1, 0, 0.5);
    CHECK_OK(cairn_joint_create(world, &def, NULL));
    const cairn_problem *p = problem_of(world);
    CHECK_OK(cairn_problem_check(p, NULL));
    CHECK_INT(p->contacts, 3);
    CHECK_INT(stored(p), 2);
    cairn_world_destroy(world);
}

TEST(a_sphere_with_unequal_moments_has_rows)
{
    cairn_world *world = new_world(3, 9.81, 0.3, 0);
    cairn_body_def def = cairn_body_def_default();
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    def.shape.radius = 0.1;
    def.position = cairn_vec(0, 0, 0.1);
    def.mass = 1;
    def.inertia = cairn_vec(0.004, 0.004, 0.005);
    CHECK_OK(cairn_body_create(world, &def, NULL));
    CHECK_INT(stored(problem_of(world)), 1);
    cairn_world_destroy(world);
}

/* A ball that spins and slides, next to a cube: where it is after 0.3 s. */
static cairn_vec3 slide(cairn_quat turned, cairn_vec3 *spin)
{
    cairn_world *world = new_world(3, 9.81, 0.2, 0);
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_cube(world, cairn_vec(0.35, 0, 0.1));
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    def.shape.radius = 0.1;
    def.mass = 1;
    def.orientation = turned;
    def.position = cairn_vec(0, 0, 0.1);
    def.velocity = cairn_vec(1, 0.2, 0);
    def.angular_velocity = cairn_rotate_back(turned, cairn_vec(3, -2, 10));
    CHECK_OK(cairn_body_create(world, &def, &id));
    cairn_step_options options = step_by(0.01, "coulomb", 1e-12);
    advance(world, &options, 30);
    cairn_bodies bodies = cairn_world_bodies(world);
    int row = cairn_body_row(world, id);
    *spin = cairn_rotate(bodies.q[row], bodies.omega[row]);
    cairn_vec3 x = bodies.x[row];
    cairn_world_destroy(world);
    return x;
}

TEST(how_a_ball_is_turned_does_not_matter)
{
    cairn_vec3 spin[2], x[2];
    x[0] = slide((cairn_quat){ 1, 0, 0, 0 }, &spin[0]);
    x[1] = slide((cairn_quat){ 0.5, -0.5, 0.1, 0.7 }, &spin[1]);
    CHECK(x[0].x > 0.1 && cairn_norm(spin[0]) > 1);
    CHECK_NEAR(cairn_norm(cairn_sub(x[0], x[1])), 0, 1e-10);
    CHECK_NEAR(cairn_norm(cairn_sub(spin[0], spin[1])), 0, 1e-8);
}

GROUP(test_ball_rows)
{
    RUN(CASE(balls_and_walls_need_no_rows), CASE(a_cube_among_balls_has_rows),
        CASE(a_ball_on_a_joint_has_rows), CASE(a_sphere_with_unequal_moments_has_rows),
        CASE(how_a_ball_is_turned_does_not_matter));
}

/* ==== test_assemble: what goes into the one-step problem, seen through its effects.
 * The rows of H are the derivatives of relative velocities, the bias closes gaps, restitution
 * bounces, driven bodies impose their velocity. */

/* the linearised gap is closed exactly in one step: g + h u_N = 0 */
TEST(the_bias_closes_a_gap_in_one_step)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.5, (cairn_vec3){ 0, 0.51, 0 }, (cairn_vec3){ 0, -3, 0 });
    cairn_step_options options = step_by(0.01, "convex", 1e-12);
    advance(world, &options, 1);
    CHECK_NEAR(cairn_world_bodies(world).v[1].y, -1, 1e-12); /* -0.01 m / 0.01 s */
    CHECK_NEAR(cairn_world_bodies(world).x[1].y, 0.5, 1e-14);
    cairn_world_destroy(world);
}

TEST(stabilisation_closes_a_share_of_the_gap)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.5, (cairn_vec3){ 0, 0.51, 0 }, (cairn_vec3){ 0, -3, 0 });
    cairn_step_options options = step_by(0.01, "convex", 1e-12);
    options.stabilisation = 0.25;
    advance(world, &options, 1);
    CHECK_NEAR(cairn_world_bodies(world).x[1].y, 0.5075, 1e-14);
    cairn_world_destroy(world);
}

TEST(restitution_acts_only_where_the_contact_closes)
{
    cairn_world *world = new_world(2, 0, 0, 0.5);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.5, (cairn_vec3){ 0, 0.55, 0 }, (cairn_vec3){ 0, -3, 0 });
    cairn_step_options options = step_by(0.01, "convex", 1e-12);
    advance(world, &options, 1); /* 0.05 m away: 0.03 m a step */
    CHECK_NEAR(cairn_world_bodies(world).v[1].y, -3, 1e-12);
    advance(world, &options, 1);
    CHECK_NEAR(cairn_world_bodies(world).v[1].y, 1.5, 1e-12);
    cairn_world_destroy(world);
}

/* a belt: a driven floor moving sideways drags a ball until it rolls with 2/7 of its speed */
TEST(a_driven_floor_drags_a_ball)
{
    cairn_world *world = new_world(3, 10, 0.2, 0);
    cairn_driver belt = cairn_driver_default(CAIRN_DRIVER_VELOCITY);
    cairn_body_def floor = cairn_body_def_default();
    belt.velocity.x = 0.7;
    floor.motion = CAIRN_MOTION_DRIVEN;
    floor.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    floor.drivers = &belt;
    floor.driver_count = 1;
    CHECK_OK(cairn_body_create(world, &floor, NULL));
    add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.1 }, zero);
    cairn_step_options options = step_by(0.001, "fixed-point", 1e-10);
    advance(world, &options, 50); /* sliding: 0.05 s * mu g = 0.1 m/s */
    CHECK_NEAR(cairn_world_bodies(world).v[1].x, 0.1, 1e-9);
    advance(world, &options, 500);
    CHECK_NEAR(cairn_world_bodies(world).v[1].x, 0.2, 1e-9); /* 2/7 * 0.7 */
    CHECK_NEAR(cairn_world_bodies(world).omega[1].y * 0.1, -0.5, 1e-9);
    cairn_world_destroy(world);
}

/* a turning drum carries a disk up its wall: surface speed = omega R */
TEST(a_turning_drum_imposes_its_surface_speed)
{
    cairn_world *world = new_world(2, 0.001, 1, 0);
    cairn_driver turn = cairn_driver_default(CAIRN_DRIVER_ROTATION);
    cairn_body_def drum = cairn_body_def_default();
    turn.angular_velocity.z = 2;
    drum.motion = CAIRN_MOTION_DRIVEN;
    drum.shape = cairn_shape_default(CAIRN_SHAPE_INSIDE_CYLINDER, 2);
    drum.shape.radius = 1;
    drum.drivers = &turn;
    drum.driver_count = 1;
    CHECK_OK(cairn_body_create(world, &drum, NULL));
    add_ball(world, 0.1, (cairn_vec3){ 0, -0.9, 0 }, zero);
    cairn_step_options options = step_by(0.001, "fixed-point", 1e-10);
    advance(world, &options, 1);
    cairn_contacts c = cairn_world_contacts(world);
    CHECK_INT(c.count, 1);
    /* normal up, tangent z x n = -x: the drum's bottom moves with +2 m/s along x, so the disk's
     * point moves with +2 along the tangent relative to it, but for what friction took */
    CHECK_NEAR(c.velocity[1], 2, 1e-4);
    cairn_world_destroy(world);
}

/* unequal inertia and a turned body: the angular rows are in the body frame */
TEST(angular_rows_follow_the_orientation)
{
    cairn_world *world = new_world(3, 10, 1, 0);
    cairn_body_def ball = cairn_body_def_default();
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    ball.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    ball.shape.radius = 1;
    ball.mass = 1;
    ball.inertia = (cairn_vec3){ 0.2, 0.3, 0.4 };
    ball.orientation = (cairn_quat){ sqrt(0.5), 0, 0, sqrt(0.5) }; /* x of the body = y */
    ball.position.z = 1;
    ball.velocity.x = 1e-3;
    CHECK_OK(cairn_body_create(world, &ball, NULL));
    cairn_step_options options = step_by(1e-3, "fixed-point", 1e-12);
    advance(world, &options, 1);
    /* it sticks: r_T = -1e-3/(1/m + 1/J_x), turning about world y = body x with J = 0.2 */
    double speed = 1e-3 - 1e-3 / (1 + 1 / 0.2);
    CHECK_NEAR(cairn_world_bodies(world).v[1].x, speed, 1e-12);
    CHECK_NEAR(cairn_world_bodies(world).omega[1].x, speed, 1e-12);
    CHECK_NEAR(cairn_world_bodies(world).omega[1].y, 0, 1e-12);
    cairn_world_destroy(world);
}

GROUP(test_assemble)
{
    RUN(CASE(the_bias_closes_a_gap_in_one_step), CASE(stabilisation_closes_a_share_of_the_gap),
        CASE(restitution_acts_only_where_the_contact_closes), CASE(a_driven_floor_drags_a_ball),
        CASE(a_turning_drum_imposes_its_surface_speed), CASE(angular_rows_follow_the_orientation));
}
