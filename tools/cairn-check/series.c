/* series.c - what is summed over contacts and bodies: the series of forces in /series, and the
 * fields in /statistics/fields.
 *
 * Series: with the impulse r of a contact in a step of length h, in the world frame and on one of
 * its bodies, its witness point p on that body, the moment m of rolling and spinning friction, and
 * the mean velocities v, w of the body in the step,
 *     f = r/h,   torque (p - about) x f + m/h,   work r.(v + w x (p - x) + belt) + m.w
 * A row of a joint with the impulse r acts likewise with f = r e/h at the arm from x and with the
 * couple r t. Forces between two bodies of a set are left out.
 *
 * Fields: whatever the kernel is, its integral is 1, so sums over all cells times their volume are
 *     mass sum m, volume sum V, momentum sum m v, kinetic + rho u u: sum m v v,
 *     stress sum f l (l the branch from b to a), wall sum f, fabric sum n n, contacts their number
 * if the grid is not cut by a box; and in each cell u = (rho u)/rho. */
#include <math.h>
#include <string.h>

#include "law.h"

/* ---- series of forces ------------------------------------------------------------------------ */

enum { MOST_SERIES = 64, COLUMNS = 8 };

/* What acts on a set: N s, N m s about the origin, J; and the magnitudes of the terms. */
typedef struct push {
    vec impulse, moment;
    double work, impulse_size, moment_size, work_size;
} push;

typedef struct force_series {
    char name[80]; /* "series/NAME" */
    check_group group;
    struct {
        size_t capacity;
        double *time, *column[7]; /* force, torque, work */
    } rows;
    double joint, material, number; /* number: of the collision group; -1: any */
    bool boxed;
    double low[3], high[3], about[3];
    bool about_point;
    double *uids;
    int uid_count;
    char *inside; /* of each body */
    push sum;     /* since the last row */
    double span;  /* s: likewise  */
    long next;
} force_series;

struct check_forces {
    int count;
    force_series all[MOST_SERIES];
};

#define ROWS offsetof(force_series, rows)
static const check_field force_fields[COLUMNS] = {
    { "time", 1, false, offsetof(force_series, rows.time) - ROWS, false },
    { "force_x", 1, false, offsetof(force_series, rows.column[0]) - ROWS, false },
    { "force_y", 1, false, offsetof(force_series, rows.column[1]) - ROWS, false },
    { "force_z", 1, false, offsetof(force_series, rows.column[2]) - ROWS, true },
    { "torque_x", 1, false, offsetof(force_series, rows.column[3]) - ROWS, true },
    { "torque_y", 1, false, offsetof(force_series, rows.column[4]) - ROWS, true },
    { "torque_z", 1, false, offsetof(force_series, rows.column[5]) - ROWS, false },
    { "work", 1, false, offsetof(force_series, rows.column[6]) - ROWS, false },
};

/* ---- opening -------------------------------------------------------------------------------- */

/* The uids of the bodies; none: any body. */
static bool read_uids(hid_t group, force_series *s, check_report *report)
{
    if (H5Aexists(group, "bodies") <= 0)
        return true;
    hid_t attribute = H5Aopen(group, "bodies", H5P_DEFAULT);
    hid_t space = H5Aget_space(attribute);
    hssize_t count = H5Sget_simple_extent_npoints(space);
    H5Sclose(space);
    H5Aclose(attribute);
    if (count < 1 || count > 1000000 ||
        !check_memory_take(&s->uids, (size_t)count, sizeof *s->uids))
        return check_fail(report, "/%s: the attribute bodies cannot be read", s->name);
    s->uid_count = (int)count;
    return check_attribute(group, "bodies", s->uid_count, s->uids, report);
}

