/* driver.c - functions of time: the motions of driven bodies and the loads on dynamic ones.
 *
 * Drivers and loads are lists of the world that name bodies by uid, so they need no update when
 * rows change. Tables given by the user are copied; the world owns the copies. Several drivers of a
 * body add up, and so do several loads. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/common.h"
#include "base/expression.h"
#include "base/memory.h"
#include "math/vec.h"
#include "world/world.h"

#define ANY -CAIRN_UNBOUNDED, CAIRN_UNBOUNDED

/* ---- drivers -------------------------------------------------------------------------------- */

/* A motion without end, and tables that turn about z. */
cairn_driver cairn_driver_default(cairn_driver_kind kind)
{
    return (cairn_driver){ .kind = kind,
                           .stop = INFINITY,
                           .axis = { 0, 0, 1 },
                           .point = { INFINITY, INFINITY, INFINITY } };
}

/* A record needs a function that sets the defaults of one kind without being told the kind. */
static void velocity_default(void *driver)
{
    *(cairn_driver *)driver = cairn_driver_default(CAIRN_DRIVER_VELOCITY);
}

static void shake_default(void *driver)
{
    *(cairn_driver *)driver = cairn_driver_default(CAIRN_DRIVER_SHAKE);
}

static void rotation_default(void *driver)
{
    *(cairn_driver *)driver = cairn_driver_default(CAIRN_DRIVER_ROTATION);
}

static void table_default(void *driver)
{
    *(cairn_driver *)driver = cairn_driver_default(CAIRN_DRIVER_TABLE);
}

static void motion_default(void *driver)
{
    *(cairn_driver *)driver = cairn_driver_default(CAIRN_DRIVER_MOTION);
}

/* The options that all kinds of drivers share, and those of all that turn. */
#define DRIVER_TIMES                                                                               \
    { "start",                                                                                     \
      CAIRN_OPTION_REAL,                                                                           \
      false,                                                                                       \
      offsetof(cairn_driver, start),                                                               \
      -CAIRN_UNBOUNDED,                                                                            \
      INFINITY,                                                                                    \
      "s",                                                                                         \
      "when it begins; .inf: when an event starts it",                                             \
      NULL },                                                                                      \
    {                                                                                              \
        "stop", CAIRN_OPTION_REAL, false, offsetof(cairn_driver, stop), -CAIRN_UNBOUNDED,          \
            INFINITY, "s", "when it ends; the body then stays where it is", NULL                   \
    }
#define DRIVER_POINT                                                                               \
    {                                                                                              \
        "point", CAIRN_OPTION_VECTOR, false, offsetof(cairn_driver, point), -CAIRN_UNBOUNDED,      \
            INFINITY, "m", "through which the axis goes; when not given, the body's position",     \
            NULL                                                                                   \
    }

static const cairn_option velocity_options[] = {
    { "velocity", CAIRN_OPTION_VECTOR, true, offsetof(cairn_driver, velocity), ANY, "m/s",
      "constant velocity", NULL },
    DRIVER_TIMES,
};
static const cairn_option shake_options[] = {
    { "amplitude", CAIRN_OPTION_VECTOR, true, offsetof(cairn_driver, amplitude), ANY, "m",
      "of the sine", NULL },
    { "frequency", CAIRN_OPTION_REAL, true, offsetof(cairn_driver, frequency), 0, 1e9, "Hz",
      "of the sine", NULL },
    { "phase", CAIRN_OPTION_REAL, false, offsetof(cairn_driver, phase), ANY, "rad",
      "of the sine at the start", NULL },
    DRIVER_TIMES,
};
static const cairn_option rotation_options[] = {
    { "angular_velocity", CAIRN_OPTION_VECTOR, true, offsetof(cairn_driver, angular_velocity), ANY,
      "rad/s", "world frame; in 2D [0, 0, w]", NULL },
    DRIVER_POINT,
    DRIVER_TIMES,
};
static const cairn_option table_options[] = {
    { "time", CAIRN_OPTION_LIST, true, offsetof(cairn_driver, time), ANY, "s",
      "increasing, counted from start", NULL },
    { "x", CAIRN_OPTION_LIST, false, offsetof(cairn_driver, x), ANY, "m",
      "displacement at these times", NULL },
    { "y", CAIRN_OPTION_LIST, false, offsetof(cairn_driver, y), ANY, "m",
      "displacement at these times", NULL },
    { "z", CAIRN_OPTION_LIST, false, offsetof(cairn_driver, z), ANY, "m",
      "displacement at these times", NULL },
    { "angle", CAIRN_OPTION_LIST, false, offsetof(cairn_driver, angle), ANY, "rad",
      "turn at these times", NULL },
    { "axis", CAIRN_OPTION_VECTOR, false, offsetof(cairn_driver, axis), ANY, "",
      "of the turn; default +z", NULL },
    DRIVER_POINT,
    DRIVER_TIMES,
};

