/* state.c - converts a world to bytes and back, with everything that its future depends on: bodies
 * with their uids, rows and geometry, the periodic cell, clocks, materials, drivers, loads, inlets
 * with random states and waiting radii, joints, and the contacts of the last step with their keys
 * and impulses, from which the next step starts. A resumed run therefore continues with the same
 * bits (docs/checkpoints.md).
 *
 * Left out are data that a step recomputes before it reads them (scratch, and the workspace, from
 * which no solver reads the results of an earlier call), data that cannot change a result (kept
 * pairs), and the function of cairn_world_on_force, which belongs to the program.
 *
 * The bytes may come from anywhere and are not trusted. What users define is written by its option
 * table and created again by the function that creates it, so that its checks apply. Bodies,
 * contacts and joints are columns of numbers; indices in them are checked before they are used. */
#include "base/bytes.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "shape/geometry.h"
#include "shape/shape.h"

/* CAIRN_BAD_INPUT if the reader has failed. A reader that fails stays failed and returns zeros, so
 * it is enough to check before a value is used. */
static cairn_status settle(const cairn_reader *r)
{
    return r->failed ? CAIRN_BAD_INPUT : CAIRN_OK;
}

/* ==== bodies and contacts ===================================================================== */

/* Their columns are written and read in shares.c. */

/* ---- bodies --------------------------------------------------------------------------------- */

static cairn_shape_list shapes_of(const cairn_world *world)
{
    const cairn_shape_table *t = &world->bodies.shapes;
    return (cairn_shape_list){ t->items, sizeof *t->items, t->count, world->dimension, false };
}

/* All but their columns. */
static void write_bodies(cairn_writer *w, const cairn_world *world, int64_t rows)
{
    const cairn_body_store *b = &world->bodies;
    const cairn_shape_list shapes = shapes_of(world);
    cairn_write_whole(w, rows);
    cairn_write_whole(w, b->held);
    cairn_write_whole(w, (int64_t)b->next_uid);
    cairn_write_real(w, b->apart);
    cairn_write_real(w, b->far);
    cairn_row_cut_write(w, &b->cut);
    cairn_write_whole(w, b->shapes.count);
    cairn_shapes_write(w, &shapes);
}

/* Checks that uids are unique and below next_uid, that held bodies come first, and that shapes are
 * valid; fills the directory and the columns that follow from the shapes. */
static cairn_status check_bodies(cairn_reader *r, cairn_world *world)
{
    cairn_body_store *b = &world->bodies;
    for (int i = 0; i < b->count; i++) {
        bool held = b->motion[i] != CAIRN_MOTION_DYNAMIC;
        bool known = cairn_directory_find(&b->directory, b->uid[i]) >= 0;
        r->failed = r->failed || held != (i < b->held) || known || b->uid[i] >= b->next_uid ||
                    b->group[i] < 0 || b->group[i] > 30 || b->ignores[i] < 0;
        b->grouped = b->grouped || b->group[i] || b->ignores[i];
        TRY(settle(r));
        TRY(cairn_shape_check(cairn_body_shape(b, i), world->dimension, &world->error));
        cairn_body_measure(b, i);
        cairn_directory_set(&b->directory, b->uid[i], i);
    }
    return CAIRN_OK;
}

/* Reads the table of shapes as it was, with its free entries, since bodies name shapes by index. */
static cairn_status read_shapes(cairn_reader *r, cairn_world *world)
{
    cairn_shape_table *t = &world->bodies.shapes;
    size_t count = cairn_read_count(r, 8);
    TRY(settle(r));
    TRY(cairn_shapes_reserve(t, count));
    t->count = (int)count;
    const cairn_shape_list shapes = shapes_of(world);
    return cairn_shapes_read(r, &shapes, &world->error);
}

/* The counts come before any memory is taken, and cairn_read_count checks them against the number
 * of bytes left. Shapes come before the columns, whose indices refer to them. */
