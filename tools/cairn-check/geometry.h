/* geometry.h - the group /geometry: points and faces of hulls, meshes, polylines and height fields,
 * parts of compounds; and distances from segments and triangles. */
#ifndef CHECK_GEOMETRY_H
#define CHECK_GEOMETRY_H

#include "columns.h"

enum { CHECK_BLOCK = 32 }; /* faces that share a box */

/* A box; empty when low > high. */
typedef struct check_bounds {
    vec low, high;
} check_bounds;

/* One row: what it has is in the lists of check_geometries. */
typedef struct check_geometry {
    int first_vertex, vertices, first_face, faces, first_part, parts;
    bool closed;   /* every edge has two faces: solid behind them */
    double extent; /* m: radius about the origin                  */
    double bent;   /* m: how far corners of a hull are off their faces */
    int first_block;
} check_geometry;

/* Parts of compounds: rows of /geometry/parts. */
typedef struct check_part_list {
    size_t capacity;
    int count;
    int32_t *shape, *geometry; /* shape: of the enum check_shape */
    vec *x, *size, *semi_axes, *axis;
    quat *q;
    double *radius, *height, *length, *rounding, *exponents;
} check_part_list;

typedef struct check_vertices {
    size_t capacity;
    vec *value;
} check_vertices;

typedef struct check_wholes {
    size_t capacity;
    int32_t *value;
} check_wholes;

/* Zero is valid: the file has none. */
typedef struct check_geometries {
    int count;
    check_geometry *rows;
    check_vertices vertices;
    int vertex_count;
    check_wholes corners, corner_offset;
    int corner_count, face_count;
    vec *normals; /* of faces: outward, unit */
    check_bounds *blocks;
    check_part_list parts;
} check_geometries;

struct check_run;
/* Read the group, if there is one, refusing numbers that cannot be; then the rows that bodies name.
 * Hulls that are not convex are findings. */
bool check_geometries_read(struct check_run *run);
void check_geometries_free(check_geometries *g);

/* Corner k of a face, in the frame of its shape. */
vec check_corner(const check_geometries *g, const check_geometry *row, int face, int k);
int check_corner_count(const check_geometries *g, const check_geometry *row, int face);
/* The face across the edge from corner k of a face to the next (2D: at corner k); -1: none. */
int check_neighbour(const check_geometries *g, const check_geometry *row, int face, int k);
/* m: distance of p from a face, or from a triangle; in 2D from a segment. */
double check_face_distance(const check_geometries *g, const check_geometry *row, int face, vec p);
double check_triangle_distance(const vec corner[3], vec p);
double check_segment_distance(vec from, vec to, vec p);
/* m: how deep p is in what a closed surface holds: its distance from the nearest face; negative:
 * it is outside. */
double check_depth_inside(const check_geometries *g, const check_geometry *row, vec p);
/* The next face from `face` on whose box, made wider by `within`, holds p; -1: none. */
int check_face_near(const check_geometries *g, const check_geometry *row, int face, vec p,
                    double within);

#endif