/* Every function counts its time t from `start`. */
static const cairn_option motion_options[] = {
    { "x", CAIRN_OPTION_FUNCTION, false, offsetof(cairn_driver, path[0]), ANY, "m",
      "displacement along x", NULL },
    { "y", CAIRN_OPTION_FUNCTION, false, offsetof(cairn_driver, path[1]), ANY, "m",
      "displacement along y", NULL },
    { "z", CAIRN_OPTION_FUNCTION, false, offsetof(cairn_driver, path[2]), ANY, "m",
      "displacement along z", NULL },
    { "vx", CAIRN_OPTION_FUNCTION, false, offsetof(cairn_driver, speed[0]), ANY, "m/s",
      "velocity along x, added to that of x", NULL },
    { "vy", CAIRN_OPTION_FUNCTION, false, offsetof(cairn_driver, speed[1]), ANY, "m/s",
      "velocity along y, added to that of y", NULL },
    { "vz", CAIRN_OPTION_FUNCTION, false, offsetof(cairn_driver, speed[2]), ANY, "m/s",
      "velocity along z, added to that of z", NULL },
    { "angle", CAIRN_OPTION_FUNCTION, false, offsetof(cairn_driver, turn), ANY, "rad",
      "turn about the axis", NULL },
    { "spin", CAIRN_OPTION_FUNCTION, false, offsetof(cairn_driver, spin), ANY, "rad/s",
      "angular velocity about the axis, added to that of angle", NULL },
    { "axis", CAIRN_OPTION_VECTOR, false, offsetof(cairn_driver, axis), ANY, "",
      "of the turn; default +z", NULL },
    DRIVER_POINT,
    DRIVER_TIMES,
};

const cairn_record *cairn_driver_record(int kind)
{
    static const cairn_record records[CAIRN_DRIVER_COUNT] = {
        { "velocity", "constant velocity", sizeof(cairn_driver), velocity_default, velocity_options,
          CAIRN_COUNT(velocity_options) },
        { "shake", "sinusoidal shaking", sizeof(cairn_driver), shake_default, shake_options,
          CAIRN_COUNT(shake_options) },
        { "rotation", "constant turning about an axis", sizeof(cairn_driver), rotation_default,
          rotation_options, CAIRN_COUNT(rotation_options) },
        { "table", "displacement and angle from a table, linear in between", sizeof(cairn_driver),
          table_default, table_options, CAIRN_COUNT(table_options) },
        { "motion", "position, velocity, angle and spin as functions of time", sizeof(cairn_driver),
          motion_default, motion_options, CAIRN_COUNT(motion_options) },
    };
    return kind >= 0 && kind < CAIRN_DRIVER_COUNT ? &records[kind] : NULL;
}

/* ---- loads ---------------------------------------------------------------------------------- */

cairn_load cairn_load_default(cairn_load_kind kind)
{
    return (cairn_load){ .kind = kind, .stop = INFINITY };
}

/* As for drivers: one function for each kind. */
static void constant_default(void *load)
{
    *(cairn_load *)load = cairn_load_default(CAIRN_LOAD_CONSTANT);
}

static void sine_default(void *load)
{
    *(cairn_load *)load = cairn_load_default(CAIRN_LOAD_SINE);
}

static void factor_default(void *load)
{
    *(cairn_load *)load = cairn_load_default(CAIRN_LOAD_TABLE);
}

static void function_default(void *load)
{
    *(cairn_load *)load = cairn_load_default(CAIRN_LOAD_FUNCTION);
}

/* The options that all kinds of loads share. */
#define LOAD_COMMON                                                                                \
    { "force", CAIRN_OPTION_VECTOR,     false, offsetof(cairn_load, force), ANY,                   \
      "N",     "at the centre of mass", NULL },                                                    \
        { "torque", CAIRN_OPTION_VECTOR, false, offsetof(cairn_load, torque), ANY,                 \
          "N m",    "in 2D [0, 0, T]",   NULL },                                                   \
        { "start", CAIRN_OPTION_REAL, false, offsetof(cairn_load, start), ANY,                     \
          "s",     "no load before",  NULL },                                                      \
    {                                                                                              \
        "stop", CAIRN_OPTION_REAL, false, offsetof(cairn_load, stop), -CAIRN_UNBOUNDED, INFINITY,  \
            "s", "no load after", NULL                                                             \
    }

