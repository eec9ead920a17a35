/* test_scene_overlap.c - how far inside each other bodies may start. */
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

/* Allowed is a twentieth of the smaller radius, or what run.start_overlap says. */
TEST(a_little_overlap_is_allowed_and_told)
{
    const char *text =
        HEAD FLOOR "  - {shape: {sphere: {radius: 0.1}}, position: [0, 0, 0.0951]}\n";
    cairn_scene *s = scene_text_good(text, NULL);
    CHECK_NEAR(s->overlap, 0.049, 1e-12);
    cairn_scene_destroy(s);
    cairn_error error;
    CHECK_INT(scene_text_load(text, "run.start_overlap=0.048", &s, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "overlap by 0.0049 m at the start");
    s = scene_text_good(HEAD FLOOR "  - {shape: {sphere: {radius: 0.1}}, position: [0, 0, 2]}\n",
                        "run.start_overlap=0");
    CHECK_NEAR(s->overlap, 0, 0);
    cairn_scene_destroy(s);
}

/* The large ball is deeper in the floor, by 1 % of its radius; the small one by half of its own. */
TEST(the_share_counts_not_the_depth)
{
    static const refused table[] = {
        { HEAD FLOOR "  - {shape: {sphere: {radius: 1}}, position: [0, 0, 0.99]}\n"
                     "  - {shape: {sphere: {radius: 0.01}}, position: [0, 3, 0.005]}\n",
          6, 5, "bodies.2", "body 2 and 'floor' overlap by 0.005 m" },
    };
    CHECK_REFUSED(table);
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

TEST(bodies_whose_distance_is_unknown_are_called_by_their_names)
{
    cairn_scene *scene;
    cairn_error error;
    CHECK_INT(scene_text_load(HEAD "bodies:\n"
                                   "  - {name: hopper, motion: fixed, shape: {funnel: {"
                                   "bottom_radius: 0.1, top_radius: 0.5, height: 0.5}}}\n"
                                   "  - {name: crate, shape: {box: {size: [0.1, 0.1, 0.1]}},"
                                   " position: [0, 0, 0.3]}\n",
                              NULL, &scene, &error),
              CAIRN_UNSUPPORTED);
    CHECK_CONTAINS(error.message, "the distance of body 'hopper' (funnel) and body 'crate' (box)");
}

/* A disk of radius 0.1 in the middle of a solid square of edge 2 touches no side of it: 1 m to the
 * nearest, and its own radius. In a hollow of the same square it is free. */
TEST(the_inside_of_a_closed_line_is_solid)
{
    static const refused table[] = {
        { HEAD
          "dimension: 2\nbodies:\n"
          "  - {shape: {polyline: {closed: true, points: [[-1, -1], [1, -1], [1, 1], [-1, 1]]}}}\n"
          "  - {shape: {sphere: {radius: 0.1}}}\n",
          6, 5, "bodies.1", "body 1 and body 0 overlap by 1.1 m" },
    };
    CHECK_REFUSED(table);
    cairn_scene *s = scene_text_good(HEAD "dimension: 2\nbodies:\n"
                                          "  - {motion: fixed, shape: {polyline: {closed: true,\n"
                                          "     points: [[-1, -1], [-1, 1], [1, 1], [1, -1]]}}}\n"
                                          "  - {shape: {sphere: {radius: 0.1}}}\n",
                                     NULL);
    CHECK_NEAR(s->overlap, 0, 0);
    cairn_scene_destroy(s);
}

int main(void)
{
    RUN(CASE(overlapping_bodies_are_named), CASE(a_little_overlap_is_allowed_and_told),
        CASE(the_share_counts_not_the_depth), CASE(containers_count_too),
        CASE(bodies_whose_distance_is_unknown_are_called_by_their_names),
        CASE(the_inside_of_a_closed_line_is_solid));
}
