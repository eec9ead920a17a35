/* balls.c - balls (a point has radius 0) against shapes whose distance to a point is closed form.
 *
 *   ball        n = d/|d|, gap = |d| - R_a - R_b
 *   half-space  gap = d.n - R
 *   box         outside: from the nearest point of the (smaller, when rounded) box;
 *               inside: through the nearest face
 *   capsule     from the nearest point of its segment */
#include "collide/narrow.h"
#include "collide/plain.h"
#include "math/vec.h"

double cairn_ball_radius(const cairn_collider *c)
{
    return c->shape->kind == CAIRN_SHAPE_SPHERE ? c->shape->radius : 0;
}

cairn_witness cairn_ball_witness(const cairn_collider *a, cairn_vec3 normal, double distance,
                                 int feature)
{
    cairn_witness found = cairn_point_witness(a->x, cairn_ball_radius(a), normal, distance);
    found.feature = feature;
    return found;
}

static cairn_zone zone_of_ball(const cairn_collider *c)
{
    return (cairn_zone){ .centre = c->x, .radius = cairn_ball_radius(c) };
}

int cairn_ball_ball(const cairn_collider *a, const cairn_collider *b, int dimension, double margin,
                    cairn_witness *out)
{
    const cairn_zone one = zone_of_ball(a), two = zone_of_ball(b);
    out[0] = cairn_balls_witness(&one, &two, dimension);
    return out[0].gap <= margin;
}

int cairn_ball_half_space(const cairn_collider *a, const cairn_collider *b, int dimension,
                          double margin, cairn_witness *out)
{
    (void)dimension;
    cairn_vec3 axis = b->shape->axis;
    const cairn_zone ball = zone_of_ball(a);
    const cairn_zone plane = { .centre = b->x,
                               .half =
                                   cairn_rotate(b->q, cairn_scale(1 / cairn_norm(axis), axis)) };
    out[0] = cairn_plane_witness(&ball, &plane);
    return out[0].gap <= margin;
}

/* ---- boxes ---------------------------------------------------------------------------------- */

static double clamp(double value, double most)
{
    return value < -most ? -most : value > most ? most : value;
}

/* From inside a box: the outward normal of the nearest face (in the box frame), and how deep. */
static cairn_vec3 nearest_face(cairn_vec3 p, cairn_vec3 half, int dimension, double *depth)
{
    double room[3] = { half.x - fabs(p.x), half.y - fabs(p.y), half.z - fabs(p.z) };
    int axis = 0;
    for (int k = 1; k < dimension; k++)
        axis = room[k] < room[axis] ? k : axis;
    *depth = room[axis];
    return cairn_vec(axis == 0 ? (p.x < 0 ? -1 : 1) : 0, axis == 1 ? (p.y < 0 ? -1 : 1) : 0,
                     axis == 2 ? (p.z < 0 ? -1 : 1) : 0);
}

int cairn_ball_box(const cairn_collider *a, const cairn_collider *b, int dimension, double margin,
                   cairn_witness *out)
{
    const cairn_shape *box = b->shape;
    double r = box->rounding, depth;
    cairn_vec3 half = { 0.5 * box->size.x - r, 0.5 * box->size.y - r,
                        dimension == 3 ? 0.5 * box->size.z - r : 0 };
    cairn_vec3 p = cairn_rotate_back(b->q, cairn_sub(a->x, b->x));
    cairn_vec3 q = cairn_vec(clamp(p.x, half.x), clamp(p.y, half.y), clamp(p.z, half.z));
    cairn_vec3 d = cairn_sub(p, q), out_of = nearest_face(p, half, dimension, &depth);
    double distance = cairn_norm(d);
    bool inside = distance == 0;
    cairn_vec3 n = inside ? out_of : cairn_scale(1 / distance, d);
    out[0] = cairn_ball_witness(a, cairn_rotate(b->q, n), (inside ? -depth : distance) - r, 0);
    return out[0].gap <= margin;
}

/* ---- capsules ------------------------------------------------------------------------------- */

int cairn_ball_capsule(const cairn_collider *a, const cairn_collider *b, int dimension,
                       double margin, cairn_witness *out)
{
    cairn_vec3 axis = cairn_rotate(b->q, cairn_unit(b->shape->axis));
    cairn_vec3 d = cairn_sub(a->x, b->x);
    double t = clamp(cairn_dot(d, axis), 0.5 * b->shape->length);
    cairn_vec3 side = dimension == 2 ? cairn_vec(-axis.y, axis.x, 0) : cairn_perpendicular(axis);
    const cairn_zone ball = zone_of_ball(a);
    out[0] = cairn_centre_witness(&ball, cairn_add_scaled(d, -t, axis), b->shape->radius, side);
    return out[0].gap <= margin;
}
