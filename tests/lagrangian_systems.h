/* lagrangian_systems.h - the systems of the papers for tests, one more, and steps that must succeed. */
#ifndef CAIRN_TESTS_LAGRANGIAN_SYSTEMS_H
#define CAIRN_TESTS_LAGRANGIAN_SYSTEMS_H

#include "cairn/world.h"
#include "reproduce/lagrangian_systems.h"
#include "tests/check.h"

/* ---- 2 kg over the floor z = 0: q = (x, y, z) ------------------------------------------------- */

static inline void space_mass(void *context, const double *q, double *M)
{
    (void)context, (void)q;
    M[0] = M[4] = M[8] = 2;
}

static inline void space_contact(void *context, const double *q, int index,
                                 cairn_lagrange_contact *out)
{
    (void)context, (void)index;
    out->gap = q[2];
    out->mu = 0.5;
    out->rows[2] = out->rows[3] = out->rows[7] = 1; /* n = z, t = x, y */
}

static inline cairn_lagrange_system space_system(void)
{
    return (cairn_lagrange_system){ .coordinates = 3,
                                    .dimension = 3,
                                    .contacts = 1,
                                    .mass = space_mass,
                                    .contact = space_contact };
}

/* ---- running them ---------------------------------------------------------------------------- */

static inline cairn_lagrange *started(const cairn_lagrange_system *system, const double *q,
                                      const double *v)
{
    cairn_lagrange *l;
    CHECK_OK(cairn_lagrange_create(system, q, v, &l, NULL));
    return l;
}

/* One step, which must be solved. */
static inline cairn_lagrange_report stepped(cairn_lagrange *l,
                                            const cairn_lagrange_options *options)
{
    cairn_lagrange_report report;
    CHECK_OK(cairn_lagrange_step(l, options, &report, NULL));
    CHECK(report.solve.converged);
    return report;
}

#endif
