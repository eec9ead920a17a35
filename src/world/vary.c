/* vary.c - what changes in a world besides its motion: numbers that are functions of time (gravity,
 * friction, targets of motors, rates of inlets, how a periodic cell deforms), and what the caller
 * applies between steps.
 *
 * The step from t to t + h sets them once, when it begins, so that all stages see the same values:
 * the mean over the step, (1/h) int f dt, or for a position motor f(t + h). They are set back if
 * the step fails. */
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/common.h"
#include "base/expression.h"
#include "base/memory.h"
#include "math/vec.h"
#include "world/step.h"

/* The number that an entry sets. A rate has none: what counts is its integral. NULL: there is no
 * such object. */
static double *number_of(cairn_world *world, cairn_varied what, int index)
{
    bool material = index >= 0 && (size_t)index < world->materials.count;
    bool joint = index >= 0 && (size_t)index < world->joints.count;
    bool inlet = index >= 0 && (size_t)index < world->inlets.count;
    switch (what) {
    case CAIRN_VARIED_GRAVITY_X:
        return &world->gravity.x;
    case CAIRN_VARIED_GRAVITY_Y:
        return &world->gravity.y;
    case CAIRN_VARIED_GRAVITY_Z:
        return &world->gravity.z;
    case CAIRN_VARIED_FRICTION:
        return material ? &world->materials.items[index].friction : NULL;
    case CAIRN_VARIED_TURN:
        return joint ? &world->joints.items[index].def.turn.target : NULL;
    case CAIRN_VARIED_SLIDE:
        return joint ? &world->joints.items[index].def.slide.target : NULL;
    case CAIRN_VARIED_RATE:
        return inlet ? &world->inlets.items[index].flow : NULL;
    case CAIRN_VARIED_LATTICE_X:
    case CAIRN_VARIED_LATTICE_Y:
    case CAIRN_VARIED_LATTICE_Z:
        return (unsigned)index < 3 ? &world->periodic.gradient[index][what - CAIRN_VARIED_LATTICE_X]
                                   : NULL;
    default:
        return NULL;
    }
}

void cairn_world_copy_varied(const cairn_world *from, cairn_world *to)
{
    const cairn_varied_list *list = &from->driven.varied;
    for (size_t k = 0; k < list->count; k++) {
        const double *now =
            number_of((cairn_world *)from, list->items[k].what, list->items[k].index);
        double *copy = number_of(to, list->items[k].what, list->items[k].index);
        if (now && copy)
            *copy = *now;
    }
    cairn_lattice_copy(from, to);
}

static const char *name_of(cairn_varied what)
{
    static const char *const names[] = { "gravity", "gravity", "gravity",  "friction", "target",
                                         "target",  "rate",    "gradient", "gradient", "gradient" };
    return names[what];
}

/* What cannot vary although it exists. */
static cairn_status check_varied(cairn_world *world, cairn_varied what, int index)
{
    cairn_error *error = &world->error;
    if ((unsigned)what >= CAIRN_VARIED_COUNT || !number_of(world, what, index))
        return cairn_fail(error, CAIRN_NOT_FOUND, NULL, "there is no such number to vary");
    if (what == CAIRN_VARIED_GRAVITY_Z && world->dimension == 2)
        return cairn_fail(error, CAIRN_BAD_INPUT, "gravity", "in 2D z must be 0");
    if (what == CAIRN_VARIED_FRICTION &&
        world->materials.items[index].friction_law.kind != CAIRN_FRICTION_CONSTANT)
        return cairn_fail(error, CAIRN_BAD_INPUT, "friction",
                          "friction that depends on the sliding speed cannot vary with time");
    return CAIRN_OK;
}

static cairn_varied_number *find_varied(cairn_world *world, cairn_varied what, int index)
{
    cairn_varied_list *list = &world->driven.varied;
    for (size_t k = 0; k < list->count; k++)
        if (list->items[k].what == what && list->items[k].index == index)
            return &list->items[k];
    return NULL;
}

