/* solver.h - what a solver is, and what it works with; and the second phase of an impact. */
#ifndef CAIRN_SOLVE_SOLVER_H
#define CAIRN_SOLVE_SOLVER_H

#include "backend/backend.h"
#include "base/memory.h"
#include "cairn/solve.h"

/* The data of solvers that factorise: the arrays of the back end "host", NULL on any other. */
typedef struct cairn_host_arrays {
    double *r, *v, *u, *best; /* of the vectors of a task */
} cairn_host_arrays;

/* The data of one call of cairn_solve. */
typedef struct cairn_task {
    const cairn_problem *p;
    int64_t contacts;       /* of the whole problem                                               */
    const cairn_link *link; /* to the members that have other parts of it; NULL: none             */
    const cairn_backend *backend;
    cairn_system *system; /* the back end's copy of p */
    const cairn_solve_options *options;
    cairn_arena *arena;
    cairn_vector *r;     /* the caller's array: first the start, then the answer           */
    cairn_vector *v, *u; /* the caller's: after a judgement the velocities of that r       */
    cairn_vector *best;  /* the best impulses judged so far                                */
    cairn_host_arrays host;
    double best_relative;       /* the residual of the best                                       */
    double best_rank;           /* by which it is the best                                        */
    bool best_is_last;          /* they are what was judged last                                  */
    bool kept;                  /* the solver left r, v and u as the last judgement made them     */
    cairn_solve_report *report; /* iterations and judgement are kept up to date                   */
    double started;             /* s: when, by cairn_clock_seconds                                */
    int64_t horizon;            /* iterations of the whole call: the scale of progress            */
    bool broke;       /* auto: the last method ended with an error                                */
    bool swept;       /* the start comes from sweeps: no need for more of them                    */
    int64_t patience; /* iterations that may pass without half the residual; 0: the solver's own  */
} cairn_task;

/* A solver. On entry r is the warm start, on return the answer. It has no state between calls. */
typedef struct cairn_solver {
    const char *name;
    const char *summary;
    unsigned laws;      /* what it treats: CAIRN_TREATS bits                                      */
    unsigned elsewhere; /* what of that on back ends other than the host; 0: it is host only      */
    unsigned variant;   /* for files that hold a family: which member this is                     */
    /* On vectors of any back end; NULL: host only, because it factorises. */
    cairn_status (*run)(const struct cairn_solver *self, cairn_task *task, cairn_vector *r);
    /* On arrays of the host. */
    cairn_status (*run_on_host)(const struct cairn_solver *self, cairn_task *task, double *r);
    int most_contacts; /* larger problems are refused; 0: no limit                  */
    bool (*accepts)(cairn_law law, const cairn_problem *p); /* a further condition; NULL: none */
    bool alone; /* runs on one thread: most of its work is serial, others would only wait */
} cairn_solver;

#define CAIRN_TREATS(law)       (1u << (law))  /* with circular cones */
#define CAIRN_TREATS_EDGES(law) (16u << (law)) /* with cones of edges */
#define CAIRN_TREATS_ROWS       (256u)         /* rows with bounds: joints, limits, motors       */
#define CAIRN_TREATS_ROLLING    (512u)         /* rolling and spinning friction, circular cones  */

extern const cairn_solver cairn_solver_auto;
extern const cairn_solver cairn_solver_pgs;
extern const cairn_solver cairn_solver_ngs;
extern const cairn_solver cairn_solver_pgd;
extern const cairn_solver cairn_solver_apgd;
extern const cairn_solver cairn_solver_apgd_as;
extern const cairn_solver cairn_solver_apgd_ar;
extern const cairn_solver cairn_solver_apgd_asr;
extern const cairn_solver cairn_solver_apgd_d;
extern const cairn_solver cairn_solver_ipm;
extern const cairn_solver cairn_solver_lemke;
extern const cairn_solver cairn_solver_active_set;
extern const cairn_solver cairn_solver_newton;
extern const cairn_solver cairn_solver_admm;
extern const cairn_solver cairn_solver_spg;

/* Run a solver that factorises, on one thread if it is marked so. */
cairn_status cairn_solver_factorise(const cairn_solver *solver, cairn_task *task, cairn_vector *r);
/* Run any solver. */
static inline cairn_status cairn_solver_run(const cairn_solver *solver, cairn_task *task,
                                            cairn_vector *r)
{
    return solver->run ? solver->run(solver, task, r) : cairn_solver_factorise(solver, task, r);
}

/* The largest friction coefficient, rolling and spinning aside; 0 without contacts. */
double cairn_problem_largest_friction(const cairn_problem *p);

/* Whether another iteration may begin: neither their number nor the time is used up. */
bool cairn_task_may_go_on(const cairn_task *task);

/* Whether the task runs on the host, where solvers that factorise can take part. */
bool cairn_task_is_on_host(const cairn_task *task);

