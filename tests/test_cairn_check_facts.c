/* test_cairn_check_facts.c - what a run says about itself follows from the rest of the file, and
 * cairn-check computes it again: checksums are left out here. */
#include "check_tampering.h"

#include "io/hdf5.h"

/* Solids of every kind that has a formula, falling apart; statistics of the grains. */
static const char *const scene_solids =
    "cairn: 1\n"
    "bodies:\n"
    "  - {motion: fixed, shape: half_space}\n"
    "  - {shape: {sphere: {radius: 0.1}}, position: [0, 0, 1]}\n"
    "  - {shape: {box: {size: [0.1, 0.2, 0.3], rounding: 0.02}}, position: [1, 0, 0.15]}\n"
    "  - {shape: {capsule: {radius: 0.1, length: 0.3}}, position: [2, 0, 1]}\n"
    "  - {shape: {cylinder: {radius: 0.1, height: 0.3}}, position: [3, 0, 1]}\n"
    "  - {shape: {cone: {radius: 0.1, height: 0.3}}, position: [4, 0, 1]}\n"
    "  - {shape: {ellipsoid: {semi_axes: [0.1, 0.2, 0.3]}}, position: [5, 0, 1], velocity: [1, 2, "
    "3]}\n"
    "  - {shape: {superellipsoid: {semi_axes: [0.1, 0.2, 0.3], exponent: 3}}, position: [6, 0, "
    "1]}\n"
    "  - {shape: {polyhedron: {points: [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2]]}},\n"
    "     position: [7, 0, 1]}\n"
    "  - {shape: {compound: {parts: [{shape: {sphere: {radius: 0.1}}, position: [-0.2, 0, 0]},\n"
    "     {shape: {box: {size: [0.1, 0.1, 0.1]}}, position: [0.2, 0, 0]}]}}, position: [8, 0, 1]}\n"
    "  - {shape: {box: {size: [0.2, 0.2, 0.2]}}, position: [1.02, 0, 0.4]}\n"
    "run: {time_step: 4e-3, duration: 0.08, frame_interval: 0.02, certificate: full,\n"
    "      statistics: [energy, centre, height, temperature], paraview: false, picture: false}\n";

static void run_solids(folder *f)
{
    *f = folder_create();
    run_into(f, scene_solids, "run.scheme=coulomb");
    if (verdict(f) != CERTIFIED)
        fail_msg("%s", file_text(f, "said.txt"));
}

/* Numbers of each dataset, `apart` from each other, changed by a share of them or of 1. */
static void check_all_noticed(const folder *f, const char *const *names, hsize_t apart,
                              double change)
{
    for (const char *const *name = names; *name; name++) {
        hsize_t count = count_numbers(f, *name);
        if (count == 0)
            fail_msg("there is no %s", *name);
        for (hsize_t i = 0; i < count; i += apart) {
            double old = swap_number(f, *name, i, NULL);
            check_noticed(f, *name, i, old + change * fmax(1, fabs(old)));
        }
    }
}

TEST(volumes_follow_from_shapes)
{
    static const char *const names[] = { "bodies/volume", NULL };
    folder f;
    run_solids(&f);
    CHECK_INT(count_numbers(&f, names[0]), 11);
    check_all_noticed(&f, names, 1, 1e-6);
    folder_remove(f.path);
}

/* No uid may become that of the next row. */
TEST(uids_of_bodies_rise)
{
    folder f;
    run_solids(&f);
    for (hsize_t i = 0; i < 10; i++)
        check_noticed(&f, "bodies/uid", i, (double)i + 1);
    check_noticed(&f, "bodies/uid", 10, 9);
    check_noticed(&f, "bodies/uid", 0, -1);
    folder_remove(f.path);
}

TEST(statistics_follow_from_states_and_steps)
{
    static const char *const names[] = { "statistics/energy/time",
                                         "statistics/energy/kinetic",
                                         "statistics/energy/potential",
                                         "statistics/energy/friction_loss",
                                         "statistics/energy/impact_loss",
                                         "statistics/energy/numerical_loss",
                                         "statistics/centre/time",
                                         "statistics/centre/x",
                                         "statistics/centre/z",
                                         "statistics/centre/vy",
                                         "statistics/centre/mass",
                                         "statistics/height/time",
                                         "statistics/height/mean",
                                         "statistics/height/top",
                                         "statistics/height/bottom",
                                         "statistics/height/spread",
                                         "statistics/temperature/time",
                                         "statistics/temperature/temperature",
                                         "statistics/temperature/z",
                                         "statistics/temperature/speed",
                                         NULL };
    folder f;
    run_solids(&f);
    check_all_noticed(&f, names, 3, 1e-6);
    folder_remove(f.path);
}

