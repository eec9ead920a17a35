/* state.c - a world to bytes and back, with all that its future depends on: bodies with their
 * uids, rows and geometry, clocks, materials, drivers, loads, inlets with random states and
 * waiting radii, joints, and the contacts of the last step with their keys and impulses, which the
 * next one starts from.
 *
 * Left out is what a step makes anew before it reads it: scratch, the workspace of the solver, from
 * which no solver reads what an earlier call left; what cannot change a result: kept pairs; and the
 * function of cairn_world_on_force, which is the program's.
 *
 * What users define is written by its option table and made again by the function that makes it, so
 * its checks hold for bytes from anywhere; bodies, contacts and joints are columns of numbers. */
#include "world/state.h"

#include "base/status.h"
#include "shape/shape_bytes.h"

enum { VERSION = 3 };

/* Each failure of a reader is one of the bytes. */
cairn_status cairn_state_settle(const cairn_reader *r)
{
    return r->failed ? CAIRN_BAD_INPUT : CAIRN_OK;
}

/* ---- materials ------------------------------------------------------------------------------ */

static void write_material(cairn_writer *w, const cairn_material_def *def)
{
    const cairn_record *law = cairn_friction_law_record((int)def->friction_law.kind);
    cairn_write_record(w, cairn_material_record(), def);
    cairn_write_whole(w, (int64_t)def->friction_law.kind);
    if (law)
        cairn_write_record(w, law, &def->friction_law);
}

static void write_materials(cairn_writer *w, const cairn_world *world)
{
    size_t n = world->materials.count;
    cairn_write_whole(w, (int64_t)n);
    for (size_t a = 0; a < n; a++)
        write_material(w, &world->materials.items[a]);
    for (size_t a = 0; a < n; a++)
        for (size_t b = a; b < n; b++) {
            cairn_write_whole(w, world->materials.pair_given[a * n + b]);
            if (world->materials.pair_given[a * n + b])
                write_material(w, &world->materials.pairs[a * n + b]);
        }
}

static cairn_material_def read_material(cairn_reader *r)
{
    cairn_material_def def = cairn_material_def_default();
    cairn_read_record(r, cairn_material_record(), &def);
    int kind = (int)cairn_read_within(r, 0, CAIRN_FRICTION_COUNT - 1);
    const cairn_record *law = cairn_friction_law_record(kind);
    def.friction_law = cairn_friction_law_default((cairn_friction_kind)kind);
    if (law && !r->failed)
        cairn_read_record(r, law, &def.friction_law);
    return def;
}

static cairn_status read_materials(cairn_reader *r, cairn_world *world)
{
    int n = (int)cairn_read_count(r, 8);
    for (int a = 0; a < n; a++) {
        cairn_material_def def = read_material(r);
        TRY(cairn_state_settle(r));
        TRY(cairn_material_create(world, &def, NULL));
    }
    for (int a = 0; a < n; a++)
        for (int b = a; b < n; b++) {
            if (cairn_read_within(r, 0, 1) == 0)
                continue;
            cairn_material_def def = read_material(r);
            TRY(cairn_state_settle(r));
            TRY(cairn_material_pair_set(world, a, b, &def));
        }
    return cairn_state_settle(r);
}

/* ---- drivers and loads ---------------------------------------------------------------------- */

static void write_driven(cairn_writer *w, const cairn_world *world)
{
    cairn_write_whole(w, (int64_t)world->driven.count);
    for (size_t i = 0; i < world->driven.count; i++) {
        const cairn_driven *d = &world->driven.items[i];
        cairn_write_whole(w, (int64_t)d->uid);
        cairn_write_vector(w, d->x0);
        cairn_write_real(w, d->q0.w);
        cairn_write_vector(w, (cairn_vec3){ d->q0.x, d->q0.y, d->q0.z });
        cairn_write_real(w, d->angle0);
        cairn_write_real(w, d->since);
        cairn_write_whole(w, (int64_t)d->driver.kind);
        cairn_write_record(w, cairn_driver_record((int)d->driver.kind), &d->driver);
    }
}

