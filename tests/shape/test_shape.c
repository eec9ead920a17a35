/* test_shape.c - what all shapes have in common: records, mass, bytes, boxes around them,
 * drawings. */
#include "math/vec.h"
#include "shape/geometry.h"
#include "shape/shape.h"
#include "tests/check.h"
#include "tests/shape/solids.h"

/* ==== test_shape: all shape kinds: tables, defaults, refusals, mass, extent =================== */

/* Whether a kind exists in a dimension and needs no data. */
static bool plain(int kind, int dimension)
{
    int only = cairn_shape_dimension((cairn_shape_kind)kind);
    cairn_shape shape = { .kind = (cairn_shape_kind)kind };
    return (only == 0 || only == dimension) && !cairn_shape_class_of(&shape)->has_geometry;
}

/* A good shape of each kind. */
static cairn_shape good(cairn_shape_kind kind, int dimension)
{
    cairn_shape shape = cairn_shape_default(kind, dimension);
    shape.size = shape.semi_axes = cairn_vec(0.5, 0.6, dimension == 3 ? 0.7 : 0);
    shape.length = 0.3;
    shape.exponent = 3;
    shape.radius = 0.5;
    shape.half_angle = 0.6;
    shape.bottom_radius = 0.1;
    shape.top_radius = 0.4;
    shape.height = 0.7;
    return shape;
}

static void check_refused(const cairn_shape *shape, int dimension, cairn_status status,
                          const char *key)
{
    cairn_error error = { 0 };
    CHECK_INT(cairn_shape_check(shape, dimension, &error), status);
    CHECK_TEXT(error.key, key);
    CHECK(strlen(error.message) > 0);
}

TEST(the_kinds_have_these_names_and_a_summary)
{
    static const char *const names[] = { "sphere",          "point",        "half_space",
                                         "inside_cylinder", "inside_cone",  "funnel",
                                         "inside_box",      "box",          "capsule",
                                         "cylinder",        "cone",         "ellipsoid",
                                         "superellipsoid",  "polyhedron",   "mesh",
                                         "polyline",        "height_field", "compound" };
    CHECK_INT(CAIRN_SHAPE_COUNT, sizeof names / sizeof names[0]);
    for (int kind = 0; kind < CAIRN_SHAPE_COUNT; kind++) {
        const cairn_record *record = cairn_shape_record(kind);
        CHECK_TEXT(record->name, names[kind]);
        CHECK(strlen(record->summary) > 0);
        CHECK_INT(record->size, sizeof(cairn_shape));
        cairn_shape shape = { .radius = 9 };
        record->set_default(&shape);
        CHECK_NEAR(shape.radius, 0, 0);
        CHECK_NEAR(shape.axis.z, 1, 0);
    }
    CHECK(cairn_shape_record(CAIRN_SHAPE_COUNT) == NULL);
    CHECK(cairn_shape_record(-1) == NULL);
}

TEST(sizes_must_be_given_and_axes_need_not)
{
    static const char *const free[] = { "axis", "rounding", "exponent_z" };
    for (int kind = 0; kind < CAIRN_SHAPE_COUNT; kind++) {
        const cairn_record *record = cairn_shape_record(kind);
        for (int i = 0; i < record->option_count; i++) {
            bool may_miss = false;
            for (int k = 0; k < 3; k++)
                may_miss = may_miss || strcmp(record->options[i].name, free[k]) == 0;
            CHECK_INT(record->options[i].required, !may_miss);
        }
    }
}

TEST(axes_point_up_but_a_circle_has_its_axis_across_the_plane)
{
    for (int kind = 0; kind < CAIRN_SHAPE_COUNT; kind++) {
        cairn_shape in_space = cairn_shape_default((cairn_shape_kind)kind, 3);
        cairn_shape in_plane = cairn_shape_default((cairn_shape_kind)kind, 2);
        CHECK_INT(in_space.kind, kind);
        CHECK_NEAR(in_space.axis.z, 1, 0);
        CHECK_NEAR(in_plane.axis.y, kind == CAIRN_SHAPE_INSIDE_CYLINDER ? 0 : 1, 0);
        CHECK_NEAR(in_plane.axis.z, kind == CAIRN_SHAPE_INSIDE_CYLINDER ? 1 : 0, 0);
    }
}