static cairn_status read_bodies(cairn_reader *r, cairn_world *world, cairn_saved *part)
{
    cairn_body_store *b = &world->bodies;
    part->count_at = r->at;
    int all = (int)cairn_read_count(r, 8);
    int held = (int)cairn_read_within(r, 0, all), count = part->survey ? held : all;
    uint64_t next_uid = (uint64_t)cairn_read_within(r, 0, INT64_MAX);
    double apart = cairn_read_real(r), far = cairn_read_real(r);
    TRY(settle(r));
    TRY(cairn_bodies_reserve(b, (size_t)count));
    b->count = count;
    b->held = held;
    b->next_uid = next_uid;
    b->apart = apart;
    b->far = far;
    TRY(cairn_row_cut_read(r, &b->cut));
    TRY(read_shapes(r, world));
    part->bodies_at = r->at;
    cairn_columns_read(r, world, &(cairn_columns_saved){ &cairn_columns_of_bodies, b, count, all });
    TRY(settle(r));
    part->middle_at = r->at;
    part->rows = all;
    part->held = held;
    if (!world->exchange.making) /* of a share, bodies elsewhere use shapes too */
        cairn_shapes_count(&b->shapes, b->shape, count);
    world->materials.laws.moving = cairn_read_within(r, 0, 1) != 0;
    TRY(settle(r));
    return check_bodies(r, world);
}

/* The row of a body that was written by its uid; fails if there is none. */
static int read_body(cairn_reader *r, const cairn_world *world)
{
    cairn_body_id id = { (uint64_t)cairn_read_within(r, 0, INT64_MAX) };
    int row = cairn_body_row(world, id);
    r->failed = r->failed || row < 0;
    return row;
}

/* ---- contacts ------------------------------------------------------------------------------- */

/* Whether a shape has this piece: a part of a compound, a face of a mesh, or (-1, -1) itself. */
static bool has_piece(const cairn_shape *shape, cairn_piece piece)
{
    const cairn_geometry *geometry = shape->geometry;
    if (piece.part < -1 || piece.face < -1)
        return false;
    if (piece.part >= 0) {
        if (!geometry || piece.part >= geometry->view.part_count)
            return false;
        geometry = geometry->view.parts[piece.part].shape.geometry;
    }
    return piece.face < 0 ||
           (geometry && geometry->patch && piece.face < geometry->view.face_count);
}

/* Whether each contact has two different bodies, and pieces that they have. Pieces are stored in
 * the order of uids. */
static bool are_possible(const cairn_world *world)
{
    const cairn_contact_store *c = &world->contacts;
    const cairn_body_store *b = &world->bodies;
    bool good = true;
    for (int j = 0; j < c->count && good; j++) {
        const int32_t *body = c->body + 2 * (size_t)j;
        int first = b->uid[body[0]] < b->uid[body[1]] ? 0 : 1;
        good = body[0] != body[1];
        for (int i = 0; i < 2 && good; i++)
            good = has_piece(cairn_body_shape(b, body[i ^ first]), cairn_contact_piece(c, j, i));
    }
    return good;
}

/* `set` and `moments` determine which columns follow, so both are checked against each other first.
 * The count is set last: a failure leaves no contacts that are half read. */
static cairn_status read_contacts(cairn_reader *r, cairn_world *world, cairn_saved *part)
{
    /* components of a rotation: 1 in 2D, 3 in 3D */
    int turns = 2 * world->dimension - 3;
    world->contacts.step = cairn_read_real(r);
    int64_t moments = cairn_read_within(r, 0, turns);
    unsigned set = (unsigned)cairn_read_within(r, 0, CAIRN_CONTACTS_ALL);
    size_t all = cairn_read_count(r, 8), count = part->survey ? 0 : all;
    bool turn = set & CAIRN_CONTACTS_TURN, images = set & CAIRN_CONTACTS_IMAGES;
    r->failed = r->failed || (all > 0 && moments != 0 && !turn) ||
                (moments != 0 && moments != turns) ||
                (all > 0 && images != (cairn_lattice_of(world) != NULL));
    TRY(settle(r));
    /* a survey reads none of them, but must know which columns there are */
    TRY(cairn_contacts_reserve(&world->contacts, part->survey && all > 0 ? 1 : count, set,
                               world->dimension));
    world->contacts.moments = (int)moments;
    part->contacts_at = r->at;
    part->contacts = (int64_t)all;
    cairn_columns_read(r, world,
                       &(cairn_columns_saved){ &cairn_columns_of_contacts, &world->contacts,
                                               (int)count, (int)all });
    TRY(settle(r));
    part->last_at = r->at;
    world->contacts.count = (int)count;
    if (!are_possible(world))
        return CAIRN_BAD_INPUT;
    world->contacts_sorted = cairn_contacts_are_sorted(&world->contacts);
    return CAIRN_OK;
}

/* ==== joints ================================================================================== */

/* Joints are written with their definition, their place in their bodies, and what the next step
 * starts from (counted turns, slip of gears, impulses, stored energy). */

/* A field of a joint that consists of reals only. */
typedef struct reals {
    size_t offset;
    int count;
} reals;

