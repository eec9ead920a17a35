/* inlet.c - bodies that come in while the world runs.
 *
 * After each step every inlet owes floor(rate (t - start)) + 1 bodies, at most `count`. Each is
 * tried at random places of the region until one is free; without a free place it waits, with the
 * radius it has, for the next step; the orientation is drawn for each try. Only bodies near the
 * region are looked at. */
#include <math.h>
#include <stddef.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/status.h"
#include "math/vec.h"
#include "world/generate.h"
#include "world/touch.h"

enum { TRIES = 50 };

/* ---- definition ----------------------------------------------------------------------------- */

cairn_inlet_def cairn_inlet_def_default(void)
{
    return (cairn_inlet_def){ .rate = 1, .seed = 1, .density = 1000 };
}

static void set_default(void *def)
{
    *(cairn_inlet_def *)def = cairn_inlet_def_default();
}

#define ANY   -CAIRN_UNBOUNDED, CAIRN_UNBOUNDED
#define STATE -1e30, 1e30 /* as of bodies */

static const cairn_option options[] = {
    { "count", CAIRN_OPTION_INTEGER, true, offsetof(cairn_inlet_def, count), 1, 1e9, "",
      "how many bodies in all", NULL },
    { "rate", CAIRN_OPTION_REAL, true, offsetof(cairn_inlet_def, rate), CAIRN_POSITIVE, 1e12, "1/s",
      "bodies per second", NULL },
    { "start", CAIRN_OPTION_REAL, false, offsetof(cairn_inlet_def, start), ANY, "s",
      "when it begins", NULL },
    { "centre", CAIRN_OPTION_VECTOR, true, offsetof(cairn_inlet_def, centre), STATE, "m",
      "middle of the region", NULL },
    { "size", CAIRN_OPTION_VECTOR, false, offsetof(cairn_inlet_def, size), 0, 1e12, "m",
      "extents of the region in which bodies appear", NULL },
    { "disk_radius", CAIRN_OPTION_REAL, false, offsetof(cairn_inlet_def, disk_radius), 0, 1e12, "m",
      "> 0: the region is a vertical cylinder of this radius, height size.z", NULL },
    { "velocity", CAIRN_OPTION_VECTOR, false, offsetof(cairn_inlet_def, velocity), STATE, "m/s",
      "of what comes in", NULL },
    { "turned", CAIRN_OPTION_FLAG, false, offsetof(cairn_inlet_def, turned), 0, 0, "",
      "bodies that are no spheres get a random orientation", NULL },
    { "seed", CAIRN_OPTION_INTEGER, false, offsetof(cairn_inlet_def, seed), 0, 9e18, "",
      "of the random numbers", NULL },
    { "density", CAIRN_OPTION_REAL, false, offsetof(cairn_inlet_def, density), CAIRN_POSITIVE, 1e12,
      "kg/m^3", "in 2D kg/m^2; used when no mass is given", NULL },
    { "mass", CAIRN_OPTION_REAL, false, offsetof(cairn_inlet_def, mass), 0, 1e30, "kg",
      "of each body; 0: from the density", NULL },
};

const cairn_record *cairn_inlet_record(void)
{
    static const cairn_record record = { .name = "pour",
                                         .summary = "bodies that come in while the world runs",
                                         .size = sizeof(cairn_inlet_def),
                                         .set_default = set_default,
                                         .options = options,
                                         .option_count = sizeof options / sizeof options[0] };
    return &record;
}

/* A body of an inlet with a radius, but for its place. */
static cairn_body_def body_of(const cairn_inlet_def *from, double radius, int dimension)
{
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_grain_shape(&from->shape, radius, dimension);
    def.material = from->material;
    def.density = from->density;
    def.mass = from->mass;
    def.velocity = from->velocity;
    return def;
}

/* That a body can be made of this shape at all, with mass and inertia. */
static cairn_status check_body(const cairn_world *world, const cairn_inlet_def *def,
                               cairn_error *error)
{
    if (def->shape.kind == CAIRN_SHAPE_SPHERE)
        return CAIRN_OK;
    cairn_body_def body = body_of(def, cairn_shape_extent(&def->shape), world->dimension);
    return cairn_body_check(world, &body, error);
}

