/* random_meetings.h - a body and a wall at random poses, and their contacts as a world has them:
 * pieces, narrow phase, merged. For the random tests of containers and of faces, which compare them
 * with brute_force.h. CAIRN_RANDOM_POSES sets how many poses of each pair of kinds are tried. */
#ifndef CAIRN_TESTS_RANDOM_MEETINGS_H
#define CAIRN_TESTS_RANDOM_MEETINGS_H

#include <stdlib.h>

#include "brute_force.h"
#include "check.h"
#include "random_shapes.h"
#include "world/touch.h"

enum { MEETING_CONTACTS = 2048 };

/* A contact, body first: `on_a` is on the body, the normal from the wall to the body. */
typedef struct meeting {
    int dimension;
    cairn_shape body, wall;
    cairn_world *world; /* lends its arena to the merging                        */
    cairn_collider a, b;
    double margin; /* m: contacts with larger gaps are not asked for             */
    double size;   /* m: of the body                                             */
    brute_body *brute;
    cairn_witness contact[MEETING_CONTACTS];
    int count;
    bool resolved; /* false: the distance was not found                          */
} meeting;

static inline int poses_of_a_pair(int usual)
{
    const char *text = getenv("CAIRN_RANDOM_POSES");
    return text ? atoi(text) : usual;
}

/* ---- shapes with geometry ------------------------------------------------------------------- */

/* A closed surface about the origin: an octahedron, its triangles split in four, corners at random
 * distances between `low` and `high`. */
static inline const cairn_geometry *draw_star(uint64_t *state, double low, double high)
{
    static const cairn_vec3 tips[6] = { { 1, 0, 0 },  { 0, 1, 0 },  { 0, 0, 1 },
                                        { -1, 0, 0 }, { 0, -1, 0 }, { 0, 0, -1 } };
    /* 0-5 tips, then the middles of the 12 edges between tips i and j that are not opposite */
    cairn_vec3 v[18];
    int middle[6][6], count = 6;
    int32_t triangles[32 * 3];
    for (int i = 0; i < 6; i++)
        v[i] = tips[i];
    for (int i = 0; i < 6; i++)
        for (int j = i + 1; j < 6; j++)
            if (j != i + 3) {
                middle[i][j] = middle[j][i] = count;
                v[count++] = cairn_unit(cairn_add(tips[i], tips[j]));
            }
    int corners = 0;
    for (int k = 0; k < 8; k++) {
        int x = k & 1 ? 3 : 0, y = k & 2 ? 4 : 1, z = k & 4 ? 5 : 2;
        bool turned = ((k & 1) + (k >> 1 & 1) + (k >> 2 & 1)) % 2;
        const int t[3] = { x, turned ? z : y, turned ? y : z };
        const int m[3] = { middle[t[0]][t[1]], middle[t[1]][t[2]], middle[t[2]][t[0]] };
        const int four[12] = { t[0], m[0], m[2], t[1], m[1], m[0],
                               t[2], m[2], m[1], m[0], m[1], m[2] };
        for (int i = 0; i < 12; i++)
            triangles[corners++] = four[i];
    }
    for (int i = 0; i < count; i++)
        v[i] = cairn_scale(draw(state, low, high), v[i]);
    const cairn_mesh_def def = { v, count, triangles, corners / 3 };
    const cairn_geometry *mesh = NULL;
    CHECK_OK(cairn_mesh_create(&def, &mesh, NULL));
    return mesh;
}

/* A polygon about the origin of nine corners; `sense` -1: clockwise, a container. */
static inline const cairn_geometry *draw_ring(uint64_t *state, double low, double high, int sense)
{
    cairn_vec3 v[9];
    for (int k = 0; k < 9; k++) {
        double angle = sense * (k + draw(state, -0.3, 0.3)) * 2 * M_PI / 9;
        v[k] = cairn_scale(draw(state, low, high), cairn_vec(cos(angle), sin(angle), 0));
    }
    const cairn_geometry *line = NULL;
    CHECK_OK(cairn_polyline_create(v, 9, true, &line, NULL));
    return line;
}

