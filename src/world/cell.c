/* cell.c - cells: walls that press on grains by a stress, a force or a rate of strain.
 *
 * A wall that a cell moves is a block of the one-step problem with one degree of freedom, along the
 * axis a of the cell. With the force F of the servo, mass M, damping c and contact impulses p
 *
 *     M (v+ - v) = h F - h c v+ + a.p,     so   M^-1 = 1/(M + h c) along a, 0 otherwise,
 *                                               v_free = (M v + h F)/(M + h c).
 *
 * So contact forces and the motion of the wall are found together: a wall at rest presses with F,
 * whatever the contacts are, and there is no feedback that could be unstable. M = 0 is an
 * overdamped wall. The servo also carries the weight of the wall.
 *
 * Under control of strain M^-1 = 0 and v_free follows from L+ = L exp(-int rate dt). The force of
 * the servo is then what momentum requires: F = M (v+ - v)/h - a.p/h, and so is that of the guide
 * across the axis. Both are the load of the wall; their work is load_work of the ledger. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "base/expression.h"
#include "base/link.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "math/vec.h"
#include "problem/cut.h"
#include "world/step.h"

enum { AXES = 3, SIDES = 2, WALLS = AXES * SIDES, GRAIN = 2048 }; /* GRAIN: contacts in a range */

cairn_cell_def cairn_cell_def_default(void)
{
    cairn_cell_def def = { .mass = 0 };
    for (int k = 0; k < AXES; k++)
        def.axis[k].low = def.axis[k].high = cairn_body_none();
    return def;
}

static void cell_default(void *def)
{
    *(cairn_cell_def *)def = cairn_cell_def_default();
}

static void axis_default(void *axis)
{
    *(cairn_cell_axis *)axis =
        (cairn_cell_axis){ .low = cairn_body_none(), .high = cairn_body_none() };
}

static const cairn_option cell_options[] = {
    { "mass", CAIRN_OPTION_REAL, false, offsetof(cairn_cell_def, mass), 0, CAIRN_UNBOUNDED, "kg",
      "of each wall that moves; 0: overdamped", NULL },
    { "damping", CAIRN_OPTION_REAL, false, offsetof(cairn_cell_def, damping), 0, CAIRN_UNBOUNDED,
      "N s/m",
      "force against the speed of a wall; 0: none, or without mass the mass of the sample over the "
      "time step",
      NULL },
    { "strain_from", CAIRN_OPTION_REAL, false, offsetof(cairn_cell_def, strain_from),
      -CAIRN_UNBOUNDED, CAIRN_UNBOUNDED, "s",
      "when strain_rate takes over, and from when strains count", NULL },
    { "filter", CAIRN_OPTION_REAL, false, offsetof(cairn_cell_def, filter), 0, CAIRN_UNBOUNDED, "s",
      "time constant of the mean of measured forces; 0: those of the last step", NULL },
};
static const cairn_option axis_options[] = {
    { "stress", CAIRN_OPTION_FUNCTION, false, offsetof(cairn_cell_axis, stress), -CAIRN_UNBOUNDED,
      CAIRN_UNBOUNDED, "Pa", "of the walls on the grains, compression > 0; in 2D N/m", NULL },
    { "force", CAIRN_OPTION_FUNCTION, false, offsetof(cairn_cell_axis, force), -CAIRN_UNBOUNDED,
      CAIRN_UNBOUNDED, "N", "of each wall on the grains, in place of a stress", NULL },
    { "strain_rate", CAIRN_OPTION_FUNCTION, false, offsetof(cairn_cell_axis, strain_rate),
      -CAIRN_UNBOUNDED, CAIRN_UNBOUNDED, "1/s", "-d ln L/dt of the length, from strain_from on",
      NULL },
};

const cairn_record *cairn_cell_record(void)
{
    static const cairn_record record = {
        "cell",       "walls that press on grains", sizeof(cairn_cell_def), cell_default,
        cell_options, CAIRN_COUNT(cell_options)
    };
    return &record;
}

const cairn_record *cairn_cell_axis_record(void)
{
    static const cairn_record record = {
        "axis",       "control of two walls of a cell", sizeof(cairn_cell_axis), axis_default,
        axis_options, CAIRN_COUNT(axis_options)
    };
    return &record;
}

/* ---- creating ------------------------------------------------------------------------------- */

