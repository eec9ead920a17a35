/* test_run_certificate.c - the group /certificate: every step with all that it was made of. */
#include "io/run_certificate.h"
#include "run_scene.h"

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

int main(void)
{
    RUN(CASE(there_is_a_state_before_the_first_step_and_one_after_each),
        CASE(contacts_of_each_step_carry_the_bias), CASE(pairs_of_materials_are_a_square),
        CASE(surfaces_beyond_coulomb_have_their_columns), CASE(a_summary_has_no_such_group));
}
