/* energy.c - the energy ledger of a step. With vm = (v + v+)/2 and um the relative velocity of the
 * means:
 *     load work h F.vm + J (w_free - w~).wm of torques,
 *     driver work - sum r.(driven part of u) and that of periodic.c,
 *     friction loss - sum r_T.um_T,
 *     impact loss - sum r_N um_N,   numerical loss h m g.(v+ - v)/2 - h gyroscopic.wm - m g.y,
 *     y the displacement lost to impacts within the step (impacts.c)
 *     (the first of these not where bodies swing: they move by vm)
 *     sleep loss vm.M v(r) of sleeping bodies, v(r) the velocity that impulses would leave
 *     correction - sum m g.h z, z the velocity that moves overlapping bodies apart
 *     applied: the change of energy of bodies that the program changed before the step, in g'
 *     gravity work - sum m (g - g').x, g' gravity in the step before, x where the step begins
 * and the change of kinetic + potential + elastic is entered + applied + loads + drivers + motors +
 * correction - the losses.
 * wm = (w~ + w+)/2 with the w~ of motion.c, and there is no gyroscopic moment; but bodies that
 * swing, and all bodies by rules before 4, have w~ = w and the load work h T.wm. */
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
    sum elastic, motor, damping, sleep, gravity;
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

/* Damping of a wall of a cell: h c v+^2 is lost; the rest of its work -h c v+ (v + v+)/2 is
 * numerical. */
static void add_damping(const check_run *run, int body, ledger *l)
{
    vec c = run->damping[body], v = run->before.v[run->before.row[body]];
    vec now = run->after.v[run->after.row[body]];
    const double of[3] = { c.x, c.y, c.z }, old[3] = { v.x, v.y, v.z },
                 new[3] = { now.x, now.y, now.z };
    for (int k = 0; k < 3; k++) {
        double hc = isinf(of[k]) ? 0 : run->settings.h * of[k];
        add(&l->damping, hc * new[k] * new[k], hc * new[k] * new[k]);
        add(&l->numerical, 0.5 * hc * new[k] * (old[k] - new[k]),
            hc * fabs(new[k]) * (fabs(old[k]) + fabs(new[k])));
    }
}

/* The work of the torques of loads. */
static void add_torque(const check_run *run, int body, vec wm, sum *load)
{
    vec T = run->torque[body], J = run->bodies.inertia[body], before = run->omega_before[body];
    vec given = vec_scale(J, vec_add(run->omega_free[body], -1, before));
    double h = run->settings.h, spin = vec_norm(wm), most = fmax(J.x, fmax(J.y, J.z));
    bool any = T.x != 0 || T.y != 0 || T.z != 0;
    if (run->settings.rules < 4 || run->swing[body].swings)
        add(load, h * vec_dot(T, wm), h * vec_norm(T) * spin);
    else if (any)
        add(load, vec_dot(given, wm), (h * vec_norm(T) + most * vec_norm(before)) * spin);
}

static void add_body(const check_run *run, int body, ledger *l)
{
    int i = run->before.row[body], k = run->after.row[body];
    double h = run->settings.h, m = run->bodies.mass[body];
    vec old = run->before.v[i], new = run->after.v[k], g = run->settings.gravity;
    vec vm = vec_times(0.5, vec_add(old, 1, new));
    vec wm = vec_times(0.5, vec_add(run->omega_before[body], 1, run->after.omega[k]));
    vec F = run->force[body], G = run->gyroscopic[body];
    double speed = vec_norm(old) + vec_norm(new);
    vec change = vec_add(g, -1, run->settings.gravity_before), x = run->before.x[i];
    double pulls = vec_norm(g) + vec_norm(run->settings.gravity_before);
    if (run->settings.gravity_varies)
        add(&l->gravity, -m * vec_dot(change, x), 2 * m * pulls * vec_norm(x));
    double turn = vec_norm(run->before.omega[i]) + vec_norm(run->after.omega[k]);
    vec J = run->bodies.inertia[body];
    add(&l->load, h * vec_dot(F, vm), h * vec_norm(F) * speed);
    add_torque(run, body, wm, &l->load);
    add_damping(run, body, l);
    double fall = run->swing[body].swings ? 0 : vec_dot(g, vec_add(new, -1, old));
    add(&l->numerical, 0.5 * h * m * fall - h * vec_dot(G, wm),
        h * m * vec_norm(g) * speed + h * fmax(J.x, fmax(J.y, J.z)) * turn * turn * turn);
    const check_velocity *made = &run->expected[body], *late = &run->late[body];
    add(&l->numerical, -m * vec_dot(g, late->v), m * vec_norm(g) * late->v_size);
    if (run->after.asleep[k])
        add(&l->sleep, m * vec_dot(vm, made->v) + vec_dot(wm, vec_scale(J, made->omega)),
            m * speed * made->v_size + fmax(J.x, fmax(J.y, J.z)) * turn * made->omega_size);
    add(&l->correction, -h * m * vec_dot(g, run->moved[body].v),
        h * m * vec_norm(g) * run->moved[body].v_size);
}

