/* test_hdf5_record.c - options as attributes of a run file. */
#include "run_scene.h"

TEST(every_option_of_a_run_is_an_attribute)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    s.measure = cairn_measure_options_default();
    s.run.statistics = (cairn_names){ { "centre", "energy" }, 2 };
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, NULL, NULL));
    hid_t file = H5Fopen(path_in(&f, "run.h5").text, H5F_ACC_RDONLY, H5P_DEFAULT);
    const cairn_record *records[2] = { cairn_step_record(), cairn_run_record() };
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < records[r]->option_count; i++)
            CHECK(H5Aexists(file, records[r]->options[i].name) > 0);
    for (int i = 0; i < cairn_measure_record()->option_count; i++)
        CHECK(H5Aexists_by_name(file, "statistics", cairn_measure_record()->options[i].name,
                                H5P_DEFAULT) > 0);
    hid_t names = H5Aopen(file, "statistics", H5P_DEFAULT), space = H5Aget_space(names);
    CHECK_INT(H5Sget_simple_extent_npoints(space), 2);
    H5Sclose(space);
    H5Aclose(names);
    H5Fclose(file);
    scene_destroy(&s);
    folder_remove(f.path);
}

int main(void)
{
    RUN(CASE(every_option_of_a_run_is_an_attribute));
}
