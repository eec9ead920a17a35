/* system.c - problems as the scalar back end holds them, their velocities, the judge over all
 * contacts, and sweeps.
 *
 * Problems come in two forms. In blocks they have velocities and rows H; in the local form they
 * have the matrix W and the vector q alone, `H` is empty and there are no velocities. */
#include <stddef.h>

#include "backend/scalar/scalar.h"

double *cairn_scalar_take(const cairn_scalar_system *s, size_t count)
{
    /* one more than needed: NULL then always means that memory ran out, also for count 0 */
    double *x = s->room.take(s->room.from, count + 1, sizeof *x);
    for (size_t i = 0; x && i < count; i++)
        x[i] = 0;
    return x;
}

/* ---- the copy ------------------------------------------------------------------------------- */

cairn_status cairn_scalar_create(const cairn_problem *p, const cairn_room *room, cairn_system **out)
{
    cairn_scalar_system *s = room->take(room->from, 1, sizeof *s);
    if (!s)
        return CAIRN_NO_MEMORY;
    *s = (cairn_scalar_system){ .p = p, .room = *room, .contacts = p->contacts, .d = p->dimension };
    s->blocks = p->W ? 0 : p->blocks;
    s->n = p->W ? 0 : p->block_size;
    s->H = cairn_scalar_take(s, (size_t)2 * s->contacts * s->d * s->n);
    s->W = cairn_scalar_take(s, (size_t)s->contacts * s->d * s->d);
    s->shift = cairn_scalar_take(s, s->contacts);
    if (!s->H || !s->W || !s->shift)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < s->contacts; j++)
        cairn_scalar_fill(s, j);
    *out = (cairn_system *)s;
    return CAIRN_OK;
}

void cairn_scalar_velocity(const cairn_scalar_system *s, const double *r, double *v)
{
    if (s->p->W)
        return; /* the local form has none */
    for (int i = 0; i < s->blocks * s->n; i++)
        v[i] = s->p->v_free[i];
    for (int j = 0; j < s->contacts; j++)
        cairn_scalar_push(s, j, r + (ptrdiff_t)j * s->d, v);
}

/* ---- the judge ---------------------------------------------------------------------------- */

double cairn_scalar_scale(const cairn_system *s, cairn_law law)
{
    return cairn_scalar_scale_of(&cairn_scalar_of(s)->norms, law);
}

void cairn_scalar_judge(cairn_system *system, cairn_law law, const cairn_vector *r, cairn_vector *v,
                        cairn_vector *u, cairn_judgement *out)
{
    cairn_scalar_system *s = (cairn_scalar_system *)system;
    double *numbers = cairn_scalar_numbers(r), *speeds = cairn_scalar_numbers(v);
    double *relative = cairn_scalar_numbers(u);
    cairn_scalar_verdict found = { .law = { { .worst_contact = -1 }, { .worst_contact = -1 } } };
    for (int i = 0; i < s->contacts * s->d; i++)
        relative[i] = 0; /* used as r = 0 while the norms are computed, and overwritten below */
    for (int j = 0; j < s->contacts && !s->norms.known; j++)
        cairn_scalar_measure_contact(s, j, relative, &s->norms);
    s->norms.known = true;
    cairn_scalar_velocity(s, numbers, speeds);
    for (int j = 0; j < s->contacts; j++)
        cairn_scalar_judge_contact(s, j, numbers, speeds, relative, &found);
    cairn_scalar_conclude(&s->norms, law, &found, out);
}

/* ---- sweeps ------------------------------------------------------------------------------ */

/* Block Gauss-Seidel of the scalar back end: contacts one after the other, in their order, each
 * solved exactly while the others keep their impulses (problem/local.h). */

typedef struct sweeping {
    cairn_sweeping face;
    int r_count, v_count;
    cairn_scalar_state now;
} sweeping;

static void copy(int count, const double *from, double *to)
{
    for (int i = 0; i < count; i++)
        to[i] = from[i];
}

cairn_status cairn_scalar_begin(cairn_system *system, bool coarse, const cairn_vector *r,
                                const cairn_vector *v, cairn_sweeping **out)
{
    (void)coarse; /* always in double */
    const cairn_scalar_system *s = cairn_scalar_of(system);
    sweeping *own = s->room.take(s->room.from, 1, sizeof *own);
    if (!own)
        return CAIRN_NO_MEMORY;
    *own = (sweeping){ .r_count = s->contacts * s->d, .v_count = s->blocks * s->n };
    cairn_scalar_state *now = &own->now;
    *now = (cairn_scalar_state){ s, cairn_scalar_take(s, own->r_count),
                                 cairn_scalar_take(s, own->v_count),
                                 cairn_scalar_take(s, own->r_count),
                                 cairn_scalar_take(s, own->v_count) };
    if (!now->r || !now->v || !now->r_point || !now->v_point)
        return CAIRN_NO_MEMORY;
    copy(own->r_count, cairn_scalar_numbers(r), now->r);
    copy(own->v_count, cairn_scalar_numbers(v), now->v);
    copy(own->r_count, now->r, now->r_point);
    copy(own->v_count, now->v, now->v_point);
    *out = &own->face;
    return CAIRN_OK;
}

/* y = x + beta (x - point), point = x + lean (y - x), x = y */
static void move_on(int count, cairn_momentum momentum, double *x, double *point)
{
    for (int i = 0; i < count; i++) {
        double y = x[i] + momentum.beta * (x[i] - point[i]);
        point[i] = x[i] + momentum.lean * (y - x[i]);
        x[i] = y;
    }
}

cairn_sweep cairn_scalar_sweep(cairn_sweeping *state, cairn_law law, cairn_momentum momentum)
{
    sweeping *own = (sweeping *)state;
    cairn_sweep out = { 0, 0 };
    const cairn_scalar_state *now = &own->now;
    move_on(own->r_count, momentum, now->r, now->r_point);
    /* v is affine in r: the same extrapolation keeps the two consistent */
    move_on(own->v_count, momentum, now->v, now->v_point);
    for (int j = 0; j < now->s->contacts; j++)
        cairn_scalar_visit(now, j, law, &out);
    return out;
}

void cairn_scalar_unload(const cairn_sweeping *state, cairn_vector *r)
{
    const sweeping *own = (const sweeping *)state;
    copy(own->r_count, own->now.r, cairn_scalar_numbers(r));
}

void cairn_scalar_load_velocities(cairn_sweeping *state, const cairn_vector *v)
{
    sweeping *own = (sweeping *)state;
    copy(own->v_count, cairn_scalar_numbers(v), own->now.v);
}

void cairn_scalar_refresh(cairn_sweeping *state)
{
    sweeping *own = (sweeping *)state;
    cairn_scalar_velocity(own->now.s, own->now.r, own->now.v);
}
