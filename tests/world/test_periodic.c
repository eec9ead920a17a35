/* test_periodic.c - periodic cells: contacts with images, momentum, shear, deformation, and what is
 * refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cairn/joint.h"
#include "cairn/scene.h"
#include "cairn/statistics.h"
#include "math/vec.h"
#include "tests/problems/saved_world.h"
#include "tests/problems/worlds.h"
#include "world/world.h"

enum { MOST = 200 };

static cairn_step_report step_good(cairn_scene *scene)
{
    cairn_step_report report;
    CHECK_OK(cairn_world_step(scene->world, &scene->step, &report));
    return report;
}

static void run_good(cairn_scene *scene, int steps)
{
    for (int i = 0; i < steps; i++)
        step_good(scene);
}

/* ==== the contacts of the infinite lattice ==================================================== */

/* Every ball of a square lattice touches 4 others, every one of a cubic lattice 6, although the cell
 * has only 2 along each edge: each pair along an edge touches twice, itself and an image. */
static void count_lattice(const char *text, int expected)
{
    cairn_scene *scene = scene_text_good(text, NULL);
    step_good(scene);
    cairn_contacts c = cairn_world_contacts(scene->world);
    cairn_bodies b = cairn_world_bodies(scene->world);
    int touching = 0, images = 0;
    for (int j = 0; j < c.count; j++) {
        cairn_vec3 d = cairn_sub(b.x[c.body[2 * j]], cairn_add(b.x[c.body[2 * j + 1]], c.shift[j]));
        CHECK_NEAR(cairn_norm(d) - 1, c.gap[j], 1e-14);
        CHECK_NEAR(cairn_dot(d, c.normal[j]), cairn_norm(d), 1e-14);
        touching += fabs(c.gap[j]) < 1e-12;
        images += c.image[j].k[0] != 0 || c.image[j].k[1] != 0 || c.image[j].k[2] != 0;
    }
    CHECK_INT(touching, expected);
    CHECK_INT(images, expected / 2);
    cairn_scene_destroy(scene);
}

TEST(a_lattice_has_the_contacts_of_the_infinite_one)
{
    count_lattice("cairn: 1\ndimension: 2\ngravity: [0, 0]\n"
                  "periodic: {axes: [x, y], low: [0, 0], high: [2, 2]}\n"
                  "generators: [grid: {count: [2, 2], spacing: [1, 1], radius: 0.5,\n"
                  "  origin: [0.3, 0.9]}]\n"
                  "run: {time_step: 0.01, duration: 1}\n",
                  2 * 4);
    count_lattice("cairn: 1\ngravity: [0, 0, 0]\n"
                  "periodic: {axes: [x, y, z], low: [0, 0, 0], high: [2, 2, 2]}\n"
                  "generators: [grid: {count: [2, 2, 2], spacing: [1, 1, 1], radius: 0.5,\n"
                  "  origin: [0.3, 0.9, 1.7]}]\n"
                  "run: {time_step: 0.01, duration: 1}\n",
                  3 * 8);
}

/* ==== a gas =================================================================================== */

static const char *const gas =
    "cairn: 1\n"
    "gravity: [0, 0, 0]\n"
    "parameters: {x: 0, y: 0, z: 0}\n"
    "periodic: {axes: [x, y, z], low: [0, 0, 0], high: [1, 1.2, 0.9]}\n"
    "materials: {a: {friction: 0.3, restitution: 0.5}}\n"
    "generators:\n"
    "  - grid: {count: [4, 4, 3], spacing: [0.25, 0.3, 0.3], jitter: 0.02, radius: 0.1, seed: 5,\n"
    "      origin: [$x, $y, $z], velocity: [1, -0.7, 0.4]}\n"
    "  - grid: {count: [4, 4, 3], spacing: [0.25, 0.3, 0.3], turned: true, seed: 6,\n"
    "      shape: {box: {size: [0.06, 0.07, 0.08]}}, origin: [$(x + 0.12), $(y + 0.15), $(z + "
    "0.14)],\n"
    "      velocity: [-1, 0.3, 0.2]}\n"
    "run: {time_step: 0.002, duration: 1, tolerance: 1e-8, scheme: coulomb}\n";

static cairn_vec3 momentum_of(const cairn_world *world)
{
    cairn_bodies b = cairn_world_bodies(world);
    cairn_vec3 sum = { 0, 0, 0 };
    for (int i = b.held; i < b.count; i++)
        sum = cairn_add_scaled(sum, b.mass[i], b.v[i]);
    return sum;
}

/* Bodies cross the faces of the cell many times; only rounding changes their momentum. */
TEST(a_gas_keeps_its_momentum)
{
    cairn_scene *scene = scene_text_good(gas, NULL);
    cairn_vec3 before = momentum_of(scene->world);
    int crossed = 0;
    double impulses = 0;
    for (int i = 0; i < 300; i++) {
        cairn_step_report report = step_good(scene);
        impulses += report.active;
    }
    cairn_vec3 after = momentum_of(scene->world);
    cairn_bodies b = cairn_world_bodies(scene->world);
    for (int i = 0; i < b.count; i++)
        crossed += b.image[i].k[0] != 0 || b.image[i].k[1] != 0 || b.image[i].k[2] != 0;
    CHECK(crossed > 20);
    CHECK(impulses > 100);
    CHECK_NEAR(cairn_norm(cairn_sub(after, before)), 0, 1e-11);
    cairn_scene_destroy(scene);
}

/* Where the cell begins is arbitrary: all bodies moved by the same distance have the same
 * velocities, and the same contacts. */
