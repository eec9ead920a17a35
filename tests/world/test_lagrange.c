/* test_lagrange.c - Lagrangian systems, described and stepped. */
#include "cairn/world.h"
#include "studies/lagrangian_runs.h"
#include "tests/check.h"

/* ==== the systems of the papers for tests, one more, and steps that must succeed ============== */

/* ---- 2 kg over the floor z = 0: q = (x, y, z) ------------------------------------------------- */

static inline void space_mass(void *context, const double *q, double *M)
{
    (void)context, (void)q;
    M[0] = M[4] = M[8] = 2;
}

static inline void space_contact(void *context, const double *q, int index,
                                 cairn_lagrange_contact *out)
{
    (void)context, (void)index;
    out->gap = q[2];
    out->mu = 0.5;
    out->rows[2] = out->rows[3] = out->rows[7] = 1; /* n = z, t = x, y */
}

static inline cairn_lagrange_system space_system(void)
{
    return (cairn_lagrange_system){ .coordinates = 3,
                                    .dimension = 3,
                                    .contacts = 1,
                                    .mass = space_mass,
                                    .contact = space_contact };
}

/* ---- running them ---------------------------------------------------------------------------- */

static inline cairn_lagrange *started(const cairn_lagrange_system *system, const double *q,
                                      const double *v)
{
    cairn_lagrange *l;
    CHECK_OK(cairn_lagrange_create(system, q, v, &l, NULL));
    return l;
}

/* One step, which must be solved. */
static inline cairn_lagrange_report stepped(cairn_lagrange *l,
                                            const cairn_lagrange_options *options)
{
    cairn_lagrange_report report;
    CHECK_OK(cairn_lagrange_step(l, options, &report, NULL));
    CHECK(report.solve.converged);
    return report;
}

/* ==== test_lagrange: Lagrangian systems: what they refuse, what failures leave behind, memory */

static cairn_status create(const cairn_lagrange_system *system, const double *q, cairn_error *error)
{
    cairn_lagrange *l = NULL;
    *error = (cairn_error){ 0 };
    cairn_status status = cairn_lagrange_create(system, q, NULL, &l, error);
    cairn_lagrange_destroy(l);
    return status;
}

