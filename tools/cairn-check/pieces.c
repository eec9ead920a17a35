/* pieces.c - see pieces.h. A part sits in its compound, the compound in its body: the pose of a
 * piece is that of the body, then shape_x and shape_q, then x and q of the part. */
#include "pieces.h"

#include "shapes.h"

static const check_geometry *row_of(const check_run *run, int body)
{
    int row = run->bodies.geometry[body];
    return row >= 0 ? &run->geometries.rows[row] : NULL;
}

static bool is_known(const check_run *run, int32_t shape, int geometry)
{
    bool solid = check_class_of(shape) != CHECK_NO_SOLID || check_is_surface(shape);
    return solid && (shape < CHECK_HULL || (geometry >= 0 && geometry < run->geometries.count));
}

bool check_has_pieces(const check_run *run, int body)
{
    const check_part_list *parts = &run->geometries.parts;
    int32_t shape = run->bodies.shape[body];
    const check_geometry *row = row_of(run, body);
    if (shape != CHECK_COMPOUND)
        return is_known(run, shape, run->bodies.geometry[body]);
    for (int i = 0; row && i < row->parts; i++) {
        int part = row->first_part + i;
        if (!is_known(run, parts->shape[part], parts->geometry[part]))
            return false;
    }
    return row != NULL;
}

bool check_is_one_piece(const check_run *run, int body)
{
    return check_class_of(run->bodies.shape[body]) != CHECK_NO_SOLID;
}

bool check_has_faces(const check_run *run, int body)
{
    int32_t shape = run->bodies.shape[body];
    const check_geometry *row = row_of(run, body);
    bool faces = check_is_surface(shape);
    for (int i = 0; shape == CHECK_COMPOUND && row && i < row->parts; i++)
        faces = faces || check_is_surface(run->geometries.parts.shape[row->first_part + i]);
    return faces;
}

check_class check_pieces_class(const check_run *run, int body)
{
    const check_geometry *row = row_of(run, body);
    int32_t shape = run->bodies.shape[body];
    check_class worst = check_is_surface(shape) ? CHECK_FLAT : check_class_of(shape);
    for (int i = 0; shape == CHECK_COMPOUND && row && i < row->parts; i++) {
        int32_t part = run->geometries.parts.shape[row->first_part + i];
        check_class one = check_is_surface(part) ? CHECK_FLAT : check_class_of(part);
        worst = one > worst ? one : worst;
    }
    return worst;
}

/* ---- one piece ------------------------------------------------------------------------------ */

static check_place_of within(check_place_of at, vec x, quat q)
{
    return (check_place_of){ vec_add(at.x, 1, quat_rotate(at.q, x)), quat_product(at.q, q) };
}

static check_place_of shape_place(const check_run *run, int body, check_place_of at)
{
    return within(at, run->bodies.shape_x[body], run->bodies.shape_q[body]);
}

static check_solid part_at(const check_run *run, int part, check_place_of at)
{
    const check_part_list *p = &run->geometries.parts;
    int row = p->geometry[part];
    return (check_solid){ .shape = p->shape[part],
                          .at = within(at, p->x[part], p->q[part]),
                          .radius = p->radius[part],
                          .height = p->height[part],
                          .length = p->length[part],
                          .rounding = p->rounding[part],
                          .exponents = { p->exponents[2 * part], p->exponents[2 * part + 1] },
                          .size = p->size[part],
                          .semi_axes = p->semi_axes[part],
                          .axis = p->axis[part],
                          .row = row >= 0 ? &run->geometries.rows[row] : NULL };
}

static check_solid body_at(const check_run *run, int body, check_place_of at)
{
    const check_bodies *b = &run->bodies;
    return (check_solid){ .shape = b->shape[body],
                          .at = at,
                          .radius = b->radius[body],
                          .height = b->height[body],
                          .length = b->length[body],
                          .rounding = b->rounding[body],
                          .exponents = { b->exponents[2 * body], b->exponents[2 * body + 1] },
                          .size = b->size[body],
                          .semi_axes = b->semi_axes[body],
                          .axis = b->axis[body],
                          .row = row_of(run, body) };
}

