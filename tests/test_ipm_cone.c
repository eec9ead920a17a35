/* test_ipm_cone.c - cones in variables of their own: their layout, scaling, algebra and steps. */
#include "solve/ipm_cone.h"

#include "check.h"
#include "random_problem.h"

typedef struct fixture {
    random_problem random;
    cairn_system system;
    cairn_arena arena;
    cairn_cones cones;
    double x[192], z[192], l[192], d[192], out[192];
} fixture;

static void open_fixture(fixture *f, int dimension, int directions, uint64_t seed)
{
    *f = (fixture){ 0 };
    make_random_problem(&f->random, dimension, 20, 15, seed);
    f->random.p.directions = directions;
    f->random.mu[3] = 0;
    CHECK_OK(cairn_system_create(&f->random.p, &f->arena, &f->system));
    CHECK_OK(cairn_cones_create(&f->system, &f->arena, &f->cones));
}

/* Random points inside of the cones for x and z. */
static void go_inside(fixture *f, uint64_t seed)
{
    uint64_t state = seed;
    for (size_t k = 0; k < f->cones.count; k++) {
        f->d[k] = 0.4 * cairn_random_uniform(&state);
        f->out[k] = -0.4 * cairn_random_uniform(&state);
    }
    for (int j = 0; j < f->cones.p->contacts; j++)
        for (int k = f->cones.start[j]; k < f->cones.start[j + 1]; k++)
            if (f->cones.kind[j] == CAIRN_CONE_EDGES || k == f->cones.start[j]) {
                f->d[k] += 1;
                f->out[k] += 2;
            }
    cairn_cones_move(&f->cones, CAIRN_CONE_X, 1, f->d, f->x);
    cairn_cones_move(&f->cones, CAIRN_CONE_Z, 1, f->out, f->z);
}

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

TEST(a_contact_has_the_variables_of_its_cone)
{
    fixture f;
    open_fixture(&f, 3, 0, 1);
    CHECK_INT(f.cones.start[1], 3);                    /* a circle                 */
    CHECK_INT(f.cones.start[4] - f.cones.start[3], 1); /* mu = 0: the normal       */
    CHECK_INT(f.cones.count, 14 * 3 + 1);
    CHECK_NEAR(f.cones.rank, 15, 0);
    cairn_arena_destroy(&f.arena);
    open_fixture(&f, 2, 0, 1);
    CHECK_INT(f.cones.count, 14 * 2 + 1); /* two edges in 2D          */
    cairn_arena_destroy(&f.arena);
    open_fixture(&f, 3, 6, 1);
    CHECK_INT(f.cones.count, 14 * 6 + 1);
    CHECK_NEAR(f.cones.rank, 85, 0);
    cairn_arena_destroy(&f.arena);
}

TEST(impulses_of_inner_points_are_in_the_friction_cone)
{
    static const int directions[] = { 0, 0, 6 }, dimension[] = { 2, 3, 3 };
    for (int i = 0; i < 3; i++) {
        fixture f;
        double r[45];
        open_fixture(&f, dimension[i], directions[i], 2);
        go_inside(&f, 3);
        cairn_cones_impulse(&f.cones, f.x, r);
        for (int j = 0; j < 15; j++) {
            const double *own = r + j * dimension[i];
            double tangent = dimension[i] == 3 ? hypot(own[1], own[2]) : fabs(own[1]);
            CHECK(own[0] > 0 && tangent <= f.random.mu[j] * own[0]);
        }
        cairn_arena_destroy(&f.arena);
    }
}

/* (A'x).u = x.(A u) */
TEST(impulses_and_rows_are_adjoint)
{
    fixture f;
    double r[45], u[45];
    uint64_t state = 8;
    open_fixture(&f, 3, 8, 2);
    go_inside(&f, 3);
    for (int i = 0; i < 45; i++)
        u[i] = cairn_random_normal(&state);
    cairn_cones_impulse(&f.cones, f.x, r);
    cairn_cones_rows(&f.cones, u, f.out);
    CHECK_CLOSE(dot(45, r, u), dot(f.cones.count, f.x, f.out), 1e-12);
    cairn_arena_destroy(&f.arena);
}

TEST(the_scaling_takes_z_and_x_to_the_same_point)
{
    static const int directions[] = { 0, 0, 6 }, dimension[] = { 2, 3, 3 };
    for (int i = 0; i < 3; i++) {
        fixture f;
        open_fixture(&f, dimension[i], directions[i], 4);
        go_inside(&f, 5);
        CHECK(cairn_cones_scale(&f.cones, 0, f.x, f.z, f.l));
        cairn_cones_map(&f.cones, CAIRN_CONE_P, f.z, f.d);
        cairn_cones_map(&f.cones, CAIRN_CONE_INVERSE, f.x, f.out);
        for (size_t k = 0; k < f.cones.count; k++) {
            CHECK_NEAR(f.d[k], f.l[k], 1e-13);
            CHECK_NEAR(f.out[k], f.l[k], 1e-13);
        }
        CHECK_CLOSE(dot(f.cones.count, f.l, f.l), dot(f.cones.count, f.x, f.z), 1e-13);
        cairn_arena_destroy(&f.arena);
    }
}

