/* energy.c - the energy ledger of a step. With vm = (v + v+)/2 and um the relative velocity of the
 * means:
 *     load work h F.vm,   driver work - sum r.(driven part of u),   friction loss - sum r_T.um_T,
 *     impact loss - sum r_N um_N,   numerical loss h m g.(v+ - v)/2 - h gyroscopic.wm
 *     correction - sum m g.h z, z what moves overlapping bodies apart
 * and the change of kinetic + potential is entered + loads + drivers + correction - the three
 * losses. */
#include <string.h>

#include "run.h"

/* A sum and the sum of the magnitudes of its terms. */
typedef struct sum {
    double value, size;
} sum;

static void add(sum *s, double term, double size)
{
    s->value += term;
    s->size += size;
}

typedef struct ledger {
    sum kinetic, potential, entered, load, driver, friction, impact, numerical, correction;
} ledger;

/* Kinetic and potential energy of a row of a state. */
static void add_state(const check_run *run, const check_state *s, int row, sum *kinetic,
                      sum *potential)
{
    int body = s->index[row];
    double m = run->bodies.mass[body];
    vec g = run->settings.gravity, x = s->x[row], v = s->v[row], omega = s->omega[row];
    if (run->bodies.motion[body] != CHECK_DYNAMIC)
        return;
    double turning = vec_dot(omega, vec_scale(run->bodies.inertia[body], omega));
    double energy = 0.5 * m * vec_dot(v, v) + 0.5 * turning;
    add(kinetic, energy, energy);
    add(potential, -m * vec_dot(g, x), m * vec_norm(g) * vec_norm(x));
}

static void add_body(const check_run *run, int body, ledger *l)
{
    int i = run->before.row[body], k = run->after.row[body];
    double h = run->settings.h, m = run->bodies.mass[body];
    vec old = run->before.v[i], new = run->after.v[k], g = run->settings.gravity;
    vec vm = vec_times(0.5, vec_add(old, 1, new));
    vec wm = vec_times(0.5, vec_add(run->before.omega[i], 1, run->after.omega[k]));
    vec F = run->force[body], T = run->torque[body], G = run->gyroscopic[body];
    double speed = vec_norm(old) + vec_norm(new), spin = vec_norm(wm);
    double turn = vec_norm(run->before.omega[i]) + vec_norm(run->after.omega[k]);
    vec J = run->bodies.inertia[body];
    add(&l->load, h * (vec_dot(F, vm) + vec_dot(T, wm)),
        h * (vec_norm(F) * speed + vec_norm(T) * spin));
    add(&l->numerical, 0.5 * h * m * vec_dot(g, vec_add(new, -1, old)) - h * vec_dot(G, wm),
        h * m * vec_norm(g) * speed + h * fmax(J.x, fmax(J.y, J.z)) * turn * turn * turn);
    add(&l->correction, -h * m * vec_dot(g, run->moved[body].v),
        h * m * vec_norm(g) * run->moved[body].v_size);
}

static void add_contact(const check_run *run, int j, ledger *l)
{
    int d = run->settings.dimension;
    size_t first = (size_t)j * (size_t)d;
    const check_derived *c = &run->by_contact;
    const double *r = run->contacts.impulse + first, *u = c->velocity + first;
    const double *before = c->before + first, *w = c->imposed + first;
    for (int i = 0; i < d; i++) {
        double size = fabs(r[i]) * c->size[j];
        add(i ? &l->friction : &l->impact, -r[i] * 0.5 * (u[i] + before[i]), size);
        add(&l->driver, -r[i] * w[i], size);
    }
}

static void check_sum(check_run *run, const char *name, const double *column, sum found)
{
    check_same(run->report, check_at(run, NULL, 0, name), column[run->step - 1], found.value,
               found.size);
}

