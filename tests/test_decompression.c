/* test_decompression.c - contacts with a least normal impulse: known answers, and the law itself
 * checked from outside on random problems. */
#include "check.h"
#include "problem/delassus.h"
#include "random_problem.h"
#include "solve/decompression.h"

static cairn_solve_options exact(cairn_law law)
{
    cairn_solve_options options = cairn_solve_options_default();
    options.law = law;
    options.tolerance = 1e-12;
    return options;
}

/* ---- three balls in a row ------------------------------------------------------------------- */

/* Unit masses on a line; contact j between balls j and j + 1, u_N = v_(j+1) - v_j. After the
 * compression of (1, 0, 0) all go on with 1/3: r_c = (2/3, 1/3). */
static const double masses[3] = { 1, 1, 1 }, before[3] = { 1, 0, 0 };
static const double rows[8] = { -1, 0, 1, 0, -1, 0, 1, 0 };
static const int32_t neighbours[4] = { 0, 1, 1, 2 };
static const double compressed[4] = { 2.0 / 3, 0, 1.0 / 3, 0 }, no_friction[2] = { 0, 0 };

static void throw_balls(double e_first, double e_second, double *v)
{
    const cairn_problem p = { .dimension = 2,
                              .block_size = 1,
                              .blocks = 3,
                              .contacts = 2,
                              .mass_inverse = masses,
                              .v_free = before,
                              .block = neighbours,
                              .H = rows,
                              .mu = no_friction };
    const double least[2] = { e_first * 2 / 3, e_second / 3 };
    const cairn_decompression d = { &p, compressed, least };
    const cairn_solve_options options = exact(CAIRN_LAW_COULOMB);
    double r[4], u[4];
    cairn_solve_report report;
    memcpy(r, compressed, sizeof r);
    CHECK_OK(cairn_decompression_solve(&d, &options, r, v, u, &report));
    CHECK(report.converged);
    CHECK(report.judgement.asked.relative <= 1e-12);
}

/* e = (1, 1): r = (4/3, 2/3), v = (-1/3, 2/3, 2/3).
 * e = (0, 1): the second contact throws ball 3 with 1/3 more; balls 1 and 2 share the recoil of
 * 1/3, held together by an impulse of 1/6: v = (1/6, 1/6, 2/3).
 * e = (1, 0): r_1 = 4/3; ball 2 would run into ball 3, so x_2 = 1/3: as for e = (1, 1). */
TEST(balls_in_a_row_share_the_decompression)
{
    const double e[3][2] = { { 1, 1 }, { 0, 1 }, { 1, 0 } };
    const double expected[3][3] = { { -1.0 / 3, 2.0 / 3, 2.0 / 3 },
                                    { 1.0 / 6, 1.0 / 6, 2.0 / 3 },
                                    { -1.0 / 3, 2.0 / 3, 2.0 / 3 } };
    for (int k = 0; k < 3; k++) {
        double v[3];
        throw_balls(e[k][0], e[k][1], v);
        for (int i = 0; i < 3; i++)
            CHECK_NEAR(v[i], expected[k][i], 1e-11);
    }
}

/* ---- one contact with friction -------------------------------------------------------------- */

/* A point of mass 1 over a floor in 3D, compressed to (0, 3, 4) m/s: thrown up with 0.5 N s, and
 * slowed by at most mu 0.5 N s along (3, 4)/5. */
static void throw_point(double mu, double *r, double *v)
{
    const double mass[3] = { 1, 1, 1 }, H[18] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    const double free[3] = { 0, 3, 4 }, nothing[3] = { 0, 0, 0 }, least = 0.5;
    const int32_t block[2] = { 0, -1 };
    const cairn_problem p = { .dimension = 3,
                              .block_size = 3,
                              .blocks = 1,
                              .contacts = 1,
                              .mass_inverse = mass,
                              .v_free = free,
                              .block = block,
                              .H = H,
                              .mu = &mu };
    const cairn_decompression d = { &p, nothing, &least };
    const cairn_solve_options options = exact(CAIRN_LAW_COULOMB);
    double u[3];
    cairn_solve_report report;
    memset(r, 0, 3 * sizeof(double));
    CHECK_OK(cairn_decompression_solve(&d, &options, r, v, u, &report));
    CHECK(report.converged);
}

TEST(friction_is_bounded_by_the_impulse_of_the_decompression)
{
    double r[3], v[3];
    throw_point(0.2, r, v);
    CHECK_NEAR(v[0], 0.5, 1e-14);
    CHECK_NEAR(r[1], -0.1 * 0.6, 1e-14);
    CHECK_NEAR(r[2], -0.1 * 0.8, 1e-14);
    throw_point(20, r, v); /* 10 N s at most: 5 are enough to stop it */
    CHECK_NEAR(v[1], 0, 1e-13);
    CHECK_NEAR(v[2], 0, 1e-13);
    CHECK_NEAR(v[0], 0.5, 1e-14);
}

