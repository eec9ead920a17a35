/* restraint.c - contacts create no energy.
 *
 * For every group of bodies that are connected by contacts that push, or by joints:
 *
 *     E = sum r.(u- + u+)/2 + sum r_N c + the work of impacts within the step
 *     F = sum min(r_T.u-, r_T.u+),  by Poisson's law, where r is that of two phases, left out
 *
 * u- with the velocities before the step and what those impacts changed, c <= 0 what pushes
 * overlaps apart. Rows of joints add r (z- + z+)/2 to E, z their rates, less what their laws supply
 * (check_row_supply). With f = v_free - v-, K = |v-|_M^2/2 and S the sum of the magnitudes of the
 * terms, no law allows
 *
 *     max(E, F) > share (K + S) + |f|_M^2/8
 *
 * but for the share, which is for errors of the solver (docs/steps.md). By rules 5 also
 *
 *     E + D - sum C w+.(w- + w+)/2 > MENDS K + |f|_M^2/8 + sum m (SLOW R)^2/2
 *
 * with D, what rows supply that correct the drift of joints, R the sizes of bodies, and C the
 * moments that tension adds, which are not in K and f here. A group that gains with the
 * share BOUND refutes a step that is said to have met its tolerance. The program that wrote the
 * file counts from a smaller share on, so that what it says lies between the values without a share
 * and with BOUND. */
#include <stdio.h>

#include "law.h"
#include "shapes.h"

static const double BOUND = 1e-6;
static const double MENDS = 1e-3;  /* of the energy of a group */
static const double SLOW = 0.1;    /* 1/s */
static const double SPEED = 2e-12; /* of the size of a body in a step: what is slower is rounding */

static int first_of(int *first, int body)
{
    while (first[body] != body)
        body = first[body] = first[first[body]];
    return body;
}

static bool is_dynamic(const check_run *run, int body)
{
    return body >= 0 && run->bodies.motion[body] == CHECK_DYNAMIC;
}

static bool pushes(const check_run *run, int j)
{
    size_t m = (size_t)run->settings.components;
    bool any = false;
    for (size_t i = (size_t)j * m; i < ((size_t)j + 1) * m; i++)
        any = any || run->by_contact.r[i] != 0;
    return any || run->by_contact.work_size[j] > 0;
}

static void connect(check_run *run, int a, int b)
{
    int *first = run->group_first;
    if (is_dynamic(run, a) && is_dynamic(run, b))
        first[first_of(first, a)] = first_of(first, b);
}

static check_creation *group_of(const check_run *run, int a, int b)
{
    int body = is_dynamic(run, a) ? a : b;
    return is_dynamic(run, body) ? &run->creation[first_of(run->group_first, body)] : NULL;
}

/* By union-find. */
static void find_groups(check_run *run)
{
    static const check_creation none = { .body = -1 };
    for (int body = 0; body < run->bodies.count; body++) {
        run->group_first[body] = body;
        run->creation[body] = none;
    }
    for (int j = 0; j < run->contacts.count; j++)
        if (pushes(run, j))
            connect(run, run->contacts.body[2 * j], run->contacts.body[2 * j + 1]);
    for (int i = 0; i < run->row_count; i++)
        connect(run, run->rows[i].body[0], run->rows[i].body[1]);
}

/* ---- energies and works ---------------------------------------------------------------------- */

static double energy_of(const check_run *run, int body, vec v, vec omega)
{
    vec J = vec_add(run->bodies.inertia[body], 1, run->added[body]);
    return 0.5 * (run->bodies.mass[body] * vec_dot(v, v) + vec_dot(omega, vec_scale(J, omega)));
}

static double twice_energy(const check_run *run, int body, vec v, vec w)
{
    return run->bodies.mass[body] * vec_dot(v, v) +
           vec_dot(w, vec_scale(run->bodies.inertia[body], w));
}

/* What the rows of joints that correct their drift may give a body, less the work of C. */
static double spared_of(const check_run *run, int body, vec v, vec w)
{
    vec f = vec_add(run->v_free[body], -1, v), turn = vec_add(run->omega_free[body], -1, w);
    vec after = run->after.omega[run->after.row[body]];
    double slow = SLOW * fmax(0, check_extent(run, body));
    return 0.5 * run->bodies.mass[body] * slow * slow +
           0.5 * MENDS * twice_energy(run, body, v, w) + 0.125 * twice_energy(run, body, f, turn) +
           0.5 * vec_dot(vec_scale(run->added[body], after), vec_add(w, 1, after));
}

static void add_body(check_run *run, int row)
{
    int body = run->before.index[row];
    vec v = run->before.v[row], omega = run->omega_before[body];
    check_creation *g = group_of(run, body, body);
    if (!g)
        return;
    double size = fmax(0, check_extent(run, body)), slow = SPEED * size / run->settings.h;
    g->slack += 0.5 * run->bodies.mass[body] * slow * slow;
    if (check_is_servo(run, body)) /* whose work is not known here */
        g->forced = g->spared = HUGE_VAL;
    else if (run->after.row[body] >= 0)
        g->spared += spared_of(run, body, v, omega);
    g->kinetic += energy_of(run, body, v, omega);
    g->forced += 0.25 * energy_of(run, body, vec_add(run->v_start[body], -1, v),
                                  vec_add(run->omega_start[body], -1, omega));
    g->body = g->body < 0 || body < g->body ? body : g->body;
    g->bodies++;
}

