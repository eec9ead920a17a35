/* test_operator.c - u = W r + q without forming W equals the dense product. */
#include "problem/operator.h"

#include <math.h>

#include "base/parallel.h"
#include "check.h"
#include "lattice_problem.h"
#include "random_problem.h"

/* Dense H: rows = components of contacts, columns = velocity components. */
static void dense_rows(const cairn_problem *p, double *out)
{
    int d = p->dimension, n = p->block_size, width = p->blocks * n;
    memset(out, 0, sizeof(double) * (size_t)(p->contacts * d * width));
    for (int j = 0; j < p->contacts; j++)
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < d; i++)
                for (int k = 0; p->block[2 * j + side] >= 0 && k < n; k++)
                    out[(j * d + i) * width + p->block[2 * j + side] * n + k] +=
                        p->H[((2 * j + side) * d + i) * n + k];
}

static void compare_with_dense(const cairn_problem *p)
{
    static double H[60 * 120];
    int d = p->dimension, rows = p->contacts * d, width = p->blocks * p->block_size;
    double r[60] = { 0 }, v[120], u[60];
    uint64_t state = 4;
    dense_rows(p, H);
    for (int i = 0; i < rows; i++)
        r[i] = cairn_random_normal(&state);
    cairn_problem_apply(p, r, v, u);
    for (int k = 0; k < width; k++) {
        double expected = p->v_free[k];
        for (int i = 0; i < rows; i++)
            expected += p->mass_inverse[k] * H[i * width + k] * r[i];
        CHECK_NEAR(v[k], expected, 1e-13);
    }
    for (int i = 0; i < rows; i++) {
        double expected = p->w ? p->w[i] : 0;
        for (int k = 0; k < width; k++)
            expected += H[i * width + k] * v[k];
        CHECK_NEAR(u[i], expected, 1e-12);
    }
}

TEST(products_equal_dense_ones_in_2d_and_3d)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        random_problem random;
        make_random_problem(&random, dimension, 18, 15, 3);
        compare_with_dense(&random.p);
        random.p.w = NULL;
        compare_with_dense(&random.p);
    }
}

/* a point mass in 3D: blocks of 3, not one of the sizes that are unrolled */
TEST(other_block_sizes_work)
{
    random_problem random;
    make_random_problem(&random, 3, 18, 15, 3);
    random.p.block_size = 4;
    compare_with_dense(&random.p);
}

TEST(delassus_blocks_are_the_diagonal_of_w)
{
    random_problem random;
    make_random_problem(&random, 3, 18, 15, 8);
    random.block[9] = random.block[8]; /* a contact of a body with itself */
    for (int j = 0; j < 15; j++) {
        double W[6], trace = 0;
        cairn_contact_delassus(&random.p, j, W);
        for (int i = 0, entry = 0; i < 3; i++)
            for (int l = 0; l <= i; l++, entry++) {
                double r[45] = { 0 }, v[108], q[45], u[45];
                cairn_problem_apply(&random.p, r, v, q);
                r[3 * j + l] = 1;
                cairn_problem_apply(&random.p, r, v, u);
                CHECK_NEAR(W[entry], u[3 * j + i] - q[3 * j + i], 1e-13);
                trace += i == l ? W[entry] : 0;
            }
        CHECK_NEAR(cairn_contact_inverse_mass(&random.p, j), trace / 3, 1e-14);
    }
}

TEST(the_shift_is_bias_plus_friction_times_sliding)
{
    random_problem random;
    make_random_problem(&random, 2, 4, 2, 8);
    const double s[2] = { 2, 0 };
    random.p.s = s;
    CHECK_NEAR(cairn_contact_shift(&random.p, 0), random.b[0] + 2 * random.mu[0], 1e-15);
    CHECK_NEAR(cairn_contact_shift(&random.p, 1), random.b[1], 1e-15);
    random.p.b = NULL;
    CHECK_NEAR(cairn_contact_shift(&random.p, 1), 0, 0);
}

static void check_threads(const cairn_problem *p, cairn_arena *arena)
{
    size_t r_count = 3 * (size_t)p->contacts, v_count = 6 * (size_t)p->blocks;
    double *r = cairn_arena_doubles(arena, r_count);
    double *v[2], *u[2];
    for (size_t i = 0; i < r_count; i++)
        r[i] = i % 7 < 2 ? 0 : sin((double)i);
    for (int k = 0; k < 2; k++) {
        v[k] = cairn_arena_doubles(arena, v_count);
        u[k] = cairn_arena_doubles(arena, r_count);
        cairn_parallel_threads(k ? 3 : 1);
        cairn_problem_apply(p, r, v[k], u[k]);
    }
    cairn_parallel_threads(1);
    CHECK(v[0][0] != 0 && u[0][0] != 0);
    CHECK(memcmp(v[0], v[1], v_count * sizeof(double)) == 0);
    CHECK(memcmp(u[0], u[1], r_count * sizeof(double)) == 0);
}