static cairn_status check(const cairn_world *world, const cairn_inlet_def *def, cairn_error *error)
{
    TRY(cairn_record_check(cairn_inlet_record(), def, error));
    TRY(cairn_grain_check(&def->shape, &def->radius, world->dimension, error));
    TRY(cairn_distribution_check(&def->radius, error));
    if (def->radius.kind == CAIRN_DISTRIBUTION_CONSTANT && !(def->radius.value > 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, "radius", "found %g, expected a number > 0 in m",
                          def->radius.value);
    if (def->material < 0 || (size_t)def->material >= world->materials.count)
        return cairn_fail(error, CAIRN_BAD_INPUT, "material", "there is no material %d",
                          def->material);
    if (world->dimension == 2 && (def->centre.z != 0 || def->velocity.z != 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, def->centre.z != 0 ? "centre" : "velocity",
                          "in 2D z must be 0");
    return check_body(world, def, error);
}

cairn_status cairn_inlet_create(cairn_world *world, const cairn_inlet_def *def)
{
    cairn_inlet_def own = *def;
    world->error = (cairn_error){ 0 };
    own.radius = cairn_grain_radii(&def->shape, &def->radius);
    TRY(check(world, &own, &world->error));
    TRY(cairn_memory_reserve((void **)&world->inlets.items, &world->inlets.capacity,
                             world->inlets.count + 1, sizeof *world->inlets.items));
    cairn_inlet inlet = { .def = own, .state = (uint64_t)def->seed };
    TRY(cairn_memory_own_list(&inlet.def.radius.values));
    if (cairn_memory_own_list(&inlet.def.radius.weights) != CAIRN_OK) {
        cairn_memory_free((void *)inlet.def.radius.values.values);
        return CAIRN_NO_MEMORY;
    }
    cairn_geometry_retain(own.shape.geometry);
    world->inlets.items[world->inlets.count++] = inlet;
    return CAIRN_OK;
}

void cairn_inlets_release(cairn_world *world)
{
    for (size_t k = 0; k < world->inlets.count; k++) {
        cairn_distribution *radius = &world->inlets.items[k].def.radius;
        cairn_memory_free((void *)radius->values.values);
        cairn_memory_free((void *)radius->weights.values);
        cairn_geometry_release(world->inlets.items[k].def.shape.geometry);
    }
    world->inlets.count = 0;
}

/* ---- pouring -------------------------------------------------------------------------------- */

/* Bodies an inlet owes at a time and has not released. */
static int64_t owed(const cairn_inlet *inlet, double time)
{
    const cairn_inlet_def *def = &inlet->def;
    if (time < def->start)
        return 0;
    double due = floor(def->rate * (time - def->start) * (1 + 1e-12)) + 1;
    double most = fmin(due, (double)def->count);
    return (int64_t)most - inlet->released;
}

int64_t cairn_world_inlet_pending(const cairn_world *world)
{
    int64_t pending = 0;
    for (size_t k = 0; k < world->inlets.count; k++)
        pending += world->inlets.items[k].def.count - world->inlets.items[k].released;
    return pending;
}

size_t cairn_inlets_due(const cairn_world *world, double time)
{
    size_t due = 0;
    for (size_t k = 0; k < world->inlets.count; k++)
        due += (size_t)owed(&world->inlets.items[k], time);
    return due;
}

static cairn_vec3 draw_place(const cairn_inlet_def *def, int dimension, uint64_t *state)
{
    double x = cairn_random_between(state, -0.5, 0.5) * def->size.x;
    double y = cairn_random_between(state, -0.5, 0.5) * def->size.y;
    double z = 0;
    if (dimension == 3) {
        z = cairn_random_between(state, -0.5, 0.5) * def->size.z;
        if (def->disk_radius > 0) {
            double radius = def->disk_radius * sqrt(cairn_random_uniform(state));
            double angle = 2 * M_PI * cairn_random_uniform(state);
            x = radius * cos(angle);
            y = radius * sin(angle);
        }
    }
    return cairn_add(def->centre, cairn_vec(x, y, z));
}

/* Walls, and bodies whose box reaches into the region; listed in bodies.list. */
static int find_near(cairn_world *world, const cairn_inlet_def *def, double radius)
{
    cairn_vec3 half = cairn_scale(0.5, def->size);
    double reach = fmax(fmax(half.x, half.y), fmax(half.z, def->disk_radius));
    cairn_shape unused = { 0 };
    cairn_collider region = { .shape = &unused, .x = def->centre, .extent = reach + radius };
    cairn_collider_enclose(&region);
    int count = 0;
    for (int i = 0; i < world->bodies.count; i++) {
        cairn_collider other = cairn_body_collider(world, i);
        if (other.shape &&
            (!cairn_collider_bounded(&other) || cairn_boxes_overlap(&region, &other)))
            world->bodies.list[count++] = i;
    }
    return count;
}

static bool is_free(cairn_world *world, int near_count, const cairn_body_def *def)
{
    cairn_collider me = { .shape = &def->shape };
    cairn_quat q = world->dimension == 2 ? cairn_quat_in_plane(def->angle) : def->orientation;
    cairn_collider_place(&me, (cairn_pose){ def->position, q });
    for (int k = 0; k < near_count; k++) {
        cairn_collider other = cairn_body_collider(world, world->bodies.list[k]);
        if (cairn_world_meet(world, &me, &other))
            return false;
    }
    return true;
}

/* One body at a free place; false when none was found. */
static bool release(cairn_world *world, cairn_inlet *inlet)
{
    const cairn_inlet_def *from = &inlet->def;
    if (inlet->waiting == 0)
        inlet->waiting = cairn_distribution_draw(&from->radius, &inlet->state);
    cairn_body_def def = body_of(from, inlet->waiting, world->dimension);
    bool turned = from->turned && def.shape.kind != CAIRN_SHAPE_SPHERE;
    int near_count = find_near(world, from, inlet->waiting);
    for (int k = 0; k < TRIES; k++) {
        def.position = draw_place(from, world->dimension, &inlet->state);
        if (turned)
            cairn_grain_turn(world->dimension, &inlet->state, &def);
        if (!is_free(world, near_count, &def))
            continue;
        if (cairn_body_create(world, &def, NULL) != CAIRN_OK)
            return false;
        inlet->waiting = 0;
        inlet->released++;
        return true;
    }
    return false;
}

int cairn_inlets_pour(cairn_world *world)
{
    int entered = 0;
    for (size_t k = 0; k < world->inlets.count; k++) {
        cairn_inlet *inlet = &world->inlets.items[k];
        while (owed(inlet, world->time) > 0 && release(world, inlet))
            entered++;
    }
    return entered;
}
