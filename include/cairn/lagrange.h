/* lagrange.h - systems in generalised coordinates, given by callbacks ([ST96] 2, [C09] 2).
 *
 *     M(q) (v+ - v) = h F(t, q, v) + H(q)' r,   u = H(q) v+,   q+ = q + h v+
 *     K  ∋  r  ⟂  u + (b + mu s) n  ∈  K*
 *
 * Few coordinates and contacts: everything is dense. Schemes, solvers and judge are those of
 * bodies; docs/lagrange.md has examples. Matrices are stored by rows. */
#ifndef CAIRN_LAGRANGE_H
#define CAIRN_LAGRANGE_H

#include "cairn/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One contact as its callback describes it. All zero before the call, `rows` included. */
typedef struct cairn_lagrange_contact {
    double gap;         /* m: g(q), negative when there is overlap                              */
    double mu;          /* friction coefficient, >= 0                                           */
    double restitution; /* 0 to 1: of velocities (Newton), or                                   */
    bool poisson;       /* of impulses, decompression over compression (Poisson)                */
    double *rows;       /* `dimension` rows of `coordinates` numbers, which take v to u: first
                           the gradient of the gap, then one tangent (2D) or two (3D)           */
} cairn_lagrange_contact;

/** A system. The callbacks only read q and v; M and F are all zero before the call. */
typedef struct cairn_lagrange_system {
    int coordinates; /* m >= 1                                                                 */
    int dimension;   /* 2 or 3: components of a contact                                        */
    int contacts;    /* the largest possible number, open ones included                        */
    void *context;   /* passed to every callback                                               */
    /** M: m x m, symmetric, positive definite; only entries with column <= row are read. */
    void (*mass)(void *context, const double *q, double *M);
    /** F: m generalised forces, the inertial terms of M(q) included. NULL: none. */
    void (*force)(void *context, double time, const double *q, const double *v, double *F);
    /** Contact `index`, 0 to contacts - 1. NULL only when there are none. */
    void (*contact)(void *context, const double *q, int index, cairn_lagrange_contact *out);
    /** J: potential of the forces, for the report. NULL: 0. */
    double (*potential)(void *context, const double *q);
} cairn_lagrange_system;

/** How to step. Start from cairn_lagrange_options_default(). */
typedef struct cairn_lagrange_options {
    double time_step;       /* s                                                              */
    const char *scheme;     /* a name of cairn_scheme_name (world.h)                          */
    const char *solver;     /* a name of cairn_solver_name                                    */
    const char *backend;    /* a name of cairn_backend_name, or that of a shared object       */
    double tolerance;       /* relative residual of the scheme's law, by the norm over all
                               contacts (`whole` of cairn_residual)                           */
    int64_t max_iterations; /* sweeps or gradient steps in one solve                          */
    int64_t max_outer;      /* fixed-point, coulomb-newton, auto: most outer iterations       */
    double model_tolerance; /* m: auto: largest gap h mu |u_T| kept while sliding             */
    int64_t directions;     /* schemes with edges, 3D: edges of a cone, even, >= 4            */
    bool velocity_level;    /* only contacts with g <= 0, b = e u_N; else b = gamma g/h. The scheme
                               moreau-jean has it by itself, with contacts at mid-step         */
    double stabilisation;   /* gamma in (0, 1]: share of a gap corrected in one step          */
    int64_t linearisations; /* n: gaps are linearised at q + h v, and again at the result until it
                               settles to the tolerance, n times at most; M is then taken at
                               q + h v, F at q + h v/2 ([ST96] 3.6). 0: as the scheme has it:
                               stewart-trinkle in this way, others at q. Not at velocity level */
    double reach;           /* m: contacts with a larger gap are left out; the default keeps all of
                               them. At velocity level it is 0                                 */
} cairn_lagrange_options;

/** Scheme convex, solver auto, tolerance 1e-10, gap level with gamma 1, every contact taken; the
 *  time step must be given. */
CAIRN_API cairn_lagrange_options cairn_lagrange_options_default(void);
/** The table of cairn_lagrange_options. */
CAIRN_API const cairn_record *cairn_lagrange_record(void);

/** The report of a step. */
typedef struct cairn_lagrange_report {
    cairn_solve_report solve;   /* with the judgement; of the last linearisation. Not converged
                                   too when more than one was allowed and they did not settle. In
                                   an impact by Poisson's law: the sum of both phases, the worse
                                   judgement                                                     */
    int candidates;             /* contacts in the problem                                       */
    int active;                 /* of these, with a normal impulse > 0                           */
    int linearisations;         /* how often contacts were linearised                            */
    double linearisation_error; /* largest |q+ - q^|, q^ where they last were                    */
    double penetration;         /* m: deepest overlap after the step, over all contacts; >= 0    */
    double kinetic, potential;  /* J: after the step                                             */
    double friction_loss;       /* J: - sum r_T . (mean sliding velocity)                        */
    double impact_loss;         /* J: - sum r_N (mean normal velocity); both with the last H     */
} cairn_lagrange_report;

/** A system with its state. */
typedef struct cairn_lagrange cairn_lagrange;

/** A system at time 0 with positions q and velocities v (`coordinates` numbers each, copied; NULL:
 *  zero). `system` is copied, its context must outlive the result.
 *  Fails with CAIRN_BAD_INPUT, CAIRN_NOT_FINITE or CAIRN_NO_MEMORY; `error` may be NULL. */
CAIRN_API cairn_status cairn_lagrange_create(const cairn_lagrange_system *system, const double *q,
                                             const double *v, cairn_lagrange **out,
                                             cairn_error *error);
/** Free; NULL is allowed. */
CAIRN_API void cairn_lagrange_destroy(cairn_lagrange *lagrange);

/** Advance by one step. A solver that did not converge is a report. Fails with CAIRN_BAD_INPUT (an
 *  option; M not positive definite; mu or restitution out of range), CAIRN_UNSUPPORTED (the solver
 *  does not treat the scheme), CAIRN_NOT_FINITE or CAIRN_NO_MEMORY; the state is then as before,
 *  and `error` (may be NULL) says what was found. `report` may be NULL. */
CAIRN_API cairn_status cairn_lagrange_step(cairn_lagrange *lagrange,
                                           const cairn_lagrange_options *options,
                                           cairn_lagrange_report *report, cairn_error *error);

/** s since the start. */
CAIRN_API double cairn_lagrange_time(const cairn_lagrange *lagrange);
/** The coordinates q, valid until the next step. */
CAIRN_API const double *cairn_lagrange_position(const cairn_lagrange *lagrange);
/** Their velocities, valid until the next step. */
CAIRN_API const double *cairn_lagrange_velocity(const cairn_lagrange *lagrange);
/** The impulses of the last step: `dimension` per contact, normal first, N s; 0 for contacts left
 *  out. Lent until the next step. */
CAIRN_API const double *cairn_lagrange_impulse(const cairn_lagrange *lagrange);

#ifdef __cplusplus
}
#endif
#endif
