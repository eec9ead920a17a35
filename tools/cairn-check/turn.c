/* turn.c - how a body turns that nothing pushes in a step (no impulse, no adhesion, no joint, not
 * asleep). With wm = (w + w+)/2, x = h |wm|, and l the direction of J w it turns first about l by
 *     (x - 2 atan(x/2)) l.wm/|wm|,    then about wm by 2 atan(x/2),
 * both in its own frame before the step: its angular momentum in space stays. In 2D the angle grows
 * by h wm. Who swings (swing.c) turns by h wm. In runs by the rules before all bodies turn by h w+
 * (docs/run-format.md). */
#include "run.h"

static void push(check_run *run, int body)
{
    if (body >= 0)
        run->pushed[body] = 1;
}

static bool contact_pushes(const check_run *run, int j)
{
    const check_contacts *c = &run->contacts;
    int d = run->settings.dimension, turns = d == 2 ? 1 : 3;
    bool pushes = c->adhesion[j] != 0;
    for (int i = 0; i < d; i++)
        pushes = pushes || c->impulse[j * d + i] != 0;
    for (int i = 0; i < turns; i++)
        pushes = pushes || c->moment[j * turns + i] != 0;
    return pushes;
}

void check_find_pushed(check_run *run)
{
    for (int body = 0; body < run->bodies.count; body++) {
        int row = run->after.row[body];
        run->pushed[body] = run->settings.rules < 2 || (row >= 0 && run->after.asleep[row] != 0);
    }
    for (int j = 0; j < run->contacts.count; j++)
        if (contact_pushes(run, j)) {
            push(run, run->contacts.body[2 * j]);
            push(run, run->contacts.body[2 * j + 1]);
        }
    for (int i = 0; i < run->row_count; i++) {
        push(run, run->rows[i].body[0]);
        push(run, run->rows[i].body[1]);
    }
}

/* x - 2 atan(x/2) = x^3/12 - x^5/80 + x^7/448 - ...: small angles by these terms */
static double missing(double x)
{
    if (x > 0.02)
        return x - 2 * atan(x / 2);
    return x * x * x * (1.0 / 12 - x * x / 80 + x * x * x * x / 448);
}

quat check_turn_of(const check_run *run, int body, vec old, vec new)
{
    static const quat none = { 1, 0, 0, 0 };
    double h = run->settings.h;
    vec mean = vec_times(0.5, vec_add(old, 1, new)), L = vec_scale(run->bodies.inertia[body], old);
    if (run->pushed[body])
        return quat_turn(vec_times(h, run->swing[body].swings ? mean : new));
    double speed = vec_norm(mean), size = vec_norm(L);
    if (!(speed > 0))
        return none;
    double share = size > 0 ? missing(h * speed) * vec_dot(L, mean) / (speed * size * size) : 0;
    return quat_product(quat_turn(vec_times(share, L)),
                        quat_turn(vec_times(2 * atan(0.5 * h * speed) / speed, mean)));
}

double check_angle_of(const check_run *run, int body, double old, double new)
{
    bool by_new = run->pushed[body] && !run->swing[body].swings;
    return run->settings.h * (by_new ? new : 0.5 * (old + new));
}
