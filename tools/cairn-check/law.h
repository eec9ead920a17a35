/* phase.h - what a contact law is asked of: impulses and the velocities that they make. A step has
 * one phase, an impact by Poisson's law two. */
#ifndef CHECK_PHASE_H
#define CHECK_PHASE_H

#include "cone.h"
#include "run.h"

typedef struct check_phase {
    const double *r, *u, *q; /* components each: impulses, velocities with and without them  */
    const double *bias, *mu; /* by contact                                                   */
    const double *s;         /* m/s: of the convex law; NULL: 0                              */
    const double *least;     /* N s: least normal impulses; NULL: 0                          */
    const double *judged;    /* like u, as impulses make it: differs for who sleeps          */
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

/* law.c: |e| over the closing part of a phase by the law asked for, at least, rounding considered;
 * scheme auto: exact friction. */
double check_phase_residual(const check_run *run, const check_phase *phase);

#endif
