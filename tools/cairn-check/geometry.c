/* geometry.c - the group /geometry of the file: points, faces and parts of shapes.
 *
 * Normals, extents, boxes, and whether a surface is closed, are all computed from points and faces.
 *
 * A row g has vertices [o[g], o[g+1]), and likewise faces and parts; corners of a face are numbers
 * of vertices within its row. A compound names rows before its own, so there are no cycles. */
#include <stdlib.h>

#include "run.h"

/* ---- distances ------------------------------------------------------------------------------ */

double check_segment_distance(vec from, vec to, vec p)
{
    vec e = vec_add(to, -1, from), d = vec_add(p, -1, from);
    double square = vec_dot(e, e);
    double t = square > 0 ? fmin(1, fmax(0, vec_dot(d, e) / square)) : 0;
    return vec_norm(vec_add(d, -t, e));
}

/* Above the triangle the height over its plane, else the distance from the nearest side. */
double check_triangle_distance(const vec corner[3], vec p)
{
    vec n = vec_cross(vec_add(corner[1], -1, corner[0]), vec_add(corner[2], -1, corner[0]));
    double length = vec_norm(n), least = HUGE_VAL;
    bool over = length > 0;
    for (int k = 0; k < 3; k++) {
        vec from = corner[k], to = corner[(k + 1) % 3];
        vec inward = vec_cross(n, vec_add(to, -1, from));
        over = over && vec_dot(inward, vec_add(p, -1, from)) >= 0;
        least = fmin(least, check_segment_distance(from, to, p));
    }
    return over ? fabs(vec_dot(n, vec_add(p, -1, corner[0]))) / length : least;
}

/* ---- faces ---------------------------------------------------------------------------------- */

static int first_corner(const check_geometries *g, const check_geometry *row, int face)
{
    return g->corner_offset.value[row->first_face + face];
}

int check_corner_count(const check_geometries *g, const check_geometry *row, int face)
{
    return first_corner(g, row, face + 1) - first_corner(g, row, face);
}

vec check_corner(const check_geometries *g, const check_geometry *row, int face, int k)
{
    int vertex = g->corners.value[first_corner(g, row, face) + k];
    return g->vertices.value[row->first_vertex + vertex];
}

/* A convex face is a fan of triangles. */
double check_face_distance(const check_geometries *g, const check_geometry *row, int face, vec p)
{
    int count = check_corner_count(g, row, face);
    vec first = check_corner(g, row, face, 0), second = check_corner(g, row, face, 1);
    double least = count == 2 ? check_segment_distance(first, second, p) : HUGE_VAL;
    for (int k = 1; k + 1 < count; k++) {
        const vec corner[3] = { first, check_corner(g, row, face, k),
                                check_corner(g, row, face, k + 1) };
        least = fmin(least, check_triangle_distance(corner, p));
    }
    return least;
}

/* The angle (2D) or solid angle under which a face is seen from p, positive where p is behind it:
 * tan(angle) = e x f / e.f,  tan(angle/2) = a.(b x c) / (abc + (a.b) c + (b.c) a + (c.a) b). */
static double angle_of(const check_geometries *g, const check_geometry *row, int face, vec p)
{
    vec a = vec_add(check_corner(g, row, face, 0), -1, p);
    vec b = vec_add(check_corner(g, row, face, 1), -1, p);
    if (check_corner_count(g, row, face) == 2)
        return atan2(a.x * b.y - a.y * b.x, a.x * b.x + a.y * b.y);
    vec c = vec_add(check_corner(g, row, face, 2), -1, p);
    double la = vec_norm(a), lb = vec_norm(b), lc = vec_norm(c);
    return 2 * atan2(vec_dot(a, vec_cross(b, c)),
                     la * lb * lc + vec_dot(a, b) * lc + vec_dot(b, c) * la + vec_dot(c, a) * lb);
}