/* A vector for as long as the task lives. */
cairn_status cairn_task_vector(cairn_task *task, cairn_space space, cairn_vector **out);

/* Judge r: true when the tolerance is met. Keeps the best r seen; task->v and task->u become the
 * velocities of r. */
bool cairn_task_judge(cairn_task *task, const cairn_vector *r);
/* The same of an array of the host. */
bool cairn_task_judge_array(cairn_task *task, const double *r);

/* If nothing judged so far was finite or had a finite ratio as its residual: r = 0, judged, which
 * is exact where nothing closes. Returns whether that was so. */
bool cairn_task_start_over(cairn_task *task, cairn_vector *r);

/* A cheap estimate of the residual between judgements. It is calibrated against the judge, so that
 * the judge is called only if it is likely to accept, and at regular intervals: more often near the
 * tolerance, where rounding in float makes the estimate too large. */
typedef struct cairn_judge_timer {
    double ratio;      /* judge's residual, or its share, over the estimate when last compared;
                     0: not yet                                                          */
    int64_t judged_at; /* iteration of the last judgement                                    */
    int64_t patience;  /* iterations after which the judge is called for any estimate        */
} cairn_judge_timer;

/* The residual of a share, where tolerances refer to that of the worst contact; else the same. */
double cairn_task_residual(const cairn_task *task, double share);
/* The residual of the present estimate. Estimates are norms: in a problem with scales they grow in
 * proportion to the share of its worst contact (residual.c), not to the residual. */
double cairn_judge_timer_residual(const cairn_judge_timer *timer, const cairn_task *task,
                                  double estimate);
/* Calibrate the estimate by a residual. */
void cairn_judge_timer_set(cairn_judge_timer *timer, const cairn_task *task, double residual,
                           double estimate);
/* Whether to call the judge after this iteration. */
bool cairn_judge_timer_due(const cairn_judge_timer *timer, const cairn_task *task, double estimate);
/* Calibrate the estimate by a judgement that was just made. */
void cairn_judge_timer_learn(cairn_judge_timer *timer, const cairn_task *task, double estimate);

/* The workspace behind the public name. */
struct cairn_workspace {
    cairn_arena arena;
    cairn_backend_use use; /* the back end of the last call                                       */
    cairn_pile *pile;      /* of that back end: contacts of the world of this workspace, or NULL  */
    bool pile_is_last;     /* it has those of the last step                                       */
};

/* The back end of that name, which is kept open; NULL: it cannot be used. */
const cairn_backend *cairn_workspace_backend(cairn_workspace *workspace, const char *name);

/* ---- few contacts ------------------------------------------------------------------------ */

/* A few contacts in the local form: sweeps without the overhead of a back end. */

/* Whether a problem is one for cairn_small_solve. */
bool cairn_small_accepts(const cairn_problem *p, const cairn_solve_options *options);

/* Solve it from r, or find out that sweeps would take longer than other methods; report->converged
 * says which. If true, r is the answer, u its velocities, and all of the report except the name of
 * the solver is set. Otherwise r is a start for other methods, and only report->iterations is
 * set. */
cairn_status cairn_small_solve(const cairn_problem *p, const cairn_solve_options *options,
                               cairn_arena *arena, double *r, double *u,
                               cairn_solve_report *report);

/* ---- the second phase of an impact by Poisson's law ------------------------------------------ */

/* M (v - v_free) = H' r,  r = compression + x,  and for each contact
 *     x in C = {|x_T| <= mu x_N, x_N >= floor},  x_N - floor ⟂ u_N + b >= 0,
 * friction by the requested law with the velocity at the end. Cones are circular. Either form of
 * the problem; its s is ignored. */
typedef struct cairn_decompression {
    const cairn_problem *p;
    const double *compression; /* N s, dimension per contact: impulses of the first phase    */
    const double *floor;       /* N s, per contact: least normal impulse of the second phase */
    cairn_arena *arena;        /* scratch, for problems that are cut into parts; may be NULL */
} cairn_decompression;

/* Judge r like cairn_judge, with P_C of x in place of P_K of r. The denominator of `relative` is
 * the norm of q of the contacts with q_N < 0, as there, and of the velocities by the floors
 * alone. */
void cairn_decompression_judge(const cairn_decompression *d, cairn_law law, const double *r,
                               double *v, double *u, cairn_judgement *out);

/* Solve by block Gauss-Seidel sweeps; options->solver is ignored. On entry r is the start, on
 * return the solution. */
cairn_status cairn_decompression_solve(const cairn_decompression *d,
                                       const cairn_solve_options *options, double *r, double *v,
                                       double *u, cairn_solve_report *report);

/* Add the report of the compression to that of the decompression: sums of the work, the worse of
 * the residuals. */
void cairn_decompression_report(const cairn_solve_report *first, cairn_solve_report *report);

#endif