static bool read_set(hid_t group, force_series *s, check_report *report)
{
    s->boxed = H5Aexists(group, "low") > 0;
    s->about_point = H5Aexists(group, "about") > 0;
    return check_attribute(group, "joint", 1, &s->joint, report) &&
           check_attribute(group, "material", 1, &s->material, report) &&
           check_attribute(group, "group", 1, &s->number, report) &&
           (!s->boxed || (check_attribute(group, "low", 3, s->low, report) &&
                          check_attribute(group, "high", 3, s->high, report))) &&
           (!s->about_point || check_attribute(group, "about", 3, s->about, report)) &&
           read_uids(group, s, report);
}

static bool open_one(check_run *run, hid_t parent, hsize_t i, force_series *s)
{
    char name[64] = "";
    H5Lget_name_by_idx(parent, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);
    snprintf(s->name, sizeof s->name, "series/%s", name);
    s->group = (check_group){ s->name, force_fields, COLUMNS, 3, { 0 }, 0 };
    hid_t group = H5Gopen2(run->file, s->name, H5P_DEFAULT);
    bool good = group >= 0 && read_set(group, s, run->report);
    if (group >= 0)
        H5Gclose(group);
    return good && check_group_open(run->file, &s->group, run->report) &&
           check_group_read(&s->group, 0, s->group.rows, &s->rows, run->report) &&
           (check_memory_take(&s->inside, (size_t)run->bodies.count + 1, 1) ||
            check_fail(run->report, "no memory"));
}

bool check_forces_open(check_run *run)
{
    H5G_info_t about = { 0 };
    bool good = true;
    if (!check_has(run->file, "series"))
        return true;
    if (!check_memory_take(&run->forces, 1, sizeof *run->forces))
        return check_fail(run->report, "no memory");
    hid_t parent = H5Gopen2(run->file, "series", H5P_DEFAULT);
    if (parent < 0 || H5Gget_info(parent, &about) < 0 || about.nlinks > MOST_SERIES)
        good =
            check_fail(run->report, "/series: expected a group of at most %d series", MOST_SERIES);
    for (hsize_t i = 0; good && i < about.nlinks; i++)
        good = open_one(run, parent, i, &run->forces->all[run->forces->count++]);
    if (parent >= 0)
        H5Gclose(parent);
    return good;
}

void check_forces_close(check_run *run)
{
    for (int k = 0; run->forces && k < run->forces->count; k++) {
        force_series *s = &run->forces->all[k];
        check_group_free(&s->group, &s->rows);
        check_group_close(&s->group);
        check_memory_free(&s->uids);
        check_memory_free(&s->inside);
    }
    check_memory_free(&run->forces);
}

/* ---- a step --------------------------------------------------------------------------------- */

static bool is_listed(const force_series *s, double uid)
{
    for (int i = 0; i < s->uid_count; i++)
        if (s->uids[i] == uid)
            return true;
    return s->uid_count == 0;
}

static bool is_in_box(const force_series *s, vec x)
{
    const double at[3] = { x.x, x.y, x.z };
    for (int k = 0; k < 3; k++)
        if (!(at[k] >= s->low[k] && at[k] < s->high[k]))
            return false;
    return true;
}

/* Whether a body belongs to the set when the step begins. */
static bool belongs(const check_run *run, const force_series *s, int i)
{
    const check_bodies *b = &run->bodies;
    int row = run->before.row[i];
    if (row < 0 || s->joint >= 0 || !is_listed(s, b->uid[i]))
        return false;
    return (s->material < 0 || b->material[i] == (int)s->material) &&
           (s->number < 0 || b->group[i] == (int)s->number) &&
           (!s->boxed || (b->motion[i] == CHECK_DYNAMIC && is_in_box(s, run->before.x[row])));
}

/* The mean velocity of a body in the step: v in the world frame, w turned into it. */
static void mean_velocity(const check_run *run, int body, vec out[2])
{
    int i = run->before.row[body], k = run->after.row[body];
    out[0] = out[1] = (vec){ 0, 0, 0 };
    if (run->bodies.motion[body] == CHECK_FIXED)
        return;
    if (run->bodies.motion[body] == CHECK_DYNAMIC) {
        out[0] = vec_times(0.5, vec_add(run->before.v[i], 1, run->after.v[k]));
        out[1] = vec_times(0.5, vec_add(run->omega_before[body], 1, run->after.omega[k]));
    } else {
        out[0] = run->v_start[body];
        out[1] = run->omega_start[body];
    }
    out[1] = quat_rotate(check_rows_q(run, body), out[1]);
}