TEST(a_moved_gas_does_the_same)
{
    cairn_scene *one = scene_text_good(gas, NULL);
    cairn_scene *two = scene_text_good(gas, "parameters.x=0.377");
    cairn_scene *three = scene_text_good(gas, "parameters.z=-7.13");
    for (int k = 0; k < 60; k++) {
        int contacts = step_good(one).active;
        CHECK_INT(step_good(two).active, contacts);
        CHECK_INT(step_good(three).active, contacts);
    }
    cairn_bodies a = cairn_world_bodies(one->world), b = cairn_world_bodies(two->world),
                 c = cairn_world_bodies(three->world);
    for (int i = 0; i < a.count; i++) {
        CHECK_NEAR(cairn_norm(cairn_sub(a.v[i], b.v[i])), 0, 1e-6);
        CHECK_NEAR(cairn_norm(cairn_sub(a.v[i], c.v[i])), 0, 1e-6);
    }
    cairn_scene_destroy(one);
    cairn_scene_destroy(two);
    cairn_scene_destroy(three);
}

/* ==== shear =================================================================================== */

/* A ball that leaves the cell of height 2 across its upper face comes back below with the velocity
 * of its image there: 0.5/s x 2 m less along x. The lattice has moved by then, and so has it. */
TEST(a_body_that_crosses_the_sheared_face_changes_its_velocity)
{
    cairn_scene *scene = scene_text_good("cairn: 1\ndimension: 2\ngravity: [0, 0]\n"
                                         "periodic: {axes: [x, y], low: [0, 0], high: [4, 2],\n"
                                         "  gradient_x: [0, 0.5]}\n"
                                         "bodies: [{shape: {sphere: {radius: 0.1}}, mass: 2,\n"
                                         "  position: [1, 1.9], velocity: [0.25, 1]}]\n"
                                         "run: {time_step: 0.125, duration: 1}\n",
                                         NULL);
    step_good(scene);
    cairn_bodies b = cairn_world_bodies(scene->world);
    CHECK_NEAR(b.v[0].x, 0.25, 0);
    cairn_step_report report = step_good(scene); /* it begins above the face */
    b = cairn_world_bodies(scene->world);
    CHECK_NEAR(b.v[0].x, 0.25 - 1, 1e-15);
    CHECK_NEAR(b.v[0].y, 1, 0);
    /* 1 + 0.25/8 at 1/8 s, less the edge (1 * 1/8, 2), then 1/8 s with the new velocity */
    CHECK_NEAR(b.x[0].x, 1 + 0.03125 - 0.125 - 0.75 / 8, 1e-14);
    CHECK_NEAR(b.x[0].y, 1.9 + 0.25 - 2, 1e-14);
    CHECK_INT(b.image[0].k[1], 1);
    CHECK_NEAR(report.energy.driver_work, 0.5 * 2 * (0.75 * 0.75 - 0.25 * 0.25), 1e-14);
    cairn_scene_destroy(scene);
}

/* Edges follow e' = L e, by steps of second order; bodies are not moved with them. */
TEST(a_shrinking_cell_leaves_bodies_that_do_not_touch)
{
    cairn_scene *scene =
        scene_text_good("cairn: 1\ndimension: 2\ngravity: [0, 0]\n"
                        "periodic: {axes: [y], low: [0, 0], high: [0, 4],\n"
                        "  gradient_y: [0, -0.1]}\n"
                        "bodies:\n"
                        "  - {shape: {sphere: {radius: 0.5}}, position: [0, 0.5]}\n"
                        "  - {shape: {sphere: {radius: 0.5}}, position: [0, 2]}\n"
                        "run: {time_step: 0.01, duration: 1}\n",
                        NULL);
    run_good(scene, 100);
    cairn_lattice cell = cairn_world_lattice(scene->world);
    CHECK_CLOSE(cell.edge[1].y, 4 * exp(-0.1), 1e-6); /* by steps of second order */
    cairn_bodies b = cairn_world_bodies(scene->world);
    CHECK_NEAR(b.x[0].y, 0.5, 0);
    CHECK_NEAR(b.x[1].y, 2, 0);
    cairn_scene_destroy(scene);
}

static const char *const sheared =
    "cairn: 1\ndimension: 2\ngravity: [0, 0]\n"
    "periodic:\n"
    "  axes: [x, y]\n"
    "  high: [1.2, 1.2]\n"
    "  gradient_x: [{table: {time: [0, 0.5, 0.51], values: [-0.15, -0.15, 0]}},\n"
    "    {table: {time: [0, 0.5, 0.51], values: [0, 0, 4]}}]\n"
    "  gradient_y: [0, {table: {time: [0, 0.5, 0.51], values: [-0.15, -0.15, 0]}}]\n"
    "materials: {grain: {friction: 0.3}}\n"
    "generators: [grid: {count: [12, 12], spacing: [0.1, 0.1], origin: [0.05, 0.05],\n"
    "  radius: {uniform: {minimum: 0.042, maximum: 0.05}}, density: 2500, seed: 7}]\n"
    "run: {time_step: 0.005, duration: 4, tolerance: 1e-6}\n";

static const char *const sheared_3d =
    "cairn: 1\ngravity: [0, 0, 0]\n"
    "periodic: {axes: [x, y, z], high: [1, 1, 1], gradient_x: [0, 2, 0], gradient_z: [0, 1, 0]}\n"
    "materials: {grain: {friction: 0.3}}\n"
    "generators:\n"
    "  - grid: {count: [4, 4, 4], spacing: [0.25, 0.25, 0.25], radius: 0.12, origin: [0.1, 0.1, "
    "0.1]}\n"
    "  - grid: {count: [4, 4, 4], spacing: [0.25, 0.25, 0.25], turned: true, seed: 6,\n"
    "      shape: {box: {size: [0.09, 0.08, 0.1]}}, origin: [0.225, 0.225, 0.225]}\n"
    "run: {time_step: 0.005, duration: 1, tolerance: 1e-5}\n";

