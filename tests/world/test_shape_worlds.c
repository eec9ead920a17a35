/* test_shape_worlds.c - worlds and scenes of bodies that are no balls. */
#include "cairn/scene.h"
#include "math/vec.h"
#include "tests/check.h"
#include "tests/problems/worlds.h"

/* ==== test_shape_worlds: worlds of bodies that are no balls: stacks, arches, rolling, hanging.
 * Larger versions are in scenes/. */

static const cairn_vec3 zero = { 0, 0, 0 };
static const double pi = 3.14159265358979323846;

static int add_shape(cairn_world *world, cairn_shape shape, cairn_vec3 x)
{
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    def.shape = shape;
    def.position = x;
    CHECK_OK(cairn_body_create(world, &def, &id));
    return cairn_body_row(world, id);
}

static cairn_shape box_of(double x, double y, double z)
{
    cairn_shape box = cairn_shape_default(CAIRN_SHAPE_BOX, z > 0 ? 3 : 2);
    box.size = (cairn_vec3){ x, y, z };
    return box;
}

/* Largest distance of a body from where it was made. */
static double drift_of(const cairn_world *world, const cairn_vec3 *places)
{
    const cairn_bodies b = cairn_world_bodies(world);
    double drift = 0;
    for (int i = 0; i < b.count; i++)
        drift = fmax(drift, cairn_norm(cairn_sub(b.x[i], places[i])));
    return drift;
}

/* ---- stacks --------------------------------------------------------------------------------- */

/* How far the body that moved most of ten boxes, each a little aside of the one below, is after
 * 2 s. */
static double drift_of_stack(int dimension, const char *overlaps)
{
    cairn_world *world = new_world(dimension, 9.81, 0.5, 0);
    cairn_vec3 places[11] = { { 0, 0, 0 } };
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    for (int i = 0; i < 10; i++) {
        double aside = 0.05 * (i % 2), up = 0.5 + i;
        places[i + 1] = dimension == 2 ? cairn_vec(aside, up, 0) : cairn_vec(aside, 0, up);
        add_shape(world, box_of(1, 1, dimension - 2), places[i + 1]);
    }
    cairn_step_options options = step_by(0.01, "convex", 1e-8);
    options.overlaps = overlaps;
    cairn_step_report report = advance(world, &options, 200);
    CHECK_INT(report.candidates, dimension == 2 ? 20 : 40);
    double drift = drift_of(world, places);
    cairn_world_destroy(world);
    return drift;
}

/* boxes of 1 m: nanometres, and less where every overlap is pushed out at once */
TEST(a_stack_of_ten_boxes_stays_where_it_is)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        CHECK(drift_of_stack(dimension, "push") < 1e-9);
        CHECK(drift_of_stack(dimension, "move") < 1e-8);
    }
}

/* 40 planks in 20 layers of two, crossed */
TEST(a_tower_of_planks_stands)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_vec3 places[41] = { { 0, 0, 0 } };
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    for (int i = 0; i < 40; i++) {
        double aside = i % 2 ? 0.048 : -0.048, up = 0.004 + 0.008 * (i / 2);
        bool along_x = i / 2 % 2 == 0;
        places[i + 1] = cairn_vec(along_x ? 0 : aside, along_x ? aside : 0, up);
        add_shape(world, along_x ? box_of(0.12, 0.024, 0.008) : box_of(0.024, 0.12, 0.008),
                  places[i + 1]);
    }
    cairn_step_options options = step_by(0.01, "convex", 1e-6);
    options.solver = "newton";
    advance(world, &options, 50);
    CHECK(drift_of(world, places) < 1e-6);
    cairn_world_destroy(world);
}

/* How far a cylinder of radius 0.2 m and height 1 m is after 2 s that is pulled sideways by
 * tan(angle) = share R/(H/2), in a direction. */
