/* mass.h - M^-1 of a general mass matrix, part by part. */
#ifndef CAIRN_PROBLEM_MASS_H
#define CAIRN_PROBLEM_MASS_H

#include "base/arena.h"
#include "math/factor.h"

/* A set of degrees of freedom that the entries of M connect, and the factor of its block. */
typedef struct cairn_mass_part {
    int size;
    const int32_t *member;    /* the degrees of freedom, ascending                       */
    double *L;                /* small parts: size x size, L below and D on the diagonal */
    cairn_cholesky *cholesky; /* large parts; NULL for small ones                        */
    cairn_lu *lu;             /* when M is not symmetric; else NULL                      */
} cairn_mass_part;

/* A factorised mass matrix. */
typedef struct cairn_mass_factor {
    const cairn_matrix *M; /* the caller's                                         */
    double asymmetry;      /* largest |M_ij - M_ji| / sqrt(M_ii M_jj)              */
    int parts;
    cairn_mass_part *part;
    int32_t *place; /* of each degree of freedom: its index in its part */
    cairn_arena arena;
} cairn_mass_factor;

/* Factor M, which must stay as long as the result is used. CAIRN_BAD_INPUT with `error` (may be
 * NULL) when it is not square or its symmetric part is not positive definite. */
cairn_status cairn_mass_factor_create(const cairn_matrix *M, cairn_mass_factor **out,
                                      cairn_error *error);
/* x = M^-1 b within one part; both have its size, in the order of its members; x is not b. */
cairn_status cairn_mass_factor_solve(const cairn_mass_factor *mass, int part, const double *b,
                                     double *x);
void cairn_mass_factor_destroy(cairn_mass_factor *mass);

#endif
