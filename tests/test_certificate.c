/* test_certificate.c - what a step says about itself, against what one can see from outside. */
#include "problem/operator.h"
#include "worlds.h"

static const cairn_vec3 zero = { 0, 0, 0 };

/* a ball that sinks into a curved wall by the curvature of its path: (h v)^2/(2 R) */
TEST(penetration_is_the_overlap_after_the_step)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    add_fixed(world, CAIRN_SHAPE_INSIDE_CYLINDER, 1, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0.9, 0, 0 }, (cairn_vec3){ 0, 1, 0 });
    cairn_step_options options = step_by(0.01, "convex", 1e-12);
    double seen = advance(world, &options, 1).certificate.penetration;
    CHECK_NEAR(seen, hypot(0.9, 0.01) - 0.9, 1e-15);
    CHECK_CLOSE(seen, 0.01 * 0.01 / (2 * 0.9), 1e-4);
    cairn_world_destroy(world);
}

TEST(a_loose_solve_shows_in_the_certificate)
{
    cairn_step_report loose = { 0 }, tight = { 0 };
    for (int i = 0; i < 2; i++) {
        cairn_world *world = new_heap(3, 0.3, 4);
        cairn_step_options options = step_by(0.005, "fixed-point", i ? 1e-8 : 1e-1);
        *(i ? &tight : &loose) = advance(world, &options, 100);
        cairn_world_destroy(world);
    }
    CHECK(tight.certificate.judgement.asked.relative <= 1e-8);
    CHECK(loose.certificate.judgement.asked.relative > 1e-6);
    CHECK(tight.certificate.gap_error < 1e-3 * loose.certificate.gap_error);
    CHECK(tight.certificate.complementarity < 1e-3 * loose.certificate.complementarity);
}

/* The largest h |min(o, w r_N)| and |r_N o| of all contacts, each with its own weight. */
static void worst_entries(const cairn_world *world, bool convex, double h, double worst[2])
{
    const double *r;
    const cairn_problem *p = cairn_world_problem(world, &r);
    cairn_contacts c = cairn_world_contacts(world);
    worst[0] = worst[1] = 0;
    for (int j = 0; j < c.count; j++) {
        const double *u = c.velocity + 3 * j;
        double open = u[0] + p->b[j] - (convex ? p->mu[j] * hypot(u[1], u[2]) : 0);
        double push = cairn_contact_inverse_mass(p, j) * r[3 * j];
        worst[0] = fmax(worst[0], h * fabs(fmin(open, push)));
        worst[1] = fmax(worst[1], fabs(r[3 * j] * open));
    }
}

/* The certificate looks up a weight only where it can matter: what it says is the worst of all. */
TEST(the_gap_error_is_the_worst_of_all_contacts)
{
    const char *const schemes[3] = { "frictionless", "convex", "fixed-point" };
    for (int i = 0; i < 3; i++) {
        cairn_world *world = new_heap(3, 0.3, 4);
        cairn_step_options options = step_by(0.005, schemes[i], 3e-2);
        for (int k = 0; k < 60; k++) {
            cairn_certificate seen = advance(world, &options, 1).certificate;
            double worst[2];
            worst_entries(world, i == 1, 0.005, worst);
            CHECK_NEAR(seen.gap_error, worst[0], 1e-12 * worst[0]);
            CHECK_NEAR(seen.complementarity, worst[1], 1e-12 * worst[1]);
        }
        CHECK(cairn_world_contacts(world).count > 20);
        cairn_world_destroy(world);
    }
}

/* friction opposes sliding exactly in a converged step */
TEST(friction_direction_is_right_when_solved)
{
    cairn_world *world = new_world(3, 10, 0.2, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.1 }, (cairn_vec3){ 0.6, 0.8, 0 });
    cairn_step_options options = step_by(0.001, "fixed-point", 1e-12);
    cairn_step_report report = advance(world, &options, 10);
    cairn_contacts c = cairn_world_contacts(world);
    CHECK_NEAR(report.certificate.friction_direction, 0, 1e-12);
    CHECK_NEAR(hypot(c.impulse[1], c.impulse[2]), 0.2 * 0.01, 1e-12);
    CHECK_INT(report.active, 1);
    CHECK_INT(report.candidates, 1);
    cairn_world_destroy(world);
}

/* sliding between two edges of a four-sided cone: the scheme's law holds, Coulomb's does not */
TEST(edges_show_in_the_residual_of_exact_coulomb)
{
    double coulomb[2];
    for (int i = 0; i < 2; i++) {
        cairn_world *world = new_world(3, 10, 0.2, 0);
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
        add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.1 }, (cairn_vec3){ 2, 1, 0 });
        cairn_step_options options = step_by(0.001, "lcp", 1e-9);
        options.directions = i ? 64 : 4;
        cairn_certificate c = advance(world, &options, 10).certificate;
        CHECK(c.judgement.asked.relative <= 1e-9);
        coulomb[i] = c.judgement.coulomb.relative;
        cairn_world_destroy(world);
    }
    CHECK(coulomb[0] > 1e-4); /* of the sliding speed, 2 m/s */
    CHECK(coulomb[1] < 0.2 * coulomb[0]);
}

TEST(an_empty_world_is_perfect)
{
    cairn_world *world = new_world(3, 10, 0.2, 0);
    cairn_step_options options = step_by(0.001, "convex", 1e-12);
    cairn_step_report report = advance(world, &options, 3);
    CHECK(report.certificate.penetration == 0 && report.certificate.gap_error == 0);
    CHECK(report.certificate.judgement.asked.relative == 0);
    CHECK_INT(report.certificate.judgement.asked.worst_contact, -1);
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(penetration_is_the_overlap_after_the_step),
        CASE(a_loose_solve_shows_in_the_certificate),
        CASE(the_gap_error_is_the_worst_of_all_contacts),
        CASE(friction_direction_is_right_when_solved),
        CASE(edges_show_in_the_residual_of_exact_coulomb), CASE(an_empty_world_is_perfect));
}
