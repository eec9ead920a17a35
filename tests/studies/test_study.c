/* test_study.c - the studies behind `cairn reproduce`. */
#include "studies/study.h"
#include "studies/worlds.h"
#include "tests/check.h"

/* ==== test_study: how rows of `cairn reproduce` are judged, and what a study keeps ============ */

static cairn_finding judged(cairn_study_values row)
{
    cairn_study study = { 0 };
    cairn_study_row(&study, &row, "row %d", 7);
    CHECK_INT(study.finding_count, 1);
    cairn_finding out = study.findings[0];
    cairn_study_clear(&study);
    return out;
}

TEST(a_row_is_same_close_or_different)
{
    CHECK_INT(judged((cairn_study_values){ 100, 0, 100.05, 0.05, 0, NULL }).match,
              CAIRN_MATCH_SAME);
    CHECK_INT(judged((cairn_study_values){ 100, 0, 104, 0.05, 0, NULL }).match, CAIRN_MATCH_CLOSE);
    CHECK_INT(judged((cairn_study_values){ 100, 0, 106, 0.05, 0, "why" }).match,
              CAIRN_MATCH_DIFFERS);
    CHECK_INT(judged((cairn_study_values){ -100, 0, 100, 0.05, 0, NULL }).match,
              CAIRN_MATCH_DIFFERS);
    CHECK_TEXT(judged((cairn_study_values){ 100, 0, 106, 0.05, 0, "why" }).why, "why");
    CHECK_TEXT(judged((cairn_study_values){ 100, 0, 100, 0.05, 0, NULL }).what, "row 7");
}

/* 0.05 % off, and the row allows 0.01 % */
TEST(same_is_not_wider_than_the_tolerance)
{
    CHECK_INT(judged((cairn_study_values){ 100, 0, 100.05, 1e-4, 0, NULL }).match,
              CAIRN_MATCH_DIFFERS);
}

TEST(a_number_that_is_none_differs)
{
    CHECK_INT(judged((cairn_study_values){ 100, 0, NAN, 0.05, 0, NULL }).match,
              CAIRN_MATCH_DIFFERS);
    CHECK_INT(judged((cairn_study_values){ 100, 100, NAN, 0.05, 0.1, NULL }).match,
              CAIRN_MATCH_DIFFERS);
}

TEST(without_a_published_number_the_reference_judges)
{
    CHECK_INT(judged((cairn_study_values){ .reference = 2, .ours = 2.0001, .within = 1e-3 }).match,
              CAIRN_MATCH_SAME);
    CHECK_INT(judged((cairn_study_values){ .reference = 2, .ours = 2.1, .within = 1e-3 }).match,
              CAIRN_MATCH_DIFFERS);
}

TEST(with_both_the_reference_must_hold_as_well)
{
    cairn_finding f = judged((cairn_study_values){ 100, 101, 101, 0.05, 1e-6, NULL });
    CHECK_INT(f.match, CAIRN_MATCH_CLOSE);
    f = judged((cairn_study_values){ 100, 101, 100, 0.05, 1e-6, NULL });
    CHECK_INT(f.match, CAIRN_MATCH_DIFFERS);
    CHECK_CONTAINS(f.why, "not the reference value");
}

TEST(a_statement_holds_or_not)
{
    cairn_study study = { 0 };
    cairn_study_claim(&study, true, &(cairn_study_values){ .ours = 3 }, "it is more than %d", 2);
    cairn_study_claim(&study, false, &(cairn_study_values){ .ours = 3 }, "it is more than %d", 4);
    CHECK_INT(study.findings[0].match, CAIRN_MATCH_TREND);
    CHECK_INT(study.findings[1].match, CAIRN_MATCH_DIFFERS);
    CHECK(study.findings[0].statement && study.findings[1].statement);
    CHECK_TEXT(study.findings[1].what, "it is more than 4");
    cairn_study_clear(&study);
    CHECK_INT(study.finding_count, 0);
}

/* 60 s are more than 2 s, but nothing was solved in them. */
TEST(a_solver_that_gave_up_shows_no_trend)
{
    cairn_study study = { 0 };
    cairn_trial gave_up = { .verdict = CAIRN_VERDICT_MISSED, .seconds = 60 };
    cairn_trial solved = { .verdict = CAIRN_VERDICT_SOLVED, .seconds = 3 };
    cairn_study_time_claim(&study, &gave_up, true, &(cairn_study_values){ .ours = 60 },
                           "more than 2 s");
    cairn_study_time_claim(&study, &solved, true, &(cairn_study_values){ .ours = 3 },
                           "more than 2 s");
    CHECK_INT(study.findings[0].match, CAIRN_MATCH_DIFFERS);
    CHECK_CONTAINS(study.findings[0].why, "gave up after 60 s");
    CHECK_INT(study.findings[1].match, CAIRN_MATCH_TREND);
    cairn_study_clear(&study);
}