TEST(good_shapes_pass_in_2d_and_3d)
{
    cairn_error error = { 0 };
    for (int kind = 0; kind < CAIRN_SHAPE_COUNT; kind++)
        for (int dimension = 2; dimension <= 3; dimension++) {
            if (!plain(kind, dimension))
                continue;
            cairn_shape shape = good((cairn_shape_kind)kind, dimension);
            CHECK_OK(cairn_shape_check(&shape, dimension, &error));
            CHECK_TEXT(error.message, "");
        }
}

TEST(sizes_out_of_range_are_refused_with_their_key)
{
    cairn_shape shape = good(CAIRN_SHAPE_SPHERE, 3);
    shape.radius = 0;
    check_refused(&shape, 3, CAIRN_BAD_INPUT, "radius");
    shape.radius = NAN;
    check_refused(&shape, 3, CAIRN_NOT_FINITE, "radius");
    shape = good(CAIRN_SHAPE_INSIDE_CYLINDER, 3);
    shape.radius = -1;
    check_refused(&shape, 3, CAIRN_BAD_INPUT, "radius");
    shape = good(CAIRN_SHAPE_INSIDE_CONE, 3);
    shape.half_angle = 0;
    check_refused(&shape, 3, CAIRN_BAD_INPUT, "half_angle");
    shape.half_angle = M_PI / 2;
    check_refused(&shape, 3, CAIRN_BAD_INPUT, "half_angle");
    shape = good(CAIRN_SHAPE_FUNNEL, 3);
    shape.bottom_radius = -0.1;
    check_refused(&shape, 3, CAIRN_BAD_INPUT, "bottom_radius");
    shape = good(CAIRN_SHAPE_FUNNEL, 3);
    shape.height = 0;
    check_refused(&shape, 3, CAIRN_BAD_INPUT, "height");
}

TEST(a_funnel_may_be_a_tube_or_end_in_a_tip_but_not_be_a_line)
{
    cairn_shape shape = good(CAIRN_SHAPE_FUNNEL, 3);
    shape.top_radius = shape.bottom_radius;
    CHECK_OK(cairn_shape_check(&shape, 3, NULL));
    shape.bottom_radius = 0;
    CHECK_OK(cairn_shape_check(&shape, 3, NULL));
    shape.top_radius = 0;
    check_refused(&shape, 3, CAIRN_BAD_INPUT, "top_radius");
}

TEST(an_axis_needs_a_direction_that_lies_in_the_plane_in_2d)
{
    for (int kind = CAIRN_SHAPE_HALF_SPACE; kind < CAIRN_SHAPE_COUNT; kind++) {
        cairn_shape shape = good((cairn_shape_kind)kind, 3);
        if (!cairn_shape_class_of(&shape)->has_axis || !plain(kind, 2))
            continue;
        shape.axis = cairn_vec(0, 0, 0);
        check_refused(&shape, 3, CAIRN_BAD_INPUT, "axis");
        shape.axis = cairn_vec(0, NAN, 0);
        check_refused(&shape, 3, CAIRN_NOT_FINITE, "axis");
        shape.axis = cairn_vec(0, 1, 1);
        CHECK_OK(cairn_shape_check(&shape, 3, NULL));
        check_refused(&shape, 2, CAIRN_BAD_INPUT, "axis");
    }
}

TEST(a_kind_that_does_not_exist_is_refused)
{
    cairn_shape shape = { .kind = CAIRN_SHAPE_COUNT };
    check_refused(&shape, 3, CAIRN_BAD_INPUT, "shape");
    shape.kind = (cairn_shape_kind)-1;
    check_refused(&shape, 3, CAIRN_BAD_INPUT, "shape");
}

/* r = 0.5 m, 1000 kg/m^3: m = 4/3 pi 0.125 1000 = 523.6 kg, J = 0.4 m 0.25 = 52.36 kg m^2 */
TEST(mass_of_a_ball)
{
    cairn_shape shape = good(CAIRN_SHAPE_SPHERE, 3);
    cairn_vec3 inertia;
    double mass;
    CHECK_OK(cairn_shape_mass(&shape, 3, 1000, &mass, &inertia));
    CHECK_CLOSE(mass, 500 * M_PI / 3, 1e-14);
    CHECK_CLOSE(inertia.x, 50 * M_PI / 3, 1e-14);
    CHECK_CLOSE(inertia.y, 50 * M_PI / 3, 1e-14);
    CHECK_CLOSE(inertia.z, 50 * M_PI / 3, 1e-14);
}