TEST(bad_systems_are_refused_by_name)
{
    plane_body body = { .gravity = 9.8 };
    cairn_lagrange_system good = particle_system(&body), bad = good;
    cairn_error error;
    CHECK_OK(create(&good, NULL, &error));
    bad.coordinates = 0;
    CHECK_INT(create(&bad, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "coordinates");
    bad = good;
    bad.dimension = 4;
    CHECK_INT(create(&bad, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "found 4, expected 2 or 3");
    bad = good;
    bad.mass = NULL;
    CHECK_INT(create(&bad, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "mass");
    bad = good;
    bad.contact = NULL;
    CHECK_INT(create(&bad, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "contact");
    bad.contacts = -1;
    CHECK_INT(create(&bad, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "contacts");
    double q[2] = { 0, NAN };
    CHECK_INT(create(&good, q, &error), CAIRN_NOT_FINITE);
    CHECK_TEXT(error.key, "q");
}

/* The status of one step of a particle that falls at 1 m/s onto the floor, with its error. */
static cairn_status step_particle(plane_body *body, const cairn_lagrange_options *options,
                                  cairn_error *error)
{
    cairn_lagrange_system particle = particle_system(body);
    cairn_lagrange_report report;
    double q[2] = { 0, 0 }, v[2] = { 0, -1 };
    cairn_lagrange *l = started(&particle, q, v);
    cairn_status status = cairn_lagrange_step(l, options, &report, error);
    bool stands = cairn_lagrange_time(l) == 0 && cairn_lagrange_velocity(l)[1] == -1;
    CHECK(stands == (status != CAIRN_OK)); /* after a failure all is as before */
    cairn_lagrange_destroy(l);
    return status;
}

TEST(bad_options_are_refused_by_name)
{
    plane_body body = { .gravity = 9.8 };
    cairn_lagrange_options options = cairn_lagrange_options_default();
    cairn_error error;
    CHECK_INT(step_particle(&body, &options, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "time_step");
    options = exact_options("moon", 0.1);
    CHECK_INT(step_particle(&body, &options, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "scheme");
    options = exact_options("lcp", 0.1);
    options.directions = 5;
    CHECK_INT(step_particle(&body, &options, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "directions");
    options = exact_options("lcp", 0.1);
    options.velocity_level = true;
    options.linearisations = 3;
    CHECK_INT(step_particle(&body, &options, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "linearisations");
    options = exact_options("moreau-jean", 0.1);
    options.linearisations = 3;
    CHECK_INT(step_particle(&body, &options, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "linearisations");
    options = exact_options("stewart-trinkle", 0.1);
    options.velocity_level = true;
    CHECK_INT(step_particle(&body, &options, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "velocity_level");
}

TEST(solver_that_does_not_treat_the_law_is_refused)
{
    cairn_lagrange_system particle = space_system();
    cairn_lagrange_options options = exact_options("coulomb", 0.1);
    cairn_lagrange_report report;
    cairn_error error;
    cairn_lagrange *l = started(&particle, NULL, NULL);
    options.solver = "lemke"; /* circular cones are none of its kind */
    CHECK_INT(cairn_lagrange_step(l, &options, &report, &error), CAIRN_UNSUPPORTED);
    CHECK_CONTAINS(error.message, "lemke does not treat the problem of the scheme coulomb");
    options.scheme = "lcp";
    CHECK_OK(cairn_lagrange_step(l, &options, &report, &error));
    cairn_lagrange_destroy(l);
}

TEST(solver_of_the_convex_law_serves_exact_schemes_by_the_fixed_point)
{
    plane_body body = { .gravity = 9.8 };
    static const char *const schemes[] = { "coulomb", "fixed-point", "lcp", "stewart-trinkle" };
    for (int i = 0; i < 4; i++) {
        cairn_lagrange_options options = exact_options(schemes[i], 0.1);
        options.solver = "active-set";
        CHECK_OK(step_particle(&body, &options, NULL));
    }
}

TEST(bad_contacts_and_forces_are_refused_by_name)
{
    cairn_lagrange_options options = exact_options("convex", 0.1);
    cairn_error error;
    plane_body negative = { .mu = -1 };
    CHECK_INT(step_particle(&negative, &options, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "mu");
    plane_body bouncy = { .e = 1.5 };
    CHECK_INT(step_particle(&bouncy, &options, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "restitution");
    plane_body heavy = { .gravity = INFINITY };
    CHECK_INT(step_particle(&heavy, &options, &error), CAIRN_NOT_FINITE);
    CHECK_TEXT(error.key, "force");
}

TEST(mass_that_is_not_positive_definite_is_refused)
{
    plane_body body = { .inertia = 0, .gravity = 9.8 };
    cairn_lagrange_system bar = bar_system(&body);
    cairn_lagrange_options options = exact_options("convex", 0.1);
    cairn_lagrange_report report;
    cairn_error error;
    cairn_lagrange *l = started(&bar, NULL, NULL);
    CHECK_INT(cairn_lagrange_step(l, &options, &report, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "no pivot in row 2");
    cairn_lagrange_destroy(l);
}

TEST(unsolved_step_is_a_report)
{
    plane_body body = { .inertia = 1.0 / 16, .gravity = 9.8, .mu = 0.75 };
    cairn_lagrange_system bar = bar_system(&body);
    cairn_lagrange_options options = exact_options("convex", 0.1);
    cairn_lagrange_report report;
    double v[3] = { 1, -1, 0 };
    options.solver = "pgd";
    options.max_iterations = 1;
    cairn_lagrange *l = started(&bar, NULL, v); /* flat on the floor */
    CHECK_OK(cairn_lagrange_step(l, &options, &report, NULL));
    CHECK(!report.solve.converged);
    CHECK(report.solve.judgement.asked.relative > options.tolerance);
    CHECK_INT(report.candidates, 2);
    cairn_lagrange_destroy(l);
}

/* every scheme of bodies takes a step; "every_scheme_stops_a_particle_in_space" says which */
TEST(schemes_are_schemes_of_bodies)
{
    plane_body body = { .gravity = 9.8, .mu = 0.2 };
    const cairn_option *scheme = cairn_record_find(cairn_lagrange_record(), "scheme");
    int count = 0;
    for (; cairn_scheme_name(count); count++) {
        cairn_lagrange_options options = exact_options(cairn_scheme_name(count), 0.1);
        CHECK_TEXT(scheme->choice(count), cairn_scheme_name(count));
        CHECK_OK(step_particle(&body, &options, NULL));
    }
    CHECK(count >= 9);
    CHECK(scheme->choice(count) == NULL);
}

TEST(defaults_fit_their_table)
{
    cairn_lagrange_options options = cairn_lagrange_options_default();
    options.time_step = 0.1;
    CHECK_OK(cairn_record_check(cairn_lagrange_record(), &options, NULL));
    CHECK_INT(cairn_lagrange_record()->size, sizeof options);
}

/* A bar is created and makes a step: CAIRN_NO_MEMORY or CAIRN_OK. */
static cairn_status use(const cairn_lagrange_options *options)
{
    plane_body body = { .inertia = 1.0 / 16, .gravity = 9.8, .mu = 0.75 };
    cairn_lagrange_system bar = bar_system(&body);
    cairn_lagrange_report report;
    cairn_lagrange *l;
    cairn_status status = cairn_lagrange_create(&bar, NULL, NULL, &l, NULL);
    if (status == CAIRN_OK)
        status = cairn_lagrange_step(l, options, &report, NULL);
    cairn_lagrange_destroy(l);
    return status;
}

TEST(every_failed_allocation_is_told_and_nothing_leaks)
{
    cairn_lagrange_options options = exact_options("fixed-point", 0.01);
    meter m = { 0 };
    cairn_status status = CAIRN_NO_MEMORY;
    meter_install(&m);
    for (long n = 1; status != CAIRN_OK && n < 1000; n++) {
        m = (meter){ .fail_at = n };
        status = use(&options);
        CHECK(status == CAIRN_OK || status == CAIRN_NO_MEMORY);
        CHECK_INT(m.alive, 0);
        CHECK(status == CAIRN_OK || m.calls >= n);
    }
    cairn_allocator_set(NULL);
    CHECK_OK(status);
    CHECK(m.fail_at > 5);
}

TEST(a_step_needs_no_report)
{
    plane_body body = { .gravity = 9.8 };
    cairn_lagrange_system particle = particle_system(&body);
    cairn_lagrange_options options = cairn_lagrange_options_default();
    double q[2] = { 0, 1 }, v[2] = { 0, 0 };
    cairn_lagrange *l = started(&particle, q, v);
    options.time_step = 0.01;
    CHECK_OK(cairn_lagrange_step(l, &options, NULL, NULL));
    CHECK_NEAR(cairn_lagrange_velocity(l)[1], -0.098, 1e-15); /* it falls freely */
    cairn_lagrange_destroy(l);
}

GROUP(test_lagrange)
{
    RUN(CASE(bad_systems_are_refused_by_name), CASE(bad_options_are_refused_by_name),
        CASE(solver_that_does_not_treat_the_law_is_refused),
        CASE(solver_of_the_convex_law_serves_exact_schemes_by_the_fixed_point),
        CASE(bad_contacts_and_forces_are_refused_by_name),
        CASE(mass_that_is_not_positive_definite_is_refused), CASE(unsolved_step_is_a_report),
        CASE(schemes_are_schemes_of_bodies), CASE(defaults_fit_their_table),
        CASE(every_failed_allocation_is_told_and_nothing_leaks), CASE(a_step_needs_no_report));
}

/* ==== test_lagrange_step: the step of Lagrangian systems on the published examples ============ */

/* By cairn_scheme_distance, to `until` in steps of h. */
static double scheme_distance(const cairn_lagrange_system *system, const double *q, const double *v,
                              double until, double h)
{
    cairn_start start = { q, v, until };
    double out;
    CHECK_OK(cairn_scheme_distance(system, &start, h, &out));
    return out;
}

/* ---- particle ([A06] Table 10.1, Fig. 10.2) -------------------------------------------------- */

TEST(particle_schemes_differ_as_in_table_10_1)
{
    static const double published[8] = {
        5.6314784e-02, 1.7416198e-02, 6.7389905e-03, 2.1011170e-03,
        7.6112319e-04, 2.6647317e-04, 9.2498029e-05, 3.2649217e-05
    };
    static const double exact[8] = { 5.6314833700e-02, 1.7416207011e-02, 6.7389898574e-03,
                                     2.1011168342e-03, 7.6112312278e-04, 2.6647315993e-04,
                                     9.2498028836e-05, 3.2649217338e-05 };
    /* the table fits mu = 0.2, not the 0.3 that is printed */
    plane_body body = { .gravity = 9.8, .mu = 0.2 };
    cairn_lagrange_system particle = particle_system(&body);
    for (int k = 0; k < 8; k++) {
        double part = 1 << k, q[2] = { 0, 3 }, v[2] = { 3, 0 };
        double norm = scheme_distance(&particle, q, v, 1.6, 0.1 / part);
        CHECK_CLOSE(norm / part, published[k], 2e-6);
        CHECK_CLOSE(norm / part, exact[k], 1e-9);
    }
}

/* The highest y of a particle that starts to slide at 3 m/s, and its x at t = 1.2. */
static double hop(const char *scheme, double mu, double h, double *x)
{
    cairn_lagrange_options options = exact_options(scheme, h);
    cairn_hop out;
    CHECK_OK(cairn_particle_hop(mu, &options, NULL, &out));
    *x = out.x;
    return out.highest;
}

TEST(convex_particle_hops_when_it_starts_to_slide)
{
    double x;
    CHECK_NEAR(hop("convex", 0.3, 0.001, &x), 0.0351287064, 1e-9);
    CHECK_NEAR(x, 1.52911247, 1e-8);
    CHECK_NEAR(hop("convex", 0.2, 0.001, &x), 0.0172484231, 1e-9);
    CHECK_NEAR(x, 2.18759808, 1e-8);
}

TEST(hop_differs_from_its_limit_by_the_order_of_the_step)
{
    double x, limit = 0.0347837140; /* (3 mu/(1 + mu^2))^2/(2 g) */
    CHECK_NEAR(hop("convex", 0.3, 0.002, &x) - limit, 6.89e-4, 1e-6);
    CHECK_NEAR(hop("convex", 0.3, 0.001, &x) - limit, 3.45e-4, 1e-6);
    CHECK_NEAR(hop("convex", 0.3, 0.0005, &x) - limit, 1.73e-4, 1e-6);
}

TEST(lcp_particle_slides_without_a_hop)
{
    double x;
    CHECK_NEAR(hop("lcp", 0.3, 0.001, &x), 0, 1e-14);
    CHECK_NEAR(x, 1.52911260, 1e-8);
    CHECK_NEAR(hop("lcp", 0.2, 0.001, &x), 0, 1e-14);
    CHECK_NEAR(x, 2.18762400, 1e-8);
}

/* ---- bar ([A06] 10) -------------------------------------------------------------------------- */

TEST(bar_schemes_approach_each_other)
{
    static const double expected[8] = { 2.84505622e-02, 5.53725696e-02, 1.84695268e-02,
                                        7.04986062e-03, 1.14147995e-03, 7.83090196e-04,
                                        2.69416130e-04, 9.99961969e-05 };
    plane_body body = { .inertia = 1.0 / 16, .gravity = 9.8, .mu = 0.75 };
    cairn_lagrange_system bar = bar_system(&body);
    double norm[8];
    for (int k = 0; k < 8; k++) {
        double part = 1 << k, q[3] = { 0, 3, 72 * pi / 180 }, v[3] = { -1, 0, 0 };
        norm[k] = scheme_distance(&bar, q, v, 2, 0.1 / part) / part;
        CHECK_CLOSE(norm[k], expected[k], k <= 4 ? 1e-6 : 1e-4);
    }
    CHECK(norm[1] > 100 * norm[7]);
}

static cairn_bar_run slide_bar(const char *scheme, double speed, double h)
{
    cairn_lagrange_options options = exact_options(scheme, h);
    cairn_bar_run run;
    CHECK_OK(cairn_bar_slide(speed, &options, NULL, &run));
    return run;
}

TEST(bar_in_the_paradox_position_sticks_in_both_schemes)
{
    cairn_bar_run convex = slide_bar("convex", -1, 0.001), lcp = slide_bar("lcp", -1, 0.001);
    static const double v1[3] = { -0.84859139, 0.27572406, 0.89226179 };
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(convex.v1[i], v1[i], 1e-7);
        CHECK_NEAR(lcp.v1[i], convex.v1[i], 1e-12);
    }
    CHECK_NEAR(convex.angle, 1.44893453, 1e-7);
    CHECK_NEAR(lcp.angle, 1.44893453, 1e-7);
}

TEST(convex_bar_hops_in_regular_sliding)
{
    cairn_bar_run run = slide_bar("convex", 1, 0.001);
    static const double v1[3] = { 0.96883403, 0.03175463, -0.67970704 };
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(run.v1[i], v1[i], 1e-7);
    CHECK_NEAR(run.angle, 0.58689032, 1e-7);
    CHECK_NEAR(run.highest, 0.00324991, 1e-7);
    CHECK_NEAR(run.when, 0.026, 1e-9);
    CHECK_NEAR(slide_bar("convex", 1, 0.002).highest, 0.00321073, 1e-7);
    CHECK_NEAR(slide_bar("convex", 1, 0.0005).highest, 0.00327034, 1e-7);
}

TEST(lcp_bar_slides_without_a_hop)
{
    cairn_bar_run run = slide_bar("lcp", 1, 0.001);
    static const double v1[3] = { 0.99878604, -0.00818139, -0.02647553 };
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(run.v1[i], v1[i], 1e-7);
    CHECK_NEAR(run.angle, 0.59007520, 1e-7);
    CHECK_NEAR(run.highest, 2.2e-6, 1e-7);
}

/* ---- double pendulum ([C09] 5.1) ------------------------------------------------------------- */

static cairn_swing let_swing(const char *scheme, double h, double until)
{
    cairn_swing out;
    CHECK_OK(cairn_pendulum_swing(scheme, h, until, NULL, &out));
    return out;
}

static void check_swing(const char *scheme, double h, const double *expected)
{
    cairn_swing out = let_swing(scheme, h, 1);
    for (int i = 0; i < 2; i++) {
        CHECK_NEAR(out.half[i], expected[i], 1e-8);
        CHECK_NEAR(out.one[i], expected[2 + i], 1e-8);
    }
}

TEST(pendulum_swings_as_computed_elsewhere)
{
    static const double h2[4] = { 0.2671675357, 0.8644254023, -0.7353701285, 0.3749935134 };
    static const double h3[4] = { 0.277043269, 0.8697405167, -0.72753332, 0.3845577529 };
    static const double h4[4] = { 0.2780259536, 0.8702734077, -0.7270465381, 0.3859680555 };
    check_swing("coulomb-newton", 0.01, h2);
    check_swing("coulomb-newton", 0.001, h3);
    check_swing("lcp", 0.0001, h4);
    check_swing("fixed-point", 0.001, h3);
}

TEST(pendulum_starts_with_the_energy_of_its_height)
{
    double q[2] = { pi / 3, pi / 3 };
    CHECK_NEAR(pendulum_potential(NULL, q), -19.62, 1e-12);
}

TEST(pendulum_loses_energy_in_contact)
{
    cairn_swing out = let_swing("lcp", 0.001, 4);
    CHECK(out.rise < 0);
    CHECK_NEAR(out.energy, -34.622052, 1e-5);
    CHECK_NEAR(out.push, 36.03729395, 1e-5);
}

TEST(pendulum_after_release_depends_little_on_the_step)
{
    cairn_swing coarse = let_swing("lcp", 0.001, 2), fine = let_swing("lcp", 0.0001, 2);
    CHECK_NEAR(coarse.two[0], fine.two[0], 1e-3);
    CHECK_NEAR(coarse.two[1], fine.two[1], 1e-3);
    CHECK_NEAR(fine.two[0], 0.3027873263, 1e-3);
    CHECK_NEAR(fine.two[1], -1.0447936448, 1e-3);
}

/* ---- ellipse ([A05]) ------------------------------------------------------------------------- */

static cairn_fall drop_ellipse(const double axes[2], const cairn_lagrange_options *options,
                               double until)
{
    cairn_fall out;
    CHECK_OK(cairn_ellipse_drop(axes, options, until, NULL, &out));
    return out;
}

TEST(ellipse_falls_as_computed_elsewhere)
{
    static const struct row {
        const char *scheme;
        double h, q2[3], q10[3], lowest, digit, energy;
    } rows[] = {
        { "convex",
          0.05,
          { -1.1048407976, 2.5195970930, 3.5917763757 },
          { -0.8325107997, 2.0679967657, 3.2963210866 },
          -7.634e-03,
          1e-6,
          21.792900 },
        { "convex",
          0.01,
          { -0.2800933306, 2.1366683547, 3.3598199136 },
          { -0.3533683893, 2.1960024817, 3.4064688225 },
          -1.597e-04,
          1e-7,
          21.630069 },
        { "convex",
          0.001,
          { -0.0550189706, 2.0807787343, 3.3081024857 },
          { -0.2532104326, 2.1975509579, 3.4075880500 },
          -1.403e-06,
          1e-9,
          21.563474 },
        { "lcp",
          0.01,
          { -0.2676682488, 2.1328579655, 3.3572122491 },
          { -0.3467464411, 2.1967398546, 3.4070077003 },
          -7.238e-04,
          1e-7,
          21.628511 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cairn_lagrange_options options = exact_options(rows[i].scheme, rows[i].h);
        cairn_fall out = drop_ellipse((double[]){ 4, 2 }, &options, 10);
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(out.q2[k], rows[i].q2[k], 1e-7);
            CHECK_NEAR(out.q10[k], rows[i].q10[k], 1e-7);
        }
        CHECK_NEAR(out.lowest, rows[i].lowest, rows[i].digit);
        CHECK_NEAR(out.energy, rows[i].energy, 1e-6);
    }
}

TEST(thin_ellipse_meets_the_floor_in_the_step_that_ends_at_1_16)
{
    static const double q2[3] = { 1.692347746, 2.2965855671, 2.3235865778 };
    cairn_lagrange_options options = exact_options("convex", 0.01);
    cairn_fall out = drop_ellipse((double[]){ 3, 1 }, &options, 2);
    CHECK_NEAR(out.first, 1.16, 1e-9);
    for (int k = 0; k < 3; k++)
        CHECK_NEAR(out.q2[k], q2[k], 1e-7);
}

TEST(ellipse_meets_the_floor_in_the_step_of_the_exact_time)
{
    /* free fall touches at 1.0993799266 */
    cairn_lagrange_options options = exact_options("lcp", 0.01);
    CHECK_NEAR(drop_ellipse((double[]){ 4, 2 }, &options, 2).first, 1.10, 1e-9);
}

TEST(gaps_recover_at_gap_level_and_drift_at_velocity_level)
{
    static const double h[4] = { 0.05, 0.02, 0.01, 0.005 };
    static const double gap[4] = { -4.410e-02, -3.955e-03, -7.238e-04, -1.247e-04 };
    static const double velocity[4] = { -7.069e-01, -2.970e-01, -1.541e-01, -8.158e-02 };
    for (int i = 0; i < 4; i++) {
        cairn_lagrange_options options = exact_options("lcp", h[i]);
        cairn_fall kept = drop_ellipse((double[]){ 4, 2 }, &options, 20);
        options.velocity_level = true;
        cairn_fall lost = drop_ellipse((double[]){ 4, 2 }, &options, 20);
        CHECK_CLOSE(kept.lowest, gap[i], 5e-4);
        CHECK_CLOSE(lost.lowest, velocity[i], 5e-4);
        CHECK(kept.last <= 4e-4);
        CHECK(lost.last > 0.9 * -lost.lowest);
    }
}

/* ---- rod ([ST96] 5) -------------------------------------------------------------------------- */

static cairn_rod_run drop_rod(double h, int linearisations)
{
    cairn_rod_run run;
    CHECK_OK(cairn_rod_drop(h, linearisations, NULL, &run));
    return run;
}

TEST(rod_falls_as_computed_elsewhere)
{
    static const struct row {
        double h, start[2], stop, after[3], x, spin;
    } rows[] = {
        { 0.01,
          { 0.38, 0.54 },
          0.57,
          { -1.4874268, -0.7602603, 5.7569022 },
          -0.2397943822,
          8.4738296653 },
        { 0.005,
          { 0.38, 0.545 },
          0.57,
          { -1.4095999, -0.6283688, 5.2594596 },
          -0.2338793841,
          8.4205346779 },
        { 0.0025,
          { 0.3825, 0.5475 },
          0.5675,
          { -1.3958693748, -0.6138993966, 5.1818859529 },
          -0.2307863285,
          8.5164976023 },
        { 0.001,
          { 0.385, 0.546 },
          0.567,
          { -1.3972440, -0.6216142, 5.1913675 },
          -0.2284999268,
          8.5112659817 },
        { 0.0005,
          { 0.3855, 0.5465 },
          0.5665,
          { -1.3945243, -0.6187286, 5.1761056 },
          -0.2278858016,
          8.5309646413 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cairn_rod_run run = drop_rod(rows[i].h, 100);
        CHECK_NEAR(run.start[0], rows[i].start[0], 1e-9);
        CHECK_NEAR(run.start[1], rows[i].start[1], 1e-9);
        CHECK_NEAR(run.stop, rows[i].stop, 1e-9);
        for (int k = 0; k < 3; k++)
            CHECK_NEAR(run.after[k], rows[i].after[k], 1e-7);
        CHECK_NEAR(run.q[0], rows[i].x, 1e-7);
        CHECK_NEAR(run.spin, rows[i].spin, 1e-7);
    }
}

TEST(rod_comes_to_rest_on_the_floor_which_carried_its_weight)
{
    cairn_rod_run run = drop_rod(0.0025, 100);
    CHECK_NEAR(run.q[1], 0.05, 1e-12);
    CHECK_NEAR(run.q[2], pi, 1e-12);
    CHECK_NEAR(run.push, 9.81, 1e-9); /* m g T */
    CHECK_NEAR(run.penetration, 0, 1e-15);
}

TEST(rod_with_one_linearisation_overlaps_a_little)
{
    cairn_rod_run run = drop_rod(0.0025, 1);
    CHECK_NEAR(run.start[0], 0.3825, 1e-9);
    CHECK_NEAR(run.start[1], 0.5475, 1e-9);
    CHECK_NEAR(run.q[0], -0.2300680349, 1e-7);
    CHECK_NEAR(run.penetration, 3.5e-7, 1e-8);
}

/* the scheme is lcp with linearisations, by name */
TEST(stewart_trinkle_is_lcp_linearised_ahead)
{
    plane_body body = { .inertia = 0.002, .gravity = 9.81, .mu = 0.6 };
    cairn_lagrange_system system = rod_system(&body);
    cairn_lagrange_options options = exact_options("stewart-trinkle", 0.0025);
    double q[3] = { 0, 1, pi / 6 }, v[3] = { 0, 0, 4 };
    cairn_lagrange *l = started(&system, q, v);
    int most = 0;
    for (int k = 0; k < 400; k++) {
        cairn_lagrange_report report = stepped(l, &options);
        CHECK_NEAR(report.penetration, 0, 1e-14);
        most = report.linearisations > most ? report.linearisations : most;
    }
    CHECK_NEAR(cairn_lagrange_position(l)[0], -0.2307863285, 1e-7);
    CHECK(most > 2 && most <= 12);
    cairn_lagrange_destroy(l);
}

/* two allowed, as many as twelve needed: some step is not settled, and each such step says so */
TEST(step_that_runs_out_of_linearisations_says_so)
{
    plane_body body = { .inertia = 0.002, .gravity = 9.81, .mu = 0.6 };
    cairn_lagrange_system system = rod_system(&body);
    cairn_lagrange_options options = exact_options("stewart-trinkle", 0.01);
    cairn_lagrange_report report;
    double q[3] = { 0, 1, pi / 6 }, v[3] = { 0, 0, 4 };
    cairn_lagrange *l = started(&system, q, v);
    int unsettled = 0;
    options.linearisations = 2;
    for (int k = 0; k < 100; k++) {
        CHECK_OK(cairn_lagrange_step(l, &options, &report, NULL));
        CHECK(report.solve.converged || report.linearisation_error > 1e-12);
        unsettled += !report.solve.converged;
    }
    CHECK(unsettled > 0 && unsettled < 50);
    cairn_lagrange_destroy(l);
}

/* ---- moreau-jean ----------------------------------------------------------------------------- */

/* y and its velocity after one step of 0.01 s of a particle at height y with e = 0.5. */
static void step_up(double y[2], double gravity, const cairn_lagrange_options *options)
{
    plane_body body = { .gravity = gravity, .e = 0.5 };
    cairn_lagrange_system particle = particle_system(&body);
    double q[2] = { 0, y[0] }, v[2] = { 0, y[1] };
    cairn_lagrange *l = started(&particle, q, v);
    stepped(l, options);
    y[0] = cairn_lagrange_position(l)[1];
    y[1] = cairn_lagrange_velocity(l)[1];
    cairn_lagrange_destroy(l);
}

/* It falls at 2 m/s, h = 0.01. A contact is one that overlaps 0.01 m further down. */
TEST(moreau_jean_takes_contacts_that_overlap_at_mid_step)
{
    const double height[2] = { 0.0101, 0.0099 }, speed[2] = { -2, 1 };
    cairn_lagrange_options options = exact_options("moreau-jean", 0.01);
    for (int i = 0; i < 2; i++) {
        double y[2] = { height[i], -2 };
        step_up(y, 0, &options);
        CHECK_NEAR(y[1], speed[i], 1e-12); /* e = 0.5 */
        CHECK_NEAR(y[0], height[i] + 0.01 * speed[i], 1e-12);
    }
}

/* ---- the report ------------------------------------------------------------------------------ */

TEST(energy_of_a_step_closes)
{
    /* with a constant M: d(kinetic) = h F.(v + v+)/2 - losses */
    plane_body body = { .gravity = 9.8, .mu = 0.2 };
    cairn_lagrange_system particle = particle_system(&body);
    double q[2] = { 0, 0 }, v[2] = { 3, -2 };
    cairn_lagrange *l = started(&particle, q, v);
    cairn_lagrange_options options = exact_options("lcp", 0.01);
    cairn_lagrange_report report = stepped(l, &options);
    const double *after = cairn_lagrange_velocity(l);
    /* it lands: r_N = 2 + h g, r_T = -mu r_N */
    CHECK_NEAR(after[1], 0, 1e-12);
    CHECK_NEAR(after[0], 3 - 0.2 * 2.098, 1e-12);
    CHECK_NEAR(report.impact_loss, 2.098 * 1, 1e-11);
    CHECK_NEAR(report.friction_loss, 0.2 * 2.098 * 0.5 * (3 + after[0]), 1e-11);
    CHECK_NEAR(report.kinetic - 6.5, 0.01 * -9.8 * -1 - report.impact_loss - report.friction_loss,
               1e-11);
    CHECK_INT(report.active, 1);
    cairn_lagrange_destroy(l);
}

TEST(particle_with_restitution_bounces_at_both_levels)
{
    plane_body body = { .gravity = 0, .e = 0.5 };
    cairn_lagrange_system particle = particle_system(&body);
    for (int level = 0; level < 2; level++) {
        double q[2] = { 0, 0 }, v[2] = { 0, -2 };
        cairn_lagrange *l = started(&particle, q, v);
        cairn_lagrange_options options = exact_options("fixed-point", 0.01);
        options.velocity_level = level;
        stepped(l, &options);
        CHECK_NEAR(cairn_lagrange_velocity(l)[1], 1, 1e-12);
        cairn_lagrange_destroy(l);
    }
}

TEST(restitution_waits_for_the_step_that_closes_the_gap)
{
    double y[2] = { 1, -2 };
    cairn_lagrange_options options = exact_options("convex", 0.01);
    step_up(y, 0, &options);
    CHECK_NEAR(y[1], -2, 1e-12);
}

TEST(restitution_needs_an_approach)
{
    /* it rises at 0.1 m/s, and gravity would turn that to -0.9 */
    double y[2] = { 0, 0.1 };
    cairn_lagrange_options options = exact_options("convex", 0.01);
    options.velocity_level = true;
    step_up(y, 100, &options);
    CHECK_NEAR(y[1], 0, 1e-12);
}

TEST(a_step_corrects_the_share_gamma_of_an_overlap)
{
    double y[2] = { -0.1, 0 };
    cairn_lagrange_options options = exact_options("convex", 0.01);
    options.stabilisation = 0.25;
    step_up(y, 0, &options);
    CHECK_NEAR(y[0], -0.075, 1e-12);
}

TEST(fixed_point_starts_from_the_last_sliding_speed)
{
    plane_body body = { .gravity = 9.8, .mu = 0.2 };
    cairn_lagrange_system particle = particle_system(&body);
    double v[2] = { 3, 0 };
    cairn_lagrange *l = started(&particle, NULL, v);
    cairn_lagrange_options options = exact_options("fixed-point", 1e-4);
    options.tolerance = 1e-2; /* in one step the speed changes by mu g h = 2e-4 m/s */
    CHECK(stepped(l, &options).solve.outer_iterations > 1);
    options.tolerance = 0.5;
    CHECK_INT(stepped(l, &options).solve.outer_iterations, 1);
    cairn_lagrange_destroy(l);
}

TEST(linearised_step_takes_mass_ahead_and_force_halfway)
{
    cairn_lagrange_system pendulum = pendulum_system();
    double h = 0.1, q[2] = { 1, 0.5 }, v[2] = { 2, -1 }, F[2], M[4];
    double ahead[2] = { 1.2, 0.4 }, halfway[2] = { 1.1, 0.45 };
    cairn_lagrange *l = started(&pendulum, q, v);
    cairn_lagrange_options options = exact_options("lcp", h);
    options.linearisations = 1;
    options.reach = 0;
    CHECK_INT(stepped(l, &options).candidates, 0);
    pendulum_mass(NULL, ahead, M);
    pendulum_force(NULL, 0, halfway, v, F);
    const double *after = cairn_lagrange_velocity(l);
    for (int i = 0; i < 2; i++)
        CHECK_NEAR(M[2 * i] * (after[0] - v[0]) + M[2 * i + 1] * (after[1] - v[1]), h * F[i],
                   1e-13);
    cairn_lagrange_destroy(l);
}

TEST(contacts_out_of_reach_are_left_out)
{
    plane_body body = { .gravity = 10 };
    cairn_lagrange_system particle = particle_system(&body);
    double q[2] = { 0, 0.5 }, v[2] = { 0, -100 };
    cairn_lagrange *l = started(&particle, q, v);
    cairn_lagrange_options options = exact_options("convex", 0.01);
    options.reach = 0.25;
    cairn_lagrange_report report = stepped(l, &options);
    CHECK_INT(report.candidates, 0);
    CHECK_NEAR(report.penetration, 0.501, 1e-12); /* -(0.5 - h (100 + h g)) */
    CHECK_NEAR(cairn_lagrange_impulse(l)[0], 0, 0);
    report = stepped(l, &options);
    CHECK_INT(report.candidates, 1);
    CHECK_NEAR(report.penetration, 0, 1e-12);
    cairn_lagrange_destroy(l);
}

TEST(every_scheme_stops_a_particle_in_space)
{
    /* 2 kg land at (3, 0, -10) m/s: friction could take mu 10 = 5 m/s, so they stop */
    cairn_lagrange_system particle = space_system();
    for (int i = 0; cairn_scheme_name(i); i++) {
        const char *scheme = cairn_scheme_name(i);
        double left = strcmp(scheme, "frictionless") == 0 ? 1 : 0, v[3] = { 3, 0, -10 };
        cairn_lagrange *l = started(&particle, NULL, v);
        cairn_lagrange_options options = exact_options(scheme, 0.01);
        options.tolerance = 1e-9;
        stepped(l, &options);
        CHECK_NEAR(cairn_lagrange_velocity(l)[0], 3 * left, 1e-6);
        CHECK_NEAR(cairn_lagrange_velocity(l)[2], 0, 1e-6);
        CHECK_NEAR(cairn_lagrange_impulse(l)[0], 20, 1e-5);
        cairn_lagrange_destroy(l);
    }
}

GROUP(test_lagrange_step)
{
    RUN(CASE(particle_schemes_differ_as_in_table_10_1),
        CASE(convex_particle_hops_when_it_starts_to_slide),
        CASE(hop_differs_from_its_limit_by_the_order_of_the_step),
        CASE(lcp_particle_slides_without_a_hop), CASE(bar_schemes_approach_each_other),
        CASE(bar_in_the_paradox_position_sticks_in_both_schemes),
        CASE(convex_bar_hops_in_regular_sliding), CASE(lcp_bar_slides_without_a_hop),
        CASE(pendulum_swings_as_computed_elsewhere),
        CASE(pendulum_starts_with_the_energy_of_its_height), CASE(pendulum_loses_energy_in_contact),
        CASE(pendulum_after_release_depends_little_on_the_step),
        CASE(ellipse_falls_as_computed_elsewhere),
        CASE(thin_ellipse_meets_the_floor_in_the_step_that_ends_at_1_16),
        CASE(ellipse_meets_the_floor_in_the_step_of_the_exact_time),
        CASE(gaps_recover_at_gap_level_and_drift_at_velocity_level),
        CASE(rod_falls_as_computed_elsewhere),
        CASE(rod_comes_to_rest_on_the_floor_which_carried_its_weight),
        CASE(rod_with_one_linearisation_overlaps_a_little),
        CASE(stewart_trinkle_is_lcp_linearised_ahead),
        CASE(step_that_runs_out_of_linearisations_says_so),
        CASE(moreau_jean_takes_contacts_that_overlap_at_mid_step), CASE(energy_of_a_step_closes),
        CASE(particle_with_restitution_bounces_at_both_levels),
        CASE(restitution_waits_for_the_step_that_closes_the_gap),
        CASE(restitution_needs_an_approach), CASE(a_step_corrects_the_share_gamma_of_an_overlap),
        CASE(fixed_point_starts_from_the_last_sliding_speed),
        CASE(linearised_step_takes_mass_ahead_and_force_halfway),
        CASE(contacts_out_of_reach_are_left_out), CASE(every_scheme_stops_a_particle_in_space));
}