/* Thrown with the least impulse, 1/2 N s, it still approaches at 1 m/s and slides at 5: whatever mu
 * is, that is an error of 1 m/s. The natural map has 1e-3. */
TEST(a_speed_of_approach_above_the_floor_is_not_divided_by_friction)
{
    const double mass[3] = { 1, 1, 1 }, H[18] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, mu = 1000;
    const double free[3] = { -1.5, 303, 404 }, nothing[3] = { 0, 0, 0 }, least = 0.5;
    const double r[3] = { 0.5, -300, -400 }; /* friction at its bound and against the sliding */
    const int32_t block[2] = { 0, -1 };
    const cairn_problem p = { .dimension = 3,
                              .block_size = 3,
                              .blocks = 1,
                              .contacts = 1,
                              .mass_inverse = mass,
                              .v_free = free,
                              .block = block,
                              .H = H,
                              .mu = &mu };
    const cairn_decompression d = { &p, nothing, &least };
    double v[3], u[3];
    cairn_judgement said;
    cairn_decompression_judge(&d, CAIRN_LAW_COULOMB, r, v, u, &said);
    CHECK_NEAR(said.coulomb.worst, 1, 1e-9);
}

/* ---- random problems ------------------------------------------------------------------------ */

typedef struct thrown {
    random_problem random;
    double least[MOST_CONTACTS], compression[3 * MOST_CONTACTS];
    double r[3 * MOST_CONTACTS], v[6 * MOST_BLOCKS], u[3 * MOST_CONTACTS];
    cairn_decompression d;
    cairn_solve_report report;
} thrown;

static void make_thrown(thrown *t, int dimension, uint64_t seed)
{
    uint64_t state = seed;
    make_random_problem(&t->random, dimension, 20, 16, seed);
    for (int j = 0; j < 16; j++) {
        t->least[j] = j % 3 ? cairn_random_uniform(&state) : 0;
        for (int i = 0; i < dimension; i++)
            t->compression[j * dimension + i] = i ? 0 : cairn_random_uniform(&state);
    }
    memcpy(t->r, t->compression, sizeof t->r);
    t->d = (cairn_decompression){ &t->random.p, t->compression, t->least };
}

static double tangent_norm(int d, const double *x)
{
    return d == 3 ? hypot(x[1], x[2]) : fabs(x[1]);
}

/* Coulomb's law with the floor, said without any projection. */
static void check_contact(const thrown *t, int j, int *at_floor, int *above)
{
    int d = t->random.p.dimension;
    const double *u = t->u + j * d;
    double x[3] = { 0 }, power = 0, mu = t->random.mu[j], open = u[0] + t->random.b[j];
    for (int i = 0; i < d; i++)
        x[i] = t->r[j * d + i] - t->compression[j * d + i];
    for (int i = 1; i < d; i++)
        power += x[i] * u[i];
    CHECK(x[0] >= t->least[j] - 1e-10);
    CHECK(open >= -1e-9);
    CHECK(fabs((x[0] - t->least[j]) * open) < 1e-9);
    CHECK(tangent_norm(d, x) <= mu * x[0] + 1e-10);
    CHECK_NEAR(power, -tangent_norm(d, x) * tangent_norm(d, u), 1e-9); /* opposes sliding */
    CHECK(fabs((mu * x[0] - tangent_norm(d, x)) * tangent_norm(d, u)) < 1e-9);
    *at_floor += t->least[j] > 0 && open > 1e-6;
    *above += x[0] > t->least[j] + 1e-6;
}

TEST(random_problems_satisfy_coulombs_law_above_their_floors)
{
    static thrown t;
    int at_floor = 0, above = 0;
    for (int k = 0; k < 40; k++) {
        const cairn_solve_options options = exact(CAIRN_LAW_COULOMB);
        make_thrown(&t, 2 + k % 2, 100 + (uint64_t)k);
        CHECK_OK(cairn_decompression_solve(&t.d, &options, t.r, t.v, t.u, &t.report));
        CHECK(t.report.converged);
        for (int j = 0; j < 16; j++)
            check_contact(&t, j, &at_floor, &above);
    }
    CHECK(at_floor > 100 && above > 50); /* both cases were met */
}

/* convex law: no x' in C has less energy 1/2 r'Wr + q'r; tried at x + (a random way inside C) */
TEST(the_convex_law_has_least_energy)
{
    static thrown t;
    for (int k = 0; k < 20; k++) {
        const cairn_solve_options options = exact(CAIRN_LAW_CONVEX);
        uint64_t state = 7;
        int d = 2 + k % 2;
        make_thrown(&t, d, 300 + (uint64_t)k);
        CHECK_OK(cairn_decompression_solve(&t.d, &options, t.r, t.v, t.u, &t.report));
        CHECK(t.report.converged);
        for (int j = 0; j < 16; j++) { /* u^.(y - x) >= 0 for y in C */
            double y[3], slope = 0, least = t.least[j];
            double normal = least + cairn_random_uniform(&state);
            double share = cairn_random_uniform(&state), angle = 6 * share;
            y[0] = normal;
            y[1] = share * t.random.mu[j] * normal * (d == 3 ? cos(angle) : 1);
            y[2] = share * t.random.mu[j] * normal * sin(angle);
            for (int i = 0; i < d; i++)
                slope += (t.u[j * d + i] + (i ? 0 : t.random.b[j])) *
                         (y[i] - (t.r[j * d + i] - t.compression[j * d + i]));
            CHECK(slope >= -1e-9);
        }
    }
}

