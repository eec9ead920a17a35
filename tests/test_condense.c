/* test_condense.c - W = H' M^-1 H and q = H' M^-1 f + w against sums written out. */
#include "base/random.h"
#include "cairn/global.h"
#include "check.h"
#include "failing_allocator.h"
#include "math/sparse.h"

enum { MOST = 60 };

/* A global problem with dense M and H of some random zeros. */
typedef struct full {
    int n, d, contacts;
    double M[MOST][MOST], H[MOST][MOST], f[MOST], w[MOST], mu[MOST];
    cairn_arena arena;
    cairn_global g;
} full;

static cairn_matrix gather(full *p, int columns, const double (*a)[MOST])
{
    int32_t row[MOST * MOST], column[MOST * MOST];
    double value[MOST * MOST];
    cairn_entries e = { 0, row, column, value };
    cairn_matrix out;
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < columns; j++)
            if (a[i][j] != 0) {
                row[e.count] = i;
                column[e.count] = j;
                value[e.count++] = a[i][j];
            }
    CHECK_OK(cairn_sparse_gather(p->n, columns, &e, &p->arena, &out));
    return out;
}

static void pose(full *p)
{
    p->g = (cairn_global){ .dimension = p->d,
                           .contacts = p->contacts,
                           .M = gather(p, p->n, (const double(*)[MOST])p->M),
                           .H = gather(p, p->d * p->contacts, (const double(*)[MOST])p->H),
                           .f = p->f,
                           .w = p->w,
                           .mu = p->mu };
}

/* M connects degrees of freedom of the same block of `block`; `skew` makes it unsymmetric. */
static void make(full *p, int n, int block, int d, double skew)
{
    uint64_t state = 11;
    memset(p, 0, sizeof *p);
    *p = (full){ .n = n, .d = d, .contacts = 6 };
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            if (i / block == j / block)
                p->M[i][j] = i == j ? 2 + block : 1.0 / (1 + abs(i - j)) + (i < j ? skew : 0);
        for (int a = 0; a < d * p->contacts; a++)
            if (cairn_random_uniform(&state) < 0.2)
                p->H[i][a] = cairn_random_normal(&state);
        p->f[i] = cairn_random_normal(&state);
    }
    for (int a = 0; a < d * p->contacts; a++)
        p->w[a] = cairn_random_normal(&state);
    for (int j = 0; j < p->contacts; j++)
        p->mu[j] = 0.1 * j;
    pose(p);
}

/* x = M^-1 b by Gauss without pivots. */
static void solve_dense(const full *p, const double *b, double *x)
{
    double A[MOST][MOST];
    memcpy(A, p->M, sizeof A);
    memcpy(x, b, sizeof(double) * (size_t)p->n);
    for (int k = 0; k < p->n; k++)
        for (int i = k + 1; i < p->n; i++) {
            double ratio = A[i][k] / A[k][k];
            for (int j = k; j < p->n; j++)
                A[i][j] -= ratio * A[k][j];
            x[i] -= ratio * x[k];
        }
    for (int i = p->n - 1; i >= 0; i--) {
        for (int j = i + 1; j < p->n; j++)
            x[i] -= A[i][j] * x[j];
        x[i] /= A[i][i];
    }
}

static double column_product(const full *p, int a, const double *x)
{
    double sum = 0;
    for (int i = 0; i < p->n; i++)
        sum += p->H[i][a] * x[i];
    return sum;
}

/* Every entry of W and q, and the velocity of some impulses. */
static void check_condensed(full *p)
{
    cairn_condensed *c;
    int size = p->d * p->contacts;
    double x[MOST], b[MOST], v[MOST], r[MOST];
    CHECK_OK(cairn_condense(&p->g, &c, NULL));
    const cairn_problem *local = cairn_condensed_problem(c);
    CHECK_OK(cairn_problem_check(local, NULL));
    for (int k = 0; k < size; k++) {
        for (int i = 0; i < p->n; i++)
            b[i] = p->H[i][k];
        solve_dense(p, b, x);
        for (int a = 0; a < size; a++)
            CHECK_NEAR(cairn_sparse_entry(local->W, a, k), column_product(p, a, x), 1e-13);
    }
    solve_dense(p, p->f, x);
    for (int a = 0; a < size; a++) {
        CHECK_NEAR(local->q[a], column_product(p, a, x) + p->w[a], 1e-13);
        r[a] = a - 3.5;
    }
    for (int i = 0; i < p->n; i++) {
        b[i] = p->f[i];
        for (int a = 0; a < size; a++)
            b[i] += p->H[i][a] * r[a];
    }
    solve_dense(p, b, x);
    CHECK_OK(cairn_condensed_velocity(c, r, v));
    for (int i = 0; i < p->n; i++)
        CHECK_NEAR(v[i], x[i], 1e-12);
    cairn_condensed_destroy(c);
    cairn_arena_destroy(&p->arena);
}

static full p;

TEST(every_structure_of_M_gives_the_same_as_the_dense_formula)
{
    const int blocks[] = { 1, 3, 6, 20, 60 };
    for (int k = 0; k < 5; k++)
        for (int d = 2; d <= 3; d++) {
            make(&p, 60, blocks[k], d, 0);
            check_condensed(&p);
        }
}

TEST(an_unsymmetric_M_is_taken_as_it_is)
{
    make(&p, 60, 60, 3, 1e-3);
    check_condensed(&p);
    make(&p, 60, 6, 3, 0.1);
    check_condensed(&p);
}