static const cairn_option constant_options[] = { LOAD_COMMON };
static const cairn_option sine_options[] = {
    LOAD_COMMON,
    { "frequency", CAIRN_OPTION_REAL, true, offsetof(cairn_load, frequency), 0, 1e9, "Hz",
      "of the sine", NULL },
    { "phase", CAIRN_OPTION_REAL, false, offsetof(cairn_load, phase), ANY, "rad",
      "of the sine at the start", NULL },
};
static const cairn_option factor_options[] = {
    LOAD_COMMON,
    { "time", CAIRN_OPTION_LIST, true, offsetof(cairn_load, time), ANY, "s",
      "increasing, counted from start", NULL },
    { "factor", CAIRN_OPTION_LIST, true, offsetof(cairn_load, factor), ANY, "",
      "of force and torque then", NULL },
};
static const cairn_option function_options[] = {
    LOAD_COMMON,
    { "factor", CAIRN_OPTION_FUNCTION, true, offsetof(cairn_load, course), ANY, "",
      "of force and torque; its time t counts from start", NULL },
};

const cairn_record *cairn_load_record(int kind)
{
    static const cairn_record records[CAIRN_LOAD_COUNT] = {
        { "constant", "constant force and torque", sizeof(cairn_load), constant_default,
          constant_options, CAIRN_COUNT(constant_options) },
        { "sine", "force and torque times a sine of time", sizeof(cairn_load), sine_default,
          sine_options, CAIRN_COUNT(sine_options) },
        { "table", "force and torque times a factor from a table", sizeof(cairn_load),
          factor_default, factor_options, CAIRN_COUNT(factor_options) },
        { "function", "force and torque times a function of time", sizeof(cairn_load),
          function_default, function_options, CAIRN_COUNT(function_options) },
    };
    return kind >= 0 && kind < CAIRN_LOAD_COUNT ? &records[kind] : NULL;
}

/* ---- tables --------------------------------------------------------------------------------- */

/* Linear between the entries, constant outside; 0 for an empty list. A linear search: tables are
 * short. */
static double interpolate(cairn_list time, cairn_list value, double t)
{
    int n = value.count;
    if (n == 0)
        return 0;
    if (t <= time.values[0])
        return value.values[0];
    for (int i = 1; i < n; i++)
        if (t < time.values[i]) {
            double share = (t - time.values[i - 1]) / (time.values[i] - time.values[i - 1]);
            return value.values[i - 1] + share * (value.values[i] - value.values[i - 1]);
        }
    return value.values[n - 1];
}

/* As many values as times, and times strictly increasing, since interpolation divides by
 * differences. */
static cairn_status check_table(cairn_list time, cairn_list value, const char *key,
                                cairn_error *error)
{
    if (value.count != time.count)
        return cairn_fail(error, CAIRN_BAD_INPUT, key, "found %d numbers, expected %d as in time",
                          value.count, time.count);
    for (int i = 1; i < time.count; i++)
        if (!(time.values[i] > time.values[i - 1]))
            return cairn_fail(error, CAIRN_BAD_INPUT, "time",
                              "entry %d is %g, expected more than %g before it", i + 1,
                              time.values[i], time.values[i - 1]);
    return CAIRN_OK;
}

/* Copy all lists or none: on failure the copies made so far are freed. */
static cairn_status copy_lists(cairn_list *const *lists, int count)
{
    for (int i = 0; i < count; i++)
        if (cairn_memory_own_list(lists[i]) != CAIRN_OK) {
            while (i-- > 0)
                cairn_memory_free((void *)lists[i]->values);
            return CAIRN_NO_MEMORY;
        }
    return CAIRN_OK;
}

/* The functions of a driver, those of other kinds included: they are 0. */
enum { FUNCTIONS = 8 };

static void list_functions(cairn_driver *d, cairn_function *out[FUNCTIONS])
{
    cairn_function *const all[FUNCTIONS] = { &d->path[0],  &d->path[1],  &d->path[2], &d->speed[0],
                                             &d->speed[1], &d->speed[2], &d->turn,    &d->spin };
    memcpy(out, all, sizeof all);
}

/* Own all functions or none. */
static cairn_status own_functions(cairn_driver *d, cairn_error *error)
{
    cairn_function *all[FUNCTIONS];
    list_functions(d, all);
    for (int i = 0; i < FUNCTIONS; i++) {
        cairn_status status = cairn_function_own(all[i], error);
        if (status == CAIRN_OK)
            continue;
        while (i-- > 0)
            cairn_function_release(all[i]);
        return status;
    }
    return CAIRN_OK;
}

