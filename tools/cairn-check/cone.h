/* cone.h - friction cones: projections and the natural map. */
#ifndef CHECK_CONE_H
#define CHECK_CONE_H

#include <stdbool.h>

/* The cone of a contact. With `least` > 0 the part of it with at least that normal impulse, and
 * below it the disk of friction that the least one allows. */
typedef struct cone {
    int d, edges; /* 2 or 3; 0 for a circle */
    double mu, least;
} cone;

double cone_dot(int d, const double *a, const double *b);
double cone_tangent(int d, const double *a); /* |a_T| */
/* |r - P(r - scale u)| */
double cone_natural_map(const cone *k, const double *r, const double *u, double scale);
/* |u_T|, for cones with edges its largest part along one of them. */
double cone_sliding(const cone *k, const double *u);

#endif
