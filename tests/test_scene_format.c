/* test_scene_format.c - the keys of the format fit together. */
#include "check.h"
#include "io/scene_build.h"

static int times_known(const cairn_scene_keys *keys, const char *name)
{
    int times = 0;
    times += keys->record && cairn_record_find(keys->record, name) != NULL;
    times += keys->second && cairn_record_find(keys->second, name) != NULL;
    for (int i = 0; i < keys->further_count; i++)
        times += strcmp(keys->further[i].name, name) == 0;
    return times;
}

static void check_unique(const cairn_scene_keys keys)
{
    const cairn_record *const records[] = { keys.record, keys.second };
    for (int r = 0; r < 2; r++)
        for (int i = 0; records[r] && i < records[r]->option_count; i++)
            CHECK_INT(times_known(&keys, records[r]->options[i].name), 1);
    for (int i = 0; i < keys.further_count; i++)
        CHECK_INT(times_known(&keys, keys.further[i].name), 1);
}

TEST(no_key_means_two_things)
{
    check_unique(cairn_scene_root_keys());
    check_unique(cairn_scene_run_keys());
    check_unique(cairn_scene_material_keys());
    check_unique(cairn_scene_pair_keys());
    check_unique(cairn_scene_body_keys());
    check_unique(cairn_scene_orientation_keys());
    for (int kind = 0; cairn_scene_generators.at(kind); kind++)
        check_unique(cairn_scene_generator_keys(kind));
}

TEST(the_inlet_stands_after_the_generators)
{
    int kind = cairn_scene_inlet_kind();
    CHECK(cairn_scene_generators.at(kind) == cairn_inlet_record());
    CHECK(cairn_scene_generators.at(kind + 1) == NULL);
    const cairn_scene_keys keys = cairn_scene_generator_keys(kind);
    CHECK_INT(times_known(&keys, "radius"), 1);
    CHECK_INT(times_known(&keys, "mass"), 1);
}

/* In 2D these take one number. */
TEST(what_turns_is_recognised)
{
    CHECK(cairn_scene_is_angular(cairn_record_find(cairn_body_record(), "angular_velocity")));
    CHECK(cairn_scene_is_angular(cairn_record_find(cairn_body_record(), "inertia")));
    CHECK(!cairn_scene_is_angular(cairn_record_find(cairn_body_record(), "velocity")));
    CHECK(!cairn_scene_is_angular(cairn_record_find(cairn_body_record(), "angle")));
    CHECK(cairn_scene_is_angular(cairn_record_find(cairn_load_record(0), "torque")));
    CHECK(!cairn_scene_is_angular(cairn_record_find(cairn_load_record(0), "force")));
}

int main(void)
{
    RUN(CASE(no_key_means_two_things), CASE(the_inlet_stands_after_the_generators),
        CASE(what_turns_is_recognised));
}
