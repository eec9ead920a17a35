/* test_restitution.c - impacts whose outcome is known: a bouncing ball, Newton's cradle, a rocking
 * block, and a rod on which Newton's law makes energy. */
#include "cairn/lagrange.h"
#include "cairn/scene.h"
#include "worlds.h"

static const cairn_vec3 zero = { 0, 0, 0 };
static const char *const laws[] = { "newton", "poisson" };

static void set_law(cairn_world *world, const char *law, double e)
{
    const cairn_material_def material = { .restitution = e, .restitution_law = law };
    CHECK_OK(cairn_material_pair_set(world, 0, 0, &material));
}

/* ---- a bouncing ball ------------------------------------------------------------------------ */

/* Dropped from 1 m with e = 0.8: the tops of the first bounces. */
static void bounce(int dimension, const char *law, double h, double tops[4])
{
    cairn_world *world = new_world(dimension, 10, 0, 0);
    cairn_vec3 start = { 0, dimension == 2 ? 1.1 : 0, dimension == 3 ? 1.1 : 0 };
    set_law(world, law, 0.8);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, start, zero);
    cairn_step_options options = step_by(h, "coulomb", 1e-12);
    double previous = -1;
    for (int top = 0; top < 4;) {
        advance(world, &options, 1);
        cairn_bodies b = cairn_world_bodies(world);
        double speed = dimension == 2 ? b.v[1].y : b.v[1].z;
        if (previous > 0 && speed <= 0)
            tops[top++] = (dimension == 2 ? b.x[1].y : b.x[1].z) - 0.1;
        previous = speed;
    }
    cairn_world_destroy(world);
}

/* 0.64, 0.4096, ...: e^(2k), to first order in the step */
TEST(a_ball_bounces_to_known_heights)
{
    for (int k = 0; k < 4; k++)
        for (int fine = 0; fine < 2; fine++) {
            double tops[4], h = fine ? 1e-4 : 1e-3, expected = 1;
            bounce(2 + k % 2, laws[k / 2], h, tops);
            for (int i = 0; i < 4; i++) {
                expected *= 0.64;
                CHECK_NEAR(tops[i], expected, 15 * h);
            }
        }
}

/* ---- Newton's cradle ------------------------------------------------------------------------ */

/* Balls of mass 1 in a row, `gap` apart, the first one comes with 1 m/s; all velocities after 0.5 s
 * in steps of 1 ms, with so many rounds of impacts in a step. */
static void swing(const char *law, int rounds, double e, int balls, double gap, double *v)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    set_law(world, law, e);
    for (int i = 0; i < balls; i++)
        add_ball(world, 0.1, (cairn_vec3){ (0.2 + gap) * i - (i ? 0 : 0.05), 0, 0 },
                 (cairn_vec3){ i ? 0 : 1, 0, 0 });
    cairn_step_options options = step_by(1e-3, "coulomb", 1e-13);
    options.impact_rounds = rounds;
    advance(world, &options, 500);
    for (int i = 0; i < balls; i++)
        v[i] = cairn_world_bodies(world).v[i].x;
    cairn_world_destroy(world);
}

/* gaps of 2 mm, twice the way of a step: one impact after the other, and the last ball leaves */
TEST(a_cradle_with_gaps_passes_the_motion_on)
{
    for (int k = 0; k < 4; k++) {
        double v[5];
        swing(laws[k % 2], k < 2 ? 0 : 100, 1, 5, 2e-3, v);
        for (int i = 0; i < 5; i++)
            CHECK_NEAR(v[i], i == 4, 1e-11);
    }
}

/* Three balls that touch. Newton's law: u_1 = e, u_2 = 0 (it did not close), and the momentum is 1:
 * v = ((1 - 2e)/3, (1 + e)/3, (1 + e)/3). Poisson's: compression to the common 1/3 takes (2/3, 1/3)
 * N s, decompression e times that: the same. n balls: (1 + e)/n, the first one e less. Neither is
 * what a cradle does: both take the impact as simultaneous, Newton's without rounds. */
TEST(a_cradle_that_touches_moves_as_one_impact)
{
    for (int k = 0; k < 8; k++) {
        int balls = k % 4 < 2 ? 3 : 5;
        double v[5], e = k % 2 ? 1 : 0.5, common = (1 + e) / balls;
        swing(laws[k / 4], 0, e, balls, 0, v);
        CHECK_NEAR(v[0], common - e, 1e-11);
        for (int i = 1; i < balls; i++)
            CHECK_NEAR(v[i], common, 1e-11);
    }
}

