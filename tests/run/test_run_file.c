/* test_run_file.c - what a run file holds. */
#include "file/hdf5.h"
#include "run/frame.h"
#include "run/run_file.h"
#include "tests/problems/run_scene.h"
#include "tests/problems/saved_world.h"
#include "tests/problems/worlds.h"

/* ==== test_run_file: what stands in run.h5; tests/check_h5.py checks the whole schema ========= */

/* A file with frames before and after `steps` steps; committed or not. */
static void write_file(const folder *f, cairn_scene *s, int steps, bool commit)
{
    cairn_run_file *file = NULL;
    cairn_run_roll roll = { 0 };
    cairn_arena arena = { 0 };
    cairn_run_frame frame;
    cairn_run_summary summary = { .hash = 42 };
    cairn_run_ending ending = { "complete", "" };
    CHECK_OK(cairn_run_file_open(f->path, s, NULL, &file, NULL));
    CHECK_OK(cairn_run_frame_take(s->world, &roll, &arena, &frame));
    CHECK_OK(cairn_run_file_frame(file, &frame, NULL));
    for (int k = 1; k <= steps; k++) {
        cairn_step_report report = { .candidates = k, .solve = { .solver = "pgs" } };
        report.energy.kinetic = k / 2.0;
        CHECK_OK(cairn_run_file_step(file, k, 0.1 * k, &report, NULL));
    }
    CHECK_OK(cairn_run_frame_take(s->world, &roll, &arena, &frame));
    CHECK_OK(cairn_run_file_frame(file, &frame, NULL));
    CHECK_OK(cairn_run_file_flush(file, NULL));
    if (commit) {
        CHECK_OK(cairn_run_file_finish(file, &summary, &ending, NULL));
        CHECK_OK(cairn_run_file_commit(file, NULL));
    }
    cairn_run_file_destroy(file);
    cairn_run_roll_destroy(&roll);
    cairn_arena_destroy(&arena);
}

TEST(a_thousand_steps_are_a_thousand_rows)
{
    enum { STEPS = 1000 }; /* more than wait in memory */
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    path p = path_in(&f, "run.h5");
    static double found[STEPS];
    write_file(&f, &s, STEPS, true);
    CHECK_INT(h5_numbers(p.text, "steps/candidates", found, STEPS), STEPS);
    for (int k = 0; k < STEPS; k++)
        CHECK_INT(found[k], k + 1);
    CHECK_INT(h5_numbers(p.text, "steps/kinetic", found, STEPS), STEPS);
    CHECK_NEAR(found[STEPS - 1], STEPS / 2.0, 0);
    CHECK_INT(h5_numbers(p.text, "steps/solver", found, STEPS), STEPS);
    CHECK_TEXT(cairn_solver_name((int)found[0]), "pgs");
    scene_destroy(&s);
    folder_remove(f.path);
}

TEST(a_file_that_is_not_committed_stays_a_readable_part)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    char ending[32];
    double time[4];
    write_file(&f, &s, 3, false);
    CHECK(!file_exists(&f, "run.h5"));
    h5_text(path_in(&f, "run.h5.part").text, "/", "ending", ending, sizeof ending);
    CHECK_TEXT(ending, "unfinished");
    CHECK_INT(h5_numbers(path_in(&f, "run.h5.part").text, "steps/time", time, 4), 3);
    scene_destroy(&s);
    folder_remove(f.path);
}

TEST(properties_are_stored_once_and_states_in_every_frame)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    path p = path_in(&f, "run.h5");
    double radius[8], index[16], x[32];
    write_file(&f, &s, 1, true);
    CHECK_INT(h5_numbers(p.text, "bodies/radius", radius, 8), 4);
    CHECK_NEAR(radius[1], 0.1, 0);
    CHECK_INT(h5_numbers(p.text, "frames/bodies/index", index, 16), 8);
    CHECK_INT(index[7], 3);
    CHECK_INT(h5_numbers(p.text, "frames/bodies/x", x, 32), 24);
    CHECK_NEAR(x[3 * 3 + 2], 0.4, 0);
    scene_destroy(&s);
    folder_remove(f.path);
}

TEST(settings_are_attributes_and_datasets_have_units)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    path p = path_in(&f, "run.h5");
    char text[64];
    write_file(&f, &s, 1, true);
    h5_text(p.text, "/", "title", text, sizeof text);
    CHECK_TEXT(text, "three spheres");
    h5_text(p.text, "/", "scene", text, sizeof text);
    CHECK_TEXT(text, "# by hand\n");
    h5_text(p.text, "/", "scheme", text, sizeof text);
    CHECK_TEXT(text, s.step.scheme);
    h5_text(p.text, "frames/contacts/impulse", "unit", text, sizeof text);
    CHECK_TEXT(text, "N s");
    h5_text(p.text, "steps/friction_direction", "unit", text, sizeof text);
    CHECK_TEXT(text, "W");
    scene_destroy(&s);
    folder_remove(f.path);
}

