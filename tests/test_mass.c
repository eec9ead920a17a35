/* test_mass.c - M^-1 of general mass matrices, part by part. */
#include "problem/mass.h"

#include "base/random.h"
#include "check.h"
#include "math/sparse.h"

enum { MOST = 200 };

typedef struct dense {
    int n;
    double a[MOST * MOST];
} dense;

static cairn_matrix sparse_of(const dense *m, cairn_arena *arena)
{
    static int32_t row[MOST * MOST], column[MOST * MOST];
    static double value[MOST * MOST];
    cairn_matrix A;
    cairn_entries e = { 0, row, column, value };
    for (int i = 0; i < m->n; i++)
        for (int j = 0; j < m->n; j++)
            if (m->a[i * m->n + j] != 0) {
                row[e.count] = i;
                column[e.count] = j;
                value[e.count++] = m->a[i * m->n + j];
            }
    CHECK_OK(cairn_sparse_gather(m->n, m->n, &e, arena, &A));
    return A;
}

/* Blocks of `size` on the diagonal, each B B' + I with B random. */
static void make_blocks(dense *m, int n, int size, uint64_t seed)
{
    uint64_t state = seed;
    memset(m, 0, sizeof *m);
    m->n = n;
    for (int first = 0; first < n; first += size) {
        double b[MOST][MOST];
        for (int i = 0; i < size; i++)
            for (int k = 0; k < size; k++)
                b[i][k] = cairn_random_normal(&state);
        for (int i = 0; i < size; i++)
            for (int j = 0; j <= i; j++) {
                double sum = i == j;
                for (int k = 0; k < size; k++)
                    sum += b[i][k] * b[j][k] / size;
                m->a[(first + i) * n + first + j] = m->a[(first + j) * n + first + i] = sum;
            }
    }
}

/* Largest |M x - b| over all parts, b random. */
static double solve_error(const dense *m, const cairn_mass *mass)
{
    double largest = 0;
    uint64_t state = 3;
    for (int part = 0; part < mass->parts; part++) {
        const cairn_mass_part *p = &mass->part[part];
        double b[MOST], x[MOST];
        for (int i = 0; i < p->size; i++)
            b[i] = cairn_random_normal(&state);
        CHECK_OK(cairn_mass_solve(mass, part, b, x));
        for (int i = 0; i < p->size; i++) {
            double sum = -b[i];
            for (int j = 0; j < p->size; j++)
                sum += m->a[p->member[i] * m->n + p->member[j]] * x[j];
            largest = fmax(largest, fabs(sum));
        }
    }
    return largest;
}

static dense m;

TEST(a_diagonal_has_parts_of_one_and_divides_exactly)
{
    cairn_arena arena = { 0 };
    cairn_mass *mass;
    m = (dense){ .n = 3, .a = { 3, 0, 0, 0, 0.7, 0, 0, 0, 1e-9 } };
    cairn_matrix M = sparse_of(&m, &arena);
    CHECK_OK(cairn_mass_create(&M, &mass, NULL));
    CHECK_INT(mass->parts, 3);
    for (int k = 0; k < 3; k++) {
        double b = 0.1, x;
        CHECK_OK(cairn_mass_solve(mass, k, &b, &x));
        CHECK(x == 0.1 / m.a[4 * k]);
    }
    cairn_mass_destroy(mass);
    cairn_arena_destroy(&arena);
}

TEST(bodies_are_parts_and_meshes_too)
{
    const int sizes[] = { 2, 5, 40, 100, 200 }; /* the last two are large: sparse Cholesky */
    for (int k = 0; k < 5; k++) {
        cairn_arena arena = { 0 };
        cairn_mass *mass;
        make_blocks(&m, 200, sizes[k], 7);
        cairn_matrix M = sparse_of(&m, &arena);
        CHECK_OK(cairn_mass_create(&M, &mass, NULL));
        CHECK_INT(mass->parts, 200 / sizes[k]);
        CHECK(mass->asymmetry == 0);
        CHECK((mass->part[0].cholesky != NULL) == (sizes[k] >= 100));
        CHECK_NEAR(solve_error(&m, mass), 0, 1e-12);
        cairn_mass_destroy(mass);
        cairn_arena_destroy(&arena);
    }
}

