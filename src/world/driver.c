/* driver.c - functions of time: the motions of driven bodies and the loads on dynamic ones. */
#include <math.h>
#include <stddef.h>

#include "base/count.h"
#include "base/memory.h"
#include "base/status.h"
#include "math/vec.h"
#include "world/world.h"

#define ANY -CAIRN_UNBOUNDED, CAIRN_UNBOUNDED

/* ---- drivers -------------------------------------------------------------------------------- */

cairn_driver cairn_driver_default(cairn_driver_kind kind)
{
    return (cairn_driver){ .kind = kind, .stop = INFINITY, .axis = { 0, 0, 1 } };
}

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

#define DRIVER_TIMES                                                                               \
    { "start", CAIRN_OPTION_REAL, false, offsetof(cairn_driver, start), ANY,                       \
      "s",     "when it begins",  NULL },                                                          \
    {                                                                                              \
        "stop", CAIRN_OPTION_REAL, false, offsetof(cairn_driver, stop), -CAIRN_UNBOUNDED,          \
            INFINITY, "s", "when it ends; the body then stays where it is", NULL                   \
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
      "rad/s", "about the body's position, world frame; in 2D [0, 0, w]", NULL },
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
    DRIVER_TIMES,
};

const cairn_record *cairn_driver_record(int kind)
{
    static const cairn_record records[CAIRN_DRIVER_COUNT] = {
        { "velocity", "constant velocity", sizeof(cairn_driver), velocity_default, velocity_options,
          CAIRN_COUNT(velocity_options) },
        { "shake", "sinusoidal shaking", sizeof(cairn_driver), shake_default, shake_options,
          CAIRN_COUNT(shake_options) },
        { "rotation", "constant turning about the body's position", sizeof(cairn_driver),
          rotation_default, rotation_options, CAIRN_COUNT(rotation_options) },
        { "table", "displacement and angle from a table, linear in between", sizeof(cairn_driver),
          table_default, table_options, CAIRN_COUNT(table_options) },
    };
    return kind >= 0 && kind < CAIRN_DRIVER_COUNT ? &records[kind] : NULL;
}

/* ---- loads ---------------------------------------------------------------------------------- */

cairn_load cairn_load_default(cairn_load_kind kind)
{
    return (cairn_load){ .kind = kind, .stop = INFINITY };
}

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

const cairn_record *cairn_load_record(int kind)
{
    static const cairn_record records[CAIRN_LOAD_COUNT] = {
        { "constant", "constant force and torque", sizeof(cairn_load), constant_default,
          constant_options, CAIRN_COUNT(constant_options) },
        { "sine", "force and torque times a sine of time", sizeof(cairn_load), sine_default,
          sine_options, CAIRN_COUNT(sine_options) },
        { "table", "force and torque times a factor from a table", sizeof(cairn_load),
          factor_default, factor_options, CAIRN_COUNT(factor_options) },
    };
    return kind >= 0 && kind < CAIRN_LOAD_COUNT ? &records[kind] : NULL;
}

/* ---- tables --------------------------------------------------------------------------------- */

/* Linear in between, constant outside; 0 for an empty list. */
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

/* Copies all or none: on failure the lists taken so far are freed. */
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

/* In 2D nothing may leave the plane. */
static cairn_status check_driver_2d(const cairn_driver *d, cairn_error *error)
{
    switch (d->kind) {
    case CAIRN_DRIVER_VELOCITY:
        return check_in_plane(d->velocity, "velocity", error);
    case CAIRN_DRIVER_SHAKE:
        return check_in_plane(d->amplitude, "amplitude", error);
    case CAIRN_DRIVER_ROTATION:
        return check_about_z(d->angular_velocity, "angular_velocity", error);
    default:
        for (int i = 0; i < d->z.count; i++)
            TRY(check_in_plane(cairn_vec(0, 0, d->z.values[i]), "z", error));
        return d->angle.count > 0 ? check_about_z(d->axis, "axis", error) : CAIRN_OK;
    }
}

static cairn_status check_driver(cairn_world *world, const cairn_driver *d)
{
    cairn_error *error = &world->error;
    if ((unsigned)d->kind >= CAIRN_DRIVER_COUNT)
        return cairn_fail(error, CAIRN_BAD_INPUT, "drivers", "unknown driver %d", (int)d->kind);
    TRY(cairn_record_check(cairn_driver_record((int)d->kind), d, error));
    TRY(check_times(d->start, d->stop, error));
    if (world->dimension == 2)
        TRY(check_driver_2d(d, error));
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
        if (columns[i].list.count > 0) /* a column that is left out is 0 */
            TRY(check_table(d->time, columns[i].list, columns[i].key, error));
    return CAIRN_OK;
}

