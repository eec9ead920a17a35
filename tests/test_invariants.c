/* test_invariants.c - what every scheme must keep, whatever the solver: stick solutions coincide,
 * momentum along an active facet, impulses of a body at rest, energy that never rises, overlap of
 * second order in the time step. */
#include <math.h>

#include "worlds.h"

static const cairn_vec3 zero = { 0, 0, 0 };

/* A particle of mass 1 on a floor. */
static cairn_world *new_particle(int dimension, double mu, cairn_vec3 v)
{
    cairn_world *world = new_world(dimension, 9.81, mu, 0);
    cairn_body_def def = cairn_body_def_default();
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    def.shape = cairn_shape_default(CAIRN_SHAPE_POINT, dimension);
    def.mass = 1;
    def.velocity = v;
    CHECK_OK(cairn_body_create(world, &def, NULL));
    return world;
}

/* ---- sliding and sticking ------------------------------------------------------------------- */

/* While it slides, v_x + mu v_y changes by -mu g h in a step, in both schemes. */
TEST(x_plus_mu_y_is_the_same_in_lcp_and_convex_while_sliding)
{
    const double mu = 0.3;
    cairn_world *convex = new_particle(2, mu, (cairn_vec3){ 2, 0, 0 });
    cairn_world *lcp = new_particle(2, mu, (cairn_vec3){ 2, 0, 0 });
    cairn_step_options one = step_by(0.01, "convex", 1e-12), other = step_by(0.01, "lcp", 1e-12);
    for (int k = 0; k < 50; k++) {
        advance(convex, &one, 1);
        advance(lcp, &other, 1);
        cairn_vec3 a = cairn_world_bodies(convex).x[1], b = cairn_world_bodies(lcp).x[1];
        CHECK(a.y > 1e-4 && fabs(b.y) < 1e-12);
        CHECK_NEAR(a.x + mu * a.y, b.x + mu * b.y, 1e-12);
    }
    cairn_world_destroy(convex);
    cairn_world_destroy(lcp);
}

/* A disk rolling down: the contact sticks, and all schemes with friction do the same. */
TEST(all_schemes_agree_while_contacts_stick)
{
    cairn_vec3 expected = zero;
    for (int i = 0; cairn_scheme_name(i); i++) {
        const char *scheme = cairn_scheme_name(i);
        if (strcmp(scheme, "frictionless") == 0)
            continue;
        cairn_world *world = new_world(2, 9.81, 0.8, 0);
        cairn_vec3 start = { 0, 0.1, 0 };
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
        add_ball(world, 0.1, start, (cairn_vec3){ 1, 0, 0 });
        cairn_step_options options = step_by(0.01, scheme, 1e-12);
        advance(world, &options, 30);
        cairn_vec3 v = cairn_world_bodies(world).v[1];
        double turning = cairn_world_bodies(world).omega[1].z;
        CHECK_NEAR(v.x + 0.1 * turning, 0, 1e-9); /* it rolls */
        if (i == 0)
            expected = v;
        CHECK_NEAR(v.x, expected.x, 1e-2 * fabs(expected.x));
        cairn_world_destroy(world);
    }
}

/* From rest with friction to spare nothing slides, and lcp and convex give the same bits of v. */
TEST(stick_solutions_of_lcp_and_convex_coincide)
{
    const char *const schemes[2] = { "convex", "lcp" };
    double v[2][2];
    for (int i = 0; i < 2; i++) {
        cairn_world *world = new_world(2, 9.81, 0.9, 0);
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
        int ball = add_ball(world, 0.5, (cairn_vec3){ 0, 0.5, 0 }, zero);
        add_ball(world, 0.5, (cairn_vec3){ 1, 0.5, 0 }, zero);
        add_ball(world, 0.5, (cairn_vec3){ 0.5, 0.5 + sqrt(0.75), 0 }, zero);
        cairn_step_options options = step_by(0.01, schemes[i], 1e-12);
        advance(world, &options, 5);
        v[i][0] = cairn_world_bodies(world).v[ball].x;
        v[i][1] = cairn_world_bodies(world).v[ball].y;
        cairn_world_destroy(world);
    }
    CHECK_NEAR(v[0][0], v[1][0], 1e-12);
    CHECK_NEAR(v[0][1], v[1][1], 1e-12);
}

/* ---- impulses ------------------------------------------------------------------------------- */

