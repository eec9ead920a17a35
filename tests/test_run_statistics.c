/* test_run_statistics.c - statistics that a run measures at its frames: HDF5 and CSV. */
#include "run_scene.h"

static cairn_scene measured_scene(void)
{
    cairn_scene s = scene_create(3);
    s.measure = cairn_measure_options_default();
    s.run.statistics = (cairn_names){ { "centre", "coordination", "surface", "energy" }, 4 };
    return s;
}

TEST(a_series_has_a_row_for_each_frame)
{
    folder f = folder_create();
    cairn_scene s = measured_scene();
    double time[16], z[16];
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, NULL, NULL));
    path run = path_in(&f, "run.h5");
    const char *file = run.text;
    CHECK_INT(h5_numbers(file, "statistics/centre/time", time, 16), 6);
    CHECK_INT(h5_numbers(file, "statistics/centre/z", z, 16), 6);
    CHECK_NEAR(time[1], 0.02, 1e-12);
    CHECK_CLOSE(z[0], (0.1 + 0.11 + 0.4) / 3, 1e-12);
    char text[16];
    h5_text(file, "statistics/centre/z", "unit", text, sizeof text);
    CHECK_TEXT(text, "m");
    /* the first frame comes before the first step: nobody knows contacts */
    CHECK_INT(h5_numbers(file, "statistics/coordination/mean", z, 16), 5);
    CHECK_NEAR(z[0], 1 / 3.0, 1e-12); /* one of three balls lies on the floor */
    CHECK_CONTAINS(file_text(&f, "statistics/centre.csv"), "time,x,y,z,vx,vy,vz,mass\n0,1,0,");
    scene_destroy(&s);
    folder_remove(f.path);
}

/* kinetic + potential at the end less at the start is what went in less what was lost. */
TEST(the_energy_ledger_closes)
{
    folder f = folder_create();
    cairn_scene s = measured_scene();
    static const struct {
        const char *name;
        double sign;
    } terms[] = { { "kinetic", 1 },       { "potential", 1 },    { "entered", -1 },
                  { "load_work", -1 },    { "driver_work", -1 }, { "correction", -1 },
                  { "friction_loss", 1 }, { "impact_loss", 1 },  { "numerical_loss", 1 } };
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, NULL, NULL));
    double sum = 0, lost = 0, v[16];
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "statistics/energy/%s", terms[i].name);
        CHECK_INT(h5_numbers(path_in(&f, "run.h5").text, name, v, 16), 6);
        sum += terms[i].sign * (v[5] - v[0]);
        lost += i >= 6 ? fabs(v[5]) : 0;
    }
    CHECK(lost > 1e-3);
    CHECK_NEAR(sum, 0, 1e-12);
    scene_destroy(&s);
    folder_remove(f.path);
}

/* The same numbers out of the finished file as during the run. */
TEST(a_finished_run_is_measured_to_the_same_numbers)
{
    folder f = folder_create();
    cairn_scene s = measured_scene();
    cairn_statistic_table t[4];
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, NULL, NULL));
    CHECK_OK(cairn_run_measure(f.path, &s.run.statistics, &s.measure, t, NULL));
    for (int i = 0; i < 4; i++) {
        CHECK(t[i].rows > 0);
        for (int c = 0; c < t[i].column_count; c++) {
            char name[64];
            double v[512];
            snprintf(name, sizeof name, "statistics/%s/%s", t[i].name, t[i].columns[c].name);
            CHECK_INT(h5_numbers(path_in(&f, "run.h5").text, name, v, 512), t[i].rows);
            for (size_t k = 0; k < t[i].rows; k++) {
                double now = t[i].values[k * (size_t)t[i].column_count + (size_t)c];
                CHECK((isnan(now) && isnan(v[k])) || fabs(now - v[k]) <= 1e-12 * (1 + fabs(now)));
            }
        }
        cairn_statistic_table_destroy(&t[i]);
    }
    scene_destroy(&s);
    folder_remove(f.path);
}

TEST(files_of_an_earlier_run_go_and_without_statistics_there_are_none)
{
    folder f = folder_create();
    for (int k = 0; k < 2; k++) {
        cairn_scene s = measured_scene();
        if (k == 1)
            s.run.statistics = (cairn_names){ { "height" }, 1 };
        CHECK_OK(cairn_run(&s, f.path, NULL, NULL, NULL, NULL));
        scene_destroy(&s);
    }
    CHECK(file_exists(&f, "statistics/height.csv"));
    CHECK(!file_exists(&f, "statistics/centre.csv"));
    cairn_scene s = scene_create(2); /* with no options of measuring at all */
    folder g = folder_create();
    CHECK_OK(cairn_run(&s, g.path, NULL, NULL, NULL, NULL));
    CHECK(!file_exists(&g, "statistics"));
    double none[1];
    CHECK_INT(h5_numbers(path_in(&g, "run.h5").text, "statistics", none, 1), -1);
    scene_destroy(&s);
    folder_remove(f.path);
    folder_remove(g.path);
}

TEST(options_that_are_not_right_are_refused_before_the_run)
{
    cairn_scene s = measured_scene();
    cairn_error error = { 0 };
    s.measure.bins = 0;
    CHECK_INT(cairn_run(&s, NULL, NULL, NULL, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "bins");
    s.measure = cairn_measure_options_default();
    s.run.statistics.items[1] = "coordinatoin";
    CHECK_INT(cairn_run(&s, NULL, NULL, NULL, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "statistics");
    scene_destroy(&s);
}

TEST(no_memory_at_any_point_is_reported)
{
    cairn_status status = CAIRN_NO_MEMORY;
    for (long fail = 1; status != CAIRN_OK && fail < 3000; fail += 7) {
        folder f = folder_create();
        cairn_scene s = measured_scene();
        meter m = { .fail_at = fail };
        s.run.duration = 0.01;
        s.run.paraview = s.run.picture = false;
        meter_install(&m);
        status = cairn_run(&s, f.path, NULL, NULL, NULL, NULL);
        cairn_allocator_set(NULL);
        CHECK(status == CAIRN_OK || status == CAIRN_NO_MEMORY);
        scene_destroy(&s);
        folder_remove(f.path);
    }
    CHECK_OK(status);
}

int main(void)
{
    RUN(CASE(a_series_has_a_row_for_each_frame), CASE(the_energy_ledger_closes),
        CASE(a_finished_run_is_measured_to_the_same_numbers),
        CASE(files_of_an_earlier_run_go_and_without_statistics_there_are_none),
        CASE(options_that_are_not_right_are_refused_before_the_run),
        CASE(no_memory_at_any_point_is_reported));
}