static void add_push(push *sum, const push *more)
{
    sum->impulse = vec_add(sum->impulse, 1, more->impulse);
    sum->moment = vec_add(sum->moment, 1, more->moment);
    sum->work += more->work;
    sum->impulse_size += more->impulse_size;
    sum->moment_size += more->moment_size;
    sum->work_size += more->work_size;
}

/* An impulse and a couple on a body with its centre at x, `arm` away from it; `more`: the velocity
 * of its surface. */
static push push_on(const vec velocity[2], vec x, vec arm, const vec by[2], vec more)
{
    vec at = vec_add(vec_add(velocity[0], 1, vec_cross(velocity[1], arm)), 1, more);
    double reach = vec_norm(x) + vec_norm(arm);
    double speed = vec_norm(velocity[0]) + vec_norm(velocity[1]) * reach + vec_norm(more);
    return (push){ .impulse = by[0],
                   .moment = vec_add(vec_cross(vec_add(x, 1, arm), by[0]), 1, by[1]),
                   .work = vec_dot(by[0], at) + vec_dot(by[1], velocity[1]),
                   .impulse_size = vec_norm(by[0]),
                   .moment_size = vec_norm(by[0]) * reach + vec_norm(by[1]),
                   .work_size = vec_norm(by[0]) * speed + vec_norm(by[1]) * vec_norm(velocity[1]) };
}

/* The stored impulse of a contact on its body a, and the couple of rolling and spinning. */
static void impulse_of(const check_run *run, int j, vec by[2])
{
    const check_contacts *c = &run->contacts;
    int d = run->settings.dimension;
    const double *r = c->impulse + (size_t)j * (size_t)d;
    const double *m = c->moment + (size_t)j * (d == 3 ? 3 : 1);
    vec n = c->normal[j], t = c->tangent[j], b = vec_cross(n, t);
    by[0] = vec_add(vec_times(r[0], n), r[1], t);
    by[1] = (vec){ 0, 0, m[0] };
    if (d == 3) {
        by[0] = vec_add(by[0], r[2], b);
        by[1] = vec_add(vec_add(vec_times(m[0], t), m[1], b), m[2], n);
    }
}

static push contact_push(const check_run *run, int j, int side)
{
    const check_contacts *c = &run->contacts;
    int body = c->body[2 * j + side];
    double sign = side ? -1 : 1;
    vec by[2], velocity[2], belt = { 0, 0, 0 };
    impulse_of(run, j, by);
    by[0] = vec_times(sign, by[0]);
    by[1] = vec_times(sign, by[1]);
    mean_velocity(run, body, velocity);
    if (run->bodies.motion[body] != CHECK_DYNAMIC)
        belt = check_belt(run, body, c->normal[j]);
    vec on = vec_add(c->point[j], 0.5 * sign * c->gap[j], c->normal[j]);
    vec arm = vec_add(on, -1, check_x_of(run, j, side));
    return push_on(velocity, run->x_eval[body], arm, by, belt);
}

static push row_push(const check_run *run, const check_joint_row *row, int side)
{
    int body = row->body[side];
    double r = side ? -row->r : row->r;
    const vec by[2] = { vec_times(r, row->e), vec_times(r, row->turn[side]) };
    vec velocity[2] = { { 0, 0, 0 }, { 0, 0, 0 } }, x = { 0, 0, 0 };
    if (body >= 0) {
        mean_velocity(run, body, velocity);
        x = run->swing[body].swings ? run->swing[body].x_mid : run->x_eval[body];
    }
    push one = push_on(velocity, x, row->arm[side], by, (vec){ 0, 0, 0 });
    one.moment_size += fabs(r) * row->reach;
    one.work_size += fabs(r) * row->rate_size;
    return one;
}

