/* tensors.c - stress and fabric.
 *
 * Stress by Love and Weber: sigma_ij = 1/V sum over contacts of f_i l_j, with f the force on a
 * and l the branch vector from the centre of b to that of a (to the contact point if one of them
 * is not a grain). Pressure is positive. A contact counts by the share of its branch that lies
 * in the box, so that the stress is the mean over the box wherever the box cuts. Fabric: the
 * mean of n_i n_j over pushing contacts. */
#include <math.h>

#include "base/status.h"
#include "math/vec.h"
#include "measure/measure.h"

typedef struct tensor {
    double a[3][3];
} tensor;

/* t += s u v' */
static void add_product(tensor *t, double s, cairn_vec3 u, cairn_vec3 v)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            t->a[i][j] += s * cairn_component(u, i) * cairn_component(v, j);
}

static double mean_diagonal(const tensor *t, int dimension)
{
    double trace = 0;
    for (int i = 0; i < dimension; i++)
        trace += t->a[i][i];
    return trace / dimension;
}

/* Size of the deviatoric part s of the symmetric part, sqrt(3/2 s:s), in 2D sqrt(2 s:s). With
 * this scale it is the difference of the principal values in 2D, and in 3D if two of them are
 * equal. */
static double deviator(const tensor *t, int dimension)
{
    double mean = mean_diagonal(t, dimension), sum = 0;
    for (int i = 0; i < dimension; i++)
        for (int j = 0; j < dimension; j++) {
            double s = 0.5 * (t->a[i][j] + t->a[j][i]) - (i == j ? mean : 0);
            sum += s * s;
        }
    return sqrt((dimension == 2 ? 2 : 1.5) * sum);
}

/* The ratio |t - t'|/(2 |t|), the share of the antisymmetric part; 0 for a zero tensor. In
 * equilibrium the moments on each grain vanish and the stress is symmetric. */
static double asymmetry(const tensor *t)
{
    double whole = 0, odd = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double d = 0.5 * (t->a[i][j] - t->a[j][i]);
            whole += t->a[i][j] * t->a[i][j];
            odd += d * d;
        }
    return whole > 0 ? sqrt(odd / whole) : 0;
}

/* xx, yy, xy, zz, yz, zx of the symmetric part: the components of 2D come first */
static void components(const tensor *t, double out[6])
{
    static const int place[6][2] = { { 0, 0 }, { 1, 1 }, { 0, 1 }, { 2, 2 }, { 1, 2 }, { 2, 0 } };
    for (int k = 0; k < 6; k++) {
        int i = place[k][0], j = place[k][1];
        out[k] = 0.5 * (t->a[i][j] + t->a[j][i]);
    }
}

/* ---- stress --------------------------------------------------------------------------------- */

/* All contacts count, not only pushing ones: small forces add little. */
static void add_contacts(const cairn_measure *m, const cairn_region *region, tensor *sum)
{
    const cairn_sample *s = m->sample;
    for (int c = 0; c < s->contacts; c++) {
        int32_t a = s->pair[2 * c], b = s->pair[2 * c + 1];
        bool on_a = a >= 0 && s->is_grain[a], on_b = b >= 0 && s->is_grain[b];
        if (!on_a && !on_b)
            continue;
        cairn_vec3 from = on_b ? s->x[b] : s->point[c], to = on_a ? s->x[a] : s->point[c];
        add_product(sum, cairn_region_share(region, from, to), s->force[c], cairn_sub(to, from));
    }
}

/* The sum of m (v - u)(v - u)' over the grains in the region, u their mean velocity weighted by
 * mass */
static void add_motion(const cairn_measure *m, const cairn_region *region, tensor *sum)
{
    const cairn_sample *s = m->sample;
    cairn_vec3 momentum = { 0, 0, 0 };
    double mass = 0;
    for (int i = 0; i < s->count; i++)
        if (s->is_grain[i] && cairn_region_contains(region, s->x[i])) {
            momentum = cairn_add_scaled(momentum, s->mass[i], s->v[i]);
            mass += s->mass[i];
        }
    cairn_vec3 u = cairn_scale(mass > 0 ? 1 / mass : 0, momentum);
    for (int i = 0; i < s->count; i++)
        if (s->is_grain[i] && cairn_region_contains(region, s->x[i])) {
            cairn_vec3 w = cairn_sub(s->v[i], u);
            add_product(sum, s->mass[i], w, w);
        }
}

