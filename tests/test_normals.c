/* test_normals.c - systems of normal impulses against the products with whole ones. */
#include "backend/host/normals.h"

#include <math.h>

#include "base/parallel.h"
#include "check.h"
#include "lattice_problem.h"
#include "random_problem.h"

/* The gradient of a system of normals is the normal part of the whole one, and so is v. */
static void compare_with_whole(const cairn_problem *p, cairn_arena *arena)
{
    cairn_system whole;
    size_t contacts = (size_t)p->contacts;
    CHECK_OK(cairn_system_create(p, arena, &whole));
    CHECK_OK(cairn_normals_find(&whole));
    double *r = cairn_arena_doubles(arena, whole.r_count),
           *g = cairn_arena_doubles(arena, whole.r_count);
    double *n = cairn_arena_doubles(arena, contacts), *n_g = cairn_arena_doubles(arena, contacts);
    double *v = cairn_arena_doubles(arena, whole.v_count),
           *n_v = cairn_arena_doubles(arena, whole.v_count);
    for (int j = 0; j < p->contacts; j++)
        n[j] = j % 3 == 0 ? 0 : sin((double)j);
    cairn_normals_unpack(p, n, r);
    cairn_host_gradient(&whole, r, v, g);
    cairn_normals_gradient(&whole, n, n_v, n_g);
    for (size_t i = 0; i < whole.v_count; i++)
        CHECK_NEAR(n_v[i], v[i], 1e-13);
    for (int j = 0; j < p->contacts; j++)
        CHECK_NEAR(n_g[j], g[j * p->dimension], 1e-12);
}

TEST(gradients_are_the_normal_part_of_whole_ones)
{
    cairn_arena arena = { 0 };
    for (int dimension = 2; dimension <= 3; dimension++) {
        random_problem random;
        make_random_problem(&random, dimension, 18, 15, 3);
        memset(random.mu, 0, sizeof random.mu);
        compare_with_whole(&random.p, &arena);
        random.block[9] = random.block[8]; /* a contact of a body with itself */
        random.p.w = NULL;
        random.p.b = NULL;
        compare_with_whole(&random.p, &arena);
    }
    cairn_arena_destroy(&arena);
}

TEST(contacts_of_balls_need_no_rows)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    CHECK(make_lattice_problem(3, 0, &arena, &l));
    cairn_problem balls = lattice_of_balls(&l), both = lattice_of_both(&l);
    compare_with_whole(&balls, &arena);
    compare_with_whole(&both, &arena);
    cairn_arena_destroy(&arena);
}

TEST(threads_change_no_bit_of_a_gradient)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    cairn_system s;
    double *v[2], *g[2];
    CHECK(make_lattice_problem(14, 0, &arena, &l));
    cairn_problem balls = lattice_of_balls(&l);
    CHECK_OK(cairn_system_create(&balls, &arena, &s));
    CHECK_OK(cairn_normals_find(&s));
    size_t contacts = (size_t)balls.contacts;
    double *r = cairn_arena_doubles(&arena, contacts);
    for (size_t j = 0; j < contacts; j++)
        r[j] = sin((double)j);
    for (int k = 0; k < 2; k++) {
        v[k] = cairn_arena_doubles(&arena, s.v_count);
        g[k] = cairn_arena_doubles(&arena, contacts);
        cairn_parallel_threads(k ? 3 : 1);
        cairn_normals_gradient(&s, r, v[k], g[k]);
    }
    cairn_parallel_threads(1);
    CHECK(v[0][0] != 0 && g[0][0] != 0);
    CHECK(memcmp(v[0], v[1], s.v_count * sizeof(double)) == 0);
    CHECK(memcmp(g[0], g[1], contacts * sizeof(double)) == 0);
    cairn_arena_destroy(&arena);
}

TEST(one_contact_with_friction_or_bounds_asks_for_whole_impulses)
{
    random_problem random;
    uint8_t bounded[4] = { 0 };
    make_random_problem(&random, 3, 6, 4, 3);
    memset(random.mu, 0, sizeof random.mu);
    CHECK(cairn_problem_is_normal(&random.p));
    random.p.bounded = bounded;
    CHECK(cairn_problem_is_normal(&random.p));
    bounded[3] = 1;
    CHECK(!cairn_problem_is_normal(&random.p));
    bounded[3] = 0;
    random.mu[2] = 0.1;
    CHECK(!cairn_problem_is_normal(&random.p));
    random.mu[2] = 0;
    random.p.spinning = 1;
    CHECK(!cairn_problem_is_normal(&random.p));
}

TEST(normals_go_out_and_in)
{
    const cairn_problem p = { .dimension = 3, .contacts = 2 };
    double r[6] = { 1, 2, 3, 4, 5, 6 }, n[2];
    cairn_normals_pack(&p, r, n);
    CHECK(n[0] == 1 && n[1] == 4);
    cairn_normals_unpack(&p, n, r);
    CHECK(r[0] == 1 && r[1] == 0 && r[2] == 0 && r[3] == 4 && r[4] == 0 && r[5] == 0);
}

/* -2 goes to 0, 3 stays; NaN is not hidden */
TEST(projection_is_the_positive_part)
{
    const cairn_problem p = { .contacts = 3 };
    const cairn_system s = { .p = &p };
    double r[3] = { -2, 3, NAN };
    cairn_normals_project(&s, r);
    CHECK(r[0] == 0 && r[1] == 3 && isnan(r[2]));
}

int main(void)
{
    RUN(CASE(gradients_are_the_normal_part_of_whole_ones), CASE(contacts_of_balls_need_no_rows),
        CASE(threads_change_no_bit_of_a_gradient),
        CASE(one_contact_with_friction_or_bounds_asks_for_whole_impulses),
        CASE(normals_go_out_and_in), CASE(projection_is_the_positive_part));
}
