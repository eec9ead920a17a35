/* worlds.h - worlds made by hand, and stepping them; every failure fails the test. */
#ifndef CAIRN_TESTS_WORLDS_H
#define CAIRN_TESTS_WORLDS_H

#include "cairn/cairn.h"
#include "tests/check.h"

/* ==== worlds made by hand in a few lines: one material, spheres, walls ======================== */

static inline cairn_body_id add_sphere(cairn_world *world, double radius, cairn_vec3 position)
{
    cairn_body_id id;
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, cairn_world_dimension(world));
    def.shape.radius = radius;
    def.position = position;
    CHECK_OK(cairn_body_create(world, &def, &id));
    return id;
}

static inline cairn_body_id add_wall(cairn_world *world, cairn_shape shape, cairn_vec3 position)
{
    cairn_body_id id;
    cairn_body_def def = cairn_body_def_default();
    def.motion = CAIRN_MOTION_FIXED;
    def.shape = shape;
    def.position = position;
    CHECK_OK(cairn_body_create(world, &def, &id));
    return id;
}

static inline cairn_world *world_create(int dimension)
{
    cairn_world *world = NULL;
    cairn_world_def def = cairn_world_def_default();
    cairn_material_def material = cairn_material_def_default();
    int number;
    def.dimension = dimension;
    def.gravity = dimension == 2 ? (cairn_vec3){ 0, -9.81, 0 } : (cairn_vec3){ 0, 0, -9.81 };
    CHECK_OK(cairn_world_create(&def, &world));
    CHECK_OK(cairn_material_create(world, &material, &number));
    return world;
}

/* ==== worlds for physics tests, and stepping them; every failure fails the test =============== */

/* A world with one material (mu, e) and gravity along the last axis. */
static inline cairn_world *new_world(int dimension, double gravity, double mu, double restitution)
{
    cairn_world_def def = cairn_world_def_default();
    cairn_material_def material = { .friction = mu, .restitution = restitution };
    cairn_world *world;
    def.dimension = dimension;
    def.gravity = (cairn_vec3){ 0, dimension == 2 ? -gravity : 0, dimension == 3 ? -gravity : 0 };
    CHECK_OK(cairn_world_create(&def, &world));
    CHECK_OK(cairn_material_create(world, &material, NULL));
    return world;
}

/* A ball or disk of mass 1; returns its row. */
static inline int add_ball(cairn_world *world, double radius, cairn_vec3 x, cairn_vec3 v)
{
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, cairn_world_dimension(world));
    def.shape.radius = radius;
    def.mass = 1;
    def.position = x;
    def.velocity = v;
    CHECK_OK(cairn_body_create(world, &def, &id));
    return cairn_body_row(world, id);
}

/* A fixed body of a kind with its default axis; `radius` where the kind has one. */
static inline int add_fixed(cairn_world *world, cairn_shape_kind kind, double radius, cairn_vec3 x)
{
    cairn_shape shape = cairn_shape_default(kind, cairn_world_dimension(world));
    shape.radius = radius;
    return cairn_body_row(world, add_wall(world, shape, x));
}

static inline cairn_step_options step_by(double h, const char *scheme, double tolerance)
{
    cairn_step_options options = cairn_step_options_default();
    options.time_step = h;
    options.scheme = scheme;
    options.tolerance = tolerance;
    return options;
}

/* Some steps; the report is of the last. */
static inline cairn_step_report advance(cairn_world *world, const cairn_step_options *options,
                                        int steps)
{
    cairn_step_report report = { 0 };
    for (int k = 0; k < steps; k++) {
        CHECK_OK(cairn_world_step(world, options, &report));
        CHECK(report.solve.converged);
    }
    return report;
}

static inline double total_energy(const cairn_world *world)
{
    double kinetic, potential;
    cairn_world_energy(world, &kinetic, &potential);
    return kinetic + potential;
}

/* A loose heap of balls above a floor, in a cylinder: 2D or 3D, a little irregular. */
static inline cairn_world *new_heap(int dimension, double mu, int layers)
{
    cairn_world *world = new_world(dimension, 9.81, mu, 0);
    cairn_vec3 origin = { 0, 0, 0 };
    uint64_t state = 5;
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, origin);
    if (dimension == 3)
        add_fixed(world, CAIRN_SHAPE_INSIDE_CYLINDER, 0.45, origin);
    for (int layer = 0; layer < layers; layer++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < (dimension == 3 ? 3 : 1); j++) {
                double dx = 0.02 * cairn_random_uniform(&state), up = 0.12 + 0.22 * layer;
                double x = 0.22 * (i - 1) + dx, y = 0.22 * (j - 1);
                double radius = 0.08 + 0.02 * cairn_random_uniform(&state);
                cairn_vec3 at =
                    dimension == 3 ? (cairn_vec3){ x, y, up } : (cairn_vec3){ x, up, 0 };
                add_ball(world, radius, at, origin);
            }
    return world;
}

/* ==== a step in which an allocation fails, for each one that it makes ========================= */

/* The first step of a world: each failed allocation is told, and nothing leaks. */
static inline void check_step_without_memory(cairn_world *(*make)(void),
                                             const cairn_step_options *options)
{
    meter m = { 0 };
    long calls = 1;
    for (long n = 0; n < calls; n++) {
        cairn_step_report report;
        meter_install(&m);
        cairn_world *world = make();
        long start = m.calls;
        m.fail_at = n ? start + n : 0;
        cairn_status status = cairn_world_step(world, options, &report);
        CHECK_INT(status, n ? CAIRN_NO_MEMORY : CAIRN_OK);
        if (n == 0)
            calls = m.calls - start + 1;
        cairn_world_destroy(world);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
        m = (meter){ 0 };
    }
    CHECK(calls > 3);
}

#endif
