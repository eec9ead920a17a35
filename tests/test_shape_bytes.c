/* test_shape_bytes.c - shapes with their data to bytes and back. */
#include "shape/shape_bytes.h"

#include "solids.h"

#include "failing_allocator.h"

enum { MOST = 8 };

/* Shapes to write, or read. */
typedef struct shelf {
    cairn_shape shapes[MOST];
    int count, dimension;
} shelf;

static cairn_shape_list list_of(shelf *s)
{
    return (cairn_shape_list){ s->shapes, sizeof s->shapes[0], s->count, s->dimension, false };
}

static void add(shelf *s, cairn_shape_kind kind, const cairn_geometry *data)
{
    s->shapes[s->count] = cairn_shape_default(kind, s->dimension);
    s->shapes[s->count++].geometry = data;
}

static void clear(shelf *s)
{
    for (int i = 0; i < MOST; i++)
        cairn_geometry_release(s->shapes[i].geometry);
    *s = (shelf){ .count = 0 };
}

static const cairn_geometry *hull(void)
{
    static const cairn_vec3 points[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 },      { 0, 1, 0 },
                                         { 0, 0, 1 }, { 1, 0, 1 }, { 0.3, 0.7, 1.3 } };
    const cairn_geometry *out;
    CHECK_OK(cairn_hull_create(points, 7, 3, &out, NULL));
    return out;
}