#define REALS(field)                                                                               \
    {                                                                                              \
        offsetof(cairn_joint, field), sizeof(((cairn_joint *)0)->field) / (sizeof(double))         \
    }
/* The reals of a joint that are saved, in the order of the format. */
static const reals kept[] = {
    REALS(def.anchor),
    REALS(def.anchor_b),
    REALS(def.axis),
    REALS(def.axis_b),
    REALS(def.length),
    REALS(def.pitch),
    REALS(def.ratio),
    REALS(def.stiffness),
    REALS(def.damping),
    REALS(def.break_force),
    REALS(def.turn_stiffness),
    REALS(anchor),
    REALS(def.turn_damping),
    REALS(def.break_torque),
    REALS(frame),
    REALS(turn),
    REALS(slide),
    REALS(phase),
    REALS(impulse),
    REALS(force),
    REALS(torque),
    REALS(drift),
    REALS(turn_drift),
    REALS(elastic),
    REALS(correction),
};

enum { KEPT = sizeof kept / sizeof kept[0] };

/* ---- writing -------------------------------------------------------------------------------- */

/* memcpy, because fields of vectors and quaternions are read as arrays of doubles. */
static void write_reals(cairn_writer *w, const cairn_joint *joint)
{
    for (int k = 0; k < KEPT; k++)
        for (int i = 0; i < kept[k].count; i++) {
            double value;
            memcpy(&value, (const char *)joint + kept[k].offset + (size_t)i * sizeof value,
                   sizeof value);
            cairn_write_real(w, value);
        }
}

static void write_joint(cairn_writer *w, const cairn_joint *joint)
{
    cairn_write_whole(w, (int64_t)joint->def.kind);
    cairn_write_whole(w, joint->alive);
    cairn_write_whole(w, joint->broken);
    cairn_write_whole(w, joint->generation);
    cairn_write_whole(w, joint->def.collide);
    cairn_write_whole(w, (int64_t)joint->def.a.uid);
    cairn_write_whole(w, (int64_t)joint->def.b.uid); /* the world, CAIRN_NO_BODY, becomes -1 */
    cairn_write_whole(w, joint->rows);
    for (int i = 0; i < 3; i++)
        cairn_write_whole(w, joint->image.k[i]);
    cairn_write_record(w, cairn_joint_drive_record(), &joint->def.turn);
    cairn_write_record(w, cairn_joint_drive_record(), &joint->def.slide);
    write_reals(w, joint);
}