/* Three convex parts of any kind. */
static inline const cairn_geometry *draw_compound(uint64_t *state, int dimension)
{
    cairn_part parts[3] = { 0 };
    const cairn_geometry *compound = NULL;
    for (int k = 0; k < 3; k++) {
        cairn_shape_kind kind = dimension == 2
                                    ? convex_kinds_2d[cairn_random_next(state) % KINDS_2D]
                                    : convex_kinds_3d[cairn_random_next(state) % KINDS_3D];
        parts[k].shape = draw_shape(kind, dimension, state);
        parts[k].pose.x = cairn_scale(0.7, draw_unit(state, dimension));
        parts[k].pose.q = draw_turn(state, dimension);
    }
    CHECK_OK(cairn_compound_create(parts, 3, dimension, &compound, NULL));
    for (int k = 0; k < 3; k++)
        cairn_geometry_release(parts[k].shape.geometry);
    return compound;
}

/* A bounded body of any kind. */
static inline cairn_shape draw_body(cairn_shape_kind kind, int dimension, uint64_t *state)
{
    cairn_shape s = draw_shape(kind, dimension, state);
    if (kind == CAIRN_SHAPE_MESH)
        s.geometry = draw_star(state, 0.4, 0.9);
    if (kind == CAIRN_SHAPE_POLYLINE)
        s.geometry = draw_ring(state, 0.4, 0.9, 1);
    if (kind == CAIRN_SHAPE_COMPOUND)
        s.geometry = draw_compound(state, dimension);
    return s;
}

static const cairn_shape_kind body_kinds_3d[] = {
    CAIRN_SHAPE_SPHERE,     CAIRN_SHAPE_POINT, CAIRN_SHAPE_BOX,       CAIRN_SHAPE_CAPSULE,
    CAIRN_SHAPE_CYLINDER,   CAIRN_SHAPE_CONE,  CAIRN_SHAPE_ELLIPSOID, CAIRN_SHAPE_SUPERELLIPSOID,
    CAIRN_SHAPE_POLYHEDRON, CAIRN_SHAPE_MESH,  CAIRN_SHAPE_COMPOUND,
};
static const cairn_shape_kind body_kinds_2d[] = {
    CAIRN_SHAPE_SPHERE,     CAIRN_SHAPE_POINT,     CAIRN_SHAPE_BOX,
    CAIRN_SHAPE_CAPSULE,    CAIRN_SHAPE_ELLIPSOID, CAIRN_SHAPE_SUPERELLIPSOID,
    CAIRN_SHAPE_POLYHEDRON, CAIRN_SHAPE_POLYLINE,  CAIRN_SHAPE_COMPOUND,
};

enum { BODIES_3D = 11, BODIES_2D = 9 };

/* ---- contacts ------------------------------------------------------------------------------- */

/* A world with both shapes, for their patches and for scratch. */
static inline void meeting_open(meeting *m)
{
    static brute_body brute;
    cairn_world_def def = cairn_world_def_default();
    cairn_material_def material = cairn_material_def_default();
    def.dimension = m->dimension;
    CHECK_OK(cairn_world_create(&def, &m->world));
    CHECK_OK(cairn_material_create(m->world, &material, NULL));
    const cairn_shape shapes[2] = { m->body, m->wall };
    for (int k = 0; k < 2; k++) {
        cairn_body_def body = cairn_body_def_default();
        body.motion = CAIRN_MOTION_FIXED;
        body.shape = shapes[k];
        CHECK_OK(cairn_body_create(m->world, &body, NULL));
    }
    m->brute = &brute;
    m->size = cairn_shape_extent(&m->body);
}

static inline void meeting_close(meeting *m)
{
    cairn_world_destroy(m->world);
}

static inline void meeting_add(meeting *m, const cairn_witness *w, bool swapped)
{
    CHECK(m->count < MEETING_CONTACTS);
    cairn_witness c = *w;
    if (swapped) {
        c.on_a = w->on_b;
        c.on_b = w->on_a;
        c.normal = cairn_scale(-1, w->normal);
    }
    m->contact[m->count++] = c;
}