TEST(series_belong_to_the_figure_before_them)
{
    cairn_study study = { 0 };
    cairn_study_figure(&study, &(cairn_figure){ .name = "a" });
    cairn_study_series(&study, CAIRN_SERIES_LINE, "one");
    int two = cairn_study_series(&study, CAIRN_SERIES_POINTS, "two");
    cairn_study_figure(&study, &(cairn_figure){ .name = "b" });
    int three = cairn_study_series(&study, CAIRN_SERIES_LINE, "three");
    for (int i = 0; i < 100; i++)
        cairn_study_point(&study, two, i, i * i, 0);
    cairn_study_break(&study, three);
    CHECK_OK(study.status);
    CHECK_INT(study.figures[0].count, 2);
    CHECK_INT(study.figures[1].first, 2);
    CHECK_INT(study.figures[1].count, 1);
    CHECK_INT(study.series[two].count, 100);
    CHECK_INT(study.series[two].colour, 1);
    CHECK_INT(study.series[three].colour, 0);
    cairn_study_colour(&study, three, 5);
    CHECK_INT(study.series[three].colour, 5);
    CHECK_NEAR(study.series[two].points[99][1], 9801, 0);
    CHECK(isnan(study.series[three].points[0][0]));
    cairn_study_clear(&study);
}

GROUP(test_study)
{
    RUN(CASE(a_row_is_same_close_or_different), CASE(same_is_not_wider_than_the_tolerance),
        CASE(a_number_that_is_none_differs), CASE(without_a_published_number_the_reference_judges),
        CASE(with_both_the_reference_must_hold_as_well), CASE(a_statement_holds_or_not),
        CASE(a_solver_that_gave_up_shows_no_trend), CASE(series_belong_to_the_figure_before_them));
}

/* ==== test_entries: the list of entries of `cairn reproduce` ================================== */

TEST(each_name_finds_its_entry_and_no_other)
{
    const cairn_study_entry *entry;
    int count = 0;
    for (; (entry = cairn_entry_at(count)); count++) {
        CHECK(cairn_entry_find(entry->name) == entry);
        CHECK(entry->paper && entry->item && entry->summary && entry->run);
        CHECK(entry->cpu > 0);
    }
    CHECK(count > 20);
    CHECK(cairn_entry_find("all") == NULL);
    CHECK(cairn_entry_find("") == NULL);
}

TEST(every_paper_has_entries)
{
    static const char *const papers[] = { "[A06]", "[ST96]", "[BL23]", "[A05]", "[C09]" };
    for (int i = 0; i < 5; i++) {
        const cairn_study_entry *entry;
        int found = 0;
        for (int k = 0; (entry = cairn_entry_at(k)); k++)
            found += strcmp(entry->paper, papers[i]) == 0 && entry->size == CAIRN_QUICK;
        CHECK(found >= 3);
    }
}

GROUP(test_entries)
{
    RUN(CASE(each_name_finds_its_entry_and_no_other), CASE(every_paper_has_entries));
}

/* ==== test_views: pictures of worlds in the figures of `cairn reproduce` ====================== */

/* radius 5, cut 3 from the centre: a circle of radius 4; the other ball is 6 away */
TEST(a_plane_cuts_balls_into_circles)
{
    cairn_world *world;
    cairn_study study = { 0 };
    CHECK_OK(cairn_plain_world(3, (cairn_vec3){ 0, 0, -1 }, 0, &world));
    CHECK_OK(cairn_add_ball(world, &(cairn_ball){ .radius = 5, .mass = 1, .x = { 1, 3, 2 } }));
    CHECK_OK(cairn_add_ball(world, &(cairn_ball){ .radius = 5, .mass = 1, .x = { 20, 6, 2 } }));
    cairn_view_balls(&study, world, &(cairn_figure){ .name = "cut", .title = "cut" }, 0, 0);
    CHECK_INT(study.figure_count, 1);
    CHECK(study.figures[0].equal);
    CHECK_TEXT(study.figures[0].y_label, "z (m)");
    CHECK_INT(study.series[0].count, 1);
    CHECK_NEAR(study.series[0].points[0][0], 1, 0);
    CHECK_NEAR(study.series[0].points[0][1], 2, 0);
    CHECK_NEAR(study.series[0].points[0][2], 4, 1e-15);
    cairn_study_clear(&study);
    cairn_world_destroy(world);
}