static void check_ledger(const char *text, int steps)
{
    cairn_scene *scene = scene_text_good(text, NULL);
    double before, potential, work = 0;
    cairn_world_energy(scene->world, &before, &potential);
    for (int i = 0; i < steps; i++) {
        cairn_energy e = step_good(scene).energy;
        double after = before + e.driver_work - e.friction_loss - e.impact_loss - e.numerical_loss;
        CHECK_NEAR(e.kinetic, after, 1e-12 * (1 + e.kinetic));
        before = e.kinetic;
        work += e.driver_work;
    }
    CHECK(work > 1);
    cairn_scene_destroy(scene);
}

TEST(the_ledger_of_a_sheared_cell_closes)
{
    check_ledger(sheared, 300);
    check_ledger(sheared_3d, 60);
}

/* What the contacts carry: S = sum l r', with the branch vector l = x_a - x_b - h k and the impulse r
 * on a. The work of the images that touch is sum r.(L h k), so that
 *     work = sum_i m dv_i.(L x_i) - L : S,
 * since each impulse changes the momentum of both bodies: the virial of the packing. */
TEST(the_work_of_shear_is_that_of_the_stress)
{
    cairn_scene *scene = scene_text_good(sheared, NULL);
    const double L = 4; /* 1/s: dv_x/dy, after 0.51 s */
    double largest = 0;
    run_good(scene, 110);
    for (int n = 0; n < 60; n++) {
        cairn_bodies b = cairn_world_bodies(scene->world);
        cairn_vec3 v[MOST], x[MOST];
        cairn_image image[MOST];
        CHECK(b.count <= MOST);
        memcpy(v, b.v, (size_t)b.count * sizeof *v);
        memcpy(x, b.x, (size_t)b.count * sizeof *x);
        memcpy(image, b.image, (size_t)b.count * sizeof *image);
        cairn_lattice start = cairn_world_lattice(scene->world);
        double work = step_good(scene).energy.driver_work, virial = 0, put = 0, stress = 0;
        cairn_lattice cell = cairn_world_lattice(scene->world);
        if (fabs(start.edge[1].x) > 0.5 * start.edge[0].x)
            continue; /* the step began with shorter edges */
        b = cairn_world_bodies(scene->world);
        for (int i = 0; i < b.count; i++) {
            /* what was put back when the step began */
            double up = image[i].k[1] - b.image[i].k[1];
            double slower = v[i].x + up * cell.rate[1].x, y = x[i].y + up * start.edge[1].y;
            put += 0.5 * b.mass[i] * (slower * slower - v[i].x * v[i].x);
            virial += b.mass[i] * (b.v[i].x - slower) * L * y;
        }
        cairn_contacts c = cairn_world_contacts(scene->world);
        for (int j = 0; j < c.count; j++) {
            cairn_vec3 r = cairn_scale(c.impulse[2 * j], c.normal[j]);
            r = cairn_add_scaled(r, c.impulse[2 * j + 1], c.tangent[j]);
            int a = c.body[2 * j], o = c.body[2 * j + 1];
            /* the contact lies on the line of both centres of disks */
            double length = b.ball[a] + b.ball[o] + c.gap[j];
            stress += r.x * length * c.normal[j].y;
        }
        CHECK_NEAR(work - put, virial - L * stress, 1e-9);
        largest = fmax(largest, fabs(L * stress));
    }
    CHECK(largest > 1e-3);
    cairn_scene_destroy(scene);
}

/* The number of a statistic, by the name of its column. */
static double measured(const cairn_scene *scene, const char *name, const char *column)
{
    cairn_statistic_table t;
    cairn_measure_options options = cairn_measure_options_default();
    double value = NAN;
    CHECK_OK(cairn_statistic_table_create(name, 2, &t));
    CHECK_OK(cairn_world_statistic(scene->world, scene->step.time_step, &options, &t));
    CHECK_INT(t.rows, 1);
    for (int k = 0; k < t.column_count; k++)
        if (strcmp(t.columns[k].name, column) == 0)
            value = t.values[k];
    cairn_statistic_table_destroy(&t);
    return value;
}

/* The packing fraction is the area of all disks over that of the cell. The stress is the sum of
 * impulse times branch vector over that area and the time step; the branch vectors of disks are
 * along the normal. */
TEST(statistics_are_those_of_the_whole_cell)
{
    cairn_scene *scene = scene_text_good(sheared, NULL);
    run_good(scene, 150);
    cairn_bodies b = cairn_world_bodies(scene->world);
    cairn_contacts c = cairn_world_contacts(scene->world);
    cairn_lattice cell = cairn_world_lattice(scene->world);
    double area = cell.edge[0].x * cell.edge[1].y - cell.edge[0].y * cell.edge[1].x;
    double solid = 0, yy = 0, size = 0;
    for (int i = 0; i < b.count; i++)
        solid += M_PI * b.ball[i] * b.ball[i];
    for (int j = 0; j < c.count; j++) {
        double length = b.ball[c.body[2 * j]] + b.ball[c.body[2 * j + 1]] + c.gap[j];
        double r = c.impulse[2 * j] * c.normal[j].y + c.impulse[2 * j + 1] * c.tangent[j].y;
        yy += r * length * c.normal[j].y / (area * scene->step.time_step);
        size += fabs(r * length) / (area * scene->step.time_step);
    }
    CHECK_CLOSE(measured(scene, "packing", "fraction"), solid / area, 1e-12);
    CHECK(size > 0);
    /* branch vectors are those after the step, in which disks slide by at most a few per cent */
    CHECK_NEAR(measured(scene, "stress", "yy"), yy, 0.05 * size);
    cairn_scene_destroy(scene);
}