TEST(names_of_bodies_are_listed_by_row)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    const char *const names[] = { "floor", NULL, "ball" };
    double rows[4];
    s.body_names = names;
    s.body_count = 3;
    write_file(&f, &s, 1, true);
    CHECK_INT(h5_numbers(path_in(&f, "run.h5").text, "names/body", rows, 4), 2);
    CHECK_INT(rows[0], 0);
    CHECK_INT(rows[1], 2);
    scene_destroy(&s);
    folder_remove(f.path);
}

GROUP(test_run_file)
{
    RUN(CASE(a_thousand_steps_are_a_thousand_rows),
        CASE(a_file_that_is_not_committed_stays_a_readable_part),
        CASE(properties_are_stored_once_and_states_in_every_frame),
        CASE(settings_are_attributes_and_datasets_have_units),
        CASE(names_of_bodies_are_listed_by_row));
}

/* ==== test_run_frame: bodies packed into rows that they keep ================================== */

TEST(rows_equal_indices_while_nothing_is_removed)
{
    cairn_scene s = scene_create(3);
    cairn_run_roll roll = { 0 };
    cairn_arena arena = { 0 };
    cairn_run_frame frame;
    CHECK_OK(cairn_run_frame_take(s.world, &roll, &arena, &frame));
    CHECK_INT(frame.bodies, 4);
    CHECK_INT(frame.fresh, 4);
    CHECK_INT(frame.contacts, 0);
    for (int i = 0; i < 4; i++)
        CHECK_INT(frame.index[i], i);
    CHECK_INT(frame.kind[0], CAIRN_SHAPE_HALF_SPACE);
    CHECK_INT(frame.facts.motion[0], CAIRN_MOTION_FIXED);
    CHECK_NEAR(frame.radius[3], 0.1, 0);
    CHECK_NEAR(frame.state.x[3].z, 0.4, 0);
    CHECK_OK(cairn_run_frame_take(s.world, &roll, &arena, &frame));
    CHECK_INT(frame.fresh, 0);
    cairn_run_roll_destroy(&roll);
    cairn_arena_destroy(&arena);
    scene_destroy(&s);
}

TEST(a_body_in_the_place_of_a_removed_one_gets_a_row_of_its_own)
{
    cairn_scene s = scene_create(3);
    cairn_run_roll roll = { 0 };
    cairn_arena arena = { 0 };
    cairn_run_frame frame;
    cairn_body_id old = add_sphere(s.world, 0.2, (cairn_vec3){ 5, 0, 1 });
    CHECK_OK(cairn_run_frame_take(s.world, &roll, &arena, &frame));
    CHECK_OK(cairn_body_destroy(s.world, old));
    CHECK_OK(cairn_run_frame_take(s.world, &roll, &arena, &frame));
    CHECK_INT(frame.bodies, 4);
    cairn_body_id young = add_sphere(s.world, 0.3, (cairn_vec3){ 5, 0, 1 });
    CHECK_OK(cairn_run_frame_take(s.world, &roll, &arena, &frame));
    CHECK_INT(frame.bodies, 5);
    CHECK_INT(frame.fresh, 1);
    CHECK_NEAR(frame.radius[0], 0.3, 0);
    CHECK_INT(frame.index[4], 5); /* row 4 was the old one's */
    CHECK_INT(frame.slot[4], cairn_body_row(s.world, young));
    CHECK_INT(frame.facts.uid[0], young.uid);
    cairn_run_roll_destroy(&roll);
    cairn_arena_destroy(&arena);
    scene_destroy(&s);
}

TEST(contacts_name_rows)
{
    cairn_scene s = scene_create(3);
    cairn_run_roll roll = { 0 };
    cairn_arena arena = { 0 };
    cairn_run_frame frame;
    cairn_step_report report;
    CHECK_OK(cairn_world_step(s.world, &s.step, &report));
    CHECK_OK(cairn_run_frame_take(s.world, &roll, &arena, &frame));
    CHECK_INT(frame.contacts, report.candidates);
    CHECK(frame.contacts >= 1);
    for (size_t k = 0; k < 2 * frame.contacts; k++)
        CHECK_INT(frame.pair[k], frame.touch.body[k]);
    cairn_run_roll_destroy(&roll);
    cairn_arena_destroy(&arena);
    scene_destroy(&s);
}