static cairn_status read_driver(cairn_reader *r, cairn_world *world)
{
    cairn_driven d;
    int body = cairn_state_read_body(r, world);
    d.x0 = cairn_read_vector(r);
    d.q0.w = cairn_read_real(r);
    cairn_vec3 imaginary = cairn_read_vector(r);
    d.angle0 = cairn_read_real(r);
    d.since = cairn_read_real(r);
    int kind = (int)cairn_read_within(r, 0, CAIRN_DRIVER_COUNT - 1);
    d.driver = cairn_driver_default((cairn_driver_kind)kind);
    cairn_read_record(r, cairn_driver_record(kind), &d.driver);
    TRY(cairn_state_settle(r));
    TRY(cairn_driver_add(world, body, &d.driver));
    cairn_driven *made = &world->driven.items[world->driven.count - 1];
    made->x0 = d.x0;
    made->q0 = (cairn_quat){ d.q0.w, imaginary.x, imaginary.y, imaginary.z };
    made->angle0 = d.angle0;
    made->since = d.since;
    return CAIRN_OK;
}

static void write_loads(cairn_writer *w, const cairn_world *world)
{
    cairn_write_whole(w, (int64_t)world->loaded.count);
    for (size_t i = 0; i < world->loaded.count; i++) {
        const cairn_load *load = &world->loaded.items[i].load;
        cairn_write_whole(w, (int64_t)world->loaded.items[i].uid);
        cairn_write_whole(w, (int64_t)load->kind);
        cairn_write_record(w, cairn_load_record((int)load->kind), load);
    }
}

static cairn_status read_load(cairn_reader *r, cairn_world *world)
{
    int body = cairn_state_read_body(r, world);
    int kind = (int)cairn_read_within(r, 0, CAIRN_LOAD_COUNT - 1);
    cairn_load load = cairn_load_default((cairn_load_kind)kind);
    cairn_read_record(r, cairn_load_record(kind), &load);
    TRY(cairn_state_settle(r));
    return cairn_load_add(world, body, &load);
}

/* ---- inlets --------------------------------------------------------------------------------- */

/* The first shape of bodies that shares the data of one; -1: none does. */
static int find_holder(const cairn_world *world, const cairn_geometry *geometry)
{
    const cairn_shape_table *shapes = &world->bodies.shapes;
    for (int id = 0; geometry && id < shapes->count; id++)
        if (shapes->items[id].geometry == geometry)
            return id;
    return -1;
}

/* The shape of an inlet; data that it shares with bodies are theirs. */
static void write_shape(cairn_writer *w, const cairn_world *world, cairn_shape shape)
{
    const cairn_shape_list list = { &shape, sizeof shape, 1, world->dimension, false };
    int holder = find_holder(world, shape.geometry);
    cairn_write_whole(w, holder);
    if (holder >= 0)
        shape.geometry = NULL;
    cairn_shapes_write(w, &list);
}

/* The reader has a hold on the data, also after a failure. */
static cairn_status read_shape(cairn_reader *r, cairn_world *world, cairn_shape *out)
{
    const cairn_shape_list list = { out, sizeof *out, 1, world->dimension, false };
    *out = (cairn_shape){ 0 };
    int holder = (int)cairn_read_within(r, -1, world->bodies.shapes.count - 1);
    TRY(cairn_state_settle(r));
    TRY(cairn_shapes_read(r, &list, &world->error));
    if (holder < 0)
        return CAIRN_OK;
    cairn_geometry_release(out->geometry);
    out->geometry = cairn_geometry_retain(world->bodies.shapes.items[holder].geometry);
    return CAIRN_OK;
}

static void write_inlets(cairn_writer *w, const cairn_world *world)
{
    cairn_write_whole(w, (int64_t)world->inlets.count);
    for (size_t i = 0; i < world->inlets.count; i++) {
        const cairn_inlet *inlet = &world->inlets.items[i];
        const cairn_distribution *radius = &inlet->def.radius;
        cairn_write_record(w, cairn_inlet_record(), &inlet->def);
        cairn_write_whole(w, inlet->def.material);
        cairn_write_whole(w, (int64_t)radius->kind);
        cairn_write_record(w, cairn_distribution_record((int)radius->kind), radius);
        write_shape(w, world, inlet->def.shape);
        cairn_write_whole(w, (int64_t)inlet->state);
        cairn_write_whole(w, inlet->released);
        cairn_write_real(w, inlet->waiting);
    }
}

/* An inlet of a definition that was read, with what it has done so far. */
static cairn_status make_inlet(cairn_reader *r, cairn_world *world, const cairn_inlet_def *def)
{
    uint64_t state = (uint64_t)cairn_read_whole(r);
    int64_t released = cairn_read_within(r, 0, INT64_MAX);
    double waiting = cairn_read_real(r);
    TRY(cairn_state_settle(r));
    TRY(cairn_inlet_create(world, def));
    cairn_inlet *made = &world->inlets.items[world->inlets.count - 1];
    made->state = state;
    made->released = released;
    made->waiting = waiting;
    return CAIRN_OK;
}

