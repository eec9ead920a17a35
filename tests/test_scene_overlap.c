/* test_scene_overlap.c - a scene must not start with bodies inside each other. */
#include "scene_text.h"

#define FLOOR "bodies:\n  - {name: floor, motion: fixed, shape: half_space}\n"

TEST(overlapping_bodies_are_named)
{
    static const refused table[] = {
        { HEAD FLOOR "  - {name: ball, shape: {sphere: {radius: 1}}, position: [0, 0, 0.75]}\n", 5,
          5, "bodies.1", "'ball' and 'floor' overlap by 0.25 m" },
        { HEAD FLOOR "  - {shape: {sphere: {radius: 1}}, position: [0, 0, 1]}\n"
                     "  - {shape: {sphere: {radius: 1}}, position: [0, 1.5, 1]}\n",
          6, 5, "bodies.2", "body 2 and body 1 overlap by 0.5 m" },
        { HEAD FLOOR
          "generators:\n"
          "  - grid: {count: [2, 1, 1], spacing: [9, 9, 9], radius: 1, origin: [0, 0, 1]}\n"
          "  - grid: {count: [1, 1, 1], spacing: [9, 9, 9], radius: 1, origin: [8, 0, 1]}\n",
          7, 11, "generators.1.grid",
          "body 3 (made by generators.1.grid) and body 2 (made by generators.0.grid) overlap by 1 "
          "m" },
    };
    CHECK_REFUSED(table);
}

/* Allowed is a millionth of the smaller radius, here 1e-7 m. */
TEST(rounding_is_not_an_overlap)
{
    cairn_scene *s = scene_text_good(
        HEAD FLOOR "  - {shape: {sphere: {radius: 0.1}}, position: [0, 0, 0.09999999]}\n", NULL);
    cairn_scene_destroy(s);
    cairn_error error;
    CHECK_INT(scene_text_load(HEAD FLOOR
                              "  - {shape: {sphere: {radius: 0.1}}, position: [0, 0, 0.0999998]}\n",
                              NULL, &s, &error),
              CAIRN_BAD_INPUT);
}

/* A sphere that sticks through the wall of its vessel: the vessel's radius is not the smaller. */
TEST(containers_count_too)
{
    static const refused table[] = {
        { HEAD "bodies:\n  - {motion: fixed, shape: {inside_cylinder: {radius: 2}}}\n"
               "  - {shape: {sphere: {radius: 0.5}}, position: [1.75, 0, 0]}\n",
          5, 5, "bodies.1", "body 1 and body 0 overlap by 0.25 m" },
    };
    CHECK_REFUSED(table);
}

int main(void)
{
    RUN(CASE(overlapping_bodies_are_named), CASE(rounding_is_not_an_overlap),
        CASE(containers_count_too));
}