static double drift_of_pulled(double share, double direction, bool on_box)
{
    cairn_world *world = new_world(3, 9.81, 2, 0);
    cairn_vec3 places[2] = { { 0, 0, 0 }, { 0, 0, 0.5 } };
    double slope = share * 0.4, along = slope * cos(direction), aside = slope * sin(direction);
    cairn_shape cylinder = cairn_shape_default(CAIRN_SHAPE_CYLINDER, 3);
    cylinder.radius = 0.2;
    cylinder.height = 1;
    if (on_box) {
        cairn_body_def floor = cairn_body_def_default();
        floor.shape = box_of(2, 2, 1);
        floor.motion = CAIRN_MOTION_FIXED;
        floor.position = places[0] = cairn_vec(0, 0, -0.5);
        CHECK_OK(cairn_body_create(world, &floor, NULL));
    } else {
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    }
    add_shape(world, cylinder, places[1]);
    cairn_vec3 down = cairn_scale(9.81, cairn_unit(cairn_vec(along, aside, -1)));
    CHECK_OK(cairn_world_set_gravity(world, down));
    cairn_step_options options = step_by(0.01, "coulomb", 1e-3);
    cairn_step_report report = advance(world, &options, 200);
    CHECK(share > 1 || report.candidates == 8);
    double drift = drift_of(world, places);
    cairn_world_destroy(world);
    return drift;
}

/* The disk reaches R in every direction, eight points of its rim only 0.92 R in eight of them: from
 * there on it leans by less than 1 mm on the lowest point of the rim. */
TEST(a_cylinder_stands_as_far_as_its_rim_reaches)
{
    for (int k = 0; k < 4; k++) {
        double direction = k * pi / 16;
        for (int on_box = 0; on_box < 2; on_box++) {
            CHECK(drift_of_pulled(0.9, direction, on_box) < 1e-3);
            CHECK(drift_of_pulled(0.98, direction, on_box) < 1e-3);
            CHECK(drift_of_pulled(1.01, direction, on_box) > 0.1);
        }
    }
}

/* the same pairs in the same order, so the same bits */
TEST(the_broad_phase_does_not_change_a_bit)
{
    uint64_t hash = 0;
    for (int k = 0; cairn_broad_phase_name(k); k++) {
        cairn_world *world = new_world(3, 9.81, 0.3, 0);
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
        for (int i = 0; i < 20; i++) {
            cairn_vec3 x = { 0.3 * (i % 3), 0.2 * (i % 2), 0.3 + 0.5 * i };
            add_shape(world, i % 4 ? box_of(0.5, 0.4, 0.3) : box_of(2, 0.1, 0.1), x);
        }
        cairn_step_options options = step_by(0.005, "convex", 1e-4);
        options.broad_phase = cairn_broad_phase_name(k);
        advance(world, &options, 100);
        CHECK(k == 0 || cairn_world_hash(world) == hash);
        hash = cairn_world_hash(world);
        cairn_world_destroy(world);
    }
}

/* ---- the arch ------------------------------------------------------------------------------- */

static cairn_shape polygon_of(const cairn_vec3 *points)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_POLYHEDRON, 2);
    CHECK_OK(cairn_hull_create(points, 4, 2, &shape.geometry, NULL));
    return shape;
}