/* Seen from inside the faces are all around: 2 pi, or 4 pi. */
double check_depth_inside(const check_geometries *g, const check_geometry *row, vec p)
{
    double sum = 0, least = HUGE_VAL;
    for (int f = 0; f < row->faces; f++) {
        sum += angle_of(g, row, f, p);
        least = fmin(least, check_face_distance(g, row, f, p));
    }
    bool flat = row->faces > 0 && check_corner_count(g, row, 0) == 2;
    return row->closed && sum > (flat ? 3.14 : 6.28) ? least : -least;
}

/* Newell's sum, in 2D to the right of the segment. */
static vec normal_of(const check_geometries *g, const check_geometry *row, int face)
{
    int count = check_corner_count(g, row, face);
    vec first = check_corner(g, row, face, 0), sum = { 0, 0, 0 };
    for (int k = 1; k + 1 < count; k++)
        sum = vec_add(sum, 1,
                      vec_cross(vec_add(check_corner(g, row, face, k), -1, first),
                                vec_add(check_corner(g, row, face, k + 1), -1, first)));
    vec e = vec_add(check_corner(g, row, face, 1), -1, first);
    sum = count == 2 ? (vec){ e.y, -e.x, 0 } : sum;
    double length = vec_norm(sum);
    return length > 0 ? vec_times(1 / length, sum) : sum;
}

/* ---- boxes ---------------------------------------------------------------------------------- */

static check_bounds with_point(check_bounds b, vec p)
{
    return (check_bounds){ { fmin(b.low.x, p.x), fmin(b.low.y, p.y), fmin(b.low.z, p.z) },
                           { fmax(b.high.x, p.x), fmax(b.high.y, p.y), fmax(b.high.z, p.z) } };
}

static check_bounds face_bounds(const check_geometries *g, const check_geometry *row, int face,
                                check_bounds b)
{
    for (int k = 0; k < check_corner_count(g, row, face); k++)
        b = with_point(b, check_corner(g, row, face, k));
    return b;
}

/* A face also detects thin bodies behind it, down to a hundredth of its edge (overlap.c). */
static bool holds(const check_bounds *b, vec p, double within)
{
    within += 0.01 * vec_norm(vec_add(b->high, -1, b->low));
    return p.x >= b->low.x - within && p.x <= b->high.x + within && p.y >= b->low.y - within &&
           p.y <= b->high.y + within && p.z >= b->low.z - within && p.z <= b->high.z + within;
}

static const check_bounds nothing = { { HUGE_VAL, HUGE_VAL, HUGE_VAL },
                                      { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL } };

int check_face_near(const check_geometries *g, const check_geometry *row, int face, vec p,
                    double within)
{
    while (face < row->faces) {
        if (!holds(&g->blocks[row->first_block + face / CHECK_BLOCK], p, within)) {
            face += CHECK_BLOCK - face % CHECK_BLOCK;
            continue;
        }
        check_bounds b = face_bounds(g, row, face, nothing);
        if (holds(&b, p, within))
            return face;
        face++;
    }
    return -1;
}

static bool has_vertex(const check_geometries *g, const check_geometry *row, int face, int vertex)
{
    const int32_t *corner = g->corners.value + first_corner(g, row, face);
    int k = check_corner_count(g, row, face);
    while (k-- > 0 && corner[k] != vertex)
        continue;
    return k >= 0;
}

int check_neighbour(const check_geometries *g, const check_geometry *row, int face, int k)
{
    const int32_t *corner = g->corners.value + first_corner(g, row, face);
    int count = check_corner_count(g, row, face), to = count == 2 ? k : (k + 1) % count;
    vec on = check_corner(g, row, face, k);
    for (int f = 0; (f = check_face_near(g, row, f, on, 0)) >= 0; f++)
        if (f != face && has_vertex(g, row, f, corner[k]) && has_vertex(g, row, f, corner[to]))
            return f;
    return -1;
}

/* ---- what follows from points and faces ------------------------------------------------------ */