/* The series of a joint has what acts on a, with the torque about its point on a unless another one
 * is given, and the work on both bodies. */
static void add_row(const check_run *run, force_series *s, const check_joint_row *row)
{
    push on[2] = { row_push(run, row, 0), row_push(run, row, 1) };
    if (s->joint == row->joint) {
        on[0].work += on[1].work;
        on[0].work_size += on[1].work_size;
        if (!s->about_point)
            on[0].moment = vec_times(row->r, row->turn[0]);
        add_push(&s->sum, &on[0]);
        return;
    }
    bool in[2] = { row->body[0] >= 0 && s->inside[row->body[0]],
                   row->body[1] >= 0 && s->inside[row->body[1]] };
    for (int side = 0; side < 2; side++)
        if (in[side] && !in[!side])
            add_push(&s->sum, &on[side]);
}

static void add_step(const check_run *run, force_series *s)
{
    const check_contacts *c = &run->contacts;
    for (int i = 0; i < run->bodies.count; i++)
        s->inside[i] = (char)belongs(run, s, i);
    for (int j = 0; j < c->count; j++) {
        bool in[2] = { s->inside[c->body[2 * j]], s->inside[c->body[2 * j + 1]] };
        if (in[0] == in[1])
            continue;
        push one = contact_push(run, j, in[1]);
        add_push(&s->sum, &one);
    }
    for (int i = 0; i < run->row_count; i++)
        add_row(run, s, &run->rows[i]);
    s->span += run->settings.h;
}

static void compare_row(check_run *run, force_series *s)
{
    double share = 1 / s->span;
    vec about = { s->about[0], s->about[1], s->about[2] };
    bool moved = s->joint < 0 || s->about_point;
    vec f = vec_times(share, s->sum.impulse);
    vec m =
        vec_times(share, vec_add(s->sum.moment, moved ? -1 : 0, vec_cross(about, s->sum.impulse)));
    double force = share * s->sum.impulse_size;
    double torque = share * s->sum.moment_size + force * vec_norm(about);
    const double found[7] = { f.x, f.y, f.z, m.x, m.y, m.z, s->sum.work };
    const double size[7] = { force, force, force, torque, torque, torque, s->sum.work_size };
    for (int k = 0; k < 7; k++)
        if (s->group.dataset[k + 1] >= 0)
            check_same(run->report, check_at(run, s->name, s->next, force_fields[k + 1].name),
                       s->rows.column[k][s->next], found[k], size[k]);
    s->sum = (push){ .work = 0 };
    s->span = 0;
    s->next++;
}

void check_forces_of(check_run *run)
{
    for (int k = 0; run->forces && k < run->forces->count; k++) {
        force_series *s = &run->forces->all[k];
        add_step(run, s);
        if (s->next < s->group.rows && s->rows.time[s->next] == run->steps.time[run->step - 1])
            compare_row(run, s);
    }
}

void check_forces(check_run *run)
{
    for (int k = 0; run->forces && k < run->forces->count; k++)
        check_true(run->report, (check_place){ 0, NULL, 0, run->forces->all[k].name },
                   run->forces->all[k].next == run->forces->all[k].group.rows,
                   "it has a row that is not of a step, or out of order");
}

/* ---- fields ---------------------------------------------------------------------------------- */

enum {
    PLACE,
    DENSITY = 3,
    SOLID,
    MOMENTUM,
    VELOCITY = 8,
    STRESS = 11,
    KINETIC = 20,
    WALL = 26,
    FABRIC = 29,
    CONTACTS = 35,
    FIELDS
};

static const char *const field_names[FIELDS] = {
    "x",          "y",          "z",          "density",    "solid",      "momentum_x",
    "momentum_y", "momentum_z", "velocity_x", "velocity_y", "velocity_z", "stress_xx",
    "stress_xy",  "stress_xz",  "stress_yx",  "stress_yy",  "stress_yz",  "stress_zx",
    "stress_zy",  "stress_zz",  "kinetic_xx", "kinetic_yy", "kinetic_xy", "kinetic_zz",
    "kinetic_yz", "kinetic_zx", "wall_x",     "wall_y",     "wall_z",     "fabric_xx",
    "fabric_yy",  "fabric_xy",  "fabric_zz",  "fabric_yz",  "fabric_zx",  "contacts",
};