static const cairn_geometry *mesh(void)
{
    static const cairn_vec3 vertices[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    static const int32_t triangles[] = { 0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2 };
    const cairn_mesh_def def = { vertices, 4, triangles, 4 };
    const cairn_geometry *out;
    CHECK_OK(cairn_mesh_create(&def, &out, NULL));
    return out;
}

static const cairn_geometry *ground(void)
{
    static const double heights[] = { 0, 0.1, 0, 0.3, 0.2, 0.1 };
    const cairn_height_field_def def = { 3, 2, { 0.5, 1 }, heights };
    const cairn_geometry *out;
    CHECK_OK(cairn_height_field_create(&def, &out, NULL));
    return out;
}

/* Two parts that share a hull, turned by a quaternion of length 1 up to rounding. */
static const cairn_geometry *compound(void)
{
    const cairn_geometry *shared = hull(), *out;
    cairn_part parts[3] = { { .pose = { { 0.1, 0.2, 0.3 }, { 0.6, 0.8 / 3, 1.6 / 3, 1.6 / 3 } } },
                            { .pose = { { 1, 0, 0 }, { 1, 0, 0, 0 } } },
                            { .pose = { { 0, 1, 0 }, { 1, 0, 0, 0 } } } };
    parts[0].shape = parts[1].shape = cairn_shape_default(CAIRN_SHAPE_POLYHEDRON, 3);
    parts[0].shape.geometry = parts[1].shape.geometry = shared;
    parts[2].shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    parts[2].shape.radius = 0.5;
    double length = sqrt(0.36 + 0.64 / 9 + 5.12 / 9);
    parts[0].pose.q =
        (cairn_quat){ 0.6 / length, 0.8 / 3 / length, 1.6 / 3 / length, 1.6 / 3 / length };
    CHECK_OK(cairn_compound_create(parts, 3, 3, &out, NULL));
    cairn_geometry_release(shared);
    return out;
}

static shelf fill_3d(void)
{
    shelf s = { .dimension = 3 };
    add(&s, CAIRN_SHAPE_POLYHEDRON, hull());
    add(&s, CAIRN_SHAPE_SPHERE, NULL);
    add(&s, CAIRN_SHAPE_MESH, mesh());
    add(&s, CAIRN_SHAPE_HEIGHT_FIELD, ground());
    add(&s, CAIRN_SHAPE_COMPOUND, compound());
    add(&s, CAIRN_SHAPE_POLYHEDRON, cairn_geometry_retain(s.shapes[0].geometry));
    s.shapes[5].rounding = 0.25;
    return s;
}

static shelf fill_2d(void)
{
    static const cairn_vec3 points[] = { { 0, 0, 0 }, { 2, 0, 0 }, { 2, 1, 0 }, { 0.5, 0.4, 0 } };
    shelf s = { .dimension = 2 };
    const cairn_geometry *polygon, *solid, *wall;
    CHECK_OK(cairn_hull_create(points, 3, 2, &polygon, NULL));
    CHECK_OK(cairn_polyline_create(points, 4, true, &solid, NULL));
    CHECK_OK(cairn_polyline_create(points, 4, false, &wall, NULL));
    add(&s, CAIRN_SHAPE_POLYHEDRON, polygon);
    add(&s, CAIRN_SHAPE_POLYLINE, solid);
    add(&s, CAIRN_SHAPE_POLYLINE, wall);
    return s;
}

static cairn_writer write_all(shelf *s)
{
    cairn_writer w = { 0 };
    const cairn_shape_list list = list_of(s);
    cairn_shapes_write(&w, &list);
    CHECK(!w.failed);
    return w;
}

static cairn_status read_all(const cairn_writer *w, size_t bytes, const shelf *like, shelf *out)
{
    cairn_arena arena = { 0 };
    cairn_reader r = { .data = w->data, .size = bytes, .arena = &arena };
    *out = (shelf){ .count = like->count, .dimension = like->dimension };
    const cairn_shape_list list = list_of(out);
    cairn_status status = cairn_shapes_read(&r, &list, NULL);
    CHECK(status != CAIRN_OK || r.at == bytes);
    cairn_arena_destroy(&arena);
    return status;
}

#define SAME(a, b, count) CHECK((count) == 0 || memcmp(a, b, (size_t)(count) * sizeof *(a)) == 0)

static void check_same_data(const cairn_geometry *g, const cairn_geometry *h)
{
    const cairn_geometry_view *v = &g->view, *w = &h->view;
    CHECK_INT(h->kind, g->kind);
    CHECK_INT(w->dimension, v->dimension);
    CHECK_INT(w->vertex_count, v->vertex_count);
    CHECK_INT(w->face_count, v->face_count);
    CHECK_INT(w->edge_count, v->edge_count);
    CHECK_INT(w->part_count, v->part_count);
    CHECK_INT(w->closed, v->closed);
    int corners = v->face_count ? v->face_first[v->face_count] : 0;
    SAME(v->vertices, w->vertices, v->vertex_count);
    SAME(v->face_first, w->face_first, v->face_count ? v->face_count + 1 : 0);
    SAME(v->face_vertex, w->face_vertex, corners);
    SAME(v->face_normal, w->face_normal, v->face_count);
    SAME(v->edge, w->edge, 4 * v->edge_count);
    SAME(g->neighbour, h->neighbour, g->neighbour ? corners : 0);
    SAME(g->patch, h->patch, g->patch ? v->face_count : 0);
    SAME(&g->moments, &h->moments, 1);
    CHECK(g->extent == h->extent);
    CHECK_INT(h->tree.leaf_count, g->tree.leaf_count);
    SAME(g->tree.items, h->tree.items, g->tree.item_count);
    for (int i = 0; i < v->part_count; i++)
        SAME(&v->parts[i].pose, &w->parts[i].pose, 1);
}

static void check_round_trip(shelf s)
{
    shelf back;
    cairn_writer w = write_all(&s);
    CHECK_OK(read_all(&w, w.size, &s, &back));
    for (int i = 0; i < s.count; i++) {
        CHECK_INT(back.shapes[i].kind, s.shapes[i].kind);
        CHECK(back.shapes[i].rounding == s.shapes[i].rounding);
        CHECK((back.shapes[i].geometry == NULL) == (s.shapes[i].geometry == NULL));
        if (s.shapes[i].geometry)
            check_same_data(s.shapes[i].geometry, back.shapes[i].geometry);
    }
    cairn_writer again = write_all(&back);
    CHECK_INT(again.size, w.size);
    CHECK(memcmp(again.data, w.data, w.size) == 0);
    cairn_writer_destroy(&again);
    cairn_writer_destroy(&w);
    clear(&s);
    clear(&back);
}

TEST(every_kind_of_data_comes_back_to_the_last_bit)
{
    check_round_trip(fill_3d());
    check_round_trip(fill_2d());
}

TEST(data_that_are_shared_stay_shared)
{
    shelf s = fill_3d(), back;
    cairn_writer w = write_all(&s);
    CHECK_OK(read_all(&w, w.size, &s, &back));
    CHECK(back.shapes[0].geometry == back.shapes[5].geometry);
    const cairn_part *parts = back.shapes[4].geometry->view.parts;
    CHECK(parts[0].shape.geometry == parts[1].shape.geometry);
    CHECK_INT(atomic_load(&((cairn_geometry *)back.shapes[0].geometry)->holders), 2);
    cairn_writer_destroy(&w);
    clear(&s);
    clear(&back);
}

/* Cut anywhere, or with any byte changed: refused, or something else, never a crash. */
TEST(damaged_bytes_do_no_harm)
{
    shelf s = fill_3d(), back;
    cairn_writer w = write_all(&s);
    for (size_t bytes = 0; bytes < w.size; bytes += 13) {
        CHECK_INT(read_all(&w, bytes, &s, &back), CAIRN_BAD_INPUT);
        clear(&back);
    }
    for (size_t at = 0; at < w.size; at++) {
        cairn_arena arena = { 0 };
        cairn_reader r = { .data = w.data, .size = w.size, .arena = &arena };
        back = (shelf){ .count = s.count, .dimension = s.dimension };
        const cairn_shape_list list = list_of(&back);
        w.data[at] ^= 0x81;
        cairn_shapes_read(&r, &list, NULL);
        w.data[at] ^= 0x81;
        cairn_arena_destroy(&arena);
        clear(&back);
    }
    cairn_writer_destroy(&w);
    clear(&s);
}

TEST(without_memory_nothing_leaks)
{
    shelf s = fill_3d(), back;
    cairn_writer w = write_all(&s);
    cairn_status status = CAIRN_NO_MEMORY;
    for (long n = 1; status != CAIRN_OK; n++) {
        meter m = { .fail_at = n };
        meter_install(&m);
        status = read_all(&w, w.size, &s, &back);
        clear(&back);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
        CHECK(n < 1000);
    }
    cairn_writer_destroy(&w);
    clear(&s);
}

int main(void)
{
    RUN(CASE(every_kind_of_data_comes_back_to_the_last_bit), CASE(data_that_are_shared_stay_shared),
        CASE(damaged_bytes_do_no_harm), CASE(without_memory_nothing_leaks));
}