/* How far the keystone of scenes/arch_three_stones_2d.yaml sinks in half a second. */
static double sink_of_keystone(double mu)
{
    const double t = tan(pi / 9), s = 0.3, l = 1.8;
    const cairn_vec3 stones[3][4] = {
        { { -l, 0, 0 }, { -s, 0, 0 }, { -s - t, 1, 0 }, { -l, 1, 0 } },
        { { -s - 0.2 * t, 0.2, 0 }, { s + 0.2 * t, 0.2, 0 }, { s + t, 1, 0 }, { -s - t, 1, 0 } },
        { { s, 0, 0 }, { l, 0, 0 }, { l, 1, 0 }, { s + t, 1, 0 } },
    };
    cairn_world *world = new_world(2, 9.81, mu, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    for (int k = 0; k < 3; k++) {
        cairn_shape stone = polygon_of(stones[k]);
        add_shape(world, stone, zero);
        cairn_geometry_release(stone.geometry);
    }
    double before = cairn_world_bodies(world).x[2].y;
    cairn_step_options options = step_by(0.005, "convex", 1e-8);
    advance(world, &options, 100);
    double sunk = before - cairn_world_bodies(world).x[2].y;
    cairn_world_destroy(world);
    return sunk;
}

/* Joints inclined by a = 20 degrees, keystone of weight W between blocks of weight P: it stands iff
 * tan(f) tan(a + f) >= c = 1/(1 + 2 P/W), f the angle of friction; solved for mu = tan(f). */
TEST(an_arch_of_three_stones_stands_from_its_critical_friction_on)
{
    double t = tan(pi / 9), keystone = 2 * (0.3 + 0.6 * t) * 0.8, block = 1.5 - t / 2;
    double c = 1 / (1 + 2 * block / keystone), a = t * (1 + c);
    double critical = 0.5 * (sqrt(a * a + 4 * c) - a);
    CHECK_NEAR(critical, 0.3132, 1e-4);
    CHECK(fabs(sink_of_keystone(1.005 * critical)) < 1e-9);
    CHECK(sink_of_keystone(0.995 * critical) > 1e-5);
    CHECK(sink_of_keystone(0.8 * critical) > 1e-2);
}

/* ---- references ----------------------------------------------------------------------------- */

/* Semi-axes 4 and 2, from 8 m with 3 rad/s: as the Lagrangian system of test_lagrange_step.c, to
 * all digits known. */
TEST(an_ellipse_falls_on_a_table_as_computed_elsewhere)
{
    static const struct row {
        double h, after_2[3], after_10[3];
    } rows[] = {
        { 0.05,
          { -1.1048407976, 2.5195970930, 3.5917763757 },
          { -0.8325107997, 2.0679967657, 3.2963210866 } },
        { 0.01,
          { -0.2800933306, 2.1366683547, 3.3598199136 },
          { -0.3533683893, 2.1960024817, 3.4064688225 } },
    };
    for (int k = 0; k < 2; k++) {
        cairn_world *world = new_world(2, 9.81, 0.3, 0);
        cairn_body_def def = cairn_body_def_default();
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
        def.shape = cairn_shape_default(CAIRN_SHAPE_ELLIPSOID, 2);
        def.shape.semi_axes = (cairn_vec3){ 4, 2, 0 };
        def.position.y = 8;
        def.angular_velocity.z = 3;
        def.mass = 1;
        CHECK_OK(cairn_body_create(world, &def, NULL));
        CHECK_NEAR(cairn_world_bodies(world).inertia[1].z, 5, 1e-12); /* (16 + 4)/4 */
        cairn_step_options options = step_by(rows[k].h, "convex", 1e-12);
        options.overlaps = "push"; /* as the reference */
        for (int part = 0; part < 2; part++) {
            const double *q = part ? rows[k].after_10 : rows[k].after_2;
            advance(world, &options, (int)lround((part ? 8 : 2) / rows[k].h));
            const cairn_bodies b = cairn_world_bodies(world);
            CHECK_NEAR(b.x[1].x, q[0], 1e-9);
            CHECK_NEAR(b.x[1].y, q[1], 1e-9);
            CHECK_NEAR(b.angle[1], q[2], 1e-9);
        }
        cairn_world_destroy(world);
    }
}

/* What became of the rod of [ST96] 5 in 1 s of steps of 0.0025 s. */
typedef struct rod_run {
    double first, second; /* s: start of the step in which one, then both ends push      */
    double push;          /* N s: sum of the normal impulses                             */
    double penetration;   /* m                                                           */
    cairn_vec3 x;
    double angle;
} rod_run;

static rod_run drop_rod(int linearisations)
{
    cairn_world *world = new_world(2, 9.81, 0.6, 0);
    cairn_body_def def = cairn_body_def_default();
    rod_run run = { 0 };
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    def.shape = cairn_shape_default(CAIRN_SHAPE_CAPSULE, 2);
    def.shape.radius = 0.05;
    def.shape.length = 0.5;
    def.shape.axis = (cairn_vec3){ 1, 0, 0 };
    def.position.y = 1;
    def.angle = pi / 6;
    def.angular_velocity.z = 4;
    def.mass = 1;
    def.inertia.z = 0.002;
    CHECK_OK(cairn_body_create(world, &def, NULL));
    cairn_step_options options = step_by(0.0025, "stewart-trinkle", 1e-12);
    options.overlaps = "push"; /* as the reference */
    options.linearisations = linearisations;
    for (int k = 0; k < 400; k++) {
        cairn_step_report report = advance(world, &options, 1);
        const cairn_contacts c = cairn_world_contacts(world);
        for (int j = 0; j < c.count; j++)
            run.push += c.impulse[2 * j];
        run.first = run.first == 0 && report.active > 0 ? k * 0.0025 : run.first;
        run.second = run.second == 0 && report.active > 1 ? k * 0.0025 : run.second;
        run.penetration = fmax(run.penetration, report.certificate.penetration);
    }
    run.x = cairn_world_bodies(world).x[1];
    run.angle = cairn_world_bodies(world).angle[1];
    cairn_world_destroy(world);
    return run;
}

/* the events and numbers of the Lagrangian system of test_lagrange_step.c; m g T = 9.81 */
TEST(a_spinning_rod_strikes_with_one_end_then_the_other)
{
    rod_run run = drop_rod(100);
    CHECK_NEAR(run.first, 0.3825, 1e-9);
    CHECK_NEAR(run.second, 0.5475, 1e-9);
    CHECK_NEAR(run.push, 9.81, 1e-9);
    CHECK_NEAR(run.x.x, -0.2307863285, 1e-9);
    CHECK_NEAR(run.x.y, 0.05, 1e-9);
    CHECK_NEAR(run.angle, pi, 1e-9);
    CHECK_NEAR(run.penetration, 0, 1e-14);
    run = drop_rod(1);
    CHECK_NEAR(run.x.x, -0.2300680349, 1e-9);
    CHECK_NEAR(run.penetration, 3.5e-7, 1e-8);
}

/* ---- pieces --------------------------------------------------------------------------------- */

/* a dumbbell of two balls rests on both, each with half its weight */
TEST(a_compound_rests_on_its_parts)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_part parts[2] = { 0 };
    cairn_shape dumbbell = cairn_shape_default(CAIRN_SHAPE_COMPOUND, 3);
    for (int k = 0; k < 2; k++) {
        parts[k].shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
        parts[k].shape.radius = 0.1;
        parts[k].pose = (cairn_pose){ { k ? 0.3 : -0.3, 0, 0 }, { 1, 0, 0, 0 } };
    }
    CHECK_OK(cairn_compound_create(parts, 2, 3, &dumbbell.geometry, NULL));
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    int body = add_shape(world, dumbbell, (cairn_vec3){ 0, 0, 0.1 });
    cairn_geometry_release(dumbbell.geometry);
    cairn_step_options options = step_by(0.01, "convex", 1e-9);
    advance(world, &options, 50);
    const cairn_contacts c = cairn_world_contacts(world);
    double weight = cairn_world_bodies(world).mass[body] * 9.81 * 0.01;
    CHECK_INT(c.count, 2);
    CHECK_CLOSE(c.impulse[0], weight / 2, 1e-6);
    CHECK_CLOSE(c.impulse[3], weight / 2, 1e-6);
    CHECK_NEAR(cairn_world_bodies(world).x[body].z, 0.1, 1e-9);
    cairn_world_destroy(world);
}