/* ==== the same bits =========================================================================== */

TEST(a_loaded_cell_goes_on_with_the_same_bits)
{
    static const int before[] = { 0, 50, 130 };
    for (int i = 0; i < 3; i++) {
        cairn_scene *scene = scene_text_good(sheared, NULL);
        check_goes_on(scene, before[i], 60);
        cairn_scene_destroy(scene);
    }
    cairn_scene *scene = scene_text_good(sheared_3d, NULL);
    check_goes_on(scene, 25, 20);
    cairn_scene_destroy(scene);
}

static uint64_t hash_after(const char *text, const char *override, int steps)
{
    cairn_scene *scene = scene_text_good(text, override);
    run_good(scene, steps);
    uint64_t hash = cairn_world_hash(scene->world);
    cairn_scene_destroy(scene);
    return hash;
}

/* The list of pairs, how it was found, the threads, and parts that are swept one by one. */
TEST(lists_and_threads_change_nothing)
{
    uint64_t flat = hash_after(sheared, NULL, 150), deep = hash_after(sheared_3d, NULL, 40);
    static const char *const others[] = { "run.reuse_pairs=false", "run.broad_phase=all-pairs",
                                          "run.broad_phase=tree", "run.threads=3" };
    for (int k = 0; k < 4; k++) {
        CHECK(hash_after(sheared, others[k], 150) == flat);
        CHECK(hash_after(sheared_3d, others[k], 40) == deep);
    }
}

static cairn_status fail_if_asked(void *asked, const cairn_world *world, double time,
                                  cairn_vec3 *force, cairn_vec3 *torque)
{
    (void)world;
    (void)time;
    (void)force;
    (void)torque;
    return *(bool *)asked ? CAIRN_STOPPED : CAIRN_OK;
}

static int faces_crossed(const cairn_world *world)
{
    int sum = 0;
    for (int i = 0; i < world->bodies.count; i++)
        for (int k = 0; k < 3; k++)
            sum += abs(world->bodies.image[i].k[k]);
    return sum;
}

/* Fail every step once: also in those that put bodies back or choose other edges the world is then as
 * before, to the byte, and goes on as one that never failed. Returns how often either happened. */
static int fail_each_step(const char *text, const char *override, int steps)
{
    bool asked = false;
    int changes = 0;
    cairn_scene *scene = scene_text_good(text, override), *other = scene_text_good(text, override);
    cairn_world_on_force(scene->world, fail_if_asked, &asked);
    for (int k = 0; k < steps; k++) {
        saved before = save(scene->world);
        asked = true;
        CHECK_INT(cairn_world_step(scene->world, &scene->step, NULL), CAIRN_STOPPED);
        asked = false;
        saved after = save(scene->world);
        CHECK_INT(after.bytes, before.bytes);
        CHECK(memcmp(after.data, before.data, before.bytes) == 0);
        free(after.data);
        const cairn_lattice cell = scene->world->periodic.cell;
        int crossed = faces_crossed(scene->world);
        step_good(scene);
        step_good(other);
        changes += faces_crossed(scene->world) != crossed;
        changes += fabs(scene->world->periodic.cell.edge[1].x - cell.edge[1].x) > 0.5;
        free(before.data);
    }
    CHECK(cairn_world_hash(scene->world) == cairn_world_hash(other->world));
    cairn_scene_destroy(scene);
    cairn_scene_destroy(other);
    return changes;
}

/* ==== bodies that come in ===================================================================== */

/* The image of the large ball, at -0.02 - t, covers the inlet at 0.05 until it is 0.2 + 0.1 away: for
 * 0.23 s. */
TEST(an_image_occupies_the_place_of_an_inlet)
{
    cairn_scene *scene = scene_text_good(
        "cairn: 1\ndimension: 2\ngravity: [0, 0]\n"
        "periodic: {axes: [x], high: [1, 1]}\n"
        "bodies: [{shape: {sphere: {radius: 0.2}}, position: [0.98, 0.5],\n"
        "          velocity: [-1, 0]}]\n"
        "generators: [pour: {count: 1, rate: 1, centre: [0.05, 0.5], radius: 0.1}]\n"
        "run: {time_step: 0.01, duration: 1}\n",
        NULL);
    int steps = 0;
    while (step_good(scene).entered == 0)
        steps++;
    CHECK(steps >= 22 && steps <= 23);
    cairn_scene_destroy(scene);
}

/* The region lies across a face, and above the cell by one edge: what comes in has the place and the
 * velocity of its image in the cell, 0.5/s x 1 m less along x. */
