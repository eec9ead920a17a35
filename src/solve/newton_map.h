/* newton_map.h - the nonsmooth equation of one contact, r = Phi(r - rho u), and its derivative. */
#ifndef CAIRN_SOLVE_NEWTON_MAP_H
#define CAIRN_SOLVE_NEWTON_MAP_H

#include "cairn/problem.h"

/* phi = Phi(y) and G = dPhi/dy (dimension x dimension by rows) at y = r - rho u. False when both
 * are zero: the contact is open. */
bool cairn_newton_map(int dimension, cairn_law law, double mu, const double *y, double *phi,
                      double *G);

#endif