TEST(detail_holds_biases_loads_and_poses_of_driven_bodies)
{
    cairn_scene s = scene_create(3);
    cairn_run_roll roll = { 0 };
    cairn_arena arena = { 0 };
    cairn_run_frame frame;
    cairn_step_report report;
    cairn_body_id id;
    cairn_driver drive = cairn_driver_default(CAIRN_DRIVER_VELOCITY);
    cairn_load load = cairn_load_default(CAIRN_LOAD_CONSTANT);
    cairn_body_def def = cairn_body_def_default();
    drive.velocity = (cairn_vec3){ 2, 0, 0 };
    load.force = (cairn_vec3){ 0, 7, 0 };
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    def.shape.radius = 0.1;
    def.position = (cairn_vec3){ 8, 0, 3 };
    def.loads = &load;
    def.load_count = 1;
    CHECK_OK(cairn_body_create(s.world, &def, &id)); /* body 4 */
    def.position.x = 9;
    def.motion = CAIRN_MOTION_DRIVEN;
    def.load_count = 0;
    def.drivers = &drive;
    def.driver_count = 1;
    CHECK_OK(cairn_body_create(s.world, &def, &id)); /* body 5 */
    s.step.scheme = "moreau-jean";
    CHECK_OK(cairn_world_step(s.world, &s.step, &report));
    CHECK_OK(cairn_run_frame_take(s.world, &roll, &arena, &frame));
    CHECK_OK(cairn_run_frame_detail(s.world, &roll, &arena, &frame));
    CHECK_INT(frame.loads, 1);
    CHECK_INT(frame.load_body[0], 4);
    CHECK_NEAR(frame.force[0].y, 7, 0);
    CHECK_INT(frame.poses, 1);
    CHECK_INT(frame.pose_body[0], 5);
    CHECK_NEAR(frame.pose_x[0].x, 9 + 2 * 2.5e-3, 1e-15); /* half a step of 5 ms on */
    CHECK(frame.contacts == 0 || frame.bias != NULL);
    cairn_run_roll_destroy(&roll);
    cairn_arena_destroy(&arena);
    scene_destroy(&s);
}

/* Joint 0 between bodies 1 and 2, joint 1 between body 3 and the world. */
TEST(joints_name_rows_and_keep_theirs)
{
    cairn_scene s = scene_create(3);
    cairn_run_roll roll = { 0 };
    cairn_arena arena = { 0 };
    cairn_run_frame frame;
    cairn_bodies bodies = cairn_world_bodies(s.world);
    cairn_joint_def def = cairn_joint_def_default();
    def.a = (cairn_body_id){ bodies.uid[1] };
    def.b = (cairn_body_id){ bodies.uid[2] };
    CHECK_OK(cairn_joint_create(s.world, &def, NULL));
    def = cairn_joint_def_default();
    def.kind = CAIRN_JOINT_FIXED;
    def.a = (cairn_body_id){ bodies.uid[3] };
    def.anchor = (cairn_vec3){ 2, 0, 0.9 };
    CHECK_OK(cairn_joint_create(s.world, &def, NULL));
    CHECK_OK(cairn_run_frame_take(s.world, &roll, &arena, &frame));
    CHECK_INT(frame.joint.count, 2);
    CHECK_INT(frame.joint.fresh, 2);
    CHECK_INT(frame.joint.kind[1], CAIRN_JOINT_FIXED);
    const int pairs[4] = { 1, 2, 3, -1 };
    for (int k = 0; k < 4; k++)
        CHECK_INT(frame.joint.pair[k], pairs[k]);
    CHECK_NEAR(frame.joint.point[1].z, 0.9, 1e-15);
    CHECK_NEAR(frame.joint.point_b[1].z, 0.9, 1e-15);
    CHECK_OK(cairn_body_destroy(s.world, def.a)); /* takes joint 1 along */
    CHECK_OK(cairn_run_frame_take(s.world, &roll, &arena, &frame));
    CHECK_INT(frame.joint.count, 1);
    CHECK_INT(frame.joint.index[0], 0);
    CHECK_INT(frame.joint.fresh, 0);
    cairn_run_roll_destroy(&roll);
    cairn_arena_destroy(&arena);
    scene_destroy(&s);
}
GROUP(test_run_frame)
{
    RUN(CASE(rows_equal_indices_while_nothing_is_removed),
        CASE(a_body_in_the_place_of_a_removed_one_gets_a_row_of_its_own), CASE(contacts_name_rows),
        CASE(detail_holds_biases_loads_and_poses_of_driven_bodies),
        CASE(joints_name_rows_and_keep_theirs));
}

/* ==== test_run_columns: tables of columns that grow together ================================== */

static hid_t create_file(const folder *f, cairn_hdf5_sink *sink)
{
    hid_t file;
    CHECK_OK(cairn_hdf5_create(path_in(f, "table.h5").text, sink, &file, NULL));
    return file;
}

static bool has_column(const cairn_run_sources *list, const char *name)
{
    int k = 0;
    while (k < list->count && strcmp(list->items[k].name, name) != 0)
        k++;
    return k < list->count;
}

TEST(only_flat_worlds_have_angles)
{
    cairn_run_sources flat = cairn_run_state_sources(2, false);
    cairn_run_sources deep = cairn_run_state_sources(3, false);
    CHECK_INT(flat.count, deep.count + 1);
    CHECK(has_column(&flat, "angle") && !has_column(&deep, "angle"));
}

TEST(no_list_is_longer_than_a_table)
{
    CHECK(cairn_run_state_sources(2, true).count <= CAIRN_RUN_COLUMNS);
    CHECK(cairn_run_detail_sources().count <= CAIRN_RUN_COLUMNS);
}