TEST(what_comes_in_is_put_into_the_cell)
{
    cairn_scene *scene =
        scene_text_good("cairn: 1\ngravity: [0, 0, 0]\n"
                        "periodic: {axes: [x, y], high: [1, 1, 1], gradient_x: [0, 0.5, 0]}\n"
                        "generators:\n"
                        "  - pour: {count: 400, rate: 1e5, centre: [1, 1.5, 0.5], size: [1, 0.8, "
                        "1], radius: 0.06,\n"
                        "           velocity: [0.25, 0, 0]}\n"
                        "run: {time_step: 0.0001, duration: 1}\n",
                        NULL);
    cairn_step_report report = step_good(scene);
    report = step_good(scene);
    cairn_bodies b = cairn_world_bodies(scene->world);
    cairn_lattice cell = cairn_world_lattice(scene->world);
    CHECK(b.count > 15 && report.entered > 0);
    for (int i = 0; i < b.count; i++) {
        CHECK_NEAR(b.v[i].x, -0.25, 1e-15);
        CHECK(b.x[i].x > -1e-4 && b.x[i].x < 1.0001 && b.x[i].y > 0.09 && b.x[i].y < 0.91);
        for (int j = 0; j < i; j++)
            for (int k = 0; k < 9; k++) {
                cairn_vec3 d = cairn_sub(b.x[i], b.x[j]);
                d = cairn_add_scaled(d, k % 3 - 1, cell.edge[0]);
                d = cairn_add_scaled(d, k / 3 - 1, cell.edge[1]);
                CHECK(cairn_norm(d) > 0.12 - 1e-9);
            }
    }
    cairn_scene_destroy(scene);
}

/* The row was that of a ball that had crossed a face once. */
TEST(a_new_body_has_crossed_no_face)
{
    cairn_scene *scene = scene_text_good(
        "cairn: 1\ngravity: [0, 0, 0]\nperiodic: {axes: [x], high: [1, 1, 1]}\n"
        "bodies: [{shape: {sphere: {radius: 0.1}}, position: [0.9, 0, 0], velocity: [10, 0, 0]}]\n"
        "run: {time_step: 0.01, duration: 1}\n",
        NULL);
    run_good(scene, 5);
    CHECK_INT(cairn_world_bodies(scene->world).image[0].k[0], 1);
    CHECK_OK(cairn_body_destroy(scene->world, (cairn_body_id){ 0 }));
    add_sphere(scene->world, 0.1, (cairn_vec3){ 0.5, 0, 0 });
    CHECK_INT(cairn_world_bodies(scene->world).image[0].k[0], 0);
    cairn_scene_destroy(scene);
}

/* Balls fall through a column that is periodic at its sides and come in again above: their number and
 * their mass stay, and each has the number of its passes. */
TEST(bodies_go_round_in_a_periodic_column)
{
    cairn_scene *scene = scene_text_good(
        "cairn: 1\n"
        "periodic: {axes: [x, y], high: [0.5, 0.5, 1]}\n"
        "generators:\n"
        "  - pour: {name: top, count: 20, rate: 400, centre: [0, 0, 1], size: [0.5, 0.5, 0.1],\n"
        "           radius: {uniform: {minimum: 0.03, maximum: 0.05}}, velocity: [0.3, 0.1, -1]}\n"
        "outlets: [height: {below: 0.2, to: top}]\n"
        "run: {time_step: 0.01, duration: 1}\n",
        NULL);
    int entered = 0, left = 0, most = 0;
    double in = 0, out = 0, mass = 0;
    for (int i = 0; i < 150; i++) {
        cairn_step_report report = step_good(scene);
        entered += report.entered;
        left += report.left;
        in += report.energy.entered_mass;
        out += report.energy.left_mass;
    }
    cairn_bodies b = cairn_world_bodies(scene->world);
    for (int i = 0; i < b.count; i++) {
        mass += b.mass[i];
        most = b.passes[i] > most ? b.passes[i] : most;
    }
    CHECK_INT(b.count, entered - left);
    CHECK(left > 60 && most >= 3);
    CHECK_CLOSE(mass, in - out, 1e-12);
    check_goes_on(scene, 0, 30);
    cairn_scene_destroy(scene);
}

/* ==== joints ================================================================================== */

/* Two bodies with a joint between them that turn and fly through all faces of a cell. */
static cairn_scene *flying_pair(const char *cell, const char *joint)
{
    char text[1500];
    snprintf(text, sizeof text,
             "cairn: 1\ngravity: [0.3, 0, -0.2]\n%s\n"
             "bodies:\n"
             "  - {name: a, shape: {box: {size: [0.2, 0.1, 0.16]}}, mass: 2, position: [0.4, 0.5, "
             "0.5],\n"
             "     velocity: [0.9, 1.1, -0.6], angular_velocity: [0.3, 1.5, 2]}\n"
             "  - {name: b, shape: {sphere: {radius: 0.1}}, mass: 1, position: [0.7, 0.5, 0.5],\n"
             "     velocity: [0.9, 2.0, -0.6], angular_velocity: [0, 0.5, 1]}\n"
             "joints: [%s]\n"
             "run: {time_step: 0.005, duration: 3, tolerance: 1e-10}\n",
             cell, joint);
    return scene_text_good(text, NULL);
}

/* The place and the velocity of a body on its path without jumps. */
static cairn_vec3 path_of(const cairn_scene *s, int i, cairn_vec3 *v)
{
    const cairn_bodies b = cairn_world_bodies(s->world);
    const cairn_lattice cell = cairn_world_lattice(s->world);
    cairn_vec3 x = b.x[i];
    *v = b.v[i];
    for (int axis = 0; axis < 3; axis++) {
        x = cairn_add_scaled(x, b.image[i].k[axis], cell.edge[axis]);
        *v = cairn_add_scaled(*v, b.image[i].k[axis], cell.rate[axis]);
    }
    return x;
}

static const char *const sheared_cell = "periodic: {axes: [x, y, z], high: [1, 1, 1], gradient_x: "
                                        "[0, 1.5, 0], gradient_z: [0, 0.4, 0]}";

/* The faces mean nothing to a pair that is alone: on its path without jumps it does what it does in
 * a world without a cell, whatever holds it together. */
