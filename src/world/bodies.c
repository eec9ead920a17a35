/* bodies.c - creating and removing bodies, and the table of their shapes.
 *
 * A body is stored as one row of every column (store.h). Rows are dense: held bodies first, then
 * the dynamic ones. The uid of a body never changes; its row may. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "math/vec.h"
#include "shape/shape.h"
#include "world/store.h"
#include "world/world.h"

/* ---- storage -------------------------------------------------------------------------------- */

/* Enlarge one column; `capacity` becomes the new capacity of all. If a later column fails, this one
 * stays larger than the capacity says, which is harmless. */
static cairn_status grow(cairn_body_store *bodies, int k, size_t count, size_t *capacity)
{
    const cairn_column_list *list = &cairn_columns_of_bodies;
    void *rows = cairn_column_get(list, k, bodies);
    *capacity = bodies->capacity;
    TRY(cairn_memory_reserve(&rows, capacity, count, cairn_column_row(&list->items[k], 3)));
    cairn_column_set(list, k, bodies, rows);
    return CAIRN_OK;
}

cairn_status cairn_bodies_reserve(cairn_body_store *bodies, size_t count)
{
    /* two lists of rows besides the columns */
    int32_t **lists[] = { &bodies->was, &bodies->list };
    size_t capacity = bodies->capacity, each = 2 * sizeof **lists[0];
    if (count <= bodies->capacity)
        return CAIRN_OK;
    /* rows are 32-bit numbers */
    if (count > INT32_MAX)
        return CAIRN_NO_MEMORY;
    for (int k = 0; k < 2; k++) {
        capacity = bodies->capacity;
        TRY(cairn_memory_reserve((void **)lists[k], &capacity, count, sizeof **lists[k]));
    }
    for (int k = 0; k < cairn_columns_of_bodies.count; k++) {
        TRY(grow(bodies, k, count, &capacity));
        each += cairn_column_row(&cairn_columns_of_bodies.items[k], 3);
    }
    TRY(cairn_directory_reserve(&bodies->directory, capacity));
    /* last: after a failure the old capacity still holds for every column */
    bodies->capacity = capacity;
    bodies->bytes = capacity * each + bodies->directory.capacity * sizeof *bodies->directory.places;
    return CAIRN_OK;
}

void cairn_bodies_release(cairn_body_store *bodies)
{
    cairn_shapes_release(&bodies->shapes);
    for (int k = 0; k < cairn_columns_of_bodies.count; k++)
        cairn_memory_free(cairn_column_get(&cairn_columns_of_bodies, k, bodies));
    cairn_memory_free(bodies->cut.first);
    cairn_memory_free(bodies->was);
    cairn_memory_free(bodies->list);
    cairn_directory_release(&bodies->directory);
    *bodies = (cairn_body_store){ 0 };
}

cairn_bodies cairn_world_bodies(const cairn_world *world)
{
    cairn_pile_return((cairn_world *)world);
    const cairn_body_store *b = &world->bodies;
    cairn_bodies view = { .count = b->count,
                          .held = b->held,
                          .shape_count = b->shapes.count,
                          .shapes = b->shapes.items };
    cairn_columns_show(&cairn_columns_of_bodies, &world->bodies, &view);
    return view;
}

const cairn_shape *cairn_bodies_shape(const cairn_bodies *bodies, int row)
{
    return &bodies->shapes[bodies->shape[row]];
}

cairn_pose cairn_bodies_shape_pose(const cairn_bodies *bodies, int index)
{
    const cairn_pose body = { bodies->x[index], bodies->q[index] };
    return cairn_pose_compose(&body, &bodies->pose[index]);
}

/* The pose of the shape is that of the body times the constant pose of the shape in the body
 * frame. */
cairn_collider cairn_body_collider_at(const cairn_world *world, int i, const cairn_pose *body)
{
    const cairn_body_store *b = &world->bodies;
    cairn_collider c = { .shape = cairn_body_shape(b, i), .movable = cairn_world_moves(world, i) };
    cairn_collider_place(&c, cairn_pose_compose(body, &b->pose[i]));
    return c;
}

cairn_collider cairn_body_collider(const cairn_world *world, int i)
{
    const cairn_pose body = { world->bodies.x[i], world->bodies.q[i] };
    return cairn_body_collider_at(world, i, &body);
}

double cairn_body_extent(const cairn_world *world, int i)
{
    return world->bodies.extent[i];
}

/* For balls the stored radius, which saves a call by shape. */
double cairn_body_size(const cairn_world *world, int i)
{
    const cairn_body_store *b = &world->bodies;
    return b->ball[i] >= 0 ? b->ball[i] : cairn_shape_extent(cairn_body_shape(b, i));
}

double cairn_body_arm(const cairn_world *world, int i)
{
    return world->bodies.arm[i];
}

/* ---- definitions ---------------------------------------------------------------------------- */

