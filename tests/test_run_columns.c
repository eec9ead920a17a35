/* test_run_columns.c - tables of columns that grow together. */
#include "io/run_columns.h"

#include "io/hdf5_sink.h"
#include "run_scene.h"
#include "small_world.h"

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
    cairn_run_sources flat = cairn_run_state_sources(2), deep = cairn_run_state_sources(3);
    CHECK_INT(flat.count, deep.count + 1);
    CHECK(has_column(&flat, "angle") && !has_column(&deep, "angle"));
}

TEST(no_list_is_longer_than_a_table)
{
    CHECK(cairn_run_state_sources(2).count <= CAIRN_RUN_COLUMNS);
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
    CHECK_INT(cairn_run_body_sources(world).count, 21);
    def.motion = CAIRN_MOTION_FIXED;
    def.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 2);
    def.surface_velocity.x = 1;
    CHECK_OK(cairn_body_create(world, &def, NULL));
    cairn_run_sources sources = cairn_run_body_sources(world);
    CHECK_INT(sources.count, 23);
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
    CHECK_OK(cairn_run_table_create(file, cairn_run_load_sources(), 3, &writer, &table, NULL));
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

int main(void)
{
    RUN(CASE(only_flat_worlds_have_angles), CASE(no_list_is_longer_than_a_table),
        CASE(contacts_have_the_columns_that_the_materials_need),
        CASE(bodies_tell_of_surfaces_that_move), CASE(rows_are_added_at_the_end));
}
