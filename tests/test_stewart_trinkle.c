/* test_stewart_trinkle.c - four balls on a table: [ST96] 4, Table 1 and Figs 7 and 8.
 *
 * One ball is thrown, lands, rolls and hits a row of three. The numbers called computed were found
 * with another program, from the same formulas, cones with 8 edges and an iteration to 1e-10. */
#include "check.h"
#include "reproduce/four_balls.h"

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

int main(void)
{
    RUN(CASE(four_balls_vary_and_converge_as_in_table_1), CASE(four_balls_end_where_computed),
        CASE(thrown_ball_rolls_after_it_has_landed), CASE(no_step_overlaps_or_gains_energy));
}
