/* restraint.c - impacts create no energy.
 *
 * In a step that met its tolerance no group of bodies, connected by contacts that push, gains
 *     E = sum r.(u- + u+)/2 + sum r_N c + the work of impacts within the step,
 * u- with the velocities before the step and what those impacts changed, c <= 0 what pushes
 * overlaps apart. The forces of the step, f = v_free - v, allow for |f|_M^2/8. Checked where some
 * contact pushes to obey restitution, in files that count the contacts with reduced restitution
 * (docs/restitution.md), in worlds without joints, sleep, adhesion and friction along axes. */
#include "run.h"

static const double SHARE = 1e-6; /* of the energy of a group: less than this is no gain */

/* Whether contact j pushes to obey restitution: with u_N + b = 0, and b below what keeps bodies
 * apart. */
static bool demands(const check_run *run, int j)
{
    bool pushes = run->by_contact.r[(size_t)j * (size_t)run->settings.components] > 0;
    double apart = run->settings.scheme->middle ? 0 : check_apart(run, j);
    double doubt = CHECK_ROUNDING * run->by_contact.size[j];
    return pushes && run->contacts.bias[j] < fmax(apart, check_pushing(run, j)) - doubt;
}

static bool applies(const check_run *run)
{
    bool bounces = run->impact;
    for (int j = 0; j < run->contacts.count; j++)
        bounces = bounces || (run->contacts.restitution[j] > 0 && demands(run, j));
    return bounces && run->steps.impacts_reduced && run->steps.converged[run->step - 1] == 1 &&
           run->row_count == 0 && !run->settings.sleep && !run->materials.adhesion &&
           !run->materials.friction_2;
}

static int first_of(int *first, int body)
{
    while (first[body] != body)
        body = first[body] = first[first[body]];
    return body;
}

static bool is_dynamic(const check_run *run, int body)
{
    return run->bodies.motion[body] == CHECK_DYNAMIC;
}

static bool pushes(const check_run *run, int j)
{
    size_t m = (size_t)run->settings.components;
    bool any = false;
    for (size_t i = (size_t)j * m; i < ((size_t)j + 1) * m; i++)
        any = any || run->by_contact.r[i] != 0;
    return any || run->by_contact.work_size[j] > 0;
}

/* By union-find; each body becomes named by the first one of its group. */
static void find_groups(check_run *run)
{
    int *first = run->group_first;
    for (int body = 0; body < run->bodies.count; body++) {
        first[body] = body;
        run->group_gain[body] = 0;
    }
    for (int j = 0; j < run->contacts.count; j++) {
        int a = run->contacts.body[2 * j], b = run->contacts.body[2 * j + 1];
        if (pushes(run, j) && is_dynamic(run, a) && is_dynamic(run, b))
            first[first_of(first, a)] = first_of(first, b);
    }
}

/* What a body may gain. */
static void add_body(check_run *run, int row)
{
    int body = run->before.index[row];
    vec J = run->bodies.inertia[body], v = run->before.v[row], w = run->before.omega[row];
    double m = run->bodies.mass[body];
    if (!is_dynamic(run, body))
        return;
    vec f = vec_add(run->v_start[body], -1, v), turn = vec_add(run->omega_start[body], -1, w);
    double kinetic = 0.5 * m * vec_dot(v, v) + 0.5 * vec_dot(w, vec_scale(J, w));
    double forced = 0.125 * m * vec_dot(f, f) + 0.125 * vec_dot(turn, vec_scale(J, turn));
    run->group_gain[first_of(run->group_first, body)] -= SHARE * kinetic + forced;
}

static void add_contact(check_run *run, int j)
{
    const check_derived *c = &run->by_contact;
    size_t m = (size_t)run->settings.components, first = (size_t)j * m;
    const int32_t *body = run->contacts.body + 2 * j;
    bool chain = run->impacts.count > 0;
    double work = c->work[j] - SHARE * c->work_size[j];
    if (!pushes(run, j) || (!is_dynamic(run, body[0]) && !is_dynamic(run, body[1])))
        return;
    for (size_t i = first; i < first + m; i++) {
        double r = chain ? c->r[i] - c->early[i] : c->r[i];
        double before = c->before[i] + (chain ? c->struck[i] - c->free[i] : 0);
        double pushed = i == first ? check_pushing(run, j) : 0;
        work += r * (0.5 * (before + c->velocity[i]) + pushed);
        work -= SHARE * fabs(r) * c->size[j];
    }
    run->group_gain[first_of(run->group_first, body[is_dynamic(run, body[0]) ? 0 : 1])] += work;
}

void check_creation(check_run *run)
{
    if (!applies(run))
        return;
    find_groups(run);
    for (int row = 0; row < run->before.count; row++)
        add_body(run, row);
    for (int j = 0; j < run->contacts.count; j++)
        add_contact(run, j);
    for (int body = 0; body < run->bodies.count; body++)
        check_true(run->report, check_at(run, "body", body, "energy"), run->group_gain[body] <= 0,
                   "the contacts of its group create energy");
}