static const char fields_name[] = "statistics/fields";

/* xx, yy, xy, zz, yz, zx */
static const int pairs[6][2] = { { 0, 0 }, { 1, 1 }, { 0, 1 }, { 2, 2 }, { 1, 2 }, { 2, 0 } };

/* The grids of all frames, one after the other; that of the next frame begins at row `next`. */
struct check_fields {
    check_group group, times;
    check_field columns[FIELDS], time;
    struct {
        size_t capacity;
        double *column[FIELDS]; /* NULL: not in 2D */
    } rows;
    check_list when;
    bool whole; /* no box cuts the grid */
    int64_t next;
};

/* The grid of one frame: cells along each axis, of these edges; and what fields must sum up to. */
typedef struct field_grid {
    int64_t cells[3], count;
    double edge[3];                      /* m; 0: not known                                    */
    double sum[FIELDS], terms[FIELDS];   /* of the bodies and contacts; of their magnitudes */
    double found[FIELDS], sizes[FIELDS]; /* of the cells, times their volume                */
} field_grid;

bool check_fields_open(check_run *run)
{
    struct check_fields *f;
    if (!check_has(run->file, fields_name))
        return true;
    if (!check_memory_take(&run->fields, 1, sizeof *run->fields))
        return check_fail(run->report, "no memory");
    f = run->fields;
    for (int k = 0; k < FIELDS; k++)
        f->columns[k] = (check_field){ field_names[k], 1, false,
                                       offsetof(struct check_fields, rows.column) -
                                           offsetof(struct check_fields, rows) +
                                           (size_t)k * sizeof f->rows.column[0],
                                       run->settings.dimension == 2 };
    f->time = (check_field){ "time", 1, false, offsetof(check_list, value), false };
    f->group = (check_group){ fields_name, f->columns, FIELDS, 3, { 0 }, 0 };
    f->times = (check_group){ fields_name, &f->time, 1, 3, { 0 }, 0 };
    f->whole = check_has_no_box(run);
    return check_group_open(run->file, &f->group, run->report) &&
           check_group_open(run->file, &f->times, run->report) &&
           check_group_read(&f->times, 0, f->times.rows, &f->when, run->report);
}

void check_fields_close(check_run *run)
{
    if (!run->fields)
        return;
    check_group_free(&run->fields->group, &run->fields->rows);
    check_group_close(&run->fields->group);
    check_group_free(&run->fields->times, &run->fields->when);
    check_group_close(&run->fields->times);
    check_memory_free(&run->fields);
}

/* ---- the grid ------------------------------------------------------------------------------- */

static double field_at(const struct check_fields *f, int column, int64_t row)
{
    return f->rows.column[column] ? f->rows.column[column][row] : 0;
}