cairn_status cairn_driver_add(cairn_world *world, int body, const cairn_driver *driver)
{
    const cairn_body_store *b = &world->bodies;
    TRY(check_driver(world, driver));
    TRY(cairn_memory_reserve((void **)&world->driven.items, &world->driven.capacity,
                             world->driven.count + 1, sizeof *world->driven.items));
    cairn_driven entry = { b->uid[body],   b->x[body],  b->q[body],
                           b->angle[body], world->time, *driver };
    cairn_list *const lists[] = { &entry.driver.time, &entry.driver.x, &entry.driver.y,
                                  &entry.driver.z, &entry.driver.angle };
    TRY(copy_lists(lists, 5));
    world->driven.items[world->driven.count++] = entry;
    return CAIRN_OK;
}

cairn_status cairn_load_add(cairn_world *world, int body, const cairn_load *load)
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
    cairn_loaded entry = { world->bodies.uid[body], *load };
    cairn_list *const lists[] = { &entry.load.time, &entry.load.factor };
    TRY(copy_lists(lists, 2));
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
}

static void free_load(cairn_load *load)
{
    cairn_memory_free((void *)load->time.values);
    cairn_memory_free((void *)load->factor.values);
}

/* Of the first `count` drivers those of one body; CAIRN_NO_BODY: of all. */
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
}

/* The row of a driven body. */
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

cairn_status cairn_body_drive(cairn_world *world, cairn_body_id id, const cairn_driver *drivers,
                              int count)
{
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

void cairn_world_on_force(cairn_world *world, cairn_force_fn *force, void *context)
{
    world->loaded.force = force;
    world->loaded.context = context;
}

/* ---- values --------------------------------------------------------------------------------- */

/* Displacement and turn (an angle vector) of one driver at a time. */
static void driver_at(const cairn_driver *d, double time, cairn_vec3 *move, cairn_vec3 *turn)
{
    double t = fmin(fmax(time, d->start), d->stop) - d->start;
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
    default:
        *move = cairn_vec(interpolate(d->time, d->x, t), interpolate(d->time, d->y, t),
                          interpolate(d->time, d->z, t));
        if (d->angle.count > 0) /* else there may be no axis */
            *turn = cairn_scale(interpolate(d->time, d->angle, t) / cairn_norm(d->axis), d->axis);
    }
}

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
        cairn_vec3 move, turn, move0, turn0;
        driver_at(&driven->driver, driven->since, &move0, &turn0);
        driver_at(&driven->driver, time, &move, &turn);
        turn = cairn_sub(turn, turn0); /* about the same axis */
        *x = cairn_add(*x, cairn_sub(move, move0));
        *angle += turn.z;
        *q = cairn_quat_normalised(cairn_quat_multiply(cairn_quat_exp(turn), *q));
    }
}

static double load_factor(const cairn_load *load, double time)
{
    double t = time - load->start;
    if (time < load->start || time > load->stop)
        return 0;
    if (load->kind == CAIRN_LOAD_SINE)
        return sin(2 * M_PI * load->frequency * t + load->phase);
    return load->kind == CAIRN_LOAD_TABLE ? interpolate(load->time, load->factor, t) : 1;
}

/* The orientation of a body that turns on for `ahead` s. */
static cairn_quat turned_on(const cairn_world *world, int i, double ahead)
{
    const cairn_body_store *b = &world->bodies;
    cairn_vec3 turn = cairn_scale(ahead, b->omega[i]);
    return world->dimension == 3 ? cairn_quat_multiply(b->q[i], cairn_quat_exp(turn)) : b->q[i];
}

/* What the world's own function says, with torques brought into the frames of bodies. */
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

cairn_status cairn_loads_at(const cairn_world *world, double ahead, cairn_vec3 *force,
                            cairn_vec3 *torque)
{
    if (world->loaded.force)
        TRY(follow_state(world, ahead, force, torque));
    for (size_t k = 0; k < world->loaded.count; k++) {
        const cairn_loaded *loaded = &world->loaded.items[k];
        double factor = load_factor(&loaded->load, world->time + ahead);
        int i = cairn_directory_find(&world->bodies.directory, loaded->uid);
        force[i] = cairn_add_scaled(force[i], factor, loaded->load.force);
        cairn_vec3 in_body = cairn_rotate_back(turned_on(world, i, ahead), loaded->load.torque);
        torque[i] = cairn_add_scaled(torque[i], factor, in_body);
    }
    return CAIRN_OK;
}
