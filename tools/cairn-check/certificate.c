/* certificate.c - the contact law in units a person understands; formulas in docs/run-format.md and
 * docs/schemes.md. After an impact by Poisson's law r is what came after the compression. */
#include "phase.h"

/* A number over all contacts, and what its rounding is relative to. */
typedef struct entry {
    double value, size;
} entry;

static void take(entry *e, double value, double size)
{
    e->value = fmax(e->value, value);
    e->size = fmax(e->size, size);
}

enum { GAP_ERROR, COMPLEMENTARITY, FRICTION, DILATATION, SPURIOUS, VIOLATION, ENTRIES };

/* What the sizes of the terms of a lift are: s, N s, m/s. */
typedef struct lift_scale {
    double h, length, size;
} lift_scale;

/* The gap that the convex law keeps under a contact that pushes. An impulse that lies above its
 * least by no more than rounding may count as pushing or not: either is right. */
static void lift_of(entry *out, double above, double normal, double lift, lift_scale scale)
{
    double slack = CHECK_ROUNDING * scale.length, h = scale.h;
    if (above < -slack || !(above > 0 || slack > 0))
        return;
    if (above <= slack) {
        take(&out[DILATATION], 0, h * lift / CHECK_ROUNDING + h * scale.size);
        out[SPURIOUS].size += fabs(normal) * lift / CHECK_ROUNDING + scale.length * scale.size;
        return;
    }
    take(&out[DILATATION], h * lift, h * scale.size);
    out[SPURIOUS].value += normal * lift;
    out[SPURIOUS].size += scale.length * scale.size;
}

static void certify(const check_run *run, const check_phase *p, int j, entry *out)
{
    const check_derived *c = &run->by_contact;
    cone k = check_cone(run, p, j, false);
    int m = run->settings.components;
    size_t first = (size_t)j * (size_t)m;
    const double *r = p->r + first, *u = p->u + first, *all = c->r + first;
    double h = run->settings.h,
           length = sqrt(cone_dot(m, all, all)) + h * run->contacts.adhesion[j];
    double slide = cone_tangent(k.d, u), above = r[0] - k.least;
    k.edges = run->settings.directions;
    double lift = k.mu * fmax(0, cone_sliding(&k, u) - (p->s ? p->s[j] : 0)) + cone_turning(&k, u);
    lift = run->settings.scheme->convex ? lift : 0;
    double push = c->weight[j] * above, open = u[0] + p->bias[j] - lift;
    double along = cone_dot(k.d, r, u) - r[0] * u[0] + cone_tangent(k.d, r) * slide;
    along = fmax(along, cone_against(&k, r, u));
    double steep = 1 + k.mu + k.mu_rolling + k.mu_spinning;
    double size = steep * c->size[j] + c->weight[j] * length;
    bool apart = above == 0 && open > CHECK_ROUNDING * size;
    take(&out[GAP_ERROR], h * fabs(fmin(open, push)), apart ? h * c->weight[j] * length : h * size);
    take(&out[COMPLEMENTARITY], fabs(above * open), length * size);
    take(&out[FRICTION], along / h, length * size / h);
    lift_of(out, above, r[0], lift, (lift_scale){ h, length, size });
}

/* Distance of impulses from their cones, in every phase. */
static void violate(const check_run *run, const check_phase *p, int j, entry *out)
{
    const double none[CONE_COMPONENTS] = { 0 };
    cone k = check_cone(run, p, j, true);
    int m = run->settings.components;
    const double *r = p->r + (size_t)j * (size_t)m,
                 *all = run->by_contact.r + (size_t)j * (size_t)m;
    take(&out[VIOLATION], cone_natural_map(&k, r, none, 0),
         sqrt(cone_dot(m, all, all)) + sqrt(cone_dot(m, r, r)) +
             run->settings.h * run->contacts.adhesion[j]);
}

/* The same for the rows of joints, block by block. */
static void violate_rows(const check_run *run, entry *out)
{
    double sum = 0, size = 0;
    for (int i = 0; i < run->row_count; i++) {
        const check_joint_row *row = &run->rows[i];
        bool same = i > 0 && row->block == row[-1].block;
        double over = fmax(0, fmax(row->lower - row->r, row->r - row->upper));
        sum = (same ? sum : 0) + over * over;
        size = (same ? size : 0) + fabs(row->r);
        take(&out[VIOLATION], sqrt(sum), size);
    }
}

static void find_entries(const check_run *run, entry *out)
{
    check_phase phases[2];
    int count = check_phases(run, phases);
    for (int j = 0; j < run->contacts.count; j++) {
        certify(run, &phases[count - 1], j, out);
        for (int k = 0; k < count; k++)
            violate(run, &phases[k], j, out);
    }
    violate_rows(run, out);
}

static void check_entries(check_run *run)
{
    const check_steps *t = &run->steps;
    long i = run->step - 1;
    entry found[ENTRIES] = { { 0, 0 } };
    const struct {
        const char *name;
        double stored;
        int entry;
    } claims[] = {
        { "gap_error", t->gap_error[i], GAP_ERROR },
        { "complementarity", t->complementarity[i], COMPLEMENTARITY },
        { "friction_direction", t->friction_direction[i], FRICTION },
        { "dilatation", t->dilatation[i], DILATATION },
        { "spurious_work", t->spurious_work[i], SPURIOUS },
        { "cone_violation", t->cone_violation[i], VIOLATION },
        { "judge_cone_violation", t->judge_cone_violation[i], VIOLATION },
    };
    find_entries(run, found);
    for (size_t k = 0; k < sizeof claims / sizeof claims[0]; k++)
        check_same(run->report, check_at(run, NULL, 0, claims[k].name), claims[k].stored,
                   found[claims[k].entry].value, found[claims[k].entry].size);
    check_between(run->report, check_at(run, NULL, 0, "friction_law"), t->friction_law[i], 0,
                  run->materials.vary ? HUGE_VAL : 0);
}

void check_certificate_of(check_run *run)
{
    check_entries(run);
}