static void write_joints(cairn_writer *w, const cairn_world *world)
{
    cairn_write_whole(w, (int64_t)world->joints.count);
    for (size_t k = 0; k < world->joints.count; k++)
        write_joint(w, &world->joints.items[k]);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* NaN is refused; infinite values pass. */
static void read_reals(cairn_reader *r, cairn_joint *joint)
{
    for (int k = 0; k < KEPT; k++)
        for (int i = 0; i < kept[k].count; i++) {
            double value = cairn_read_real(r);
            r->failed = r->failed || isnan(value);
            memcpy((char *)joint + kept[k].offset + (size_t)i * sizeof value, &value, sizeof value);
        }
}

static void read_joint(cairn_reader *r, cairn_joint *joint)
{
    *joint = (cairn_joint){ .def = cairn_joint_def_default() };
    joint->def.kind = (cairn_joint_kind)cairn_read_within(r, 0, CAIRN_JOINT_COUNT - 1);
    joint->alive = cairn_read_within(r, 0, 1) != 0;
    joint->broken = cairn_read_within(r, 0, 1) != 0;
    joint->generation = (uint32_t)cairn_read_within(r, 0, UINT32_MAX);
    joint->def.collide = cairn_read_within(r, 0, 1) != 0;
    joint->def.a.uid = (uint64_t)cairn_read_within(r, 0, INT64_MAX);
    joint->def.b.uid = (uint64_t)cairn_read_within(r, -1, INT64_MAX);
    joint->rows = (int)cairn_read_within(r, 0, CAIRN_JOINT_ROWS);
    for (int i = 0; i < 3; i++)
        joint->image.k[i] = (int32_t)cairn_read_within(r, -(1 << 24), 1 << 24);
    cairn_read_record(r, cairn_joint_drive_record(), &joint->def.turn);
    cairn_read_record(r, cairn_joint_drive_record(), &joint->def.slide);
    read_reals(r, joint);
}

/* A share knows the joints and loads of all bodies, wherever they are. */
static bool may_exist(const cairn_world *world, cairn_body_id body)
{
    return world->exchange.making || cairn_body_row(world, body) >= 0;
}

/* A joint that is alive must exist in this dimension, between bodies that exist. */
static cairn_status check_joint(cairn_world *world, const cairn_joint *joint)
{
    cairn_body_id a = joint->def.a, b = joint->def.b;
    if (!joint->alive)
        return CAIRN_OK;
    if (!cairn_joint_exists(joint->def.kind, world->dimension) || !may_exist(world, a) ||
        (b.uid != CAIRN_NO_BODY && !may_exist(world, b)))
        return CAIRN_BAD_INPUT;
    TRY(cairn_record_check(cairn_joint_drive_record(), &joint->def.turn, &world->error));
    return cairn_record_check(cairn_joint_drive_record(), &joint->def.slide, &world->error);
}

/* Memory for the list of joined pairs is taken as well, because cairn_joints_index cannot fail. */
static cairn_status read_joints(cairn_reader *r, cairn_world *world)
{
    size_t count = cairn_read_count(r, sizeof(double));
    r->failed = r->failed || count > INT32_MAX / CAIRN_JOINT_ROWS;
    TRY(settle(r));
    TRY(cairn_memory_reserve((void **)&world->joints.items, &world->joints.capacity, count,
                             sizeof *world->joints.items));
    TRY(cairn_memory_reserve((void **)&world->joints.joined, &world->joints.joined_capacity, count,
                             sizeof *world->joints.joined));
    for (size_t k = 0; k < count; k++) {
        read_joint(r, &world->joints.items[k]);
        TRY(settle(r));
        TRY(check_joint(world, &world->joints.items[k]));
    }
    world->joints.count = count;
    cairn_joints_index(world);
    return CAIRN_OK;
}

/* ==== a whole world =========================================================================== */

enum { VERSION = 8 }; /* of the format; other versions are refused */

/* A reader that has failed counts as damaged bytes, CAIRN_BAD_INPUT. */

/* ---- drivers and loads ---------------------------------------------------------------------- */

/* The start of the motion is written as well: the pose of a driven body follows from it. */
static void write_driven(cairn_writer *w, const cairn_world *world)
{
    cairn_write_whole(w, (int64_t)world->driven.count);
    for (size_t i = 0; i < world->driven.count; i++) {
        const cairn_driven *d = &world->driven.items[i];
        cairn_write_whole(w, (int64_t)d->uid);
        cairn_write_vector(w, d->x0);
        cairn_write_rotation(w, d->q0);
        cairn_write_real(w, d->angle0);
        cairn_write_real(w, d->since);
        cairn_write_real(w, d->until);
        cairn_write_vector(w, d->moved);
        cairn_write_real(w, d->turned);
        cairn_write_whole(w, (int64_t)d->driver.kind);
        cairn_write_record(w, cairn_driver_record((int)d->driver.kind), &d->driver);
    }
}

/* cairn_driver_add takes pose and time of now as the start; they are replaced by those saved. */
static cairn_status read_driver(cairn_reader *r, cairn_world *world)
{
    cairn_driven d;
    int body = read_body(r, world);
    d.x0 = cairn_read_vector(r);
    d.q0 = cairn_read_rotation(r);
    d.angle0 = cairn_read_real(r);
    d.since = cairn_read_real(r);
    d.until = cairn_read_real(r);
    d.moved = cairn_read_vector(r);
    d.turned = cairn_read_real(r);
    int kind = (int)cairn_read_within(r, 0, CAIRN_DRIVER_COUNT - 1);
    d.driver = cairn_driver_default((cairn_driver_kind)kind);
    cairn_read_record(r, cairn_driver_record(kind), &d.driver);
    TRY(settle(r));
    TRY(cairn_driver_add(world, body, &d.driver));
    cairn_driven *made = &world->driven.items[world->driven.count - 1];
    made->x0 = d.x0;
    made->q0 = d.q0;
    made->angle0 = d.angle0;
    made->since = d.since;
    made->until = d.until;
    made->moved = d.moved;
    made->turned = d.turned;
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
    uint64_t uid = (uint64_t)cairn_read_within(r, 0, (int64_t)world->bodies.next_uid - 1);
    r->failed = r->failed || !may_exist(world, (cairn_body_id){ uid });
    int kind = (int)cairn_read_within(r, 0, CAIRN_LOAD_COUNT - 1);
    cairn_load load = cairn_load_default((cairn_load_kind)kind);
    cairn_read_record(r, cairn_load_record(kind), &load);
    TRY(settle(r));
    return cairn_load_add(world, uid, &load);
}

/* Pushes of the next step. What was changed is part of the states of bodies. */
static void write_pushes(cairn_writer *w, const cairn_world *world)
{
    const cairn_applied *applied = &world->loaded.applied;
    cairn_write_whole(w, (int64_t)applied->push_count);
    for (size_t i = 0; i < applied->push_count; i++) {
        cairn_write_whole(w, (int64_t)applied->pushes[i].uid);
        cairn_write_vector(w, applied->pushes[i].force);
        cairn_write_vector(w, applied->pushes[i].torque);
    }
}

/* A body that is gone is not pushed. */
static cairn_status read_push(cairn_reader *r, cairn_world *world)
{
    cairn_body_id body = { (uint64_t)cairn_read_whole(r) };
    cairn_vec3 force = cairn_read_vector(r), torque = cairn_read_vector(r);
    TRY(settle(r));
    if (world->exchange.making || world->exchange.link) /* it may be elsewhere */
        return cairn_applied_push(world, &(cairn_pushed){ body.uid, force, torque });
    cairn_status status = cairn_body_push(world, body, force, torque);
    return status == CAIRN_NOT_FOUND ? CAIRN_OK : status;
}

/* ---- inlets --------------------------------------------------------------------------------- */

/* The first entry of the shape table that shares this geometry; -1 if there is none. */
static int find_holder(const cairn_world *world, const cairn_geometry *geometry)
{
    const cairn_shape_table *shapes = &world->bodies.shapes;
    for (int id = 0; geometry && id < shapes->count; id++)
        if (shapes->items[id].geometry == geometry)
            return id;
    return -1;
}

/* The shape of an inlet. Geometry that it shares with a body is written once, as the index of that
 * shape. */
static void write_shape(cairn_writer *w, const cairn_world *world, cairn_shape shape)
{
    const cairn_shape_list list = { &shape, sizeof shape, 1, world->dimension, false };
    int holder = find_holder(world, shape.geometry);
    cairn_write_whole(w, holder);
    if (holder >= 0)
        shape.geometry = NULL;
    cairn_shapes_write(w, &list);
}

/* Reads the shape of an inlet. The caller owns a reference to its geometry, even after a
 * failure. */
static cairn_status read_shape(cairn_reader *r, cairn_world *world, cairn_shape *out)
{
    const cairn_shape_list list = { out, sizeof *out, 1, world->dimension, false };
    *out = (cairn_shape){ 0 };
    int holder = (int)cairn_read_within(r, -1, world->bodies.shapes.count - 1);
    TRY(settle(r));
    TRY(cairn_shapes_read(r, &list, &world->error));
    if (holder < 0)
        return CAIRN_OK;
    cairn_geometry_release(out->geometry);
    out->geometry = cairn_geometry_retain(world->bodies.shapes.items[holder].geometry);
    return CAIRN_OK;
}

/* The bodies that wait to come back. */
static void write_queue(cairn_writer *w, const cairn_world *world, const cairn_inlet *inlet)
{
    cairn_write_real(w, inlet->turn);
    cairn_write_whole(w, (int64_t)inlet->queued);
    for (size_t i = 0; i < inlet->queued; i++) {
        const cairn_returning *body = &inlet->queue[i];
        write_shape(w, world, body->shape);
        cairn_write_real(w, body->mass);
        cairn_write_whole(w, body->material);
        cairn_write_whole(w, body->group);
        cairn_write_whole(w, body->ignores);
        cairn_write_whole(w, body->passes);
        cairn_write_whole(w, (int64_t)body->first);
    }
}

static cairn_status read_returning(cairn_reader *r, cairn_world *world, cairn_returning *out)
{
    TRY(read_shape(r, world, &out->shape));
    out->mass = cairn_read_real(r);
    out->material = (int)cairn_read_within(r, 0, (int64_t)world->materials.count - 1);
    out->group = (int32_t)cairn_read_within(r, 0, 30);
    out->ignores = (int32_t)cairn_read_within(r, 0, CAIRN_ALL_GROUPS);
    out->passes = (int32_t)cairn_read_within(r, 0, INT32_MAX);
    out->first = (uint64_t)cairn_read_within(r, 0, INT64_MAX);
    TRY(settle(r));
    return cairn_shape_check(&out->shape, world->dimension, &world->error);
}

/* The queue holds its own reference to the geometry, so the one of reading is released. */
static cairn_status read_queue(cairn_reader *r, cairn_world *world, cairn_inlet *inlet)
{
    double turn = cairn_read_real(r);
    size_t count = cairn_read_count(r, 8);
    for (size_t i = 0; i < count; i++) {
        cairn_returning body = { 0 };
        cairn_status status = read_returning(r, world, &body);
        if (status == CAIRN_OK)
            status = cairn_inlet_queue(inlet, &body, 0);
        cairn_geometry_release(body.shape.geometry);
        TRY(status);
    }
    inlet->turn = turn;
    return settle(r);
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
        cairn_write_real(w, inlet->flow);
        write_queue(w, world, inlet);
    }
}