const char *cairn_motion_name(int motion)
{
    static const char *const names[CAIRN_MOTION_COUNT] = { "dynamic", "fixed", "driven" };
    return motion >= 0 && motion < CAIRN_MOTION_COUNT ? names[motion] : NULL;
}

cairn_body_def cairn_body_def_default(void)
{
    return (cairn_body_def){ .orientation = { 1, 0, 0, 0 },
                             .shape.axis = { 0, 0, 1 },
                             .density = 1000,
                             .mask = CAIRN_ALL_GROUPS };
}

static void set_default(void *def)
{
    *(cairn_body_def *)def = cairn_body_def_default();
}

#define ANY   -CAIRN_UNBOUNDED, CAIRN_UNBOUNDED
#define STATE -1e30, 1e30 /* energies are products of at most three such numbers: finite */

static const cairn_option options[] = {
    { "position", CAIRN_OPTION_VECTOR, false, offsetof(cairn_body_def, position), STATE, "m",
      "of the shape's origin", NULL },
    { "angle", CAIRN_OPTION_REAL, false, offsetof(cairn_body_def, angle), STATE, "rad",
      "orientation, 2D only", NULL },
    { "velocity", CAIRN_OPTION_VECTOR, false, offsetof(cairn_body_def, velocity), STATE, "m/s",
      "of the centre of mass at the start", NULL },
    { "angular_velocity", CAIRN_OPTION_VECTOR, false, offsetof(cairn_body_def, angular_velocity),
      STATE, "rad/s", "at the start, about the axes of the shape; in 2D [0, 0, w]", NULL },
    { "density", CAIRN_OPTION_REAL, false, offsetof(cairn_body_def, density), CAIRN_POSITIVE, 1e12,
      "kg/m^3", "in 2D kg/m^2; used when no mass is given", NULL },
    { "mass", CAIRN_OPTION_REAL, false, offsetof(cairn_body_def, mass), CAIRN_POSITIVE, 1e30, "kg",
      "from shape and density when not given", NULL },
    { "inertia", CAIRN_OPTION_VECTOR, false, offsetof(cairn_body_def, inertia), 0, 1e30, "kg m^2",
      "principal moments about the shape's axes, in 2D [0, 0, J]; 0: from the shape", NULL },
    { "surface_velocity", CAIRN_OPTION_VECTOR, false, offsetof(cairn_body_def, surface_velocity),
      STATE, "m/s", "of the surface in the body frame, as of a belt; fixed and driven bodies",
      NULL },
    { "friction_axis", CAIRN_OPTION_VECTOR, false, offsetof(cairn_body_def, friction_axis), ANY, "",
      "3D: direction in the body frame along which `friction` counts, across it friction_2", NULL },
    { "group", CAIRN_OPTION_INTEGER, false, offsetof(cairn_body_def, group), 0, 30, "",
      "collision group", NULL },
    { "mask", CAIRN_OPTION_INTEGER, false, offsetof(cairn_body_def, mask), 0, CAIRN_ALL_GROUPS, "",
      "groups that it may touch: the sum of 2^g over these groups g", NULL },
};

const cairn_record *cairn_body_record(void)
{
    static const cairn_record record = { .name = "body",
                                         .summary = "one body",
                                         .size = sizeof(cairn_body_def),
                                         .set_default = set_default,
                                         .options = options,
                                         .option_count = sizeof options / sizeof options[0] };
    return &record;
}

/* ---- checks --------------------------------------------------------------------------------- */