/* The columns of contacts in a world with one material. */
static cairn_run_sources contact_columns(const cairn_material_def *material)
{
    cairn_world *world = world_create(3);
    CHECK_OK(cairn_material_create(world, material, NULL));
    cairn_run_sources sources = cairn_run_contact_sources(world);
    CHECK(sources.count <= CAIRN_RUN_COLUMNS);
    cairn_world_destroy(world);
    return sources;
}

TEST(contacts_have_the_columns_that_the_materials_need)
{
    cairn_run_sources rubs = contact_columns(&(cairn_material_def){ .friction = 1 });
    CHECK_INT(rubs.count, 8);
    CHECK(has_column(&rubs, "mu") && !has_column(&rubs, "mu_2"));
    cairn_run_sources sticks = contact_columns(&(cairn_material_def){ .adhesion = 1 });
    CHECK_INT(sticks.count, 10);
    CHECK(has_column(&sticks, "adhesion") && !has_column(&sticks, "turning"));
    cairn_run_sources rolls = contact_columns(&(cairn_material_def){ .rolling_friction = 1 });
    CHECK_INT(rolls.count, 14);
    CHECK(has_column(&rolls, "turning"));
}

TEST(bodies_tell_of_surfaces_that_move)
{
    cairn_world *world = world_create(2);
    cairn_body_def def = cairn_body_def_default();
    CHECK_INT(cairn_run_body_sources(world).count, 24);
    def.motion = CAIRN_MOTION_FIXED;
    def.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 2);
    def.surface_velocity.x = 1;
    CHECK_OK(cairn_body_create(world, &def, NULL));
    cairn_run_sources sources = cairn_run_body_sources(world);
    CHECK_INT(sources.count, 26);
    CHECK(has_column(&sources, "surface_velocity"));
    CHECK(sources.count <= CAIRN_RUN_COLUMNS);
    cairn_world_destroy(world);
}

TEST(rows_are_added_at_the_end)
{
    folder f = folder_create();
    cairn_hdf5_sink sink;
    hid_t file = create_file(&f, &sink);
    cairn_run_table table = { 0 };
    double numbers[18];
    int32_t body[2] = { 4, 7 };
    cairn_vec3 force[2] = { { 1, 2, 3 }, { 4, 5, 6 } }, torque[2] = { { 0, 0, 0 } };
    cairn_run_frame frame = { .load_body = body, .force = force, .torque = torque };
    CHECK_INT(cairn_run_table_rows(&table), 0);
    cairn_hdf5_writer writer;
    CHECK_OK(cairn_hdf5_writer_create(&writer));
    CHECK_OK(cairn_run_table_create(file, cairn_run_load_sources(false), 3, &writer, &table, NULL));
    CHECK_OK(cairn_run_table_append(&table, &frame, 2, NULL));
    CHECK_OK(cairn_run_table_append(&table, &frame, 1, NULL));
    CHECK_INT(cairn_run_table_rows(&table), 3);
    CHECK_OK(cairn_hdf5_writer_push(&writer, NULL));
    CHECK_OK(cairn_hdf5_writer_collect(&writer, true, NULL));
    cairn_run_table_close(&table);
    cairn_hdf5_writer_destroy(&writer);
    CHECK_OK(cairn_hdf5_close(file, &sink, NULL));
    CHECK_INT(h5_numbers(path_in(&f, "table.h5").text, "force", numbers, 18), 9);
    CHECK_NEAR(numbers[4], 5, 0);
    CHECK_NEAR(numbers[6], 1, 0);
    CHECK_INT(h5_numbers(path_in(&f, "table.h5").text, "body", numbers, 18), 3);
    CHECK_NEAR(numbers[1], 7, 0);
    folder_remove(f.path);
}

GROUP(test_run_columns)
{
    RUN(CASE(only_flat_worlds_have_angles), CASE(no_list_is_longer_than_a_table),
        CASE(contacts_have_the_columns_that_the_materials_need),
        CASE(bodies_tell_of_surfaces_that_move), CASE(rows_are_added_at_the_end));
}

/* ==== test_run_certificate: the group /certificate: every step with all that it was made of */

/* The scene of run_scene.h with the full certificate: 20 steps of 5 ms. */
static void run_full(const folder *f, int dimension)
{
    cairn_scene s = scene_create(dimension);
    cairn_error error;
    s.run.certificate = "full";
    if (cairn_run(&s, f->path, NULL, NULL, NULL, &error) != CAIRN_OK)
        fail_msg("%s", error.message);
    scene_destroy(&s);
}

static long numbers_of(const folder *f, const char *name, double *out, long capacity)
{
    return h5_numbers(path_in(f, "run.h5").text, name, out, capacity);
}