/* r = 0.5 m, 8 kg/m^2: m = pi 0.25 8 = 2 pi kg, J = m r^2/2 = pi/4 kg m^2 about z */
TEST(mass_of_a_disk)
{
    cairn_shape shape = good(CAIRN_SHAPE_SPHERE, 2);
    cairn_vec3 inertia;
    double mass;
    CHECK_OK(cairn_shape_mass(&shape, 2, 8, &mass, &inertia));
    CHECK_CLOSE(mass, 2 * M_PI, 1e-14);
    CHECK_CLOSE(inertia.z, M_PI / 4, 1e-14);
    CHECK_NEAR(inertia.x, 0, 0);
    CHECK_NEAR(inertia.y, 0, 0);
}

TEST(points_and_walls_have_no_mass_of_their_own)
{
    for (int kind = CAIRN_SHAPE_POINT; kind <= CAIRN_SHAPE_INSIDE_BOX; kind++) {
        cairn_shape shape = good((cairn_shape_kind)kind, 3);
        cairn_vec3 inertia = { 1, 1, 1 };
        double mass = 1;
        CHECK_INT(cairn_shape_mass(&shape, 3, 1000, &mass, &inertia), CAIRN_UNSUPPORTED);
        CHECK_NEAR(mass, 0, 0);
        CHECK_NEAR(cairn_norm(inertia), 0, 0);
    }
}

TEST(only_solids_are_bounded)
{
    for (int kind = 0; kind < CAIRN_SHAPE_COUNT; kind++) {
        if (!plain(kind, 3))
            continue;
        cairn_shape shape = good((cairn_shape_kind)kind, 3);
        double extent = cairn_shape_extent(&shape);
        bool wall = kind >= CAIRN_SHAPE_HALF_SPACE && kind <= CAIRN_SHAPE_INSIDE_BOX;
        CHECK_INT(isinf(extent), wall);
        CHECK_INT(cairn_shape_bounded(&shape), !wall);
        if (kind == CAIRN_SHAPE_SPHERE)
            CHECK_NEAR(extent, 0.5, 0);
        if (kind == CAIRN_SHAPE_POINT)
            CHECK_NEAR(extent, 0, 0);
    }
}

/* a sphere is a point that a ball sweeps */
TEST(the_core_of_a_ball_is_its_centre)
{
    cairn_shape shape = good(CAIRN_SHAPE_SPHERE, 3);
    const cairn_shape_class *class = cairn_shape_class_of(&shape);
    cairn_face face;
    cairn_symmetric h;
    CHECK_NEAR(cairn_norm(cairn_shape_support(&shape, cairn_vec(1, 2, 3))), 0, 0);
    CHECK_NEAR(cairn_shape_rounding(&shape), 0.5, 0);
    cairn_shape_face(&shape, cairn_vec(0, 3, 0), &face);
    CHECK_INT(face.count, 1);
    CHECK_NEAR(face.normal.y, 1, 0);
    CHECK(class->smooth);
    class->curvature(&shape, cairn_vec(0, 3, 0), &h);
    CHECK_NEAR(h.xx, 0, 0);
    CHECK_NEAR(class->normal_at(&shape, cairn_vec(0, 0, 0.2)).z, 1, 0);
}

TEST(a_shape_without_its_data_is_refused)
{
    for (int kind = 0; kind < CAIRN_SHAPE_COUNT; kind++) {
        cairn_shape shape = good((cairn_shape_kind)kind, 3);
        bool flat = cairn_shape_dimension((cairn_shape_kind)kind) == 2;
        if (cairn_shape_class_of(&shape)->has_geometry)
            check_refused(&shape, flat ? 2 : 3, CAIRN_BAD_INPUT, "geometry");
    }
}

TEST(the_data_of_another_kind_or_dimension_are_refused)
{
    const cairn_vec3 corners[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 } };
    cairn_shape shape = good(CAIRN_SHAPE_POLYHEDRON, 2);
    CHECK_OK(cairn_hull_create(corners, 3, 2, &shape.geometry, NULL));
    CHECK_OK(cairn_shape_check(&shape, 2, NULL));
    check_refused(&shape, 3, CAIRN_BAD_INPUT, "geometry");
    shape.kind = CAIRN_SHAPE_POLYLINE;
    check_refused(&shape, 2, CAIRN_BAD_INPUT, "geometry");
    cairn_geometry_release(shape.geometry);
}