/* Let a number be constant again. The rate of an inlet cannot: how many bodies are due would follow
 * from its constant rate since the start. */
static cairn_status stop_varying(cairn_world *world, cairn_varied what, int index)
{
    cairn_varied_list *list = &world->driven.varied;
    cairn_varied_number *old = find_varied(world, what, index);
    if (what == CAIRN_VARIED_RATE)
        return cairn_fail(&world->error, CAIRN_BAD_INPUT, "rate", "expected a function of time");
    if (!old)
        return CAIRN_OK;
    cairn_function_release(&old->function);
    list->count--;
    memmove(old, old + 1, (size_t)(list->items + list->count - old) * sizeof *old);
    return CAIRN_OK;
}

cairn_status cairn_world_vary(cairn_world *world, cairn_varied what, int index,
                              const cairn_function *function)
{
    cairn_varied_list *list = &world->driven.varied;
    world->error = (cairn_error){ 0 };
    TRY(check_varied(world, what, index));
    if (!function)
        return stop_varying(world, what, index);
    if (what >= CAIRN_VARIED_LATTICE_X)
        TRY(cairn_lattice_check_gradient(&world->periodic.cell, index,
                                         (int)what - CAIRN_VARIED_LATTICE_X, &world->error));
    cairn_varied_number entry = { .what = what, .index = index, .function = *function };
    cairn_varied_number *old = find_varied(world, what, index);
    TRY(cairn_memory_reserve((void **)&list->items, &list->capacity, list->count + 1,
                             sizeof *list->items));
    TRY(cairn_function_own(&entry.function, &world->error));
    if (old) {
        old = find_varied(world, what, index); /* the list may have moved */
        cairn_function_release(&old->function);
        *old = entry;
    } else {
        list->items[list->count++] = entry;
    }
    if (what == CAIRN_VARIED_RATE)
        cairn_inlet_vary(&world->inlets.items[index], world->time);
    return CAIRN_OK;
}

bool cairn_varied_told(const cairn_world *world)
{
    bool told = false;
    for (size_t k = 0; k < world->driven.varied.count; k++)
        told = told || world->driven.varied.items[k].told;
    return told;
}

bool cairn_world_varies(const cairn_world *world, cairn_varied what)
{
    for (size_t k = 0; k < world->driven.varied.count; k++)
        if (world->driven.varied.items[k].what == what)
            return true;
    return false;
}

void cairn_varied_release(cairn_world *world)
{
    cairn_varied_list *list = &world->driven.varied;
    for (size_t k = 0; k < list->count; k++)
        cairn_function_release(&list->items[k].function);
    cairn_memory_free(list->items);
    *list = (cairn_varied_list){ NULL, 0, 0 };
}

/* Whether a motor aims at a coordinate, which it should have when the step ends. */
static bool aims_at_end(const cairn_world *world, const cairn_varied_number *v)
{
    if (v->what != CAIRN_VARIED_TURN && v->what != CAIRN_VARIED_SLIDE)
        return false;
    const cairn_joint_def *def = &world->joints.items[v->index].def;
    const char *motor = v->what == CAIRN_VARIED_TURN ? def->turn.motor : def->slide.motor;
    return motor && strcmp(motor, cairn_motor_name(CAIRN_MOTOR_POSITION)) == 0;
}

/* The number in the step from t to t + h: the mean (1/h) int f dt, or f(t + h); of a rate, its
 * integral so far with that of the step. */
double cairn_varied_in_step(const cairn_world *world, const cairn_varied_number *v, double h)
{
    double t = world->time;
    if (v->told)
        return v->next;
    if (v->what == CAIRN_VARIED_RATE) {
        const cairn_inlet *inlet = &world->inlets.items[v->index];
        double from = fmax(t, inlet->def.start);
        return inlet->flow +
               (t + h > from ? cairn_function_integral(&v->function, from, t + h) : 0);
    }
    return aims_at_end(world, v) ? cairn_function_value(&v->function, t + h)
                                 : cairn_function_mean(&v->function, t, t + h);
}

