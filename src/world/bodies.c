/* bodies.c - making and removing bodies. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/vec.h"
#include "shape/shape.h"
#include "world/world.h"

/* ---- storage -------------------------------------------------------------------------------- */

/* One column; `capacity` becomes that of all. It stays larger when a later one fails. */
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
    int32_t **lists[] = { &bodies->was, &bodies->list };
    size_t capacity = bodies->capacity, each = 2 * sizeof **lists[0];
    if (count <= bodies->capacity)
        return CAIRN_OK;
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
    bodies->capacity = capacity;
    bodies->bytes = capacity * each + bodies->directory.capacity * sizeof *bodies->directory.places;
    return CAIRN_OK;
}

void cairn_bodies_release(cairn_body_store *bodies)
{
    cairn_shapes_release(&bodies->shapes);
    for (int k = 0; k < cairn_columns_of_bodies.count; k++)
        cairn_memory_free(cairn_column_get(&cairn_columns_of_bodies, k, bodies));
    cairn_memory_free(bodies->was);
    cairn_memory_free(bodies->list);
    cairn_directory_release(&bodies->directory);
    *bodies = (cairn_body_store){ 0 };
}

cairn_bodies cairn_world_bodies(const cairn_world *world)
{
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

cairn_collider cairn_body_collider_at(const cairn_world *world, int i, const cairn_pose *body)
{
    const cairn_body_store *b = &world->bodies;
    cairn_collider c = { .shape = cairn_body_shape(b, i), .movable = i >= b->held };
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
                             .density = 1000 };
}

static void set_default(void *def)
{
    *(cairn_body_def *)def = cairn_body_def_default();
}

#define ANY   -CAIRN_UNBOUNDED, CAIRN_UNBOUNDED
#define STATE -1e30, 1e30 /* energies are products of three such numbers at most */

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
    { "mass", CAIRN_OPTION_REAL, false, offsetof(cairn_body_def, mass), 0, 1e30, "kg",
      "0: from shape and density", NULL },
    { "inertia", CAIRN_OPTION_VECTOR, false, offsetof(cairn_body_def, inertia), 0, 1e30, "kg m^2",
      "principal moments about the shape's axes, in 2D [0, 0, J]; 0: from the shape", NULL },
    { "surface_velocity", CAIRN_OPTION_VECTOR, false, offsetof(cairn_body_def, surface_velocity),
      STATE, "m/s", "of the surface in the body frame, as of a belt; fixed and driven bodies",
      NULL },
    { "friction_axis", CAIRN_OPTION_VECTOR, false, offsetof(cairn_body_def, friction_axis), ANY, "",
      "3D: direction in the body frame along which `friction` counts, across it friction_2", NULL },
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

/* How a body weighs and where its shape sits in the frame in which it moves. */
typedef struct substance {
    double mass;
    cairn_vec3 inertia;
    cairn_pose pose;
} substance;

