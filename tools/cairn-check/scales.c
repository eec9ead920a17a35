/* scales.c - the velocities to which the errors of contacts are related, as files of version 3 do.
 *
 * With c_j = max(0, -(q_N + b)), for rows of joints the error of no impulse,
 *     C = max max(c_j, k_j/1000) over the group,   S_j = max(c_j, h |g|, C/1000),
 *     k_j = mu |q_T| - (q_N + b), with rolling and spinning, what the convex law has to remove,
 *     x = max_j e_j / max(S_j, min(w |r_j|, C)),   relative = x/(10 - 9 x) for x <= 1, else x.
 * In an impact by Poisson's law q, b and mu are those of the phase, and r_j in S_j of the second
 * one is the impulse of both. A group is what contacts and joints connect; bodies that are fixed or
 * driven do not connect. */
#include "law.h"

static int32_t first_of(check_run *run, int32_t body)
{
    while (run->group[body] != body) {
        run->group[body] = run->group[run->group[body]];
        body = run->group[body];
    }
    return body;
}

static bool can_move(const check_run *run, int32_t body)
{
    return body >= 0 && run->bodies.motion[body] == CHECK_DYNAMIC;
}

static void join(check_run *run, const int32_t *body)
{
    if (!can_move(run, body[0]) || !can_move(run, body[1]))
        return;
    int32_t a = first_of(run, body[0]), b = first_of(run, body[1]);
    run->group[a > b ? a : b] = a < b ? a : b;
}

/* The group of the two bodies of a contact or joint; -1: neither can move. */
static int32_t group_of(check_run *run, const int32_t *body)
{
    int32_t any = can_move(run, body[0]) ? body[0] : can_move(run, body[1]) ? body[1] : -1;
    return any < 0 ? -1 : first_of(run, any);
}

check_scale *check_group_of(check_run *run, int j)
{
    int32_t group = group_of(run, run->contacts.body + 2 * j);
    return group < 0 ? NULL : &run->group_scale[group];
}

check_scale *check_group_of_body(check_run *run, int body)
{
    return can_move(run, body) ? &run->group_scale[first_of(run, body)] : NULL;
}

static const int32_t *bodies_of(const check_run *run, const check_joint_row *row)
{
    return run->joints.body + 2 * row->joint;
}

void check_find_groups(check_run *run)
{
    for (int i = 0; i < run->bodies.count; i++) {
        run->group[i] = i;
        run->group_scale[i] = (check_scale){ 0 };
    }
    for (int j = 0; j < run->contacts.count; j++)
        join(run, run->contacts.body + 2 * j);
    for (int i = 0; i < run->row_count; i++)
        join(run, bodies_of(run, &run->rows[i]));
}

/* c_j in the place of S_j, and max(c_j, k_j/1000) in that of C. */
static check_scale closing_of_contact(const check_run *run, const check_phase *phase, int j)
{
    const double *q = phase->q + (size_t)j * (size_t)run->settings.components;
    cone k = check_cone(run, phase, j, true);
    double opens = q[0] + phase->bias[j], lift = k.mu * cone_sliding(&k, q) + cone_turning(&k, q);
    double steep = 1 + k.mu + k.mu_rolling + k.mu_spinning, c = fmax(0, -opens);
    return (check_scale){ .scale = c,
                          .most = fmax(c, (lift - opens) / 1000),
                          .size = run->by_contact.size[j] * (1 + steep / 1000) };
}

static bool begins_block(const check_run *run, int i)
{
    return i == 0 || run->rows[i].block != run->rows[i - 1].block;
}

static check_scale closing_of_block(const check_run *run, int first)
{
    check_scale c = { 0 };
    double sum = 0;
    for (int i = first; i < run->row_count && run->rows[i].block == run->rows[first].block; i++) {
        double closing = check_row_closing(&run->rows[i]);
        sum += closing * closing;
        c.size += run->rows[i].size + closing;
    }
    c.scale = c.most = sqrt(sum);
    return c;
}

static void take_into(check_run *run, int32_t group, const check_scale *c)
{
    if (group < 0)
        return;
    check_scale *all = &run->group_scale[group];
    all->most = fmax(all->most, c->most);
    all->size = fmax(all->size, c->size);
}

/* From c_j to S_j and C. */
static void finish(const check_run *run, int32_t group, check_scale *c)
{
    double floor = run->settings.h * vec_norm(run->settings.gravity);
    c->most = group < 0 ? c->most : run->group_scale[group].most;
    c->scale = fmax(c->scale, fmax(floor, c->most / 1000));
    c->size += group < 0 ? 0 : run->group_scale[group].size;
}

void check_scales(check_run *run, const check_phase *phase)
{
    check_scale *scale = run->by_contact.scale;
    check_find_groups(run);
    for (int j = 0; j < run->contacts.count; j++) {
        scale[j] = closing_of_contact(run, phase, j);
        take_into(run, group_of(run, run->contacts.body + 2 * j), &scale[j]);
    }
    for (int i = 0; i < run->row_count; i++) {
        if (!begins_block(run, i))
            continue;
        run->rows[i].scale = closing_of_block(run, i);
        take_into(run, group_of(run, bodies_of(run, &run->rows[i])), &run->rows[i].scale);
    }
    for (int j = 0; j < run->contacts.count; j++)
        finish(run, group_of(run, run->contacts.body + 2 * j), &scale[j]);
    for (int i = 0; i < run->row_count; i++)
        if (begins_block(run, i))
            finish(run, group_of(run, bodies_of(run, &run->rows[i])), &run->rows[i].scale);
}