static void add_contact(check_run *run, int j)
{
    const check_derived *c = &run->by_contact;
    size_t m = (size_t)run->settings.components, first = (size_t)j * m;
    check_creation *g = group_of(run, run->contacts.body[2 * j], run->contacts.body[2 * j + 1]);
    bool chain = run->impacts.count > 0;
    double old = 0, new = 0;
    if (!pushes(run, j) || !g)
        return;
    g->made += c->work[j];
    g->made_size += c->work_size[j];
    for (size_t i = first; i < first + m; i++) {
        double r = chain ? c->r[i] - c->early[i] : c->r[i];
        double before = c->before[i] + (chain ? c->struck[i] - c->free[i] : 0);
        double pushed = i == first ? check_pushing(run, j) : 0;
        g->made += r * (0.5 * (before + c->judged[i]) + pushed);
        g->made_size += fabs(r) * c->size[j];
        g->driven_size += i > first ? fabs(r) * c->size[j] : 0;
        g->slack += CHECK_ROUNDING * fabs(r) * c->size[j];
        old += i > first ? r * before : 0;
        new += i > first ? r * c->judged[i] : 0;
    }
    g->driven += run->impact ? 0 : fmin(old, new);
}

static void add_row(check_run *run, const check_joint_row *row)
{
    check_creation *g = group_of(run, row->body[0], row->body[1]);
    if (!g)
        return;
    double supply = check_row_supply(row);
    bool corrects = row->role == CHECK_HOLD || row->role == CHECK_HOLD_TURN ||
                    (row->role == CHECK_LIMIT && row->defect < 0);
    g->made += 0.5 * row->r * (row->before + row->after) - supply;
    g->mended += corrects && run->settings.rules >= 5 ? supply : 0;
    g->made_size += fabs(row->r) * row->rate_size;
    g->slack += CHECK_ROUNDING * fabs(row->r) * row->size;
}

/* J: by how much a group exceeds what is allowed with a share of its energy. */
static double excess_of(const check_creation *g, double share)
{
    double made = g->made - share * g->made_size, driven = g->driven - share * g->driven_size;
    double law = fmax(made, driven) - share * g->kinetic - g->forced;
    return g->mended > 0 ? fmax(law, made + g->mended - g->spared) : law;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void refuse(check_run *run, const check_creation *g, double excess)
{
    char words[200];
    snprintf(words, sizeof words,
             "contacts make %.3g J that the law does not allow, in a group of %d %s with %.3g J",
             excess, g->bodies, g->bodies == 1 ? "body" : "bodies", g->kinetic);
    check_true(run->report, check_at(run, "body", g->body, "energy"), false, words);
}

/* What the file counts, in older ones nothing. */
static void compare(check_run *run, const double least[2], const double most[2])
{
    const check_steps *t = &run->steps;
    if (!t->energy_made || !t->energy_made_groups)
        return;
    double groups = t->energy_made_groups[run->step - 1], made = t->energy_made[run->step - 1];
    check_between(run->report, check_at(run, NULL, 0, "energy_made_groups"), groups, least[0],
                  most[0]);
    check_between(run->report, check_at(run, NULL, 0, "energy_made"), made, least[1],
                  groups > 0 ? most[1] : 0);
    check_true(run->report, check_at(run, NULL, 0, "energy_made"), (made > 0) == (groups > 0),
               "there is energy made without groups, or the other way round");
    check_true(run->report, check_at(run, NULL, 0, "converged"),
               groups == 0 || t->converged[run->step - 1] == 0,
               "contacts made energy, and yet the step is said to have met its tolerance");
}

void check_creation_of(check_run *run)
{
    double least[2] = { 0, 0 }, most[2] = { 0, 0 }; /* groups; J */
    find_groups(run);
    for (int row = 0; row < run->before.count; row++)
        add_body(run, row);
    for (int j = 0; j < run->contacts.count; j++)
        add_contact(run, j);
    for (int i = 0; i < run->row_count; i++)
        add_row(run, &run->rows[i]);
    for (int body = 0; body < run->bodies.count; body++) {
        const check_creation *g = &run->creation[body];
        double sure = excess_of(g, BOUND) - g->slack, perhaps = excess_of(g, 0) + g->slack;
        if (sure > 0 && run->steps.converged[run->step - 1] == 1)
            refuse(run, g, sure);
        run->report->compared += g->bodies > 0;
        least[0] += sure > 0;
        least[1] += fmax(0, sure);
        most[0] += perhaps > 0;
        most[1] += fmax(0, perhaps);
    }
    run->beyond += least[0] > 0;
    run->beyond_made += least[1];
    compare(run, least, most);
}