static void release_functions(cairn_driver *d)
{
    cairn_function *all[FUNCTIONS];
    list_functions(d, all);
    for (int i = 0; i < FUNCTIONS; i++)
        cairn_function_release(all[i]);
}

/* ---- adding and removing -------------------------------------------------------------------- */

static cairn_status check_times(double start, double stop, cairn_error *error)
{
    if (stop < start)
        return cairn_fail(error, CAIRN_BAD_INPUT, "stop", "found %g, expected at least start, %g",
                          stop, start);
    return CAIRN_OK;
}

static cairn_status check_in_plane(cairn_vec3 v, const char *key, cairn_error *error)
{
    return v.z == 0 ? CAIRN_OK : cairn_fail(error, CAIRN_BAD_INPUT, key, "in 2D z must be 0");
}

static cairn_status check_about_z(cairn_vec3 v, const char *key, cairn_error *error)
{
    bool about_z = v.x == 0 && v.y == 0;
    return about_z
               ? CAIRN_OK
               : cairn_fail(error, CAIRN_BAD_INPUT, key, "in 2D only the z component may be given");
}

/* Whether a motion has an angle at all; otherwise its axis may be zero. */
static bool turns(const cairn_driver *d)
{
    return !cairn_function_is_none(&d->turn) || !cairn_function_is_none(&d->spin);
}

/* In 2D nothing may move out of the plane or rotate about another axis than z. */
static cairn_status check_driver_2d(const cairn_driver *d, cairn_error *error)
{
    switch (d->kind) {
    case CAIRN_DRIVER_VELOCITY:
        return check_in_plane(d->velocity, "velocity", error);
    case CAIRN_DRIVER_SHAKE:
        return check_in_plane(d->amplitude, "amplitude", error);
    case CAIRN_DRIVER_ROTATION:
        return check_about_z(d->angular_velocity, "angular_velocity", error);
    case CAIRN_DRIVER_MOTION:
        if (!cairn_function_is_none(&d->path[2]) || !cairn_function_is_none(&d->speed[2]))
            return cairn_fail(error, CAIRN_BAD_INPUT,
                              cairn_function_is_none(&d->path[2]) ? "vz" : "z",
                              "in 2D nothing moves along z");
        return turns(d) ? check_about_z(d->axis, "axis", error) : CAIRN_OK;
    default:
        for (int i = 0; i < d->z.count; i++)
            TRY(check_in_plane(cairn_vec(0, 0, d->z.values[i]), "z", error));
        return d->angle.count > 0 ? check_about_z(d->axis, "axis", error) : CAIRN_OK;
    }
}

/* The point is given or infinite, with all of its components; in 2D z does not count. */
static cairn_status check_point(const cairn_driver *d, int dimension, cairn_error *error)
{
    cairn_vec3 p = d->point;
    int given = isfinite(p.x) + isfinite(p.y) + (dimension == 3 ? isfinite(p.z) : 0);
    return given == 0 || given == dimension ? CAIRN_OK
                                            : cairn_fail(error, CAIRN_BAD_INPUT, "point",
                                                         "expected %d finite numbers", dimension);
}

