/* hollow.c - see hollow.h. With n the normal of the face, looking to the side of p, and o the
 * direction in its plane that leads over the edge, the face across it rises if one of its corners
 * is higher than the plane. The wedge holds what is beyond the edge, o.(p - edge) >= 0, and either
 * straight over that other face and above the plane, or behind both planes and beyond the edge from
 * the other face as well. */
#include "hollow.h"

/* A face seen from one of its edges, in the frame of its shape. */
typedef struct seen {
    const check_solid *s;
    int face;
    vec n;
} seen;

static vec corner(const seen *f, int k)
{
    return check_corner(f->s->data, f->s->row, f->face, k);
}

static seen see(const check_solid *s, int face)
{
    return (seen){ s, face, s->data->normals[s->row->first_face + face] };
}

/* m: how far p is out over the edge from corner k (2D: over the corner). */
static double out_over(const seen *f, int k, vec p)
{
    int count = check_corner_count(f->s->data, f->s->row, f->face);
    vec from = corner(f, k), e = vec_add(corner(f, (k + 1) % count), -1, from);
    vec out = count == 2 ? vec_times(-1, e) : vec_cross(e, f->n);
    return vec_dot(vec_add(p, -1, from), out) / vec_norm(out);
}

/* m: how far p is out over the edges, at most: negative straight over the face. */
static double outside(const seen *f, vec p)
{
    double most = -HUGE_VAL;
    for (int k = 0; k < check_corner_count(f->s->data, f->s->row, f->face); k++)
        most = fmax(most, out_over(f, k, p));
    return most;
}

static double height(const seen *f, vec p)
{
    return vec_dot(f->n, vec_add(p, -1, corner(f, 0)));
}

/* m: the highest corner of another face over the plane of this one, seen from the side of p. */
static double rise_of(const seen *other, const seen *f, double side)
{
    double most = 0;
    for (int k = 0; k < check_corner_count(f->s->data, f->s->row, other->face); k++)
        most = fmax(most, side * height(f, corner(other, k)));
    return most;
}

static bool is_in_wedge(const seen *f, int k, vec p, double tolerance)
{
    int next = check_neighbour(f->s->data, f->s->row, f->face, k);
    if (next < 0 || out_over(f, k, p) < -tolerance)
        return false;
    seen other = see(f->s, next);
    bool sheet = f->s->shape == CHECK_MESH && !f->s->row->closed;
    double side = sheet && height(f, p) < 0 ? -1 : 1;
    if (!(rise_of(&other, f, side) > tolerance))
        return false;
    if (side * height(f, p) >= -tolerance)
        return outside(&other, p) <= tolerance;
    return height(&other, p) <= tolerance && outside(&other, p) >= -tolerance;
}

bool check_in_hollow(const check_solid *face, vec p, double tolerance)
{
    vec local = quat_rotate_back(face->at.q, vec_add(p, -1, face->at.x));
    seen f = see(face, face->face);
    for (int k = 0; k < check_corner_count(face->data, face->row, face->face); k++)
        if (is_in_wedge(&f, k, local, tolerance))
            return true;
    return false;
}
