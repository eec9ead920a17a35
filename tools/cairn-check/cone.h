/* cone.h - friction cones: projections and the natural map. */
#ifndef CHECK_CONE_H
#define CHECK_CONE_H

#include <stdbool.h>

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
/* The law's conditions, each by itself, at impulse w r: the largest of what a contact pulls (below
 * its least impulse), at what speed its bodies approach, how fast it opens while it pushes, and how
 * far friction is from what the normal impulse allows and the sliding asks for, m/s. u is lifted */
double cone_conditions(const cone *k, const double *r, const double *u, double lift, double w);
/* |u_T|, for cones with edges its largest part along one of them. */
double cone_sliding(const cone *k, const double *u);
/* mu_R |u_R| + mu_S |u_S| */
double cone_turning(const cone *k, const double *u);
/* How far moments are from opposing the turning: the largest r.u + |r||u| of the parts, >= 0. */
double cone_against(const cone *k, const double *r, const double *u);

#endif