void cairn_varied_restore(cairn_world *world)
{
    for (size_t k = 0; k < world->driven.varied.count; k++) {
        const cairn_varied_number *v = &world->driven.varied.items[k];
        *number_of(world, v->what, v->index) = v->before;
    }
}

/* Friction and rates are not negative: the integral of a rate never falls. */
cairn_status cairn_varied_set(cairn_world *world, double h)
{
    cairn_varied_list *list = &world->driven.varied;
    for (size_t k = 0; k < list->count; k++)
        list->items[k].before = *number_of(world, list->items[k].what, list->items[k].index);
    for (size_t k = 0; k < list->count; k++) {
        const cairn_varied_number *v = &list->items[k];
        double next = cairn_varied_in_step(world, v, h);
        bool negative = (v->what == CAIRN_VARIED_FRICTION && next < 0) ||
                        (v->what == CAIRN_VARIED_RATE && next < v->before);
        if (negative || !isfinite(next)) {
            cairn_varied_restore(world);
            return cairn_fail(&world->error, negative ? CAIRN_BAD_INPUT : CAIRN_NOT_FINITE,
                              name_of(v->what), "its function of time is %s at t = %g s",
                              negative ? "negative" : "not finite", world->time);
        }
        *number_of(world, v->what, v->index) = next;
    }
    return CAIRN_OK;
}

static bool is_callback(const cairn_varied_number *v)
{
    return v->function.kind == CAIRN_FUNCTION_CALL;
}

/* Which number it is, as all lists of functions begin. */
static void write_number(cairn_writer *w, const cairn_varied_number *v)
{
    cairn_write_whole(w, (int64_t)v->what);
    cairn_write_whole(w, v->index);
}

static void read_number(cairn_reader *r, cairn_varied_number *v)
{
    v->what = (cairn_varied)cairn_read_within(r, 0, CAIRN_VARIED_COUNT - 1);
    v->index = (int)cairn_read_within(r, 0, INT32_MAX);
}

/* The functions; the numbers themselves are those of the last step. */
void cairn_varied_write(cairn_writer *w, const cairn_world *world)
{
    const cairn_varied_list *list = &world->driven.varied;
    size_t count = 0;
    for (size_t k = 0; k < list->count; k++)
        count += !(list->plain && is_callback(&list->items[k]));
    cairn_write_whole(w, (int64_t)count);
    for (size_t k = 0; k < list->count; k++) {
        if (list->plain && is_callback(&list->items[k]))
            continue;
        write_number(w, &list->items[k]);
        cairn_write_function(w, &list->items[k].function);
    }
}

cairn_status cairn_varied_read(cairn_reader *r, cairn_world *world)
{
    cairn_varied_number v;
    read_number(r, &v);
    v.function = cairn_read_function(r);
    if (r->failed)
        return CAIRN_BAD_INPUT;
    return cairn_world_vary(world, v.what, v.index, &v.function);
}

void cairn_varied_tell(cairn_writer *w, const cairn_world *world, double h)
{
    const cairn_varied_list *list = &world->driven.varied;
    cairn_write_whole(w, (int64_t)list->count);
    for (size_t k = 0; k < list->count; k++) {
        const cairn_varied_number *v = &list->items[k];
        write_number(w, v);
        cairn_write_whole(w, is_callback(v));
        if (is_callback(v))
            cairn_write_real(w, cairn_varied_in_step(world, v, h));
        else
            cairn_write_function(w, &v->function);
    }
}

cairn_status cairn_varied_hear(cairn_reader *r, cairn_world *world)
{
    cairn_varied_number v = { .function = cairn_function_default(CAIRN_FUNCTION_CONSTANT) };
    read_number(r, &v);
    v.told = cairn_read_within(r, 0, 1) == 1;
    if (v.told)
        v.next = cairn_read_real(r);
    else
        v.function = cairn_read_function(r);
    if (r->failed)
        return CAIRN_BAD_INPUT;
    TRY(cairn_world_vary(world, v.what, v.index, &v.function));
    cairn_varied_number *made = find_varied(world, v.what, v.index);
    made->told = v.told;
    made->next = v.next;
    return CAIRN_OK;
}

