/* test_newton_system.c - the Newton step: by contacts and by bodies it is the same, and it solves
 * the equations where they are smooth. */
#include "solve/newton_system.h"

#include "check.h"
#include "problem/delassus.h"
#include "random_problem.h"

typedef struct setting {
    cairn_arena arena;
    cairn_solve_options options;
    cairn_task task;
    cairn_system numbers;
    cairn_newton_system system;
} setting;

static void set_up(setting *s, const cairn_problem *p, cairn_law law)
{
    *s = (setting){ .options = cairn_solve_options_default() };
    s->options.law = law;
    s->task =
        (cairn_task){ .options = &s->options, .arena = &s->arena, .p = p, .system = &s->numbers };
    CHECK_OK(cairn_system_create(p, &s->arena, &s->numbers));
    CHECK_OK(cairn_newton_system_create(&s->task, &s->system));
    s->system.alpha = 0.01;
}

static void tear_down(setting *s)
{
    cairn_newton_system_destroy(&s->system);
    cairn_arena_destroy(&s->arena);
}

TEST(bodies_and_contacts_make_the_same_step)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        random_problem random;
        cairn_arena arena = { 0 };
        cairn_matrix W;
        cairn_problem local;
        setting one, two;
        int dimension = seed % 2 ? 2 : 3, n = 12 * dimension;
        double a[36], b[36];
        uint64_t state = seed;
        bool good;
        make_random_problem(&random, dimension, 12, 12, seed);
        if (seed % 3 == 0)
            random.block[5] = random.block[4]; /* a contact of a body with itself */
        CHECK_OK(cairn_delassus_localise(&random.p, &arena, &W, &local));
        cairn_law law = seed % 4 < 2 ? CAIRN_LAW_CONVEX : CAIRN_LAW_COULOMB;
        set_up(&one, &random.p, law);
        set_up(&two, &local, law);
        CHECK(one.system.form == &cairn_newton_bodies);
        CHECK(two.system.form == &cairn_newton_contacts);
        for (int i = 0; i < n; i++)
            a[i] = b[i] = cairn_random_normal(&state);
        double F = cairn_newton_system_residual(&one.system, a);
        CHECK_CLOSE(cairn_newton_system_residual(&two.system, b), F, 1e-12);
        CHECK_OK(cairn_newton_system_step(&one.system, a, &good));
        CHECK(good);
        CHECK_OK(cairn_newton_system_step(&two.system, b, &good));
        CHECK(good);
        for (int i = 0; i < n; i++)
            CHECK_NEAR(a[i], b[i], 1e-9 * (1 + fabs(b[i])));
        tear_down(&one);
        tear_down(&two);
        cairn_arena_destroy(&arena);
    }
}

/* Contacts that all stick make a linear problem: one step ends it. */
TEST(one_step_solves_a_linear_problem)
{
    random_problem random;
    setting s;
    double r[30];
    bool good;
    make_random_problem(&random, 3, 10, 10, 5);
    for (int j = 0; j < 10; j++) {
        random.mu[j] = 1000;
        random.b[j] = -50;
    }
    for (int i = 0; i < 30; i++)
        r[i] = i % 3 ? 0 : 10;
    set_up(&s, &random.p, CAIRN_LAW_COULOMB);
    double before = cairn_newton_system_residual(&s.system, r);
    CHECK_OK(cairn_newton_system_step(&s.system, r, &good));
    CHECK(good);
    CHECK(cairn_newton_system_residual(&s.system, r) <= 1e-12 * before);
    tear_down(&s);
}

int main(void)
{
    RUN(CASE(bodies_and_contacts_make_the_same_step), CASE(one_step_solves_a_linear_problem));
}
