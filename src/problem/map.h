/* map.h - the nonsmooth equation of one contact, r = Phi(r - rho u), and its derivative. */
#ifndef CAIRN_PROBLEM_MAP_H
#define CAIRN_PROBLEM_MAP_H

#include "cairn/problem.h"

/* phi = Phi(y) and G = dPhi/dy (dimension x dimension by rows) of contact j at y = r - rho u;
 * circular cones. False when both are zero: the contact is open, which rows never are. */
bool cairn_contact_map(const cairn_problem *p, int j, cairn_law law, const double *y, double *phi,
                       double *G);

#endif
