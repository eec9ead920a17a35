/* newton_system.c - the equations of the semismooth Newton method and one step of it.
 *
 * With y = r - R u, u = (W + E) r + q + shift n + A D (r - centre), G = dPhi/dy (problem/map.c):
 *     F = D (r - Phi(y)),     J = D (I - G) + D G R (W + E + A D),     J dr = -F.
 * Rows are scaled by D = trace(W_jj)/d, W_ii for rows with bounds, so that |F| is a speed and
 * comparable with the judge's residual. R is 1/W_NN for the normal and 1/mean(W_kk) for the other
 * parts of a contact; the projection of the convex law needs one number, 1/D. E is compliance. A is
 * alpha, but 1e-9 for rows without bounds: these are linear, and A only keeps redundant ones apart.
 * Contacts with bodies are solved for the bodies' velocities (newton_bodies.c), unless the contacts
 * are so few that their own equations are less work (newton_contacts.c); so is the local form. */
#include "solve/newton_system.h"

#include <math.h>

#include "base/status.h"
#include "problem/map.h"
#include "problem/operator.h"

static const double slight = 1e-9; /* A of equations */

/* ---- set up --------------------------------------------------------------------------------- */

static cairn_status take_arrays(cairn_newton_system *s, cairn_arena *arena)
{
    size_t contacts = (size_t)s->p->contacts, d = (size_t)s->p->dimension;
    double **arrays[] = { &s->centre, &s->rho, &s->u, &s->F, &s->step, &s->w, &s->eps };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        if (!(*arrays[i] = cairn_arena_doubles(arena, s->n)))
            return CAIRN_NO_MEMORY;
    s->shift = cairn_arena_take(arena, contacts, sizeof(double));
    s->equation = cairn_arena_take(arena, s->n, sizeof(bool));
    s->G = cairn_arena_take(arena, s->n * d, sizeof(double));
    s->closed = cairn_arena_take(arena, contacts, sizeof(bool));
    return s->shift && s->equation && s->G && s->closed ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static double positive_or(double x, double otherwise)
{
    return x > 0 ? x : otherwise;
}

/* Mean of W's diagonal over a part of contact j's cone. */
static double mean_of(const cairn_cone_part *part, const double *W)
{
    double sum = 0;
    for (int i = part->first; i < part->first + part->count; i++)
        sum += W[i * (i + 3) / 2];
    return sum / part->count;
}

/* R of Alart and Curnier's map for contact j */
static void scale_parts(cairn_newton_system *s, int j)
{
    cairn_cone_part part[CAIRN_CONE_PARTS];
    double W[CAIRN_TRIANGLE];
    size_t first = (size_t)j * (size_t)s->p->dimension;
    int parts = cairn_cone_parts(s->p, j, part);
    cairn_contact_delassus(s->p, j, W);
    s->rho[first] = 1 / positive_or(W[0], s->w[first]);
    for (int k = 0; k < parts; k++)
        for (int i = part[k].first; i < part[k].first + part[k].count; i++)
            s->rho[first + (size_t)i] = 1 / positive_or(mean_of(&part[k], W), s->w[first]);
}

/* D, R, E and shift of contact j; where nothing can move D = 1. */
static void scale_contact(cairn_newton_system *s, int j)
{
    const cairn_problem *p = s->p;
    size_t d = (size_t)p->dimension, first = (size_t)j * d;
    bool convex = s->law == CAIRN_LAW_CONVEX, rows = cairn_is_bounded(p, j);
    cairn_contact_scales(p, j, s->w + first);
    s->shift[j] = convex ? cairn_contact_shift(p, j) : cairn_contact_bias(p, j);
    for (size_t i = 0; i < d; i++) {
        s->rho[first + i] = 1 / s->w[first + i];
        s->eps[first + i] = rows && p->compliance ? p->compliance[first + i] : 0;
        s->equation[first + i] = rows && cairn_row_is_free(p, j, (int)i);
    }
    if (!convex && !rows)
        scale_parts(s, j);
}

double cairn_newton_pull(const cairn_newton_system *s, size_t i)
{
    return s->w[i] * (s->equation[i] ? slight : s->alpha);
}

cairn_status cairn_newton_system_create(cairn_task *task, cairn_newton_system *out)
{
    const cairn_system *system = task->system;
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
static double residual_of(cairn_newton_system *s, int d, int j, const double *r)
{
    size_t first = (size_t)j * (size_t)d;
    double y[CAIRN_MAX_DIMENSION], phi[CAIRN_MAX_DIMENSION], sum = 0;
    for (size_t i = 0; i < (size_t)d; i++) {
        size_t k = first + i;
        double pull = cairn_newton_pull(s, k) * (r[k] - s->centre[k]) + s->eps[k] * r[k];
        y[i] = r[k] - s->rho[k] * (s->u[k] + (i ? 0 : s->shift[j]) + pull);
    }
    s->closed[j] = cairn_contact_map(s->p, j, s->law, y, phi, s->G + first * (size_t)d);
    for (size_t i = 0; i < (size_t)d; i++) {
        s->F[first + i] = s->w[first + i] * (r[first + i] - phi[i]);
        sum += s->F[first + i] * s->F[first + i];
    }
    return sum;
}

double cairn_newton_system_residual(cairn_newton_system *s, const double *r)
{
    double sum = 0;
    s->form->relative(s, r);
    for (int j = 0; j < s->p->contacts; j++)
        sum += residual_of(s, s->p->dimension, j, r);
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