static cairn_body_id wall_id(const cairn_cell_def *def, int w)
{
    const cairn_cell_axis *axis = &def->axis[w / SIDES];
    return w % SIDES ? axis->high : axis->low;
}

static const char *axis_name(int k)
{
    static const char *const names[] = { "x", "y", "z" };
    return names[k];
}

bool cairn_cells_move(const cairn_world *world, uint64_t uid)
{
    for (size_t k = 0; k < world->driven.cells.count; k++)
        for (int w = 0; w < WALLS; w++) {
            const cairn_cell_wall *wall = &world->driven.cells.items[k].wall[w];
            if (wall->moves && wall->uid == uid)
                return true;
        }
    return false;
}

/* Half the thickness of a wall along an axis; -1: its shape or orientation cannot be a wall. */
static double half_thickness(const cairn_world *world, int row, int axis)
{
    const cairn_body_store *b = &world->bodies;
    const cairn_shape *shape = cairn_body_shape(b, row);
    bool upright = fabs(b->q[row].w) == 1 && cairn_pose_is_identity(&b->pose[row]);
    if (shape->kind == CAIRN_SHAPE_BOX && upright)
        return 0.5 * cairn_component(shape->size, axis);
    bool plane = shape->kind == CAIRN_SHAPE_HALF_SPACE && upright;
    return plane && fabs(cairn_component(cairn_unit(shape->axis), axis)) == 1 ? 0 : -1;
}

/* One wall of a cell that is being created. */
static cairn_status make_wall(cairn_world *world, const cairn_cell_def *def, int w,
                              cairn_cell_wall *out)
{
    cairn_body_id id = wall_id(def, w);
    *out = (cairn_cell_wall){ .uid = id.uid };
    if (id.uid == CAIRN_NO_BODY)
        return CAIRN_OK;
    int row = cairn_body_row(world, id);
    if (row < 0)
        return cairn_fail(&world->error, CAIRN_NOT_FOUND, axis_name(w / SIDES),
                          "there is no such body");
    out->half = half_thickness(world, row, w / SIDES);
    if (out->half < 0)
        return cairn_fail(&world->error, CAIRN_BAD_INPUT, axis_name(w / SIDES),
                          "its %s wall is body %lld, expected a box or half_space that is not "
                          "rotated and faces along %s",
                          w % SIDES ? "high" : "low", cairn_row_uid(world, row),
                          axis_name(w / SIDES));
    out->moves = world->bodies.motion[row] == CAIRN_MOTION_DYNAMIC;
    out->x = cairn_component(world->bodies.x[row], w / SIDES);
    if (out->moves && cairn_cells_move(world, id.uid))
        return cairn_fail(&world->error, CAIRN_BAD_INPUT, axis_name(w / SIDES),
                          "body %lld is already a wall", cairn_row_uid(world, row));
    return CAIRN_OK;
}

static bool has_walls(const cairn_cell *cell, int k)
{
    return cell->wall[SIDES * k].uid != CAIRN_NO_BODY &&
           cell->wall[SIDES * k + 1].uid != CAIRN_NO_BODY;
}

double cairn_cell_length(const cairn_cell *cell, int k)
{
    const cairn_cell_wall *low = &cell->wall[SIDES * k], *high = low + 1;
    return has_walls(cell, k) ? high->x - high->half - (low->x + low->half) : NAN;
}

double cairn_cell_area(const cairn_cell *cell, int dimension, int k)
{
    double area = 1;
    for (int j = 0; j < dimension; j++)
        area *= j == k ? 1 : cairn_cell_length(cell, j);
    return area;
}

/* Control of an axis of which no wall can move. */
static cairn_status refuse_still(cairn_world *world, const cairn_cell *cell, int k,
                                 const char *control)
{
    char walls[2][40] = { "none", "none" };
    for (int side = 0; side < SIDES; side++)
        if (cell->wall[SIDES * k + side].uid != CAIRN_NO_BODY)
            snprintf(walls[side], sizeof walls[side], "body %lld",
                     (long long)cell->wall[SIDES * k + side].uid);
    return cairn_fail(&world->error, CAIRN_BAD_INPUT, axis_name(k),
                      "found %s, but no wall that it could move: expected one of its walls, low: "
                      "%s and high: %s, with motion: dynamic",
                      control, walls[0], walls[1]);
}