/* Creates an inlet from its definition, and restores its progress. */
static cairn_status make_inlet(cairn_reader *r, cairn_world *world, const cairn_inlet_def *def)
{
    uint64_t state = (uint64_t)cairn_read_whole(r);
    int64_t released = cairn_read_within(r, 0, INT64_MAX);
    double waiting = cairn_read_real(r), flow = cairn_read_real(r);
    TRY(settle(r));
    TRY(cairn_inlet_create(world, def));
    cairn_inlet *made = &world->inlets.items[world->inlets.count - 1];
    made->state = state;
    made->released = released;
    made->waiting = waiting;
    made->flow = flow;
    made->varies = flow > 0; /* of a constant rate it is 0 */
    return read_queue(r, world, made);
}

/* cairn_inlet_create takes a reference to the geometry of its own, so this one is always
 * released. */
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

/* A counted list of entries; each has at least 8 bytes, which bounds the count. */
static cairn_status read_each(cairn_reader *r, cairn_world *world,
                              cairn_status (*read)(cairn_reader *, cairn_world *))
{
    size_t count = cairn_read_count(r, 8);
    for (size_t i = 0; i < count; i++)
        TRY(read(r, world));
    return settle(r);
}

/* ---- outlets -------------------------------------------------------------------------------- */

static void write_outlets(cairn_writer *w, const cairn_world *world)
{
    const cairn_outlet_list *list = &world->inlets.outlets;
    cairn_write_whole(w, list->left);
    cairn_write_real(w, list->mass);
    cairn_write_real(w, list->energy);
    cairn_write_whole(w, (int64_t)list->count);
    for (size_t k = 0; k < list->count; k++) {
        const cairn_outlet *outlet = &list->items[k];
        cairn_write_whole(w, (int64_t)outlet->def.kind);
        cairn_write_record(w, cairn_outlet_record((int)outlet->def.kind), &outlet->def);
        cairn_write_whole(w, outlet->def.inlet);
        cairn_write_whole(w, outlet->state.left);
        cairn_write_real(w, outlet->state.mass);
        cairn_write_real(w, outlet->state.last);
    }
}