/* Principal moments that some body can have: each positive, none above the sum of the others. */
static cairn_status check_inertia(cairn_vec3 j, bool given, cairn_error *error)
{
    if (given && !(j.x > 0 && j.y > 0 && j.z > 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, "inertia", "expected three numbers > 0");
    double slack = 1e-9 * (j.x + j.y + j.z);
    bool possible =
        j.x + j.y >= j.z - slack && j.y + j.z >= j.x - slack && j.z + j.x >= j.y - slack;
    if (!possible)
        return cairn_fail(error, CAIRN_BAD_INPUT, "inertia",
                          "no body has these moments: one exceeds the sum of the others");
    return CAIRN_OK;
}

/* A dynamic body: mass and inertia as given, or from shape and density; the frame is the principal
 * one, or with a given inertia the one in the centre of mass with the axes of the shape. */
static cairn_status weigh(const cairn_body_def *def, int dimension, substance *out,
                          cairn_error *error)
{
    cairn_mass at_one = { 0 };
    cairn_vec3 moments = { 0, 0, 0 };
    *out = (substance){ def->mass, def->inertia, { { 0, 0, 0 }, { 1, 0, 0, 0 } } };
    if (def->motion != CAIRN_MOTION_DYNAMIC)
        return CAIRN_OK;
    bool given = dimension == 2 ? def->inertia.z > 0 : cairn_norm(def->inertia) > 0;
    cairn_status found = cairn_shape_mass_tensor(&def->shape, dimension, &at_one);
    if (found == CAIRN_OK && at_one.mass > 0)
        cairn_mass_principal(&at_one, dimension, &moments, &out->pose);
    double from_shape = def->density * at_one.mass;
    if (out->mass == 0)
        out->mass = from_shape;
    if (!(out->mass > 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, "mass", "found 0, expected a mass > 0 kg");
    if (given) /* turn back from the principal axes to those of the shape */
        out->pose = (cairn_pose){ cairn_rotate_back(out->pose.q, out->pose.x), { 1, 0, 0, 0 } };
    else if (from_shape > 0)
        out->inertia = cairn_scale(out->mass / from_shape, cairn_scale(def->density, moments));
    return dimension == 3 ? check_inertia(out->inertia, given, error) : CAIRN_OK;
}

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

static cairn_status check(const cairn_world *world, const cairn_body_def *def, cairn_error *error)
{
    TRY(cairn_shape_check(&def->shape, world->dimension, error));
    TRY(cairn_record_check(cairn_body_record(), def, error));
    TRY(check_pose(def, world->dimension, error));
    TRY(check_motion(def, error));
    TRY(check_surface(def, world->dimension, error));
    if (def->material < 0 || (size_t)def->material >= world->materials.count)
        return cairn_fail(error, CAIRN_BAD_INPUT, "material", "there is no material %d",
                          def->material);
    return CAIRN_OK;
}

cairn_status cairn_body_check(const cairn_world *world, const cairn_body_def *def,
                              cairn_error *error)
{
    substance made;
    TRY(check(world, def, error));
    return weigh(def, world->dimension, &made, error);
}

/* ---- making and removing -------------------------------------------------------------------- */

void cairn_body_measure(cairn_body_store *b, int i)
{
    const cairn_shape *shape = cairn_body_shape(b, i);
    double offset = cairn_norm(b->pose[i].x);
    bool ball = shape->kind == CAIRN_SHAPE_SPHERE || shape->kind == CAIRN_SHAPE_POINT;
    b->extent[i] = cairn_shape_extent(shape) + offset;
    b->arm[i] = b->extent[i] - cairn_shape_rounding(shape);
    b->ball[i] = ball && offset == 0 ? b->extent[i] : -1;
}

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
    b->surface_velocity[i] = def->surface_velocity;
    b->friction_axis[i] = cairn_rotate(made->pose.q, def->friction_axis);
    world->materials.laws.moving =
        world->materials.laws.moving || cairn_norm(def->surface_velocity) > 0;
    b->asleep[i] = 0;
    b->calm[i] = 0;
    b->mass[i] = made->mass;
    b->inertia[i] = flat ? cairn_vec(0, 0, made->inertia.z) : made->inertia;
}

static cairn_status attach(cairn_world *world, int body, const cairn_body_def *def)
{
    for (int k = 0; k < def->driver_count; k++)
        TRY(cairn_driver_add(world, body, &def->drivers[k]));
    for (int k = 0; k < def->load_count; k++)
        TRY(cairn_load_add(world, body, &def->loads[k]));
    return CAIRN_OK;
}

/* ---- rows ----------------------------------------------------------------------------------- */

int cairn_body_row(const cairn_world *world, cairn_body_id body)
{
    return cairn_directory_find(&world->bodies.directory, body.uid);
}

void cairn_bodies_start_moving(cairn_body_store *b)
{
    if (b->moved)
        return;
    b->moved = true;
    b->named = b->count;
    for (int i = 0; i < b->count; i++)
        b->was[i] = i;
}

/* The body of one row in place of another one. */
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

/* A free row, for which there is room: the last one, or behind what is held, whose place the first
 * dynamic body leaves. */
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

/* The row of a body that is gone gets the last one, by way of the last that is held if it was. */
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

/* ---- coming and going ----------------------------------------------------------------------- */

static void take_out(cairn_world *world, int i)
{
    cairn_drivers_remove(world, world->bodies.uid[i]);
    cairn_shapes_leave(&world->bodies.shapes, world->bodies.shape[i]);
    close_row(&world->bodies, i);
    world->problem_r = NULL;
}

cairn_status cairn_world_reserve(cairn_world *world, int64_t bodies)
{
    if (bodies < 0 || bodies > INT32_MAX)
        return CAIRN_NO_MEMORY;
    cairn_body_store *b = &world->bodies;
    TRY(cairn_shapes_reserve(&b->shapes, (size_t)b->shapes.count + (size_t)bodies));
    return cairn_bodies_reserve(b, (size_t)b->count + (size_t)bodies);
}

cairn_status cairn_body_create(cairn_world *world, const cairn_body_def *def, cairn_body_id *out)
{
    cairn_body_store *b = &world->bodies;
    substance made;
    world->error = (cairn_error){ 0 };
    TRY(check(world, def, &world->error));
    TRY(weigh(def, world->dimension, &made, &world->error));
    TRY(cairn_bodies_reserve(b, (size_t)b->count + 1));
    TRY(cairn_shapes_reserve(&b->shapes, (size_t)b->shapes.count + 1));
    int i = open_row(b, def->motion != CAIRN_MOTION_DYNAMIC);
    if (i < b->count - 1) /* another one has moved: what names rows of the last step is given up */
        world->problem_r = NULL;
    fill(world, i, def, &made);
    cairn_status status = attach(world, i, def);
    if (status != CAIRN_OK) {
        take_out(world, i);
        return status;
    }
    b->next_uid++;
    if (out)
        *out = (cairn_body_id){ b->uid[i] };
    return CAIRN_OK;
}

cairn_status cairn_body_destroy(cairn_world *world, cairn_body_id id)
{
    int i = cairn_body_row(world, id);
    if (i < 0)
        return CAIRN_NOT_FOUND;
    cairn_joints_remove(world, id.uid);
    take_out(world, i);
    return CAIRN_OK;
}