/* The conditions on one axis. */
static cairn_status check_axis(cairn_world *world, const cairn_cell *cell, int k)
{
    const cairn_cell_axis *axis = &cell->def.axis[k];
    const char *key = axis_name(k);
    bool stress = !cairn_function_is_none(&axis->stress);
    bool force = !cairn_function_is_none(&axis->force);
    bool rate = !cairn_function_is_none(&axis->strain_rate);
    if (k >= world->dimension && (stress || force || rate || axis->low.uid != CAIRN_NO_BODY ||
                                  axis->high.uid != CAIRN_NO_BODY))
        return cairn_fail(&world->error, CAIRN_BAD_INPUT, key, "not in 2D");
    if (stress && force)
        return cairn_fail(&world->error, CAIRN_BAD_INPUT, key,
                          "found stress and force, expected one of them");
    bool moves = cell->wall[SIDES * k].moves || cell->wall[SIDES * k + 1].moves;
    if ((stress || force || rate) && !moves)
        return refuse_still(world, cell, k, stress ? "stress" : force ? "force" : "strain_rate");
    if (rate && !has_walls(cell, k))
        return cairn_fail(&world->error, CAIRN_BAD_INPUT, key,
                          "found strain_rate, expected a low and a high wall");
    if (stress && !(cairn_cell_area(cell, world->dimension, k) > 0))
        return cairn_fail(&world->error, CAIRN_BAD_INPUT, key,
                          "found stress, which needs an area: expected a low and a high wall of "
                          "every other axis");
    if (has_walls(cell, k) && !(cairn_cell_length(cell, k) > 0))
        return cairn_fail(&world->error, CAIRN_BAD_INPUT, key,
                          "the faces of its walls, low: body %lld and high: body %lld, are %g m "
                          "apart, expected more than 0",
                          (long long)cell->wall[SIDES * k].uid,
                          (long long)cell->wall[SIDES * k + 1].uid, cairn_cell_length(cell, k));
    return CAIRN_OK;
}

static cairn_function *function_of(cairn_cell *cell, int i)
{
    cairn_cell_axis *axis = &cell->def.axis[i / 3];
    cairn_function *const all[] = { &axis->stress, &axis->force, &axis->strain_rate };
    return all[i % 3];
}

/* Own all functions or none. */
static cairn_status own_functions(cairn_cell *cell, cairn_error *error)
{
    for (int i = 0; i < 3 * AXES; i++) {
        cairn_status status = cairn_function_own(function_of(cell, i), error);
        if (status == CAIRN_OK)
            continue;
        while (i-- > 0)
            cairn_function_release(function_of(cell, i));
        return status;
    }
    return CAIRN_OK;
}

/* A wall of a cell does not turn, so it has no moment of inertia; and it meets grains alone. */
static void take_over(cairn_world *world, const cairn_cell *cell)
{
    cairn_body_store *b = &world->bodies;
    b->grouped = true;
    for (int w = 0; w < WALLS; w++) {
        if (!cell->wall[w].moves)
            continue;
        int row = cairn_body_row(world, wall_id(&cell->def, w));
        b->mass[row] = cell->def.mass;
        b->v[row] = b->omega[row] = b->inertia[row] = cairn_vec(0, 0, 0);
    }
}

/* kg: of all dynamic bodies that are no walls, those of this cell included. */
static double sample_mass(const cairn_world *world, const cairn_cell *cell)
{
    const cairn_body_store *b = &world->bodies;
    double mass = 0;
    for (int i = b->held; i < b->count; i++) {
        bool wall = cairn_cells_move(world, b->uid[i]);
        for (int w = 0; w < WALLS; w++)
            wall |= cell->wall[w].uid == b->uid[i];
        mass += wall ? 0 : b->mass[i];
    }
    return mass;
}

