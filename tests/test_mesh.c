/* test_mesh.c - surfaces of triangles: mass, openness, refusals. */
#include "failing_allocator.h"
#include "solids.h"

/* Corners by bits; 12 triangles, counterclockwise from outside. */
static const int32_t cube_triangles[36] = { 1, 3, 7, 1, 7, 5, 0, 4, 6, 0, 6, 2, 2, 6, 7, 2, 7, 3,
                                            0, 1, 5, 0, 5, 4, 4, 5, 7, 4, 7, 6, 0, 2, 3, 0, 3, 1 };

static void cube_vertices(cairn_vec3 size, cairn_vec3 out[8])
{
    for (int i = 0; i < 8; i++)
        out[i] = cairn_vec(i & 1 ? size.x : 0, i & 2 ? size.y : 0, i & 4 ? size.z : 0);
}

static void check_refused(const cairn_mesh_def *def, cairn_status status, const char *piece)
{
    const cairn_geometry *g = NULL;
    cairn_error error = { 0 };
    CHECK_INT(cairn_mesh_create(def, &g, &error), status);
    CHECK(g == NULL);
    CHECK_CONTAINS(error.message, piece);
}

/* 2 x 3 x 4 m with a corner at the origin */
TEST(a_meshed_box_has_the_mass_of_the_box)
{
    cairn_vec3 vertices[8];
    cube_vertices(cairn_vec(2, 3, 4), vertices);
    const cairn_mesh_def def = { vertices, 8, cube_triangles, 12 };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_MESH, 3);
    cairn_error error = { 0 };
    cairn_mass m;
    if (cairn_mesh_create(&def, &shape.geometry, &error) != CAIRN_OK)
        fail_msg("%s", error.message);
    cairn_geometry_view v = cairn_geometry_look(shape.geometry);
    CHECK(v.closed);
    CHECK_INT(v.edge_count, 18);
    CHECK_OK(cairn_shape_check(&shape, 3, NULL));
    CHECK_OK(cairn_shape_mass_tensor(&shape, 3, &m));
    const cairn_mass expected = { 24, { 1, 1.5, 2 }, { .xx = 50, .yy = 40, .zz = 26 } };
    check_mass_equal(&m, &expected, 1e-12);
    CHECK_CLOSE(cairn_shape_extent(&shape), sqrt(29), 1e-15);
    cairn_geometry_release(shape.geometry);
}

/* An ellipsoid with semi-axes 1, 0.8, 0.6 as n x 2n quadrilaterals cut in two. */
static cairn_mass meshed_ellipsoid(int n)
{
    enum { MOST = 48 };
    static cairn_vec3 vertices[2 * MOST * MOST + 2];
    static int32_t triangles[12 * MOST * MOST];
    int around = 2 * n, count = 0, corners = 0, south = (n - 1) * around, north = south + 1;
    for (int i = 1; i < n; i++)
        for (int j = 0; j < around; j++) {
            double a = M_PI * i / n, b = M_PI * j / n;
            vertices[count++] = cairn_vec(sin(a) * cos(b), 0.8 * sin(a) * sin(b), -0.6 * cos(a));
        }
    vertices[south] = cairn_vec(0, 0, -0.6);
    vertices[north] = cairn_vec(0, 0, 0.6);
    for (int j = 0; j < around; j++) {
        int next = (j + 1) % around, top = (n - 2) * around;
        const int32_t caps[6] = { south, next, j, north, top + j, top + next };
        for (int k = 0; k < 6; k++)
            triangles[corners++] = caps[k];
        for (int i = 0; i + 2 < n; i++) {
            int32_t p = i * around + j, q = i * around + next;
            const int32_t cell[6] = { p, q, q + around, p, q + around, p + around };
            for (int k = 0; k < 6; k++)
                triangles[corners++] = cell[k];
        }
    }
    const cairn_mesh_def def = { vertices, count + 2, triangles, corners / 3 };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_MESH, 3);
    cairn_error error = { 0 };
    cairn_mass m = { 0 };
    if (cairn_mesh_create(&def, &shape.geometry, &error) != CAIRN_OK)
        fail_msg("%s", error.message);
    CHECK_OK(cairn_shape_mass_tensor(&shape, 3, &m));
    cairn_geometry_release(shape.geometry);
    return m;
}

TEST(meshes_of_an_ellipsoid_converge_to_it_with_the_square_of_their_size)
{
    cairn_shape smooth = cairn_shape_default(CAIRN_SHAPE_ELLIPSOID, 3);
    cairn_mass exact, coarse = meshed_ellipsoid(24), fine = meshed_ellipsoid(48);
    smooth.semi_axes = cairn_vec(1, 0.8, 0.6);
    CHECK_OK(cairn_shape_mass_tensor(&smooth, 3, &exact));
    CHECK_CLOSE(fine.mass, exact.mass, 5e-3);
    CHECK_CLOSE((coarse.mass - exact.mass) / (fine.mass - exact.mass), 4, 0.02);
    CHECK_CLOSE((coarse.inertia.xx - exact.inertia.xx) / (fine.inertia.xx - exact.inertia.xx), 4,
                0.02);
    CHECK_NEAR(cairn_norm(fine.centre), 0, 1e-14);
}

