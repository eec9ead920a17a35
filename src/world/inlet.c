/* inlet.c - bodies that enter while the world runs, and bodies that leave and come back.
 *
 * After each step an inlet is due to have released floor(rate (t - start)) + 1 bodies, at most
 * `count`. Each body is tried at random places of the region until one is free. If none is, the
 * body waits for the next step and keeps its radius, so that large bodies are not rejected in
 * favour of small ones; the orientation is drawn for each try. Only bodies near the region are
 * tested for overlap.
 *
 * Bodies in an outlet leave when a step begins, before anything else, so that the stages of a step
 * and its certificate have the same bodies throughout. They may wait in the queue of an inlet. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "math/vec.h"
#include "world/lists.h"
#include "world/touch.h"

/* TRIES: places tried for a body in one step; BLOCK: bodies after which a pour has its grading, as
 * it may end early. */
enum { TRIES = 50, BLOCK = 4096 };

/* ---- definition ----------------------------------------------------------------------------- */

cairn_inlet_def cairn_inlet_def_default(void)
{
    return (cairn_inlet_def){ .rate = 1,
                              .seed = 1,
                              .radius = cairn_distribution_default(CAIRN_DISTRIBUTION_CONSTANT),
                              .density = 1000,
                              .mask = CAIRN_ALL_GROUPS };
}

static void set_default(void *def)
{
    *(cairn_inlet_def *)def = cairn_inlet_def_default();
}

#define ANY   -CAIRN_UNBOUNDED, CAIRN_UNBOUNDED
#define STATE -1e30, 1e30 /* the limits of bodies: energies stay finite */