static cairn_status check_pose(const cairn_body_def *def, int dimension, cairn_error *error)
{
    cairn_quat q = def->orientation;
    double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (!cairn_is_finite(def->position) || !cairn_is_finite(def->velocity) ||
        !cairn_is_finite(def->angular_velocity) || !isfinite(def->angle))
        return cairn_fail(error, CAIRN_NOT_FINITE, "position", "pose and velocity must be finite");
    /* written so that a NaN fails too; what passes is normalised when the body is created */
    if (dimension == 3 && !(fabs(length - 1) < 1e-6))
        return cairn_fail(error, CAIRN_BAD_INPUT, "orientation",
                          "found a quaternion of length %g, expected 1", length);
    if (dimension == 2 && (def->position.z != 0 || def->velocity.z != 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, def->position.z != 0 ? "position" : "velocity",
                          "in 2D z must be 0");
    if (dimension == 2 && (def->angular_velocity.x != 0 || def->angular_velocity.y != 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, "angular_velocity",
                          "in 2D only the z component may be given");
    return CAIRN_OK;
}

/* A held body moves by its drivers or not at all, and forces do not act on it. A shape without
 * bounds has no mass, so it cannot be dynamic. */
static cairn_status check_motion(const cairn_body_def *def, cairn_error *error)
{
    if ((unsigned)def->motion >= CAIRN_MOTION_COUNT)
        return cairn_fail(error, CAIRN_BAD_INPUT, "motion", "unknown motion %d", (int)def->motion);
    if (def->driver_count > 0 && def->motion != CAIRN_MOTION_DRIVEN)
        return cairn_fail(error, CAIRN_BAD_INPUT, "drivers", "only a driven body has drivers");
    if (def->load_count > 0 && def->motion != CAIRN_MOTION_DYNAMIC)
        return cairn_fail(error, CAIRN_BAD_INPUT, "loads", "only a dynamic body can be loaded");
    bool moving = cairn_norm(def->velocity) > 0 || cairn_norm(def->angular_velocity) > 0;
    if (moving && def->motion != CAIRN_MOTION_DYNAMIC)
        return cairn_fail(error, CAIRN_BAD_INPUT, "velocity",
                          "only a dynamic body has a velocity of its own; use drivers");
    if (def->motion == CAIRN_MOTION_DYNAMIC && !cairn_shape_bounded(&def->shape))
        return cairn_fail(error, CAIRN_BAD_INPUT, "motion",
                          "a %s cannot be dynamic, expected fixed or driven",
                          cairn_shape_record(def->shape.kind)->name);
    return CAIRN_OK;
}

/* Mass and inertia of a body, and the pose of its shape in the body frame, whose origin is the
 * centre of mass. */
typedef struct substance {
    double mass;        /* kg                        */
    cairn_vec3 inertia; /* kg m^2, principal moments */
    cairn_pose pose;
} substance;

/* Principal moments that a body can have: each positive, none larger than the sum of the others. */
static cairn_status check_inertia(cairn_vec3 j, bool given, cairn_error *error)
{
    if (given && !(j.x > 0 && j.y > 0 && j.z > 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, "inertia", "expected three numbers > 0");
    /* flat bodies have equality, which rounding may violate */
    double slack = 1e-9 * (j.x + j.y + j.z);
    bool possible =
        j.x + j.y >= j.z - slack && j.y + j.z >= j.x - slack && j.z + j.x >= j.y - slack;
    if (!possible)
        return cairn_fail(error, CAIRN_BAD_INPUT, "inertia",
                          "no body has these moments: one exceeds the sum of the others");
    return CAIRN_OK;
}

/* Mass and inertia of a dynamic body: as given, or from shape and density. The body frame has its
 * origin in the centre of mass and the principal axes; with a given inertia it has the axes of the
 * shape, to which the given moments refer. Held bodies have no use for either. */
static cairn_status weigh(const cairn_body_def *def, int dimension, substance *out,
                          cairn_error *error)
{
    cairn_mass at_one = { 0 };
    cairn_vec3 moments = { 0, 0, 0 };
    *out = (substance){ def->mass, def->inertia, { { 0, 0, 0 }, { 1, 0, 0, 0 } } };
    if (def->motion != CAIRN_MOTION_DYNAMIC)
        return CAIRN_OK;
    bool given = dimension == 2 ? def->inertia.z > 0 : cairn_norm(def->inertia) > 0;
    /* at density 1; a shape whose moments are not known leaves this at 0 and needs a given mass */
    cairn_status found = cairn_shape_mass_tensor(&def->shape, dimension, &at_one);
    if (found == CAIRN_OK && at_one.mass > 0)
        cairn_mass_principal(&at_one, dimension, &moments, &out->pose);
    double from_shape = def->density * at_one.mass;
    if (out->mass == 0)
        out->mass = from_shape;
    if (!(out->mass > 0))
        return cairn_shape_refuse_density(&def->shape, error);
    if (given) /* rotate back from the principal axes to those of the shape */
        out->pose = (cairn_pose){ cairn_rotate_back(out->pose.q, out->pose.x), { 1, 0, 0, 0 } };
    /* a given mass scales the moments of the shape, as a different density would */
    else if (from_shape > 0)
        out->inertia = cairn_scale(out->mass / from_shape, cairn_scale(def->density, moments));
    return dimension == 3 ? check_inertia(out->inertia, given, error) : CAIRN_OK;
}

/* Only held bodies have a moving surface: it enters the problem as w, the velocity that bodies
 * without a block impose. */
static cairn_status check_surface(const cairn_body_def *def, int dimension, cairn_error *error)
{
    cairn_vec3 surface = def->surface_velocity, axis = def->friction_axis;
    if (!cairn_is_finite(surface) || !cairn_is_finite(axis))
        return cairn_fail(error, CAIRN_NOT_FINITE,
                          cairn_is_finite(surface) ? "friction_axis" : "surface_velocity",
                          "found a number that is not finite");
    if (def->motion == CAIRN_MOTION_DYNAMIC && cairn_norm(surface) > 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, "surface_velocity",
                          "only a fixed or driven body has a surface that moves by itself");
    if (dimension == 2 && surface.z != 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, "surface_velocity", "in 2D z must be 0");
    if (dimension == 2 && cairn_norm(axis) > 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, "friction_axis", "only in 3D");
    return CAIRN_OK;
}

/* In a definition mass 0 means that none is given. Where that can be told from a mass of 0, as in
 * scenes, the range refuses 0. */
static cairn_status check_options(const cairn_body_def *def, cairn_error *error)
{
    cairn_body_def given = *def;
    given.mass = def->mass == 0 ? 1 : def->mass;
    return cairn_record_check(cairn_body_record(), &given, error);
}

static cairn_status check(const cairn_world *world, const cairn_body_def *def, cairn_error *error)
{
    TRY(cairn_shape_check(&def->shape, world->dimension, error));
    TRY(check_options(def, error));
    TRY(check_pose(def, world->dimension, error));
    TRY(check_motion(def, error));
    TRY(check_surface(def, world->dimension, error));
    if (def->material < 0 || (size_t)def->material >= world->materials.count)
        return cairn_fail(error, CAIRN_BAD_INPUT, "material", "there is no material %d",
                          def->material);
    return CAIRN_OK;
}

/* All checks of cairn_body_create, without creating anything. */
cairn_status cairn_body_check(const cairn_world *world, const cairn_body_def *def,
                              cairn_error *error)
{
    substance made;
    TRY(check(world, def, error));
    return weigh(def, world->dimension, &made, error);
}

/* ---- filling a row -------------------------------------------------------------------------- */

/* extent: radius about the body's origin that contains the shape. arm: the same for its core, whose
 * points are the only ones that a rotation moves visibly. ball: the radius of a sphere or point
 * about the origin, else -1; balls have faster code throughout. */
void cairn_body_measure(cairn_body_store *b, int i)
{
    const cairn_shape *shape = cairn_body_shape(b, i);
    double offset = cairn_norm(b->pose[i].x);
    bool ball = shape->kind == CAIRN_SHAPE_SPHERE || shape->kind == CAIRN_SHAPE_POINT;
    b->extent[i] = cairn_shape_extent(shape) + offset;
    b->arm[i] = b->extent[i] - cairn_shape_rounding(shape);
    b->ball[i] = ball && offset == 0 ? b->extent[i] : -1;
}

/* Write all columns of row i. The definition gives the pose of the shape; the state is that of the
 * body frame. */
static void fill(cairn_world *world, int i, const cairn_body_def *def, const substance *made)
{
    cairn_body_store *b = &world->bodies;
    bool flat = world->dimension == 2;
    cairn_quat q = flat ? cairn_quat_in_plane(def->angle) : cairn_quat_normalised(def->orientation);
    b->motion[i] = (uint8_t)def->motion;
    b->material[i] = def->material;
    b->shape[i] = cairn_shapes_use(&b->shapes, &def->shape);
    b->pose[i] = made->pose;
    cairn_body_measure(b, i);
    b->x[i] = def->position;
    b->q[i] = q;
    b->v[i] = def->velocity;
    b->omega[i] = def->angular_velocity;
    if (!cairn_pose_is_identity(&made->pose)) {
        /* shape = body o pose, so body: q = q_shape pose.q', x = x_shape - R(q) pose.x */
        b->q[i] = cairn_quat_normalised(cairn_quat_multiply(q, cairn_quat_conjugate(made->pose.q)));
        b->x[i] = cairn_sub(def->position, cairn_rotate(b->q[i], made->pose.x));
        b->omega[i] = cairn_rotate(made->pose.q, def->angular_velocity);
    }
    b->angle[i] = flat ? def->angle : 0;
    b->image[i] = (cairn_image){ { 0, 0, 0 } };
    b->born[i] = world->time;
    b->passes[i] = 0;
    b->first[i] = b->uid[i];
    b->surface_velocity[i] = def->surface_velocity;
    b->friction_axis[i] = cairn_rotate(made->pose.q, def->friction_axis);
    /* never reset: it only says whether some body may have a moving surface */
    world->materials.laws.moving =
        world->materials.laws.moving || cairn_norm(def->surface_velocity) > 0;
    b->group[i] = (int32_t)def->group;
    b->ignores[i] = (int32_t)(CAIRN_ALL_GROUPS & ~def->mask);
    b->grouped = b->grouped || b->group[i] || b->ignores[i];
    b->asleep[i] = 0;
    b->calm[i] = 0;
    b->mass[i] = made->mass;
    b->inertia[i] = flat ? cairn_vec(0, 0, made->inertia.z) : made->inertia;
}

cairn_status cairn_body_state_check(const cairn_world *world, int row,
                                    const cairn_body_state *state, cairn_error *error)
{
    cairn_body_def def = cairn_body_def_default();
    def.position = state->x;
    def.angle = state->angle;
    def.velocity = state->v;
    def.angular_velocity = state->omega;
    if (world->dimension == 3)
        def.orientation = state->q;
    TRY(check_options(&def, error));
    TRY(check_pose(&def, world->dimension, error));
    bool moving = cairn_norm(state->v) > 0 || cairn_norm(state->omega) > 0;
    if (moving && row >= 0 && world->bodies.motion[row] == CAIRN_MOTION_FIXED)
        return cairn_fail(error, CAIRN_BAD_INPUT, "velocity", "a fixed body has no velocity");
    return CAIRN_OK;
}

/* The caller removes the body if one of these fails; that also removes the drivers and loads added
 * so far. */
static cairn_status attach(cairn_world *world, int body, const cairn_body_def *def)
{
    for (int k = 0; k < def->driver_count; k++)
        TRY(cairn_driver_add(world, body, &def->drivers[k]));
    for (int k = 0; k < def->load_count; k++)
        TRY(cairn_load_add(world, world->bodies.next_uid, &def->loads[k]));
    return CAIRN_OK;
}

/* ---- rows ----------------------------------------------------------------------------------- */

int cairn_body_row(const cairn_world *world, cairn_body_id body)
{
    return cairn_directory_find(&world->bodies.directory, body.uid);
}

/* Record the row that each body has now, so that contacts and joints, which name rows, can be
 * updated later in one pass (order.c) instead of at every change. */
void cairn_bodies_start_moving(cairn_body_store *b)
{
    if (b->moved)
        return;
    b->moved = true;
    b->named = b->count;
    for (int i = 0; i < b->count; i++)
        b->was[i] = i;
}

/* Move the body in one row to another row, whose old contents are lost. */
static void move(cairn_body_store *b, int from, int to)
{
    if (from == to)
        return;
    for (int k = 0; k < cairn_columns_of_bodies.count; k++) {
        size_t size = cairn_column_row(&cairn_columns_of_bodies.items[k], 3);
        char *rows = cairn_column_get(&cairn_columns_of_bodies, k, b);
        memcpy(rows + (size_t)to * size, rows + (size_t)from * size, size);
    }
    cairn_directory_set(&b->directory, b->uid[to], to);
    b->was[to] = b->was[from];
}

/* A free row, for which there is memory: the last one for a dynamic body; for a held one the row
 * after the held bodies, whose dynamic body moves to the end. Constant time in both cases. */
static int open_row(cairn_body_store *b, bool held)
{
    int row = held ? b->held : b->count;
    if (row < b->count) {
        cairn_bodies_start_moving(b);
        move(b, row, b->count);
    }
    b->was[row] = -1;
    b->uid[row] = b->next_uid;
    cairn_directory_set(&b->directory, b->uid[row], row);
    b->held += held;
    b->count++;
    return row;
}

/* Remove the body in a row. The last body takes its place; if the removed one was held, the last
 * held body takes its place first and the last body fills the gap. */
static void close_row(cairn_body_store *b, int row)
{
    cairn_bodies_start_moving(b);
    cairn_directory_remove(&b->directory, b->uid[row]);
    if (row < b->held) {
        move(b, --b->held, row);
        row = b->held;
    }
    move(b, --b->count, row);
}

size_t cairn_bodies_widest(void)
{
    const cairn_column_list *list = &cairn_columns_of_bodies;
    size_t most = sizeof(int32_t);
    for (int k = 0; k < list->count; k++)
        if (cairn_column_row(&list->items[k], 3) > most)
            most = cairn_column_row(&list->items[k], 3);
    return most;
}

/* How many bodies from number k on keep their distance: their rows follow each other. */
static int run_length(const cairn_row_source *from, int k, int count)
{
    int length = 1;
    while (!from[k].record && k + length < count && !from[k + length].record &&
           from[k + length].row == from[k].row + length)
        length++;
    return length;
}

/* One column of the new rows. `at`: where it is in a record; `room` has a column of them. Runs of
 * bodies that keep their rows stay where they are. */
static void replace_column(char *rows, size_t size, size_t at, int held,
                           const cairn_row_source *from, int count, char *room)
{
    for (int k = 0, run; k < count; k += run) {
        run = run_length(from, k, count);
        if (from[k].record)
            memcpy(room + (size_t)k * size, from[k].record + at, size);
        else if (from[k].row != held + k)
            memcpy(room + (size_t)k * size, rows + (size_t)from[k].row * size, (size_t)run * size);
    }
    for (int k = 0, run; k < count; k += run) {
        run = run_length(from, k, count);
        if (from[k].record || from[k].row != held + k)
            memcpy(rows + (size_t)(held + k) * size, room + (size_t)k * size, (size_t)run * size);
    }
}

/* The row that a body of the new rows has now; -1: none. */
static int row_now(const cairn_body_store *b, const cairn_row_source *from)
{
    uint64_t uid; /* the first column of a record */
    if (!from->record)
        return from->row;
    memcpy(&uid, from->record, sizeof uid);
    return cairn_directory_find(&b->directory, uid);
}

/* Forget bodies that are not among the new ones. now: the row that each of those has now. */
static void forget_others(cairn_body_store *b, const int32_t *now, int count, uint8_t *stays)
{
    memset(stays, 0, (size_t)b->count);
    for (int k = 0; k < count; k++)
        if (now[k] >= 0)
            stays[now[k]] = 1;
    for (int i = b->held; i < b->count; i++)
        if (!stays[i])
            cairn_directory_remove(&b->directory, b->uid[i]);
}

/* Contacts follow bodies by `was`. Memory is taken first: after that nothing fails. */
cairn_status cairn_bodies_replace(cairn_body_store *b, const cairn_row_source *from, int count,
                                  cairn_arena *scratch)
{
    const cairn_column_list *list = &cairn_columns_of_bodies;
    int32_t *now = cairn_arena_take(scratch, (size_t)count, sizeof *now);
    uint8_t *stays = cairn_arena_take(scratch, (size_t)b->count + 1, sizeof *stays);
    char *room = cairn_arena_take(scratch, (size_t)count, cairn_bodies_widest());
    if (!now || !stays || !room)
        return CAIRN_NO_MEMORY;
    cairn_bodies_start_moving(b);
    for (int k = 0; k < count; k++)
        now[k] = row_now(b, &from[k]);
    forget_others(b, now, count, stays);
    size_t at = 0;
    for (int k = 0; k < list->count; k++) {
        size_t size = cairn_column_row(&list->items[k], 3);
        replace_column(cairn_column_get(list, k, b), size, at, b->held, from, count, room);
        at += size;
    }
    int32_t *was = (int32_t *)room;
    for (int k = 0; k < count; k++)
        was[k] = now[k] < 0 ? -1 : b->was[now[k]];
    memcpy(b->was + b->held, was, (size_t)count * sizeof *was);
    b->count = b->held + count;
    for (int k = 0, row = b->held; k < count; k++, row++) {
        if (now[k] != row)
            cairn_directory_set(&b->directory, b->uid[row], row);
        b->grouped = b->grouped || b->group[row] || b->ignores[row];
    }
    return CAIRN_OK;
}

/* ---- creating and removing ------------------------------------------------------------------ */

/* Remove a body with everything that belongs to it. The problem of the last step names rows that
 * are no longer valid, so it is not shown any more. */
static void take_out(cairn_world *world, int i)
{
    cairn_drivers_remove(world, world->bodies.uid[i]);
    cairn_shapes_leave(&world->bodies.shapes, world->bodies.shape[i]);
    close_row(&world->bodies, i);
    world->problem_r = NULL;
}

/* A hint for many bodies at once: it saves repeated growth, and finds out early if memory is
 * short. */
cairn_status cairn_world_reserve(cairn_world *world, int64_t bodies)
{
    if (bodies < 0 || bodies > INT32_MAX)
        return CAIRN_NO_MEMORY;
    cairn_body_store *b = &world->bodies;
    const cairn_making *m = world->exchange.making;
    if (m && bodies > m->end - m->begin) /* shapes are for all, but few differ */
        bodies = m->end - m->begin;
    TRY(cairn_shapes_reserve(&b->shapes, (size_t)b->shapes.count + (size_t)bodies));
    return cairn_bodies_reserve(b, (size_t)b->count + (size_t)bodies);
}

static cairn_status make_room(cairn_world *world)
{
    cairn_body_store *b = &world->bodies;
    TRY(cairn_bodies_reserve(b, (size_t)b->count + 1));
    TRY(cairn_shapes_reserve(&b->shapes, (size_t)b->shapes.count + 1));
    return cairn_exchange_reserve(&world->exchange, (size_t)b->count + 1);
}

/* Held bodies have the first rows of every member; a new one would move all others. */
static cairn_status refuse_held(cairn_world *world)
{
    return cairn_fail(&world->error, CAIRN_UNSUPPORTED, "bodies",
                      "fixed and driven bodies cannot be added while several members compute the "
                      "world");
}

/* Open a row and fill it, with drivers and loads. A refused driver or load takes the body out
 * again. */
static cairn_status create_here(cairn_world *world, const cairn_body_def *def,
                                const substance *made, int *row)
{
    cairn_body_store *b = &world->bodies;
    int i = open_row(b, def->motion != CAIRN_MOTION_DYNAMIC);
    /* another body has moved, so the rows that the problem of the last step names are not valid any
     * more */
    if (i < b->count - 1)
        world->problem_r = NULL;
    fill(world, i, def, made);
    cairn_status status = attach(world, i, def);
    if (status != CAIRN_OK)
        take_out(world, i);
    *row = i;
    return status;
}

/* Another member has the body. Its shape is entered here too, so that shapes have the same ids
 * everywhere, and so are its loads. */
static cairn_status create_elsewhere(cairn_world *world, const cairn_body_def *def, int *row)
{
    int32_t shape = cairn_shapes_use(&world->bodies.shapes, &def->shape);
    cairn_status status = attach(world, -1, def);
    if (status != CAIRN_OK) {
        cairn_drivers_remove(world, world->bodies.next_uid);
        cairn_shapes_leave(&world->bodies.shapes, shape);
    }
    world->materials.laws.moving =
        world->materials.laws.moving || cairn_norm(def->surface_velocity) > 0;
    world->bodies.grouped =
        world->bodies.grouped || def->group || (def->mask & CAIRN_ALL_GROUPS) != CAIRN_ALL_GROUPS;
    *row = -1;
    return status;
}

/* After a failure the world is as before: memory is reserved before the row is opened. Members that
 * compute a world together create the same bodies in the same order. */
cairn_status cairn_body_create(cairn_world *world, const cairn_body_def *def, cairn_body_id *out)
{
    cairn_pile_return(world);
    cairn_body_store *b = &world->bodies;
    substance made;
    int row;
    world->error = (cairn_error){ 0 };
    TRY(check(world, def, &world->error));
    TRY(weigh(def, world->dimension, &made, &world->error));
    if (world->exchange.link && def->motion != CAIRN_MOTION_DYNAMIC)
        return refuse_held(world);
    TRY(cairn_exchange_agree(world, make_room(world)));
    bool held = def->motion != CAIRN_MOTION_DYNAMIC;
    TRY(held || cairn_exchange_appends(&world->exchange) ? create_here(world, def, &made, &row)
                                                         : create_elsewhere(world, def, &row));
    cairn_exchange_added(world, row, held);
    if (out)
        *out = (cairn_body_id){ b->next_uid };
    /* only now: a failed creation uses up no uid */
    b->next_uid++;
    return CAIRN_OK;
}

/* Members keep the order of their rows, since ghosts and own bodies are ranges of them. */
static void shift_rows(cairn_body_store *b, int row)
{
    cairn_bodies_start_moving(b);
    cairn_directory_remove(&b->directory, b->uid[row]);
    for (b->count--; row < b->count; row++)
        move(b, row + 1, row);
}

/* A held body has the same row in every member. As in the whole world, the last held body takes its
 * row, and the last body of all the row that this leaves. */
static void destroy_held(cairn_world *world, int row)
{
    cairn_body_store *b = &world->bodies;
    uint64_t uid = b->uid[row];
    cairn_joints_remove(world, uid);
    cairn_drivers_remove(world, uid);
    cairn_shapes_leave(&b->shapes, b->shape[row]);
    cairn_bodies_start_moving(b);
    cairn_directory_remove(&b->directory, uid);
    move(b, --b->held, row);
    b->count--;
    for (int i = b->held; i < b->count; i++)
        move(b, i + 1, i);
    world->problem_r = NULL;
    cairn_exchange_removed(world, b->held, b->held);
}

/* All members remove the body together: its owner, those that have it as a ghost, and the others
 * its shape and loads alone. */
static cairn_status destroy_together(cairn_world *world, uint64_t uid)
{
    cairn_body_store *b = &world->bodies;
    int row = cairn_directory_find(&b->directory, uid);
    int64_t order;
    int32_t shape;
    if (row >= 0 && row < b->held) {
        destroy_held(world, row);
        return CAIRN_OK;
    }
    if (!cairn_exchange_find(world, uid, &order, &shape))
        return CAIRN_NOT_FOUND;
    cairn_joints_remove(world, uid);
    cairn_drivers_remove(world, uid);
    cairn_shapes_leave(&b->shapes, shape);
    if (row >= 0)
        shift_rows(b, row);
    world->problem_r = NULL;
    cairn_exchange_removed(world, order, row);
    return CAIRN_OK;
}

/* Contacts of the body are dropped when rows are next named (order.c). */
cairn_status cairn_body_destroy(cairn_world *world, cairn_body_id id)
{
    cairn_pile_return(world);
    int i = cairn_body_row(world, id);
    if (world->exchange.making)
        return cairn_fail(&world->error, CAIRN_UNSUPPORTED, "bodies",
                          "bodies cannot be removed while members make shares of a world");
    if (world->exchange.link)
        return destroy_together(world, id.uid);
    if (i < 0)
        return CAIRN_NOT_FOUND;
    cairn_joints_remove(world, id.uid);
    take_out(world, i);
    return CAIRN_OK;
}

/* ==== shapes ================================================================================== */

/* See store.h.
 *
 * A shape is looked up by a 64-bit key computed from all its fields. If two different shapes have
 * the same key, the second gets the next key that is free. When one of them is removed, the search
 * for the other may stop too early and enter it once more. That costs an entry and changes no
 * result. */

/* ---- keys of shapes ------------------------------------------------------------------------- */

enum { NUMBERS = 20 };

/* All fields of a shape as numbers, without the padding between them, so that equal shapes have
 * equal bytes. The pointer to the geometry stands for its data: geometries are compared by
 * identity. */
static void write_down(const cairn_shape *s, double out[NUMBERS])
{
    const double numbers[NUMBERS] = {
        (double)s->kind, s->radius, s->half_angle, s->bottom_radius, s->top_radius,
        s->height,       s->length, s->rounding,   s->exponent,      s->exponent_z,
        s->size.x,       s->size.y, s->size.z,     s->semi_axes.x,   s->semi_axes.y,
        s->semi_axes.z,  s->axis.x, s->axis.y,     s->axis.z,        0
    };
    memcpy(out, numbers, sizeof numbers);
    memcpy(&out[NUMBERS - 1], &s->geometry, sizeof s->geometry);
}

/* Bit by bit: 0 and -0 are different shapes, which costs at most an entry. */
static bool are_same(const cairn_shape *a, const cairn_shape *b)
{
    double p[NUMBERS], q[NUMBERS];
    write_down(a, p);
    write_down(b, q);
    return memcmp(p, q, sizeof p) == 0;
}

/* A hash of the bits by multiplication and shifts. The shift at the end clears the highest bit,
 * which no uid has set either. */
static uint64_t key_of(const cairn_shape *s)
{
    double numbers[NUMBERS];
    uint64_t key = 0;
    write_down(s, numbers);
    for (int k = 0; k < NUMBERS; k++) {
        uint64_t bits;
        memcpy(&bits, &numbers[k], sizeof bits);
        key = (key ^ bits ^ bits >> 29) * 0xff51afd7ed558ccdu;
        key ^= key >> 32;
    }
    return key >> 1;
}

/* The key under which a shape is stored, with its id; if it is not stored, the first free key after
 * its hash, with id -1. */
static uint64_t find_key(const cairn_shape_table *t, const cairn_shape *shape, int *id)
{
    uint64_t key = key_of(shape);
    while ((*id = cairn_directory_find(&t->known, key)) >= 0 && !are_same(&t->items[*id], shape))
        key++;
    return key;
}

/* ---- the table ------------------------------------------------------------------------------ */

/* Arrays enlarged before a failure stay larger than the capacity says, which is harmless. */
cairn_status cairn_shapes_reserve(cairn_shape_table *t, size_t count)
{
    size_t capacity = t->capacity;
    if (count <= capacity)
        return CAIRN_OK;
    TRY(cairn_memory_reserve((void **)&t->items, &capacity, count, sizeof *t->items));
    capacity = t->capacity;
    TRY(cairn_memory_reserve((void **)&t->users, &capacity, count, sizeof *t->users));
    capacity = t->capacity;
    TRY(cairn_memory_reserve((void **)&t->next_free, &capacity, count, sizeof *t->next_free));
    TRY(cairn_directory_reserve(&t->known, capacity));
    if (t->capacity == 0)
        t->free = -1;
    t->capacity = capacity;
    return CAIRN_OK;
}

void cairn_shapes_release(cairn_shape_table *t)
{
    for (int id = 0; id < t->count; id++) /* the geometry of free entries is NULL */
        cairn_geometry_release(t->items[id].geometry);
    cairn_memory_free(t->items);
    cairn_memory_free(t->users);
    cairn_memory_free(t->next_free);
    cairn_directory_release(&t->known);
    *t = (cairn_shape_table){ 0 };
}

/* Reuse a free entry if there is one: ids stay small in a world in which bodies come and go. */
int32_t cairn_shapes_use(cairn_shape_table *t, const cairn_shape *shape)
{
    int id;
    uint64_t key = find_key(t, shape, &id);
    if (id < 0) {
        id = t->free >= 0 ? t->free : t->count++;
        if (id == t->free)
            t->free = t->next_free[id];
        t->items[id] = *shape;
        t->users[id] = 0;
        cairn_geometry_retain(shape->geometry);
        cairn_directory_set(&t->known, key, id);
    }
    t->users[id]++;
    return id;
}

/* Free an entry; the list of free entries is linked through next_free. */
static void let_go(cairn_shape_table *t, int id)
{
    cairn_geometry_release(t->items[id].geometry);
    t->items[id] = (cairn_shape){ 0 };
    t->next_free[id] = t->free;
    t->free = id;
}

void cairn_shapes_leave(cairn_shape_table *t, int32_t id)
{
    int known;
    if (--t->users[id] > 0)
        return;
    uint64_t key = find_key(t, &t->items[id], &known);
    /* after a collision of keys the search may have found another entry, or none */
    if (known == id)
        cairn_directory_remove(&t->known, key);
    let_go(t, id);
}

/* Used when a saved state is read. Entries are visited from the last to the first, so that the list
 * of free entries starts with the lowest id. */
void cairn_shapes_count(cairn_shape_table *t, const int32_t *ids, int count)
{
    for (int i = 0; i < count; i++)
        t->users[ids[i]]++;
    for (int id = t->count - 1; id >= 0; id--) {
        int known;
        uint64_t key = find_key(t, &t->items[id], &known);
        if (t->users[id] == 0)
            let_go(t, id);
        else if (known < 0)
            cairn_directory_set(&t->known, key, id);
    }
}

size_t cairn_shapes_bytes(const cairn_shape_table *t)
{
    return t->capacity * (sizeof *t->items + 2 * sizeof *t->users) +
           t->known.capacity * sizeof *t->known.places;
}
