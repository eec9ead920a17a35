/* law.h - friction cones, and the phases of a step at which a contact law is judged. */
#ifndef CHECK_LAW_H
#define CHECK_LAW_H

#include <stdbool.h>

#include "run.h"

/* The cone of a contact: |r_T| <= mu r_N, and with rolling and spinning |r_R| <= mu_R r_N,
 * |r_S| <= mu_S r_N; components in that order. With `least` > 0 the part of it with at least that
 * normal impulse, and below it the disk of friction that the least one allows. */
typedef struct cone {
    int d, edges;          /* 2 or 3; 0 for a circle       */
    int rolling, spinning; /* components, after the first d */
    double mu, mu_rolling, mu_spinning, least;
} cone;

enum { CONE_COMPONENTS = 6 }; /* at most */

static inline int cone_components(const cone *k)
{
    return k->d + k->rolling + k->spinning;
}

double cone_dot(int d, const double *a, const double *b);
double cone_tangent(int d, const double *a); /* |a_T| */
/* |r - P(r - scale u)| */
double cone_natural_map(const cone *k, const double *r, const double *u, double scale);
/* The conditions of the law, one by one, at impulse w r, in m/s: the largest of the pull of the
 * contact (below its least impulse), the approach speed of its bodies, the opening speed while it
 * pushes, and the deviation of friction from what the normal impulse allows and the sliding
 * demands. u is lifted. */
double cone_conditions(const cone *k, const double *r, const double *u, double lift, double w);
/* |u_T|, for cones with edges its largest part along one of them. */
double cone_sliding(const cone *k, const double *u);
/* mu_R |u_R| + mu_S |u_S| */
double cone_turning(const cone *k, const double *u);
/* How far moments are from opposing the rotation: the largest r.u + |r||u| of the parts, >= 0. */
double cone_against(const cone *k, const double *r, const double *u);

/* ---- phases ---------------------------------------------------------------------------------- */

/* The impulses and the resulting velocities that a contact law is evaluated on. A step has one
 * phase, an impact by Poisson's law two. */

typedef struct check_phase {
    const double *r, *u, *q; /* components each: impulses, velocities with and without them  */
    const double *bias, *mu; /* by contact                                                   */
    const double *s;         /* m/s: of the convex law; NULL: 0                              */
    const double *least;     /* N s: least normal impulses; NULL: 0                          */
    const double *judged;    /* like u, as impulses produce it: differs for sleeping bodies  */
} check_phase;

/* The phases of the loaded step, in order; returns how many. */
static inline int check_phases(const check_run *run, check_phase out[2])
{
    const check_derived *c = &run->by_contact;
    const check_contacts *k = &run->contacts;
    const double *s = run->settings.scheme->mixed ? c->s : NULL;
    if (run->impacts.count > 0) { /* what comes after impacts within the step */
        out[0] = (check_phase){ c->decompression, c->velocity, c->struck, k->bias, c->mu, s, NULL,
                                c->judged };
        return 1;
    }
    if (!run->impact) {
        out[0] = (check_phase){ c->r, c->velocity, c->free, k->bias, c->mu, s, NULL, c->judged };
        return 1;
    }
    out[0] = (check_phase){
        k->compression, c->compressed, c->middle, c->compression_bias, c->compression_mu, s,
        NULL,           c->compressed
    };
    out[1] = (check_phase){ c->decompression, c->velocity, c->free, k->bias, c->mu, NULL,
                            c->least,         c->judged };
    return 2;
}

/* The cone of a contact; without edges where there is a least impulse. */
static inline cone check_cone(const check_run *run, const check_phase *p, int j, bool edges)
{
    const check_settings *s = &run->settings;
    return (cone){ .d = s->dimension,
                   .edges = edges && !p->least ? s->directions : 0,
                   .rolling = s->rolling,
                   .spinning = s->spinning,
                   .mu = p->mu[j],
                   .mu_rolling = run->contacts.mu_rolling[j],
                   .mu_spinning = run->contacts.mu_spinning[j],
                   .least = p->least ? p->least[j] : 0 };
}

/* law.c: the error of a row without impulse, m/s. */
double check_row_closing(const check_joint_row *row);
/* law.c: what the law of a row supplies by its impulse at the end of the step, J. Its impulse does
 * the work r rate+, of which r y is an error wherever it is positive: at a bound the law has
 * r y <= 0, and within bounds y = 0. Motors of a given force have equal bounds and may have any y.
 * So equations, limits and ropes supply what corrects their defects, and only drives and springs
 * more. */
double check_row_supply(const check_joint_row *row);

/* scales.c: the velocities that the errors of contacts and rows are related to in a phase. */
void check_scales(check_run *run, const check_phase *phase);
/* scales.c: groups of bodies that contacts and joints connect; that of contact j or of a body,
 * NULL: no body of it can move. */
void check_find_groups(check_run *run);
check_scale *check_group_of(check_run *run, int j);
check_scale *check_group_of_body(check_run *run, int body);

/* law.c: lower bound, with rounding, of |e| over the closing part of a phase by the chosen law; for
 * scheme auto by exact friction. */
double check_phase_residual(check_run *run, const check_phase *phase);

#endif
