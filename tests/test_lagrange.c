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
}

TEST(solver_that_does_not_treat_the_law_is_refused)
{
    plane_body body = { .gravity = 9.8 };
    cairn_lagrange_options options = exact_options("lcp", 0.1);
    cairn_error error;
    options.solver = "active-set";
    CHECK_INT(step_particle(&body, &options, &error), CAIRN_UNSUPPORTED);
    CHECK_CONTAINS(error.message, "active-set does not treat the problem of the scheme lcp");
    options.scheme = "fixed-point"; /* which asks it for convex solves only */
    CHECK_OK(step_particle(&body, &options, &error));
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

TEST(schemes_are_schemes_of_bodies)
{
    int count = 0;
    for (; cairn_lagrange_scheme_name(count); count++)
        CHECK(cairn_scheme_law(cairn_lagrange_scheme_name(count)) != CAIRN_LAW_COUNT);
    CHECK_INT(count, 6);
    CHECK(cairn_lagrange_scheme_name(-1) == NULL);
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

int main(void)
{
    RUN(CASE(bad_systems_are_refused_by_name), CASE(bad_options_are_refused_by_name),
        CASE(solver_that_does_not_treat_the_law_is_refused),
        CASE(bad_contacts_and_forces_are_refused_by_name),
        CASE(mass_that_is_not_positive_definite_is_refused), CASE(unsolved_step_is_a_report),
        CASE(schemes_are_schemes_of_bodies), CASE(defaults_fit_their_table),
        CASE(every_failed_allocation_is_told_and_nothing_leaks));
}
