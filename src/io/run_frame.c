/* run_frame.c - see run_frame.h. */
#include "io/run_frame.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "io/sample.h"

void cairn_run_roll_destroy(cairn_run_roll *roll)
{
    cairn_memory_free(roll->seats);
    cairn_run_shelf_destroy(&roll->shelf);
    *roll = (cairn_run_roll){ 0 };
}

static cairn_status make_room(cairn_run_roll *roll, int bodies)
{
    void *block = roll->seats;
    TRY(cairn_memory_reserve(&block, &roll->capacity, (size_t)bodies, sizeof *roll->seats));
    roll->seats = block;
    return CAIRN_OK;
}

static bool is_new(const cairn_run_roll *roll, const cairn_bodies *all, int i)
{
    return roll->seats[i].next == 0 || roll->seats[i].generation != all->generation[i];
}

static void count_rows(const cairn_run_roll *roll, cairn_run_frame *f)
{
    for (int i = 0; i < f->world.count; i++) {
        f->bodies += f->world.alive[i] != 0;
        f->fresh += f->world.alive[i] && is_new(roll, &f->world, i);
    }
}

/* Takes `count` items for a pointer of the frame; NULL makes the whole frame fail at the end. */
#define TAKE(pointer, count)                                                                       \
    (good = ((pointer) = cairn_arena_take(arena, (count), sizeof *(pointer))) != NULL && good)