/* ==== what the caller applies ================================================================= */

/* Bodies are changed at once; the next step reports the energy that this gave them, and the states
 * with which it began. A push waits in a list for the next step. */

void cairn_applied_release(cairn_applied *applied)
{
    cairn_memory_free(applied->pushes);
    cairn_memory_free(applied->changes.items);
    cairn_memory_free(applied->shown.items);
    cairn_directory_release(&applied->where);
    *applied = (cairn_applied){ 0 };
}

static void empty_changes(cairn_applied *applied)
{
    for (size_t k = 0; k < applied->changes.count; k++)
        cairn_directory_remove(&applied->where, applied->changes.items[k].uid);
    applied->changes.count = 0;
    applied->energy = 0;
}

void cairn_world_forget_changes(cairn_world *world)
{
    empty_changes(&world->loaded.applied);
}

void cairn_applied_report(cairn_applied *applied, bool in_step, cairn_step_report *report)
{
    cairn_change_list held = applied->shown;
    report->changed = (int)applied->changes.count;
    report->energy.applied = applied->energy;
    empty_changes(applied);
    applied->shown = applied->changes;
    applied->shown.count = (size_t)report->changed;
    applied->changes = held;
    applied->changes.count = 0;
    applied->push_count = in_step ? applied->push_count : 0;
}

/* A body as all members know it. */
typedef struct subject {
    int row; /* here; -1: other members have it */
    bool dynamic;
    int material;
    double mass;
    cairn_vec3 inertia;
    cairn_body_state state;
} subject;

static cairn_body_state state_of(const cairn_world *world, int row)
{
    const cairn_body_store *b = &world->bodies;
    return (cairn_body_state){ b->x[row], b->q[row], b->angle[row], b->v[row], b->omega[row] };
}

static subject subject_of(const cairn_world *world, int row)
{
    const cairn_body_store *b = &world->bodies;
    return (subject){ row,          row >= b->held,  b->material[row],
                      b->mass[row], b->inertia[row], state_of(world, row) };
}

/* What the owner of a body tells the others, who add zeros to it. */
typedef struct answer {
    int64_t found, failed; /* members that have the body; that cannot note a change of it */
    int64_t words[(sizeof(subject) + sizeof(int64_t) - 1) / sizeof(int64_t)];
} answer;

/* Find a body; all members have the held ones. `ready`: whether a change of it can be noted here;
 * if not, all fail. */
static cairn_status find_subject(const cairn_world *world, cairn_body_id body, cairn_status ready,
                                 subject *out)
{
    cairn_link *link = world->exchange.link;
    int row = cairn_body_row(world, body);
    bool held = row >= 0 && row < world->bodies.held;
    bool here = held ? !link || link->member == 0 : row >= 0 && cairn_world_moves(world, row);
    answer a = { .found = here, .failed = ready != CAIRN_OK };
    *out = here ? subject_of(world, row) : (subject){ 0 };
    if (link) {
        memcpy(a.words, out, sizeof *out);
        cairn_link_sums(link, &a.found, sizeof a / sizeof a.found);
        memcpy(out, a.words, sizeof *out);
        out->row = row;
        TRY(link->status);
    }
    if (a.failed > 0)
        return ready != CAIRN_OK ? ready : CAIRN_NO_MEMORY;
    return a.found > 0 ? CAIRN_OK : CAIRN_NOT_FOUND;
}