static const cairn_option options[] = {
    { "count", CAIRN_OPTION_INTEGER, true, offsetof(cairn_inlet_def, count), 0, 1e9, "",
      "how many new bodies in all; those that come back from outlets follow them", NULL },
    { "rate", CAIRN_OPTION_VARYING, true, offsetof(cairn_inlet_def, rate), CAIRN_POSITIVE, 1e12,
      "1/s", "bodies per second", NULL },
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
    { "mass", CAIRN_OPTION_REAL, false, offsetof(cairn_inlet_def, mass), CAIRN_POSITIVE, 1e30, "kg",
      "of each body; from the density when not given", NULL },
    { "group", CAIRN_OPTION_INTEGER, false, offsetof(cairn_inlet_def, group), 0, 30, "",
      "collision group of every body", NULL },
    { "mask", CAIRN_OPTION_INTEGER, false, offsetof(cairn_inlet_def, mask), 0, CAIRN_ALL_GROUPS, "",
      "groups that they may touch: the sum of 2^g over these groups g", NULL },
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

/* The definition of a body of an inlet with a given radius; position and orientation are set
 * later. */
static cairn_body_def body_of(const cairn_inlet_def *from, double radius, int dimension)
{
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_grain_shape(&from->shape, radius, dimension);
    def.material = from->material;
    def.density = from->density;
    def.mass = from->mass;
    def.velocity = from->velocity;
    def.group = from->group;
    def.mask = from->mask;
    return def;
}

/* Whether a body with this shape, mass and density can be created at all: checked now, because
 * later the inlet would silently release nothing. Spheres always can. */
static cairn_status check_body(const cairn_world *world, const cairn_inlet_def *def,
                               cairn_error *error)
{
    if (def->shape.kind == CAIRN_SHAPE_SPHERE)
        return CAIRN_OK;
    cairn_body_def body = body_of(def, cairn_shape_extent(&def->shape), world->dimension);
    return cairn_body_check(world, &body, error);
}

/* The checks of a body definition, as far as they can be made before radii are drawn. */
static cairn_status check(const cairn_world *world, const cairn_inlet_def *def, cairn_error *error)
{
    cairn_inlet_def given = *def;
    given.mass = def->mass == 0 ? 1 : def->mass; /* 0: not given */
    TRY(cairn_record_check(cairn_inlet_record(), &given, error));
    TRY(cairn_grain_check(&def->shape, &def->radius, world->dimension, error));
    TRY(cairn_distribution_check(&def->radius, error));
    TRY(cairn_grain_check_grading(&def->radius, def->mass > 0, error));
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

/* After a failure the world is as before: the lists are copied before the inlet is appended, and
 * the first copy is freed if the second fails. */
cairn_status cairn_inlet_create(cairn_world *world, const cairn_inlet_def *def)
{
    cairn_inlet_def own = *def;
    world->error = (cairn_error){ 0 };
    own.radius = cairn_grain_radii(&def->shape, &def->radius);
    own.radius.power = world->dimension;
    TRY(check(world, &own, &world->error));
    TRY(cairn_memory_reserve((void **)&world->inlets.items, &world->inlets.capacity,
                             world->inlets.count + 1, sizeof *world->inlets.items));
    /* the world owns the lists of the distribution and holds the geometry of the shape */
    cairn_inlet inlet = { .def = own, .state = (uint64_t)def->seed };
    TRY(cairn_memory_own_list(&inlet.def.radius.values));
    if (cairn_memory_own_list(&inlet.def.radius.weights) != CAIRN_OK) {
        cairn_memory_free((void *)inlet.def.radius.values.values);
        return CAIRN_NO_MEMORY;
    }
    cairn_geometry_retain(own.shape.geometry);
    world->inlets.items[world->inlets.count++] = inlet;
    world->bodies.grouped =
        world->bodies.grouped || def->group != 0 || def->mask != CAIRN_ALL_GROUPS;
    return CAIRN_OK;
}

void cairn_inlets_release(cairn_world *world)
{
    for (size_t k = 0; k < world->inlets.count; k++) {
        cairn_distribution *radius = &world->inlets.items[k].def.radius;
        cairn_memory_free((void *)radius->values.values);
        cairn_memory_free((void *)radius->weights.values);
        cairn_geometry_release(world->inlets.items[k].def.shape.geometry);
        for (size_t i = 0; i < world->inlets.items[k].queued; i++)
            cairn_geometry_release(world->inlets.items[k].queue[i].shape.geometry);
        cairn_memory_free(world->inlets.items[k].queue);
    }
    world->inlets.count = 0;
    cairn_memory_free(world->inlets.outlets.items);
    world->inlets.outlets = (cairn_outlet_list){ 0 };
}

/* ---- pouring -------------------------------------------------------------------------------- */

/* The integral of the rate from the start to a time. */
static double flow_at(const cairn_inlet *inlet, double time)
{
    return inlet->varies ? inlet->flow : inlet->def.rate * (time - inlet->def.start);
}

/* An inlet that has begun keeps the number of bodies that are due by now: with a constant rate this
 * is floor(flow) + 1, with one that varies floor(flow), so both integrals grow by 1. */
void cairn_inlet_vary(cairn_inlet *inlet, double time)
{
    bool begun = !inlet->varies && (inlet->released > 0 || inlet->waiting > 0);
    if (begun) {
        inlet->flow = flow_at(inlet, time) + 1;
        inlet->turn += 1;
    }
    inlet->varies = true;
}

/* The number of bodies that an inlet should have released at a time and has not. The factor 1 +
 * 1e-12 makes up for rounding when rate (t - start) should be a whole number. With a constant rate
 * the first body comes at the start; with a rate that varies, the n-th one when the integral of the
 * rate reaches n. */
static int64_t owed(const cairn_inlet *inlet, double time)
{
    const cairn_inlet_def *def = &inlet->def;
    if (time < def->start)
        return 0;
    double flow = flow_at(inlet, time);
    /* doubles until the minimum is taken: the product may exceed any integer */
    double due = floor(flow * (1 + 1e-12)) + !inlet->varies;
    double most = fmin(due, (double)def->count);
    return (int64_t)most - inlet->released;
}

cairn_inlet_state cairn_world_inlet(const cairn_world *world, int index)
{
    if (index < 0 || (size_t)index >= world->inlets.count)
        return (cairn_inlet_state){ 0 };
    const cairn_inlet *inlet = &world->inlets.items[index];
    return (cairn_inlet_state){ inlet->def.count, inlet->released, owed(inlet, world->time) };
}

/* The number of bodies that inlets have not released yet, at any time. */
int64_t cairn_world_inlet_pending(const cairn_world *world)
{
    int64_t pending = 0;
    for (size_t k = 0; k < world->inlets.count; k++)
        pending += world->inlets.items[k].def.count - world->inlets.items[k].released +
                   (int64_t)world->inlets.items[k].queued;
    return pending;
}

/* An upper bound on the bodies that can enter at that time, for reserving memory. */
size_t cairn_inlets_due(const cairn_world *world, double time)
{
    size_t due = 0;
    for (size_t k = 0; k < world->inlets.count; k++)
        due += (size_t)owed(&world->inlets.items[k], time) + world->inlets.items[k].queued;
    return due;
}

/* Uniform in the box or cylinder; the square root makes the density uniform over a disk. All random
 * numbers come from the state of the inlet, which is saved with the world. */
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

static cairn_bounds bounds_of(const cairn_collider *c)
{
    return (cairn_bounds){ cairn_sub(c->box.centre, c->box.half),
                           cairn_add(c->box.centre, c->box.half) };
}

/* Whether the box of a body, or of one of its images, reaches into a region. */
static bool is_near(const cairn_world *world, const cairn_collider *region,
                    const cairn_collider *body)
{
    if (!cairn_collider_bounded(body) || cairn_boxes_overlap(region, body))
        return true;
    const cairn_bounds a = bounds_of(body), b = bounds_of(region);
    return cairn_lattice_of(world) && cairn_lattice_joins(world, 0, &a, &b);
}

/* List, in bodies.list, walls and bodies whose box reaches into the region, and return their
 * number. The search box is a cube around the region and so may be larger than it. Ghosts are left
 * to their owners, who alone know where they are after the step. */
static int find_near(cairn_world *world, const cairn_inlet_def *def, double radius)
{
    cairn_vec3 half = cairn_scale(0.5, def->size);
    double reach = fmax(fmax(half.x, half.y), fmax(half.z, def->disk_radius));
    cairn_shape unused = { 0 };
    cairn_collider region = { .shape = &unused, .x = def->centre, .extent = reach + radius };
    cairn_lattice_enter(world, &region.x, &(cairn_vec3){ 0, 0, 0 });
    cairn_collider_enclose(&region);
    int count = 0;
    for (int i = 0; i < world->bodies.count; i++) {
        cairn_collider other = cairn_body_collider(world, i);
        if (other.shape && (i < world->bodies.held || cairn_world_moves(world, i)) &&
            is_near(world, &region, &other))
            world->bodies.list[count++] = i;
    }
    return count;
}

/* A body of which images may meet another one. */
typedef struct image_meeting {
    cairn_world *world;
    const cairn_collider *me, *other;
} image_meeting;

static bool meets_image(cairn_vec3 shift, void *context)
{
    const image_meeting *m = context;
    cairn_collider image = *m->other;
    cairn_collider_place(&image, (cairn_pose){ cairn_add(image.x, shift), image.q });
    return cairn_world_meet(m->world, m->me, &image);
}

/* Whether a body would touch another one or, in a periodic world, one of its images; a wall without
 * bounds has none. */
static bool meets(cairn_world *world, const cairn_collider *me, const cairn_collider *other)
{
    if (!cairn_lattice_of(world) || !cairn_collider_bounded(other))
        return cairn_world_meet(world, me, other);
    const cairn_bounds a = bounds_of(other), b = bounds_of(me);
    image_meeting m = { world, me, other };
    return cairn_lattice_search(world, 0, &a, &b, meets_image, &m);
}

/* Whether a body of this definition would touch none of the listed bodies. */
static bool is_free(cairn_world *world, int near_count, const cairn_body_def *def)
{
    cairn_collider me = { .shape = &def->shape };
    cairn_quat q = world->dimension == 2 ? cairn_quat_in_plane(def->angle) : def->orientation;
    cairn_collider_place(&me, (cairn_pose){ def->position, q });
    for (int k = 0; k < near_count; k++) {
        cairn_collider other = cairn_body_collider(world, world->bodies.list[k]);
        if (meets(world, &me, &other))
            return false;
    }
    return true;
}

/* The places at which a body is tried, and the random state after each of them. */
typedef struct trial {
    cairn_body_def def;
    uint64_t state;
} trial;

static void draw_trials(const cairn_world *world, const cairn_inlet *inlet, cairn_body_def def,
                        trial trials[TRIES])
{
    bool turned = inlet->def.turned && def.shape.kind != CAIRN_SHAPE_SPHERE;
    uint64_t state = inlet->state;
    for (int k = 0; k < TRIES; k++) {
        def.position = draw_place(&inlet->def, world->dimension, &state);
        def.velocity = inlet->def.velocity;
        cairn_lattice_enter(world, &def.position, &def.velocity);
        if (turned)
            cairn_grain_turn(world->dimension, &state, &def);
        trials[k] = (trial){ def, state };
    }
}

/* The first free place; TRIES: none is. Members know different bodies: the next proposal is the
 * last one of all their first free places, until it is free for all. */
static int find_free(cairn_world *world, int near_count, const trial trials[TRIES])
{
    cairn_link *link = world->exchange.link;
    int from, k = 0;
    do {
        from = k;
        while (k < TRIES && !is_free(world, near_count, &trials[k].def))
            k++;
        k = (int)cairn_link_largest(link, k);
    } while (link && k > from && k < TRIES);
    return k;
}

/* Create a body at a free place of the region; false if none was found, or if the body cannot be
 * created. The memory was reserved in the step, before its commit. */
static bool place(cairn_world *world, cairn_inlet *inlet, cairn_body_def *def, cairn_body_id *out)
{
    trial trials[TRIES];
    /* once for all tries: they are all in the same region */
    int near_count = find_near(world, &inlet->def, cairn_shape_extent(&def->shape));
    draw_trials(world, inlet, *def, trials);
    int k = find_free(world, near_count, trials);
    inlet->state = trials[k < TRIES ? k : TRIES - 1].state;
    if (k == TRIES)
        return false;
    *def = trials[k].def;
    return cairn_body_create(world, def, out) == CAIRN_OK;
}

/* Release a new body. One that finds no place keeps its radius and waits. */
static bool release(cairn_world *world, cairn_inlet *inlet)
{
    cairn_body_id id;
    const cairn_inlet_def *d = &inlet->def;
    if (inlet->waiting == 0 && cairn_distribution_graded(&d->radius))
        inlet->waiting = cairn_distribution_pick(&d->radius, (uint64_t)d->seed, inlet->released,
                                                 d->count, BLOCK);
    else if (inlet->waiting == 0)
        inlet->waiting = cairn_distribution_draw(&d->radius, &inlet->state);
    cairn_body_def def = body_of(&inlet->def, inlet->waiting, world->dimension);
    if (!place(world, inlet, &def, &id))
        return false;
    inlet->waiting = 0;
    inlet->released++;
    return true;
}

/* Release the first body of the queue, with its history: one more pass. */
static bool release_returning(cairn_world *world, cairn_inlet *inlet)
{
    const cairn_returning body = inlet->queue[0];
    cairn_body_def def = body_of(&inlet->def, 0, world->dimension);
    cairn_body_id id;
    def.shape = body.shape;
    def.mass = body.mass;
    def.material = body.material;
    def.group = body.group;
    def.mask = CAIRN_ALL_GROUPS & ~(int64_t)body.ignores;
    if (!place(world, inlet, &def, &id))
        return false;
    int row = cairn_body_row(world, id);
    if (row >= 0) { /* else another member has it */
        world->bodies.passes[row] = body.passes + 1;
        world->bodies.first[row] = body.first;
    }
    cairn_geometry_release(body.shape.geometry);
    inlet->queued--;
    memmove(inlet->queue, inlet->queue + 1, inlet->queued * sizeof *inlet->queue);
    return true;
}

/* Whether a body of the queue may come back now: after all new ones, at the rate of the inlet. */
static bool returns(const cairn_inlet *inlet, double time)
{
    return inlet->queued > 0 && inlet->released >= inlet->def.count && time >= inlet->def.start &&
           flow_at(inlet, time) * (1 + 1e-12) >= inlet->turn;
}

/* Returns the number of bodies that entered. An inlet without a free place does not block the
 * others. */
int cairn_inlets_pour(cairn_world *world)
{
    int entered = 0;
    if (world->inlets.count > 0)
        cairn_pile_return(world);
    for (size_t k = 0; k < world->inlets.count; k++) {
        cairn_inlet *inlet = &world->inlets.items[k];
        while (owed(inlet, world->time) > 0 && release(world, inlet))
            entered++;
        for (; returns(inlet, world->time) && release_returning(world, inlet); entered++)
            inlet->turn += 1; /* the next one when the integral of the rate has grown by 1 */
    }
    return entered;
}

/* A time without bodies does not count: those that come later still come back at the rate of the
 * inlet at most. */
cairn_status cairn_inlet_queue(cairn_inlet *inlet, const cairn_returning *body, double time)
{
    TRY(cairn_memory_reserve((void **)&inlet->queue, &inlet->queue_capacity, inlet->queued + 1,
                             sizeof *inlet->queue));
    if (inlet->queued == 0 && time >= inlet->def.start)
        inlet->turn = fmax(inlet->turn, flow_at(inlet, time));
    inlet->queue[inlet->queued++] = *body;
    cairn_geometry_retain(body->shape.geometry);
    return CAIRN_OK;
}

/* ==== outlets ================================================================================= */

cairn_outlet_def cairn_outlet_default(cairn_outlet_kind kind)
{
    return (cairn_outlet_def){
        .kind = kind, .stop = INFINITY, .normal = { 0, 0, 1 }, .after = INFINITY, .inlet = -1
    };
}

/* A record needs a function that sets the defaults of one kind without being told the kind. */
static void box_default(void *def)
{
    *(cairn_outlet_def *)def = cairn_outlet_default(CAIRN_OUTLET_BOX);
}

static void half_space_default(void *def)
{
    *(cairn_outlet_def *)def = cairn_outlet_default(CAIRN_OUTLET_HALF_SPACE);
}

static void height_default(void *def)
{
    *(cairn_outlet_def *)def = cairn_outlet_default(CAIRN_OUTLET_HEIGHT);
}

static void age_default(void *def)
{
    *(cairn_outlet_def *)def = cairn_outlet_default(CAIRN_OUTLET_AGE);
}

/* The options that all kinds share. */
#define OUTLET_TIMES                                                                               \
    { "start", CAIRN_OPTION_REAL, false, offsetof(cairn_outlet_def, start), ANY,                   \
      "s",     "when it opens",   NULL },                                                          \
    {                                                                                              \
        "stop", CAIRN_OPTION_REAL, false, offsetof(cairn_outlet_def, stop), -CAIRN_UNBOUNDED,      \
            INFINITY, "s", "when it closes", NULL                                                  \
    }

static const cairn_option box_options[] = {
    { "centre", CAIRN_OPTION_VECTOR, true, offsetof(cairn_outlet_def, centre), STATE, "m",
      "middle of the region", NULL },
    { "size", CAIRN_OPTION_VECTOR, true, offsetof(cairn_outlet_def, size), 0, 1e30, "m",
      "extents of the region", NULL },
    OUTLET_TIMES,
};
static const cairn_option half_space_options[] = {
    { "point", CAIRN_OPTION_VECTOR, true, offsetof(cairn_outlet_def, point), STATE, "m",
      "of the plane", NULL },
    { "normal", CAIRN_OPTION_VECTOR, true, offsetof(cairn_outlet_def, normal), STATE, "",
      "bodies on the other side leave", NULL },
    OUTLET_TIMES,
};
static const cairn_option height_options[] = {
    { "below", CAIRN_OPTION_REAL, true, offsetof(cairn_outlet_def, below), STATE, "m",
      "bodies with a smaller z (2D: y) leave", NULL },
    OUTLET_TIMES,
};
static const cairn_option age_options[] = {
    { "after", CAIRN_OPTION_REAL, true, offsetof(cairn_outlet_def, after), 0, INFINITY, "s",
      "lifetime of a body since it was created", NULL },
    OUTLET_TIMES,
};

const cairn_record *cairn_outlet_record(int kind)
{
    static const cairn_record records[CAIRN_OUTLET_COUNT] = {
        { "box", "bodies in a box leave", sizeof(cairn_outlet_def), box_default, box_options,
          CAIRN_COUNT(box_options) },
        { "half_space", "bodies behind a plane leave", sizeof(cairn_outlet_def), half_space_default,
          half_space_options, CAIRN_COUNT(half_space_options) },
        { "height", "bodies below a height leave", sizeof(cairn_outlet_def), height_default,
          height_options, CAIRN_COUNT(height_options) },
        { "age", "bodies leave at the end of their lifetime", sizeof(cairn_outlet_def), age_default,
          age_options, CAIRN_COUNT(age_options) },
    };
    return kind >= 0 && kind < CAIRN_OUTLET_COUNT ? &records[kind] : NULL;
}

static cairn_status check_outlet(const cairn_world *world, const cairn_outlet_def *def,
                                 cairn_error *error)
{
    if ((unsigned)def->kind >= CAIRN_OUTLET_COUNT)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "unknown outlet %d", (int)def->kind);
    TRY(cairn_record_check(cairn_outlet_record((int)def->kind), def, error));
    if (def->kind == CAIRN_OUTLET_HALF_SPACE && !(cairn_norm(def->normal) > 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, "normal", "found zero, expected a direction");
    if (!(def->stop > def->start))
        return cairn_fail(error, CAIRN_BAD_INPUT, "stop", "found %g, expected more than start, %g",
                          def->stop, def->start);
    if (def->inlet < -1 || def->inlet >= (int64_t)world->inlets.count)
        return cairn_fail(error, CAIRN_BAD_INPUT, "to", "there is no inlet %d", def->inlet);
    return CAIRN_OK;
}

cairn_status cairn_outlet_create(cairn_world *world, const cairn_outlet_def *def)
{
    cairn_outlet_list *list = &world->inlets.outlets;
    world->error = (cairn_error){ 0 };
    TRY(check_outlet(world, def, &world->error));
    TRY(cairn_memory_reserve((void **)&list->items, &list->capacity, list->count + 1,
                             sizeof *list->items));
    list->items[list->count++] = (cairn_outlet){ *def, { .last = -INFINITY } };
    return CAIRN_OK;
}

int cairn_world_inlet_count(const cairn_world *world)
{
    return (int)world->inlets.count;
}

int cairn_world_outlet_count(const cairn_world *world)
{
    return (int)world->inlets.outlets.count;
}

cairn_outlet_state cairn_world_outlet(const cairn_world *world, int index)
{
    const cairn_outlet_list *list = &world->inlets.outlets;
    return index >= 0 && (size_t)index < list->count ? list->items[index].state
                                                     : (cairn_outlet_state){ 0 };
}

/* ---- leaving -------------------------------------------------------------------------------- */

/* In 2D z is 0, and the extent of a box along z does not count. */
static bool is_in_box(const cairn_outlet_def *def, cairn_vec3 x, int dimension)
{
    cairn_vec3 d = cairn_sub(x, def->centre);
    return fabs(d.x) <= 0.5 * def->size.x && fabs(d.y) <= 0.5 * def->size.y &&
           (dimension == 2 || fabs(d.z) <= 0.5 * def->size.z);
}

static bool leaves(const cairn_world *world, const cairn_outlet_def *def, int i)
{
    cairn_vec3 x = world->bodies.x[i];
    if (world->time < def->start || world->time > def->stop)
        return false;
    switch (def->kind) {
    case CAIRN_OUTLET_BOX:
        return is_in_box(def, x, world->dimension);
    case CAIRN_OUTLET_HALF_SPACE:
        return cairn_dot(cairn_sub(x, def->point), def->normal) < 0;
    case CAIRN_OUTLET_HEIGHT:
        return (world->dimension == 2 ? x.y : x.z) < def->below;
    default: /* half a time step of slack would be arbitrary: rounding alone is made up for */
        return world->time - world->bodies.born[i] >= def->after * (1 - 1e-12);
    }
}

/* The outlet through which a body leaves: the first one; -1: it stays. */
static int find_outlet(const cairn_world *world, int i)
{
    const cairn_outlet_list *list = &world->inlets.outlets;
    for (size_t k = 0; k < list->count; k++)
        if (leaves(world, &list->items[k].def, i))
            return (int)k;
    return -1;
}

/* What all members must know of a body that leaves. Shapes have the same ids everywhere. */
typedef struct leaving {
    uint64_t uid, first;
    double mass, energy; /* kg, J: the latter in the gravity of the last step */
    int32_t outlet, shape, material, group, ignores, passes;
} leaving;

static leaving describe(const cairn_world *world, int i, int outlet)
{
    const cairn_body_store *b = &world->bodies;
    double energy = cairn_body_kinetic(world, i, b->v[i], b->omega[i]) -
                    b->mass[i] * cairn_dot(world->gravity, b->x[i]);
    return (leaving){ .uid = b->uid[i],
                      .first = b->first[i],
                      .mass = b->mass[i],
                      .energy = energy,
                      .outlet = outlet,
                      .shape = b->shape[i],
                      .material = b->material[i],
                      .group = b->group[i],
                      .ignores = b->ignores[i],
                      .passes = b->passes[i] };
}

/* Count a body, put it into the queue of its inlet, and remove it. */
static cairn_status leave(cairn_world *world, const leaving *body)
{
    cairn_outlet_list *list = &world->inlets.outlets;
    cairn_outlet *outlet = &list->items[body->outlet];
    cairn_returning returning = { world->bodies.shapes.items[body->shape],
                                  body->mass,
                                  body->material,
                                  body->group,
                                  body->ignores,
                                  body->passes,
                                  body->first };
    if (outlet->def.inlet >= 0)
        TRY(cairn_inlet_queue(&world->inlets.items[outlet->def.inlet], &returning, world->time));
    list->left++;
    list->mass += body->mass;
    list->energy += body->energy;
    outlet->state.left++;
    outlet->state.mass += body->mass;
    outlet->state.last = world->time;
    return cairn_body_destroy(world, (cairn_body_id){ body->uid });
}

/* By increasing uid, so that the sums, and the order in which bodies come back, depend neither on
 * rows nor on members. */
static int by_uid(const void *left, const void *right)
{
    uint64_t a = ((const leaving *)left)->uid, b = ((const leaving *)right)->uid;
    return (a > b) - (a < b);
}

/* List the bodies of this member that leave and return their number; `out` NULL: only count. */
static int find_leaving(const cairn_world *world, leaving *out)
{
    int count = 0;
    for (int i = world->bodies.held; i < world->bodies.count; i++) {
        int outlet = cairn_world_moves(world, i) ? find_outlet(world, i) : -1;
        if (outlet >= 0 && out)
            out[count] = describe(world, i, outlet);
        count += outlet >= 0;
    }
    return count;
}

/* Every member tells all others what leaves of its bodies: `own` bodies at the beginning of `all`,
 * which has room for those of all members. Messages are sent before any is received. */
static void tell_all(cairn_link *link, leaving *all, int own)
{
    size_t count = (size_t)own, bytes;
    for (int k = 0; link && k < link->members; k++)
        if (k != link->member)
            cairn_link_send(link, k, all, (size_t)own * sizeof *all);
    for (int k = 0; link && k < link->members; k++) {
        const void *others = k != link->member ? cairn_link_receive(link, k, &bytes) : NULL;
        if (!others)
            continue;
        memcpy(all + count, others, bytes);
        count += bytes / sizeof *all;
    }
}

/* When a body is removed, another one takes its row: bodies are named by uid. All members remove
 * the same bodies in the same order. */
cairn_status cairn_outlets_drain(cairn_world *world)
{
    cairn_link *link = world->exchange.link;
    if (world->inlets.outlets.count == 0)
        return CAIRN_OK;
    cairn_pile_return(world);
    int own = find_leaving(world, NULL);
    int64_t count = cairn_link_sum(link, own);
    if (count == 0)
        return CAIRN_OK;
    leaving *all = cairn_memory_zeroed((size_t)count, sizeof *all);
    TRY(cairn_exchange_agree(world, all ? CAIRN_OK : CAIRN_NO_MEMORY));
    find_leaving(world, all);
    tell_all(link, all, own);
    qsort(all, (size_t)count, sizeof *all, by_uid);
    cairn_status status = CAIRN_OK;
    for (int64_t k = 0; k < count && status == CAIRN_OK; k++)
        status = leave(world, &all[k]);
    cairn_memory_free(all);
    return cairn_exchange_agree(world, status);
}