static cairn_status take_states(cairn_run_frame *f, cairn_arena *arena)
{
    bool good = true;
    TAKE(f->index, f->bodies);
    TAKE(f->slot, f->bodies);
    TAKE(f->pair, 2 * f->contacts);
    return good ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static cairn_status take_properties(cairn_run_frame *f, cairn_arena *arena)
{
    bool good = true;
    TAKE(f->kind, f->fresh);
    TAKE(f->fresh_slot, f->fresh);
    TAKE(f->geometry, f->fresh);
    TAKE(f->radius, f->fresh);
    TAKE(f->half_angle, f->fresh);
    TAKE(f->bottom_radius, f->fresh);
    TAKE(f->top_radius, f->fresh);
    TAKE(f->height, f->fresh);
    TAKE(f->volume, f->fresh);
    TAKE(f->axis, f->fresh);
    TAKE(f->length, f->fresh);
    TAKE(f->rounding, f->fresh);
    TAKE(f->exponents, 2 * f->fresh);
    TAKE(f->size, f->fresh);
    TAKE(f->semi_axes, f->fresh);
    TAKE(f->shape_x, f->fresh);
    TAKE(f->shape_q, f->fresh);
    return good ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* What does not change with time, once for each body. */
static void fill_properties(cairn_run_frame *f, size_t row, int i)
{
    const cairn_shape *shape = &f->world.shape[i];
    f->kind[row] = (uint8_t)shape->kind;
    f->fresh_slot[row] = i;
    f->geometry[row] = cairn_run_shelf_row(f->shelf, shape->geometry);
    f->radius[row] = shape->radius;
    f->half_angle[row] = shape->half_angle;
    f->bottom_radius[row] = shape->bottom_radius;
    f->top_radius[row] = shape->top_radius;
    f->height[row] = shape->height;
    f->volume[row] = cairn_sample_volume(shape, f->dimension);
    f->axis[row] = shape->axis;
    f->length[row] = shape->length;
    f->rounding[row] = shape->rounding;
    f->exponents[2 * row] = shape->exponent;
    f->exponents[2 * row + 1] = shape->exponent_z;
    f->size[row] = shape->size;
    f->semi_axes[row] = shape->semi_axes;
    f->shape_x[row] = f->world.pose[i].x;
    f->shape_q[row] = f->world.pose[i].q;
}

static cairn_status shelve(const cairn_run_frame *f, cairn_run_roll *roll)
{
    for (int i = 0; i < f->world.count; i++)
        if (f->world.alive[i] && is_new(roll, &f->world, i))
            TRY(cairn_run_shelf_add(&roll->shelf, f->world.shape[i].geometry));
    return CAIRN_OK;
}

static void fill_bodies(cairn_run_frame *f, cairn_run_roll *roll)
{
    size_t row = 0, fresh = 0;
    for (int i = 0; i < f->world.count; i++) {
        if (!f->world.alive[i])
            continue;
        if (is_new(roll, &f->world, i)) {
            fill_properties(f, fresh++, i);
            roll->seats[i].generation = f->world.generation[i];
            roll->seats[i].next = ++roll->count;
        }
        f->index[row] = roll->seats[i].next - 1;
        f->slot[row++] = i;
    }
}

/* Rows of one column, out of the world's by their numbers there, which ascend: in runs that lie
 * together. */
static void gather(const char *from, size_t size, const int32_t *slots, size_t count, char *to)
{
    for (size_t first = 0, end = 0; first < count; first = end) {
        for (end = first + 1; end < count && slots[end] == slots[end - 1] + 1;)
            end++;
        memcpy(to + first * size, from + (size_t)slots[first] * size, (end - first) * size);
    }
}

/* The columns of bodies that go somewhere, of those in `slots`. */
static cairn_status pack(const cairn_run_frame *f, unsigned goes, const int32_t *slots,
                         size_t count, cairn_arena *arena, cairn_bodies *out)
{
    const cairn_column *c;
    *out = (cairn_bodies){ .count = (int)count };
    for (int k = 0; (c = cairn_body_column(k)) != NULL; k++) {
        if (!(c->goes & goes))
            continue;
        size_t size = cairn_column_row(c, f->dimension);
        char *rows = cairn_arena_take(arena, count, size);
        if (!rows)
            return CAIRN_NO_MEMORY;
        gather(cairn_column_rows(c, &f->world), size, slots, count, rows);
        memcpy((char *)out + c->shown, &rows, sizeof rows);
    }
    return CAIRN_OK;
}

int32_t cairn_run_row_of(const cairn_run_frame *f, const cairn_run_roll *roll, int32_t i)
{
    bool there = i >= 0 && i < f->world.count && f->world.alive[i];
    return there ? roll->seats[i].next - 1 : -1;
}

cairn_run_look cairn_run_look_of(const cairn_run_frame *f, int32_t slot)
{
    switch (f->world.shape[slot].kind) {
    case CAIRN_SHAPE_SPHERE:
    case CAIRN_SHAPE_POINT:
        return CAIRN_LOOK_BALL;
    case CAIRN_SHAPE_HALF_SPACE:
    case CAIRN_SHAPE_INSIDE_CYLINDER:
    case CAIRN_SHAPE_INSIDE_CONE:
    case CAIRN_SHAPE_INSIDE_BOX:
    case CAIRN_SHAPE_FUNNEL:
    case CAIRN_SHAPE_POLYLINE:
        return CAIRN_LOOK_WALL;
    default:
        return f->world.motion[slot] == CAIRN_MOTION_FIXED ? CAIRN_LOOK_WALL : CAIRN_LOOK_SHAPE;
    }
}

/* ---- all ------------------------------------------------------------------------------------ */

/* Data get their rows in the order of bodies, so those that are there tell them again. */
cairn_status cairn_run_roll_go_on(cairn_run_roll *roll, const cairn_world *world, int32_t rows)
{
    cairn_bodies all = cairn_world_bodies(world);
    size_t count = (size_t)roll->count;
    int32_t *slots = cairn_memory_zeroed(count, sizeof *slots); /* index + 1, by row */
    cairn_status status = slots || count == 0 ? CAIRN_OK : CAIRN_NO_MEMORY;
    for (int i = 0; slots && i < all.count && (size_t)i < roll->capacity; i++)
        if (all.alive[i] && !is_new(roll, &all, i))
            slots[roll->seats[i].next - 1] = i + 1;
    for (size_t row = 0; slots && row < count && status == CAIRN_OK; row++)
        if (slots[row] > 0)
            status = cairn_run_shelf_add(&roll->shelf, all.shape[slots[row] - 1].geometry);
    cairn_memory_free(slots);
    cairn_run_shelf_settle(&roll->shelf, rows);
    return status;
}

cairn_status cairn_run_frame_take(const cairn_world *world, cairn_run_roll *roll,
                                  cairn_arena *arena, cairn_run_frame *out)
{
    cairn_arena_reset(arena);
    *out = (cairn_run_frame){ .time = cairn_world_time(world),
                              .dimension = cairn_world_dimension(world),
                              .world = cairn_world_bodies(world),
                              .touch = cairn_world_contacts(world),
                              .shelf = &roll->shelf };
    out->contacts = (size_t)out->touch.count;
    TRY(make_room(roll, out->world.count));
    count_rows(roll, out);
    TRY(take_states(out, arena));
    TRY(take_properties(out, arena));
    if (out->fresh > 0)
        TRY(shelve(out, roll));
    fill_bodies(out, roll);
    TRY(pack(out, CAIRN_GOES_FRAME, out->slot, out->bodies, arena, &out->state));
    TRY(pack(out, CAIRN_GOES_ONCE, out->fresh_slot, out->fresh, arena, &out->facts));
    for (size_t k = 0; k < 2 * out->contacts; k++)
        out->pair[k] = cairn_run_row_of(out, roll, out->touch.body[k]);
    return cairn_run_joints_take(world, roll, arena, out);
}

/* ---- detail --------------------------------------------------------------------------------- */

static bool has_load(const cairn_step_inputs *in, int i)
{
    const cairn_vec3 *f = &in->force[i], *t = &in->torque[i];
    return f->x != 0 || f->y != 0 || f->z != 0 || t->x != 0 || t->y != 0 || t->z != 0;
}

static void fill_loads(cairn_run_frame *f, const cairn_run_roll *roll, const cairn_step_inputs *in)
{
    for (int i = 0; i < in->count; i++) {
        if (!has_load(in, i))
            continue;
        f->load_body[f->loads] = cairn_run_row_of(f, roll, i);
        f->force[f->loads] = in->force[i];
        f->torque[f->loads++] = in->torque[i];
    }
}

/* Half a step on a driven body may be anywhere: nobody could tell from the states. */
static void fill_poses(cairn_run_frame *f, const cairn_run_roll *roll, const cairn_step_inputs *in)
{
    for (int i = 0; i < in->count; i++) {
        if (!f->world.alive[i] || f->world.motion[i] != CAIRN_MOTION_DRIVEN)
            continue;
        f->pose_body[f->poses] = cairn_run_row_of(f, roll, i);
        f->pose_x[f->poses] = in->x[i];
        f->pose_q[f->poses++] = in->q[i];
    }
}

/* Where contacts are linearised ahead: the velocities with which bodies in contact, or joined, got
 * there. */
static void fill_guesses(cairn_run_frame *f, const cairn_run_roll *roll,
                         const cairn_step_inputs *in, const uint8_t *touched)
{
    for (int i = 0; in->v && i < in->count; i++) {
        if (!touched[i] || f->world.motion[i] != CAIRN_MOTION_DYNAMIC)
            continue;
        f->guess_body[f->guesses] = cairn_run_row_of(f, roll, i);
        f->guess_v[f->guesses] = in->v[i];
        f->guess_omega[f->guesses++] = in->omega[i];
    }
}

/* Columns of contacts: what the step did not use is 0. */
static cairn_status fill_columns(cairn_run_frame *f, cairn_arena *arena,
                                 const cairn_step_inputs *in)
{
    size_t m = f->contacts;
    double *zeros = cairn_arena_doubles(arena, m * (size_t)f->dimension);
    uint8_t *none = cairn_arena_take(arena, m, sizeof *none);
    if (!zeros || !none)
        return CAIRN_NO_MEMORY;
    memset(none, 0, m);
    f->bias = in->bias;
    f->exact = in->exact ? in->exact : none;
    f->compression = in->compression ? in->compression : zeros;
    f->correction = in->correction ? in->correction : zeros;
    f->impacts = (size_t)in->impacts;
    f->impact_round = in->impact_round;
    f->impact_contact = in->impact_contact;
    f->impact_time = in->impact_time;
    f->impact_impulse = in->impact_impulse;
    return CAIRN_OK;
}

cairn_status cairn_run_frame_detail(const cairn_world *world, const cairn_run_roll *roll,
                                    cairn_arena *arena, cairn_run_frame *f)
{
    cairn_step_inputs in = cairn_world_step_inputs(world);
    size_t count = (size_t)in.count;
    uint8_t *touched;
    bool good = true;
    TAKE(f->load_body, count);
    TAKE(f->force, count);
    TAKE(f->torque, count);
    TAKE(f->pose_body, count);
    TAKE(f->pose_x, count);
    TAKE(f->pose_q, count);
    TAKE(f->guess_body, count);
    TAKE(f->guess_v, count);
    TAKE(f->guess_omega, count);
    TAKE(touched, count);
    if (!good)
        return CAIRN_NO_MEMORY;
    memset(touched, 0, count);
    for (int k = 0; k < 2 * f->touch.count; k++)
        touched[f->touch.body[k]] = 1;
    for (size_t k = 0; k < 2 * f->joint.count; k++)
        if (f->joint.slot[k] >= 0)
            touched[f->joint.slot[k]] = 1;
    fill_loads(f, roll, &in);
    fill_poses(f, roll, &in);
    fill_guesses(f, roll, &in, touched);
    return fill_columns(f, arena, &in);
}