static void add_contact(const check_run *run, int j, ledger *l)
{
    int m = run->settings.components;
    size_t first = (size_t)j * (size_t)m;
    const check_derived *c = &run->by_contact;
    const double *r = c->r + first, *u = c->velocity + first;
    const double *before = c->before + first, *w = c->imposed + first;
    double pull = run->settings.h * run->contacts.adhesion[j];
    for (int i = 0; i < m; i++) {
        double impulse = i ? r[i] : r[0] - pull, size = (fabs(r[i]) + pull) * c->size[j];
        add(i ? &l->friction : &l->impact, -impulse * 0.5 * (u[i] + before[i]), size);
        add(&l->driver, -impulse * w[i], size);
    }
}

/* m/s: the size that the rounding of a row's rate is relative to. Impulses of redundant rows, as in
 * loops, may be far larger than their net effect on the motion. */
static double rate_size(const check_run *run, const check_joint_row *row)
{
    double size = row->rate_size;
    for (int side = 0; side < 2; side++) {
        int body = row->body[side];
        if (body < 0 || run->bodies.motion[body] != CHECK_DYNAMIC)
            continue;
        const check_velocity *made = &run->expected[body];
        double length = vec_norm(row->e) + vec_norm(row->turn[side]);
        size += length * (made->v_size + made->omega_size * (1 + row->reach));
    }
    return size;
}

/* A row of a joint: its impulse does r times the mean rate of work, which by its role is supplied,
 * lost or stored. Springs: c rate^2 h is damped; the rest is stored, or due to time stepping. */
static void add_row(const check_run *run, const check_joint_row *row, ledger *l)
{
    double rates = rate_size(run, row), damping = run->settings.h * row->damping;
    double work = row->r * 0.5 * (row->after + row->before), size = fabs(row->r) * rates;
    double damped = damping * row->after * row->after;
    double damped_size = damping * rates * (2 * fabs(row->after) + CHECK_ROUNDING * rates);
    add(&l->driver, -row->r * row->imposed, size);
    switch (row->role) {
    case CHECK_MOTOR:
        add(&l->motor, work, size);
        return;
    case CHECK_DRY:
        add(&l->friction, -work, size);
        return;
    case CHECK_LIMIT:
        add(&l->impact, -work, size);
        return;
    case CHECK_SOFT:
        add(&l->damping, damped, damped_size);
        add(&l->numerical, -work - damped, size + damped_size);
        return;
    default:
        add(&l->numerical, -work, size);
    }
}

/* Energy stored by joints, and the work of the moments that tension adds: C w+.wm. */
static void add_joints(const check_run *run, ledger *l)
{
    for (int i = 0; i < run->row_count; i++)
        add_row(run, &run->rows[i], l);
    add(&l->elastic, run->elastic, run->elastic_size);
    add(&l->numerical, run->elastic_lost, run->elastic_size);
    for (int row = 0; row < run->before.count && run->row_count > 0; row++) {
        int body = run->before.index[row], k = run->after.row[body];
        if (run->bodies.motion[body] != CHECK_DYNAMIC || k < 0)
            continue;
        vec new = run->after.omega[k], old = run->omega_before[body], C = run->added[body];
        vec mean = vec_times(0.5, vec_add(old, 1, new));
        double most = fmax(C.x, fmax(C.y, C.z)), turn = vec_norm(new) + vec_norm(old);
        add(&l->numerical, vec_dot(vec_scale(C, new), mean), most * turn * turn);
    }
}

static void check_sum(check_run *run, const char *name, const double *column, sum found)
{
    run->ledger_size[run->step - 1] += found.size;
    check_same(run->report, check_at(run, NULL, 0, name), column[run->step - 1], found.value,
               found.size);
}

/* Bodies that left took the energy that they had when the step began, in the gravity of the step
 * before. */