TEST(a_joined_pair_crosses_sheared_faces_as_if_there_were_none)
{
    static const char *const joints[] = {
        "ball: {a: a, b: b, anchor: [0.55, 0.5, 0.5]}",
        "distance: {a: a, b: b, anchor: [0.45, 0.5, 0.5], anchor_b: [0.65, 0.5, 0.5]}",
        "spring: {a: b, b: a, anchor: [0.65, 0.5, 0.5], anchor_b: [0.45, 0.5, 0.5],\n"
        "  slide: {stiffness: 60, damping: 0.3, rest: 0.15}}",
        "revolute: {a: a, b: b, anchor: [0.55, 0.5, 0.5], axis: [0, 0, 1],\n"
        "  turn: {motor: position, target: 1, effort: 2}}",
        "fixed: {a: b, b: a, anchor: [0.55, 0.5, 0.5]}",
        "bushing: {a: a, b: b, anchor: [0.55, 0.5, 0.5], stiffness: 100, damping: 1,\n"
        "  turn_stiffness: 1, turn_damping: 0.02}",
    };
    for (int k = 0; k < 6; k++) {
        cairn_scene *open = flying_pair("", joints[k]),
                    *cell = flying_pair(sheared_cell, joints[k]);
        int steps = CHECKED ? 150 : 500, images = 0, sides = 0;
        for (int n = 0; n < steps; n++) {
            cairn_energy one = step_good(open).energy, other = step_good(cell).energy;
            CHECK_NEAR(other.elastic, one.elastic, 1e-8);
            CHECK_NEAR(other.motor_work, one.motor_work, 1e-8);
            cairn_joint_state j = cairn_world_joint(cell->world, 0);
            images |= j.image.k[0] != 0 ? 1 : j.image.k[1] != 0 ? 2 : 4;
            sides += j.image.k[0] != 0 || j.image.k[1] != 0 || j.image.k[2] != 0;
            CHECK(cairn_norm(cairn_sub(j.point, j.point_b)) < 0.4);
        }
        for (int i = 0; i < 2; i++) {
            cairn_vec3 v, w, x = path_of(cell, i, &v), y = path_of(open, i, &w);
            CHECK_NEAR(cairn_norm(cairn_sub(x, y)), 0, 1e-8);
            CHECK_NEAR(cairn_norm(cairn_sub(v, w)), 0, 1e-8);
        }
        CHECK(sides > 5 && (CHECKED || images == 7));
        cairn_scene_destroy(open);
        cairn_scene_destroy(cell);
    }
}

/* A pendulum that hangs on a point of the world beside a face, and swings through it. */
TEST(a_pendulum_swings_through_a_face)
{
    const char *text = "cairn: 1\ndimension: 2\n%s\n"
                       "bodies: [{name: a, shape: {sphere: {radius: 0.1}}, position: [0.3, 0.6]}]\n"
                       "joints: [revolute: {a: a, anchor: [0.05, 0.9]}]\n"
                       "run: {time_step: 0.002, duration: 3}\n";
    char whole[1000];
    snprintf(whole, sizeof whole, text, "");
    cairn_scene *open = scene_text_good(whole, NULL);
    snprintf(whole, sizeof whole, text, "periodic: {axes: [x, y], high: [1, 1]}");
    cairn_scene *cell = scene_text_good(whole, NULL);
    int crossed = 0;
    for (int n = 0; n < 1200; n++) {
        step_good(open);
        step_good(cell);
        cairn_joint_state one = cairn_world_joint(open->world, 0);
        cairn_joint_state other = cairn_world_joint(cell->world, 0);
        crossed += other.image.k[0] != 0;
        CHECK_NEAR(one.turn, other.turn, 1e-9);
        CHECK_NEAR(cairn_norm(cairn_sub(one.force, other.force)), 0, 1e-8);
    }
    CHECK(crossed > 100 && crossed < 1100);
    cairn_scene_destroy(open);
    cairn_scene_destroy(cell);
}

/* A chain of two balls and two springs that is closed through the face: each spring of rest length
 * 0.3 m is stretched to 0.5 m and pulls with 50 N/m x 0.2 m; nothing moves. */
TEST(a_chain_closes_on_itself_through_a_face)
{
    cairn_scene *scene =
        scene_text_good("cairn: 1\ngravity: [0, 0, 0]\n"
                        "periodic: {axes: [x], high: [1, 1, 1]}\n"
                        "bodies:\n"
                        "  - {name: a, shape: {sphere: {radius: 0.1}}, position: [0.2, 0, 0]}\n"
                        "  - {name: b, shape: {sphere: {radius: 0.1}}, position: [0.7, 0, 0]}\n"
                        "joints:\n"
                        "  - spring: {a: a, b: b, anchor: [0.2, 0, 0], anchor_b: [0.7, 0, 0],\n"
                        "             slide: {stiffness: 50, rest: 0.3}}\n"
                        "  - spring: {a: b, b: a, anchor: [0.7, 0, 0], anchor_b: [1.2, 0, 0],\n"
                        "             slide: {stiffness: 50, rest: 0.3}}\n"
                        "run: {time_step: 0.01, duration: 1, tolerance: 1e-12}\n",
                        NULL);
    run_good(scene, 50);
    cairn_bodies b = cairn_world_bodies(scene->world);
    for (int k = 0; k < 2; k++) {
        cairn_joint_state j = cairn_world_joint(scene->world, k);
        CHECK_NEAR(j.force.x, 10, 1e-9);
        CHECK_NEAR(j.slide, 0.5, 1e-12);
        CHECK_INT(j.image.k[0], k);
        CHECK_NEAR(cairn_norm(b.v[k]), 0, 1e-10);
        CHECK_NEAR(j.elastic, 0.5 * 50 * 0.04, 1e-12);
    }
    cairn_scene_destroy(scene);
}