/* The cube [-1/2, 1/2]^3 as a mesh of twelve triangles. */
static cairn_shape cube_mesh(void)
{
    static const int32_t triangles[36] = { 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                           2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5 };
    cairn_vec3 vertices[8];
    for (int k = 0; k < 8; k++)
        vertices[k] = cairn_vec(k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, k & 4 ? 0.5 : -0.5);
    const cairn_mesh_def def = { vertices, 8, triangles, 12 };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_MESH, 3);
    CHECK_OK(cairn_mesh_create(&def, &shape.geometry, NULL));
    return shape;
}

/* a mesh slides to a stop as the box it is: v^2/(2 mu g) */
TEST(a_cube_of_triangles_slides_as_a_box)
{
    double way[2];
    for (int k = 0; k < 2; k++) {
        cairn_world *world = new_world(3, 9.81, 0.4, 0);
        cairn_body_def def = cairn_body_def_default();
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
        def.shape = k ? cube_mesh() : box_of(1, 1, 1);
        def.position.z = 0.5;
        def.velocity.x = 2;
        CHECK_OK(cairn_body_create(world, &def, NULL));
        cairn_geometry_release(def.shape.geometry);
        cairn_step_options options = step_by(0.005, "coulomb", 1e-8);
        advance(world, &options, 150);
        const cairn_bodies b = cairn_world_bodies(world);
        way[k] = b.x[1].x;
        CHECK_NEAR(b.x[1].z, 0.5, 1e-7);
        CHECK_NEAR(cairn_norm(b.v[1]), 0, 1e-6);
        cairn_world_destroy(world);
    }
    CHECK_NEAR(way[1], way[0], 1e-6);
    CHECK_CLOSE(way[1], 4 / (2 * 0.4 * 9.81), 0.02);
}

