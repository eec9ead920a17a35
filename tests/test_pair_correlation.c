/* test_pair_correlation.c - g(r) of lattices, where every number is known, and of an ideal gas. */
#include "grain_sample.h"

/* The rows where g is not 0, at most 8: their r and the neighbours found up to there. */
typedef struct peaks {
    int count;
    double r[8], neighbours[8];
} peaks;

static peaks find_peaks(const heap *h, const cairn_measure_options *o)
{
    peaks p = { 0 };
    cairn_statistic_table t = heap_measure(h, "pair-correlation", o);
    for (size_t k = 0; k < t.rows && p.count < 8; k++)
        if (table_at(&t, k, "g") > 0) {
            p.r[p.count] = table_at(&t, k, "r");
            p.neighbours[p.count++] = table_at(&t, k, "neighbours");
        }
    cairn_statistic_table_destroy(&t);
    return p;
}

/* Neighbours of a site at 1, sqrt 2, sqrt 3, 2, sqrt 5, sqrt 6: 6, 12, 8, 6, 24, 24. The edges are corrected, so the
 * numbers are those of the endless lattice though the box has only 5^3 sites. */
TEST(a_simple_cubic_lattice_has_its_shells)
{
    heap *h = heap_simple_cubic(3, 7);
    cairn_measure_options o = box_options((cairn_vec3){ 1, 1, 1 }, (cairn_vec3){ 6, 6, 6 });
    o.range = 4;
    o.bins = 80; /* shells of 0.05 */
    peaks p = find_peaks(h, &o);
    CHECK_INT(p.count, 6);
    const double r[6] = { 1, sqrt(2), sqrt(3), 2, sqrt(5), sqrt(6) };
    const double neighbours[6] = { 6, 18, 26, 32, 56, 80 };
    for (int k = 0; k < 6; k++) {
        CHECK_NEAR(p.r[k], r[k], 0.025);
        CHECK_CLOSE(p.neighbours[k], neighbours[k], 1e-12);
    }
}

/* Half of its cell: 12 at 1/sqrt 2, 6 at 1, 24 at sqrt(3/2). */
TEST(face_centred_cubic_has_its_shells)
{
    heap *h = heap_fcc(5);
    cairn_measure_options o = box_options((cairn_vec3){ 1, 1, 1 }, (cairn_vec3){ 4, 4, 4 });
    o.range = 2;
    o.bins = 40;
    peaks p = find_peaks(h, &o);
    const double r[3] = { sqrt(0.5), 1, sqrt(1.5) }, neighbours[3] = { 12, 18, 42 };
    CHECK(p.count >= 3);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(p.r[k], r[k], 0.02);
        CHECK_CLOSE(p.neighbours[k], neighbours[k], 1e-12);
    }
}

/* g of the first peak of a square lattice: 4 neighbours over rho times the ring, 2 pi r w. */
TEST(in_2d_the_shell_is_a_ring)
{
    heap *h = heap_simple_cubic(2, 12);
    cairn_measure_options o = box_options((cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 12, 12, 1 });
    o.range = 2;
    o.bins = 20;
    cairn_statistic_table t = heap_measure(h, "pair-correlation", &o);
    CHECK_INT(t.rows, 20);
    CHECK_NEAR(table_at(&t, 9, "r"), 1, 1e-12);
    CHECK_CLOSE(table_at(&t, 9, "g"), 4 / (2 * M_PI * 1 * 0.1), 1e-12);
    CHECK_NEAR(table_at(&t, 10, "g"), 0, 0);
    cairn_statistic_table_destroy(&t);
}

enum { GASES = 20, GAS_POINTS = 2000, GAS_SHELLS = 10 };

/* g of points at random in a unit box, mean over several gases, by shell. */
static void gas_mean(int dimension, double mean[GAS_SHELLS])
{
    cairn_measure_options o = box_options((cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 1, 1, 1 });
    uint64_t state = 7;
    o.bins = GAS_SHELLS; /* of 0.02 each */
    for (int gas = 0; gas < GASES; gas++) {
        heap *h = heap_empty(dimension);
        for (int i = 0; i < GAS_POINTS; i++) {
            double x = cairn_random_uniform(&state), y = cairn_random_uniform(&state);
            double z = cairn_random_uniform(&state);
            heap_ball(h, 0.02, (cairn_vec3){ x, y, dimension == 3 ? z : 0 });
        }
        cairn_statistic_table t = heap_measure(h, "pair-correlation", &o);
        CHECK_INT(t.rows, GAS_SHELLS);
        for (size_t k = 0; k < t.rows; k++)
            mean[k] += table_at(&t, k, "g") / GASES;
        cairn_statistic_table_destroy(&t);
    }
}

/* g = 1 at every r, also where a fifth of the box is near an edge. With P pairs in a shell over all
 * gases the deviation is about 1/sqrt(P); 5 of them are allowed, and 0.7 % for the scatter of points
 * near edges. */
static void check_gas(int dimension)
{
    double mean[GAS_SHELLS] = { 0 };
    const double n = GAS_POINTS, w = 0.02;
    gas_mean(dimension, mean);
    for (int k = 0; k < GAS_SHELLS; k++) {
        double r = (k + 1) * w, shell = dimension == 3 ? 4 * M_PI * r * r * w : 2 * M_PI * r * w;
        CHECK_NEAR(mean[k], 1, 5 / sqrt(GASES * n * n * shell / 2) + 0.007);
    }
}

TEST(an_ideal_gas_is_1_in_3d)
{
    check_gas(3);
}

TEST(an_ideal_gas_is_1_in_2d)
{
    check_gas(2);
}

TEST(distances_end_at_half_the_shortest_side)
{
    heap *h = heap_simple_cubic(2, 12);
    cairn_measure_options o = box_options((cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 12, 3, 1 });
    o.range = 5;
    o.bins = 50;
    cairn_statistic_table t = heap_measure(h, "pair-correlation", &o);
    CHECK_INT(t.rows, 14); /* 1.4 + 0.05 <= 1.5 */
    cairn_statistic_table_destroy(&t);
}

TEST(shells_may_be_as_thin_as_can_be)
{
    heap *h = heap_simple_cubic(2, 4);
    cairn_measure_options o = box_options((cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 4, 4, 1 });
    o.range = CAIRN_POSITIVE;
    cairn_statistic_table t = heap_measure(h, "pair-correlation", &o);
    for (size_t k = 0; k < t.rows; k++)
        CHECK(!(table_at(&t, k, "neighbours") > 0));
    cairn_statistic_table_destroy(&t);
}

int main(void)
{
    RUN(CASE(a_simple_cubic_lattice_has_its_shells), CASE(face_centred_cubic_has_its_shells),
        CASE(in_2d_the_shell_is_a_ring), CASE(an_ideal_gas_is_1_in_3d),
        CASE(an_ideal_gas_is_1_in_2d), CASE(distances_end_at_half_the_shortest_side),
        CASE(shells_may_be_as_thin_as_can_be));
}
