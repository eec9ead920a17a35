/* test_mixed.c - scheme auto: exact Coulomb friction only where the convex law errs too much, and
 * the meters of that error. */
#include "worlds.h"

static const cairn_vec3 zero = { 0, 0, 0 };

static cairn_step_options auto_step(double h, double model_tolerance, double tolerance)
{
    cairn_step_options options = step_by(h, "auto", tolerance);
    options.model_tolerance = model_tolerance;
    return options;
}

/* The disk of scenes/incline_disk_2d.yaml, friction 0.1, after `steps` steps of 0.01 s. */
static cairn_vec3 slide_down(const cairn_step_options *options, int steps,
                             cairn_step_report *report)
{
    cairn_world_def def = cairn_world_def_default();
    cairn_material_def material = { .friction = 0.1 };
    cairn_world *world;
    def.dimension = 2;
    def.gravity = (cairn_vec3){ 0.5, -sqrt(0.75), 0 };
    CHECK_OK(cairn_world_create(&def, &world));
    CHECK_OK(cairn_material_create(world, &material, NULL));
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 1, (cairn_vec3){ 0, 2, 0 }, zero);
    *report = advance(world, options, steps);
    cairn_vec3 x = cairn_world_bodies(world).x[1];
    cairn_world_destroy(world);
    return x;
}

/* Where the disk is judged by 0 it is Coulomb's, by 1 m it is the convex one, to the bit. */
TEST(on_the_incline_it_is_coulomb_or_convex_by_its_tolerance)
{
    cairn_step_report report;
    cairn_step_options coulomb = step_by(0.01, "coulomb", 1e-10), convex = coulomb;
    cairn_step_options fine = auto_step(0.01, 0, 1e-10), coarse = auto_step(0.01, 1, 1e-10);
    convex.scheme = "convex";
    cairn_vec3 exact = slide_down(&coulomb, 1000, &report), x = slide_down(&fine, 1000, &report);
    CHECK_NEAR(x.x, exact.x, 1e-7);
    CHECK_NEAR(x.y, exact.y, 1e-7);
    CHECK_INT(report.upgraded, 1);
    CHECK(report.certificate.dilatation == 0 && report.certificate.spurious_work == 0);
    cairn_vec3 lifted = slide_down(&convex, 1000, &report);
    x = slide_down(&coarse, 1000, &report);
    CHECK(x.x == lifted.x && x.y == lifted.y);
    CHECK_INT(report.upgraded, 0);
}

/* |u_T| grows with 0.5 - 3 * 0.1 * cos 30 = 0.24 m/s^2. The gap h mu |u_T| would reach 1e-2 m at
 * u_T = 10 m/s, but the height (mu |u_T|)^2/(2 g), g = 1 m/s^2, does so at 1.41 m/s, some 6 s after
 * the landing at 1.5 s: convex before, Coulomb after. */
TEST(a_contact_is_upgraded_when_its_throw_reaches_the_tolerance)
{
    cairn_step_report report;
    cairn_step_options options = auto_step(0.01, 1e-2, 1e-10);
    cairn_vec3 x = slide_down(&options, 400, &report);
    CHECK_INT(report.upgraded, 0);
    CHECK(report.certificate.dilatation > 3e-4 && report.certificate.dilatation < 1e-3);
    CHECK_NEAR(x.y - 1, report.certificate.dilatation, 1e-5);
    x = slide_down(&options, 800, &report);
    CHECK_INT(report.upgraded, 1);
    CHECK(report.certificate.dilatation == 0);
    CHECK_NEAR(x.y, 1, 1e-8);
}

/* m = 1, g = 10, mu = 0.2, h = 0.001, sliding with 1 - 0.001 * 0.2 * 10 * 3.5 = 0.993 after the first
 * step by Coulomb's law. The convex law lifts: u_N = mu |u_T| needs r_N more than m g h by that.
 * The work is r_N mu |u_T| with the numbers of the step. */