check_solid check_piece_at(const check_run *run, int body, check_place_of at, check_piece piece)
{
    check_place_of shape = shape_place(run, body, at);
    check_solid s = piece.part < 0
                        ? body_at(run, body, shape)
                        : part_at(run, row_of(run, body)->first_part + piece.part, shape);
    s.flat = run->settings.dimension == 2;
    s.data = &run->geometries;
    s.face = piece.face;
    return s;
}

bool check_is_face_normal(const check_solid *face, vec out)
{
    if (!check_is_surface(face->shape))
        return false;
    vec n = quat_rotate(face->at.q, face->data->normals[face->row->first_face + face->face]);
    bool sheet = face->shape == CHECK_MESH && !face->row->closed;
    double turned = vec_norm(vec_add(n, -1, out)), over = vec_norm(vec_add(n, 1, out));
    return turned < 1e-9 || (sheet && over < 1e-9);
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* The next face of the surface s after `face` near p; -1: none. */
static int next_face(const check_solid *s, vec p, double distance, int face)
{
    vec local = quat_rotate_back(s->at.q, vec_add(p, -1, s->at.x));
    return check_face_near(s->data, s->row, face + 1, local, distance);
}

bool check_piece_next(const check_run *run, int body, check_place_of at, vec p, double distance,
                      check_piece *piece)
{
    bool compound = run->bodies.shape[body] == CHECK_COMPOUND, begun = piece->face > -2;
    int parts = compound ? row_of(run, body)->parts : 0;
    int part = compound ? (begun ? piece->part : 0) : -1;
    int face = begun ? piece->face : -1;
    do {
        check_solid s = check_piece_at(run, body, at, (check_piece){ part, -1 });
        bool surface = check_is_surface(s.shape), here = part != piece->part || !begun;
        face = surface ? next_face(&s, p, distance, face) : -1;
        if (surface ? face >= 0 : here) {
            *piece = (check_piece){ part, face };
            return true;
        }
    } while (++part < parts);
    return false;
}

double check_body_reach(const check_run *run, int body, check_place_of at, vec direction)
{
    check_piece piece = CHECK_FIRST_PIECE;
    double most = -HUGE_VAL;
    while (check_piece_next(run, body, at, at.x, HUGE_VAL, &piece)) {
        check_solid s = check_piece_at(run, body, at, piece);
        most = fmax(most, check_reach(&s, direction));
    }
    return most;
}

double check_bent(const check_run *run, int body)
{
    const check_part_list *parts = &run->geometries.parts;
    const check_geometry *row = row_of(run, body);
    double most = row && run->bodies.shape[body] == CHECK_HULL ? row->bent : 0;
    for (int i = 0; run->bodies.shape[body] == CHECK_COMPOUND && i < row->parts; i++) {
        int part = row->first_part + i;
        if (parts->shape[part] == CHECK_HULL)
            most = fmax(most, run->geometries.rows[parts->geometry[part]].bent);
    }
    return most;
}

static double extent_of_shape(const check_run *run, int body)
{
    const check_place_of origin = { { 0, 0, 0 }, { 1, 0, 0, 0 } };
    bool compound = run->bodies.shape[body] == CHECK_COMPOUND;
    int parts = compound ? row_of(run, body)->parts : 1;
    double extent = 0;
    for (int i = 0; i < parts; i++) {
        check_solid s = check_piece_at(run, body, origin, (check_piece){ compound ? i : -1, 0 });
        vec x = compound ? run->geometries.parts.x[row_of(run, body)->first_part + i] : origin.x;
        extent = fmax(extent, vec_norm(x) + check_solid_extent(&s));
    }
    return extent;
}

double check_extent(const check_run *run, int body)
{
    if (run->bodies.shape[body] >= CHECK_HULL && !check_has_pieces(run, body))
        return -1;
    double extent = extent_of_shape(run, body);
    return extent > 0 ? extent + vec_norm(run->bodies.shape_x[body]) : extent;
}