/* Steps in which the two boxes touch name their pair; the others none. */
TEST(distances_are_as_promised_and_name_a_pair_that_is_searched_for)
{
    folder f;
    run_solids(&f);
    bool named = false;
    for (hsize_t step = 0; step < 20; step++) {
        double first = swap_number(&f, "steps/distance_body", 2 * step, NULL);
        named = named || first >= 0;
        check_noticed(&f, "steps/distance", step, 0.01);
        check_noticed(&f, "steps/distance", step, -1e-9);
        check_noticed(&f, "steps/distance_body", 2 * step, first < 0 ? 0 : 77);
    }
    CHECK(named);
    folder_remove(f.path);
}

/* An infinite energy on both sides of the ledger balances, and is refused all the same. */
TEST(energies_are_finite)
{
    static const char *const names[] = { "steps/kinetic",     "steps/potential",
                                         "steps/elastic",     "steps/load_work",
                                         "steps/driver_work", "steps/numerical_loss",
                                         "steps/impact_loss", NULL };
    folder f;
    run_solids(&f);
    for (const char *const *name = names; *name; name++) {
        check_noticed(&f, *name, 3, INFINITY);
        check_noticed(&f, *name, 3, NAN);
    }
    folder_remove(f.path);
}

/* ---- the end -------------------------------------------------------------------------------- */

static void set_real(const folder *f, const char *name, double value)
{
    hid_t file = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
    CHECK(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value) >= 0);
    H5Aclose(attribute);
    H5Fclose(file);
}

/* A text of the root; it gets the length of the text. */
static void set_text(const folder *f, const char *name, const char *value)
{
    hid_t file = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
    CHECK_OK(cairn_hdf5_text(file, name, value, NULL));
    H5Fclose(file);
}

TEST(a_duration_that_the_steps_do_not_fill_is_noticed)
{
    folder f;
    run_solids(&f);
    set_real(&f, "duration", 0.12);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "ending: the steps that are there do not end");
    set_real(&f, "duration", 0.04);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    set_real(&f, "duration", 0.08);
    CHECK_INT(verdict(&f), CERTIFIED);
    folder_remove(f.path);
}

TEST(an_ending_that_did_not_come_is_noticed)
{
    static const char *const others[] = { "rest", "stopped", "failed", "unfinished", "glorious" };
    folder f;
    run_solids(&f);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        set_text(&f, "ending", others[i]);
        if (verdict(&f) != NOT_CERTIFIED)
            fail_msg("the ending '%s' is believed", others[i]);
    }
    set_text(&f, "ending", "rest"); /* of a longer run, in which bodies fall: they do not rest */
    set_real(&f, "duration", 0.8);
    set_real(&f, "rest_speed", 0.1);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    set_text(&f, "ending", "complete");
    set_real(&f, "duration", 0.08);
    CHECK_INT(verdict(&f), CERTIFIED);
    set_text(&f, "message", "all went wrong");
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    folder_remove(f.path);
}

TEST(a_run_that_came_to_rest_is_certified)
{
    static const char *const scene =
        HEAD "bodies:\n"
             "  - {motion: fixed, shape: half_space}\n"
             "  - {shape: {sphere: {radius: 0.1}}, position: [0, 0, 0.1]}\n";
    folder f = folder_create();
    cairn_scene *s = scene_text_good(scene, "run.certificate=full");
    s->run.duration = 100 * s->step.time_step;
    s->run.rest_speed = 1e-3;
    CHECK_OK(cairn_run(s, f.path, NULL, NULL, NULL, NULL));
    cairn_scene_destroy(s);
    if (full_verdict(&f) != CERTIFIED)
        fail_msg("%s", file_text(&f, "said.txt"));
    set_text(&f, "ending", "complete");
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    folder_remove(f.path);
}

TEST(another_version_of_the_format_is_noticed)
{
    folder f;
    run_solids(&f);
    set_real(&f, "format_version", 1);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    set_real(&f, "format_version", 3);
    CHECK_INT(verdict(&f), CANNOT_CHECK);
    folder_remove(f.path);
}

int main(void)
{
    RUN(CASE(volumes_follow_from_shapes), CASE(uids_of_bodies_rise),
        CASE(statistics_follow_from_states_and_steps),
        CASE(distances_are_as_promised_and_name_a_pair_that_is_searched_for),
        CASE(energies_are_finite), CASE(a_duration_that_the_steps_do_not_fill_is_noticed),
        CASE(an_ending_that_did_not_come_is_noticed), CASE(a_run_that_came_to_rest_is_certified),
        CASE(another_version_of_the_format_is_noticed));
}