/* Bodies that came in bring their energy along. */
static ledger make_ledger(const check_run *run)
{
    ledger l = { .kinetic = { 0, 0 } };
    sum kinetic = { 0, 0 }, potential = { 0, 0 };
    for (int row = 0; row < run->after.count; row++) {
        int body = run->after.index[row];
        add_state(run, &run->after, row, &l.kinetic, &l.potential);
        if (run->before.row[body] < 0)
            add_state(run, &run->after, row, &kinetic, &potential);
        else if (run->bodies.motion[body] == CHECK_DYNAMIC)
            add_body(run, body, &l);
    }
    add(&l.entered, kinetic.value + potential.value, l.kinetic.size + l.potential.size);
    for (int j = 0; j < run->contacts.count; j++)
        add_contact(run, j, &l);
    return l;
}

void check_energy_of(check_run *run)
{
    const check_steps *t = &run->steps;
    ledger l = make_ledger(run);
    check_sum(run, "kinetic", t->kinetic, l.kinetic);
    check_sum(run, "potential", t->potential, l.potential);
    check_sum(run, "entered_energy", t->entered_energy, l.entered);
    check_sum(run, "load_work", t->load_work, l.load);
    check_sum(run, "driver_work", t->driver_work, l.driver);
    check_sum(run, "friction_loss", t->friction_loss, l.friction);
    check_sum(run, "impact_loss", t->impact_loss, l.impact);
    check_sum(run, "numerical_loss", t->numerical_loss, l.numerical);
    check_sum(run, "correction", t->correction, l.correction);
}

void check_energy_start(check_run *run)
{
    sum kinetic = { 0, 0 }, potential = { 0, 0 };
    double stored;
    for (int row = 0; row < run->after.count; row++)
        add_state(run, &run->after, row, &kinetic, &potential);
    if (H5Aexists(run->file, "initial_energy") > 0 &&
        check_attribute(run->file, "initial_energy", 1, &stored, run->report))
        check_same(run->report, check_at(run, NULL, 0, "initial_energy"), stored,
                   kinetic.value + potential.value, kinetic.size + potential.size);
}

/* What changes kinetic + potential in a step, and in which direction. */
static const struct {
    size_t column; /* in check_steps */
    double sign;
} flows[] = {
    { offsetof(check_steps, entered_energy), 1 }, { offsetof(check_steps, load_work), 1 },
    { offsetof(check_steps, driver_work), 1 },    { offsetof(check_steps, friction_loss), -1 },
    { offsetof(check_steps, impact_loss), -1 },   { offsetof(check_steps, numerical_loss), -1 },
    { offsetof(check_steps, correction), 1 },
};

enum { FLOWS = sizeof flows / sizeof flows[0] };

static double flow(const check_steps *t, int k, long i)
{
    const double *column;
    memcpy(&column, (const char *)t + flows[k].column, sizeof column);
    return flows[k].sign * column[i];
}

/* The largest amount that the ledger of any step moves: what rounding is relative to. */
static double largest_amount(const check_steps *t)
{
    double largest = 0;
    for (long i = 0; i < t->count; i++) {
        double size = fabs(t->kinetic[i]) + fabs(t->potential[i]);
        for (int k = 0; k < FLOWS; k++)
            size += fabs(flow(t, k, i));
        largest = fmax(largest, size);
    }
    return largest;
}

void check_ledgers(check_run *run)
{
    const check_steps *t = &run->steps;
    double energy = 0, size = 100 * largest_amount(t);
    bool known = H5Aexists(run->file, "initial_energy") > 0 &&
                 check_attribute(run->file, "initial_energy", 1, &energy, run->report);
    for (long i = 0; i < t->count; i++) {
        double now = t->kinetic[i] + t->potential[i];
        for (int k = 0; k < FLOWS; k++)
            energy += flow(t, k, i);
        run->step = i + 1;
        if (known)
            check_same(run->report, check_at(run, NULL, 0, "kinetic + potential by the ledger"),
                       now, energy, size);
        energy = now;
        known = true;
    }
}