/* two meshes, one on the other */
TEST(a_mesh_stands_on_a_mesh)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_shape cube = cube_mesh();
    cairn_vec3 places[3] = { { 0, 0, 0 }, { 0, 0, 0.5 }, { 0.2, 0.1, 1.5 } };
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_shape(world, cube, places[1]);
    add_shape(world, cube, places[2]);
    cairn_geometry_release(cube.geometry);
    cairn_step_options options = step_by(0.01, "convex", 1e-8);
    advance(world, &options, 50);
    CHECK(drift_of(world, places) < 1e-7);
    cairn_world_destroy(world);
}

/* ---- failures ------------------------------------------------------------------------------- */

/* Three cubes of triangles, one on the other, the lowest fixed, and a step. */
static cairn_status stack_and_step(const cairn_shape *cube, cairn_world **world)
{
    cairn_world_def def = cairn_world_def_default();
    cairn_material_def material = cairn_material_def_default();
    cairn_step_options options = step_by(0.01, "convex", 1e-3);
    cairn_step_report report;
    cairn_status status = cairn_world_create(&def, world);
    if (status == CAIRN_OK)
        status = cairn_material_create(*world, &material, NULL);
    for (int k = 0; k < 3 && status == CAIRN_OK; k++) {
        cairn_body_def body = cairn_body_def_default();
        body.shape = *cube;
        body.motion = k ? CAIRN_MOTION_DYNAMIC : CAIRN_MOTION_FIXED;
        body.position.z = k;
        status = cairn_body_create(*world, &body, NULL);
    }
    return status == CAIRN_OK ? cairn_world_step(*world, &options, &report) : status;
}

TEST(each_failed_allocation_is_told_and_nothing_leaks)
{
    cairn_shape cube = cube_mesh();
    for (long n = 1;; n++) {
        cairn_world *world = NULL;
        meter m = { .fail_at = n };
        meter_install(&m);
        cairn_status status = stack_and_step(&cube, &world);
        cairn_world_destroy(world);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
        if (m.calls < n) {
            CHECK_OK(status);
            CHECK(n > 20);
            break;
        }
        CHECK_INT(status, CAIRN_NO_MEMORY);
    }
    cairn_geometry_release(cube.geometry);
}

GROUP(test_shape_worlds)
{
    RUN(CASE(a_stack_of_ten_boxes_stays_where_it_is), CASE(a_tower_of_planks_stands),
        CASE(a_cylinder_stands_as_far_as_its_rim_reaches),
        CASE(the_broad_phase_does_not_change_a_bit),
        CASE(an_arch_of_three_stones_stands_from_its_critical_friction_on),
        CASE(an_ellipse_falls_on_a_table_as_computed_elsewhere),
        CASE(a_spinning_rod_strikes_with_one_end_then_the_other),
        CASE(a_compound_rests_on_its_parts), CASE(a_cube_of_triangles_slides_as_a_box),
        CASE(a_mesh_stands_on_a_mesh), CASE(each_failed_allocation_is_told_and_nothing_leaks));
}

/* ==== test_shape_scenes: scenes/ with bodies that are no balls, made short: each states a physical
 * fact. */

/* A scene of scenes/ with overrides, NULL at the end. */
static cairn_scene *load(const char *name, const char *const *overrides)
{
    char path[512];
    cairn_scene *scene = NULL;
    cairn_error error = { 0 };
    int count = 0;
    while (overrides && overrides[count])
        count++;
    snprintf(path, sizeof path, "%s/scenes/%s.yaml", CAIRN_SOURCE_DIR, name);
    cairn_status status = cairn_scene_load(path, overrides, count, &scene, &error);
    if (status != CAIRN_OK)
        fprintf(stderr, "%s: %s\n", error.key, error.message);
    CHECK_OK(status);
    return scene;
}

/* Steps until a time; the worst certificate of all. */
static cairn_certificate run(cairn_scene *scene, double until)
{
    cairn_certificate worst = { 0 };
    while (cairn_world_time(scene->world) < until - 1e-9) {
        cairn_step_report report = advance(scene->world, &scene->step, 1);
        worst.penetration = fmax(worst.penetration, report.certificate.penetration);
        worst.distance = fmax(worst.distance, report.certificate.distance);
    }
    return worst;
}