TEST(there_is_a_state_before_the_first_step_and_one_after_each)
{
    folder f = folder_create();
    double offsets[64], x[1024], v[1024];
    run_full(&f, 3);
    CHECK_INT(numbers_of(&f, "certificate/body_offset", offsets, 64), 22);
    for (int k = 0; k < 22; k++)
        CHECK_NEAR(offsets[k], 4 * k, 0); /* a floor and three spheres */
    CHECK_INT(numbers_of(&f, "certificate/bodies/x", x, 1024), 21 * 4 * 3);
    CHECK_INT(numbers_of(&f, "certificate/bodies/v", v, 1024), 21 * 4 * 3);
    /* sphere 3 falls freely from 0.4 m: v = -g k h, x = 0.4 - g h^2 k (k + 1)/2 */
    CHECK_NEAR(x[3 * 3 + 2], 0.4, 0);
    CHECK_NEAR(v[(10 * 4 + 3) * 3 + 2], -9.81 * 10 * 5e-3, 1e-13);
    CHECK_NEAR(x[(10 * 4 + 3) * 3 + 2], 0.4 - 9.81 * 25e-6 * 55, 1e-13);
    folder_remove(f.path);
}

TEST(contacts_of_each_step_carry_the_bias)
{
    folder f = folder_create();
    double offsets[64], gap[256], bias[256], candidates[64];
    run_full(&f, 2);
    CHECK_INT(numbers_of(&f, "certificate/contact_offset", offsets, 64), 21);
    CHECK_INT(numbers_of(&f, "steps/candidates", candidates, 64), 20);
    for (int k = 0; k < 20; k++)
        CHECK_NEAR(offsets[k + 1] - offsets[k], candidates[k], 0);
    long count = numbers_of(&f, "certificate/contacts/gap", gap, 256);
    CHECK(count >= 20);
    CHECK_INT(numbers_of(&f, "certificate/contacts/bias", bias, 256), count);
    for (long j = 0; j < count; j++)
        CHECK_NEAR(bias[j], gap[j] / 5e-3, 1e-14); /* gamma = 1, no restitution */
    folder_remove(f.path);
}

TEST(pairs_of_materials_are_a_square)
{
    folder f = folder_create();
    double numbers[16];
    cairn_scene s = scene_create(3);
    cairn_material_def slippery = { .friction = 0.1, .restitution = 0.5 };
    CHECK_OK(cairn_material_create(s.world, &slippery, NULL));
    s.run.certificate = "full";
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, NULL, NULL));
    scene_destroy(&s);
    CHECK_INT(numbers_of(&f, "certificate/friction", numbers, 16), 4);
    CHECK_NEAR(numbers[0], 0.5, 0);
    CHECK_NEAR(numbers[1], 0.1, 0);
    CHECK_NEAR(numbers[2], 0.1, 0);
    CHECK_NEAR(numbers[3], 0.1, 0);
    CHECK_INT(numbers_of(&f, "certificate/restitution", numbers, 16), 4);
    CHECK_NEAR(numbers[3], 0.5, 0);
    folder_remove(f.path);
}

/* One ball more rolls: after 20 steps its moment is - mu_R r_N about the axis it turns about. */
TEST(surfaces_beyond_coulomb_have_their_columns)
{
    folder f = folder_create();
    double numbers[512], impulse[512];
    cairn_scene s = scene_create(2);
    const cairn_material_def rolls = { .friction = 0.5, .rolling_friction = 0.01 };
    cairn_body_def def = cairn_body_def_default();
    CHECK_OK(cairn_material_pair_set(s.world, 0, 0, &rolls));
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 2);
    def.shape.radius = 0.1;
    def.position = (cairn_vec3){ 5, 0.1, 0 };
    def.velocity.x = 1;
    def.angular_velocity.z = -10;
    CHECK_OK(cairn_body_create(s.world, &def, NULL));
    s.run.certificate = "full";
    s.step.tolerance = 1e-10;
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, NULL, NULL));
    scene_destroy(&s);
    long count = numbers_of(&f, "certificate/contacts/moment", numbers, 512);
    CHECK_INT(numbers_of(&f, "certificate/contacts/impulse", impulse, 512), 2 * count);
    CHECK_CLOSE(numbers[count - 1], 0.01 * impulse[2 * count - 2], 1e-6);
    CHECK_INT(numbers_of(&f, "frames/contacts/turning", numbers, 512),
              numbers_of(&f, "frames/contacts/adhesion", numbers, 512));
    CHECK_INT(numbers_of(&f, "certificate/rolling_friction", numbers, 16), 1);
    CHECK_NEAR(numbers[0], 0.01, 0);
    CHECK_INT(numbers_of(&f, "bodies/surface_velocity", numbers, 16), -1);
    folder_remove(f.path);
}

TEST(a_summary_has_no_such_group)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    double numbers[64];
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, NULL, NULL));
    scene_destroy(&s);
    CHECK_INT(numbers_of(&f, "certificate", numbers, 64), -1);
    CHECK_INT(numbers_of(&f, "steps/asked_relative", numbers, 64), 20);
    folder_remove(f.path);
}

GROUP(test_run_certificate)
{
    RUN(CASE(there_is_a_state_before_the_first_step_and_one_after_each),
        CASE(contacts_of_each_step_carry_the_bias), CASE(pairs_of_materials_are_a_square),
        CASE(surfaces_beyond_coulomb_have_their_columns), CASE(a_summary_has_no_such_group));
}

/* ==== test_run_geometry: points, faces and parts in run.h5 ==================================== */

