/* grains.c - see grains.h. */
#include "reproduce/grains.h"

#include <math.h>

#include "reproduce/bodies.h"
#include "reproduce/memory.h"

static const double side = 10;

static double between(uint64_t *state, double low, double high)
{
    return low + (high - low) * cairn_random_uniform(state);
}

/* ---- box ------------------------------------------------------------------------------------- */

static cairn_status add_box_walls(cairn_world *world)
{
    static const struct {
        cairn_vec3 normal, x;
    } walls[] = { { { 0, 0, 1 }, { 0, 0, 0 } },
                  { { 1, 0, 0 }, { 0, 0, 0 } },
                  { { -1, 0, 0 }, { 10, 0, 0 } },
                  { { 0, 1, 0 }, { 0, 0, 0 } },
                  { { 0, -1, 0 }, { 0, 10, 0 } } };
    for (int i = 0; i < 5; i++)
        TRY(cairn_add_wall(world, walls[i].normal, walls[i].x));
    return CAIRN_OK;
}

/* Drawn in the order radius, shift in x, y, z, mass. */
static cairn_status add_grain(cairn_world *world, double d, const int at[3], uint64_t *state)
{
    cairn_ball ball = { .radius = between(state, 0.8 * d / 2, 0.9 * d / 2) };
    double shift = 0.05 * d / 2;
    ball.x.x = (at[0] + 0.5) * d + between(state, -shift, shift);
    ball.x.y = (at[1] + 0.5) * d + between(state, -shift, shift);
    ball.x.z = (at[2] + 0.5) * d + between(state, -shift, shift);
    ball.mass = between(state, 1, 2);
    return cairn_add_ball(world, &ball);
}

cairn_status cairn_grains_box(int n, cairn_world **out)
{
    uint64_t state = 12345;
    TRY(cairn_plain_world(3, (cairn_vec3){ 0, 0, -1 }, 0, out));
    TRY(add_box_walls(*out));
    for (int i = 0; i < n * n * n; i++) {
        const int at[3] = { i % n, i / n % n, i / (n * n) };
        TRY(add_grain(*out, side / n, at, &state));
    }
    return CAIRN_OK;
}

double cairn_grains_box_step(int n)
{
    return 0.2 * 0.9 * side / (2 * n) / sqrt(2 * side);
}

/* ---- column ---------------------------------------------------------------------------------- */

cairn_status cairn_grains_column(int dimension, int n, double mu, cairn_world **out)
{
    uint64_t state = 1;
    double d = side / n, r = cairn_grains_column_radius(n);
    bool flat = dimension == 2;
    cairn_vec3 up = { 0, flat, !flat }, down = { 0, -flat, -!flat };
    TRY(cairn_plain_world(dimension, down, mu, out));
    TRY(cairn_add_wall(*out, up, (cairn_vec3){ 0, 0, 0 }));
    for (int i = 0; i < (flat ? n * n : n * n * n); i++) {
        int a = i % n, b = flat ? 0 : i / n % n, layer = flat ? i / n : i / (n * n);
        double x = (a + 0.5) * d + (layer == 0 ? r / 2 : 0), z = (layer + 0.5) * d;
        double y = (b + 0.5) * d + (layer == 0 ? r / 2 : 0);
        cairn_ball ball = { .radius = r, .mass = between(&state, 1, 2) };
        ball.x = flat ? (cairn_vec3){ x, z, 0 } : (cairn_vec3){ x, y, z };
        TRY(cairn_add_ball(*out, &ball));
    }
    return CAIRN_OK;
}

double cairn_grains_column_radius(int n)
{
    return side / (2 * (n + 1));
}

double cairn_grains_column_step(int n)
{
    return 0.1 * cairn_grains_column_radius(n) / sqrt(2 * side);
}

/* ---- ellipses -------------------------------------------------------------------------------- */

/* Small fixed disks side by side, their tops at y = 0. */
static cairn_status add_glued_disks(cairn_world *world)
{
    cairn_body_def def = cairn_body_def_default();
    def.motion = CAIRN_MOTION_FIXED;
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 2);
    def.shape.radius = 0.045;
    for (int i = 0; i < ELLIPSE_GLUED; i++) {
        def.position = (cairn_vec3){ 0.09 * (i - ELLIPSE_GLUED / 2), -0.045, 0 };
        TRY(cairn_body_create(world, &def, NULL));
    }
    return CAIRN_OK;
}