/* How far the body that moved most is from its place at the start. */
static double drift_of_scene(const cairn_scene *scene, const cairn_vec3 *start)
{
    cairn_bodies b = cairn_world_bodies(scene->world);
    double drift = 0;
    for (int i = 0; i < b.count; i++)
        drift = fmax(drift, cairn_norm(cairn_sub(b.x[i], start[i])));
    return drift;
}

static double drift_after(const char *name, const char *const *overrides, double until)
{
    cairn_vec3 start[128];
    cairn_scene *scene = load(name, overrides);
    cairn_bodies b = cairn_world_bodies(scene->world);
    CHECK(b.count <= 128);
    for (int i = 0; i < b.count; i++)
        start[i] = b.x[i];
    run(scene, until);
    double drift = drift_of_scene(scene, start);
    cairn_scene_destroy(scene);
    return drift;
}

/* ---- what stands, and what does not --------------------------------------------------------- */

/* 40 of the 500 planks */
TEST(a_plank_tower_stands)
{
    const char *const few[] = { "generators.0.grid.count=[1,2,10]",
                                "generators.1.grid.count=[2,1,10]", NULL };
    CHECK(drift_after("plank_tower", few, 0.5) < 1e-6);
}

/* 11 stones: friction 0.6 holds them, with 0.2 they slide apart. */
TEST(an_arch_stands_by_friction)
{
    const char *const smooth[] = { "materials.stone.friction=0.2", NULL };
    CHECK(drift_after("arch_2d", NULL, 0.5) < 1e-6);
    CHECK(drift_after("arch_2d", smooth, 0.5) > 0.01);
}

/* The bar in the hook under the whole load: what it is held by is its weight and 2 kN. */
TEST(a_hook_holds_its_load)
{
    const char *const soon[] = { "bodies.1.loads.0.table.time=[0,0.1]", NULL };
    cairn_scene *scene = load("hook", soon);
    cairn_vec3 start = cairn_world_bodies(scene->world).x[1];
    run(scene, 0.6);
    cairn_contacts c = cairn_world_contacts(scene->world);
    cairn_vec3 held = { 0, 0, 0 };
    for (int j = 0; j < c.count; j++) {
        const double *r = c.impulse + 3 * j;
        cairn_vec3 n = c.normal[j], t = c.tangent[j];
        cairn_vec3 f = cairn_add_scaled(cairn_scale(r[0], n), r[1], t);
        f = cairn_add_scaled(f, r[2], cairn_cross(n, t));
        held = cairn_add_scaled(held, (c.body[2 * j] == 1 ? 1 : -1) / scene->step.time_step, f);
    }
    double weight = 9.81 * cairn_world_bodies(scene->world).mass[1];
    CHECK_NEAR(weight, 9.81 * 7800 * 0.02 * 0.02 * 0.1 * 3.14159265358979, 1e-6);
    CHECK_NEAR(held.z, weight + 2000, 0.5);
    CHECK_NEAR(held.x, 0, 0.5);
    CHECK(cairn_norm(cairn_sub(cairn_world_bodies(scene->world).x[1], start)) < 0.01);
    cairn_scene_destroy(scene);
}

/* ---- what turns ----------------------------------------------------------------------------- */

/* Means over six teeth of the pinion, once it runs. */
typedef struct meshing {
    double speed[2];  /* rad/s: of pinion and wheel                              */
    double torque[2]; /* N m: of motor and brake                                 */
    double lag[2];    /* rad: least and most of the wheel behind half the pinion */
} meshing;

static meshing turn_gears(const char *override)
{
    enum { START = 200, STEPS = 698 }; /* 6 teeth: 2 pi 6/18/3 s */
    const char *const overrides[] = { override, NULL };
    cairn_scene *scene = load("gears", overrides);
    meshing m = { .lag = { INFINITY, -INFINITY } };
    double time = STEPS * scene->step.time_step, first[2];
    run(scene, START * scene->step.time_step);
    for (int j = 0; j < 2; j++)
        first[j] = cairn_world_joint(scene->world, j).turn;
    for (int k = 0; k < STEPS; k++) {
        cairn_step_report report = advance(scene->world, &scene->step, 1);
        const cairn_joint_state joint[2] = { cairn_world_joint(scene->world, 0),
                                             cairn_world_joint(scene->world, 1) };
        double behind = 0.5 * joint[0].turn + joint[1].turn;
        m.lag[0] = fmin(m.lag[0], behind);
        m.lag[1] = fmax(m.lag[1], behind);
        for (int j = 0; j < 2; j++) {
            m.torque[j] += joint[j].torque.z / STEPS;
            m.speed[j] = (joint[j].turn - first[j]) / time;
        }
        CHECK(report.solve.converged && report.certificate.penetration < 1e-6);
    }
    cairn_scene_destroy(scene);
    return m;
}