cairn_status cairn_cell_create(cairn_world *world, const cairn_cell_def *def)
{
    cairn_pile_return(world);
    cairn_cell_list *list = &world->driven.cells;
    cairn_cell cell = { .def = *def };
    world->error = (cairn_error){ 0 };
    if (world->exchange.link)
        return cairn_fail(&world->error, CAIRN_UNSUPPORTED, "cells",
                          "members cannot add cells: create them before they join");
    if (list->count == CAIRN_MOST_CELLS)
        return cairn_fail(&world->error, CAIRN_BAD_INPUT, "cells", "expected at most %d cells",
                          CAIRN_MOST_CELLS);
    TRY(cairn_record_check(cairn_cell_record(), def, &world->error));
    for (int w = 0; w < WALLS; w++)
        TRY(make_wall(world, def, w, &cell.wall[w]));
    for (int k = 0; k < AXES; k++)
        TRY(check_axis(world, &cell, k));
    cell.sample = sample_mass(world, &cell);
    for (int k = 0; k < AXES; k++)
        cell.length[k] = cairn_cell_length(&cell, k);
    TRY(cairn_memory_reserve((void **)&list->items, &list->capacity, list->count + 1,
                             sizeof *list->items));
    TRY(own_functions(&cell, &world->error));
    take_over(world, &cell);
    list->items[list->count++] = cell;
    return CAIRN_OK;
}

void cairn_cells_remove(cairn_world *world, uint64_t uid)
{
    cairn_cell_list *list = &world->driven.cells;
    size_t kept = 0;
    for (size_t k = 0; k < list->count; k++) {
        bool gone = uid == CAIRN_NO_BODY;
        for (int w = 0; w < WALLS; w++)
            gone |= list->items[k].wall[w].uid == uid;
        if (!gone)
            list->items[kept++] = list->items[k];
        for (int i = 0; gone && i < 3 * AXES; i++)
            cairn_function_release(function_of(&list->items[k], i));
    }
    list->count = kept;
    if (uid != CAIRN_NO_BODY)
        return;
    cairn_memory_free(list->items);
    *list = (cairn_cell_list){ NULL, 0, 0 };
}

/* ---- what is measured ------------------------------------------------------------------------ */

int cairn_world_cell_count(const cairn_world *world)
{
    return (int)world->driven.cells.count;
}

void cairn_cells_copy(const cairn_world *from, cairn_world *to)
{
    const cairn_cell_list *a = &from->driven.cells, *b = &to->driven.cells;
    for (size_t k = 0; k < a->count && k < b->count; k++) {
        memcpy(b->items[k].wall, a->items[k].wall, sizeof a->items[k].wall);
        memcpy(b->items[k].length, a->items[k].length, sizeof a->items[k].length);
        b->items[k].counting = a->items[k].counting;
        b->items[k].measured = a->items[k].measured;
    }
}

/* N: the mean of the forces of the walls of an axis on the grains; NaN: there is none. */
static double force_on_grains(const cairn_cell *cell, int k)
{
    double sum = 0;
    int walls = 0;
    for (int side = 0; side < SIDES; side++) {
        const cairn_cell_wall *wall = &cell->wall[SIDES * k + side];
        if (wall->uid == CAIRN_NO_BODY)
            continue;
        sum += (side ? 1 : -1) * cairn_component(wall->force, k);
        walls++;
    }
    return cell->measured && walls > 0 ? sum / walls : NAN;
}

static cairn_cell_state unknown(void)
{
    cairn_cell_state state = { .volume_strain = NAN, .shear = { NAN, NAN, NAN } };
    for (int k = 0; k < AXES; k++) {
        state.length[k] = state.strain[k] = state.force[k] = state.stress[k] = NAN;
        for (int side = 0; side < SIDES; side++)
            state.servo[k][side] = state.damping[k][side] = NAN;
    }
    return state;
}

/* Strains are counted from the length at strain_from, so before that they are not known. At that
 * time itself, up to rounding, they are 0. */
static double counted_from(const cairn_cell *cell, double time, int k)
{
    double until = cell->def.strain_from - time;
    if (cell->counting)
        return cell->length[k];
    return until > 1e-9 * fabs(cell->def.strain_from) ? NAN : cairn_cell_length(cell, k);
}

cairn_cell_state cairn_world_cell(const cairn_world *world, int index)
{
    cairn_cell_state state = unknown();
    if (index < 0 || index >= cairn_world_cell_count(world))
        return state;
    const cairn_cell *cell = &world->driven.cells.items[index];
    state.volume_strain = 0;
    state.shear = cairn_vec(0, 0, 0);
    for (int k = 0; k < world->dimension; k++) {
        state.length[k] = cairn_cell_length(cell, k);
        state.strain[k] = log(counted_from(cell, world->time, k) / state.length[k]);
        state.force[k] = force_on_grains(cell, k);
        state.stress[k] = state.force[k] / cairn_cell_area(cell, world->dimension, k);
        state.volume_strain += state.strain[k];
    }
    for (int w = 0; w < WALLS; w++) {
        const cairn_cell_wall *wall = &cell->wall[w];
        state.shear = cairn_add(state.shear, wall->force);
        if (!wall->moves || !cell->measured)
            continue;
        state.servo[w / SIDES][w % SIDES] = wall->push;
        state.damping[w / SIDES][w % SIDES] = wall->damping;
    }
    return state;
}