TEST(a_symmetric_M_gives_a_W_symmetric_to_the_last_bit)
{
    cairn_condensed *c;
    make(&p, 60, 6, 3, 0);
    CHECK_OK(cairn_condense(&p.g, &c, NULL));
    const cairn_matrix *W = cairn_condensed_problem(c)->W;
    for (int a = 0; a < 18; a++)
        for (int b = 0; b < 18; b++)
            CHECK(cairn_sparse_entry(W, a, b) == cairn_sparse_entry(W, b, a));
    CHECK(cairn_condensed_asymmetry(c) == 0);
    cairn_condensed_destroy(c);
    cairn_arena_destroy(&p.arena);
}

TEST(contacts_without_common_bodies_are_not_coupled)
{
    /* two bodies of one degree of freedom, a contact on each */
    cairn_condensed *c;
    memset(&p, 0, sizeof p);
    p = (full){ .n = 2, .d = 2, .contacts = 2 };
    p.M[0][0] = 2;
    p.M[1][1] = 4;
    p.H[0][0] = 1;
    p.H[1][2] = 3;
    p.f[0] = 8;
    pose(&p);
    CHECK_OK(cairn_condense(&p.g, &c, NULL));
    const cairn_problem *local = cairn_condensed_problem(c);
    CHECK_INT(local->W->start[4], 2);
    CHECK(cairn_sparse_entry(local->W, 0, 0) == 0.5);
    CHECK(cairn_sparse_entry(local->W, 2, 2) == 2.25);
    CHECK(local->q[0] == 4 && local->q[2] == 0);
    cairn_condensed_destroy(c);
    cairn_arena_destroy(&p.arena);
}

/* A joint between parts of a mesh is rows of the condensed problem, bounds and all. */
TEST(rows_with_bounds_come_along)
{
    const uint8_t bounded[6] = { 0, 1, 0, 0, 0, 0 };
    double lower[18] = { 0 }, upper[18] = { 0 }, compliance[18] = { 0 };
    cairn_condensed *condensed;
    cairn_error error = { 0 };
    make(&p, 12, 4, 3, 0);
    pose(&p);
    p.g.bounded = bounded;
    CHECK_INT(cairn_condense(&p.g, &condensed, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "lower");
    p.g.lower = lower;
    p.g.upper = upper;
    p.g.compliance = compliance;
    CHECK_OK(cairn_condense(&p.g, &condensed, &error));
    const cairn_problem *found = cairn_condensed_problem(condensed);
    CHECK(found->bounded == bounded && found->lower == lower && found->upper == upper);
    CHECK(found->compliance == compliance);
    cairn_condensed_destroy(condensed);
    cairn_arena_destroy(&p.arena);
}

TEST(no_contacts_and_nothing_at_all_are_problems_too)
{
    cairn_condensed *c;
    double v[2];
    memset(&p, 0, sizeof p);
    p = (full){ .n = 2, .d = 3 };
    p.M[0][0] = p.M[1][1] = 2;
    p.f[1] = 6;
    pose(&p);
    CHECK_OK(cairn_condense(&p.g, &c, NULL));
    CHECK_INT(cairn_condensed_problem(c)->contacts, 0);
    CHECK_OK(cairn_condensed_velocity(c, NULL, v));
    CHECK(v[0] == 0 && v[1] == 3);
    cairn_condensed_destroy(c);
    p.n = 0;
    pose(&p);
    CHECK_OK(cairn_condense(&p.g, &c, NULL));
    cairn_condensed_destroy(c);
    cairn_arena_destroy(&p.arena);
}

TEST(what_does_not_fit_is_refused)
{
    cairn_condensed *c;
    cairn_error error;
    make(&p, 12, 3, 3, 0);
    p.g.dimension = 4;
    CHECK_INT(cairn_condense(&p.g, &c, &error), CAIRN_BAD_INPUT);
    p.g.dimension = 2;
    CHECK_INT(cairn_condense(&p.g, &c, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "found 12 x 18, expected 12 x 12");
    p.g.dimension = 3;
    p.g.M.rows = 9;
    CHECK_INT(cairn_condense(&p.g, &c, &error), CAIRN_BAD_INPUT);
    p.g.M.rows = 12;
    p.f[4] = INFINITY;
    CHECK_INT(cairn_condense(&p.g, &c, &error), CAIRN_NOT_FINITE);
    CHECK_CONTAINS(error.message, "entry 4 of f");
    p.f[4] = 0;
    p.mu[2] = -1;
    CHECK_INT(cairn_condense(&p.g, &c, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "mu");
    CHECK(c == NULL);
    cairn_arena_destroy(&p.arena);
}

TEST(no_memory_at_any_place_is_reported_and_nothing_leaks)
{
    int failures = 0;
    make(&p, 60, 60, 3, 1e-3);
    for (long n = 1; n < 200; n++) {
        meter m = { .fail_at = n };
        cairn_condensed *c = NULL;
        meter_install(&m);
        cairn_status status = cairn_condense(&p.g, &c, NULL);
        cairn_condensed_destroy(c);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
        CHECK_INT(status, m.calls >= n ? CAIRN_NO_MEMORY : CAIRN_OK);
        failures += status != CAIRN_OK;
    }
    CHECK(failures >= 5 && failures < 199);
    cairn_arena_destroy(&p.arena);
}

int main(void)
{
    RUN(CASE(every_structure_of_M_gives_the_same_as_the_dense_formula),
        CASE(an_unsymmetric_M_is_taken_as_it_is),
        CASE(a_symmetric_M_gives_a_W_symmetric_to_the_last_bit),
        CASE(contacts_without_common_bodies_are_not_coupled), CASE(rows_with_bounds_come_along),
        CASE(no_contacts_and_nothing_at_all_are_problems_too), CASE(what_does_not_fit_is_refused),
        CASE(no_memory_at_any_place_is_reported_and_nothing_leaks));
}