TEST(disks_are_all_shown)
{
    cairn_world *world;
    cairn_study study = { 0 };
    CHECK_OK(cairn_plain_world(2, (cairn_vec3){ 0, -1, 0 }, 0, &world));
    for (int i = 0; i < 3; i++)
        CHECK_OK(cairn_add_ball(world, &(cairn_ball){ .radius = 1, .mass = 1, .x = { 3 * i, i } }));
    cairn_view_balls(&study, world, &(cairn_figure){ .name = "all", .title = "all" }, 1, 0);
    CHECK_INT(study.series[0].count, 2);
    CHECK_NEAR(study.series[0].points[1][1], 2, 0);
    CHECK_NEAR(study.series[0].points[1][2], 1, 0);
    cairn_study_clear(&study);
    cairn_world_destroy(world);
}

GROUP(test_views)
{
    RUN(CASE(a_plane_cuts_balls_into_circles), CASE(disks_are_all_shown));
}

/* ==== test_grains: the worlds of many grains that `cairn reproduce` runs ====================== */

static double overlap(cairn_world *world)
{
    double depth;
    CHECK_OK(cairn_world_overlap(world, &depth, NULL, NULL));
    return depth;
}

/* radius 0.8 to 0.9 of half the grid step, jitter 0.05 of it: nothing overlaps */
TEST(the_box_holds_n_cubed_spheres_apart)
{
    cairn_world *world;
    CHECK_OK(cairn_grains_box(6, &world));
    cairn_bodies b = cairn_world_bodies(world);
    CHECK_INT(b.count, 5 + 216);
    for (int i = 5; i < b.count; i++) {
        CHECK(cairn_bodies_shape(&b, i)->radius >= 0.8 * 10 / 12 &&
              cairn_bodies_shape(&b, i)->radius <= 0.9 * 10 / 12);
        CHECK(b.mass[i] >= 1 && b.mass[i] <= 2);
    }
    CHECK_NEAR(overlap(world), 0, 0);
    cairn_world_destroy(world);
}

/* n = 8: 0.02516, n = 50: 0.004025 in the authors' demos */
TEST(the_step_of_the_box_is_that_of_the_authors)
{
    CHECK_CLOSE(cairn_grains_box_step(8), 0.02516, 1e-3);
    CHECK_CLOSE(cairn_grains_box_step(50), 0.004025, 1e-3);
}

TEST(the_column_has_its_lowest_row_shifted_by_half_a_radius)
{
    cairn_world *world;
    double r = 10.0 / 62;
    CHECK_NEAR(cairn_grains_column_radius(30), r, 1e-15);
    CHECK_OK(cairn_grains_column(2, 30, 0.1, &world));
    cairn_bodies b = cairn_world_bodies(world);
    CHECK_INT(b.count, 901);
    CHECK_NEAR(b.x[1].x - b.x[31].x, r / 2, 1e-12);
    CHECK_NEAR(b.x[31].y - b.x[1].y, 1.0 / 3, 1e-12);
    CHECK_NEAR(overlap(world), 0, 0);
    cairn_world_destroy(world);
}

/* dt = 0.0086 for N = 1728, as printed in [BL23] 3.3.2 */
TEST(spheres_on_a_plane_have_the_printed_step)
{
    cairn_world *world;
    CHECK_CLOSE(cairn_grains_column_step(12), 0.0086, 1e-2);
    CHECK_OK(cairn_grains_column(3, 4, 1, &world));
    CHECK_INT(cairn_world_bodies(world).count, 65);
    CHECK_NEAR(overlap(world), 0, 0);
    cairn_world_destroy(world);
}

