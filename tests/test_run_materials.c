/* test_run_materials.c - the laws of pairs of materials as /certificate stores them. */
#include "io/run_materials.h"
#include "run_scene.h"

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

int main(void)
{
    RUN(CASE(pairs_name_two_laws_or_their_own_twice), CASE(laws_have_seven_numbers_and_points));
}