static int compare_edges(const void *left, const void *right)
{
    const int *a = left, *b = right;
    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

/* Every edge, smaller vertex first, occurs twice; in 2D, where segments end at vertices, every
 * vertex. */
static void find_closed(const check_geometries *g, check_geometry *row, int (*edges)[2])
{
    int count = 0;
    for (int f = 0; f < row->faces; f++)
        for (int k = 0, n = check_corner_count(g, row, f); k < n; k++, count++) {
            const int32_t *corner = g->corners.value + first_corner(g, row, f);
            int from = corner[k], to = corner[n == 2 ? k : (k + 1) % n];
            edges[count][0] = from < to ? from : to;
            edges[count][1] = from < to ? to : from;
        }
    qsort(edges, (size_t)count, sizeof *edges, compare_edges);
    bool closed = count % 2 == 0 && count > 0;
    for (int i = 0; i + 1 < count && closed; i += 2)
        closed = compare_edges(edges[i], edges[i + 1]) == 0 &&
                 (i + 2 >= count || compare_edges(edges[i], edges[i + 2]) != 0);
    row->closed = closed;
}

static void find_surface(check_geometries *g, check_geometry *row)
{
    for (int i = 0; i < row->vertices; i++)
        row->extent = fmax(row->extent, vec_norm(g->vertices.value[row->first_vertex + i]));
    for (int f = 0; f < row->faces; f++) {
        check_bounds *block = &g->blocks[row->first_block + f / CHECK_BLOCK];
        *block = face_bounds(g, row, f, f % CHECK_BLOCK == 0 ? nothing : *block);
        g->normals[row->first_face + f] = normal_of(g, row, f);
    }
}

static bool derive(check_run *run, check_geometries *g)
{
    int(*edges)[2] = NULL;
    int blocks = 0;
    bool good = check_memory_take(&edges, (size_t)g->corner_count, sizeof *edges);
    for (int i = 0; i < g->count; i++) {
        g->rows[i].first_block = blocks;
        blocks += (g->rows[i].faces + CHECK_BLOCK - 1) / CHECK_BLOCK;
    }
    good = good && check_memory_take(&g->blocks, (size_t)blocks, sizeof *g->blocks) &&
           check_memory_take(&g->normals, (size_t)g->face_count, sizeof *g->normals);
    for (int i = 0; i < g->count && good; i++) {
        find_surface(g, &g->rows[i]);
        find_closed(g, &g->rows[i], edges);
    }
    check_memory_free(&edges);
    return good || check_fail(run->report, "no memory");
}

/* ---- reading -------------------------------------------------------------------------------- */

/* One dataset as a list. */
static bool read_list(check_run *run, const check_field *field, void *record, int *count)
{
    check_group list = { "geometry", field, 1, 3, { 0 }, 0 };
    bool good = check_group_open(run->file, &list, run->report) &&
                check_group_read(&list, 0, list.rows, record, run->report);
    *count = (int)list.rows;
    check_group_close(&list);
    return good;
}

/* Where rows begin: 0 first, never less than before, at the end as many as there are. */
static bool read_offsets(check_run *run, const char *name, int end, check_wholes *out, int *count)
{
    const check_field field = { name, 1, true, offsetof(check_wholes, value), false };
    if (!read_list(run, &field, out, count))
        return false;
    bool good = *count > 0 && out->value[0] == 0 && out->value[*count - 1] == end;
    for (int i = 0; i + 1 < *count && good; i++)
        good = out->value[i + 1] >= out->value[i];
    *count -= 1;
    return good || check_fail(run->report, "/geometry/%s does not go from 0 to %d", name, end);
}

static const check_field part_fields[] = {
    { "shape", 1, true, offsetof(check_part_list, shape), false },
    { "geometry", 1, true, offsetof(check_part_list, geometry), false },
    { "x", 3, false, offsetof(check_part_list, x), false },
    { "q", 4, false, offsetof(check_part_list, q), false },
    { "radius", 1, false, offsetof(check_part_list, radius), false },
    { "height", 1, false, offsetof(check_part_list, height), false },
    { "length", 1, false, offsetof(check_part_list, length), false },
    { "rounding", 1, false, offsetof(check_part_list, rounding), false },
    { "exponents", 2, false, offsetof(check_part_list, exponents), false },
    { "size", 3, false, offsetof(check_part_list, size), false },
    { "semi_axes", 3, false, offsetof(check_part_list, semi_axes), false },
    { "axis", 3, false, offsetof(check_part_list, axis), false },
};

static bool read_parts(check_run *run, check_part_list *parts)
{
    check_group group = { "geometry/parts", part_fields, CHECK_COUNT(part_fields), 3, { 0 }, 0 };
    bool good = check_group_open(run->file, &group, run->report) &&
                check_group_read(&group, 0, group.rows, parts, run->report);
    parts->count = (int)group.rows;
    check_group_close(&group);
    return good && check_shapes_translate(run, "geometry/parts/shape", parts->count, parts->shape);
}

/* Where the vertices, faces and parts of a row are. */
static bool read_rows(check_run *run, check_geometries *g)
{
    static const char *const names[3] = { "vertex_offset", "face_offset", "part_offset" };
    const int ends[3] = { g->vertex_count, g->face_count, g->parts.count };
    check_wholes offsets[3] = { { 0 } };
    bool good = true;
    for (int k = 0, count; k < 3 && good; k++) {
        good = read_offsets(run, names[k], ends[k], &offsets[k], &count);
        if (good && k > 0 && count != g->count)
            good = check_fail(run->report, "/geometry/%s describes %d rows, expected %d", names[k],
                              count, g->count);
        g->count = good ? count : 0;
    }
    if (good && !check_memory_take(&g->rows, (size_t)g->count, sizeof *g->rows))
        good = check_fail(run->report, "no memory");
    for (int i = 0; i < g->count && good; i++) {
        const int32_t *v = offsets[0].value + i, *f = offsets[1].value + i;
        const int32_t *p = offsets[2].value + i;
        g->rows[i] = (check_geometry){ v[0],  v[1] - v[0], f[0], f[1] - f[0], p[0], p[1] - p[0],
                                       false, 0,           0 };
    }
    for (int k = 0; k < 3; k++)
        check_memory_free(&offsets[k].value);
    return good;
}

static bool read_all(check_run *run, check_geometries *g)
{
    static const check_field vertices = { "vertices", 3, false, offsetof(check_vertices, value),
                                          false };
    static const check_field corners = { "corners", 1, true, offsetof(check_wholes, value), false };
    return read_list(run, &vertices, &g->vertices, &g->vertex_count) &&
           read_list(run, &corners, &g->corners, &g->corner_count) &&
           read_offsets(run, "corner_offset", g->corner_count, &g->corner_offset, &g->face_count) &&
           read_parts(run, &g->parts) && read_rows(run, g);
}

/* ---- whether it can be ----------------------------------------------------------------------- */

static bool are_faces(check_run *run, const check_geometries *g, const check_geometry *row)
{
    int least = run->settings.dimension;
    for (int f = 0; f < row->faces; f++) {
        int count = check_corner_count(g, row, f);
        if (count < least || (least == 2 && count > 2))
            return check_fail(run->report, "/geometry: a face has %d corners", count);
        for (int k = 0; k < count; k++) {
            int32_t vertex = g->corners.value[first_corner(g, row, f) + k];
            if (vertex < 0 || vertex >= row->vertices)
                return check_fail(run->report, "/geometry/corners names vertex %d of %d", vertex,
                                  row->vertices);
        }
    }
    return true;
}

/* The row that a body or part names must be of the kind of its shape. */
static bool is_of_kind(check_run *run, int32_t shape, int32_t row, int32_t before)
{
    const check_geometries *g = &run->geometries;
    if (shape < CHECK_HULL || shape == CHECK_OTHER || row == -1)
        return true;
    if (row < -1 || row >= before)
        return check_fail(run->report, "a shape names row %d of /geometry, which has %d", row,
                          before);
    const check_geometry *data = &g->rows[row];
    bool good = shape == CHECK_COMPOUND ? data->parts > 0 : data->faces > 0;
    for (int f = 0; f < data->faces && good && shape != CHECK_HULL; f++)
        good = check_corner_count(g, data, f) == run->settings.dimension;
    return good || check_fail(run->report, "row %d of /geometry does not fit its shape", row);
}

static const double unflat = 2e-6; /* of the extent */

/* No vertex of a hull is beyond one of its faces, and faces are flat, both as far as points
 * rounded to 32 bits allow (docs/shapes.md): 5e-7 of the extent, and a few times that for a plane
 * through any three corners. The deviation counts as uncertainty wherever the hull touches. */
static void check_convex(check_run *run, int row)
{
    const check_geometries *g = &run->geometries;
    check_geometry *data = &g->rows[row];
    double beyond = 0, bent = 0;
    for (int f = 0; f < data->faces; f++) {
        vec n = g->normals[data->first_face + f], on = check_corner(g, data, f, 0);
        for (int k = 0; k < check_corner_count(g, data, f); k++)
            bent = fmax(bent, fabs(vec_dot(n, vec_add(check_corner(g, data, f, k), -1, on))));
        for (int i = 0; i < data->vertices; i++)
            beyond = fmax(beyond,
                          vec_dot(n, vec_add(g->vertices.value[data->first_vertex + i], -1, on)));
    }
    check_between(run->report, (check_place){ 0, "geometry", row, "a vertex beyond a face" },
                  beyond, 0, unflat * data->extent);
    check_between(run->report, (check_place){ 0, "geometry", row, "a corner off its face" }, bent,
                  0, unflat * data->extent);
    data->bent = fmax(bent, beyond);
}

static bool are_parts(check_run *run, check_geometries *g, int row)
{
    check_geometry *data = &g->rows[row];
    for (int i = data->first_part; i < data->first_part + data->parts; i++) {
        int32_t shape = g->parts.shape[i];
        bool wall = shape == CHECK_HALF_SPACE || shape == CHECK_CYLINDER || shape == CHECK_CONE ||
                    shape == CHECK_FUNNEL || shape == CHECK_INSIDE_BOX || shape == CHECK_COMPOUND;
        if (wall)
            return check_fail(run->report, "/geometry/parts: row %d cannot be a part", i);
        if (!is_of_kind(run, shape, g->parts.geometry[i], row))
            return false;
        if (shape == CHECK_HULL && g->parts.geometry[i] >= 0)
            check_convex(run, g->parts.geometry[i]);
    }
    return true;
}

bool check_geometries_read(check_run *run)
{
    check_geometries *g = &run->geometries;
    check_bodies *b = &run->bodies;
    bool there = check_has(run->file, "geometry");
    if (there && !read_all(run, g))
        return false;
    for (int i = 0; i < g->count; i++)
        if (!are_faces(run, g, &g->rows[i]))
            return false;
    if (there && !derive(run, g))
        return false;
    for (int i = 0; i < g->count; i++)
        if (!are_parts(run, g, i))
            return false;
    for (int i = 0; i < b->count; i++) {
        b->geometry[i] = there ? b->geometry[i] : -1;
        if (!is_of_kind(run, b->shape[i], b->geometry[i], g->count))
            return false;
        if (b->shape[i] == CHECK_HULL && b->geometry[i] >= 0 &&
            (i == 0 || b->geometry[i] != b->geometry[i - 1]))
            check_convex(run, b->geometry[i]);
    }
    return true;
}

void check_geometries_free(check_geometries *g)
{
    const check_group parts = { .fields = part_fields, .count = CHECK_COUNT(part_fields) };
    void *blocks[] = { &g->rows,    &g->vertices.value, &g->corners.value, &g->corner_offset.value,
                       &g->normals, &g->blocks };
    for (int i = 0; i < CHECK_COUNT(blocks); i++)
        check_memory_free(blocks[i]);
    check_group_free(&parts, &g->parts);
}