/* The witnesses of all leaves, merged where one of the two has faces. */
static inline void meeting_gather(meeting *m, const cairn_leaf_list *list, size_t *first,
                                  int8_t *number, bool *swapped, cairn_witness *found)
{
    const cairn_pair pair = { 0, 1 };
    cairn_touches t = { .pairs = &pair,
                        .leaves = list->items,
                        .count = list->count,
                        .first = first,
                        .number = number,
                        .swapped = swapped,
                        .found = found };
    bool faces = false;
    for (size_t k = 0; k < list->count; k++)
        faces |= cairn_leaf_has_face(&list->items[k]);
    for (size_t k = 0; k < list->count && !faces; k++)
        for (int i = 0; i < number[k]; i++)
            meeting_add(m, &found[first[k] + (size_t)i], swapped[k]);
    if (!faces)
        return;
    cairn_touch *merged;
    size_t count;
    cairn_arena_reset(&m->world->scratch);
    CHECK_OK(cairn_touches_merge(m->world, &t, 0, list->count, &merged, &count));
    for (size_t k = 0; k < count; k++)
        meeting_add(m, merged[k].found, swapped[merged[k].leaf]);
}

/* Find the contacts of a at its pose with b, and make the brute-force body. */
static inline void meeting_find(meeting *m)
{
    enum { LEAVES = 4096 };
    static size_t first[LEAVES];
    static int8_t number[LEAVES];
    static bool swapped[LEAVES];
    static cairn_witness found[LEAVES * 4];
    static cairn_leaf_list list;
    m->a.shape = &m->body;
    m->b.shape = &m->wall;
    cairn_collider_place(&m->a, (cairn_pose){ m->a.x, m->a.q });
    cairn_collider_place(&m->b, (cairn_pose){ m->b.x, m->b.q });
    m->a.movable = true;
    m->a.reach = m->margin;
    m->count = 0;
    m->resolved = true;
    list.count = 0;
    brute_make(&m->a, m->dimension, m->brute);
    CHECK_OK(cairn_leaves_add(&m->a, &m->b, 0, &list));
    size_t total = 0;
    for (size_t k = 0; k < list.count; k++) {
        cairn_collider one, two;
        CHECK(k < LEAVES && total + CAIRN_WITNESSES <= LEAVES * 4);
        int count = cairn_witnesses_find(cairn_collider_piece(&m->a, list.items[k].first, &one),
                                         cairn_collider_piece(&m->b, list.items[k].second, &two),
                                         m->dimension, &swapped[k], found + total);
        m->resolved &= count >= 0;
        first[k] = total;
        number[k] = (int8_t)(count > 0 ? count : 0);
        total += (size_t)number[k];
    }
    meeting_gather(m, &list, first, number, swapped, found);
}

/* ---- verdicts ------------------------------------------------------------------------------- */

/* What was wrong with the poses of one pair of kinds. */
typedef struct verdicts {
    long poses, contacts, wrong;
} verdicts;

static inline const char *kind_name(const cairn_shape *s)
{
    return cairn_shape_record((int)s->kind)->name;
}

/* A fact about one pose: the first that does not hold is printed, all are counted. */
static inline bool meeting_fact(const meeting *m, verdicts *v, bool holds, const char *what,
                                double found, double expected)
{
    if (holds)
        return true;
    if (v->wrong++ < 3)
        print_message("%dD %s - %s, pose %ld: %s: found %.12g, expected %.12g\n", m->dimension,
                      kind_name(&m->body), kind_name(&m->wall), v->poses, what, found, expected);
    return false;
}

/* gap = (a - b).n = +-|a - b|, the normal is a unit vector, a is on the body. */
static inline bool meeting_points(const meeting *m, verdicts *v, double tolerance)
{
    tolerance += 1e-13; /* m: rounding of places some metres from the origin */
    bool good = meeting_fact(m, v, m->resolved, "the distance is found", 0, 1);
    for (int k = 0; k < m->count && good; k++) {
        const cairn_witness *w = &m->contact[k];
        cairn_vec3 apart = cairn_sub(w->on_a, w->on_b);
        double off = cairn_norm(cairn_add_scaled(apart, -w->gap, w->normal));
        good = meeting_fact(m, v, off <= 1e-12 * (m->size + cairn_norm(w->on_a)), "a - b - gap n",
                            off, 0) &&
               meeting_fact(m, v, fabs(cairn_norm(w->normal) - 1) <= 1e-12, "length of the normal",
                            cairn_norm(w->normal), 1) &&
               meeting_fact(m, v, w->gap <= m->margin * (1 + 1e-12), "gap within the margin",
                            w->gap, m->margin);
        if (good) {
            off = brute_off_surface(m->brute, w->on_a);
            good = meeting_fact(m, v, off <= tolerance, "a is off the body", off, 0);
        }
    }
    v->contacts += m->count;
    return good;
}

#endif