TEST(an_open_mesh_is_a_wall_without_mass)
{
    cairn_vec3 vertices[8];
    cube_vertices(cairn_vec(1, 1, 1), vertices);
    const cairn_mesh_def def = { vertices, 8, cube_triangles, 11 };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_MESH, 3);
    cairn_mass m;
    CHECK_OK(cairn_mesh_create(&def, &shape.geometry, NULL));
    cairn_geometry_view v = cairn_geometry_look(shape.geometry);
    CHECK(!v.closed);
    CHECK_INT(cairn_shape_mass_tensor(&shape, 3, &m), CAIRN_UNSUPPORTED);
    int open = 0;
    for (int e = 0; e < v.edge_count; e++)
        open += v.edge[4 * e + 3] < 0;
    CHECK_INT(open, 3);
    cairn_geometry_release(shape.geometry);
}

TEST(broken_meshes_are_refused)
{
    cairn_vec3 vertices[8];
    int32_t triangles[39];
    cube_vertices(cairn_vec(1, 1, 1), vertices);
    cairn_mesh_def def = { vertices, 8, triangles, 12 };
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 3; k++)
            triangles[3 * i + k] = cube_triangles[3 * i + 2 - k];
    check_refused(&def, CAIRN_BAD_INPUT, "encloses a volume of -1");
    memcpy(triangles, cube_triangles, sizeof cube_triangles);
    triangles[1] = cube_triangles[2];
    triangles[2] = cube_triangles[1];
    check_refused(&def, CAIRN_BAD_INPUT, "one of them is inverted");
    memcpy(triangles, cube_triangles, sizeof cube_triangles);
    triangles[5] = 8;
    check_refused(&def, CAIRN_BAD_INPUT, "triangle 2 names vertex 8, expected one of 0 to 7");
    triangles[5] = triangles[4];
    check_refused(&def, CAIRN_BAD_INPUT, "triangle 2 at (1, 0, 0) is degenerate");
    memcpy(triangles, cube_triangles, sizeof cube_triangles);
    triangles[36] = 1;
    triangles[37] = 3;
    triangles[38] = 4;
    def.triangle_count = 13;
    check_refused(&def, CAIRN_BAD_INPUT, "expected at most two");
    def.triangle_count = 0;
    check_refused(&def, CAIRN_BAD_INPUT, "at least one triangle");
    def.triangle_count = 12;
    vertices[3].y = INFINITY;
    check_refused(&def, CAIRN_NOT_FINITE, "vertex 4 is not finite");
}

static bool count_faces(void *context, int32_t item)
{
    (void)item;
    ++*(int *)context;
    return true;
}

TEST(the_tree_finds_the_triangles_of_one_corner)
{
    cairn_vec3 vertices[8];
    cube_vertices(cairn_vec(1, 1, 1), vertices);
    const cairn_mesh_def def = { vertices, 8, cube_triangles, 12 };
    const cairn_bounds corner = { { 0.9, 0.9, 0.9 }, { 1.1, 1.1, 1.1 } };
    const cairn_geometry *g;
    int found = 0, touching = 0;
    CHECK_OK(cairn_mesh_create(&def, &g, NULL));
    cairn_mesh_tree_query(&g->tree, &corner, count_faces, &found);
    /* all of the six triangles on the three faces there have boxes that cover the face */
    for (int i = 0; i < 36; i++)
        touching += cube_triangles[i] == 7;
    CHECK_INT(touching, 6);
    CHECK_INT(found, 6);
    cairn_geometry_release(g);
}

TEST(nothing_leaks_when_an_allocation_fails)
{
    cairn_vec3 vertices[8];
    cairn_status status = CAIRN_NO_MEMORY;
    cube_vertices(cairn_vec(1, 1, 1), vertices);
    const cairn_mesh_def def = { vertices, 8, cube_triangles, 12 };
    for (long n = 1; status != CAIRN_OK && n < 50; n++) {
        meter m = { .fail_at = n };
        const cairn_geometry *g;
        meter_install(&m);
        status = cairn_mesh_create(&def, &g, NULL);
        cairn_geometry_release(g);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
    }
    CHECK_OK(status);
}

int main(void)
{
    RUN(CASE(a_meshed_box_has_the_mass_of_the_box),
        CASE(meshes_of_an_ellipsoid_converge_to_it_with_the_square_of_their_size),
        CASE(an_open_mesh_is_a_wall_without_mass), CASE(broken_meshes_are_refused),
        CASE(the_tree_finds_the_triangles_of_one_corner),
        CASE(nothing_leaks_when_an_allocation_fails));
}
