/* cone.c - projection on the friction cone K = {|r_T| <= mu r_N}. */
#include <math.h>

#include "cairn/problem.h"

void cairn_cone_project(int dimension, double mu, double *r)
{
    double tangent = dimension == 3 ? sqrt(r[1] * r[1] + r[2] * r[2]) : fabs(r[1]);
    if (r[0] >= 0 && tangent <= mu * r[0])
        return;
    /* in the polar cone: to the apex; else to the nearest point of the generator through r_T */
    double along = r[0] + mu * tangent;
    double normal = along > 0 ? along / (1 + mu * mu) : 0;
    double scale = tangent > 0 ? mu * normal / tangent : 0;
    r[0] = normal;
    for (int i = 1; i < dimension; i++)
        r[i] *= scale;
}