/* A tetrahedron and a compound of the same one (loaded anew) and a ball; a sphere without data. */
static const char *const scene =
    "cairn: 1\n"
    "bodies:\n"
    "  - {motion: fixed, shape: {polyhedron: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, "
    "1]]}}}\n"
    "  - {shape: {sphere: {radius: 0.5}}, position: [0, 0, 9]}\n"
    "  - {motion: fixed, position: [5, 0, 0], shape: {compound: {parts: [\n"
    "      {shape: {polyhedron: {points: [[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2]]}}, "
    "position: [0, 0, 3]},\n"
    "      {shape: {sphere: {radius: 0.25}}}]}}}\n"
    "run: {time_step: 1e-3, duration: 2e-3, paraview: false, picture: false}\n";

TEST(a_body_names_the_row_of_its_data)
{
    folder f = folder_create();
    double n[64];
    run_into(&f, scene, NULL);
    CHECK_INT(numbers_of(&f, "bodies/geometry", n, 64), 3);
    CHECK_NEAR(n[0], 0, 0);
    CHECK_NEAR(n[1], -1, 0);
    CHECK_NEAR(n[2], 2, 0); /* after its part */
    folder_remove(f.path);
}

TEST(points_and_faces_are_those_of_the_hull)
{
    folder f = folder_create();
    double n[64];
    run_into(&f, scene, NULL);
    CHECK_INT(numbers_of(&f, "geometry/vertex_offset", n, 64), 4);
    CHECK_NEAR(n[1], 4, 0);
    CHECK_NEAR(n[2], 8, 0);
    CHECK_NEAR(n[3], 8, 0); /* a compound has parts instead */
    CHECK_INT(numbers_of(&f, "geometry/face_offset", n, 64), 4);
    CHECK_NEAR(n[2], 8, 0);
    CHECK_INT(numbers_of(&f, "geometry/corner_offset", n, 64), 9);
    CHECK_NEAR(n[8], 24, 0); /* 8 triangles */
    CHECK_INT(numbers_of(&f, "geometry/corners", n, 64), 24);
    for (int k = 0; k < 24; k++)
        CHECK(n[k] >= 0 && n[k] <= 3);
    CHECK_INT(numbers_of(&f, "geometry/vertices", n, 64), 24);
    double sum = 0;
    for (int k = 12; k < 24; k++)
        sum += n[k];
    CHECK_NEAR(sum, 6, 0); /* three corners at 2 */
    folder_remove(f.path);
}

TEST(parts_have_their_place_and_measures)
{
    folder f = folder_create();
    double n[64];
    run_into(&f, scene, NULL);
    CHECK_INT(numbers_of(&f, "geometry/part_offset", n, 64), 4);
    CHECK_NEAR(n[2], 0, 0);
    CHECK_NEAR(n[3], 2, 0);
    CHECK_INT(numbers_of(&f, "geometry/parts/geometry", n, 64), 2);
    CHECK_NEAR(n[0], 1, 0);
    CHECK_NEAR(n[1], -1, 0);
    CHECK_INT(numbers_of(&f, "geometry/parts/x", n, 64), 6);
    CHECK_NEAR(n[2], 3, 0);
    CHECK_INT(numbers_of(&f, "geometry/parts/radius", n, 64), 2);
    CHECK_NEAR(n[1], 0.25, 0);
    folder_remove(f.path);
}

TEST(a_run_of_balls_has_no_such_group)
{
    folder f = folder_create();
    double n[64];
    cairn_scene s = scene_create(3);
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, NULL, NULL));
    CHECK_INT(numbers_of(&f, "geometry/vertices", n, 64), -1);
    CHECK_INT(numbers_of(&f, "bodies/geometry", n, 64), 4);
    CHECK_NEAR(n[0], -1, 0);
    scene_destroy(&s);
    folder_remove(f.path);
}

/* ---- going on ------------------------------------------------------------------------------- */

/* Hulls come in one by one: a stopped run meets the same data again, and new ones. */
static const char *const pours =
    "cairn: 1\n"
    "bodies: [{motion: fixed, shape: half_space}]\n"
    "generators:\n"
    "  - pour: {count: 4, rate: 500, centre: [0, 0, 3], size: [1, 1, 0.1], velocity: [0, 0, -9],\n"
    "           shape: {polyhedron: {points: [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, "
    "0.1]]}}}\n"
    "  - pour: {count: 2, rate: 100, centre: [9, 0, 3], size: [1, 1, 0.1], velocity: [0, 0, -9],\n"
    "           shape: {polyhedron: {points: [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, "
    "0.2]]}}}\n"
    "run: {time_step: 1e-3, duration: 0.04, frame_interval: 5e-3, certificate: full, paraview: "
    "false, picture: false}\n";

static bool stop_after(const cairn_progress *progress, void *context)
{
    return progress->step < *(const int64_t *)context;
}

