/* vary.c - numbers of the world that are functions of time: gravity, friction, targets of motors,
 * rates of inlets.
 *
 * The step from t to t + h sets them once, when it begins, so that all stages see the same values:
 * the mean over the step, (1/h) int f dt, or for a position motor f(t + h). They are set back if
 * the step fails. */
#include <math.h>
#include <string.h>

#include "base/expression.h"
#include "base/memory.h"
#include "base/status.h"
#include "world/world.h"

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
}

static const char *name_of(cairn_varied what)
{
    static const char *const names[] = { "gravity", "gravity", "gravity", "friction",
                                         "target",  "target",  "rate" };
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
        world->inlets.items[index].varies = true;
    return CAIRN_OK;
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
static double number_in_step(const cairn_world *world, const cairn_varied_number *v, double h)
{
    double t = world->time;
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
        double next = number_in_step(world, v, h);
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