/* vertical semi-axis 0.45, floor of disks of radius 0.045 with its top at 0 */
TEST(ellipses_start_apart_over_glued_disks)
{
    cairn_world *world;
    CHECK_OK(cairn_grains_ellipses(&world));
    cairn_bodies b = cairn_world_bodies(world);
    CHECK_INT(b.count, ELLIPSE_GLUED + ELLIPSES);
    CHECK_NEAR(b.x[0].y + cairn_bodies_shape(&b, 0)->radius, 0, 1e-15);
    CHECK_NEAR(b.x[1].x - b.x[0].x, 2 * cairn_bodies_shape(&b, 0)->radius, 1e-12);
    for (int i = ELLIPSE_GLUED; i < b.count; i++) {
        CHECK_NEAR(cairn_bodies_shape(&b, i)->semi_axes.y, 0.45, 0);
        CHECK(cairn_bodies_shape(&b, i)->semi_axes.x >= 0.22 &&
              cairn_bodies_shape(&b, i)->semi_axes.x <= 0.68);
    }
    CHECK_NEAR(overlap(world), 0, 0);
    cairn_world_destroy(world);
}

TEST(all_small_disks_but_those_beside_it_start_above_the_big_one)
{
    cairn_world *world;
    cairn_nut_box box = { .width = 14, .amplitude = 3, .period = 1.5, .disks = 200, .big = 1.5 };
    box.seed = 1;
    CHECK_OK(cairn_grains_nut(&box, &world));
    cairn_bodies b = cairn_world_bodies(world);
    CHECK_INT(b.count, NUT_WALLS + 201);
    CHECK_NEAR(cairn_bodies_shape(&b, NUT_BIG)->radius, 1.5, 0);
    CHECK_NEAR(b.mass[NUT_BIG], 9, 1e-12);
    CHECK_NEAR(overlap(world), 0, 0);
    CHECK(cairn_grains_above(world) > 180 && cairn_grains_above(world) < 200);
    cairn_world_destroy(world);
}

GROUP(test_grains)
{
    RUN(CASE(the_box_holds_n_cubed_spheres_apart), CASE(the_step_of_the_box_is_that_of_the_authors),
        CASE(the_column_has_its_lowest_row_shifted_by_half_a_radius),
        CASE(spheres_on_a_plane_have_the_printed_step), CASE(ellipses_start_apart_over_glued_disks),
        CASE(all_small_disks_but_those_beside_it_start_above_the_big_one));
}

/* ==== test_incline: a disk falling on an incline ([BL23], section 3.2 and appendix B).
 *
 * Radius 1, mass 1, gravity 1, incline pi/6, centre at distance 2 from the plane. In the frame of
 * the plane: impact at t_i = sqrt(2/cos a); it slips on when mu < tan(a)/3, else it rolls. */

typedef cairn_incline incline;

static cairn_incline_run run(incline in)
{
    cairn_incline_run out;
    CHECK_OK(cairn_incline_roll(&in, NULL, &out));
    return out;
}

static void check_errors(incline in, double x, double theta)
{
    cairn_incline_run e = run(in);
    CHECK_CLOSE(e.x, x, 1e-6);
    CHECK_NEAR(e.theta, theta, 1e-6 * theta + 1e-14);
}

TEST(exact_solution_at_the_end)
{
    CHECK_NEAR(cairn_incline_exact(0.1, 10).y, 20.769872981078, 1e-11);
    CHECK_NEAR(cairn_incline_exact(0.1, 10).z, -8.460254037844, 1e-11);
    CHECK_NEAR(cairn_incline_exact(1, 10).y, 16.859116756397, 1e-11);
    CHECK_NEAR(cairn_incline_exact(1, 10).z, -16.281766487207, 1e-11);
}

TEST(exact_velocity_is_the_slope_of_the_exact_position)
{
    static const double mu[2] = { 0.1, 1 }, t[2] = { 1, 5 };
    for (int i = 0; i < 4; i++) {
        double at = t[i / 2], m = mu[i % 2], h = 1e-4;
        cairn_vec3 a = cairn_incline_exact(m, at - h), b = cairn_incline_exact(m, at + h);
        cairn_vec3 v = cairn_incline_exact_velocity(m, at);
        CHECK_NEAR(v.x, (b.x - a.x) / (2 * h), 1e-8);
        CHECK_NEAR(v.y, (b.y - a.y) / (2 * h), 1e-8);
        CHECK_NEAR(v.z, (b.z - a.z) / (2 * h), 1e-8);
    }
}

TEST(errors_without_friction)
{
    check_errors((incline){ "frictionless", 0.7, 0.05, 0, 0 }, 2.30236744e-01, 0);
    check_errors((incline){ "convex", 0, 0.01, 0, 0 }, 4.59150525e-02, 0);
    check_errors((incline){ "convex", 0, 0.001, 0, 0 }, 4.58865230e-03, 0);
}

