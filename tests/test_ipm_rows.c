/* test_ipm_rows.c - rows with bounds in the interior point method, by hand. */
#include "solve/ipm_rows.h"

#include "check.h"
#include "row_problems.h"
#include "solve/ipm_cone.h"

typedef struct fixture {
    row_problem rows;
    cairn_system system;
    cairn_arena arena;
    cairn_cones cones;
} fixture;

/* A body of 2 kg and three rows on its velocity: bounds -1 and 3, none, and both 7. */
static void open_fixture(fixture *f)
{
    const double centre[3] = { 0, 0, 0 };
    memset(f, 0, sizeof *f);
    rows_begin(&f->rows);
    rows_body(&f->rows, 2, 1, 0);
    rows_ball(&f->rows, 0, -1, centre, centre);
    rows_bound(&f->rows, 0, 0, -1, 3);
    rows_bound(&f->rows, 0, 2, 7, 7);
    CHECK_OK(cairn_system_create(&f->rows.p, &f->arena, &f->system));
    CHECK_OK(cairn_cones_create(&f->system, &f->arena, &f->cones));
}

TEST(a_row_has_a_variable_unless_its_bounds_are_one_number)
{
    static fixture f;
    open_fixture(&f);
    const double x[2] = { 0.5, -4 };
    double r[3];
    CHECK_INT(f.cones.count, 2);
    CHECK_INT(f.cones.rows.count, 2);
    CHECK_NEAR(f.cones.rank, 2, 0); /* two finite bounds */
    cairn_cones_place(&f.cones, x, r);
    CHECK(r[0] == 0.5 && r[1] == -4 && r[2] == 7);
    cairn_arena_destroy(&f.arena);
}

/* x = 1 is in the middle, both distances 2; z_s = 4/2; P^-2 = 1 + 1 (+ delta/2). */
TEST(the_start_is_in_the_middle)
{
    static fixture f;
    double x[2] = { 0 }, z[2] = { 0 }, u[2] = { 0 }, d[2], l[2];
    open_fixture(&f);
    cairn_cones_start_rows(&f.cones, 10, d);
    cairn_cones_move(&f.cones, CAIRN_CONE_X, 1, d, x);
    CHECK(x[0] == 1 && x[1] == 0);
    CHECK(f.cones.rows.gap[0][0] == 2 && f.cones.rows.gap[1][0] == 2);
    cairn_cones_start_sides(&f.cones, 4, u, d);
    cairn_cones_move(&f.cones, CAIRN_CONE_Z, 1, d, z);
    CHECK(f.cones.rows.z[0][0] == 2 && f.cones.rows.z[1][0] == 2 && z[0] == 0);
    CHECK(f.cones.rows.z[0][1] == 0 && f.cones.rows.z[1][1] == 0 && z[1] == 0);
    CHECK_NEAR(cairn_cones_product_rows(&f.cones), 8, 0);
    CHECK(cairn_cones_scale(&f.cones, 0, x, z, l));
    CHECK_NEAR(f.cones.root[0], sqrt(0.5), 1e-15);
    CHECK_NEAR(f.cones.root[1], 1 / sqrt(0.5 * 1e-10), 1e-3); /* delta is at least 1e-10 */
    cairn_arena_destroy(&f.arena);
}

/* dx = -4: dz_0 = (-4 + 2*4)/2 = 2, dz_1 = (-4 - 2*4)/2 = -6. z_1 ends a third of the way, g_0 half;
 * a quarter leads to distances 1 and 3. */
TEST(a_step_by_hand)
{
    static fixture f;
    double x[2] = { 0 }, z[2] = { 0 }, u[2] = { 0 }, d[2], l[2], dx[2] = { 0 };
    open_fixture(&f);
    cairn_cones_start_rows(&f.cones, 10, d);
    cairn_cones_move(&f.cones, CAIRN_CONE_X, 1, d, x);
    cairn_cones_start_sides(&f.cones, 4, u, d);
    cairn_cones_move(&f.cones, CAIRN_CONE_Z, 1, d, z);
    CHECK(cairn_cones_scale(&f.cones, 0, x, z, l));
    cairn_cones_aim_rows(&f.cones, 0, false, dx, d);
    CHECK_NEAR(f.cones.rows.c[0][0], -4, 0);
    CHECK_NEAR(d[0], 0, 1e-15); /* both bounds push alike */
    dx[0] = -4 / f.cones.root[0];
    CHECK_NEAR(cairn_cones_reach_rows(&f.cones, dx), 3, 1e-14);
    CHECK_NEAR(f.cones.rows.dz[0][0], 2, 1e-14);
    CHECK_NEAR(f.cones.rows.dz[1][0], -6, 1e-14);
    cairn_cones_aim_rows(&f.cones, 1, true, dx, d); /* c_s = 1 - 4 - dg_s dz_s */
    CHECK_NEAR(f.cones.rows.c[0][0], -3 + 8, 1e-13);
    CHECK_NEAR(f.cones.rows.c[1][0], -3 + 24, 1e-13);
    d[0] = -4;
    d[1] = 8;
    cairn_cones_move(&f.cones, CAIRN_CONE_X, 0.25, d, x);
    cairn_cones_move(&f.cones, CAIRN_CONE_Z, 0.25, d, z);
    CHECK(x[0] == 0 && x[1] == 2);
    CHECK(f.cones.rows.gap[0][0] == 1 && f.cones.rows.gap[1][0] == 3);
    CHECK_NEAR(z[0], 2.5 - 0.5, 1e-14);
    cairn_arena_destroy(&f.arena);
}

TEST(points_at_a_bound_are_outside)
{
    static fixture f;
    double x[2] = { 0 }, z[2] = { 0 }, d[2], l[2];
    open_fixture(&f);
    cairn_cones_start_rows(&f.cones, 10, d);
    d[0] = 3; /* the upper bound */
    cairn_cones_move(&f.cones, CAIRN_CONE_X, 1, d, x);
    f.cones.rows.z[0][0] = f.cones.rows.z[1][0] = 1;
    CHECK(!cairn_cones_scale(&f.cones, 0, x, z, l));
    cairn_arena_destroy(&f.arena);
}

int main(void)
{
    RUN(CASE(a_row_has_a_variable_unless_its_bounds_are_one_number),
        CASE(the_start_is_in_the_middle), CASE(a_step_by_hand),
        CASE(points_at_a_bound_are_outside));
}
