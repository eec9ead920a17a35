/* gltf.h - a run as a scene of glTF 2.0 that moves, in its binary form (.glb). */
#ifndef CAIRN_VIEW_GLTF_H
#define CAIRN_VIEW_GLTF_H

#include "cairn/cairn.h"

/* A node for each body with a bounded shape, a mesh for each different shape, and one animation
 * with a key for each frame. A body that comes in later has scale 0 before. */
cairn_status cairn_view_export_gltf(cairn_recording *run, int dimension, const char *path,
                                    int64_t *bytes, cairn_error *error);

#endif