static void take_left(check_run *run, ledger *l)
{
    vec now = run->settings.gravity;
    sum kinetic = { 0, 0 }, potential = { 0, 0 };
    run->settings.gravity = run->settings.gravity_before;
    for (int row = 0; row < run->before.count; row++)
        if (run->after.row[run->before.index[row]] < 0)
            add_state(run, &run->before, row, &kinetic, &potential);
    run->settings.gravity = now;
    add(&l->entered, -kinetic.value - potential.value, kinetic.size + potential.size);
}

void check_energy_change(check_run *run, int row, double sign)
{
    vec now = run->settings.gravity;
    sum kinetic = { 0, 0 }, potential = { 0, 0 };
    run->settings.gravity = run->settings.gravity_before;
    add_state(run, &run->before, row, &kinetic, &potential);
    run->settings.gravity = now;
    run->applied += sign * (kinetic.value + potential.value);
    run->applied_size += kinetic.size + potential.size;
}

/* Bodies that enter bring their energy with them. */
static ledger make_ledger(check_run *run)
{
    ledger l = { .kinetic = { 0, 0 } };
    sum kinetic = { 0, 0 }, potential = { 0, 0 };
    take_left(run, &l);
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
    add(&l.driver, run->cell.work, run->cell.work_size);
    add_joints(run, &l);
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
    check_sum(run, "elastic", t->elastic, l.elastic);
    check_sum(run, "motor_work", t->motor_work, l.motor);
    check_sum(run, "damping_loss", t->damping_loss, l.damping);
    check_sum(run, "sleep_loss", t->sleep_loss, l.sleep);
    check_sum(run, "gravity_work", t->gravity_work, l.gravity);
    check_sum(run, "applied_energy", t->applied_energy, (sum){ run->applied, run->applied_size });
    check_same(run->report, check_at(run, NULL, 0, "changed"), t->changed[run->step - 1],
               run->changes.count, 0);
}

void check_energy_start(check_run *run)
{
    sum kinetic = { 0, 0 }, potential = { 0, 0 }, elastic = { 0, 0 };
    double stored;
    elastic.value = check_elastic_start(run, &elastic.size);
    for (int row = 0; row < run->after.count; row++)
        add_state(run, &run->after, row, &kinetic, &potential);
    if (H5Aexists(run->file, "initial_energy") > 0 &&
        check_attribute(run->file, "initial_energy", 1, &stored, run->report))
        check_same(run->report, check_at(run, NULL, 0, "initial_energy"), stored,
                   kinetic.value + potential.value + elastic.value,
                   kinetic.size + potential.size + elastic.size);
    run->start_kinetic = kinetic.value;
    run->start_potential = potential.value;
    run->start_size = kinetic.size + potential.size;
}

/* Terms that change kinetic + potential energy in a step, with their signs. */
static const struct {
    size_t column; /* in check_steps */
    double sign;
} flows[] = {
    { offsetof(check_steps, entered_energy), 1 }, { offsetof(check_steps, load_work), 1 },
    { offsetof(check_steps, driver_work), 1 },    { offsetof(check_steps, friction_loss), -1 },
    { offsetof(check_steps, impact_loss), -1 },   { offsetof(check_steps, numerical_loss), -1 },
    { offsetof(check_steps, correction), 1 },     { offsetof(check_steps, motor_work), 1 },
    { offsetof(check_steps, damping_loss), -1 },  { offsetof(check_steps, sleep_loss), -1 },
    { offsetof(check_steps, gravity_work), 1 },   { offsetof(check_steps, applied_energy), 1 },
};

enum { FLOWS = sizeof flows / sizeof flows[0] };

static double flow(const check_steps *t, int k, long i)
{
    const double *column;
    memcpy(&column, (const char *)t + flows[k].column, sizeof column);
    return flows[k].sign * column[i];
}

/* The largest amount in the ledger of any step, to which rounding is relative, including the terms
 * of its sums where they are stored: redundant impulses of joints do more work than their sum. */
static double largest_amount(const check_steps *t)
{
    double largest = 0;
    for (long i = 0; i < t->count; i++) {
        double size = fabs(t->kinetic[i]) + fabs(t->potential[i]) + fabs(t->elastic[i]);
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
        double now = t->kinetic[i] + t->potential[i] + t->elastic[i];
        for (int k = 0; k < FLOWS; k++)
            energy += flow(t, k, i);
        run->step = i + 1;
        if (known)
            check_same(run->report,
                       check_at(run, NULL, 0, "kinetic + potential + elastic by the ledger"), now,
                       energy, size + run->ledger_size[i]);
        energy = now;
        known = true;
    }
}
