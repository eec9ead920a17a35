/* images.c - the images of grains and contacts of a periodic sample that reach a box.
 *
 * An image is the thing moved by a whole number n_i of edges e_i, with the velocity v + n_i e_i'.
 * With the reciprocal vectors b_i, b_i.e_j = 1 for i = j, else 0, the numbers n_i of those that may
 * reach a box are those for which b_i.x + n_i lies in the range of b_i.y over the points y of the
 * box. */
#include <math.h>

#include "math/vec.h"
#include "measure/measure.h"

bool cairn_measure_repeats(const cairn_image_space *s, int axis)
{
    cairn_vec3 e = s->lattice ? s->lattice->edge[axis] : (cairn_vec3){ 0, 0, 0 };
    return e.x != 0 || e.y != 0 || e.z != 0;
}

/* Whether the box of the diagonal of the edges fills space with its images: in some order of the
 * axes, each edge has no components along later ones. */
static bool fills_space(const cairn_lattice *cell)
{
    static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                      { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    bool any = false;
    for (int o = 0; o < 6 && !any; o++) {
        any = true;
        for (int i = 0; i < 3; i++)
            for (int later = i + 1; later < 3; later++) {
                cairn_vec3 e = cell->edge[orders[o][i]];
                any = any && fabs(cairn_component(e, orders[o][later])) <= 1e-14 * cairn_norm(e);
            }
    }
    return any;
}

/* Axes without an edge count as 1 m. */
cairn_image_space cairn_measure_space(const cairn_sample *sample)
{
    static const cairn_vec3 axis[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    cairn_vec3 e[3];
    cairn_image_space s = { .lattice = fills_space(&sample->lattice) ? &sample->lattice : NULL };
    for (int i = 0; i < 3; i++)
        e[i] = cairn_measure_repeats(&s, i) ? s.lattice->edge[i] : axis[i];
    double volume = cairn_dot(e[0], cairn_cross(e[1], e[2]));
    for (int i = 0; i < 3; i++)
        s.reciprocal[i] = cairn_scale(1 / volume, cairn_cross(e[(i + 1) % 3], e[(i + 2) % 3]));
    return s;
}

cairn_image_range cairn_measure_images(const cairn_image_space *s, const cairn_region *box,
                                       cairn_vec3 one, cairn_vec3 other)
{
    cairn_image_range all = { { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } };
    for (int axis = 0; axis < 3; axis++) {
        /* along the reciprocal vector: of the box, less those of both points */
        double low = 0, high = 0, p = 0, q = 0;
        for (int k = 0; k < box->dimension && cairn_measure_repeats(s, axis); k++) {
            double b = cairn_component(s->reciprocal[axis], k);
            double begin = b * box->low[k], end = b * box->high[k];
            low += fmin(begin, end);
            high += fmax(begin, end);
            p += b * cairn_component(one, k);
            q += b * cairn_component(other, k);
        }
        bool repeats = cairn_measure_repeats(s, axis);
        all.from[axis] = repeats ? (int)ceil(low - fmax(p, q)) : 0;
        all.to[axis] = repeats ? (int)floor(high - fmin(p, q)) : 0;
        all.at[axis] = all.from[axis];
    }
    all.at[0]--; /* before the first one */
    return all;
}

bool cairn_measure_next_image(cairn_image_range *all)
{
    for (int axis = 0; axis < 3; axis++) {
        if (++all->at[axis] <= all->to[axis])
            return all->from[1] <= all->to[1] && all->from[2] <= all->to[2];
        all->at[axis] = all->from[axis];
    }
    return false;
}

static cairn_vec3 sum_of(const cairn_vec3 *vectors, const cairn_image_range *all)
{
    cairn_vec3 sum = { 0, 0, 0 };
    for (int axis = 0; axis < 3; axis++)
        sum = cairn_add_scaled(sum, all->at[axis], vectors[axis]);
    return sum;
}

cairn_vec3 cairn_measure_shift(const cairn_image_space *s, const cairn_image_range *all)
{
    return s->lattice ? sum_of(s->lattice->edge, all) : (cairn_vec3){ 0, 0, 0 };
}

cairn_vec3 cairn_measure_drift(const cairn_image_space *s, const cairn_image_range *all)
{
    return s->lattice ? sum_of(s->lattice->rate, all) : (cairn_vec3){ 0, 0, 0 };
}