TEST(errors_rolling_convex)
{
    check_errors((incline){ "convex", 1, 0.05, 0, 0 }, 1.29447184e-01, 2.06110591e-01);
    check_errors((incline){ "convex", 1, 0.01, 0, 0 }, 2.68882872e-02, 3.87808597e-02);
    check_errors((incline){ "convex", 1, 0.001, 0, 0 }, 2.62778717e-03, 4.00630705e-03);
}

TEST(errors_rolling_fixed_point)
{
    check_errors((incline){ "fixed-point", 1, 0.05, 1e-2, 0 }, 1.39004949e-01, 1.85346171e-01);
    check_errors((incline){ "fixed-point", 1, 0.01, 1e-2, 0 }, 2.77858823e-02, 3.68438749e-02);
    check_errors((incline){ "fixed-point", 1, 0.001, 1e-2, 0 }, 2.97143679e-03, 3.27204676e-03);
}

TEST(errors_slipping_convex)
{
    check_errors((incline){ "convex", 0.1, 0.05, 0, 0 }, 1.90027623e-01, 8.36078921e-02);
    check_errors((incline){ "convex", 0.1, 0.01, 0, 0 }, 3.79032888e-02, 1.66719351e-02);
    check_errors((incline){ "convex", 0.1, 0.001, 0, 0 }, 3.78809930e-03, 1.66603977e-03);
}

TEST(errors_slipping_fixed_point)
{
    check_errors((incline){ "fixed-point", 0.1, 0.05, 1e-2, 0 }, 1.90949654e-01, 7.92187765e-02);
    check_errors((incline){ "fixed-point", 0.1, 0.01, 1e-2, 0 }, 3.80824461e-02, 1.57966735e-02);
    check_errors((incline){ "fixed-point", 0.1, 0.001, 1e-2, 0 }, 3.80600102e-03, 1.57857369e-03);
}

TEST(order_is_one)
{
    const incline cases[] = { { "convex", 0, 0, 0, 0 },
                              { "convex", 0.1, 0, 0, 0 },
                              { "convex", 1, 0, 0, 0 },
                              { "fixed-point", 0.1, 0, 0, 0 },
                              { "fixed-point", 1, 0, 0, 0 } };
    for (int i = 0; i < 5; i++) {
        incline coarse = cases[i], fine = cases[i];
        coarse.dt = 0.05;
        fine.dt = 0.001;
        double order = log(run(coarse).x / run(fine).x) / log(50);
        CHECK(order >= 0.9 && order <= 1.2);
    }
}

/* the paper prints 2.8 and 1.2; they belong to mu = 0.1 and mu = 1. The authors keep the contact in
 * their list during flight, hence the margin. */
TEST(mean_fixed_point_iterations)
{
    CHECK_NEAR(run((incline){ "fixed-point", 0.1, 0.01, 1e-2, 2 }).mean_outer, 2.77, 0.05);
    CHECK_NEAR(run((incline){ "fixed-point", 1, 0.01, 1e-2, 2 }).mean_outer, 1.15, 0.05);
}

TEST(convex_keeps_a_sliding_gap_and_fixed_point_none)
{
    cairn_incline_run convex = run((incline){ "convex", 0.1, 0.05, 0, 0 });
    CHECK_CLOSE(convex.last_gap, 1.200782e-02, 1e-6);
    CHECK_CLOSE(convex.last_gap, 0.1 * 0.05 * fabs(convex.last_sliding), 2e-2);
    CHECK_NEAR(run((incline){ "convex", 1, 0.05, 0, 0 }).last_gap, 0, 1e-12);
    CHECK_NEAR(run((incline){ "fixed-point", 0.1, 0.05, 0, 0 }).last_gap, 0, 1e-10);
}

GROUP(test_incline)
{
    RUN(CASE(exact_solution_at_the_end), CASE(exact_velocity_is_the_slope_of_the_exact_position),
        CASE(errors_without_friction), CASE(errors_rolling_convex),
        CASE(errors_rolling_fixed_point), CASE(errors_slipping_convex),
        CASE(errors_slipping_fixed_point), CASE(order_is_one), CASE(mean_fixed_point_iterations),
        CASE(convex_keeps_a_sliding_gap_and_fixed_point_none));
}