/* Two balls of half the length of the cell touch on both sides. A joint takes away the contact at its
 * own place alone. */
TEST(joined_images_do_not_collide_but_others_do)
{
    static const char *const anchors[] = { "0.5", "1", "0" };
    for (int k = 0; k < 3; k++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "cairn: 1\ngravity: [0, 0, 0]\nperiodic: {axes: [x], high: [1, 1, 1]}\n"
                 "bodies:\n"
                 "  - {name: a, shape: {sphere: {radius: 0.25}}, position: [0.25, 0, 0]}\n"
                 "  - {name: b, shape: {sphere: {radius: 0.25}}, position: [0.75, 0, 0]}\n"
                 "joints: [ball: {a: a, b: b, anchor: [%s, 0, 0]}]\n"
                 "run: {time_step: 0.01, duration: 1}\n",
                 anchors[k]);
        cairn_scene *scene = scene_text_good(text, NULL);
        step_good(scene);
        cairn_contacts c = cairn_world_contacts(scene->world);
        CHECK_INT(c.count, 1);
        CHECK_INT(abs(c.image[0].k[0]), k == 0);
        CHECK_INT(cairn_world_joint(scene->world, 0).image.k[0], k == 0 ? 0 : -1);
        cairn_scene_destroy(scene);
    }
}

/* Spheres in pairs, threes and a chain through the cell, of several kinds of joints. */
static const char *const joined_gas =
    "cairn: 1\ngravity: [0, 0, 0]\n"
    "parameters: {rate: 0}\n"
    "periodic: {axes: [x, y, z], high: [1, 1, 1], gradient_x: [0, $rate, 0], gradient_z: [0, $(0.5 "
    "* "
    "rate), 0]}\n"
    "materials: {a: {friction: 0.3}}\n"
    "bodies:\n"
    "  - {name: a, shape: {sphere: {radius: 0.1}}, position: [0.95, 0.1, 0.1], velocity: [1, 3, "
    "0]}\n"
    "  - {name: b, shape: {box: {size: [0.12, 0.15, 0.14]}}, position: [0.15, 0.1, 0.1], velocity: "
    "[0, 2, 1]}\n"
    "  - {name: c, shape: {sphere: {radius: 0.09}}, position: [0.4, 0.1, 0.1], velocity: [0, 2, "
    "-1]}\n"
    "  - {name: d, shape: {sphere: {radius: 0.09}}, position: [0.65, 0.1, 0.1], velocity: [1, 1, "
    "0]}\n"
    "  - {name: e, shape: {box: {size: [0.12, 0.15, 0.14]}}, position: [0.45, 0.9, 0.72], "
    "velocity: "
    "[-2, 2, 1]}\n"
    "  - {name: f, shape: {sphere: {radius: 0.09}}, position: [0.45, 0.15, 0.72], velocity: [1, 0, "
    "2]}\n"
    "joints:\n"
    "  - ball: {a: a, b: b, anchor: [1.05, 0.1, 0.1]}\n"
    "  - distance: {a: b, b: c, anchor: [0.2, 0.1, 0.1], anchor_b: [0.35, 0.1, 0.1]}\n"
    "  - spring: {a: c, b: d, anchor: [0.4, 0.1, 0.1], anchor_b: [0.65, 0.1, 0.1], slide: "
    "{stiffness: 100, damping: 1, rest: 0.2}}\n"
    "  - rope: {a: d, b: a, anchor: [0.7, 0.1, 0.1], anchor_b: [0.9, 0.1, 0.1]}\n"
    "  - revolute: {a: f, b: e, anchor: [0.45, 1.05, 0.72], axis: [1, 0, 0], turn: {motor: "
    "velocity, "
    "target: 3, effort: 1, friction: 0.01}}\n"
    "generators: [grid: {count: [3, 3, 3], spacing: [0.3, 0.3, 0.3], radius: 0.08, seed: 3,\n"
    "  origin: [0.3, 0.3, 0.27], velocity: [1, -1, 0.5]}]\n"
    "run: {time_step: 0.002, duration: 1, tolerance: 1e-8, scheme: coulomb}\n";

TEST(joined_bodies_keep_their_momentum_and_the_ledger_closes)
{
    static const char *const rates[] = { "parameters.rate=0", "parameters.rate=3" };
    for (int k = 0; k < 2; k++) {
        cairn_scene *scene = scene_text_good(joined_gas, rates[k]);
        cairn_vec3 start = momentum_of(scene->world);
        double before, potential, work = 0, spent = 0;
        cairn_world_energy(scene->world, &before, &potential);
        for (size_t j = 0; j < scene->world->joints.count; j++)
            before += scene->world->joints.items[j].elastic;
        for (int i = 0; i < (CHECKED ? 250 : 400); i++) {
            cairn_step_report report = step_good(scene);
            cairn_energy e = report.energy;
            double after = before + e.driver_work + e.motor_work - e.friction_loss - e.impact_loss -
                           e.damping_loss - e.numerical_loss;
            CHECK_NEAR(e.kinetic + e.elastic, after, 1e-12 * (1 + fabs(after)));
            before = e.kinetic + e.elastic;
            work += fabs(e.driver_work);
            spent += report.active;
            CHECK(report.certificate.joint_drift < 1e-3);
        }
        CHECK(spent > (CHECKED ? 20 : 100) && (k == 0 || work > 0.1));
        cairn_vec3 end = momentum_of(scene->world);
        CHECK(k == 1 || cairn_norm(cairn_sub(start, end)) < 1e-10);
        cairn_scene_destroy(scene);
    }
    cairn_scene *scene = scene_text_good(joined_gas, rates[1]);
    check_goes_on(scene, 120, 60);
    cairn_scene_destroy(scene);
    CHECK(hash_after(joined_gas, "run.threads=3", 100) == hash_after(joined_gas, NULL, 100));
}