GROUP(test_shape)
{
    RUN(CASE(the_kinds_have_these_names_and_a_summary), CASE(sizes_must_be_given_and_axes_need_not),
        CASE(axes_point_up_but_a_circle_has_its_axis_across_the_plane),
        CASE(good_shapes_pass_in_2d_and_3d), CASE(sizes_out_of_range_are_refused_with_their_key),
        CASE(a_funnel_may_be_a_tube_or_end_in_a_tip_but_not_be_a_line),
        CASE(an_axis_needs_a_direction_that_lies_in_the_plane_in_2d),
        CASE(a_kind_that_does_not_exist_is_refused), CASE(mass_of_a_ball), CASE(mass_of_a_disk),
        CASE(points_and_walls_have_no_mass_of_their_own), CASE(only_solids_are_bounded),
        CASE(the_core_of_a_ball_is_its_centre), CASE(a_shape_without_its_data_is_refused),
        CASE(the_data_of_another_kind_or_dimension_are_refused));
}

/* ==== test_shape_bytes: shapes with their data to bytes and back ============================== */

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

GROUP(test_shape_bytes)
{
    RUN(CASE(every_kind_of_data_comes_back_to_the_last_bit), CASE(data_that_are_shared_stay_shared),
        CASE(damaged_bytes_do_no_harm), CASE(without_memory_nothing_leaks));
}

/* ==== test_bounds: boxes along the axes of space about placed shapes ========================== */

static const cairn_pose nowhere = { { 0, 0, 0 }, { 1, 0, 0, 0 } };

static void check_box(cairn_box box, cairn_vec3 centre, cairn_vec3 half)
{
    CHECK_NEAR(cairn_norm(cairn_sub(box.centre, centre)), 0, 1e-12);
    CHECK_NEAR(cairn_norm(cairn_sub(box.half, half)), 0, 1e-12);
}

TEST(a_ball_has_its_radius_all_round)
{
    cairn_shape ball = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    cairn_pose pose = { { 1, 2, 3 }, cairn_quat_exp(cairn_vec(1, 2, 0.5)) };
    ball.radius = 0.5;
    check_box(cairn_shape_box(&ball, &pose), pose.x, cairn_vec(0.5, 0.5, 0.5));
}

/* 2 x 4 x 6 turned by 45 degrees about z: half lengths (1 + 2)/sqrt(2), the same, 3 */
TEST(a_turned_box_has_the_smallest_box_about_it)
{
    cairn_shape box = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    cairn_pose pose = { { 0, 0, 1 }, cairn_quat_exp(cairn_vec(0, 0, M_PI / 4)) };
    box.size = cairn_vec(2, 4, 6);
    check_box(cairn_shape_box(&box, &pose), pose.x, cairn_vec(3 / sqrt(2), 3 / sqrt(2), 3));
}

/* a capsule of radius 0.1 and straight part 2 along the diagonal of the x-y plane */
TEST(rounding_is_the_same_on_all_axes)
{
    cairn_shape capsule = cairn_shape_default(CAIRN_SHAPE_CAPSULE, 3);
    capsule.radius = 0.1;
    capsule.length = 2;
    capsule.axis = cairn_vec(1, 1, 0);
    double along = 1 / sqrt(2) + 0.1;
    check_box(cairn_shape_box(&capsule, &nowhere), nowhere.x, cairn_vec(along, along, 0.1));
}

/* origin in the centre of mass: apex 3 above, base 1 below */
TEST(the_box_of_a_cone_is_not_centred_about_its_origin)
{
    cairn_shape cone = cairn_shape_default(CAIRN_SHAPE_CONE, 3);
    cone.radius = 1;
    cone.height = 4;
    check_box(cairn_shape_box(&cone, &nowhere), cairn_vec(0, 0, 1), cairn_vec(1, 1, 2));
}