/* Memory for one more change, and one more push. */
static cairn_status reserve(cairn_applied *applied)
{
    cairn_change_list *list = &applied->changes;
    TRY(cairn_memory_reserve((void **)&list->items, &list->capacity, list->count + 1,
                             sizeof *list->items));
    TRY(cairn_memory_reserve((void **)&applied->pushes, &applied->push_capacity,
                             applied->push_count + 1, sizeof *applied->pushes));
    return cairn_directory_reserve(&applied->where, list->capacity);
}

/* The body that may be changed. */
static cairn_status find_body(cairn_world *world, cairn_body_id body, subject *out)
{
    world->error = (cairn_error){ 0 };
    cairn_status status = find_subject(world, body, reserve(&world->loaded.applied), out);
    if (status == CAIRN_NOT_FOUND)
        return cairn_fail(&world->error, status, "body", "there is no body %llu",
                          (unsigned long long)body.uid);
    return status;
}

static cairn_status find_dynamic(cairn_world *world, cairn_body_id body, subject *out)
{
    TRY(find_body(world, body, out));
    if (out->dynamic)
        return CAIRN_OK;
    return cairn_fail(&world->error, CAIRN_BAD_INPUT, "body",
                      "body %llu is not dynamic: forces and impulses do not act on it",
                      (unsigned long long)body.uid);
}

/* J: of a dynamic body, in the gravity of the last step. */
static double energy_of(const cairn_world *world, const subject *s)
{
    const cairn_body_state *at = &s->state;
    if (!s->dynamic)
        return 0;
    return 0.5 * s->mass * cairn_dot(at->v, at->v) +
           0.5 * cairn_dot(at->omega, cairn_times(s->inertia, at->omega)) -
           s->mass * cairn_dot(world->gravity, at->x);
}

/* Copy a state and a material into the row of a body. */
static void write_row(cairn_world *world, int row, const cairn_body_state *state, int material)
{
    cairn_body_store *b = &world->bodies;
    b->x[row] = state->x;
    b->angle[row] = state->angle;
    b->q[row] = state->q;
    b->v[row] = state->v;
    b->omega[row] = state->omega;
    b->material[row] = material;
    b->asleep[row] = 0;
    b->calm[row] = 0;
}

/* Note the present state of a body that was changed; there is memory for it. */
static void note_change(cairn_applied *applied, const cairn_change *change)
{
    cairn_change_list *list = &applied->changes;
    int known = cairn_directory_find(&applied->where, change->uid);
    if (known < 0) {
        known = (int)list->count++;
        cairn_directory_set(&applied->where, change->uid, known);
    }
    list->items[known] = *change;
}

/* Give a body another state and material, which were checked, and note the change. All members
 * compute the same, and write what they have of the body: it may be a ghost. */
static void change(cairn_world *world, uint64_t uid, subject *s, const cairn_body_state *state,
                   int material)
{
    cairn_applied *applied = &world->loaded.applied;
    bool flat = world->dimension == 2;
    double before = energy_of(world, s);
    s->state = *state;
    s->state.angle = flat ? state->angle : 0;
    s->state.q = flat ? cairn_quat_in_plane(state->angle) : state->q;
    applied->energy += energy_of(world, s) - before;
    if (s->row >= 0)
        write_row(world, s->row, &s->state, material);
    note_change(applied, &(cairn_change){ uid, s->state, material });
}

cairn_status cairn_applied_push(cairn_world *world, const cairn_pushed *push)
{
    cairn_applied *applied = &world->loaded.applied;
    TRY(reserve(applied));
    applied->pushes[applied->push_count++] = *push;
    return CAIRN_OK;
}

cairn_status cairn_applied_change(cairn_world *world, const cairn_change *change)
{
    int row = cairn_body_row(world, (cairn_body_id){ change->uid });
    TRY(reserve(&world->loaded.applied));
    if (row >= 0)
        write_row(world, row, &change->state, change->material);
    note_change(&world->loaded.applied, change);
    return CAIRN_OK;
}