/* ==== test_stewart_trinkle: four balls on a table: [ST96] 4, Table 1 and Figs 7 and 8.
 *
 * One ball is thrown, lands, rolls and hits a row of three. The numbers called computed were found
 * with another program, from the same formulas, cones with 8 edges and an iteration to 1e-10. */

static cairn_throw fine, coarse; /* too large for a stack */

TEST(four_balls_vary_and_converge_as_in_table_1)
{
    static const struct row {
        int steps;
        double variation, velocity, position; /* published                     */
        double computed[3], within;           /* the same; of published errors */
        double table, collision;              /* computed                      */
    } rows[] = {
        { 50, 19.4046, 0.5050, 0.2505, { 19.4110, 0.4957, 0.2509 }, 0.10, 0.40, 0.58 },
        { 100, 19.1728, 0.3523, 0.2015, { 19.1754, 0.3507, 0.2008 }, 0.10, 0.42, 0.58 },
        { 200, 19.1702, 0.1657, 0.0838, { 19.1698, 0.1649, 0.0831 }, 0.10, 0.425, 0.58 },
        { 400, 19.0862, 0.0700, 0.0298, { 19.0870, 0.0650, 0.0331 }, 0.15, 0.425, 0.5825 },
    };
    CHECK_OK(cairn_balls_throw(800, &fine));
    CHECK_CLOSE(cairn_throw_variation(&fine), 19.0690, 5e-4);
    CHECK_NEAR(cairn_throw_variation(&fine), 19.0698, 2e-4);
    CHECK_NEAR(fine.table, 0.4275, 1e-9);
    CHECK_NEAR(fine.collision, 0.5825, 1e-9);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double velocity, position;
        CHECK_OK(cairn_balls_throw(rows[i].steps, &coarse));
        cairn_throw_compare(&coarse, &fine, &velocity, &position);
        CHECK_CLOSE(cairn_throw_variation(&coarse), rows[i].variation, 5e-4);
        CHECK_CLOSE(velocity, rows[i].velocity, rows[i].within);
        CHECK_CLOSE(position, rows[i].position, rows[i].within);
        CHECK_NEAR(cairn_throw_variation(&coarse), rows[i].computed[0], 2e-4);
        CHECK_NEAR(velocity, rows[i].computed[1], 1e-4);
        CHECK_NEAR(position, rows[i].computed[2], 1e-4);
        CHECK_NEAR(coarse.table, rows[i].table, 1e-9);
        CHECK_NEAR(coarse.collision, rows[i].collision, 1e-9);
    }
}

TEST(four_balls_end_where_computed)
{
    static const double x[BALLS][3] = { { 0.90170663, 0.1607198, 0.1 },
                                        { 1.05132737, -0.01265437, 0.1 },
                                        { 1.25776456, -0.0159823, 0.1 },
                                        { 1.461883, 0.00288388, 0.1 } };
    CHECK_OK(cairn_balls_throw(200, &coarse));
    for (int i = 0; i < BALLS; i++)
        for (int c = 0; c < 3; c++)
            CHECK_NEAR(coarse.q[200][6 * i + c], x[i][c], 1e-7);
}

/* 5/7 of 1.5 and 0.1 m/s, and the spin of rolling at radius 0.1 */
TEST(thrown_ball_rolls_after_it_has_landed)
{
    CHECK_OK(cairn_balls_throw(200, &coarse));
    const double *v = coarse.v[100]; /* t = 0.5 */
    CHECK_NEAR(v[0], 7.5 / 7, 1e-9);
    CHECK_NEAR(v[1], 0.5 / 7, 1e-9);
    CHECK_NEAR(v[2], 0, 1e-9);
    CHECK_NEAR(v[3], -5.0 / 7, 1e-9);
    CHECK_NEAR(v[4], 75.0 / 7, 1e-9);
}

/* seven contacts: four with the table, three between the balls; their LCP has 70 rows, as printed */
TEST(no_step_overlaps_or_gains_energy)
{
    CHECK_OK(cairn_balls_throw(200, &coarse));
    CHECK_INT(coarse.candidates, 7);
    CHECK(coarse.linearisations >= 3 && coarse.linearisations <= 10);
    CHECK(coarse.penetration <= 1e-12);
    CHECK(coarse.rise <= 1e-12);
}

GROUP(test_stewart_trinkle)
{
    RUN(CASE(four_balls_vary_and_converge_as_in_table_1), CASE(four_balls_end_where_computed),
        CASE(thrown_ball_rolls_after_it_has_landed), CASE(no_step_overlaps_or_gains_energy));
}