/* the same answer from W and q alone */
TEST(the_local_form_gives_the_same)
{
    static thrown t;
    double none, u[3 * MOST_CONTACTS], r[3 * MOST_CONTACTS];
    const cairn_solve_options options = exact(CAIRN_LAW_COULOMB);
    cairn_arena arena = { 0 };
    cairn_matrix W;
    cairn_problem local;
    cairn_solve_report report;
    make_thrown(&t, 3, 11);
    memcpy(r, t.r, sizeof r);
    CHECK_OK(cairn_decompression_solve(&t.d, &options, t.r, t.v, t.u, &t.report));
    CHECK_OK(cairn_delassus_localise(&t.random.p, &arena, &W, &local));
    const cairn_decompression d = { &local, t.compression, t.least };
    CHECK_OK(cairn_decompression_solve(&d, &options, r, &none, u, &report));
    CHECK(report.converged);
    for (int i = 0; i < 48; i++)
        CHECK_NEAR(r[i], t.r[i], 1e-9);
    cairn_arena_destroy(&arena);
}

/* 1e-3 N s too much at one contact of inverse mass about 1 shows as about 1e-3 m/s there */
TEST(the_judge_sees_a_wrong_impulse)
{
    static thrown t;
    const cairn_solve_options options = exact(CAIRN_LAW_COULOMB);
    cairn_judgement said;
    make_thrown(&t, 3, 12);
    CHECK_OK(cairn_decompression_solve(&t.d, &options, t.r, t.v, t.u, &t.report));
    t.r[3 * 5] += 1e-3;
    cairn_decompression_judge(&t.d, CAIRN_LAW_COULOMB, t.r, t.v, t.u, &said);
    CHECK(said.asked.worst > 3e-4 && said.asked.worst < 3e-3);
    CHECK_INT(said.asked.worst_contact, 5);
    t.r[3 * 5] -= 1e-3 + 0.1 * (t.least[5] + 1); /* below the floor: outside C */
    cairn_decompression_judge(&t.d, CAIRN_LAW_COULOMB, t.r, t.v, t.u, &said);
    CHECK(said.cone_violation > 0.05);
}

TEST(too_few_sweeps_are_reported)
{
    static thrown t;
    cairn_solve_options options = exact(CAIRN_LAW_COULOMB);
    make_thrown(&t, 3, 13);
    options.max_iterations = 1;
    CHECK_OK(cairn_decompression_solve(&t.d, &options, t.r, t.v, t.u, &t.report));
    CHECK(!t.report.converged);
    CHECK_INT(t.report.iterations, 1);
    CHECK(t.report.judgement.asked.relative > 1e-12);
}

TEST(reports_of_both_phases_are_joined_by_the_worse)
{
    cairn_solve_report first = { .converged = true,
                                 .iterations = 3,
                                 .outer_iterations = 2,
                                 .solver = "ngs",
                                 .remark = "first" };
    cairn_solve_report second = { .converged = true, .iterations = 4, .outer_iterations = 1 };
    first.judgement.asked = (cairn_residual){ .worst = 2, .relative = 0.1, .worst_contact = 7 };
    second.judgement.asked = (cairn_residual){ .worst = 1, .relative = 0.5, .worst_contact = 1 };
    cairn_decompression_report(&first, &second);
    CHECK_INT(second.iterations, 7);
    CHECK_INT(second.outer_iterations, 3);
    CHECK_TEXT(second.solver, "ngs");
    CHECK_TEXT(second.remark, "first");
    CHECK_NEAR(second.judgement.asked.worst, 2, 0);
    CHECK_INT(second.judgement.asked.worst_contact, 7);
    CHECK_NEAR(second.judgement.asked.relative, 0.5, 0);
    first.converged = false;
    cairn_decompression_report(&first, &second);
    CHECK(!second.converged);
}

int main(void)
{
    RUN(CASE(balls_in_a_row_share_the_decompression),
        CASE(friction_is_bounded_by_the_impulse_of_the_decompression),
        CASE(a_speed_of_approach_above_the_floor_is_not_divided_by_friction),
        CASE(random_problems_satisfy_coulombs_law_above_their_floors),
        CASE(the_convex_law_has_least_energy), CASE(the_local_form_gives_the_same),
        CASE(the_judge_sees_a_wrong_impulse), CASE(too_few_sweeps_are_reported),
        CASE(reports_of_both_phases_are_joined_by_the_worse));
}
