/* periodic.c - the periodic cell: bodies put back into it when a step begins, and images.
 *
 * An image of a body is at x + h k, the columns of h being the edges of the cell, and moves with
 * v + h' k. The file has h when a step ends and h' in the step, so it began with h - dt h'. That
 * must be the lattice with which the step before ended, although other edges may span it:
 *     h_old = h M,  M of integers, |det M| = 1,  and a body that has left n times has left M n.
 * Then bodies outside the cell are put back, x += h k and v += h' k, which leaves n - k. */
#include <math.h>

#include "run.h"

/* The vectors with b_i.e_j = 1 for i = j, else 0; axes without an edge count as one of 1 m. */
static void reciprocal(const vec *edge, vec *b)
{
    static const vec axis[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    vec e[3];
    for (int i = 0; i < 3; i++)
        e[i] = vec_norm(edge[i]) > 0 ? edge[i] : axis[i];
    double volume = vec_dot(e[0], vec_cross(e[1], e[2]));
    for (int i = 0; i < 3; i++)
        b[i] = vec_times(1 / volume, vec_cross(e[(i + 1) % 3], e[(i + 2) % 3]));
}

static vec sum_of(const vec *edge, const int32_t *k)
{
    vec sum = vec_times(k[0], edge[0]);
    return vec_add(vec_add(sum, k[1], edge[1]), k[2], edge[2]);
}

bool check_cell_read(check_run *run)
{
    check_cell *c = &run->cell;
    double corner[3], edges[9];
    if (H5Aexists(run->file, "cell") <= 0)
        return true;
    c->there = true;
    if (!check_attribute(run->file, "cell_corner", 3, corner, run->report) ||
        !check_attribute(run->file, "cell", 9, edges, run->report))
        return false;
    c->corner = (vec){ corner[0], corner[1], corner[2] };
    for (int i = 0; i < 3; i++)
        c->end[i] = (vec){ edges[3 * i], edges[3 * i + 1], edges[3 * i + 2] };
    return true;
}

/* The edges of the loaded step; `last`: with which the step before ended. */
static void load_edges(check_run *run, vec last[3])
{
    check_cell *c = &run->cell;
    const double *end = run->steps.cell + 9 * (run->step - 1);
    const double *rate = run->steps.cell_rate + 9 * (run->step - 1);
    for (int i = 0; i < 3; i++) {
        last[i] = c->end[i];
        c->end[i] = (vec){ end[3 * i], end[3 * i + 1], end[3 * i + 2] };
        c->rate[i] = (vec){ rate[3 * i], rate[3 * i + 1], rate[3 * i + 2] };
        c->start[i] = vec_add(c->end[i], -run->settings.h, c->rate[i]);
    }
}

/* M, by rounding: the lattice is the same if h M is h_old. */
static void check_lattice(check_run *run, const vec last[3], int32_t M[3][3])
{
    vec b[3];
    const check_cell *c = &run->cell;
    double size = vec_norm(c->start[0]) + vec_norm(c->start[1]) + vec_norm(c->start[2]);
    reciprocal(c->start, b);
    for (int j = 0; j < 3; j++) {
        int32_t column[3];
        for (int i = 0; i < 3; i++)
            M[i][j] = column[i] = (int32_t)lround(vec_dot(b[i], last[j]));
        check_same_vec(run->report, check_at(run, "edge", j, "cell"), last[j],
                       sum_of(c->start, column), 10 * size);
        if (vec_norm(c->start[j]) == 0)
            M[j][j] = 1;
    }
    int32_t det = M[0][0] * (M[1][1] * M[2][2] - M[1][2] * M[2][1]) -
                  M[0][1] * (M[1][0] * M[2][2] - M[1][2] * M[2][0]) +
                  M[0][2] * (M[1][0] * M[2][1] - M[1][1] * M[2][0]);
    check_true(run->report, check_at(run, NULL, 0, "cell"), det == 1 || det == -1,
               "the edges span another lattice than in the step before");
}

/* A body was put back by the vector of the lattice that its images tell. Its way does not, since
 * impacts within the step may turn it back. With wrong images it does not end where it should. */
static void put_back(check_run *run, int row, int next, const vec b[3], int32_t M[3][3])
{
    check_cell *c = &run->cell;
    check_state *s = &run->before;
    int body = s->index[row];
    double m = run->bodies.mass[body];
    vec g = run->settings.gravity, v = s->v[row], x = s->x[row];
    const int32_t *n = s->image + 3 * row, *left = run->after.image + 3 * next;
    int32_t k[3];
    for (int i = 0; i < 3; i++) {
        double moved = -left[i];
        for (int j = 0; j < 3; j++)
            moved += (double)M[i][j] * n[j];
        bool there = moved == 0 || (vec_norm(c->start[i]) > 0 && fabs(moved) < INT32_MAX);
        k[i] = there ? (int32_t)moved : 0;
        check_true(run->report, check_at(run, "body", body, "image"), there,
                   "there is no such edge of the cell");
    }
    s->x[row] = vec_add(x, 1, sum_of(c->start, k));
    s->v[row] = vec_add(v, 1, sum_of(c->rate, k));
    for (int i = 0; i < 3; i++) {
        double at = vec_dot(b[i], vec_add(s->x[row], -1, c->corner));
        bool inside = vec_norm(c->start[i]) == 0 || (at > -1e-9 && at < 1 + 1e-9);
        check_true(run->report, check_at(run, "body", body, "x"), inside,
                   "the step does not begin with it in the periodic cell");
    }
    double more = 0.5 * m * (vec_dot(s->v[row], s->v[row]) - vec_dot(v, v));
    double fall = m * vec_dot(g, vec_add(s->x[row], -1, x));
    c->work += more - fall;
    c->work_size += m * (vec_dot(v, v) + vec_dot(s->v[row], s->v[row])) +
                    m * vec_norm(g) * (vec_norm(x) + vec_norm(s->x[row]));
}

void check_cell_of(check_run *run)
{
    check_cell *c = &run->cell;
    vec last[3], b[3];
    int32_t M[3][3];
    c->work = c->work_size = 0;
    if (!c->there)
        return;
    load_edges(run, last);
    check_lattice(run, last, M);
    reciprocal(c->start, b);
    for (int row = 0; row < run->before.count; row++) {
        int body = run->before.index[row], next = run->after.row[body];
        if (next >= 0 && run->bodies.motion[body] == CHECK_DYNAMIC)
            put_back(run, row, next, b, M);
    }
}

/* Contacts are evaluated at the start of the step, in its middle, or at its end. */
vec check_shift_eval(const check_run *run, const int32_t k[3])
{
    const check_cell *c = &run->cell;
    double h = run->settings.h;
    double ahead = run->settings.linearisations > 0 ? h
                   : run->settings.scheme->middle   ? 0.5 * h
                                                    : 0;
    return vec_add(sum_of(c->start, k), ahead, sum_of(c->rate, k));
}

vec check_shift_after(const check_run *run, const int32_t k[3])
{
    return sum_of(run->cell.end, k);
}

static const int32_t *image_of(const check_run *run, int joint)
{
    static const int32_t none[3] = { 0, 0, 0 };
    int row = run->cell.there ? run->joints_after.row[joint] : -1;
    return row >= 0 ? run->joints_after.image + 3 * row : none;
}

vec check_joint_drift(const check_run *run, int joint)
{
    return sum_of(run->cell.rate, image_of(run, joint));
}

vec check_joint_shift(const check_run *run, int joint, double ahead)
{
    return vec_add(sum_of(run->cell.start, image_of(run, joint)), ahead,
                   check_joint_drift(run, joint));
}

vec check_drift(const check_run *run, int j)
{
    return sum_of(run->cell.rate, run->contacts.image + 3 * j);
}

vec check_x_of(const check_run *run, int j, int side)
{
    vec x = run->x_eval[run->contacts.body[2 * j + side]];
    return side && run->cell.there
               ? vec_add(x, 1, check_shift_eval(run, run->contacts.image + 3 * j))
               : x;
}

/* ---- images that may touch ------------------------------------------------------------------- */

/* The extent of all bodies along one edge, in edges. */
typedef struct span {
    double low, high;
} span;

static span span_of(const check_run *run, vec b, const vec *x, int body)
{
    double middle = vec_dot(b, vec_add(x[body], -1, run->cell.corner));
    double half = vec_norm(b) * check_ball_about(run, body);
    return (span){ middle - half, middle + half };
}

/* Which k move a body into the extent of all others: at most this many to either side. */
static int most_along(const check_run *run, vec b, const vec *x, span *all)
{
    *all = (span){ HUGE_VAL, -HUGE_VAL };
    for (int i = 0; i < run->bodies.count; i++)
        if (check_is_bounded(run, i)) {
            span own = span_of(run, b, x, i);
            all->low = fmin(all->low, own.low);
            all->high = fmax(all->high, own.high);
        }
    return all->high > all->low ? (int)fmin(50, ceil(all->high - all->low)) : 0;
}

/* Bodies near which an image k of some body can be, or (`image`) whose image k can be near one. */
static int list_near(const check_run *run, const vec b[3], const vec *x, const span all[3],
                     const int32_t k[3], bool image, int *out)
{
    int count = 0;
    for (int i = 0; i < run->bodies.count; i++) {
        bool near = check_is_bounded(run, i);
        for (int axis = 0; axis < 3 && near; axis++) {
            double by = image ? k[axis] : -k[axis];
            span own = span_of(run, b[axis], x, i);
            near = own.low + by <= all[axis].high && own.high + by >= all[axis].low;
        }
        if (near)
            out[count++] = i;
    }
    return count;
}

/* Visit the pairs of bodies with an image k of another. */
static void visit_image(const check_run *run, const check_images *im, const vec b[3],
                        const span all[3], const int32_t k[3])
{
    vec shift = im->after ? check_shift_after(run, k) : check_shift_eval(run, k);
    int bodies = list_near(run, b, im->x, all, k, false, im->near);
    int images = list_near(run, b, im->x, all, k, true, im->near + run->bodies.count);
    const int *other = im->near + run->bodies.count;
    for (int i = 0; i < bodies; i++)
        for (int n = 0; n < images; n++) {
            int a = im->near[i], o = other[n];
            vec d = vec_add(vec_add(im->x[a], -1, im->x[o]), -1, shift);
            double reach = check_ball_about(run, a) + check_ball_about(run, o);
            bool dynamic =
                run->bodies.motion[a] == CHECK_DYNAMIC || run->bodies.motion[o] == CHECK_DYNAMIC;
            if (dynamic && vec_dot(d, d) <= reach * reach)
                im->visit(im->context, a, o, k);
        }
}

/* All k whose first number other than 0 is positive: -k is the same pair with its bodies
 * exchanged. */
bool check_visit_images(const check_run *run, check_images *im)
{
    const check_cell *c = &run->cell;
    vec b[3];
    span all[3];
    int most[3];
    if (!c->there)
        return true;
    if (!check_memory_take(&im->near, 2 * (size_t)run->bodies.count, sizeof *im->near))
        return false;
    reciprocal(im->after ? c->end : c->start, b);
    for (int i = 0; i < 3; i++) {
        most[i] = most_along(run, b[i], im->x, &all[i]);
        most[i] = vec_norm(c->start[i]) > 0 ? most[i] : 0;
    }
    for (int x = 0; x <= most[0]; x++)
        for (int y = x ? -most[1] : 0; y <= most[1]; y++)
            for (int z = x || y ? -most[2] : 1; z <= most[2]; z++)
                visit_image(run, im, b, all, (const int32_t[3]){ x, y, z });
    check_memory_free(&im->near);
    return true;
}
