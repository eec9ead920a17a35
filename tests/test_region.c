/* test_region.c - boxes: what lies in them, how much of a segment and of a ball. */
#include "grain_sample.h"

static const cairn_region unit = { 3, { 0, 0, 0 }, { 1, 1, 1 } };
static const cairn_region square = { 2, { 0, 0, 0 }, { 1, 1, 0 } };

TEST(neighbouring_boxes_share_no_point)
{
    CHECK(cairn_region_contains(&unit, (cairn_vec3){ 0, 0, 0 }));
    CHECK(!cairn_region_contains(&unit, (cairn_vec3){ 1, 0.5, 0.5 }));
    CHECK(cairn_region_contains(&square, (cairn_vec3){ 0.5, 0.5, 7 }));
    CHECK_NEAR(cairn_region_volume(&(cairn_region){ 3, { 0, 0, 0 }, { 1, 2, 4 } }), 8, 0);
    CHECK_NEAR(cairn_region_volume(&(cairn_region){ 2, { 0, 0, 9 }, { 1, 2, 9 } }), 2, 0);
}

TEST(a_segment_counts_by_its_share_in_the_box)
{
    cairn_vec3 a = { -1, 0.5, 0.5 }, b = { 3, 0.5, 0.5 }, beside = { 3, 4.5, 0.5 };
    CHECK_NEAR(cairn_region_share(&unit, a, b), 0.25, 1e-15);
    CHECK_NEAR(cairn_region_share(&unit, b, a), 0.25, 1e-15);
    /* enters at x = 0, leaves at y = 1: t from 1/4 to 1/8, so never inside */
    CHECK_NEAR(cairn_region_share(&unit, a, beside), 0, 0);
    CHECK_NEAR(cairn_region_share(&unit, (cairn_vec3){ 0, 0, 0.2 }, (cairn_vec3){ 2, 2, 0.2 }), 0.5,
               1e-15);
}

TEST(a_ball_about_a_corner_fills_an_eighth_of_itself)
{
    double ball = 4.0 / 3 * M_PI * 0.125;
    CHECK_CLOSE(cairn_region_ball(&unit, (cairn_vec3){ 0, 0, 0 }, 0.5), ball / 8, 1e-12);
    CHECK_CLOSE(cairn_region_ball(&unit, (cairn_vec3){ 0.5, 0.5, 0.5 }, 0.5), ball, 1e-15);
    CHECK_CLOSE(cairn_region_ball(&square, (cairn_vec3){ 1, 1, 0 }, 0.5), M_PI / 16, 1e-14);
    CHECK_NEAR(cairn_region_ball(&unit, (cairn_vec3){ 1.6, 0.5, 0.5 }, 0.5), 0, 0);
}

/* A cap of height h has volume pi h^2 (3 R - h)/3. */
TEST(a_ball_cut_by_one_face_is_a_cap)
{
    const double r = 0.4, h = 0.1, cap = M_PI * h * h * (3 * r - h) / 3;
    CHECK_CLOSE(cairn_region_ball(&unit, (cairn_vec3){ 0.5, 0.5, 1.3 }, r), cap, 1e-9);
    CHECK_CLOSE(cairn_region_ball(&unit, (cairn_vec3){ 1.3, 0.5, 0.5 }, r), cap, 1e-9);
    /* the same in 2D: a segment, R^2 acos(1 - h/R) - (R - h) sqrt(2 R h - h^2) */
    double segment = r * r * acos(1 - h / r) - (r - h) * sqrt(2 * r * h - h * h);
    CHECK_CLOSE(cairn_region_ball(&square, (cairn_vec3){ 1.3, 0.5, 0 }, r), segment, 1e-12);
    CHECK_CLOSE(cairn_region_ball(&square, (cairn_vec3){ 0.5, -0.3, 0 }, r), segment, 1e-12);
}

/* The pieces that the eight octants about any point cut out of a ball are the ball. */
TEST(pieces_of_a_ball_add_up)
{
    const double r = 1, cut[3] = { 0.31, -0.22, 0.57 }, big = 9;
    double sum = 0;
    for (int k = 0; k < 8; k++) {
        cairn_region octant = { .dimension = 3 };
        for (int i = 0; i < 3; i++) {
            octant.low[i] = k >> i & 1 ? cut[i] : -big;
            octant.high[i] = k >> i & 1 ? big : cut[i];
        }
        sum += cairn_region_ball(&octant, (cairn_vec3){ 0, 0, 0 }, r);
    }
    CHECK_CLOSE(sum, 4.0 / 3 * M_PI, 1e-6);
}

/* Against counting the points of a fine grid: a ball cut by an edge and by a corner of the box. */
TEST(a_ball_cut_by_an_edge_or_a_corner_agrees_with_counting)
{
    enum { FINE = 120 };
    const cairn_vec3 centres[2] = { { 0.9, 0.2, 0.5 }, { 0.85, 0.2, 0.1 } };
    const double radius = 0.4;
    for (int c = 0; c < 2; c++) {
        int inside = 0;
        for (int k = 0; k < FINE * FINE * FINE; k++) {
            double x = (k % FINE + 0.5) / FINE - centres[c].x;
            double y = (k / FINE % FINE + 0.5) / FINE - centres[c].y;
            double z = (k / (FINE * FINE) + 0.5) / FINE - centres[c].z;
            inside += x * x + y * y + z * z < radius * radius;
        }
        CHECK_CLOSE(cairn_region_ball(&unit, centres[c], radius),
                    inside / (double)(FINE * FINE * FINE), 1e-3);
    }
}

TEST(an_open_box_ends_at_quantiles_of_the_centres)
{
    heap *h = heap_empty(2);
    cairn_measure_options o = cairn_measure_options_default();
    cairn_arena arena = { 0 };
    cairn_region region;
    for (int i = 0; i <= 100; i++)
        heap_ball(h, 0.5, (cairn_vec3){ 100 - i, 2 * i, 0 });
    o.trim = 0.2;
    cairn_measure m = { .sample = &h->sample, .options = &o, .arena = &arena };
    m.box = (cairn_region){ 2, { -INFINITY, 30, 0 }, { INFINITY, INFINITY, 0 } };
    CHECK_OK(cairn_region_bulk(&m, &region));
    CHECK_NEAR(region.low[0], 20, 0);
    CHECK_NEAR(region.high[0], 80, 0);
    CHECK_NEAR(region.low[1], 30, 0);
    CHECK_NEAR(region.high[1], 160, 0);
    CHECK_OK(cairn_region_column(&m, 0, &region));
    CHECK_NEAR(region.low[0], -0.5, 0);
    CHECK_NEAR(region.high[0], 100.5, 0);
    cairn_arena_destroy(&arena);
}

int main(void)
{
    RUN(CASE(neighbouring_boxes_share_no_point), CASE(a_segment_counts_by_its_share_in_the_box),
        CASE(a_ball_about_a_corner_fills_an_eighth_of_itself),
        CASE(a_ball_cut_by_one_face_is_a_cap), CASE(pieces_of_a_ball_add_up),
        CASE(a_ball_cut_by_an_edge_or_a_corner_agrees_with_counting),
        CASE(an_open_box_ends_at_quantiles_of_the_centres));
}
