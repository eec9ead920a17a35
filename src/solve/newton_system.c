/* newton_system.c - the equations of the semismooth Newton method and one step of it.
 *
 * With y = r - R u, u = W r + q + shift n + alpha D (r - centre) and G = dPhi/dy (newton_map.c):
 *     F = D (r - Phi(y)),     J = D (I - G) + D G R (W + alpha D),     J dr = -F.
 * Rows are scaled by D = trace(W_jj)/d, so that |F| is a speed and comparable with the judge's
 * residual. R is 1/W_NN for the normal and 1/mean(W_TT) for the tangents of a contact; the
 * projection of the convex law needs one number, 1/D.
 * Contacts with bodies are solved for the bodies' velocities (newton_bodies.c), unless the contacts
 * are so few that their own equations are less work (newton_contacts.c); so is the local form. */
#include "solve/newton_system.h"

#include <math.h>

#include "base/status.h"
#include "problem/operator.h"
#include "solve/newton_map.h"

/* ---- set up --------------------------------------------------------------------------------- */

static cairn_status take_arrays(cairn_newton_system *s, cairn_arena *arena)
{
    size_t contacts = (size_t)s->p->contacts, d = (size_t)s->p->dimension;
    double **arrays[] = { &s->centre, &s->rho, &s->u, &s->F, &s->step };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        if (!(*arrays[i] = cairn_arena_doubles(arena, s->n)))
            return CAIRN_NO_MEMORY;
    s->shift = cairn_arena_take(arena, contacts, sizeof(double));
    s->w = cairn_arena_take(arena, contacts, sizeof(double));
    s->G = cairn_arena_take(arena, s->n * d, sizeof(double));
    s->closed = cairn_arena_take(arena, contacts, sizeof(bool));
    return s->shift && s->w && s->G && s->closed ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static double positive_or(double x, double otherwise)
{
    return x > 0 ? x : otherwise;
}

/* D, R and shift of contact j; a contact that nothing can move has D = 1. */
static void scale_contact(cairn_newton_system *s, int j)
{
    double W[6];
    const cairn_problem *p = s->p;
    size_t d = (size_t)p->dimension, first = (size_t)j * d;
    cairn_contact_delassus(p, j, W);
    double tangent = p->dimension == 3 ? (W[2] + W[5]) / 2 : W[2];
    double w = positive_or(cairn_contact_inverse_mass(p, j), 1);
    bool convex = s->law == CAIRN_LAW_CONVEX;
    s->w[j] = w;
    s->shift[j] = convex ? cairn_contact_shift(p, j) : p->b ? p->b[j] : 0;
    for (size_t i = 0; i < d; i++)
        s->rho[first + i] = 1 / (convex ? w : positive_or(i ? tangent : W[0], w));
}

cairn_status cairn_newton_system_create(cairn_task *task, cairn_newton_system *out)
{
    const cairn_system *system = &task->system;
    bool by_bodies = !system->p->W && system->v_count <= 2 * system->r_count;
    *out = (cairn_newton_system){ .p = system->p,
                                  .form = by_bodies ? &cairn_newton_bodies : &cairn_newton_contacts,
                                  .law = task->options->law,
                                  .n = system->r_count };
    TRY(take_arrays(out, task->arena));
    for (int j = 0; j < out->p->contacts; j++)
        scale_contact(out, j);
    TRY(out->form->create(out, task->arena));
    return cairn_lu_create(&out->lu);
}

void cairn_newton_system_destroy(cairn_newton_system *s)
{
    cairn_lu_destroy(s->lu);
}

/* ---- residual and step ---------------------------------------------------------------------- */

/* F_j and G_j; returns |F_j|^2 */
CAIRN_INLINE double residual_of(cairn_newton_system *s, int d, int j, const double *r)
{
    size_t first = (size_t)j * (size_t)d;
    double y[3], phi[3], sum = 0;
    for (size_t i = 0; i < (size_t)d; i++) {
        size_t k = first + i;
        double pull = s->alpha * s->w[j] * (r[k] - s->centre[k]);
        y[i] = r[k] - s->rho[k] * (s->u[k] + (i ? 0 : s->shift[j]) + pull);
    }
    s->closed[j] = cairn_newton_map(d, s->law, s->p->mu[j], y, phi, s->G + first * (size_t)d);
    for (size_t i = 0; i < (size_t)d; i++) {
        s->F[first + i] = s->w[j] * (r[first + i] - phi[i]);
        sum += s->F[first + i] * s->F[first + i];
    }
    return sum;
}

double cairn_newton_system_residual(cairn_newton_system *s, const double *r)
{
    double sum = 0;
    s->form->relative(s, r);
    for (int j = 0; j < s->p->contacts; j++)
        sum += s->p->dimension == 3 ? residual_of(s, 3, j, r) : residual_of(s, 2, j, r);
    return sqrt(sum);
}

cairn_status cairn_newton_system_step(cairn_newton_system *s, double *r, bool *good)
{
    TRY(s->form->solve(s, r, good));
    for (size_t i = 0; *good && i < s->n; i++)
        *good = isfinite(s->step[i]);
    for (size_t i = 0; *good && i < s->n; i++)
        r[i] += s->step[i];
    return CAIRN_OK;
}
