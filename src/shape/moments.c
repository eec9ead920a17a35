/* moments.c - volume integrals of solids at density 1, summed piece by piece. */
#include "shape/shape.h"

#include "math/factor.h"
#include "math/vec.h"

cairn_moments cairn_moments_symmetric(double volume, double xx, double yy, double zz)
{
    return (cairn_moments){ .volume = volume, .second = { .xx = xx, .yy = yy, .zz = zz } };
}

void cairn_symmetric_add(cairn_symmetric *s, double factor, cairn_vec3 a, cairn_vec3 b)
{
    s->xx += factor * a.x * b.x;
    s->yy += factor * a.y * b.y;
    s->zz += factor * a.z * b.z;
    s->xy += 0.5 * factor * (a.x * b.y + a.y * b.x);
    s->yz += 0.5 * factor * (a.y * b.z + a.z * b.y);
    s->zx += 0.5 * factor * (a.z * b.x + a.x * b.z);
}

static void add_second(cairn_symmetric *sum, const cairn_symmetric *piece)
{
    sum->xx += piece->xx;
    sum->yy += piece->yy;
    sum->zz += piece->zz;
    sum->xy += piece->xy;
    sum->yz += piece->yz;
    sum->zx += piece->zx;
}

void cairn_moments_add(cairn_moments *sum, const cairn_moments *piece)
{
    sum->volume += piece->volume;
    sum->first = cairn_add(sum->first, piece->first);
    add_second(&sum->second, &piece->second);
}

/* R S R' = sum of s_ij r_i r_j' over the columns r of R; cairn_symmetric_add halves mixed terms */
static cairn_symmetric turned(const cairn_symmetric *s, cairn_quat q)
{
    cairn_vec3 x = cairn_rotate(q, cairn_vec(1, 0, 0)), y = cairn_rotate(q, cairn_vec(0, 1, 0));
    cairn_vec3 z = cairn_rotate(q, cairn_vec(0, 0, 1));
    cairn_symmetric out = { 0 };
    cairn_symmetric_add(&out, s->xx, x, x);
    cairn_symmetric_add(&out, s->yy, y, y);
    cairn_symmetric_add(&out, s->zz, z, z);
    cairn_symmetric_add(&out, 2 * s->xy, x, y);
    cairn_symmetric_add(&out, 2 * s->yz, y, z);
    cairn_symmetric_add(&out, 2 * s->zx, z, x);
    return out;
}

/* x -> t + R x:  int x -> V t + R f,  int x x' -> R S R' + t (R f)' + (R f) t' + V t t' */
cairn_moments cairn_moments_placed(const cairn_moments *m, const cairn_pose *pose)
{
    cairn_vec3 first = cairn_rotate(pose->q, m->first);
    cairn_moments out = { .volume = m->volume,
                          .first = cairn_add_scaled(first, m->volume, pose->x),
                          .second = turned(&m->second, pose->q) };
    cairn_symmetric_add(&out.second, 2, pose->x, first);
    cairn_symmetric_add(&out.second, m->volume, pose->x, pose->x);
    return out;
}

/* S = s_xx 1 + (s_zz - s_xx) a a' */
cairn_moments cairn_moments_about_axis(const cairn_moments *m, cairn_vec3 axis)
{
    double across = m->second.xx;
    cairn_moments out = cairn_moments_symmetric(m->volume, across, across, across);
    out.first = cairn_scale(m->first.z, axis);
    cairn_symmetric_add(&out.second, m->second.zz - across, axis, axis);
    return out;
}

/* V = a.(b x c)/6;  int x = V (a + b + c)/4;
 * int x x' = V/20 (s s' + a a' + b b' + c c'), s = a + b + c (the fourth corner is 0) */
void cairn_moments_add_tetrahedron(cairn_moments *sum, cairn_vec3 a, cairn_vec3 b, cairn_vec3 c)
{
    double volume = cairn_dot(a, cairn_cross(b, c)) / 6;
    cairn_vec3 s = cairn_add(a, cairn_add(b, c));
    sum->volume += volume;
    sum->first = cairn_add_scaled(sum->first, volume / 4, s);
    cairn_symmetric_add(&sum->second, volume / 20, s, s);
    cairn_symmetric_add(&sum->second, volume / 20, a, a);
    cairn_symmetric_add(&sum->second, volume / 20, b, b);
    cairn_symmetric_add(&sum->second, volume / 20, c, c);
}

/* A = (a x b)_z/2;  int x = A (a + b)/3;  int x x' = A/12 (s s' + a a' + b b'), s = a + b */
void cairn_moments_add_triangle(cairn_moments *sum, cairn_vec3 a, cairn_vec3 b)
{
    double area = 0.5 * (a.x * b.y - a.y * b.x);
    cairn_vec3 s = cairn_add(a, b);
    sum->volume += area;
    sum->first = cairn_add_scaled(sum->first, area / 3, s);
    cairn_symmetric_add(&sum->second, area / 12, s, s);
    cairn_symmetric_add(&sum->second, area / 12, a, a);
    cairn_symmetric_add(&sum->second, area / 12, b, b);
}

cairn_mass cairn_moments_mass(const cairn_moments *m, int dimension)
{
    cairn_mass out = { .mass = m->volume };
    if (!(m->volume > 0))
        return out;
    out.centre = cairn_scale(1 / m->volume, m->first);
    /* parallel axes: central second moments are S - V c c' */
    cairn_symmetric s = m->second;
    cairn_symmetric_add(&s, -m->volume, out.centre, out.centre);
    if (dimension == 2)
        out.inertia.zz = s.xx + s.yy;
    else
        out.inertia =
            (cairn_symmetric){ s.yy + s.zz, s.zz + s.xx, s.xx + s.yy, -s.xy, -s.yz, -s.zx };
    return out;
}

/* Remove off-diagonal entries below rounding, which would otherwise rotate the principal axes of
 * a symmetric solid arbitrarily. */
static cairn_symmetric cleaned(cairn_symmetric j)
{
    double least = 1e-13 * (j.xx + j.yy + j.zz);
    j.xy = fabs(j.xy) < least ? 0 : j.xy;
    j.yz = fabs(j.yz) < least ? 0 : j.yz;
    j.zx = fabs(j.zx) < least ? 0 : j.zx;
    return j;
}

void cairn_mass_principal(const cairn_mass *mass, int dimension, cairn_vec3 *inertia,
                          cairn_pose *shape_in_body)
{
    const cairn_symmetric j = cleaned(mass->inertia);
    cairn_quat axes = { 1, 0, 0, 0 };
    *inertia = cairn_vec(0, 0, j.zz);
    if (dimension == 3)
        cairn_eigen_symmetric(&j, inertia, &axes);
    /* a centre that is off the origin by rounding only is taken to be the origin */
    double arm = cairn_norm(mass->centre), size = sqrt((j.xx + j.yy + j.zz) / mass->mass);
    cairn_vec3 back = cairn_scale(arm > 1e-14 * size ? -1 : 0, mass->centre);
    /* p_body = R' (p_shape - c) */
    shape_in_body->q = cairn_quat_conjugate(axes);
    shape_in_body->x = cairn_rotate_back(axes, back);
}