TEST(a_stopped_run_goes_on_to_the_same_rows)
{
    folder whole = folder_create();
    double n[64];
    run_into(&whole, pours, NULL);
    CHECK_INT(numbers_of(&whole, "geometry/vertex_offset", n, 64), 3);
    for (int64_t steps = 1; steps < 40; steps += 7) {
        folder f = folder_create();
        cairn_scene *s = scene_text_good(pours, NULL), *again = NULL;
        const cairn_resume_options options = { .threads = 1 };
        cairn_run(s, f.path, stop_after, &steps, NULL, NULL);
        cairn_scene_destroy(s);
        CHECK_OK(cairn_run_resume(f.path, &options, &again, NULL, NULL));
        cairn_scene_destroy(again);
        CHECK(check_same_h5(&whole, &f) > 80);
        folder_remove(f.path);
    }
    folder_remove(whole.path);
}

GROUP(test_run_geometry)
{
    RUN(CASE(a_body_names_the_row_of_its_data), CASE(points_and_faces_are_those_of_the_hull),
        CASE(parts_have_their_place_and_measures), CASE(a_run_of_balls_has_no_such_group),
        CASE(a_stopped_run_goes_on_to_the_same_rows));
}

/* ==== test_run_joints: what joints are and their rows, as a frame holds them ================== */

/* Two balls, 0 and 1 m along x. */
static cairn_world *two_balls(cairn_body_id ids[2])
{
    cairn_world *world = world_create(3);
    for (int i = 0; i < 2; i++)
        ids[i] = add_sphere(world, 0.1, (cairn_vec3){ i, 0, 0 });
    return world;
}

/* The number of the column `name` of the first fresh joint. */
static double number_of(const cairn_run_frame *frame, const char *name)
{
    const cairn_run_sources list = cairn_run_joint_sources();
    for (int i = 0; i < list.count; i++) {
        const cairn_run_source *column = &list.items[i];
        const double *numbers;
        if (strcmp(column->name, name) != 0 || column->type != CAIRN_HDF5_REAL)
            continue;
        memcpy(&numbers, (const char *)frame + column->offset, sizeof numbers);
        return numbers[0];
    }
    fail_msg("there is no column %s", name);
    return 0;
}

/* A slider with a motor: 5 rows that hold, an upper limit, the motor and friction. */
TEST(a_joint_is_stored_with_all_that_its_rows_are_made_of)
{
    cairn_body_id ids[2];
    cairn_world *world = two_balls(ids);
    cairn_run_roll roll = { 0 };
    cairn_arena arena = { 0 };
    cairn_run_frame frame;
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = CAIRN_JOINT_PRISMATIC;
    def.a = ids[0];
    def.b = ids[1];
    def.anchor = (cairn_vec3){ 0.25, 0, 0 };
    def.slide.upper = 0.5;
    def.slide.motor = "velocity";
    def.slide.target = 2;
    def.slide.effort = 7;
    def.slide.friction = 0.125;
    CHECK_OK(cairn_joint_create(world, &def, NULL));
    CHECK_OK(cairn_run_frame_take(world, &roll, &arena, &frame));
    CHECK_NEAR(frame.joint.anchor_a[0].x, 0.25, 0);
    CHECK_NEAR(frame.joint.anchor_b[0].x, -0.75, 0);
    CHECK_INT(frame.joint.slide_motor[0], CAIRN_MOTOR_VELOCITY);
    CHECK_INT(frame.joint.turn_motor[0], CAIRN_MOTOR_NONE);
    CHECK_NEAR(number_of(&frame, "slide_upper"), 0.5, 0);
    CHECK_NEAR(number_of(&frame, "slide_effort"), 7, 0);
    CHECK_NEAR(number_of(&frame, "slide_friction"), 0.125, 0);
    CHECK(number_of(&frame, "slide_lower") == -INFINITY);
    CHECK_NEAR(frame.joint.slide_target[0], 2, 0);
    CHECK_INT(frame.joint.rows, 0); /* no step yet */

    cairn_step_options options = cairn_step_options_default();
    cairn_step_report report;
    options.time_step = 1e-2;
    options.tolerance = 1e-10;
    CHECK_OK(cairn_world_step(world, &options, &report));
    CHECK_OK(cairn_run_frame_take(world, &roll, &arena, &frame));
    CHECK_INT(frame.joint.fresh, 0);
    CHECK_INT(frame.joint.rows, 8);
    CHECK_INT(frame.joint.row_joint[7], 0);
    /* friction against the motion, at its bound: -h 0.125 N */
    CHECK_NEAR(frame.joint.row_impulse[7], -1.25e-3, 1e-12);
    CHECK_NEAR(frame.joint.row_correction[0], 0, 0);
    cairn_run_roll_destroy(&roll);
    cairn_arena_destroy(&arena);
    cairn_world_destroy(world);
}

TEST(a_joint_that_is_not_there_has_the_default_setup)
{
    cairn_body_id ids[2];
    cairn_world *world = two_balls(ids);
    cairn_joint_setup setup = cairn_world_joint_setup(world, 3);
    CHECK_INT(setup.def.kind, CAIRN_JOINT_BALL);
    CHECK(setup.def.a.uid == CAIRN_NO_BODY);
    CHECK_NEAR(setup.frame[1].w, 1, 0);
    cairn_world_destroy(world);
}