TEST(members_of_a_part_need_not_be_neighbours)
{
    /* 0 with 2, 1 alone */
    cairn_arena arena = { 0 };
    cairn_mass *mass;
    m = (dense){ .n = 3, .a = { 2, 0, 1, 0, 5, 0, 1, 0, 2 } };
    cairn_matrix M = sparse_of(&m, &arena);
    CHECK_OK(cairn_mass_create(&M, &mass, NULL));
    CHECK_INT(mass->parts, 2);
    CHECK_INT(mass->part[0].size, 2);
    CHECK_INT(mass->part[0].member[1], 2);
    double b[2] = { 3, 0 }, x[2];
    CHECK_OK(cairn_mass_solve(mass, 0, b, x));
    CHECK_NEAR(x[0], 2, 1e-15);
    CHECK_NEAR(x[1], -1, 1e-15);
    cairn_mass_destroy(mass);
    cairn_arena_destroy(&arena);
}

TEST(what_is_not_symmetric_is_taken_as_it_is)
{
    const int sizes[] = { 5, 100 };
    for (int k = 0; k < 2; k++) {
        cairn_arena arena = { 0 };
        cairn_mass *mass;
        make_blocks(&m, 100, sizes[k], 8);
        m.a[0 * 100 + 1] += 1e-7 * sqrt(m.a[0] * m.a[101]);
        cairn_matrix M = sparse_of(&m, &arena);
        CHECK_OK(cairn_mass_create(&M, &mass, NULL));
        CHECK_CLOSE(mass->asymmetry, 1e-7, 1e-6);
        CHECK_NEAR(solve_error(&m, mass), 0, 1e-12); /* the symmetric part alone leaves 1e-8 */
        cairn_mass_destroy(mass);
        cairn_arena_destroy(&arena);
    }
}

static void check_refused(const char *reason)
{
    cairn_arena arena = { 0 };
    cairn_mass *mass;
    cairn_error error;
    cairn_matrix M = sparse_of(&m, &arena);
    CHECK_INT(cairn_mass_create(&M, &mass, &error), CAIRN_BAD_INPUT);
    CHECK(mass == NULL);
    CHECK_TEXT(error.key, "M");
    CHECK_CONTAINS(error.message, reason);
    cairn_arena_destroy(&arena);
}

TEST(what_is_not_positive_definite_is_refused)
{
    m = (dense){ .n = 2, .a = { 1, 0, 0, -1 } };
    check_refused("entry (1, 1) is -1");
    m = (dense){ .n = 2, .a = { 1, 0, 0, 0 } };
    check_refused("entry (1, 1) is 0");
    m = (dense){ .n = 2, .a = { 1, 2, 2, 1 } };
    check_refused("not positive definite");
    m = (dense){ .n = 2, .a = { 1, 1, 1, 1 } };
    check_refused("not positive definite");
    make_blocks(&m, 100, 100, 9);
    m.a[0 * 100 + 1] = m.a[1 * 100] = 10;
    check_refused("not positive definite");
}

TEST(an_empty_matrix_has_no_parts)
{
    cairn_mass *mass;
    const int64_t start[1] = { 0 };
    cairn_matrix M = { 0, 0, start, NULL, NULL };
    CHECK_OK(cairn_mass_create(&M, &mass, NULL));
    CHECK_INT(mass->parts, 0);
    cairn_mass_destroy(mass);
}

int main(void)
{
    RUN(CASE(a_diagonal_has_parts_of_one_and_divides_exactly),
        CASE(bodies_are_parts_and_meshes_too), CASE(members_of_a_part_need_not_be_neighbours),
        CASE(what_is_not_symmetric_is_taken_as_it_is),
        CASE(what_is_not_positive_definite_is_refused), CASE(an_empty_matrix_has_no_parts));
}
