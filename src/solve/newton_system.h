/* newton_system.h - the equations of the semismooth Newton method and one step of it. */
#ifndef CAIRN_SOLVE_NEWTON_SYSTEM_H
#define CAIRN_SOLVE_NEWTON_SYSTEM_H

#include "backend/host/host.h"
#include "math/factor.h"
#include "solve/solver.h"

typedef struct cairn_newton_system cairn_newton_system;

/* How W is held and J dr = -F solved: by contacts or by bodies. */
typedef struct cairn_newton_form {
    /* Set up the matrix; memory from the arena. */
    cairn_status (*create)(cairn_newton_system *s, cairn_arena *arena);
    /* s->u = W r + q, without the shift */
    void (*relative)(cairn_newton_system *s, const double *r);
    /* s->step = dr from s->F, s->G, s->closed at r; *regular is false when J is singular */
    cairn_status (*solve)(cairn_newton_system *s, const double *r, bool *regular);
} cairn_newton_form;

extern const cairn_newton_form cairn_newton_contacts, cairn_newton_bodies;

/* F(r) = D (r - Phi(r - R u)), u = (W + E) r + q + shift n + A D (r - centre). */
struct cairn_newton_system {
    const cairn_problem *p;
    const cairn_newton_form *form;
    cairn_law law;
    size_t n;       /* components of r                                                     */
    double alpha;   /* weight of the proximal term: A, except for equations                */
    double *centre; /* n: centre of the proximal term, N s                                 */
    double *shift;  /* contacts: b, for the convex law b + mu s, m/s                       */
    double *w;      /* n: D, kg^-1                                                         */
    double *eps;    /* n: E, the compliance of rows with bounds, kg^-1                     */
    bool *equation; /* n: a row without bounds, whose A is small                           */
    double *rho;    /* n: R, kg                                                            */
    double *u;      /* n: W r + q, m/s                                                     */
    double *F, *G;  /* n; d x d per contact: the residual and the derivative of Phi at r   */
    bool *closed;   /* contacts: Phi is not 0                                              */
    double *step;   /* n: dr                                                               */
    cairn_lu *lu;
    /* the linear system */
    double *right, *matrix;
    int64_t *row;
    int32_t *column;
    /* by contacts: contact j couples with contacts other[start[j] ..] by d x d blocks of W */
    cairn_problem local;
    cairn_matrix formed;
    int64_t *start;
    int32_t *other;
    double *W;
    int32_t *index; /* contacts: their number among the closed ones, -1: open              */
    /* by bodies: where the blocks of the 4 pairs of sides of a contact begin in `matrix` */
    double *root, *v; /* velocities: M^-1/2; velocities of r                               */
    int64_t *where;   /* 4 per contact, -1: none                                           */
};

/* A D of component i, which the proximal term adds to W_ii. */
double cairn_newton_pull(const cairn_newton_system *s, size_t i);

/* Set up for the problem and the law of a task. Memory comes from its arena, except for the
 * factors. It must be destroyed even if this fails. */
cairn_status cairn_newton_system_create(cairn_task *task, cairn_newton_system *out);
void cairn_newton_system_destroy(cairn_newton_system *s);

/* F, G and the closed contacts at r; returns |F|, m/s. */
double cairn_newton_system_residual(cairn_newton_system *s, const double *r);

/* r += the Newton step, from F and G of the last residual. *good is false, and r unchanged, when
 * the matrix is singular or the step not finite. */
cairn_status cairn_newton_system_step(cairn_newton_system *s, double *r, bool *good);

#endif