/* two balls of radius 1 at x = -2 and 2, turned by 90 degrees: along y */
TEST(a_compound_has_the_turned_box_of_its_parts)
{
    cairn_part parts[2] = { 0 };
    cairn_shape compound = cairn_shape_default(CAIRN_SHAPE_COMPOUND, 3);
    for (int k = 0; k < 2; k++) {
        parts[k].shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
        parts[k].shape.radius = 1;
        parts[k].pose = (cairn_pose){ { k ? 2 : -2, 0, 0 }, { 1, 0, 0, 0 } };
    }
    CHECK_OK(cairn_compound_create(parts, 2, 3, &compound.geometry, NULL));
    cairn_pose pose = { { 0, 0, 5 }, cairn_quat_exp(cairn_vec(0, 0, M_PI / 2)) };
    check_box(cairn_shape_box(&compound, &pose), pose.x, cairn_vec(1, 3, 1));
    cairn_geometry_release(compound.geometry);
}

/* every corner of a box in space lies in its image in the inner frame */
TEST(a_box_seen_from_a_turned_frame_holds_its_corners)
{
    const cairn_box box = { { 1, -2, 3 }, { 0.5, 1, 2 } };
    const cairn_pose pose = { { 4, 5, 6 }, cairn_quat_exp(cairn_vec(0.3, -0.7, 1.1)) };
    cairn_bounds inside = cairn_box_inside(&box, &pose);
    for (int k = 0; k < 8; k++) {
        cairn_vec3 share = { k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1 };
        cairn_vec3 corner = cairn_add(box.centre, cairn_times(share, box.half));
        cairn_vec3 p = cairn_rotate_back(pose.q, cairn_sub(corner, pose.x));
        const cairn_vec3 slack = { 1e-12, 1e-12, 1e-12 };
        const cairn_bounds point = { cairn_sub(p, slack), cairn_add(p, slack) };
        CHECK(cairn_bounds_meet(&inside, &point));
    }
}

GROUP(test_bounds)
{
    RUN(CASE(a_ball_has_its_radius_all_round), CASE(a_turned_box_has_the_smallest_box_about_it),
        CASE(rounding_is_the_same_on_all_axes),
        CASE(the_box_of_a_cone_is_not_centred_about_its_origin),
        CASE(a_compound_has_the_turned_box_of_its_parts),
        CASE(a_box_seen_from_a_turned_frame_holds_its_corners));
}

/* ==== test_draw: polygons of shapes: their corners lie on the surface and they enclose the
 * volume */

static const cairn_pose aside = { { 1, 2, 3 }, { 1, 0, 0, 0 } };

/* What the polygons enclose: volume by the divergence theorem, 2D: area. */
typedef struct sum {
    int polygons, lines;
    double volume, farthest;
} sum;

static cairn_status add_3d(void *context, const cairn_vec3 *corners, int count, bool closed)
{
    sum *s = context;
    s->polygons += closed;
    s->lines += !closed;
    for (int k = 0; k < count; k++)
        s->farthest = fmax(s->farthest, cairn_norm(cairn_sub(corners[k], aside.x)));
    for (int k = 1; k + 1 < count; k++)
        s->volume += cairn_dot(corners[0], cairn_cross(corners[k], corners[k + 1])) / 6;
    return CAIRN_OK;
}

static cairn_status add_2d(void *context, const cairn_vec3 *corners, int count, bool closed)
{
    sum *s = context;
    s->polygons += closed;
    s->lines += !closed;
    for (int k = 0; k < count; k++)
        s->volume += 0.5 * cairn_cross(corners[k], corners[(k + 1) % count]).z;
    return CAIRN_OK;
}

static sum draw(const cairn_shape *shape, int dimension)
{
    sum s = { 0 };
    CHECK_OK(cairn_shape_draw(shape, dimension, &aside, dimension == 2 ? add_2d : add_3d, &s));
    return s;
}

TEST(a_box_has_six_faces)
{
    cairn_shape box = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    box.size = cairn_vec(1, 2, 3);
    sum s = draw(&box, 3);
    CHECK_INT(s.polygons, 6);
    CHECK_NEAR(s.volume, 6, 1e-12);
    CHECK_NEAR(s.farthest, sqrt(14) / 2, 1e-12);
}

