/* hollow.h - edges of a surface from which both faces rise. */
#ifndef CHECK_HOLLOW_H
#define CHECK_HOLLOW_H

#include "solid.h"

/* Whether p, in space, lies beyond an edge of the face in the wedge between its plane and that of a
 * neighbour that rises there: a point there may be pushed along the normal of the face. */
bool check_in_hollow(const check_solid *face, vec p, double tolerance);

#endif