/* Balls 1 and 2 are of putty (e = 0 where they meet), e = 1 between 2 and 3. Newton's law without
 * rounds: all go on with 1/3, the second contact did not close. One impact after the other:
 * (1/2, 1/2, 0), (1/2, 0, 1/2), (1/4, 1/4, 1/2). Poisson's: the second contact is compressed by
 * 1/3 N s and gives them back; the recoil of 1/3 is shared by balls 1 and 2: (1/6, 1/6, 2/3). */
TEST(contacts_hit_through_others_bounce)
{
    const double expected[3][3] = { { 1.0 / 3, 1.0 / 3, 1.0 / 3 },
                                    { 1.0 / 6, 1.0 / 6, 2.0 / 3 },
                                    { 1.0 / 4, 1.0 / 4, 1.0 / 2 } };
    for (int k = 0; k < 3; k++) {
        cairn_world *world = new_world(3, 0, 0, 0);
        const cairn_material_def hard = { .restitution = 1, .restitution_law = laws[k % 2] };
        CHECK_OK(cairn_material_create(world, &hard, NULL));
        CHECK_OK(cairn_material_pair_set(world, 0, 1, &hard));
        for (int i = 0; i < 3; i++) {
            cairn_body_def def = cairn_body_def_default();
            def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
            def.shape.radius = 0.1;
            def.mass = 1;
            def.material = i == 2;
            def.position.x = 0.2 * i;
            def.velocity.x = i ? 0 : 1;
            CHECK_OK(cairn_body_create(world, &def, NULL));
        }
        cairn_step_options options = step_by(1e-3, "coulomb", 1e-13);
        options.impact_rounds = k < 2 ? 0 : 3;
        advance(world, &options, 1);
        for (int i = 0; i < 3; i++)
            CHECK_NEAR(cairn_world_bodies(world).v[i].x, expected[k][i], 1e-11);
        cairn_world_destroy(world);
    }
}

/* ---- the scenes ----------------------------------------------------------------------------- */

/* Run a scene of the tree, with one override (NULL: none), for some steps. */
static cairn_scene *run_scene(const char *path, const char *override, int steps)
{
    cairn_scene *scene;
    CHECK_OK(cairn_scene_load(path, &override, override ? 1 : 0, &scene, NULL));
    advance(scene->world, &scene->step, steps);
    return scene;
}

/* sqrt(2/10) s to fall, 0.8 times that to rise to 0.64 m */
TEST(the_scene_of_the_ball_shows_its_first_bounce)
{
    const char *const overrides[] = { NULL, "materials.default.restitution_law=newton" };
    for (int k = 0; k < 2; k++) {
        int steps = (int)round(1.8 * sqrt(0.2) / 1e-3);
        cairn_scene *scene =
            run_scene(CAIRN_SOURCE_DIR "/scenes/bouncing_ball.yaml", overrides[k], steps);
        CHECK_NEAR(cairn_world_bodies(scene->world).x[1].y - 0.1, 0.64, 0.01);
        cairn_scene_destroy(scene);
    }
}

TEST(the_scene_of_the_cradle_sends_off_the_last_ball)
{
    const char *const overrides[] = { NULL, "materials.steel.restitution_law=newton" };
    for (int k = 0; k < 2; k++) {
        cairn_scene *scene =
            run_scene(CAIRN_SOURCE_DIR "/scenes/newton_cradle.yaml", overrides[k], 500);
        for (int i = 0; i < 5; i++)
            CHECK_NEAR(cairn_world_bodies(scene->world).v[i].x, i == 4, 1e-11);
        cairn_scene_destroy(scene);
    }
}

/* it sticks for 1 s, slides, is faster than 0.5 m/s at 2 s, and rests at the end */
TEST(the_scene_of_the_block_sticks_slides_and_stops)
{
    cairn_scene *scene = run_scene(CAIRN_SOURCE_DIR "/scenes/stribeck_block.yaml", NULL, 995);
    CHECK_NEAR(cairn_world_bodies(scene->world).x[1].x, 0, 1e-9);
    advance(scene->world, &scene->step, 1005);
    CHECK(cairn_world_bodies(scene->world).v[1].x > 0.5);
    advance(scene->world, &scene->step, 3000);
    CHECK_NEAR(cairn_world_bodies(scene->world).v[1].x, 0, 1e-9);
    cairn_scene_destroy(scene);
}

