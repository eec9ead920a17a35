/* frame.c - takes a frame of the world: its bodies in the order of the run's rows, and the contacts
 * of the last step. See frame.h. */
#include "run/frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/world.h"
#include "math/vec.h"
#include "run/run_file.h"

/* ---- rows of the run ------------------------------------------------------------------------ */

void cairn_run_roll_destroy(cairn_run_roll *roll)
{
    cairn_memory_free(roll->uids);
    cairn_run_shelf_destroy(&roll->shelf);
    *roll = (cairn_run_roll){ 0 };
}

/* The row of a body; -1: it has none yet. As long as no body was removed, the row equals the uid;
 * otherwise it is found by bisection. */
int32_t cairn_run_roll_find(const cairn_run_roll *roll, uint64_t uid)
{
    if (uid < (uint64_t)roll->count && roll->uids[uid] == uid)
        return (int32_t)uid;
    int32_t low = 0, high = roll->count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (roll->uids[middle] < uid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < roll->count && roll->uids[low] == uid ? low : -1;
}

static int compare_uids(const void *a, const void *b)
{
    uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
    return (p > q) - (p < q);
}

/* Assign rows to bodies that have none. Their uids are larger than all in the roll: uids increase,
 * and each frame enrols all bodies. Sorting the new ones keeps the whole roll sorted. The world
 * stores bodies in an order of its own, so they do not come sorted. */
static cairn_status enrol(cairn_run_roll *roll, const cairn_bodies *all, size_t *fresh)
{
    int32_t before = roll->count;
    TRY(cairn_memory_reserve((void **)&roll->uids, &roll->capacity,
                             (size_t)before + (size_t)all->count, sizeof *roll->uids));
    uint64_t *young = roll->uids + before;
    for (int i = 0; i < all->count; i++)
        if (before == 0 || all->uid[i] > roll->uids[before - 1])
            young[(*fresh)++] = all->uid[i];
    if (*fresh > INT32_MAX - (size_t)before)
        return CAIRN_NO_MEMORY;
    if (*fresh > 1)
        qsort(young, *fresh, sizeof *young, compare_uids);
    roll->count = before + (int32_t)*fresh;
    return CAIRN_OK;
}

/* ---- packing -------------------------------------------------------------------------------- */

/* Every array is attempted even if one failed before: none is left undefined. */
static cairn_status take_states(cairn_run_frame *f, cairn_arena *arena)
{
    bool good = true;
    good = CAIRN_TAKE(arena, f->row_of, f->bodies) && good;
    good = CAIRN_TAKE(arena, f->index, f->bodies) && good;
    good = CAIRN_TAKE(arena, f->slot, f->bodies) && good;
    good = CAIRN_TAKE(arena, f->pair, 2 * f->contacts) && good;
    return good ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static cairn_status take_properties(cairn_run_frame *f, cairn_arena *arena)
{
    bool good = true;
    good = CAIRN_TAKE(arena, f->kind, f->fresh) && good;
    good = CAIRN_TAKE(arena, f->fresh_slot, f->fresh) && good;
    good = CAIRN_TAKE(arena, f->geometry, f->fresh) && good;
    good = CAIRN_TAKE(arena, f->radius, f->fresh) && good;
    good = CAIRN_TAKE(arena, f->half_angle, f->fresh) && good;
    good = CAIRN_TAKE(arena, f->bottom_radius, f->fresh) && good;
    good = CAIRN_TAKE(arena, f->top_radius, f->fresh) && good;
    good = CAIRN_TAKE(arena, f->height, f->fresh) && good;
    good = CAIRN_TAKE(arena, f->volume, f->fresh) && good;
    good = CAIRN_TAKE(arena, f->axis, f->fresh) && good;
    good = CAIRN_TAKE(arena, f->length, f->fresh) && good;
    good = CAIRN_TAKE(arena, f->rounding, f->fresh) && good;
    good = CAIRN_TAKE(arena, f->exponents, 2 * f->fresh) && good;
    good = CAIRN_TAKE(arena, f->size, f->fresh) && good;
    good = CAIRN_TAKE(arena, f->semi_axes, f->fresh) && good;
    good = CAIRN_TAKE(arena, f->shape_x, f->fresh) && good;
    good = CAIRN_TAKE(arena, f->shape_q, f->fresh) && good;
    return good ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* A shape made in C may have numbers that its kind does not use: the file has 0 for them. */
static cairn_shape only_own(const cairn_shape *shape)
{
    const cairn_record *record = cairn_shape_record((int)shape->kind);
    cairn_shape own = { .kind = shape->kind, .axis = shape->axis };
    for (int k = 0; k < record->option_count; k++) {
        const cairn_option *option = &record->options[k];
        size_t bytes = option->type == CAIRN_OPTION_REAL     ? sizeof(double)
                       : option->type == CAIRN_OPTION_VECTOR ? sizeof(cairn_vec3)
                                                             : 0;
        memcpy((char *)&own + option->offset, (const char *)shape + option->offset, bytes);
    }
    return own;
}

/* The properties of body `i` (row of the world) that do not change with time. */
static void fill_properties(cairn_run_frame *f, size_t row, int i)
{
    const cairn_shape *whole = cairn_bodies_shape(&f->world, i), own = only_own(whole);
    const cairn_shape *shape = &own;
    f->kind[row] = (uint8_t)shape->kind;
    f->fresh_slot[row] = i;
    f->geometry[row] = cairn_run_shelf_row(f->shelf, whole->geometry);
    f->radius[row] = shape->radius;
    f->half_angle[row] = shape->half_angle;
    f->bottom_radius[row] = shape->bottom_radius;
    f->top_radius[row] = shape->top_radius;
    f->height[row] = shape->height;
    f->volume[row] = cairn_sample_volume(whole, f->dimension);
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

/* The row in /bodies of each body, and the range of these rows. */
static cairn_status find_rows(cairn_run_frame *f, const cairn_run_roll *roll, int32_t *low,
                              int32_t *high)
{
    *low = roll->count;
    *high = 0;
    for (int i = 0; i < f->world.count; i++) {
        int32_t row = f->row_of[i] = cairn_run_roll_find(roll, f->world.uid[i]);
        if (row < 0) /* a checkpoint whose roll does not belong to its world */
            return CAIRN_BAD_INPUT;
        *low = row < *low ? row : *low;
        *high = row < *high ? *high : row + 1;
    }
    return CAIRN_OK;
}

/* List the bodies by increasing row of the run: a counting sort through an array over the range of
 * rows, since rows of bodies that no longer exist are empty. */
static cairn_status list_bodies(cairn_run_frame *f, const cairn_run_roll *roll, cairn_arena *arena)
{
    int32_t low, high;
    size_t rows = 0;
    TRY(find_rows(f, roll, &low, &high));
    int32_t *slots = cairn_arena_take(arena, high > low ? (size_t)(high - low) : 0, sizeof *slots);
    if (!slots)
        return CAIRN_NO_MEMORY;
    for (int32_t row = low; row < high; row++)
        slots[row - low] = -1;
    for (int i = 0; i < f->world.count; i++)
        slots[f->row_of[i] - low] = i;
    for (int32_t row = low; row < high; row++)
        if (slots[row - low] >= 0) {
            f->index[rows] = row;
            f->slot[rows++] = slots[row - low];
        }
    return CAIRN_OK;
}

/* New bodies have the largest rows, so they are the last ones in the list. The shelf gets all
 * geometries first: a body refers to its row. */
static cairn_status fill_fresh(cairn_run_frame *f, cairn_run_roll *roll)
{
    const int32_t *slots = f->slot + (f->bodies - f->fresh);
    for (size_t k = 0; k < f->fresh; k++)
        TRY(cairn_run_shelf_add(&roll->shelf, cairn_bodies_shape(&f->world, slots[k])->geometry));
    for (size_t k = 0; k < f->fresh; k++)
        fill_properties(f, k, slots[k]);
    return CAIRN_OK;
}

/* Copy the rows `slots` of one column; consecutive rows are copied together. */
static void gather(const char *from, size_t size, const int32_t *slots, size_t count, char *to)
{
    for (size_t first = 0, end = 0; first < count; first = end) {
        for (end = first + 1; end < count && slots[end] == slots[end - 1] + 1;)
            end++;
        memcpy(to + first * size, from + (size_t)slots[first] * size, (end - first) * size);
    }
}

/* Pack all body columns with the flag `goes` for the bodies in `slots`. The pointer is stored
 * through the column's offset, because its type differs from column to column. */
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

int32_t cairn_run_row_of(const cairn_run_frame *f, int32_t slot)
{
    return slot >= 0 ? f->row_of[slot] : -1;
}

cairn_run_look cairn_run_look_of(const cairn_run_frame *f, int32_t slot)
{
    switch (cairn_bodies_shape(&f->world, slot)->kind) {
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

/* Order matters: rows are assigned before bodies are listed, and bodies are listed before columns
 * are packed. */
cairn_status cairn_run_frame_fill(cairn_run_roll *roll, cairn_arena *arena, cairn_run_frame *out)
{
    cairn_arena_reset(arena);
    out->contacts = (size_t)out->touch.count;
    out->bodies = (size_t)out->world.count;
    TRY(enrol(roll, &out->world, &out->fresh));
    TRY(take_states(out, arena));
    TRY(take_properties(out, arena));
    TRY(list_bodies(out, roll, arena));
    TRY(fill_fresh(out, roll));
    TRY(pack(out, CAIRN_GOES_FRAME, out->slot, out->bodies, arena, &out->state));
    TRY(pack(out, CAIRN_GOES_ONCE, out->fresh_slot, out->fresh, arena, &out->facts));
    for (size_t k = 0; k < 2 * out->contacts; k++)
        out->pair[k] = cairn_run_row_of(out, out->touch.body[k]);
    return CAIRN_OK;
}

/* Joints come last because they refer to rows of bodies. */
cairn_status cairn_run_frame_take(const cairn_world *world, cairn_run_roll *roll,
                                  cairn_arena *arena, cairn_run_frame *out)
{
    *out = (cairn_run_frame){ .time = cairn_world_time(world),
                              .dimension = cairn_world_dimension(world),
                              .cell = cairn_world_lattice(world),
                              .world = cairn_world_bodies(world),
                              .touch = cairn_world_contacts(world),
                              .shelf = &roll->shelf };
    TRY(cairn_run_frame_fill(roll, arena, out));
    return cairn_run_joints_take(world, roll, arena, out);
}

cairn_vec3 cairn_run_place(const cairn_bodies *bodies, const cairn_lattice *cell, int slot)
{
    cairn_vec3 x = bodies->x[slot];
    for (int axis = 0; axis < 3; axis++)
        x = cairn_add_scaled(x, bodies->image[slot].k[axis], cell->edge[axis]);
    return x;
}

/* ---- detail --------------------------------------------------------------------------------- */

bool cairn_run_has_load(const cairn_step_inputs *in, int i)
{
    const cairn_vec3 *f = &in->force[i], *t = &in->torque[i];
    if (in->damping && in->damping[i].x != 0)
        return true; /* a wall of a cell: held in some direction */
    return f->x != 0 || f->y != 0 || f->z != 0 || t->x != 0 || t->y != 0 || t->z != 0;
}

static void fill_loads(cairn_run_frame *f, const cairn_step_inputs *in)
{
    for (size_t row = 0; row < f->bodies; row++) {
        int i = f->slot[row];
        /* Inlets may have added bodies after the step: they were not part of it. */
        if (i >= in->count || !cairn_run_has_load(in, i))
            continue;
        f->load_body[f->loads] = f->index[row];
        f->force[f->loads] = in->force[i];
        f->load_damping[f->loads] = in->damping ? in->damping[i] : (cairn_vec3){ 0, 0, 0 };
        f->torque[f->loads++] = in->torque[i];
    }
}

/* Poses of driven bodies at the time at which contacts were evaluated (in some schemes mid-step). A
 * program that checks the run cannot derive them from the states before and after the step. */
static void fill_poses(cairn_run_frame *f, const cairn_step_inputs *in)
{
    for (size_t row = 0; row < f->bodies; row++) {
        int i = f->slot[row];
        if (i >= in->count || f->world.motion[i] != CAIRN_MOTION_DRIVEN)
            continue;
        f->pose_body[f->poses] = f->index[row];
        f->pose_x[f->poses] = in->x[i];
        f->pose_q[f->poses++] = in->q[i];
    }
}

/* v^ of bodies in contact or joined, for schemes that linearise contacts ahead, at q + h v^. in->v
 * is NULL in other schemes. Other bodies do not need it: nothing was linearised for them. */
static void fill_guesses(cairn_run_frame *f, const cairn_step_inputs *in, const uint8_t *touched)
{
    for (size_t row = 0; in->v && row < f->bodies; row++) {
        int i = f->slot[row];
        if (i >= in->count || !touched[i] || i < f->world.held)
            continue;
        f->guess_body[f->guesses] = f->index[row];
        f->guess_v[f->guesses] = in->v[i];
        f->guess_omega[f->guesses++] = in->omega[i];
    }
}

/* Columns of contacts. Arrays that the step did not use are stored as zeros, so that all files have
 * the same columns; `zeros` serves every width up to the dimension. */
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

/* Bodies that the caller changed, by their uid: one may have left since. */
static cairn_status fill_changes(cairn_run_frame *f, const cairn_run_roll *roll, cairn_arena *arena,
                                 const cairn_step_inputs *in)
{
    size_t count = (size_t)in->changes;
    bool good = true;
    good = CAIRN_TAKE(arena, f->change_body, count) && good;
    good = CAIRN_TAKE(arena, f->change_material, count) && good;
    good = CAIRN_TAKE(arena, f->change_x, count) && good;
    good = CAIRN_TAKE(arena, f->change_q, count) && good;
    good = CAIRN_TAKE(arena, f->change_angle, count) && good;
    good = CAIRN_TAKE(arena, f->change_v, count) && good;
    good = CAIRN_TAKE(arena, f->change_omega, count) && good;
    if (!good)
        return CAIRN_NO_MEMORY;
    for (size_t k = 0; k < count; k++) {
        const cairn_change *from = &in->change[k];
        f->change_body[k] = cairn_run_roll_find(roll, from->uid);
        f->change_material[k] = from->material;
        f->change_x[k] = from->state.x;
        f->change_q[k] = from->state.q;
        f->change_angle[k] = from->state.angle;
        f->change_v[k] = from->state.v;
        f->change_omega[k] = from->state.omega;
    }
    f->changes = count;
    return CAIRN_OK;
}

/* Each list has at most so many bodies. */
cairn_status cairn_run_frame_take_inputs(cairn_run_frame *f, size_t count, cairn_arena *arena)
{
    bool good = true;
    good = CAIRN_TAKE(arena, f->load_body, count) && good;
    good = CAIRN_TAKE(arena, f->force, count) && good;
    good = CAIRN_TAKE(arena, f->torque, count) && good;
    good = CAIRN_TAKE(arena, f->load_damping, count) && good;
    good = CAIRN_TAKE(arena, f->pose_body, count) && good;
    good = CAIRN_TAKE(arena, f->pose_x, count) && good;
    good = CAIRN_TAKE(arena, f->pose_q, count) && good;
    good = CAIRN_TAKE(arena, f->guess_body, count) && good;
    good = CAIRN_TAKE(arena, f->guess_v, count) && good;
    good = CAIRN_TAKE(arena, f->guess_omega, count) && good;
    return good ? CAIRN_OK : CAIRN_NO_MEMORY;
}

cairn_status cairn_run_frame_detail(const cairn_world *world, const cairn_run_roll *roll,
                                    cairn_arena *arena, cairn_run_frame *f)
{
    cairn_step_inputs in = cairn_world_step_inputs(world);
    size_t count = (size_t)in.count;
    uint8_t *touched;
    TRY(cairn_run_frame_take_inputs(f, count, arena));
    if (!CAIRN_TAKE(arena, touched, count))
        return CAIRN_NO_MEMORY;
    memset(touched, 0, count);
    for (int k = 0; k < 2 * f->touch.count; k++)
        touched[f->touch.body[k]] = 1;
    for (size_t k = 0; k < 2 * f->joint.count; k++)
        if (f->joint.slot[k] >= 0)
            touched[f->joint.slot[k]] = 1;
    fill_loads(f, &in);
    fill_poses(f, &in);
    fill_guesses(f, &in, touched);
    TRY(fill_changes(f, roll, arena, &in));
    return fill_columns(f, arena, &in);
}
