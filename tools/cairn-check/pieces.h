/* pieces.h - bodies as the convex solids that they are made of: themselves, the parts of a
 * compound, the faces of a mesh, height field or polyline. */
#ifndef CHECK_PIECES_H
#define CHECK_PIECES_H

#include "solid.h"

/* Which piece: of a compound the part, of a surface the face, else -1. */
typedef struct check_piece {
    int part, face;
} check_piece;

/* Before the first piece. */
#define CHECK_FIRST_PIECE ((check_piece){ -1, -2 })

/* Whether the file tells of what pieces a body is; false for walls, too. */
bool check_has_pieces(const check_run *run, int body);
bool check_is_one_piece(const check_run *run, int body);
/* Whether faces are among its pieces. */
bool check_has_faces(const check_run *run, int body);
/* The worst class of its pieces. */
check_class check_pieces_class(const check_run *run, int body);
check_solid check_piece_at(const check_run *run, int body, check_place_of at, check_piece piece);
/* The next piece after *piece that p, in space, can be within a distance of; false: there is none.
 * A distance of HUGE_VAL: all pieces. */
bool check_piece_next(const check_run *run, int body, check_place_of at, vec p, double within,
                      check_piece *piece);
/* m: how far corners of its hulls are off their faces, at most. */
double check_bent(const check_run *run, int body);
/* Radius about the centre of mass that holds a body, m: 0 for what has no bounds, -1 where the file
 * does not say. */
double check_extent(const check_run *run, int body);
/* m: max of p.direction over all pieces. */
double check_body_reach(const check_run *run, int body, check_place_of at, vec direction);
/* Whether a face may push along the unit direction `out` at whatever touches it: its own normal,
 * of an open sheet either way. */
bool check_is_face_normal(const check_solid *face, vec out);

#endif