/* ---- in a step ------------------------------------------------------------------------------ */

/* Whether control by strain acts in the step with this middle, s: it does from the step on in which
 * strain_from lies in the first half. */
static bool strains(const cairn_cell *cell, double middle)
{
    return middle >= cell->def.strain_from;
}

/* m/s: of each wall that moves away from the middle, so that L+ = L exp(-int rate dt). */
static double opening_speed(const cairn_step *step, const cairn_cell *cell, int k)
{
    const cairn_function *rate = &cell->def.axis[k].strain_rate;
    double t = step->world->time, h = step->h;
    int walls = cell->wall[SIDES * k].moves + cell->wall[SIDES * k + 1].moves;
    if (cairn_function_is_none(rate) || !strains(cell, t + 0.5 * h))
        return 0;
    double shorter = expm1(-cairn_function_integral(rate, t, t + h));
    return cairn_cell_length(cell, k) * shorter / (h * walls);
}

/* N: with which each wall pushes on the grains in this step. */
static double pushing_force(const cairn_step *step, const cairn_cell *cell, int k)
{
    const cairn_cell_axis *axis = &cell->def.axis[k];
    double t = step->world->time;
    if (cairn_function_is_none(&axis->stress))
        return cairn_function_mean(&axis->force, t, t + step->h);
    return cairn_function_mean(&axis->stress, t, t + step->h) *
           cairn_cell_area(cell, step->world->dimension, k);
}

/* Whether the velocity of the walls of an axis is given in this step, not the force on them. */
static bool holds(const cairn_step *step, const cairn_cell *cell, int k)
{
    const cairn_cell_axis *axis = &cell->def.axis[k];
    double middle = step->world->time + 0.5 * step->h;
    if (!cairn_function_is_none(&axis->strain_rate) && strains(cell, middle))
        return true;
    return cairn_function_is_none(&axis->stress) && cairn_function_is_none(&axis->force);
}

static void set_component(cairn_vec3 *v, int k, double value)
{
    double *const parts[] = { &v->x, &v->y, &v->z };
    *parts[k] = value;
}

/* The free motion of one wall, and its load: the force along the axis, less its weight. */
static void control(const cairn_step *step, const cairn_cell *cell, int w,
                    cairn_free_motion *motion)
{
    const cairn_world *world = step->world;
    cairn_servo *servo = &motion->servos[motion->servo_count++];
    int k = w / SIDES, sign = w % SIDES ? 1 : -1;
    double h = step->h, M = cell->def.mass;
    *servo = (cairn_servo){ .axis = k, .moves = cell->wall[w].moves };
    servo->row = cell->wall[w].uid == CAIRN_NO_BODY
                     ? -1
                     : cairn_directory_find(&world->bodies.directory, cell->wall[w].uid);
    if (!servo->moves)
        return;
    servo->held = holds(step, cell, k);
    bool given = cell->def.damping > 0 || M > 0;
    servo->damping = servo->held ? INFINITY : given ? cell->def.damping : cell->sample / h;
    servo->inverse = servo->held ? 0 : 1 / (M + h * servo->damping);
    if (servo->row < 0)
        return;
    int i = servo->row;
    double v = sign * opening_speed(step, cell, k);
    servo->push = cairn_component(motion->force[i], k) -
                  (servo->held ? 0 : sign * pushing_force(step, cell, k));
    if (!servo->held)
        v = servo->inverse * (M * cairn_component(world->bodies.v[i], k) + h * servo->push);
    motion->torque[i] = motion->omega_free[i] = motion->v_free[i] = cairn_vec(0, 0, 0);
    set_component(&motion->v_free[i], k, v);
    motion->damping[i] = cairn_vec(INFINITY, INFINITY, INFINITY);
    set_component(&motion->damping[i], k, servo->damping);
    motion->force[i] = cairn_scale(-M, world->gravity);
    set_component(&motion->force[i], k, servo->push - M * cairn_component(world->gravity, k));
}