/* The sums of a block are the same ones in the same order, whoever makes them. */
TEST(threads_change_no_bit_of_a_product)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    CHECK(make_lattice_problem(14, 0.3, &arena, &l));
    cairn_problem balls = lattice_of_balls(&l);
    check_threads(&l.p, &arena);
    check_threads(&balls, &arena);
    cairn_arena_destroy(&arena);
}

/* (v, R'w) of all blocks, w in space axes */
static void turn_into_bodies(const lattice_problem *l, double *v)
{
    for (int i = 0; i < l->p.blocks; i++) {
        double *w = v + 6 * i + 3;
        cairn_vec3 own = cairn_rotate_back(l->q[i], cairn_vec(w[0], w[1], w[2]));
        w[0] = own.x;
        w[1] = own.y;
        w[2] = own.z;
    }
}

static void compare_with_stored(const lattice_problem *l, const cairn_problem *p)
{
    double r[300], v[2][200], u[2][300];
    for (int i = 0; i < 3 * p->contacts; i++) {
        r[i] = i % 7 < 2 ? 0 : sin((double)i);
        l->w[i] = cos((double)i);
    }
    cairn_problem_apply(&l->p, r, v[0], u[0]);
    cairn_problem_apply(p, r, v[1], u[1]);
    turn_into_bodies(l, v[1]);
    for (int i = 0; i < 6 * p->blocks; i++)
        CHECK_NEAR(v[1][i], v[0][i], 1e-13);
    for (int i = 0; i < 3 * p->contacts; i++)
        CHECK_NEAR(u[1][i], u[0][i], 1e-12);
    for (int j = 0; j < p->contacts; j++) {
        double W[2][6];
        cairn_contact_delassus(&l->p, j, W[0]);
        cairn_contact_delassus(p, j, W[1]);
        for (int i = 0; i < 6; i++)
            CHECK_NEAR(W[1][i], W[0][i], 1e-13);
    }
}

TEST(contacts_of_balls_act_like_their_rows)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    CHECK(make_lattice_problem(3, 0.3, &arena, &l));
    cairn_problem balls = lattice_of_balls(&l);
    compare_with_stored(&l, &balls);
    cairn_problem both = lattice_of_both(&l);
    compare_with_stored(&l, &both);
    cairn_arena_destroy(&arena);
}

/* Not even by rounding, on one thread or more. */
TEST(impulses_along_normals_do_not_turn_balls)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    CHECK(make_lattice_problem(12, 0.3, &arena, &l));
    cairn_problem p = lattice_of_balls(&l);
    CHECK(p.contacts > 4096); /* worth threads */
    double *r = cairn_arena_doubles(&arena, 3 * (size_t)p.contacts);
    double *v = cairn_arena_doubles(&arena, 6 * (size_t)p.blocks);
    for (int j = 0; j < p.contacts; j++)
        r[3 * j] = 1 + cos(j);
    for (int threads = 1; threads <= 2; threads++) {
        cairn_parallel_threads(threads);
        cairn_problem_velocity(&p, r, v);
        for (int i = 0; i < 6 * p.blocks; i++)
            CHECK(i % 6 < 3 ? v[i] != p.v_free[i] : v[i] == p.v_free[i]);
    }
    cairn_parallel_threads(1);
    cairn_arena_destroy(&arena);
}

TEST(rows_of_balls_can_be_written_out)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    CHECK(make_lattice_problem(3, 0.3, &arena, &l));
    cairn_problem both = lattice_of_both(&l);
    for (int j = 0; j < l.p.contacts; j++)
        for (int side = 0; side < 2; side++) {
            double H[18];
            cairn_problem_rows(&both, j, side, H);
            for (int i = 0; l.p.block[2 * j + side] >= 0 && i < 18; i++)
                CHECK_NEAR(H[i], l.H[36 * j + 18 * side + i], 1e-15);
        }
    cairn_arena_destroy(&arena);
}

int main(void)
{
    RUN(CASE(products_equal_dense_ones_in_2d_and_3d), CASE(other_block_sizes_work),
        CASE(delassus_blocks_are_the_diagonal_of_w),
        CASE(the_shift_is_bias_plus_friction_times_sliding),
        CASE(threads_change_no_bit_of_a_product), CASE(contacts_of_balls_act_like_their_rows),
        CASE(impulses_along_normals_do_not_turn_balls), CASE(rows_of_balls_can_be_written_out));
}
