/* hull_none.c - convex hulls in a build without Qhull: they are refused. A core without file
 * formats may be built so, see CMakeLists.txt. */
#include <stddef.h>

#include "base/common.h"
#include "shape/geometry.h"

static cairn_status refuse(cairn_error *error)
{
    return cairn_fail(error, CAIRN_UNSUPPORTED, "points",
                      "this library was built without Qhull, which hulls of points need");
}

cairn_status cairn_hull_complete(cairn_geometry *g, cairn_error *error)
{
    (void)g;
    return refuse(error);
}

cairn_status cairn_hull_create(const cairn_vec3 *points, int count, int dimension,
                               const cairn_geometry **out, cairn_error *error)
{
    (void)points, (void)count, (void)dimension;
    *out = NULL;
    return refuse(error);
}