/* Replaces the free motion of the walls that cells move. */
cairn_status cairn_step_control(const cairn_step *step, cairn_free_motion *motion)
{
    const cairn_cell_list *cells = &step->world->driven.cells;
    motion->servo_count = 0;
    motion->servos = NULL;
    motion->damping = NULL;
    if (cells->count == 0)
        return CAIRN_OK;
    motion->damping = (cairn_vec3 *)cairn_arena_doubles(&step->world->scratch,
                                                        3 * (size_t)step->world->bodies.count);
    motion->servos =
        cairn_arena_take(&step->world->scratch, WALLS * cells->count, sizeof *motion->servos);
    if (!motion->servos || !motion->damping)
        return CAIRN_NO_MEMORY;
    for (size_t k = 0; k < cells->count; k++)
        for (int w = 0; w < WALLS; w++)
            control(step, &cells->items[k], w, motion);
    for (int s = 0; s < motion->servo_count; s++)
        if (!isfinite(motion->servos[s].inverse))
            return cairn_fail(&step->world->error, CAIRN_BAD_INPUT, "damping",
                              "a wall without mass needs damping: there is no other dynamic body "
                              "whose mass could replace it");
    return CAIRN_OK;
}

/* The inverse masses of the walls in the problem. */
void cairn_servos_pose(const cairn_step *step, const cairn_free_motion *motion,
                       const cairn_posed *posed)
{
    for (int s = 0; s < motion->servo_count; s++) {
        const cairn_servo *servo = &motion->servos[s];
        if (servo->row < 0 || !servo->moves)
            continue;
        size_t n = (size_t)step->block_size;
        double *inverse = posed->mass_inverse + (size_t)cairn_step_block(step, servo->row) * n;
        memset(inverse, 0, n * sizeof *inverse);
        inverse[servo->axis] = servo->inverse;
    }
}

/* Impulses on the walls of all cells. */
typedef struct felt {
    cairn_vec3 wall[WALLS * CAIRN_MOST_CELLS]; /* N s */
} felt;

typedef struct felt_job {
    const cairn_step *step;
    const cairn_free_motion *motion;
} felt_job;

static void feel_range(int begin, int end, void *context, void *value)
{
    const felt_job *job = context;
    const cairn_contact_store *c = &job->step->world->contacts;
    int d = job->step->world->dimension;
    felt *sum = value;
    end = cairn_step_contacts(job->step, end);
    for (int j = begin; j < end; j++)
        for (int s = 0; s < job->motion->servo_count; s++) {
            int row = job->motion->servos[s].row, a = c->body[2 * j], b = c->body[2 * j + 1];
            if (row < 0 || (row != a && row != b))
                continue;
            const double *r = c->impulse + (size_t)j * (size_t)d;
            cairn_vec3 p = cairn_scale(r[0], c->normal[j]);
            p = cairn_add_scaled(p, r[1], c->tangent[j]);
            if (d == 3)
                p = cairn_add_scaled(p, r[2], cairn_cross(c->normal[j], c->tangent[j]));
            sum->wall[s] = cairn_add_scaled(sum->wall[s], row == a ? 1 : -1, p);
        }
}

static void add_felt(void *result, const void *value)
{
    felt *all = result;
    const felt *part = value;
    for (int s = 0; s < WALLS * CAIRN_MOST_CELLS; s++)
        all->wall[s] = cairn_add(all->wall[s], part->wall[s]);
}

/* The force of the machine on a wall in directions whose velocity is given, by momentum:
 * h F = M (v+ - v) - h M g - p. */
static void react(const cairn_step *step, cairn_free_motion *motion, cairn_servo *servo)
{
    const cairn_body_store *b = &step->world->bodies;
    int i = servo->row;
    double M = b->mass[i], h = step->h;
    for (int k = 0; k < step->world->dimension; k++) {
        if (k == servo->axis && !servo->held)
            continue;
        double change = cairn_component(motion->v_free[i], k) - cairn_component(b->v[i], k);
        double push = (M * change - cairn_component(servo->felt, k)) / h;
        set_component(&motion->force[i], k, push - M * cairn_component(step->world->gravity, k));
        if (k == servo->axis)
            servo->push = push;
    }
}

/* Sums the impulses on the walls, by ranges or parts, so that they do not depend on threads or
 * members; and the forces that hold the walls. */
