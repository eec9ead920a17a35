/* sweep.c - block Gauss-Seidel of the scalar back end: contacts one after the other, in order, each
 * solved exactly with the others held (problem/local.h). */
#include <math.h>
#include <stddef.h>

#include "backend/scalar/scalar.h"
#include "problem/local.h"

typedef struct sweeping {
    cairn_sweeping face;
    const cairn_scalar_system *s;
    int r_count, v_count;
    double *r, *v, *r_point, *v_point;
} sweeping;

static void copy(int count, const double *from, double *to)
{
    for (int i = 0; i < count; i++)
        to[i] = from[i];
}

cairn_status cairn_scalar_begin(cairn_system *system, bool coarse, const cairn_vector *r,
                                const cairn_vector *v, cairn_sweeping **out)
{
    (void)coarse;
    const cairn_scalar_system *s = cairn_scalar_of(system);
    sweeping *own = s->room.take(s->room.from, 1, sizeof *own);
    if (!own)
        return CAIRN_NO_MEMORY;
    *own = (sweeping){ .s = s, .r_count = s->contacts * s->d, .v_count = s->blocks * s->n };
    own->r = cairn_scalar_take(s, own->r_count);
    own->v = cairn_scalar_take(s, own->v_count);
    own->r_point = cairn_scalar_take(s, own->r_count);
    own->v_point = cairn_scalar_take(s, own->v_count);
    if (!own->r || !own->v || !own->r_point || !own->v_point)
        return CAIRN_NO_MEMORY;
    copy(own->r_count, cairn_scalar_numbers(r), own->r);
    copy(own->v_count, cairn_scalar_numbers(v), own->v);
    copy(own->r_count, own->r, own->r_point);
    copy(own->v_count, own->v, own->v_point);
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

/* The answer of contact j: K contains r, orthogonal to W_jj r + q, q what the others leave. */
static void solve_one(const sweeping *own, int j, cairn_law law, double *answer)
{
    const cairn_scalar_system *s = own->s;
    int d = s->d;
    const double *W = s->W + (ptrdiff_t)j * d * d, *r = own->r + (ptrdiff_t)j * d;
    double q[CAIRN_MAX_DIMENSION], lower[CAIRN_MAX_DIMENSION * (CAIRN_MAX_DIMENSION + 1) / 2];
    cairn_scalar_relative(s, j, own->r, own->v, q);
    cairn_scalar_comply(s, j, r, q);
    q[0] += s->shift[j];
    for (int i = 0, entry = 0; i < d; i++) {
        answer[i] = r[i];
        for (int k = 0; k < d; k++)
            q[i] -= W[i * d + k] * r[k];
        for (int k = 0; k <= i; k++)
            lower[entry++] = W[i * d + k];
    }
    cairn_contact_solve(s->p, j, law, lower, q, answer);
}

/* r_j becomes its answer, velocities follow; what the sweep notices. */
static void visit(sweeping *own, int j, cairn_law law, cairn_sweep *out)
{
    const cairn_scalar_system *s = own->s;
    double answer[CAIRN_MAX_DIMENSION], change[CAIRN_MAX_DIMENSION], length2 = 0, w = 0;
    double *r = own->r + (ptrdiff_t)j * s->d, *point = own->r_point + (ptrdiff_t)j * s->d;
    solve_one(own, j, law, answer);
    for (int i = 0; i < s->d; i++) {
        change[i] = answer[i] - r[i];
        r[i] = answer[i];
        length2 += change[i] * change[i];
        w += s->W[((ptrdiff_t)j * s->d + i) * s->d + i] / s->d;
        out->uphill -= change[i] * (r[i] - point[i]);
    }
    out->change2 += w * w * length2;
    if (!s->p->W)
        cairn_scalar_push(s, j, change, own->v);
}

cairn_sweep cairn_scalar_sweep(cairn_sweeping *state, cairn_law law, cairn_momentum momentum)
{
    sweeping *own = (sweeping *)state;
    cairn_sweep out = { 0, 0 };
    move_on(own->r_count, momentum, own->r, own->r_point);
    move_on(own->v_count, momentum, own->v, own->v_point);
    for (int j = 0; j < own->s->contacts; j++)
        visit(own, j, law, &out);
    return out;
}

void cairn_scalar_unload(const cairn_sweeping *state, cairn_vector *r)
{
    const sweeping *own = (const sweeping *)state;
    copy(own->r_count, own->r, cairn_scalar_numbers(r));
}

void cairn_scalar_load_velocities(cairn_sweeping *state, const cairn_vector *v)
{
    sweeping *own = (sweeping *)state;
    copy(own->v_count, cairn_scalar_numbers(v), own->v);
}

void cairn_scalar_refresh(cairn_sweeping *state)
{
    sweeping *own = (sweeping *)state;
    cairn_scalar_velocity(own->s, own->r, own->v);
}