GROUP(test_run_joints)
{
    RUN(CASE(a_joint_is_stored_with_all_that_its_rows_are_made_of),
        CASE(a_joint_that_is_not_there_has_the_default_setup));
}

/* ==== test_run_materials: the laws of pairs of materials as /certificate stores them ========== */

/* Materials 0: constant 0.4, Poisson's e 0.5; 1: Stribeck; 2: a table. The pair 1-2 has a law of its
 * own: Stribeck again. */
static cairn_world *materials_create(void)
{
    static const double speeds[] = { 0, 2 }, values[] = { 0.5, 0.1 };
    cairn_world *world = NULL;
    cairn_world_def empty = cairn_world_def_default();
    cairn_material_def def = { .friction = 0.4, .restitution = 0.5, .restitution_law = "poisson" };
    CHECK_OK(cairn_world_create(&empty, &world));
    CHECK_OK(cairn_material_create(world, &def, NULL));
    def = (cairn_material_def){ .restitution = 0.7 };
    def.friction_law = cairn_friction_law_default(CAIRN_FRICTION_STRIBECK);
    def.friction_law.mu_static = 0.6;
    def.friction_law.mu_dynamic = 0.2;
    def.friction_law.speed = 0.5;
    CHECK_OK(cairn_material_create(world, &def, NULL));
    cairn_material_def pair = def;
    pair.friction_law.mu_static = 0.3;
    def.friction_law = cairn_friction_law_default(CAIRN_FRICTION_TABLE);
    def.friction_law.speeds = (cairn_list){ speeds, 2 };
    def.friction_law.values = (cairn_list){ values, 2 };
    CHECK_OK(cairn_material_create(world, &def, NULL));
    CHECK_OK(cairn_material_pair_set(world, 2, 1, &pair));
    return world;
}

static void write_into(const path *file, const cairn_world *world)
{
    hid_t id = H5Fcreate(file->text, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    CHECK_OK(cairn_run_materials_write(id, world, NULL));
    H5Fclose(id);
}

TEST(pairs_name_two_laws_or_their_own_twice)
{
    folder f = folder_create();
    cairn_world *world = materials_create();
    path file = path_in(&f, "m.h5");
    double n[64];
    write_into(&file, world);
    CHECK_INT(h5_numbers(file.text, "law_first", n, 64), 9);
    CHECK_NEAR(n[0 * 3 + 2], 0, 0); /* pair 0-2: the laws of 0 and of 2 */
    CHECK_NEAR(n[1 * 3 + 2], 3, 0); /* pair 1-2: law 3, after those of the materials */
    CHECK_NEAR(n[2 * 3 + 1], 3, 0);
    h5_numbers(file.text, "law_second", n, 64);
    CHECK_NEAR(n[0 * 3 + 2], 2, 0);
    CHECK_NEAR(n[1 * 3 + 2], 3, 0);
    h5_numbers(file.text, "friction", n, 64);
    CHECK_NEAR(n[0 * 3 + 1], 0.4, 0); /* at rest: min(0.4, 0.6) */
    CHECK_NEAR(n[1 * 3 + 2], 0.3, 0);
    h5_numbers(file.text, "restitution", n, 64);
    CHECK_NEAR(n[0 * 3 + 1], 0.5, 0);
    h5_numbers(file.text, "poisson", n, 64);
    CHECK_NEAR(n[0 * 3 + 1], 1, 0);
    CHECK_NEAR(n[1 * 3 + 1], 0, 0);
    cairn_world_destroy(world);
    folder_remove(f.path);
}

TEST(laws_have_seven_numbers_and_points)
{
    folder f = folder_create();
    cairn_world *world = materials_create();
    path file = path_in(&f, "m.h5");
    const double stribeck[7] = { CAIRN_FRICTION_STRIBECK, 0.3, 0.3, 0.2, 0.5, 2, 0 };
    double n[64];
    write_into(&file, world);
    CHECK_INT(h5_numbers(file.text, "laws", n, 64), 4 * 7);
    CHECK_NEAR(n[0], CAIRN_FRICTION_CONSTANT, 0);
    CHECK_NEAR(n[1], 0.4, 0);
    CHECK_NEAR(n[2 * 7], CAIRN_FRICTION_TABLE, 0);
    CHECK_NEAR(n[2 * 7 + 6], 2, 0);
    for (int i = 0; i < 7; i++)
        CHECK_NEAR(n[3 * 7 + i], stribeck[i], 0);
    CHECK_INT(h5_numbers(file.text, "law_points", n, 64), 4);
    CHECK_NEAR(n[2], 2, 0);
    CHECK_NEAR(n[3], 0.1, 0);
    cairn_world_destroy(world);
    folder_remove(f.path);
}

GROUP(test_run_materials)
{
    RUN(CASE(pairs_name_two_laws_or_their_own_twice), CASE(laws_have_seven_numbers_and_points));
}