cairn_status cairn_step_feel(const cairn_step *step, const cairn_answer *answer,
                             cairn_free_motion *motion)
{
    static const felt none = { 0 };
    felt all = none;
    felt_job job = { step, motion };
    const cairn_reduction sum = { .count = step->world->contacts.count,
                                  .grain = GRAIN,
                                  .parted = cairn_problem_parted(&answer->problem),
                                  .work = feel_range,
                                  .join = add_felt,
                                  .context = &job,
                                  .neutral = &none,
                                  .size = sizeof none };
    if (motion->servo_count == 0)
        return CAIRN_OK;
    cairn_step_store_contacts(step, answer);
    TRY(cairn_arena_reduce(&step->world->scratch, &sum, &all));
    for (int s = 0; s < motion->servo_count; s++) {
        motion->servos[s].felt = all.wall[s];
        if (motion->servos[s].moves && motion->servos[s].row >= 0)
            react(step, motion, &motion->servos[s]);
    }
    return CAIRN_OK;
}

/* Damping does the work -h c v+ (v + v+)/2; h c v+^2 is its loss, the rest is numerical. */
void cairn_servos_add_energy(const cairn_step *step, const cairn_free_motion *motion,
                             const cairn_body_end *end, cairn_energy *energy)
{
    for (int s = 0; s < motion->servo_count; s++) {
        const cairn_servo *servo = &motion->servos[s];
        if (servo->row != end->body || !servo->moves || servo->held)
            continue;
        double after = cairn_component(end->v[0], servo->axis);
        double before = cairn_component(step->world->bodies.v[end->body], servo->axis);
        energy->damping_loss += step->h * servo->damping * after * after;
        energy->numerical_loss += step->h * servo->damping * after * 0.5 * (before - after);
    }
}

/* Where the walls are, for all members: the one that moves a wall tells the others. All others send
 * the smallest number, so that the bits of the place are the largest. */
static void share_places(const cairn_step *step, const cairn_free_motion *motion, double *x)
{
    const cairn_world *world = step->world;
    int64_t bits[2 * WALLS * CAIRN_MOST_CELLS];
    int n = motion->servo_count;
    for (int s = 0; s < n; s++) {
        const cairn_servo *servo = &motion->servos[s];
        int i = servo->row;
        bool here = i >= 0 && (i < world->bodies.held || cairn_world_moves(world, i));
        double values[2] = { here ? cairn_component(world->bodies.x[i], servo->axis) : 0,
                             servo->push };
        for (int c = 0; c < 2; c++) {
            bits[2 * s + c] = INT64_MIN;
            if (here)
                memcpy(&bits[2 * s + c], &values[c], sizeof *bits);
        }
    }
    if (world->exchange.link)
        cairn_link_largests(world->exchange.link, bits, 2 * n);
    memcpy(x, bits, 2 * (size_t)n * sizeof *x);
}

/* After the bodies have moved: places and forces of the walls. */
void cairn_step_commit_cells(const cairn_step *step, const cairn_free_motion *motion)
{
    cairn_cell_list *cells = &step->world->driven.cells;
    double values[2 * WALLS * CAIRN_MOST_CELLS];
    if (motion->servo_count == 0)
        return;
    share_places(step, motion, values);
    for (size_t k = 0; k < cells->count; k++) {
        cairn_cell *cell = &cells->items[k];
        double memory = cell->measured ? cell->def.filter : 0;
        bool begins = !cell->counting && strains(cell, step->world->time - 0.5 * step->h);
        for (int i = 0; i < AXES && begins; i++)
            cell->length[i] = cairn_cell_length(cell, i); /* before this step */
        cell->counting = cell->counting || begins;
        for (int w = 0; w < WALLS; w++) {
            size_t s = k * WALLS + (size_t)w;
            cairn_cell_wall *wall = &cell->wall[w];
            wall->x = wall->uid == CAIRN_NO_BODY ? 0 : values[2 * s];
            wall->push = wall->moves ? values[2 * s + 1] : 0;
            wall->damping = motion->servos[s].damping;
            /* f = (tau f + h F)/(tau + h) with h F the impulse */
            cairn_vec3 sum = cairn_add_scaled(motion->servos[s].felt, memory, wall->force);
            wall->force = cairn_scale(1 / (memory + step->h), sum);
        }
        cell->measured = true;
    }
}