/* ---- a rocking block ------------------------------------------------------------------------ */

/* A plane block of mass 1, half width b, half height a: q = (x, y, theta), corners at
 * (-+b, -a) in its frame, on a floor. */
typedef struct block {
    double b, a, gravity;
} block;

static void block_mass(void *context, const double *q, double *M)
{
    const block *k = context;
    (void)q;
    M[0] = M[4] = 1;
    M[8] = (k->b * k->b + k->a * k->a) / 3;
}

static void block_force(void *context, double time, const double *q, const double *v, double *F)
{
    (void)time, (void)q, (void)v;
    F[1] = -((const block *)context)->gravity;
}

static void block_corner(void *context, const double *q, int index, cairn_lagrange_contact *out)
{
    const block *k = context;
    double along = index ? k->b : -k->b, s = sin(q[2]), c = cos(q[2]);
    double rx = along * c + k->a * s, ry = along * s - k->a * c; /* from the centre, in space */
    out->gap = q[1] + ry;
    out->mu = 5; /* sticks */
    out->rows[1] = 1;
    out->rows[2] = rx;
    out->rows[3] = 1;
    out->rows[5] = -ry;
}

static cairn_lagrange *stand(block *k, double theta, double omega)
{
    const cairn_lagrange_system system = { .coordinates = 3,
                                           .dimension = 2,
                                           .contacts = 2,
                                           .context = k,
                                           .mass = block_mass,
                                           .force = block_force,
                                           .contact = block_corner };
    /* on its left corner, which is at the origin, turning about it */
    double s = sin(theta), c = cos(theta), x = k->b * c - k->a * s, y = k->b * s + k->a * c;
    const double q[3] = { x, y, theta }, v[3] = { -omega * y, omega * x, omega };
    cairn_lagrange *l;
    CHECK_OK(cairn_lagrange_create(&system, q, v, &l, NULL));
    return l;
}

/* Housner: the right corner comes down, the block goes on about it; its angular momentum about that
 * corner is kept, so w+/w = (1/3 + cos(2 alpha)) 3/4 = 1 - 3/2 sin^2(alpha), tan(alpha) = b/a */
TEST(a_rocking_block_loses_what_housner_says)
{
    const char *const schemes[] = { "lcp", "fixed-point", "coulomb-newton" };
    const double widths[] = { 0.1, 0.25, 0.5 };
    for (int i = 0; i < 9; i++) {
        block k = { .b = widths[i % 3], .a = 1 };
        double sine = k.b / hypot(k.a, k.b);
        cairn_lagrange *l = stand(&k, 0, -1);
        cairn_lagrange_options options = cairn_lagrange_options_default();
        cairn_lagrange_report report;
        options.time_step = 1e-3;
        options.scheme = schemes[i / 3];
        options.tolerance = 1e-13;
        CHECK_OK(cairn_lagrange_step(l, &options, &report, NULL));
        CHECK(report.solve.converged);
        CHECK_NEAR(cairn_lagrange_velocity(l)[2], -(1 - 1.5 * sine * sine), 1e-11);
        CHECK_INT(report.active, 1); /* the left corner lifts by itself */
        cairn_lagrange_destroy(l);
    }
}

/* Ten steps; the angular velocity after them. */
static double rock(cairn_lagrange *l, double h)
{
    cairn_lagrange_options options = cairn_lagrange_options_default();
    cairn_lagrange_report report;
    options.time_step = h;
    options.scheme = "lcp";
    for (int k = 0; k < 10; k++)
        CHECK_OK(cairn_lagrange_step(l, &options, &report, NULL));
    return cairn_lagrange_velocity(l)[2];
}

/* let go at 0.1 rad, four impacts: the angular velocity drops by Housner's ratio each time; gravity
 * adds up to 2e-3 1.7 rad/s, 1 %, within the 20 steps that are looked at */
TEST(a_block_let_go_rocks_to_rest_by_that_ratio)
{
    block k = { .b = 0.25, .a = 1, .gravity = 9.81 };
    double ratio = 1 - 1.5 * k.b * k.b / (k.b * k.b + 1), before = 0;
    cairn_lagrange *l = stand(&k, 0.1, 0);
    int impacts = 0;
    for (int step = 0; impacts < 4 && step < 5000; step++) {
        double after = rock(l, 1e-4);
        bool upright = fabs(cairn_lagrange_position(l)[2]) < 0.005;
        if (upright && fabs(after) < 0.97 * fabs(before)) {
            after = rock(l, 1e-4);
            CHECK_CLOSE(after / before, ratio, 0.01);
            impacts++;
        }
        before = after;
    }
    CHECK_INT(impacts, 4);
    cairn_lagrange_destroy(l);
}