static cairn_status read_inlet(cairn_reader *r, cairn_world *world)
{
    cairn_inlet_def def = cairn_inlet_def_default();
    cairn_read_record(r, cairn_inlet_record(), &def);
    def.material = (int)cairn_read_within(r, 0, (int64_t)world->materials.count - 1);
    int kind = (int)cairn_read_within(r, 0, CAIRN_DISTRIBUTION_COUNT - 1);
    def.radius = cairn_distribution_default((cairn_distribution_kind)kind);
    cairn_read_record(r, cairn_distribution_record(kind), &def.radius);
    cairn_status status = read_shape(r, world, &def.shape);
    if (status == CAIRN_OK)
        status = make_inlet(r, world, &def);
    cairn_geometry_release(def.shape.geometry);
    return status;
}

/* ---- the world ------------------------------------------------------------------------------ */

static void write_clock(cairn_writer *w, const cairn_world *world)
{
    cairn_write_real(w, world->time);
    cairn_write_real(w, world->clock.start);
    cairn_write_real(w, world->clock.step);
    cairn_write_whole(w, world->clock.count);
}

cairn_status cairn_world_save(const cairn_world *world, cairn_write_fn *write, void *context)
{
    cairn_writer w = { 0 };
    cairn_world_name_rows((cairn_world *)world);
    cairn_write_whole(&w, VERSION);
    cairn_write_whole(&w, world->dimension);
    cairn_write_vector(&w, world->gravity);
    write_materials(&w, world);
    cairn_state_write_bodies(&w, world);
    write_driven(&w, world);
    write_loads(&w, world);
    write_inlets(&w, world);
    cairn_state_write_joints(&w, world);
    cairn_state_write_contacts(&w, world);
    write_clock(&w, world);
    cairn_status status = w.failed ? CAIRN_NO_MEMORY : write(w.data, w.size, context);
    cairn_writer_destroy(&w);
    return status;
}

static cairn_status read_each(cairn_reader *r, cairn_world *world,
                              cairn_status (*read)(cairn_reader *, cairn_world *))
{
    size_t count = cairn_read_count(r, 8);
    for (size_t i = 0; i < count; i++)
        TRY(read(r, world));
    return cairn_state_settle(r);
}

/* The clock last: what is made before counts from the time 0 that it is told. */
static cairn_status read_world(cairn_reader *r, cairn_world *world)
{
    TRY(read_materials(r, world));
    TRY(cairn_state_read_bodies(r, world));
    TRY(read_each(r, world, read_driver));
    TRY(read_each(r, world, read_load));
    TRY(read_each(r, world, read_inlet));
    TRY(cairn_state_read_joints(r, world));
    TRY(cairn_state_read_contacts(r, world));
    world->time = cairn_read_real(r);
    world->clock.start = cairn_read_real(r);
    world->clock.step = cairn_read_real(r);
    world->clock.count = cairn_read_whole(r);
    r->failed = r->failed || r->at != r->size;
    return cairn_state_settle(r);
}

static cairn_status load(cairn_reader *r, cairn_world **out, cairn_error *error)
{
    int64_t version = cairn_read_whole(r);
    if (!r->failed && version != VERSION)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL, "the state has version %lld, expected %d",
                          (long long)version, VERSION);
    cairn_world_def def = cairn_world_def_default();
    def.dimension = cairn_read_within(r, 2, 3);
    def.gravity = cairn_read_vector(r);
    cairn_status status = cairn_state_settle(r);
    if (status == CAIRN_OK)
        status = cairn_world_create(&def, out);
    if (status == CAIRN_OK)
        status = read_world(r, *out);
    if (status != CAIRN_OK && *out && (*out)->error.message[0])
        return cairn_fail(error, status, (*out)->error.key, "%s", (*out)->error.message);
    if (status != CAIRN_OK)
        cairn_fail(error, status, NULL, "the state of the world is damaged near byte %zu of %zu",
                   r->at, r->size);
    return status;
}

cairn_status cairn_world_load(const void *data, size_t bytes, cairn_world **out, cairn_error *error)
{
    cairn_arena arena = { 0 };
    cairn_reader r = { .data = data, .size = bytes, .arena = &arena };
    *out = NULL;
    cairn_status status = load(&r, out, error);
    cairn_arena_destroy(&arena);
    if (status == CAIRN_OK)
        return CAIRN_OK;
    cairn_world_destroy(*out);
    *out = NULL;
    return status;
}