static double component(vec v, int k)
{
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

static bool is_periodic(const check_run *run, int k)
{
    return run->cell.there && vec_norm(run->cell.end[k]) > 0;
}

/* m: the edge of the only cell along an axis: the length of a periodic cell, or the edge along
 * another axis that is not periodic; 0: not known. */
static double only_edge(const check_run *run, const field_grid *g, int axis)
{
    double edge = 0;
    if (is_periodic(run, axis))
        return fabs(component(run->cell.end[axis], axis));
    for (int k = 0; k < run->settings.dimension; k++)
        if (g->cells[k] > 1 && !is_periodic(run, k))
            edge = g->edge[k];
    return edge;
}

/* x is fastest: cells of an axis until its coordinate has the first value again. Edges along
 * periodic axes divide the length of the cell, and may differ from the others. */
static bool find_grid(const check_run *run, field_grid *g)
{
    const struct check_fields *f = run->fields;
    int64_t stride = 1;
    for (int k = 0; k < 3; k++) {
        const double *x = f->rows.column[PLACE + k];
        int64_t n = 1;
        while (k < run->settings.dimension && x && n * stride < g->count && x[n * stride] != x[0])
            n++;
        g->edge[k] = n > 1 ? (x[(n - 1) * stride] - x[0]) / (double)(n - 1) : 0;
        g->cells[k] = n;
        stride *= n;
    }
    for (int k = 0; k < run->settings.dimension; k++)
        if (g->cells[k] == 1)
            g->edge[k] = only_edge(run, g, k);
    return stride == g->count && stride > 1;
}

/* Every cell is where the grid says, and u = (rho u)/rho. */
static void check_cells(check_run *run, const field_grid *g)
{
    const struct check_fields *f = run->fields;
    for (int64_t row = 0; row < g->count; row++) {
        int64_t at[3] = { row % g->cells[0], row / g->cells[0] % g->cells[1],
                          row / (g->cells[0] * g->cells[1]) };
        double rho = field_at(f, DENSITY, row);
        for (int k = 0; k < run->settings.dimension; k++) {
            double first = field_at(f, PLACE + k, 0), way = (double)at[k] * g->edge[k];
            double u = rho > 0 ? field_at(f, MOMENTUM + k, row) / rho : 0;
            check_same(run->report,
                       check_at(run, fields_name, (long)(f->next + row), field_names[PLACE + k]),
                       field_at(f, PLACE + k, row), first + way,
                       fabs(first) + (double)g->cells[k] * g->edge[k]);
            check_same(run->report,
                       check_at(run, fields_name, (long)(f->next + row), field_names[VELOCITY + k]),
                       field_at(f, VELOCITY + k, row), u, fabs(u));
        }
    }
}

/* m^3, 2D m^2: of a cell; 0: not known. */
static double volume_of(const check_run *run, const field_grid *g)
{
    return g->edge[0] * g->edge[1] * (run->settings.dimension == 3 ? g->edge[2] : 1);
}

/* Sums over the cells; the kinetic stress with that of the mean velocity, rho u u. */
static void sum_cells(const check_run *run, field_grid *g)
{
    const struct check_fields *f = run->fields;
    double volume = volume_of(run, g);
    for (int k = DENSITY; k < FIELDS; k++)
        for (int64_t row = 0; row < g->count; row++) {
            double value = field_at(f, k, row), mean = 0;
            if (k >= KINETIC && k < WALL)
                mean = field_at(f, DENSITY, row) *
                       field_at(f, VELOCITY + pairs[k - KINETIC][0], row) *
                       field_at(f, VELOCITY + pairs[k - KINETIC][1], row);
            g->found[k] += volume * (value + mean);
            g->sizes[k] += volume * (fabs(value) + fabs(mean));
        }
}

/* ---- what it must sum up to ----------------------------------------------------------------- */

static void add_term(field_grid *g, int k, double value)
{
    g->sum[k] += value;
    g->terms[k] += fabs(value);
}

static bool is_grain(const check_run *run, int body)
{
    return body >= 0 && run->after.row[body] >= 0 && run->bodies.motion[body] == CHECK_DYNAMIC &&
           !check_is_servo(run, body);
}

/* Returns whether the volumes of all grains are known. */
static bool add_grains(const check_run *run, field_grid *g)
{
    bool known = true;
    for (int row = 0; row < run->after.count; row++) {
        int body = run->after.index[row];
        double m = run->bodies.mass[body];
        vec v = run->after.v[row];
        if (!is_grain(run, body))
            continue;
        known = known && run->bodies.volume[body] > 0;
        add_term(g, DENSITY, m);
        add_term(g, SOLID, run->bodies.volume[body]);
        for (int k = 0; k < 3; k++)
            add_term(g, MOMENTUM + k, m * component(v, k));
        for (int k = 0; k < 6; k++)
            add_term(g, KINETIC + k, m * component(v, pairs[k][0]) * component(v, pairs[k][1]));
    }
    return known;
}

/* The branch from b, or the image that touches, to a; to the contact point where one is a wall. */
static vec branch_of(const check_run *run, int j, const bool grain[2])
{
    const check_contacts *c = &run->contacts;
    int a = c->body[2 * j], b = c->body[2 * j + 1];
    vec from = grain[1] ? run->after.x[run->after.row[b]] : c->point[j];
    vec to = grain[0] ? run->after.x[run->after.row[a]] : c->point[j];
    if (grain[1] && run->cell.there)
        from = vec_add(from, 1, check_shift_after(run, c->image + 3 * j));
    return vec_add(to, -1, from);
}

/* Contacts count as pushing above a millionth of the largest normal force. */
static double least_push(const check_run *run)
{
    double most = 0;
    for (int j = 0; j < run->contacts.count; j++)
        most = fmax(most, run->contacts.impulse[(size_t)j * (size_t)run->settings.dimension]);
    return 1e-6 * most;
}

static void add_contact(const check_run *run, int j, double least, field_grid *g)
{
    const check_contacts *c = &run->contacts;
    const bool grain[2] = { is_grain(run, c->body[2 * j]), is_grain(run, c->body[2 * j + 1]) };
    vec by[2], n = c->normal[j];
    impulse_of(run, j, by);
    vec f = vec_times(1 / run->settings.h, by[0]), l = branch_of(run, j, grain);
    if ((!grain[0] && !grain[1]) || vec_norm(f) == 0)
        return;
    for (int k = 0; k < 9; k++)
        add_term(g, STRESS + k, component(f, k / 3) * component(l, k % 3));
    for (int k = 0; k < 3 && grain[0] != grain[1]; k++)
        add_term(g, WALL + k, (grain[0] ? 1 : -1) * component(f, k));
    if (!(vec_dot(by[0], n) > least))
        return;
    for (int k = 0; k < 6; k++)
        add_term(g, FABRIC + k, component(n, pairs[k][0]) * component(n, pairs[k][1]));
    add_term(g, CONTACTS, 1);
}

/* Velocities are not summed, they were compared cell by cell. Where the periodic cell deforms,
 * images have other velocities than their bodies, and kernels decide which of them count. */
static void compare_sums(check_run *run, const field_grid *g, bool volumes)
{
    bool deforms = false;
    for (int i = 0; i < 3; i++)
        deforms = deforms || (run->cell.there && vec_norm(run->cell.rate[i]) > 0);
    for (int k = DENSITY; k < FIELDS; k++) {
        bool moving = (k >= MOMENTUM && k < VELOCITY) || (k >= KINETIC && k < WALL);
        bool left_out = (k >= VELOCITY && k < STRESS) || (k == SOLID && !volumes) ||
                        (moving && deforms) || run->fields->group.dataset[k] < 0;
        if (!left_out)
            check_same(run->report,
                       check_at(run, "statistics/fields, sum", run->step, field_names[k]),
                       g->found[k], g->sum[k], 10 * (g->terms[k] + g->sizes[k]));
    }
}

bool check_fields_of(check_run *run)
{
    struct check_fields *f = run->fields;
    field_grid g = { .count = 0 };
    if (!f || run->step == 0 || f->next >= f->times.rows ||
        f->when.value[f->next] != run->steps.time[run->step - 1])
        return true;
    while (f->next + g.count < f->times.rows &&
           f->when.value[f->next + g.count] == f->when.value[f->next])
        g.count++;
    if (!check_group_read(&f->group, f->next, g.count, &f->rows, run->report))
        return false;
    bool good = find_grid(run, &g);
    check_true(run->report, check_at(run, fields_name, (long)f->next, "x"), good || g.count == 1,
               "the cells are not those of a regular grid");
    if (good)
        check_cells(run, &g);
    if (good && f->whole && volume_of(run, &g) > 0) {
        sum_cells(run, &g);
        bool volumes = add_grains(run, &g);
        double least = least_push(run);
        for (int j = 0; j < run->contacts.count; j++)
            add_contact(run, j, least, &g);
        compare_sums(run, &g, volumes);
    }
    f->next += g.count;
    return true;
}