/* Columns: pressure, deviator, asymmetry, then the six components. */
static cairn_status stress(cairn_measure *m)
{
    cairn_region region;
    tensor sigma = { 0 };
    double row[9];
    int dimension = m->sample->dimension;
    TRY(cairn_region_bulk(m, &region));
    double volume = cairn_region_volume(&region);
    if (!(volume > 0))
        return CAIRN_OK;
    add_contacts(m, &region, &sigma);
    if (m->options->kinetic)
        add_motion(m, &region, &sigma);
    for (int k = 0; k < 9; k++)
        sigma.a[k / 3][k % 3] /= volume;
    row[0] = mean_diagonal(&sigma, dimension);
    row[1] = deviator(&sigma, dimension);
    row[2] = asymmetry(&sigma);
    components(&sigma, row + 3);
    return cairn_measure_row(m, row);
}

static const cairn_statistic_field stress_fields[] = {
    { { "pressure", "Pa", "mean of the diagonal, positive when pushed together", true },
      "N/m",
      false },
    { { "deviator", "Pa", "size of the shear part", true }, "N/m", false },
    { { "asymmetry", "", "share of the tensor that is not symmetric", false }, NULL, false },
    { { "xx", "Pa", "stress", true }, "N/m", false },
    { { "yy", "Pa", "stress", true }, "N/m", false },
    { { "xy", "Pa", "stress", true }, "N/m", false },
    { { "zz", "Pa", "stress", true }, NULL, true },
    { { "yz", "Pa", "stress", true }, NULL, true },
    { { "zx", "Pa", "stress", true }, NULL, true },
};

const cairn_statistic cairn_statistic_stress = {
    .name = "stress",
    .summary = "mean stress in a box, by Love and Weber",
    .needs = "contacts stored by run.contacts: true, and grains that span a volume or a region",
    .fields = stress_fields,
    .field_count = sizeof stress_fields / sizeof stress_fields[0],
    .series = true,
    .contacts = true,
    .measure = stress,
};

/* ---- fabric --------------------------------------------------------------------------------- */

/* Contacts count by their point in the box, each with the same weight. The sum is symmetric,
 * because n n' is, and does not depend on the sign of n. */
static cairn_status fabric(cairn_measure *m)
{
    const cairn_sample *s = m->sample;
    tensor sum = { 0 };
    double contacts = 0, row[8];
    for (int c = 0; c < s->contacts; c++) {
        int32_t a = s->pair[2 * c], b = s->pair[2 * c + 1];
        bool on_grain = (a >= 0 && s->is_grain[a]) || (b >= 0 && s->is_grain[b]);
        if (!on_grain || !cairn_measure_pushes(m, c, NULL) ||
            !cairn_region_contains(&m->box, s->point[c]))
            continue;
        add_product(&sum, 1, s->normal[c], s->normal[c]);
        contacts++;
    }
    for (int k = 0; k < 9; k++)
        sum.a[k / 3][k % 3] /= contacts;
    row[0] = deviator(&sum, s->dimension);
    row[1] = contacts;
    components(&sum, row + 2);
    return contacts > 0 ? cairn_measure_row(m, row) : CAIRN_OK;
}

static const cairn_statistic_field fabric_fields[] = {
    { { "anisotropy", "", "size of the part that is not isotropic", true }, NULL, false },
    { { "contacts", "", "counted", false }, NULL, false },
    { { "xx", "", "mean product of the normals' components", true }, NULL, false },
    { { "yy", "", "mean product of the normals' components", true }, NULL, false },
    { { "xy", "", "mean product of the normals' components", true }, NULL, false },
    { { "zz", "", "mean product of the normals' components", true }, NULL, true },
    { { "yz", "", "mean product of the normals' components", true }, NULL, true },
    { { "zx", "", "mean product of the normals' components", true }, NULL, true },
};

const cairn_statistic cairn_statistic_fabric = {
    .name = "fabric",
    .summary = "mean product of the contact normals",
    .needs = "contacts that push on grains in the region, stored by run.contacts: true",
    .fields = fabric_fields,
    .field_count = sizeof fabric_fields / sizeof fabric_fields[0],
    .series = true,
    .contacts = true,
    .measure = fabric,
};