/* Drawn in the order horizontal semi-axis, mass. */
static cairn_status add_ellipse(cairn_world *world, int i, uint64_t *state)
{
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_ELLIPSOID, 2);
    def.shape.semi_axes = (cairn_vec3){ between(state, 0.22, 0.68), 0.45, 0 };
    def.mass = between(state, 1, 2);
    def.position = (cairn_vec3){ 1.38 * (i % 10 - 4.5), 0.5 + 0.92 * (i / 10), 0 };
    return cairn_body_create(world, &def, NULL);
}

cairn_status cairn_grains_ellipses(cairn_world **out)
{
    uint64_t state = 1;
    TRY(cairn_plain_world(2, (cairn_vec3){ 0, -5, 0 }, 0, out));
    TRY(add_glued_disks(*out));
    for (int i = 0; i < ELLIPSES; i++)
        TRY(add_ellipse(*out, i, &state));
    return CAIRN_OK;
}

/* ---- shaken box ------------------------------------------------------------------------------ */

static cairn_status add_shaken_wall(cairn_world *world, const cairn_nut_box *box, cairn_vec3 normal,
                                    double x)
{
    cairn_body_def def = cairn_body_def_default();
    cairn_driver shake = cairn_driver_default(CAIRN_DRIVER_SHAKE);
    shake.amplitude = (cairn_vec3){ 0, box->amplitude, 0 };
    shake.frequency = 1 / box->period;
    shake.start = box->settle;
    def.motion = CAIRN_MOTION_DRIVEN;
    def.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 2);
    def.shape.axis = normal;
    def.position = (cairn_vec3){ x, 0, 0 };
    def.drivers = &shake;
    def.driver_count = 1;
    return cairn_body_create(world, &def, NULL);
}

/* mass (r/0.5)^2; inertia m r^2/2, that of a disk */
static cairn_status add_disk(cairn_world *world, double radius, double x, double y)
{
    cairn_ball ball = { .radius = radius, .mass = 4 * radius * radius, .x = { x, y, 0 } };
    return cairn_add_ball(world, &ball);
}

/* Small disks row by row, 1.15 apart, not where the big one is. */
static cairn_status add_small(cairn_world *world, const cairn_nut_box *box)
{
    const double apart = 1.15, middle = box->width / 2;
    uint64_t state = box->seed;
    int across = (int)((box->width - 0.2) / apart), placed = 0;
    for (int i = 0; placed < box->disks; i++) {
        double x = 0.7 + apart * (i % across) + between(&state, 0, 0.02);
        double y = 0.6 + apart * (i / across), radius = between(&state, 0.45, 0.55);
        if (hypot(x - middle, y - box->big) < box->big + 0.56)
            continue;
        TRY(add_disk(world, radius, x, y));
        placed++;
    }
    return CAIRN_OK;
}

cairn_status cairn_grains_nut(const cairn_nut_box *box, cairn_world **out)
{
    cairn_world_def def = cairn_world_def_default();
    const cairn_material_def material = { .friction = 0.5, .restitution = box->restitution };
    def.dimension = 2;
    def.gravity = (cairn_vec3){ 0, -9.81, 0 };
    TRY(cairn_world_create(&def, out));
    TRY(cairn_material_create(*out, &material, NULL));
    TRY(add_shaken_wall(*out, box, (cairn_vec3){ 0, 1, 0 }, 0));
    TRY(add_shaken_wall(*out, box, (cairn_vec3){ 1, 0, 0 }, 0));
    TRY(add_shaken_wall(*out, box, (cairn_vec3){ -1, 0, 0 }, box->width));
    TRY(add_disk(*out, box->big, box->width / 2, box->big));
    return add_small(*out, box);
}

int cairn_grains_above(const cairn_world *world)
{
    cairn_bodies b = cairn_world_bodies(world);
    int above = 0;
    int big = cairn_body_row(world, (cairn_body_id){ NUT_BIG });
    for (int i = b.held; i < b.count; i++)
        above += b.x[i].y > b.x[big].y;
    return above;
}