/* ---- a rod that slips back ------------------------------------------------------------------ */

/* Unit mass, half length 1, J = 1/3, at 45 degrees, its lower end meets the floor. */
typedef struct rod {
    double mu, e;
    bool poisson;
} rod;

static void rod_mass(void *context, const double *q, double *M)
{
    (void)context, (void)q;
    M[0] = M[4] = 1;
    M[8] = 1.0 / 3;
}

static void rod_end(void *context, const double *q, int index, cairn_lagrange_contact *out)
{
    const rod *k = context;
    double rx = -cos(q[2]), ry = -sin(q[2]);
    (void)index;
    out->gap = q[1] + ry;
    out->mu = k->mu;
    out->restitution = k->e;
    out->poisson = k->poisson;
    out->rows[1] = 1;
    out->rows[2] = rx;
    out->rows[3] = 1;
    out->rows[5] = -ry;
}

/* The change of kinetic energy in one impact, J; the report must say the same. */
static double gain(rod *k, const double *v)
{
    const cairn_lagrange_system system = { .coordinates = 3,
                                           .dimension = 2,
                                           .contacts = 1,
                                           .context = k,
                                           .mass = rod_mass,
                                           .contact = rod_end };
    const double q[3] = { 0, sqrt(0.5), atan(1) };
    cairn_lagrange *l;
    cairn_lagrange_options options = cairn_lagrange_options_default();
    cairn_lagrange_report report;
    double before = 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] / 3);
    options.time_step = 1e-3;
    options.scheme = "lcp";
    options.tolerance = 1e-13;
    CHECK_OK(cairn_lagrange_create(&system, q, v, &l, NULL));
    CHECK_OK(cairn_lagrange_step(l, &options, &report, NULL));
    CHECK(report.solve.converged);
    double after = report.kinetic;
    CHECK_NEAR(after - before, -report.friction_loss - report.impact_loss, 1e-12);
    cairn_lagrange_destroy(l);
    return after - before;
}

/* W = (2.5 -1.5; -1.5 2.5), mu = 0.6, e = 0.9, the end comes with u = (-1, 0.6). Newton: it sticks
 * with u+ = (0.9, 0), r = (0.9625, 0.3375), and the rod gains r.(u + u+)/2 = 0.053125 J. Poisson:
 * r = (0.4, 0) stops it, then (0.36, 0.216), at the edge of the cone, gives u+ = (0.576, 0): it
 * loses 0.2 - 0.36 * 0.576/2 = 0.09632 J. */
TEST(the_ledger_tells_the_energy_that_newtons_law_makes)
{
    const double v[3] = { 0.6, -1, 0 };
    rod newton = { .mu = 0.6, .e = 0.9 }, poisson = { .mu = 0.6, .e = 0.9, .poisson = true };
    CHECK_NEAR(gain(&newton, v), 0.053125, 1e-12);
    CHECK_NEAR(gain(&poisson, v), -0.09632, 1e-12);
}

TEST(poissons_law_makes_none_on_this_rod)
{
    for (int i = 0; i <= 80; i++) {
        rod r = { .mu = 0.6, .e = 0.9, .poisson = true };
        const double v[3] = { -4 + 0.1 * i, -1, 0 };
        CHECK(gain(&r, v) < 0);
    }
}

int main(void)
{
    RUN(CASE(a_ball_bounces_to_known_heights), CASE(a_cradle_with_gaps_passes_the_motion_on),
        CASE(a_cradle_that_touches_moves_as_one_impact), CASE(contacts_hit_through_others_bounce),
        CASE(the_scene_of_the_ball_shows_its_first_bounce),
        CASE(the_scene_of_the_cradle_sends_off_the_last_ball),
        CASE(the_scene_of_the_block_sticks_slides_and_stops),
        CASE(a_rocking_block_loses_what_housner_says),
        CASE(a_block_let_go_rocks_to_rest_by_that_ratio),
        CASE(the_ledger_tells_the_energy_that_newtons_law_makes),
        CASE(poissons_law_makes_none_on_this_rod));
}
