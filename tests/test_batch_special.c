/* test_batch_special.c - rows with bounds beside batches: each block is solved exactly. */
#include "backend/host/batch_special.h"

#include <math.h>

#include "base/arena.h"
#include "check.h"

/* Two points of mass 1 and 1/3 on a line in 2D; block 1 holds their distance and pushes body a along y
 * with at most 0.5 N s, block 0 is a contact. */
typedef struct example {
    cairn_problem p;
    double mass_inverse[6], v_free[6], H[24], lower[4], upper[4], compliance[4], mu[2], b[2];
    int32_t block[4];
    uint8_t bounded[2];
} example;

static void fill(example *e)
{
    *e = (example){ .mass_inverse = { 1, 1, 1, 3, 3, 3 },
                    .v_free = { 2, -5, 0, -2, 0, 0 },
                    .lower = { 0, 0, -INFINITY, -0.5 },
                    .upper = { 0, 0, INFINITY, 0.5 },
                    .block = { 0, 1, 0, 1 },
                    .bounded = { 0, 1 } };
    e->H[12] = 1;  /* block 1, side a: x */
    e->H[16] = 1;  /*                  y */
    e->H[18] = -1; /* side b: x          */
    e->p = (cairn_problem){ .dimension = 2,
                            .block_size = 3,
                            .blocks = 2,
                            .contacts = 2,
                            .mass_inverse = e->mass_inverse,
                            .v_free = e->v_free,
                            .block = e->block,
                            .H = e->H,
                            .mu = e->mu,
                            .b = e->b,
                            .bounded = e->bounded,
                            .lower = e->lower,
                            .upper = e->upper,
                            .compliance = e->compliance };
}

/* x: 2 - (-2) = 4 m/s apart, over 1 + 3: r = -1. y: -5 m/s would take 5 N s, and gets 0.5. */
TEST(a_block_is_solved_exactly_within_its_bounds)
{
    cairn_arena arena = { 0 };
    example e;
    cairn_special_rows s;
    double v[2][6] = { { 2, -5, 0 }, { -2, 0, 0 } }, change[2], force[3], r[4] = { 7, 7, 0, 0 };
    fill(&e);
    CHECK_OK(cairn_special_create(&e.p, &arena, &s));
    CHECK_INT(s.count, 1);
    CHECK_INT(s.contact[0], 1);
    cairn_special_load(&s, r);
    cairn_special_forget(&s);
    cairn_special_solve(&s, 0, (cairn_momentum){ 0 }, v, change);
    CHECK_NEAR(change[0], -1, 1e-14);
    CHECK_NEAR(change[1], 0.5, 1e-14);
    cairn_special_force(&s, 0, 1, change, force);
    CHECK_NEAR(force[0], 1, 1e-14); /* on b, along x */
    CHECK_NEAR(force[1], 0, 1e-14);
    cairn_special_unload(&s, r);
    CHECK_NEAR(r[2], -1, 1e-14);
    CHECK_NEAR(r[0], 7, 0); /* the contact is not its business */
    cairn_arena_destroy(&arena);
}

/* From r = 2 before r = 1 with beta = 1/2 the block starts at 0.5; velocities go with it, and what
 * is added leads to the same -1 in all. The next move counts from half way between 1 and 0.5. */
TEST(momentum_is_where_a_block_starts_from)
{
    cairn_arena arena = { 0 };
    example e;
    cairn_special_rows s;
    double change[2], r[4] = { 0, 0, 2, 0 }, next[4] = { 0, 0, 1, 0 };
    double v[2][6] = { { 2 + 0.5, -5, 0 }, { -2 - 3 * 0.5, 0, 0 } };
    fill(&e);
    CHECK_OK(cairn_special_create(&e.p, &arena, &s));
    cairn_special_load(&s, r);
    cairn_special_forget(&s);
    cairn_special_load(&s, next);
    cairn_special_solve(&s, 0, (cairn_momentum){ 0.5, 0.5 }, v, change);
    CHECK_NEAR(change[0], -1.5, 1e-14);
    CHECK_NEAR(s.r[0], -1, 1e-14);
    CHECK_NEAR(s.previous[0], 0.75, 0);
    CHECK(s.noted.change2 > 0);
    cairn_arena_destroy(&arena);
}

int main(void)
{
    RUN(CASE(a_block_is_solved_exactly_within_its_bounds),
        CASE(momentum_is_where_a_block_starts_from));
}