cairn_status cairn_applied_copy(const cairn_world *from, cairn_world *to)
{
    const cairn_applied *applied = &from->loaded.applied;
    empty_changes(&to->loaded.applied);
    to->loaded.applied.push_count = 0;
    for (size_t k = 0; k < applied->push_count; k++)
        TRY(cairn_applied_push(to, &applied->pushes[k]));
    return CAIRN_OK;
}

cairn_status cairn_body_get(const cairn_world *world, cairn_body_id body, cairn_body_state *out)
{
    subject s;
    cairn_pile_return((cairn_world *)world);
    TRY(find_subject(world, body, CAIRN_OK, &s));
    *out = s.state;
    return CAIRN_OK;
}

cairn_status cairn_body_put(cairn_world *world, cairn_body_id body, const cairn_body_state *state)
{
    subject s;
    cairn_pile_return(world);
    TRY(find_body(world, body, &s));
    TRY(cairn_body_state_check(world, s.dynamic ? -1 : s.row, state, &world->error));
    change(world, body.uid, &s, state, s.material);
    return CAIRN_OK;
}

cairn_status cairn_body_set_material(cairn_world *world, cairn_body_id body, int material)
{
    subject s;
    cairn_pile_return(world);
    TRY(find_body(world, body, &s));
    if (material < 0 || (size_t)material >= world->materials.count)
        return cairn_fail(&world->error, CAIRN_BAD_INPUT, "material", "there is no material %d",
                          material);
    const cairn_body_state state = s.state;
    change(world, body.uid, &s, &state, material);
    return CAIRN_OK;
}

/* A force or an impulse and what belongs to it: finite, and in 2D without the components that do
 * not exist there. */
static cairn_status check_vectors(cairn_world *world, const char *key, cairn_vec3 linear,
                                  cairn_vec3 other)
{
    if (!cairn_is_finite(linear) || !cairn_is_finite(other))
        return cairn_fail(&world->error, CAIRN_NOT_FINITE, key,
                          "found a number that is not finite");
    if (world->dimension == 2 && linear.z != 0)
        return cairn_fail(&world->error, CAIRN_BAD_INPUT, key, "in 2D z must be 0");
    return CAIRN_OK;
}

cairn_status cairn_body_push(cairn_world *world, cairn_body_id body, cairn_vec3 force,
                             cairn_vec3 torque)
{
    cairn_pile_return(world);
    subject s;
    TRY(find_dynamic(world, body, &s));
    TRY(check_vectors(world, "force", force, torque));
    if (world->dimension == 2 && (torque.x != 0 || torque.y != 0))
        return cairn_fail(&world->error, CAIRN_BAD_INPUT, "torque",
                          "in 2D only the z component may be given");
    return cairn_applied_push(world, &(cairn_pushed){ body.uid, force, torque });
}

/* v += J/m, omega += I^-1 R^T ((p - x) x J) in the body frame. A point has no moments of inertia
 * and keeps its omega. */
cairn_status cairn_body_strike(cairn_world *world, cairn_body_id body, cairn_vec3 impulse,
                               cairn_vec3 point)
{
    cairn_pile_return(world);
    subject s;
    TRY(find_dynamic(world, body, &s));
    TRY(check_vectors(world, "impulse", impulse, point));
    if (world->dimension == 2 && point.z != 0)
        return cairn_fail(&world->error, CAIRN_BAD_INPUT, "point", "in 2D z must be 0");
    cairn_body_state state = s.state;
    cairn_vec3 turn = cairn_cross(cairn_sub(point, state.x), impulse), J = s.inertia;
    if (world->dimension == 3)
        turn = cairn_rotate_back(state.q, turn);
    state.v = cairn_add_scaled(state.v, 1 / s.mass, impulse);
    state.omega.x += J.x > 0 ? turn.x / J.x : 0;
    state.omega.y += J.y > 0 ? turn.y / J.y : 0;
    state.omega.z += J.z > 0 ? turn.z / J.z : 0;
    TRY(cairn_body_state_check(world, -1, &state, &world->error));
    change(world, body.uid, &s, &state, s.material);
    return CAIRN_OK;
}