/* inscribed: a little less than the true volume, and outside in */
TEST(round_shapes_are_drawn_from_inside)
{
    cairn_shape shapes[5];
    for (int k = 0; k < 5; k++)
        shapes[k] = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    shapes[0].radius = 1;
    shapes[1] = cairn_shape_default(CAIRN_SHAPE_ELLIPSOID, 3);
    shapes[1].semi_axes = cairn_vec(1, 2, 3);
    shapes[2] = cairn_shape_default(CAIRN_SHAPE_CYLINDER, 3);
    shapes[2].radius = 1;
    shapes[2].height = 2;
    shapes[2].axis = cairn_vec(1, 0, 1);
    shapes[3] = cairn_shape_default(CAIRN_SHAPE_CAPSULE, 3);
    shapes[3].radius = 0.5;
    shapes[3].length = 2;
    shapes[4] = cairn_shape_default(CAIRN_SHAPE_CONE, 3);
    shapes[4].radius = 1;
    shapes[4].height = 3;
    for (int k = 0; k < 5; k++) {
        cairn_mass mass;
        CHECK_OK(cairn_shape_mass_tensor(&shapes[k], 3, &mass));
        sum s = draw(&shapes[k], 3);
        CHECK(s.volume < mass.mass && s.volume > 0.95 * mass.mass);
        CHECK(s.farthest <= cairn_shape_extent(&shapes[k]) * (1 + 1e-12));
    }
}

TEST(a_compound_draws_its_parts)
{
    cairn_part parts[2] = { 0 };
    cairn_shape both = cairn_shape_default(CAIRN_SHAPE_COMPOUND, 3);
    for (int k = 0; k < 2; k++) {
        parts[k].shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
        parts[k].shape.size = cairn_vec(1, 1, 1);
        parts[k].pose = (cairn_pose){ { 2 * k, 0, 0 }, { 1, 0, 0, 0 } };
    }
    CHECK_OK(cairn_compound_create(parts, 2, 3, &both.geometry, NULL));
    sum s = draw(&both, 3);
    CHECK_INT(s.polygons, 12);
    CHECK_NEAR(s.volume, 2, 1e-12);
    cairn_geometry_release(both.geometry);
}

TEST(in_the_plane_a_shape_is_its_outline)
{
    cairn_shape box = cairn_shape_default(CAIRN_SHAPE_BOX, 2);
    cairn_shape ellipse = cairn_shape_default(CAIRN_SHAPE_ELLIPSOID, 2);
    cairn_shape triangle = cairn_shape_default(CAIRN_SHAPE_POLYHEDRON, 2);
    const cairn_vec3 points[3] = { { 0, 0, 0 }, { 2, 0, 0 }, { 0, 2, 0 } };
    CHECK_OK(cairn_hull_create(points, 3, 2, &triangle.geometry, NULL));
    box.size = cairn_vec(2, 3, 0);
    ellipse.semi_axes = cairn_vec(2, 1, 0);
    CHECK_NEAR(draw(&box, 2).volume, 6, 1e-12);
    CHECK_NEAR(draw(&triangle, 2).volume, 2, 1e-12);
    CHECK_CLOSE(draw(&ellipse, 2).volume, 2 * M_PI, 0.02);
    CHECK_INT(draw(&ellipse, 2).polygons, 1);
    cairn_geometry_release(triangle.geometry);
}

TEST(a_polyline_is_drawn_as_lines_a_point_not_at_all)
{
    const cairn_vec3 points[3] = { { 0, 0, 0 }, { 2, 0, 0 }, { 0, 2, 0 } };
    cairn_shape chain = cairn_shape_default(CAIRN_SHAPE_POLYLINE, 2);
    cairn_shape point = cairn_shape_default(CAIRN_SHAPE_POINT, 2);
    CHECK_OK(cairn_polyline_create(points, 3, false, &chain.geometry, NULL));
    CHECK_INT(draw(&chain, 2).lines, 2);
    CHECK_INT(draw(&point, 2).polygons, 0);
    cairn_geometry_release(chain.geometry);
}

TEST(what_has_no_end_cannot_be_drawn)
{
    cairn_shape wall = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    sum s = { 0 };
    CHECK_INT(cairn_shape_draw(&wall, 3, &aside, add_3d, &s), CAIRN_UNSUPPORTED);
}

GROUP(test_draw)
{
    RUN(CASE(a_box_has_six_faces), CASE(round_shapes_are_drawn_from_inside),
        CASE(a_compound_draws_its_parts), CASE(in_the_plane_a_shape_is_its_outline),
        CASE(a_polyline_is_drawn_as_lines_a_point_not_at_all),
        CASE(what_has_no_end_cannot_be_drawn));
}