/* c = (1 + delta w P^2)^-1/2: with delta w = 1 and P = 1/sqrt 3, c = sqrt(3)/2 */
TEST(damping_is_as_defined)
{
    fixture f;
    open_fixture(&f, 2, 0, 4);
    for (size_t k = 0; k < f.cones.count; k++) {
        f.x[k] = 1;
        f.z[k] = 3;
    }
    CHECK(cairn_cones_scale(&f.cones, 1 / f.cones.weight[0], f.x, f.z, f.l));
    CHECK_NEAR(f.cones.root[0], 1 / sqrt(3), 1e-15);
    CHECK_NEAR(f.cones.damping[0], sqrt(3) / 2, 1e-15);
    cairn_arena_destroy(&f.arena);
}

TEST(division_undoes_the_product)
{
    fixture f;
    uint64_t state = 1;
    open_fixture(&f, 3, 0, 6);
    go_inside(&f, 7);
    for (size_t k = 0; k < f.cones.count; k++)
        f.d[k] = cairn_random_normal(&state);
    cairn_cones_product(&f.cones, f.x, f.d, f.out);
    cairn_cones_divide(&f.cones, f.x, f.out, f.out);
    for (size_t k = 0; k < f.cones.count; k++)
        CHECK_NEAR(f.out[k], f.d[k], 1e-12);
    cairn_arena_destroy(&f.arena);
}

/* from the unit (1, 0, 0) along (-1, 3, 0): 1 - t = 3 t at t = 1/4; along (1, 0, 0): never */
TEST(steps_end_at_the_boundary)
{
    fixture f;
    open_fixture(&f, 3, 0, 6);
    cairn_cones_add_unit(&f.cones, 1, 0, f.l);
    CHECK_NEAR(cairn_cones_step(&f.cones, f.l, f.l), 1, 0);
    f.d[0] = -1;
    f.d[1] = 3;
    CHECK_NEAR(cairn_cones_step(&f.cones, f.l, f.d), 0.25, 1e-15);
    f.d[f.cones.start[3]] = -8; /* the contact without friction */
    CHECK_NEAR(cairn_cones_step(&f.cones, f.l, f.d), 0.125, 1e-15);
    cairn_arena_destroy(&f.arena);
}

/* x_1 = 0.75 and x_0 - |x_1| = 2^-70, which x_0 cannot hold: the slack still knows it */
TEST(nearness_to_the_boundary_is_not_lost_in_rounding)
{
    fixture f;
    open_fixture(&f, 3, 0, 6);
    cairn_cones_add_unit(&f.cones, 1, 0, f.d);
    cairn_cones_move(&f.cones, CAIRN_CONE_X, 1, f.d, f.x);
    cairn_cones_move(&f.cones, CAIRN_CONE_Z, 1, f.d, f.z);
    memset(f.d, 0, sizeof f.d);
    f.d[1] = 0.75;
    cairn_cones_move(&f.cones, CAIRN_CONE_X, 1, f.d, f.x);
    f.d[1] = 0;
    f.d[0] = -(0.25 - 0x1p-54);
    cairn_cones_move(&f.cones, CAIRN_CONE_X, 1, f.d, f.x);
    f.d[0] = -(0x1p-54 - 0x1p-70);
    cairn_cones_move(&f.cones, CAIRN_CONE_X, 1, f.d, f.x);
    CHECK_NEAR(f.x[0], 0.75, 0);
    CHECK_NEAR(f.x[1], 0.75, 0);
    CHECK(cairn_cones_scale(&f.cones, 0, f.x, f.z, f.l));
    CHECK_CLOSE(f.cones.slack[0], 0x1p-70, 1e-12);
    CHECK_CLOSE(dot(3, f.l, f.l), 0.75, 1e-6); /* x'z */
    cairn_arena_destroy(&f.arena);
}

TEST(points_outside_are_refused)
{
    fixture f;
    open_fixture(&f, 3, 0, 6);
    go_inside(&f, 7);
    CHECK(cairn_cones_scale(&f.cones, 0, f.x, f.z, f.l));
    memset(f.d, 0, sizeof f.d);
    f.d[0] = -100;
    cairn_cones_move(&f.cones, CAIRN_CONE_Z, 1, f.d, f.z);
    CHECK(!cairn_cones_scale(&f.cones, 0, f.x, f.z, f.l));
    cairn_arena_destroy(&f.arena);
}

int main(void)
{
    RUN(CASE(a_contact_has_the_variables_of_its_cone),
        CASE(impulses_of_inner_points_are_in_the_friction_cone),
        CASE(impulses_and_rows_are_adjoint), CASE(the_scaling_takes_z_and_x_to_the_same_point),
        CASE(damping_is_as_defined), CASE(division_undoes_the_product),
        CASE(steps_end_at_the_boundary), CASE(nearness_to_the_boundary_is_not_lost_in_rounding),
        CASE(points_outside_are_refused));
}