static cairn_status read_outlet(cairn_reader *r, cairn_world *world)
{
    int kind = (int)cairn_read_within(r, 0, CAIRN_OUTLET_COUNT - 1);
    cairn_outlet_def def = cairn_outlet_default((cairn_outlet_kind)kind);
    cairn_read_record(r, cairn_outlet_record(kind), &def);
    def.inlet = (int)cairn_read_within(r, -1, INT32_MAX);
    cairn_outlet_state state = { .left = cairn_read_within(r, 0, INT64_MAX) };
    state.mass = cairn_read_real(r);
    state.last = cairn_read_real(r);
    TRY(settle(r));
    TRY(cairn_outlet_create(world, &def));
    world->inlets.outlets.items[world->inlets.outlets.count - 1].state = state;
    return CAIRN_OK;
}

static cairn_status read_outlets(cairn_reader *r, cairn_world *world)
{
    world->inlets.outlets.left = (int)cairn_read_within(r, 0, INT32_MAX);
    world->inlets.outlets.mass = cairn_read_real(r);
    world->inlets.outlets.energy = cairn_read_real(r);
    return read_each(r, world, read_outlet);
}

/* ---- the world ------------------------------------------------------------------------------ */

void cairn_state_write_first(cairn_writer *w, const cairn_world *world, int64_t rows)
{
    cairn_write_whole(w, VERSION);
    cairn_write_whole(w, world->dimension);
    cairn_write_vector(w, world->gravity);
    cairn_lattice_write(w, world);
    cairn_materials_write(w, world);
    write_bodies(w, world, rows);
}

void cairn_state_write_middle(cairn_writer *w, const cairn_world *world, int64_t contacts)
{
    cairn_write_whole(w, world->materials.laws.moving);
    write_driven(w, world);
    write_loads(w, world);
    write_pushes(w, world);
    write_inlets(w, world);
    write_outlets(w, world);
    write_joints(w, world);
    cairn_varied_write(w, world);
    cairn_write_real(w, world->contacts.step);
    cairn_write_whole(w, world->contacts.moments);
    cairn_write_whole(w, world->contacts.set);
    cairn_write_whole(w, contacts);
}

