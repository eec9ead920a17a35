/* gain.c - energy that contacts make. They must not: with the velocities u- before the step, u_free
 * that its forces alone would leave, and u+ after it (relative to driven bodies and belts, whose
 * work is booked elsewhere), of a group of bodies that push each other or are joined
 *
 *     contacts do the work      W_N + W_T = sum r_N (u-_N + u+_N)/2 + sum r_T.(u-_T + u+_T)/2
 *     and change the energy of the free motion by      W_free = sum r.(u_free + u+)/2
 *
 * W_free = sum r.u+ - r'W r/2 is at most 0 for every law of friction and for restitution e <= 1 of
 * single contacts: r.u+ <= 0 where e = 0 and the gap is not negative. W_N alone may be positive: a
 * ball that rolls over a hill leaves the tangent of the last step, and gravity brings it back. So
 *
 *     made = max(min(W_N + W_T, W_free), F),   F = min(sum r_T.u-_T, sum r_T.u+_T)
 *
 * F is the work of friction that drives what slides before and after the step: no law allows
 * sum r_T.u+_T > 0. Where overlaps are pushed apart their work counts as given.
 * Of rows of joints in the group W_free has r.(rate_free + rate+)/2, less what their laws supply
 * (check_row_supply). Energies are relative to E: the larger of the kinetic energies with u- and
 * u_free, and what the bodies would gain by falling through their own size. */
#include "law.h"
#include "shapes.h"

/* Of E: what is less is not counted. */
static const double bound = 1e-6;

/* Of a group of bodies: kept with its root. */
typedef struct group {
    double energy, fall;       /* J: kinetic; m |g| size                     */
    double normal, tangential; /* J: W_N, W_T                                */
    double free, pushed;       /* J: W_free; by pushing overlaps apart       */
    double old, new;           /* J: of friction: sum r_T.u-_T, sum r_T.u+_T */
    double slack;              /* J: rounding                                */
} group;

struct check_made {
    int *root; /* of each body */
    group *groups;
};

/* ---- groups ---------------------------------------------------------------------------------- */

static int root_of(int *root, int body)
{
    while (root[body] != body)
        body = root[body] = root[root[body]];
    return body;
}

static bool is_free(const check_run *run, int body)
{
    return body >= 0 && run->bodies.motion[body] == CHECK_DYNAMIC;
}

/* Driven and fixed bodies connect nothing. */
static void connect(const check_run *run, int a, int b)
{
    int *root = run->made->root;
    if (is_free(run, a) && is_free(run, b))
        root[root_of(root, a)] = root_of(root, b);
}

static group *group_of(const check_run *run, const int32_t body[2])
{
    int there = is_free(run, body[0]) ? body[0] : body[1];
    return &run->made->groups[root_of(run->made->root, there)];
}

static void find_groups(check_run *run)
{
    static const group none = { .energy = 0 };
    int m = run->settings.components;
    for (int body = 0; body < run->bodies.count; body++) {
        run->made->root[body] = body;
        run->made->groups[body] = none;
    }
    for (int j = 0; j < run->contacts.count; j++)
        if (run->by_contact.r[(size_t)j * (size_t)m] > 0)
            connect(run, run->contacts.body[2 * j], run->contacts.body[2 * j + 1]);
    for (int i = 0; i < run->row_count; i++)
        connect(run, run->rows[i].body[0], run->rows[i].body[1]);
}

/* ---- energies and works ---------------------------------------------------------------------- */

static double kinetic(const check_run *run, int body, vec v, vec omega)
{
    vec J = run->bodies.inertia[body];
    return 0.5 * (run->bodies.mass[body] * vec_dot(v, v) + vec_dot(omega, vec_scale(J, omega)));
}

static void add_body(check_run *run, int row)
{
    const check_state *s = &run->before;
    int body = s->index[row];
    if (!is_free(run, body) || run->after.row[body] < 0)
        return;
    group *g = &run->made->groups[root_of(run->made->root, body)];
    double extent = check_extent(run, body);
    g->energy += fmax(kinetic(run, body, s->v[row], s->omega[row]),
                      kinetic(run, body, run->v_start[body], run->omega_start[body]));
    g->fall += run->bodies.mass[body] * vec_norm(run->settings.gravity) * fmax(0, extent);
}