/* ==== what is refused ========================================================================= */

static void refuse(const char *periodic, const char *rest, const char *said)
{
    char text[1000];
    cairn_error error = { 0 };
    snprintf(text, sizeof text, "cairn: 1\nperiodic: %s\n%s\nrun: {time_step: 0.01, duration: 1}\n",
             periodic, rest);
    cairn_scene *scene = NULL;
    CHECK(scene_text_load(text, NULL, &scene, &error) != CAIRN_OK);
    CHECK_CONTAINS(error.message, said);
    CHECK_CONTAINS(error.file, "scene_text"); /* with the file, the line and the key: */
    CHECK(error.line >= 2);
    CHECK_CONTAINS(error.key, "periodic");
    CHECK(!strstr(error.key, "periodic.periodic"));
}

TEST(what_a_cell_cannot_hold_is_refused)
{
    const char *ball = "bodies: [{shape: {sphere: {radius: 0.2}}, position: [0, 0, 1]}]";
    refuse("{low: [0, 0, 0]}", ball, "'axes' is missing");
    refuse("{axes: [x], low: [1, 0, 0], high: [1, 1, 1]}", ball, "no length along x");
    refuse("{axes: [x], high: [0.7, 1, 1]}", ball, "a diameter of 0.4 m, expected at most 0.35 m");
    refuse("{axes: [x], high: [2, 1, 1], gradient_x: [0, 1, 0]}", ball, "not periodic along y");
    refuse("{axes: [x, z], high: [2, 2, 2]}", "bodies: [{motion: fixed, shape: half_space}]",
           "expected a half-space parallel to the periodic axes");
    refuse("{axes: [x], high: [2, 2, 2]}",
           "generators: [pour: {count: 1, rate: 1, centre: [0, 0, 0], radius: 0.51}]",
           "up to 1.02 m come in through inlet 0, expected at most 1 m");
}

TEST(a_step_that_fails_leaves_the_cell_as_it_was)
{
    CHECK(fail_each_step(sheared, NULL, 110) > 2);
    CHECK(fail_each_step(joined_gas, "parameters.rate=6", 60) > 2);
    CHECK(fail_each_step(sheared_3d, "run.threads=3", 15) > 0);
}

/* Balls outside of a cell of 1 m that is sheared by 1.2 edges, two of them joined. */
static cairn_world *outside_of_the_cell(void)
{
    cairn_world *world = new_world(3, 0, 0.5, 0);
    cairn_lattice_def cell = cairn_lattice_def_default();
    cairn_joint_def rod = cairn_joint_def_default();
    const cairn_vec3 rest = { 0, 0, 0 };
    rod.kind = CAIRN_JOINT_DISTANCE;
    int a = add_ball(world, 0.1, cairn_vec(1.3, -0.4, 0.5), rest);
    int b = add_ball(world, 0.1, cairn_vec(1.6, -0.4, 0.5), rest);
    rod.a = (cairn_body_id){ (uint64_t)a };
    rod.b = (cairn_body_id){ (uint64_t)b };
    rod.anchor = cairn_vec(1.3, -0.4, 0.5);
    rod.anchor_b = cairn_vec(1.6, -0.4, 0.5);
    add_ball(world, 0.1, cairn_vec(1.3, -0.2, 0.5), rest);
    cell.axes = (cairn_names){ { "x", "y" }, 2 };
    CHECK_OK(cairn_world_set_lattice(world, &cell));
    CHECK_OK(cairn_joint_create(world, &rod, NULL));
    world->periodic.cell.edge[1].x = 1.2;
    return world;
}

TEST(a_step_that_puts_bodies_back_survives_the_failure_of_any_allocation)
{
    cairn_step_options options = step_by(1e-3, "coulomb", 1e-3);
    check_step_without_memory(outside_of_the_cell, &options);
}

GROUP(test_periodic)
{
    RUN(CASE(a_lattice_has_the_contacts_of_the_infinite_one), CASE(a_gas_keeps_its_momentum),
        CASE(a_moved_gas_does_the_same),
        CASE(a_body_that_crosses_the_sheared_face_changes_its_velocity),
        CASE(a_shrinking_cell_leaves_bodies_that_do_not_touch),
        CASE(the_ledger_of_a_sheared_cell_closes), CASE(the_work_of_shear_is_that_of_the_stress),
        CASE(statistics_are_those_of_the_whole_cell),
        CASE(a_loaded_cell_goes_on_with_the_same_bits), CASE(lists_and_threads_change_nothing),
        CASE(an_image_occupies_the_place_of_an_inlet), CASE(what_comes_in_is_put_into_the_cell),
        CASE(a_new_body_has_crossed_no_face), CASE(bodies_go_round_in_a_periodic_column),
        CASE(a_joined_pair_crosses_sheared_faces_as_if_there_were_none),
        CASE(a_pendulum_swings_through_a_face), CASE(a_chain_closes_on_itself_through_a_face),
        CASE(joined_images_do_not_collide_but_others_do),
        CASE(joined_bodies_keep_their_momentum_and_the_ledger_closes),
        CASE(a_step_that_fails_leaves_the_cell_as_it_was),
        CASE(a_step_that_puts_bodies_back_survives_the_failure_of_any_allocation),
        CASE(what_a_cell_cannot_hold_is_refused));
}