void cairn_state_write_last(cairn_writer *w, const cairn_world *world)
{
    cairn_write_real(w, world->time);
    cairn_write_real(w, world->clock.start);
    cairn_write_real(w, world->clock.step);
    cairn_write_whole(w, world->clock.count);
    cairn_cells_write(w, world);
}

/* What is done of a step that was divided when the world was saved: a multiple of the length of
 * the last substep, which the contacts have. */
static void find_done(cairn_world *world)
{
    cairn_world_clock *clock = &world->clock;
    double share = world->contacts.step / clock->step;
    if (!(share > 0 && share < 1))
        return;
    double done = (world->time - clock->start) / clock->step - (double)clock->count;
    clock->share = share;
    clock->done = fmin(fmax(share * round(done / share), 0), 1 - share);
}

/* Reads in the order of cairn_world_save: what others refer to comes first. The clock comes last
 * but for cells: everything created before it is created at time 0. Bytes left over are an
 * error. */
static cairn_status read_world(cairn_reader *r, cairn_world *world, cairn_saved *part)
{
    TRY(cairn_lattice_read(r, world));
    TRY(cairn_materials_read(r, world));
    TRY(read_bodies(r, world, part));
    TRY(read_each(r, world, read_driver));
    TRY(read_each(r, world, read_load));
    TRY(read_each(r, world, read_push));
    TRY(read_each(r, world, read_inlet));
    TRY(read_outlets(r, world));
    TRY(read_joints(r, world));
    TRY(read_each(r, world, cairn_varied_read));
    TRY(read_contacts(r, world, part));
    world->time = cairn_read_real(r);
    world->clock.start = cairn_read_real(r);
    world->clock.step = cairn_read_real(r);
    world->clock.count = cairn_read_whole(r);
    find_done(world);
    if (!r->failed && r->at < r->size)
        TRY(cairn_cells_read(r, world));
    r->failed = r->failed || r->at != r->size;
    return settle(r);
}

/* A message of the check that failed is passed on; otherwise the error gives the place in the
 * bytes. */
static cairn_status load(cairn_reader *r, cairn_saved *part, cairn_world **out, cairn_error *error)
{
    int64_t version = cairn_read_whole(r);
    if (!r->failed && version != VERSION)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL, "the state has version %lld, expected %d",
                          (long long)version, VERSION);
    cairn_world_def def = cairn_world_def_default();
    def.dimension = cairn_read_within(r, 2, 3);
    def.gravity = cairn_read_vector(r);
    cairn_status status = settle(r);
    if (status == CAIRN_OK)
        status = cairn_world_create(&def, out);
    if (status == CAIRN_OK && part->share)
        status = cairn_world_share(*out, 0, 0);
    if (status == CAIRN_OK)
        status = read_world(r, *out, part);
    if (status != CAIRN_OK && *out && (*out)->error.message[0])
        return cairn_fail(error, status, (*out)->error.key, "%s", (*out)->error.message);
    if (status != CAIRN_OK)
        cairn_fail(error, status, NULL, "the state of the world is damaged near byte %zu of %zu",
                   r->at, r->size);
    return status;
}

/* On failure no world is returned, and nothing remains allocated. */
cairn_status cairn_state_load(const void *data, size_t bytes, cairn_saved *part, cairn_world **out,
                              cairn_error *error)
{
    cairn_arena arena = { 0 };
    cairn_reader r = { .data = data, .size = bytes, .arena = &arena };
    *out = NULL;
    cairn_status status = load(&r, part, out, error);
    cairn_arena_destroy(&arena);
    if (status == CAIRN_OK)
        return CAIRN_OK;
    cairn_world_destroy(*out);
    *out = NULL;
    return status;
}

cairn_status cairn_world_load(const void *data, size_t bytes, cairn_world **out, cairn_error *error)
{
    cairn_saved whole = { .share = false };
    return cairn_state_load(data, bytes, &whole, out, error);
}

/* ==== what a caller applied to a world ======================================================== */

static void write_change(cairn_writer *w, const cairn_change *change)
{
    const cairn_body_state *s = &change->state;
    cairn_write_whole(w, (int64_t)change->uid);
    cairn_write_vector(w, s->x);
    cairn_write_rotation(w, s->q);
    cairn_write_real(w, s->angle);
    cairn_write_vector(w, s->v);
    cairn_write_vector(w, s->omega);
    cairn_write_whole(w, change->material);
}