/* A body that falls from rest and comes to rest: its normal impulses sum to m g T. */
TEST(normal_impulses_of_a_body_that_comes_to_rest_sum_to_its_weight)
{
    for (int i = 0; cairn_scheme_name(i); i++) {
        const int steps = 100;
        const double h = 0.01;
        cairn_world *world = new_world(3, 9.81, 0.5, 0);
        cairn_vec3 start = { 0, 0, 0.6 };
        double sum = 0;
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
        add_ball(world, 0.5, start, zero);
        cairn_step_options options = step_by(h, cairn_scheme_name(i), 1e-12);
        for (int k = 0; k < steps; k++) {
            advance(world, &options, 1);
            cairn_contacts c = cairn_world_contacts(world);
            for (int j = 0; j < c.count; j++)
                sum += c.impulse[3 * j];
        }
        CHECK_NEAR(sum, 9.81 * h * steps, 1e-9);
        cairn_world_destroy(world);
    }
}

/* ---- energy --------------------------------------------------------------------------------- */

/* Largest rise of the total energy in a step that met its tolerance. */
static double largest_rise(int dimension, const cairn_step_options *options, int *met)
{
    cairn_world *world = new_heap(dimension, 0.4, 2);
    double energy = total_energy(world), largest = 0;
    cairn_step_report report;
    for (int k = 0; k < 40; k++) {
        CHECK_OK(cairn_world_step(world, options, &report));
        double now = total_energy(world);
        if (report.solve.converged) {
            largest = fmax(largest, now - energy);
            ++*met;
        }
        energy = now;
    }
    cairn_world_destroy(world);
    return largest;
}

/* Every scheme with every solver that goes with it; about 10 J fall here. */
TEST(energy_never_rises_for_any_scheme_and_solver)
{
    for (int i = 0; cairn_scheme_name(i); i++)
        for (int k = 0; cairn_solver_name(k); k++)
            for (int dimension = 2; dimension <= 3; dimension++) {
                cairn_step_options options = step_by(0.01, cairn_scheme_name(i), 1e-8);
                int met = 0;
                options.solver = cairn_solver_name(k);
                options.max_iterations = 2000;
                if (cairn_step_options_check(&options, dimension, NULL) != CAIRN_OK)
                    continue;
                double rise = largest_rise(dimension, &options, &met);
                if (rise > 1e-7)
                    print_error("%s with %s in %dD: %g J\n", options.scheme, options.solver,
                                dimension, rise);
                CHECK(rise <= 1e-7);
                CHECK(met > 0);
            }
}

/* ---- overlap -------------------------------------------------------------------------------- */

/* Deepest overlap of a ball swinging in a round bowl: the linearised gap leaves what is curved. */
static double deepest(const char *scheme, double h)
{
    cairn_world *world = new_world(2, 9.81, 0.2, 0);
    double worst = 0;
    add_fixed(world, CAIRN_SHAPE_INSIDE_CYLINDER, 1, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0.9, 0, 0 }, zero);
    cairn_step_options options = step_by(h, scheme, 1e-12);
    for (int k = 0; k < (int)round(1 / h); k++)
        worst = fmax(worst, advance(world, &options, 1).certificate.penetration);
    cairn_world_destroy(world);
    return worst;
}

/* [A06] Theorem 6.1: half the step, a quarter of the overlap, in every stabilised scheme. */
TEST(overlap_is_of_second_order_in_the_time_step)
{
    for (int i = 0; cairn_scheme_name(i); i++) {
        const char *scheme = cairn_scheme_name(i);
        if (strcmp(scheme, "moreau-jean") == 0)
            continue; /* of velocity level: first order */
        double coarse = deepest(scheme, 0.02), fine = deepest(scheme, 0.005);
        CHECK(fine <= 9.81 * 0.005 * 0.005); /* (h v)^2/(2 r) with v^2 <= 2 g r */
        CHECK(fine < 1e-10 || coarse / fine > 12);
    }
}

int main(void)
{
    RUN(CASE(x_plus_mu_y_is_the_same_in_lcp_and_convex_while_sliding),
        CASE(all_schemes_agree_while_contacts_stick),
        CASE(stick_solutions_of_lcp_and_convex_coincide),
        CASE(normal_impulses_of_a_body_that_comes_to_rest_sum_to_its_weight),
        CASE(energy_never_rises_for_any_scheme_and_solver),
        CASE(overlap_is_of_second_order_in_the_time_step));
}