/* ---- saved states --------------------------------------------------------------------------- */

/* What a wall has measured. Its half thickness and whether it moves follow from its body. */
static void write_wall(cairn_writer *w, const cairn_cell_wall *wall)
{
    cairn_write_real(w, wall->x);
    cairn_write_real(w, wall->push);
    cairn_write_real(w, wall->damping);
    cairn_write_vector(w, wall->force);
}

/* Only worlds with cells have this part, at the end: others are written as before. */
void cairn_cells_write(cairn_writer *w, const cairn_world *world)
{
    const cairn_cell_list *list = &world->driven.cells;
    if (list->count > 0)
        cairn_write_whole(w, (int64_t)list->count);
    for (size_t k = 0; k < list->count; k++) {
        const cairn_cell *cell = &list->items[k];
        cairn_write_record(w, cairn_cell_record(), &cell->def);
        for (int i = 0; i < 3; i++) {
            cairn_write_whole(w, (int64_t)cell->def.axis[i].low.uid);
            cairn_write_whole(w, (int64_t)cell->def.axis[i].high.uid);
            cairn_write_record(w, cairn_cell_axis_record(), &cell->def.axis[i]);
            cairn_write_real(w, cell->length[i]);
        }
        for (int i = 0; i < 6; i++)
            write_wall(w, &cell->wall[i]);
        cairn_write_real(w, cell->sample);
        cairn_write_whole(w, cell->counting);
        cairn_write_whole(w, cell->measured);
    }
}

/* The velocity of a wall that cairn_cell_create stops; the others have none to lose. */
static cairn_status make_cell(cairn_world *world, const cairn_cell_def *def)
{
    cairn_body_store *b = &world->bodies;
    const cairn_body_id ids[6] = { def->axis[0].low,  def->axis[0].high, def->axis[1].low,
                                   def->axis[1].high, def->axis[2].low,  def->axis[2].high };
    cairn_vec3 v[6];
    for (int i = 0; i < 6; i++) {
        int row = cairn_body_row(world, ids[i]);
        v[i] = row < 0 ? (cairn_vec3){ 0, 0, 0 } : b->v[row];
    }
    TRY(cairn_cell_create(world, def));
    for (int i = 0; i < 6; i++) {
        int row = cairn_body_row(world, ids[i]);
        if (row >= 0)
            b->v[row] = v[i];
    }
    return CAIRN_OK;
}

static cairn_status read_cell(cairn_reader *r, cairn_world *world)
{
    cairn_cell_def def = cairn_cell_def_default();
    cairn_cell state = { 0 };
    cairn_read_record(r, cairn_cell_record(), &def);
    for (int i = 0; i < 3; i++) {
        uint64_t low = (uint64_t)cairn_read_whole(r), high = (uint64_t)cairn_read_whole(r);
        cairn_read_record(r, cairn_cell_axis_record(), &def.axis[i]);
        def.axis[i].low.uid = low;
        def.axis[i].high.uid = high;
        state.length[i] = cairn_read_real(r);
    }
    for (int i = 0; i < 6; i++) {
        state.wall[i].x = cairn_read_real(r);
        state.wall[i].push = cairn_read_real(r);
        state.wall[i].damping = cairn_read_real(r);
        state.wall[i].force = cairn_read_vector(r);
    }
    state.sample = cairn_read_real(r);
    state.counting = cairn_read_within(r, 0, 1) == 1;
    state.measured = cairn_read_within(r, 0, 1) == 1;
    if (r->failed)
        return CAIRN_BAD_INPUT;
    TRY(make_cell(world, &def));
    cairn_cell *made = &world->driven.cells.items[world->driven.cells.count - 1];
    for (int i = 0; i < 6; i++) {
        made->wall[i].x = state.wall[i].x;
        made->wall[i].push = state.wall[i].push;
        made->wall[i].damping = state.wall[i].damping;
        made->wall[i].force = state.wall[i].force;
    }
    memcpy(made->length, state.length, sizeof state.length);
    made->sample = state.sample;
    made->counting = state.counting;
    made->measured = state.measured;
    return CAIRN_OK;
}

cairn_status cairn_cells_read(cairn_reader *r, cairn_world *world)
{
    size_t count = cairn_read_count(r, 8);
    for (size_t i = 0; i < count; i++)
        TRY(read_cell(r, world));
    return CAIRN_OK;
}
