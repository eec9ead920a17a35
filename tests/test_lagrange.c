/* test_lagrange.c - Lagrangian systems: what they refuse, what failures leave behind, memory. */
#include "tests/lagrangian_systems.h"

#include "cairn/world.h"
#include "tests/failing_allocator.h"

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

int main(void)
{
    RUN(CASE(bad_systems_are_refused_by_name), CASE(bad_options_are_refused_by_name),
        CASE(solver_that_does_not_treat_the_law_is_refused),
        CASE(solver_of_the_convex_law_serves_exact_schemes_by_the_fixed_point),
        CASE(bad_contacts_and_forces_are_refused_by_name),
        CASE(mass_that_is_not_positive_definite_is_refused), CASE(unsolved_step_is_a_report),
        CASE(schemes_are_schemes_of_bodies), CASE(defaults_fit_their_table),
        CASE(every_failed_allocation_is_told_and_nothing_leaks), CASE(a_step_needs_no_report));
}
