/* test_phases.c - what bodies and Lagrangian systems share: when a contact hits, its bias, and an
 * impact by Poisson's law in two phases, against answers by hand. */
#include "world/phases.h"

#include <math.h>

#include "base/arena.h"
#include "check.h"

/* A gap of 1 cm in steps of 10 ms: 1 m/s reaches it. Forces give 0.1 m/s in the step. */
TEST(a_contact_hits_when_it_closes_faster_than_forces_move_it)
{
    CHECK(cairn_impact_hits(-1.001, -1.1, -1.001, 0.01, 0.01));
    CHECK(!cairn_impact_hits(-0.999, -1.1, -0.999, 0.01, 0.01)); /* it does not get there       */
    CHECK(cairn_impact_hits(-0.999, -1.1, -1.1, 0.01, 0.01));    /* it does with the free speed */
    CHECK(!cairn_impact_hits(-0.09, -0.19, -0.09, 0, 0.01));     /* rest                        */
    CHECK(!cairn_impact_hits(1, 0.9, 1, 0, 0.01));               /* it leaves                   */
}

/* e = 0.5 at 2 m/s: b = -1 makes it leave with 1 m/s, where the gap closes; elsewhere g/h. */
TEST(bias_is_restitution_where_a_contact_closes_and_its_gap_elsewhere)
{
    cairn_approach at = { .gap = 0.01, .apart = 1, .before = -2, .restitution = 0.5 };
    CHECK_NEAR(cairn_scheme_bias(false, 0.01, &at), -1, 0);
    at.gap = 0.03;
    at.apart = 3;
    CHECK_NEAR(cairn_scheme_bias(false, 0.01, &at), 3, 0);
    CHECK_NEAR(cairn_scheme_bias(true, 0.01, &at), -1, 0); /* velocity level asks for no gap */
}

/* ---- an impact ------------------------------------------------------------------------------ */

/* 1 kg falls on the floor with 2 m/s; in the local form and as a block. */
static const double unit[4] = { 1, 0, 0, 1 };
static const int64_t starts[] = { 0, 2, 4 };
static const int32_t columns[] = { 0, 1, 0, 1 }, block[] = { 0, -1 };
static const cairn_matrix W = { 2, 2, starts, columns, unit };
static const double falls[] = { -2, 0 }, v_falls[] = { 0, -2, 0 }, none[2] = { 0, 0 };
static const double mass_inverse[] = { 1, 1, 1 };
static const double H[12] = { 0, 1, 0, 1, 0, 0 }; /* n = y, t = x */

static const cairn_problem local = {
    .dimension = 2, .contacts = 1, .W = &W, .q = falls, .b = none, .mu = none
};
static const cairn_problem of_blocks = { .dimension = 2,
                                         .contacts = 1,
                                         .block_size = 3,
                                         .blocks = 1,
                                         .mass_inverse = mass_inverse,
                                         .v_free = v_falls,
                                         .block = block,
                                         .H = H,
                                         .b = none,
                                         .mu = none };

/* Both phases of the impact by e; the numbers of its answer are in `r`, u is checked. */
static void strike(const cairn_problem *p, double e, double *r)
{
    double s[1] = { 0 }, v[3] = { 0 }, u[2] = { 0 };
    cairn_arena scratch = { 0 };
    cairn_solve_report report = { 0 };
    cairn_solving solving = { .scheme = cairn_scheme_find("coulomb"),
                              .options = cairn_solve_options_default(),
                              .max_fixed_point = 10,
                              .scratch = &scratch,
                              .report = &report };
    cairn_answer answer = { .problem = *p, .r = r, .s = s, .v = v, .u = u };
    solving.options.law = CAIRN_LAW_COULOMB;
    solving.options.tolerance = 1e-12;
    CHECK_OK(cairn_workspace_create(&solving.workspace));
    CHECK_OK(cairn_impact_solve(&solving, p, &e, &answer));
    CHECK(report.converged);
    CHECK_NEAR(u[0], 2 * e, 1e-12); /* it leaves with e times 2 m/s */
    CHECK_NEAR(answer.compression[0], 2, 1e-12);
    CHECK_NEAR(answer.floor[0], 2 * e, 1e-12);
    cairn_workspace_destroy(solving.workspace);
    cairn_arena_destroy(&scratch);
}

/* 2 N s stop it, e times that send it back: however the problem is posed. */
TEST(an_impact_is_compression_and_e_times_that_again)
{
    const double coefficients[] = { 0, 0.5, 1 };
    for (int k = 0; k < 3; k++) {
        double r[2] = { 0, 0 }, again[2] = { 0, 0 };
        strike(&local, coefficients[k], r);
        strike(&of_blocks, coefficients[k], again);
        CHECK_NEAR(r[0], 2 + 2 * coefficients[k], 1e-12);
        CHECK_NEAR(again[0], r[0], 1e-12);
    }
}

/* ---- friction that depends on speed --------------------------------------------------------- */

/* mu = 0.4 at rest, 0.1 once it slides: two solves. */
static void stick(const void *context, cairn_answer *answer)
{
    (void)context;
    answer->mu[0] = 0.4;
}

static double slip(const void *context, cairn_answer *answer)
{
    double mu = answer->u[1] != 0 ? 0.1 : 0.4, change = fabs(mu - answer->mu[0]);
    ++*(int *)context;
    answer->mu[0] = mu;
    return change;
}

/* 1 kg comes with 2 m/s down and 3 m/s along: r_N = 2, and friction takes mu 2 off the 3. */
TEST(mu_is_found_together_with_the_speed)
{
    const double comes[] = { -2, 3 };
    double r[2] = { 0 }, s[1] = { 0 }, v[1], u[2] = { 0 }, mu[1], change = -1;
    int updates = 0;
    cairn_arena scratch = { 0 };
    cairn_solve_report report = { 0 };
    const cairn_speed_friction law = { stick, slip, &updates, &change };
    cairn_solving solving = { .scheme = cairn_scheme_find("coulomb"),
                              .options = cairn_solve_options_default(),
                              .max_fixed_point = 10,
                              .friction = &law,
                              .scratch = &scratch,
                              .report = &report };
    cairn_answer answer = { .problem = local, .r = r, .s = s, .v = v, .u = u, .mu = mu };
    answer.problem.q = comes;
    answer.problem.mu = mu;
    solving.options.law = CAIRN_LAW_COULOMB;
    solving.options.tolerance = 1e-12;
    CHECK_OK(cairn_workspace_create(&solving.workspace));
    CHECK_OK(cairn_phase_with_law(&solving, &cairn_phase_whole, &answer));
    CHECK(report.converged);
    CHECK_INT(updates, 2);
    CHECK_NEAR(change, 0, 0);
    CHECK_NEAR(r[0], 2, 1e-11);
    CHECK_NEAR(u[1], 3 - 0.1 * 2, 1e-11);
    cairn_workspace_destroy(solving.workspace);
    cairn_arena_destroy(&scratch);
}

int main(void)
{
    RUN(CASE(a_contact_hits_when_it_closes_faster_than_forces_move_it),
        CASE(bias_is_restitution_where_a_contact_closes_and_its_gap_elsewhere),
        CASE(an_impact_is_compression_and_e_times_that_again),
        CASE(mu_is_found_together_with_the_speed));
}