TEST(spurious_work_is_the_lifting_of_what_slides)
{
    cairn_world *world = new_world(3, 10, 0.2, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.1 }, (cairn_vec3){ 1, 0, 0 });
    cairn_step_options options = step_by(0.001, "convex", 1e-12);
    cairn_step_report report = advance(world, &options, 50);
    cairn_contacts c = cairn_world_contacts(world);
    double slide = sqrt(c.velocity[1] * c.velocity[1] + c.velocity[2] * c.velocity[2]);
    CHECK_NEAR(slide, 1 - 0.05 * 0.2 * 10 * 3.5, 0.02);
    CHECK_CLOSE(report.certificate.spurious_work, c.impulse[0] * 0.2 * slide, 1e-9);
    /* friction takes as much: r.(u + b n) = 0 */
    double taken = c.impulse[1] * c.velocity[1] + c.impulse[2] * c.velocity[2];
    CHECK_CLOSE(report.certificate.spurious_work, -taken, 1e-9);
    options.scheme = "coulomb";
    CHECK(advance(world, &options, 1).certificate.spurious_work == 0);
    cairn_world_destroy(world);
}

/* ---- a heap --------------------------------------------------------------------------------- */

/* A heap that falls apart, up to step 75; then one step by the options. */
static cairn_world *new_falling_heap(void)
{
    cairn_world *world = new_heap(3, 0.2, 6);
    cairn_step_options options = step_by(0.005, "coulomb", 1e-6);
    advance(world, &options, 75);
    return world;
}

/* Largest difference of velocities, m/s. */
static double apart(const cairn_world *one, const cairn_world *other)
{
    cairn_bodies a = cairn_world_bodies(one), b = cairn_world_bodies(other);
    double largest = 0;
    for (int i = 0; i < a.count; i++)
        largest = fmax(largest,
                       hypot(a.v[i].x - b.v[i].x, hypot(a.v[i].y - b.v[i].y, a.v[i].z - b.v[i].z)));
    return largest;
}

static cairn_step_report step_heap(const cairn_step_options *options, cairn_world **world)
{
    *world = new_falling_heap();
    return advance(*world, options, 1);
}

static int count_sliding(const cairn_world *world)
{
    cairn_contacts c = cairn_world_contacts(world);
    int count = 0;
    for (int j = 0; j < c.count; j++)
        count += c.impulse[3 * j] > 0 && hypot(c.velocity[3 * j + 1], c.velocity[3 * j + 2]) > 1e-6;
    return count;
}

TEST(in_a_heap_it_lies_between_coulomb_and_convex)
{
    cairn_world *coulomb, *convex, *none, *all, *some;
    cairn_step_options options = step_by(0.005, "coulomb", 1e-8);
    step_heap(&options, &coulomb);
    options.scheme = "convex";
    double kept = step_heap(&options, &convex).certificate.dilatation;
    CHECK(apart(coulomb, convex) > 1e-3);

    cairn_step_options mixed = auto_step(0.005, 1, 1e-8);
    CHECK_INT(step_heap(&mixed, &none).upgraded, 0);
    CHECK(cairn_world_hash(none) == cairn_world_hash(convex));

    mixed.model_tolerance = 0;
    cairn_step_report report = step_heap(&mixed, &all);
    CHECK(apart(coulomb, all) < 1e-6);
    CHECK(report.certificate.judgement.coulomb.relative < 1e-6);

    mixed.model_tolerance = 0.3 * kept;
    report = step_heap(&mixed, &some);
    CHECK(report.certificate.dilatation > 0 && report.certificate.dilatation <= 0.3 * kept);
    CHECK(report.upgraded > 0 && report.upgraded < count_sliding(some));
    CHECK(apart(coulomb, some) < apart(coulomb, convex));
    cairn_world *const worlds[] = { coulomb, convex, none, all, some };
    for (int i = 0; i < 5; i++)
        cairn_world_destroy(worlds[i]);
}

int main(void)
{
    RUN(CASE(on_the_incline_it_is_coulomb_or_convex_by_its_tolerance),
        CASE(a_contact_is_upgraded_when_its_throw_reaches_the_tolerance),
        CASE(spurious_work_is_the_lifting_of_what_slides),
        CASE(in_a_heap_it_lies_between_coulomb_and_convex));
}