/* Everything that a driver can have wrong, named by its key. */
static cairn_status check_driver(cairn_world *world, const cairn_driver *d)
{
    cairn_error *error = &world->error;
    if ((unsigned)d->kind >= CAIRN_DRIVER_COUNT)
        return cairn_fail(error, CAIRN_BAD_INPUT, "drivers", "unknown driver %d", (int)d->kind);
    TRY(cairn_record_check(cairn_driver_record((int)d->kind), d, error));
    TRY(check_times(d->start, d->stop, error));
    TRY(check_point(d, world->dimension, error));
    if (world->dimension == 2)
        TRY(check_driver_2d(d, error));
    if (d->kind == CAIRN_DRIVER_MOTION && turns(d) && !(cairn_norm(d->axis) > 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, "axis", "found zero, expected a direction");
    if (d->kind != CAIRN_DRIVER_TABLE)
        return CAIRN_OK;
    if (d->time.count == 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, "time", "the table is empty");
    if (d->angle.count > 0 && !(cairn_norm(d->axis) > 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, "axis", "found zero, expected a direction");
    const struct {
        cairn_list list;
        const char *key;
    } columns[] = {
        { d->time, "time" }, { d->x, "x" }, { d->y, "y" }, { d->z, "z" }, { d->angle, "angle" }
    };
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (columns[i].list.count > 0) /* a column that is not given is 0 */
            TRY(check_table(d->time, columns[i].list, columns[i].key, error));
    return CAIRN_OK;
}

/* After a failure the list is as before: the entry is appended last. */
cairn_status cairn_driver_add(cairn_world *world, int body, const cairn_driver *driver)
{
    const cairn_body_store *b = &world->bodies;
    TRY(check_driver(world, driver));
    TRY(cairn_memory_reserve((void **)&world->driven.items, &world->driven.capacity,
                             world->driven.count + 1, sizeof *world->driven.items));
    /* the motion counts from the present pose and time */
    cairn_driven entry = { .uid = b->uid[body],
                           .x0 = b->x[body],
                           .q0 = b->q[body],
                           .angle0 = b->angle[body],
                           .since = world->time,
                           .until = world->time,
                           .driver = *driver };
    if (driver->kind == CAIRN_DRIVER_MOTION)
        TRY(own_functions(&entry.driver, &world->error));
    cairn_list *const lists[] = { &entry.driver.time, &entry.driver.x, &entry.driver.y,
                                  &entry.driver.z, &entry.driver.angle };
    cairn_status status = copy_lists(lists, 5);
    if (status != CAIRN_OK) {
        if (driver->kind == CAIRN_DRIVER_MOTION)
            release_functions(&entry.driver);
        return status;
    }
    world->driven.items[world->driven.count++] = entry;
    return CAIRN_OK;
}

/* After a failure the list is as before: the entry is appended last. */
cairn_status cairn_load_add(cairn_world *world, uint64_t uid, const cairn_load *load)
{
    cairn_error *error = &world->error;
    if ((unsigned)load->kind >= CAIRN_LOAD_COUNT)
        return cairn_fail(error, CAIRN_BAD_INPUT, "loads", "unknown load %d", (int)load->kind);
    TRY(cairn_record_check(cairn_load_record((int)load->kind), load, error));
    TRY(check_times(load->start, load->stop, error));
    if (world->dimension == 2) {
        TRY(check_in_plane(load->force, "force", error));
        TRY(check_about_z(load->torque, "torque", error));
    }
    if (load->kind == CAIRN_LOAD_TABLE) {
        if (load->time.count == 0)
            return cairn_fail(error, CAIRN_BAD_INPUT, "time", "the table is empty");
        TRY(check_table(load->time, load->factor, "factor", error));
    }
    TRY(cairn_memory_reserve((void **)&world->loaded.items, &world->loaded.capacity,
                             world->loaded.count + 1, sizeof *world->loaded.items));
    cairn_loaded entry = { uid, *load };
    cairn_list *const lists[] = { &entry.load.time, &entry.load.factor };
    if (load->kind == CAIRN_LOAD_FUNCTION)
        TRY(cairn_function_own(&entry.load.course, error));
    cairn_status status = copy_lists(lists, 2);
    if (status != CAIRN_OK) {
        if (load->kind == CAIRN_LOAD_FUNCTION)
            cairn_function_release(&entry.load.course);
        return status;
    }
    world->loaded.items[world->loaded.count++] = entry;
    return CAIRN_OK;
}

static void free_driver(cairn_driver *d)
{
    cairn_memory_free((void *)d->time.values);
    cairn_memory_free((void *)d->x.values);
    cairn_memory_free((void *)d->y.values);
    cairn_memory_free((void *)d->z.values);
    cairn_memory_free((void *)d->angle.values);
    if (d->kind == CAIRN_DRIVER_MOTION)
        release_functions(d);
}

static void free_load(cairn_load *load)
{
    cairn_memory_free((void *)load->time.values);
    cairn_memory_free((void *)load->factor.values);
    if (load->kind == CAIRN_LOAD_FUNCTION)
        cairn_function_release(&load->course);
}

/* Remove those of the first `count` drivers that belong to one body; CAIRN_NO_BODY: to any body. */
static void remove_driven(cairn_driven_list *driven, size_t count, uint64_t uid)
{
    size_t kept = 0;
    for (size_t k = 0; k < driven->count; k++) {
        if (k >= count || (uid != CAIRN_NO_BODY && driven->items[k].uid != uid))
            driven->items[kept++] = driven->items[k];
        else
            free_driver(&driven->items[k].driver);
    }
    driven->count = kept;
}

void cairn_drivers_clear(cairn_driven_list *driven)
{
    remove_driven(driven, driven->count, CAIRN_NO_BODY);
}

/* The lists keep their order, in which drivers of one body are applied. */
void cairn_drivers_remove(cairn_world *world, uint64_t uid)
{
    size_t kept = 0;
    remove_driven(&world->driven, world->driven.count, uid);
    for (size_t k = 0; k < world->loaded.count; k++) {
        if (uid != CAIRN_NO_BODY && world->loaded.items[k].uid != uid)
            world->loaded.items[kept++] = world->loaded.items[k];
        else
            free_load(&world->loaded.items[k].load);
    }
    world->loaded.count = kept;
    cairn_cells_remove(world, uid);
}

/* The row of a driven body; fails, with a message, for any other body. */
static cairn_status find_driven(cairn_world *world, cairn_body_id id, int *row)
{
    *row = cairn_body_row(world, id);
    if (*row < 0)
        return cairn_fail(&world->error, CAIRN_NOT_FOUND, "body", "there is no such body");
    return world->bodies.motion[*row] == CAIRN_MOTION_DRIVEN
               ? CAIRN_OK
               : cairn_fail(&world->error, CAIRN_BAD_INPUT, "drivers",
                            "only a driven body has drivers");
}

/* Replace the drivers of a body. The new ones are added first: if one is refused, the old ones are
 * still there. */
cairn_status cairn_body_drive(cairn_world *world, cairn_body_id id, const cairn_driver *drivers,
                              int count)
{
    cairn_pile_return(world);
    size_t before = world->driven.count;
    int body;
    world->error = (cairn_error){ 0 };
    TRY(find_driven(world, id, &body));
    for (int k = 0; k < count; k++) {
        cairn_status status = cairn_driver_add(world, body, &drivers[k]);
        if (status != CAIRN_OK) {
            while (world->driven.count > before)
                free_driver(&world->driven.items[--world->driven.count].driver);
            return status;
        }
    }
    remove_driven(&world->driven, before, id.uid);
    return CAIRN_OK;
}

/* A driver that starts now counts its motion from the pose that the body has now: what it did
 * before is nothing, and the other drivers of the body go on. */
cairn_status cairn_body_start(cairn_world *world, cairn_body_id id)
{
    cairn_pile_return(world);
    int body;
    world->error = (cairn_error){ 0 };
    TRY(find_driven(world, id, &body));
    for (size_t k = 0; k < world->driven.count; k++) {
        cairn_driver *d = &world->driven.items[k].driver;
        if (world->driven.items[k].uid == id.uid && d->start > world->time) {
            d->stop += isfinite(d->start) ? world->time - d->start : 0;
            d->start = world->time;
        }
    }
    return CAIRN_OK;
}

cairn_status cairn_body_stop(cairn_world *world, cairn_body_id id)
{
    cairn_pile_return(world);
    int body;
    world->error = (cairn_error){ 0 };
    TRY(find_driven(world, id, &body));
    for (size_t k = 0; k < world->driven.count; k++) {
        cairn_driver *d = &world->driven.items[k].driver;
        if (world->driven.items[k].uid == id.uid && d->start <= world->time)
            d->stop = fmin(d->stop, world->time);
    }
    return CAIRN_OK;
}

bool cairn_drivers_call(const cairn_world *world)
{
    bool found = false;
    for (size_t k = 0; k < world->driven.count; k++) {
        const cairn_driver *d = &world->driven.items[k].driver;
        found |= d->turn.kind == CAIRN_FUNCTION_CALL || d->spin.kind == CAIRN_FUNCTION_CALL;
        for (int i = 0; i < 3; i++)
            found |=
                d->path[i].kind == CAIRN_FUNCTION_CALL || d->speed[i].kind == CAIRN_FUNCTION_CALL;
    }
    return found;
}

/* NULL removes the function. It is called once per step, for mid-step. */
void cairn_world_on_force(cairn_world *world, cairn_force_fn *force, void *context)
{
    world->loaded.force = force;
    world->loaded.context = context;
}

bool cairn_world_has_force(const cairn_world *world)
{
    return world->loaded.force != NULL;
}

/* ---- values --------------------------------------------------------------------------------- */

/* The time of a driver: since its start; it stands still before start and after stop. The first
 * comparison is for a driver that waits, with an infinite start. */
static double driver_time(const cairn_driver *d, double time)
{
    return time <= d->start ? 0 : fmin(time, d->stop) - d->start;
}

/* The unit vector of the axis times an angle. */
static cairn_vec3 about_axis(const cairn_driver *d, double angle)
{
    return cairn_scale(angle / cairn_norm(d->axis), d->axis);
}

/* Displacement (m) and rotation (an angle vector, rad, world frame) of one driver since its start,
 * as far as they are functions of position. */
static void driver_at(const cairn_driver *d, double time, cairn_vec3 *move, cairn_vec3 *turn)
{
    double t = driver_time(d, time);
    *move = *turn = cairn_vec(0, 0, 0);
    switch (d->kind) {
    case CAIRN_DRIVER_VELOCITY:
        *move = cairn_scale(t, d->velocity);
        break;
    case CAIRN_DRIVER_SHAKE:
        *move =
            cairn_scale(sin(2 * M_PI * d->frequency * t + d->phase) - sin(d->phase), d->amplitude);
        break;
    case CAIRN_DRIVER_ROTATION:
        *turn = cairn_scale(t, d->angular_velocity);
        break;
    case CAIRN_DRIVER_MOTION:
        *move =
            cairn_vec(cairn_function_value(&d->path[0], t), cairn_function_value(&d->path[1], t),
                      cairn_function_value(&d->path[2], t));
        if (turns(d))
            *turn = about_axis(d, cairn_function_value(&d->turn, t));
        break;
    default:
        *move = cairn_vec(interpolate(d->time, d->x, t), interpolate(d->time, d->y, t),
                          interpolate(d->time, d->z, t));
        if (d->angle.count > 0) /* otherwise the axis may be zero */
            *turn = about_axis(d, interpolate(d->time, d->angle, t));
    }
}

/* The integrals of speed and spin up to a time: those until the last step, and the rest. */
static void add_speeds(const cairn_driven *driven, double time, cairn_vec3 *move, double *turned)
{
    const cairn_driver *d = &driven->driver;
    double a = driver_time(d, driven->until), b = driver_time(d, time);
    *move = driven->moved;
    *turned = driven->turned;
    if (!(b > a))
        return;
    *move = cairn_add(*move, cairn_vec(cairn_function_integral(&d->speed[0], a, b),
                                       cairn_function_integral(&d->speed[1], a, b),
                                       cairn_function_integral(&d->speed[2], a, b)));
    *turned += cairn_function_integral(&d->spin, a, b);
}

bool cairn_drivers_integrate(const cairn_world *world)
{
    bool found = false;
    for (size_t k = 0; k < world->driven.count; k++) {
        const cairn_driver *d = &world->driven.items[k].driver;
        for (int i = 0; i < 3 && d->kind == CAIRN_DRIVER_MOTION; i++)
            found |= !cairn_function_is_none(&d->speed[i]) || !cairn_function_is_none(&d->spin);
    }
    return found;
}

/* The integrals are extended step by step, so that a speed that is a formula costs the same in
 * every step. Positions that are functions need no such memory. */
void cairn_drivers_advance(cairn_world *world)
{
    for (size_t k = 0; k < world->driven.count; k++) {
        cairn_driven *driven = &world->driven.items[k];
        if (driven->driver.kind == CAIRN_DRIVER_MOTION)
            add_speeds(driven, world->time, &driven->moved, &driven->turned);
        driven->until = world->time;
    }
}

/* Displacement and rotation of a driver since it was added. Both rotations are about the same axis,
 * so that their difference is one. */
static void driven_since(const cairn_driven *driven, double time, cairn_vec3 *move,
                         cairn_vec3 *turn)
{
    cairn_vec3 move0, turn0, moved;
    double turned;
    driver_at(&driven->driver, driven->since, &move0, &turn0);
    driver_at(&driven->driver, time, move, turn);
    *move = cairn_sub(*move, move0);
    *turn = cairn_sub(*turn, turn0);
    if (driven->driver.kind != CAIRN_DRIVER_MOTION)
        return;
    add_speeds(driven, time, &moved, &turned);
    *move = cairn_add(*move, moved);
    if (turns(&driven->driver))
        *turn = cairn_add(*turn, about_axis(&driven->driver, turned));
}

/* The pose of a driven body at a time, computed from the pose at which its drivers were added and
 * not from the last step: errors do not accumulate, and the result does not depend on the time
 * step. A body without drivers keeps the pose that *x, *q, *angle have. With a point p of the axis,
 * x = p + R (x0 - p) + displacement. */
void cairn_driven_pose(const cairn_world *world, int body, double time, cairn_vec3 *x,
                       cairn_quat *q, double *angle)
{
    bool first = true;
    for (size_t k = 0; k < world->driven.count; k++) {
        const cairn_driven *driven = &world->driven.items[k];
        if (driven->uid != world->bodies.uid[body])
            continue;
        if (first) {
            *x = driven->x0;
            *q = driven->q0;
            *angle = driven->angle0;
            first = false;
        }
        cairn_vec3 move, turn, point = driven->driver.point;
        driven_since(driven, time, &move, &turn);
        cairn_quat rotation = cairn_quat_exp(turn);
        if (isfinite(point.x) && cairn_dot(turn, turn) > 0) {
            point.z = world->dimension == 2 ? 0 : point.z;
            *x = cairn_add(point, cairn_rotate(rotation, cairn_sub(*x, point)));
        }
        *x = cairn_add(*x, move);
        *angle += turn.z;
        *q = cairn_quat_normalised(cairn_quat_multiply(rotation, *q));
    }
}

/* The mean of a function over the step about `time`, which is 2 ahead long; 0 where the load does
 * not act, so that the impulse of a load that begins within a step is exact as well. */
static double mean_factor(const cairn_load *load, double time, double ahead)
{
    double a = fmax(time - ahead, load->start), b = fmin(time + ahead, load->stop);
    if (!(b > a))
        return 0;
    return cairn_function_integral(&load->course, a - load->start, b - load->start) / (2 * ahead);
}

/* The factor of a load at mid-step, `ahead` s from the start and the end of the step; 0 outside
 * [start, stop]. */
static double load_factor(const cairn_load *load, double time, double ahead)
{
    double t = time - load->start;
    if (load->kind == CAIRN_LOAD_FUNCTION)
        return mean_factor(load, time, ahead);
    if (time < load->start || time > load->stop)
        return 0;
    if (load->kind == CAIRN_LOAD_SINE)
        return sin(2 * M_PI * load->frequency * t + load->phase);
    return load->kind == CAIRN_LOAD_TABLE ? interpolate(load->time, load->factor, t) : 1;
}

/* The orientation of a body that rotates with its present omega for `ahead` s. In 2D torques are
 * about z in every frame, so the orientation does not matter. */
static cairn_quat turned_on(const cairn_world *world, int i, double ahead)
{
    const cairn_body_store *b = &world->bodies;
    cairn_vec3 turn = cairn_scale(ahead, b->omega[i]);
    return world->dimension == 3 ? cairn_quat_multiply(b->q[i], cairn_quat_exp(turn)) : b->q[i];
}

/* Loads from the user's force function, with torques rotated into the body frames. It may write to
 * entries of held bodies, which forces do not move: these are reset. */
static cairn_status follow_state(const cairn_world *world, double ahead, cairn_vec3 *force,
                                 cairn_vec3 *torque)
{
    const cairn_loaded_list *loaded = &world->loaded;
    TRY(loaded->force(loaded->context, world, world->time + ahead, force, torque));
    for (int i = 0; i < world->bodies.count; i++) {
        if (i >= world->bodies.held) {
            torque[i] = cairn_rotate_back(turned_on(world, i, ahead), torque[i]);
        } else {
            force[i] = torque[i] = cairn_vec(0, 0, 0);
        }
    }
    return CAIRN_OK;
}

/* All members evaluate all loads, and so find the same. */
static cairn_status refuse_factor(cairn_world *world, const cairn_loaded *loaded, double ahead)
{
    return cairn_fail(&world->error, CAIRN_NOT_FINITE, "loads",
                      "the factor of a load on body %lld is not a finite number between %.9g and "
                      "%.9g s",
                      (long long)loaded->uid, world->time, world->time + 2 * ahead);
}

/* The force function writes its entries; loads of the list and pushes are then added to them. */
cairn_status cairn_loads_at(cairn_world *world, double ahead, cairn_vec3 *force, cairn_vec3 *torque)
{
    if (world->loaded.force)
        TRY(follow_state(world, ahead, force, torque));
    for (size_t k = 0; k < world->loaded.count; k++) {
        const cairn_loaded *loaded = &world->loaded.items[k];
        double factor = load_factor(&loaded->load, world->time + ahead, ahead);
        int i = cairn_directory_find(&world->bodies.directory, loaded->uid);
        if (!isfinite(factor))
            return refuse_factor(world, loaded, ahead);
        if (i < 0)
            continue; /* another member has this body */
        force[i] = cairn_add_scaled(force[i], factor, loaded->load.force);
        cairn_vec3 in_body = cairn_rotate_back(turned_on(world, i, ahead), loaded->load.torque);
        torque[i] = cairn_add_scaled(torque[i], factor, in_body);
    }
    for (size_t k = 0; k < world->loaded.applied.push_count; k++) {
        const cairn_pushed *push = &world->loaded.applied.pushes[k];
        int i = cairn_directory_find(&world->bodies.directory, push->uid);
        if (i < 0)
            continue; /* it has left meanwhile */
        force[i] = cairn_add(force[i], push->force);
        torque[i] =
            cairn_add(torque[i], cairn_rotate_back(turned_on(world, i, ahead), push->torque));
    }
    return CAIRN_OK;
}