static void add_contact(check_run *run, int j)
{
    const check_settings *s = &run->settings;
    const check_derived *c = &run->by_contact;
    size_t at = (size_t)j * (size_t)s->components;
    group *g = group_of(run, run->contacts.body + 2 * j);
    double gap = run->contacts.gap[j];
    if (s->push && gap < 0)
        g->pushed += c->r[at] * -gap / s->h;
    for (size_t i = at; i < at + (size_t)s->components; i++) {
        double old = c->r[i] * c->before[i], new = c->r[i] * c->velocity[i];
        *(i == at ? &g->normal : &g->tangential) += 0.5 * (old + new);
        g->old += i == at ? 0 : old;
        g->new += i == at ? 0 : new;
        g->free += 0.5 * (c->r[i] * c->free[i] + new);
        g->slack += CHECK_ROUNDING * fabs(c->r[i]) * c->size[j];
    }
}

static void add_row(check_run *run, const check_joint_row *row)
{
    const int32_t body[2] = { row->body[0], row->body[1] };
    if (!is_free(run, body[0]) && !is_free(run, body[1]))
        return;
    group_of(run, body)->free +=
        0.5 * row->r * (row->free + row->after) - check_row_supply(row);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* What the contacts of a group have made, J; 0: nothing that counts. */
static double made_by(const check_run *run, const group *g)
{
    bool turns = run->impact || run->impacts.count > 0; /* friction may, within the step */
    double all = fmin(g->normal + g->tangential, g->free) - g->pushed;
    double most = turns ? all : fmax(all, fmin(g->old, g->new));
    double least = bound * (g->energy + g->fall) + g->slack;
    return most > least ? most : 0;
}

/* Keep the largest share. */
static void note(check_run *run, check_gain gain)
{
    gain.steps = run->gain.steps;
    if (gain.share > run->gain.share)
        run->gain = gain;
}

bool check_gain_of(check_run *run)
{
    size_t n = (size_t)run->bodies.count;
    double most = 0;
    if (!run->made)
        if (!check_memory_take(&run->made, 1, sizeof *run->made) ||
            !check_memory_take(&run->made->root, n, sizeof *run->made->root) ||
            !check_memory_take(&run->made->groups, n, sizeof *run->made->groups))
            return check_fail(run->report, "no memory");
    find_groups(run);
    for (int row = 0; row < run->before.count; row++)
        add_body(run, row);
    for (int j = 0; j < run->contacts.count; j++)
        add_contact(run, j);
    for (int i = 0; i < run->row_count; i++)
        add_row(run, &run->rows[i]);
    for (size_t i = 0; i < n; i++) {
        const group *g = &run->made->groups[i];
        double made = made_by(run, g);
        most = fmax(most, made);
        if (made > 0)
            note(run, (check_gain){ 0, run->step, made / (g->energy + g->fall), made, g->normal,
                                    g->tangential });
    }
    run->gain.steps += most > 0;
    return true;
}

/* Of a run without details: friction and impacts of all bodies and joints together, relative to the
 * kinetic energy. */
void check_gain_of_ledger(check_run *run)
{
    const check_steps *t = &run->steps;
    for (long i = 0; i < t->count; i++) {
        double made = -t->friction_loss[i] - t->impact_loss[i];
        double energy = fmax(t->kinetic[i], i > 0 ? t->kinetic[i - 1] : 0);
        if (!(made > bound * energy))
            continue;
        run->gain.steps++;
        note(run, (check_gain){ 0, i + 1, made / energy, made, -t->impact_loss[i],
                                -t->friction_loss[i] });
    }
}

void check_gain_free(check_run *run)
{
    if (run->made) {
        check_memory_free(&run->made->root);
        check_memory_free(&run->made->groups);
    }
    check_memory_free(&run->made);
}