/* Of 0.2 mm backlash half is taken up: the wheel is 0.1 mm/180 mm behind, but for what 12 points
 * leave of a flank. */
TEST(gears_turn_by_the_ratio_of_their_teeth)
{
    meshing m = turn_gears(NULL);
    CHECK_NEAR(m.speed[0], 3, 1e-5);
    CHECK_NEAR(m.speed[1], -3 * 18.0 / 36, 1e-5);
    CHECK_NEAR(m.lag[0], 1e-4 / 0.18, 2e-4);
    CHECK_NEAR(m.lag[1], 1e-4 / 0.18, 2e-4);
}

/* Without friction the motor gives 18/36 of the brake's torque, and 0.3 % for impacts at the corners
 * of flanks; with it more by about mu pi (1/18 + 1/36) (1 - e + e1^2 + e2^2), the mean for spur
 * gears, with the contact ratios e = 1.611 = e1 + e2, 0.765 and 0.847: 0.18 mu. */
TEST(gears_pass_on_torque)
{
    meshing smooth = turn_gears("materials.steel.friction=0");
    meshing rough = turn_gears("materials.steel.friction=0.2");
    CHECK_NEAR(smooth.torque[1], 20, 1e-4);
    CHECK_NEAR(rough.torque[1], 20, 1e-4);
    CHECK(smooth.torque[0] > 10 && smooth.torque[0] < 10.05);
    CHECK_NEAR(rough.torque[0] / smooth.torque[0] - 1, 0.18 * 0.2, 0.01);
}

/* ---- what flows ----------------------------------------------------------------------------- */

/* Without friction and drivers energy does not rise; the column sinks and stays above its floor. */
TEST(a_column_of_ellipses_collapses)
{
    cairn_scene *scene = load("ellipse_collapse_2d", NULL);
    double before = INFINITY, top = 0;
    for (int k = 0; k < 60; k++) {
        cairn_step_report report = advance(scene->world, &scene->step, 1);
        double energy = report.energy.kinetic + report.energy.potential;
        CHECK(energy <= before + report.energy.correction + 1e-3);
        CHECK(report.certificate.distance < 1e-10);
        CHECK(report.certificate.penetration < 2e-3);
        before = energy;
    }
    cairn_bodies b = cairn_world_bodies(scene->world);
    for (int i = b.held; i < b.count; i++) {
        CHECK(b.x[i].y > 0.2);
        top = fmax(top, b.x[i].y);
    }
    CHECK(top < 8.7); /* from 8.78 */
    cairn_scene_destroy(scene);
}

/* 24 dice: none leaves the drum, and the wall, which goes to -x at the bottom, takes them along. */
TEST(dice_are_carried_along_by_the_drum)
{
    const char *const few[] = { "generators.0.grid.count=[4,3,2]",
                                "generators.0.grid.origin=[-0.048,-0.036,-0.16]", NULL };
    cairn_scene *scene = load("superellipsoid_drum", few);
    cairn_certificate worst = run(scene, 0.4);
    cairn_bodies b = cairn_world_bodies(scene->world);
    double x = 0;
    for (int i = 3; i < b.count; i++) {
        CHECK(hypot(b.x[i].x, b.x[i].z) < 0.2 - 0.007);
        CHECK(fabs(b.x[i].y) < 0.06 - 0.007);
        x += b.x[i].x / (b.count - 3);
    }
    CHECK(x < -0.02);
    CHECK(worst.distance > 0 && worst.distance < 1e-10);
    CHECK(worst.penetration < 1e-3);
    cairn_scene_destroy(scene);
}

GROUP(test_shape_scenes)
{
    RUN(CASE(a_plank_tower_stands), CASE(an_arch_stands_by_friction), CASE(a_hook_holds_its_load),
        CASE(a_column_of_ellipses_collapses), CASE(dice_are_carried_along_by_the_drum),
        CASE(gears_turn_by_the_ratio_of_their_teeth), CASE(gears_pass_on_torque));
}