static cairn_status read_change(cairn_reader *r, cairn_world *world)
{
    cairn_change change = { .uid = (uint64_t)cairn_read_within(r, 0, INT64_MAX) };
    cairn_body_state *s = &change.state;
    s->x = cairn_read_vector(r);
    s->q = cairn_read_rotation(r);
    s->angle = cairn_read_real(r);
    s->v = cairn_read_vector(r);
    s->omega = cairn_read_vector(r);
    change.material = (int)cairn_read_within(r, 0, (int64_t)world->materials.count - 1);
    TRY(settle(r));
    return cairn_applied_change(world, &change);
}

/* Whether two worlds have the same materials, or the same functions of time: by their bytes, what
 * differs has other bytes. A callback has none, and is like no other. */
static bool is_same(const cairn_world *one, const cairn_world *other,
                    void (*write)(cairn_writer *, const cairn_world *))
{
    cairn_writer a = { 0 }, b = { 0 };
    write(&a, one);
    write(&b, other);
    bool same = !a.failed && !b.failed && a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
    cairn_writer_destroy(&a);
    cairn_writer_destroy(&b);
    return same;
}

bool cairn_world_alike(const cairn_world *one, const cairn_world *other)
{
    return is_same(one, other, cairn_materials_write) && is_same(one, other, cairn_varied_write);
}

/* Materials and functions of time, if they are not those of the other world. */
static void write_laws(cairn_writer *w, const cairn_world *world, const cairn_world *other,
                       double h)
{
    bool materials = !is_same(world, other, cairn_materials_write);
    bool varied = materials || !is_same(world, other, cairn_varied_write);
    cairn_write_whole(w, materials);
    if (materials)
        cairn_materials_write(w, world);
    cairn_write_whole(w, varied);
    if (varied)
        cairn_varied_tell(w, world, h);
}

/* Functions of time end first: friction that follows one has no other law. They come again after
 * the materials. */
static cairn_status read_laws(cairn_reader *r, cairn_world *world)
{
    if (cairn_read_within(r, 0, 1) == 1) {
        cairn_varied_release(world);
        TRY(cairn_materials_read(r, world));
    }
    if (cairn_read_within(r, 0, 1) == 1) {
        cairn_varied_release(world);
        TRY(read_each(r, world, cairn_varied_hear));
    }
    return settle(r);
}

/* Materials come first: bodies refer to them. */
cairn_status cairn_world_applied(const cairn_world *world, const cairn_world *other, double h,
                                 cairn_write_fn *write, void *context)
{
    const cairn_applied *applied = &world->loaded.applied;
    cairn_writer w = { 0 };
    if (cairn_drivers_call(world))
        return CAIRN_UNSUPPORTED;
    write_laws(&w, world, other, h);
    cairn_write_whole(&w, (int64_t)applied->changes.count);
    for (size_t k = 0; k < applied->changes.count; k++)
        write_change(&w, &applied->changes.items[k]);
    cairn_write_real(&w, applied->energy);
    write_pushes(&w, world);
    write_driven(&w, world);
    for (size_t k = 0; k < world->joints.count; k++) {
        cairn_write_real(&w, world->joints.items[k].def.turn.target);
        cairn_write_real(&w, world->joints.items[k].def.slide.target);
    }
    cairn_status status = w.failed ? CAIRN_NO_MEMORY : write(w.data, w.size, context);
    cairn_writer_destroy(&w);
    return status;
}

/* Drivers are replaced by those of the other world, which may be the same. */
static cairn_status apply(cairn_reader *r, cairn_world *world)
{
    TRY(read_laws(r, world));
    TRY(read_each(r, world, read_change));
    world->loaded.applied.energy = cairn_read_real(r);
    TRY(read_each(r, world, read_push));
    cairn_drivers_clear(&world->driven);
    TRY(read_each(r, world, read_driver));
    for (size_t k = 0; k < world->joints.count; k++) {
        world->joints.items[k].def.turn.target = cairn_read_real(r);
        world->joints.items[k].def.slide.target = cairn_read_real(r);
    }
    return settle(r);
}

cairn_status cairn_world_apply(cairn_world *world, const void *data, size_t bytes)
{
    cairn_arena arena = { 0 };
    cairn_reader r = { .data = data, .size = bytes, .arena = &arena };
    world->error = (cairn_error){ 0 };
    cairn_status status = apply(&r, world);
    cairn_arena_destroy(&arena);
    return status;
}
