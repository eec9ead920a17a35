/* test_run_paraview.c - what is drawn of a run: files for ParaView, walls, pictures. */
#include <stdlib.h>
#include <unistd.h>

#include "cairn/cairn.h"
#include "math/vec.h"
#include "run/drawing.h"
#include "tests/check.h"
#include "tests/problems/run_scene.h"
#include "tests/problems/worlds.h"

/* ==== test_run_paraview: the files of the series; tests/tools/check_vtk.py reads what is in
 * them */

/* Draws `frames` frames of a scene, a step between each two. */
static void write_series(const folder *f, bool contacts, int frames)
{
    cairn_scene s = scene_create(3);
    cairn_run_paraview p;
    cairn_run_roll roll = { 0 };
    cairn_arena arena = { 0 };
    CHECK_OK(cairn_run_paraview_create(f->path, contacts, &p, NULL));
    for (int k = 0; k < frames; k++) {
        cairn_step_report report;
        cairn_run_frame frame;
        CHECK_OK(cairn_run_frame_take(s.world, &roll, &arena, &frame));
        frame.time_step = s.step.time_step;
        CHECK_OK(cairn_run_paraview_frame(&p, &frame, &arena, NULL));
        CHECK_OK(cairn_world_step(s.world, &s.step, &report));
    }
    CHECK_OK(cairn_run_paraview_finish(&p, NULL));
    cairn_run_paraview_destroy(&p);
    cairn_run_roll_destroy(&roll);
    cairn_arena_destroy(&arena);
    scene_destroy(&s);
}

TEST(walls_that_stand_still_are_written_once)
{
    folder f = folder_create();
    write_series(&f, true, 3);
    CHECK(file_exists(&f, "paraview/bodies_000002.vtp"));
    CHECK(file_exists(&f, "paraview/contacts_000002.vtp"));
    CHECK(file_exists(&f, "paraview/walls_000000.vtp"));
    CHECK(!file_exists(&f, "paraview/walls_000001.vtp"));
    const char *text = file_text(&f, "paraview/walls.pvd");
    CHECK_CONTAINS(text, "timestep=\"0.01\" part=\"0\" file=\"walls_000000.vtp\"");
    folder_remove(f.path);
}

TEST(a_shorter_run_removes_what_a_longer_one_left_and_nothing_else)
{
    folder f = folder_create();
    write_series(&f, true, 4);
    const char *const mine[] = { "bodies_x.vtp", "bodies_7.vtp", "bodies_000009.vtp.txt",
                                 "notes.txt" };
    for (int i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "paraview/%s", mine[i]);
        file_write(&f, name, "mine");
    }
    write_series(&f, false, 2);
    CHECK(file_exists(&f, "paraview/bodies_000001.vtp"));
    CHECK(!file_exists(&f, "paraview/bodies_000002.vtp"));
    CHECK(!file_exists(&f, "paraview/contacts_000000.vtp"));
    CHECK(!file_exists(&f, "paraview/contacts.pvd"));
    for (int i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "paraview/%s", mine[i]);
        CHECK(file_exists(&f, name));
    }
    folder_remove(f.path);
}

/* Draws `frames` frames of three boxes that fall, two of them equal. */
static void write_boxes(const folder *f, int frames)
{
    cairn_world_def world_def = cairn_world_def_default();
    const cairn_material_def material = cairn_material_def_default();
    cairn_world *world;
    cairn_run_paraview p;
    cairn_run_roll roll = { 0 };
    cairn_arena arena = { 0 };
    CHECK_OK(cairn_world_create(&world_def, &world));
    CHECK_OK(cairn_material_create(world, &material, NULL));
    for (int i = 0; i < 3; i++) {
        cairn_body_def def = cairn_body_def_default();
        def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
        def.shape.size = (cairn_vec3){ 1, 1, i == 1 ? 2 : 1 };
        def.position = (cairn_vec3){ 3 * i, 0, 0 };
        CHECK_OK(cairn_body_create(world, &def, NULL));
    }
    CHECK_OK(cairn_run_paraview_create(f->path, false, &p, NULL));
    for (int k = 0; k < frames; k++) {
        cairn_run_frame frame;
        CHECK_OK(cairn_run_frame_take(world, &roll, &arena, &frame));
        CHECK_OK(cairn_run_paraview_frame(&p, &frame, &arena, NULL));
    }
    CHECK_OK(cairn_run_paraview_finish(&p, NULL));
    cairn_run_paraview_destroy(&p);
    cairn_run_roll_destroy(&roll);
    cairn_arena_destroy(&arena);
    cairn_world_destroy(world);
}

/* moving boxes have a series of their own; a run without them has none, and removes an old one */
TEST(moving_shapes_have_a_series)
{
    folder f = folder_create();
    write_series(&f, false, 1);
    CHECK(!file_exists(&f, "paraview/shapes.pvd"));
    file_write(&f, "paraview/shapes_000000.vtp", "old");
    write_series(&f, false, 1);
    CHECK(!file_exists(&f, "paraview/shapes_000000.vtp"));
    write_boxes(&f, 3);
    CHECK(file_exists(&f, "paraview/shapes_000002.vtp"));
    CHECK(file_exists(&f, "paraview/shapes.pvd"));
    folder_remove(f.path);
}

/* Three boxes have 18 faces and, as the faces of each share its corners, 24 points. */
TEST(shapes_are_polygons_that_share_corners)
{
    folder f = folder_create();
    write_boxes(&f, 3);
    const char *frame = file_text(&f, "paraview/shapes_000002.vtp");
    CHECK_CONTAINS(frame, "NumberOfPoints=\"24\" NumberOfVerts=\"0\"");
    CHECK_CONTAINS(frame, "NumberOfPolys=\"18\"");
    CHECK_CONTAINS(frame, "compressor=\"vtkZLibDataCompressor\"");
    static const char *const arrays[] = { "id", "velocity", "force", "orientation", "position" };
    for (int i = 0; i < 5; i++) {
        char name[64];
        snprintf(name, sizeof name, "Name=\"%s\"", arrays[i]);
        CHECK_CONTAINS(frame, name);
    }
    CHECK(strstr(frame, "Name=\"name\"") == NULL); /* there is no scene that names bodies */
    folder_remove(f.path);
}

/* There is no ball among them, and so no series of balls; an old one goes. */
TEST(without_balls_there_are_no_files_of_them)
{
    folder f = folder_create();
    write_series(&f, false, 2);
    CHECK(file_exists(&f, "paraview/bodies.pvd"));
    write_boxes(&f, 2);
    CHECK(!file_exists(&f, "paraview/bodies.pvd"));
    CHECK(!file_exists(&f, "paraview/bodies_000000.vtp"));
    folder_remove(f.path);
}

GROUP(test_run_paraview)
{
    RUN(CASE(walls_that_stand_still_are_written_once),
        CASE(a_shorter_run_removes_what_a_longer_one_left_and_nothing_else),
        CASE(moving_shapes_have_a_series), CASE(shapes_are_polygons_that_share_corners),
        CASE(without_balls_there_are_no_files_of_them));
}

/* ==== test_run_view: the script for ParaView; tests/tools/test_paraview_picture.py runs it */

TEST(the_script_names_the_files_of_the_series)
{
    folder f = folder_create();
    CHECK_OK(cairn_run_view_write(f.path, NULL));
    const char *text = file_text(&f, "view.py");
    CHECK_CONTAINS(text, "from paraview.simple import");
    CHECK_CONTAINS(text, "series(\"bodies.pvd\"), series(\"shapes.pvd\"), series(\"walls.pvd\")");
    folder_remove(f.path);
}

TEST(a_folder_that_is_not_there_is_named)
{
    cairn_error error = { 0 };
    CHECK_INT(cairn_run_view_write("no/such/folder", &error), CAIRN_IO_FAILED);
    CHECK_CONTAINS(error.file, "no/such/folder/view.py");
}

GROUP(test_run_view)
{
    RUN(CASE(the_script_names_the_files_of_the_series), CASE(a_folder_that_is_not_there_is_named));
}

/* ==== test_run_walls: walls drawn as polygons that lie on their shapes and inside the scene */

typedef struct drawn {
    cairn_run_roll roll;
    cairn_arena arena;
    cairn_run_walls walls;
    bool changed;
} drawn;

static void draw(drawn *d, const cairn_world *world)
{
    cairn_run_frame frame;
    CHECK_OK(cairn_run_frame_take(world, &d->roll, &d->arena, &frame));
    CHECK_OK(cairn_run_walls_draw(&d->walls, &frame, &d->changed));
}

static void drawn_destroy(drawn *d)
{
    cairn_run_walls_destroy(&d->walls);
    cairn_run_roll_destroy(&d->roll);
    cairn_arena_destroy(&d->arena);
}

static cairn_shape half_space(double x, double y, double z)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    shape.axis = (cairn_vec3){ x, y, z };
    return shape;
}

TEST(a_floor_is_one_rectangle_under_the_bodies)
{
    cairn_scene s = scene_create(3); /* spheres of radius 0.1 at x = 0, 1, 2 */
    drawn d = { 0 };
    draw(&d, s.world);
    const cairn_run_walls *w = &d.walls;
    CHECK(d.changed);
    CHECK_INT(w->mesh.cells, 1);
    CHECK_INT(w->mesh.offsets[0], 4);
    CHECK_INT(w->mesh.body[0], 0);
    double low = 1e9, high = -1e9;
    for (size_t i = 0; i < w->mesh.points; i++) {
        CHECK_NEAR(w->mesh.x[i].z, 0, 1e-12);
        low = fmin(low, w->mesh.x[i].x);
        high = fmax(high, w->mesh.x[i].x);
    }
    CHECK(low <= -0.1 && low > -0.5 && high >= 2.1 && high < 2.5);
    drawn_destroy(&d);
    scene_destroy(&s);
}

TEST(two_walls_of_a_corner_end_where_they_meet)
{
    cairn_scene s = scene_create(3);
    drawn d = { 0 };
    add_wall(s.world, half_space(1, 0, 0), (cairn_vec3){ -0.1, 0, 0 });
    draw(&d, s.world);
    CHECK_INT(d.walls.mesh.cells, 2);
    for (size_t i = 0; i < d.walls.mesh.points; i++) {
        CHECK(d.walls.mesh.x[i].x >= -0.1 - 1e-9);
        CHECK(d.walls.mesh.x[i].z >= -1e-9);
    }
    drawn_destroy(&d);
    scene_destroy(&s);
}

TEST(fixed_walls_are_drawn_once_while_bodies_stay_in_the_box)
{
    cairn_scene s = scene_create(3);
    drawn d = { 0 };
    draw(&d, s.world);
    draw(&d, s.world);
    CHECK(!d.changed);
    add_sphere(s.world, 0.1, (cairn_vec3){ 50, 0, 1 });
    draw(&d, s.world);
    CHECK(d.changed);
    CHECK(d.walls.box.high.x > 50.1);
    drawn_destroy(&d);
    scene_destroy(&s);
}

TEST(a_cylinder_over_a_cone_ends_where_the_cone_begins)
{
    cairn_world *world = world_create(3);
    cairn_shape cylinder = cairn_shape_default(CAIRN_SHAPE_INSIDE_CYLINDER, 3);
    cairn_shape cone = cairn_shape_default(CAIRN_SHAPE_INSIDE_CONE, 3);
    drawn d = { 0 };
    cylinder.radius = 1;
    cone.half_angle = M_PI / 4; /* meets the cylinder at z = 1 */
    add_wall(world, cylinder, (cairn_vec3){ 0, 0, 0 });
    add_wall(world, cone, (cairn_vec3){ 0, 0, 0 });
    add_sphere(world, 0.1, (cairn_vec3){ 0, 0, 3 });
    draw(&d, world);
    const cairn_run_walls *w = &d.walls;
    size_t corner = 0, both[2] = { 0, 0 };
    for (size_t c = 0; c < w->mesh.cells; c++) {
        both[w->mesh.body[c]]++;
        for (; corner < (size_t)w->mesh.offsets[c]; corner++) {
            cairn_vec3 x = w->mesh.x[w->mesh.connectivity[corner]];
            double radius = hypot(x.x, x.y);
            CHECK_NEAR(radius, w->mesh.body[c] == 0 ? 1 : x.z, 1e-9);
            CHECK(w->mesh.body[c] == 0 ? x.z > 0.85 : x.z < 1.15); /* half a ring of slack */
        }
    }
    CHECK(both[0] > 100 && both[1] > 100);
    drawn_destroy(&d);
    cairn_world_destroy(world);
}

TEST(a_funnel_is_drawn_from_rim_to_rim)
{
    cairn_world *world = world_create(3);
    cairn_shape funnel = cairn_shape_default(CAIRN_SHAPE_FUNNEL, 3);
    drawn d = { 0 };
    funnel.bottom_radius = 0.5;
    funnel.top_radius = 2;
    funnel.height = 3;
    add_wall(world, funnel, (cairn_vec3){ 0, 0, 1 });
    draw(&d, world);
    CHECK_INT(d.walls.mesh.cells, 64 * 32);
    for (size_t i = 0; i < d.walls.mesh.points; i++) {
        cairn_vec3 x = d.walls.mesh.x[i];
        CHECK(x.z > 1 - 1e-9 && x.z < 4 + 1e-9);
        CHECK_NEAR(hypot(x.x, x.y), 0.5 + (x.z - 1) / 2, 1e-9);
    }
    drawn_destroy(&d);
    cairn_world_destroy(world);
}

TEST(in_2d_walls_are_segments)
{
    cairn_scene s = scene_create(2);
    cairn_shape circle = cairn_shape_default(CAIRN_SHAPE_INSIDE_CYLINDER, 2);
    cairn_shape wedge = cairn_shape_default(CAIRN_SHAPE_INSIDE_CONE, 2);
    drawn d = { 0 };
    circle.radius = 5;
    wedge.half_angle = 1.5;
    add_wall(s.world, circle, (cairn_vec3){ 1, 1, 0 });
    add_wall(s.world, wedge, (cairn_vec3){ 1, -1, 0 });
    draw(&d, s.world);
    size_t kinds[6] = { 0 };
    for (size_t c = 0; c < d.walls.mesh.cells; c++) {
        CHECK_INT(d.walls.mesh.offsets[c], 2 * (c + 1));
        kinds[d.walls.mesh.body[c]]++;
    }
    CHECK_INT(kinds[0], 1);
    CHECK(kinds[4] > 10 && kinds[4] < 64); /* the part of the circle above floor and wedge */
    for (size_t i = 0; i < d.walls.mesh.points; i++)
        CHECK_NEAR(d.walls.mesh.x[i].z, 0, 0);
    drawn_destroy(&d);
    scene_destroy(&s);
}

TEST(a_world_without_walls_draws_nothing)
{
    cairn_world *world = world_create(3);
    drawn d = { 0 };
    draw(&d, world);
    CHECK_INT(d.walls.mesh.cells, 0);
    add_sphere(world, 0.1, (cairn_vec3){ 0, 0, 0 });
    draw(&d, world);
    CHECK_INT(d.walls.mesh.cells, 0);
    drawn_destroy(&d);
    cairn_world_destroy(world);
}

GROUP(test_run_walls)
{
    RUN(CASE(a_floor_is_one_rectangle_under_the_bodies),
        CASE(two_walls_of_a_corner_end_where_they_meet),
        CASE(fixed_walls_are_drawn_once_while_bodies_stay_in_the_box),
        CASE(a_cylinder_over_a_cone_ends_where_the_cone_begins),
        CASE(a_funnel_is_drawn_from_rim_to_rim), CASE(in_2d_walls_are_segments),
        CASE(a_world_without_walls_draws_nothing));
}

/* ==== test_run_solids: shapes that several bodies share are drawn once ======================== */

static cairn_shape box_of(double edge)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    shape.size = (cairn_vec3){ edge, edge, edge };
    return shape;
}

TEST(equal_shapes_have_one_number)
{
    cairn_run_solids s = { .count = 0 };
    const cairn_shape small = box_of(1), large = box_of(2), again = box_of(1);
    size_t number[3];
    CHECK_OK(cairn_run_solids_find(&s, &small, 3, &number[0]));
    CHECK_OK(cairn_run_solids_find(&s, &large, 3, &number[1]));
    CHECK_OK(cairn_run_solids_find(&s, &again, 3, &number[2]));
    CHECK_INT(number[0], 0);
    CHECK_INT(number[1], 1);
    CHECK_INT(number[2], 0);
    CHECK_INT(s.count, 2);
    CHECK_INT(s.mesh.cells, 12); /* six faces each */
    CHECK_INT(s.mesh.body[5], 0);
    CHECK_INT(s.mesh.body[6], 1);
    CHECK_INT(s.mesh.points, 16); /* and eight corners, which the faces share */
    CHECK_INT(s.items[1].points, 8);
    CHECK_INT(s.items[2].corners, 48);
    for (size_t k = 0; k < s.mesh.points; k++) /* about their own middle */
        CHECK_NEAR(fabs(s.mesh.x[k].x), k < 8 ? 0.5 : 1, 1e-15);
    cairn_run_solids_destroy(&s);
    CHECK_INT(s.count, 0);
}

TEST(every_failed_allocation_is_told_and_nothing_leaks)
{
    const cairn_shape shape = box_of(1);
    cairn_status status = CAIRN_NO_MEMORY;
    meter m = { 0 };
    meter_install(&m);
    for (long n = 1; status != CAIRN_OK; n++) {
        cairn_run_solids s = { .count = 0 };
        size_t number;
        m = (meter){ .fail_at = n };
        status = cairn_run_solids_find(&s, &shape, 3, &number);
        CHECK(status == CAIRN_OK ? s.count == 1 : status == CAIRN_NO_MEMORY && s.count == 0);
        cairn_run_solids_destroy(&s);
        CHECK_INT(m.alive, 0);
    }
    cairn_allocator_set(NULL);
    CHECK(m.fail_at >= 4);
}

GROUP(test_run_solids)
{
    RUN(CASE(equal_shapes_have_one_number),
        CASE(every_failed_allocation_is_told_and_nothing_leaks));
}

/* ==== test_polygons: sets of polygons as viewers read them ==================================== */

TEST(cells_follow_each_other)
{
    cairn_polygons p = { 0 };
    const cairn_vec3 corners[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 }, { 0, 1, 0 } };
    CHECK_OK(cairn_polygons_add(&p, corners, 3, 7));
    CHECK_OK(cairn_polygons_add(&p, corners, 4, 8));
    CHECK_INT(p.cells, 2);
    CHECK_INT(p.offsets[0], 3);
    CHECK_INT(p.offsets[1], 7);
    CHECK_INT(p.connectivity[6], 6);
    CHECK_INT(p.body[1], 8);
    CHECK_NEAR(p.x[6].y, 1, 0);
    cairn_polygons_clear(&p);
    CHECK_INT(p.cells + p.points + p.corners, 0);
    cairn_polygons_destroy(&p);
}

/* as a line the outline of a square ends where it began: five corners, four points */
TEST(an_outline_is_closed)
{
    cairn_world *world = world_create(2);
    cairn_shape box = cairn_shape_default(CAIRN_SHAPE_BOX, 2);
    cairn_polygons p = { 0 };
    box.size = (cairn_vec3){ 2, 2, 0 };
    int index = cairn_body_row(world, add_wall(world, box, (cairn_vec3){ 5, 0, 0 }));
    const cairn_bodies bodies = cairn_world_bodies(world);
    const cairn_polygons_of filled = { 2, 3, false }, lines = { 2, 4, true };
    CHECK_OK(cairn_polygons_add_body(&p, &bodies, index, &filled));
    CHECK_OK(cairn_polygons_add_body(&p, &bodies, index, &lines));
    CHECK_INT(p.points, 8);
    CHECK_INT(p.offsets[0], 4);
    CHECK_INT(p.offsets[1], 9);
    CHECK_INT(p.connectivity[8], p.connectivity[4]);
    CHECK_NEAR(fabs(p.x[0].x - 5), 1, 1e-15);
    cairn_polygons_destroy(&p);
    cairn_world_destroy(world);
}

GROUP(test_polygons)
{
    RUN(CASE(cells_follow_each_other), CASE(an_outline_is_closed));
}

/* ==== test_picture: picture.svg shows every ball, the walls, the title and a legend =========== */

static int count_of(const char *text, const char *piece)
{
    int count = 0;
    size_t length = strlen(piece);
    for (const char *at = text; *at; at++)
        count += *at == *piece && strncmp(at, piece, length) == 0;
    return count;
}

/* Run a scene of a few balls into a fresh folder and read its picture. */
static void draw_picture(const char *yaml, char *text, size_t capacity)
{
    char place[] = "/tmp/cairn-test-XXXXXX", file_name[256];
    CHECK(mkdtemp(place));
    snprintf(file_name, sizeof file_name, "%s/scene.yaml", place);
    FILE *file = fopen(file_name, "w");
    CHECK(file && fputs(yaml, file) >= 0 && fclose(file) == 0);
    cairn_scene *scene;
    cairn_run_summary summary;
    cairn_error error = { 0 };
    CHECK_OK(cairn_scene_load(file_name, NULL, 0, &scene, &error));
    CHECK_OK(cairn_run(scene, place, NULL, NULL, &summary, &error));
    cairn_scene_destroy(scene);
    snprintf(file_name, sizeof file_name, "%s/picture.svg", place);
    file = fopen(file_name, "r");
    CHECK(file);
    size_t read = fread(text, 1, capacity - 1, file);
    text[read] = '\0';
    fclose(file);
    snprintf(file_name, sizeof file_name, "rm -r %s", place);
    CHECK_INT(system(file_name), 0);
}

static char text[8000000];

TEST(every_ball_is_drawn_in_3d)
{
    draw_picture("cairn: 1\ntitle: a < b & c\nbodies:\n  - {motion: fixed, shape: half_space}\n"
                 "generators:\n  - grid: {count: [3, 2, 1], spacing: [0.3, 0.3, 0.3], radius: 0.1, "
                 "origin: [0, 0, 0.1]}\nrun: {time_step: 1e-2, duration: 0.05}\n",
                 text, sizeof text);
    CHECK_INT(count_of(text, "<circle"), 6);
    CHECK(count_of(text, "<polygon") >= 1);
    CHECK_CONTAINS(text, "a &#60; b &#38; c, t = 0.05 s");
    CHECK_CONTAINS(text, "normal force");
    CHECK_CONTAINS(text, "</svg>");
}

/* a ball of 1000 kg/m^3 at rest carries its weight, 4.19 kg * 9.81 */
TEST(the_legend_ends_at_the_largest_force)
{
    draw_picture("cairn: 1\nbodies:\n  - {motion: fixed, shape: half_space}\n"
                 "  - {shape: {sphere: {radius: 0.1}}, position: [0, 0, 0.1]}\n"
                 "run: {time_step: 1e-2, duration: 0.05, tolerance: 1e-10}\n",
                 text, sizeof text);
    CHECK_CONTAINS(text, ">41.1</text>");
    CHECK_CONTAINS(text,
                   ">10.3</text>"); /* a quarter of it in the middle, and the legend says so */
    CHECK_CONTAINS(text, "(square-root scale)");
}

TEST(disks_have_a_spoke_in_2d_and_fixed_ones_are_grey)
{
    draw_picture("cairn: 1\ndimension: 2\nbodies:\n"
                 "  - {motion: fixed, shape: {sphere: {radius: 1}}}\n"
                 "  - {shape: {sphere: {radius: 0.5}}, position: [0, 1.5]}\n"
                 "run: {time_step: 1e-2, duration: 0.05}\n",
                 text, sizeof text);
    CHECK_INT(count_of(text, "<circle"), 2);
    CHECK_INT(count_of(text, "fill=\"#999\""), 1);
    CHECK_INT(count_of(text, "stroke=\"#fff\""), 1);
}

/* Two joints hold and one breaks at once: two lines, of 4 and 3 corners. */
TEST(joints_are_lines)
{
    draw_picture("cairn: 1\ndimension: 2\n"
                 "run: {time_step: 1e-3, duration: 0.01}\n"
                 "bodies:\n"
                 "  - {name: a, shape: {sphere: {radius: 0.1}}}\n"
                 "  - {name: b, shape: {sphere: {radius: 0.1}}, position: [1, 0]}\n"
                 "joints:\n"
                 "  - revolute: {a: a, b: b, anchor: [0.5, 0]}\n"
                 "  - revolute: {a: a}\n"
                 "  - revolute: {a: b, anchor: [1, 0], break_force: 1e-3}\n",
                 text, sizeof text);
    CHECK_INT(count_of(text, "<polyline"), 2);
    const char *line = strstr(text, "<polyline points=\"");
    int corners = 0;
    for (const char *c = strchr(line, '"') + 1; *c != '"'; c++)
        corners += *c == ',';
    CHECK_INT(corners, 4);
}

/* a box in 3D shows three of its faces, each painted twice; an ellipse in 2D is one polygon */
TEST(other_shapes_are_polygons)
{
    draw_picture("cairn: 1\nbodies:\n  - {shape: {box: {size: [1, 1, 1]}}}\n"
                 "run: {time_step: 1e-2, duration: 0.01}\n",
                 text, sizeof text);
    CHECK_INT(count_of(text, "<polygon"), 6);
    draw_picture("cairn: 1\ndimension: 2\nbodies:\n  - {shape: {ellipsoid: {semi_axes: [1, 2]}}}\n"
                 "run: {time_step: 1e-2, duration: 0.01}\n",
                 text, sizeof text);
    CHECK_INT(count_of(text, "<polygon"), 1);
    CHECK_INT(count_of(text, "<circle"), 0);
}

/* The plate carries most and has the last colour. Its middle is nearer than the far corners, and it
 * lies below all four cubes: three faces of each are painted after its three. */
TEST(cubes_on_a_plate_are_not_hidden_by_it)
{
    draw_picture("cairn: 1\nbodies:\n  - {motion: fixed, shape: half_space}\n"
                 "  - {shape: {box: {size: [4, 4, 0.1]}}, position: [0, 0, 0.05]}\n"
                 "generators:\n  - grid: {count: [2, 2, 1], spacing: [3.6, 3.6, 1], radius: 0.17,\n"
                 "           origin: [-1.8, -1.8, 0.2], shape: {box: {size: [1, 1, 1]}}}\n"
                 "run: {time_step: 1e-2, duration: 0.2}\n",
                 text, sizeof text);
    const char *plate = NULL;
    for (const char *at = strstr(text, "<polygon fill=\"#f4c428\""); at;
         at = strstr(at + 1, "<polygon fill=\"#f4c428\""))
        plate = at;
    CHECK(plate != NULL);
    CHECK_INT(count_of(text, "<polygon fill=\"#f4c428\""), 3);
    CHECK_INT(count_of(plate + 1, "<polygon fill=\"#") -
                  count_of(plate + 1, "<polygon fill=\"#fff\""),
              12);
}

/* Balls of two materials: their colours, and a legend with their names instead of forces. */
TEST(materials_named_as_colours_have_them)
{
    draw_picture("cairn: 1\nmaterials: {red: {friction: 0.5}, blue: {friction: 0.5}}\nbodies:\n"
                 "  - {material: red, motion: fixed, shape: half_space}\n"
                 "  - {material: red, shape: {sphere: {radius: 0.1}}, position: [0, 0, 0.1]}\n"
                 "  - {material: blue, shape: {sphere: {radius: 0.1}}, position: [1, 0, 0.1]}\n"
                 "run: {time_step: 1e-2, duration: 0.05}\n",
                 text, sizeof text);
    CHECK_CONTAINS(text, "fill=\"#ce423e\"/>\n<text x=\"");
    CHECK_CONTAINS(text, ">red</text>");
    CHECK_CONTAINS(text, ">blue</text>");
    CHECK(!strstr(text, "normal force"));
}

/* Words of names count, not parts of words; what is left is given out in order. */
TEST(kinds_have_the_colours_of_their_names)
{
    static const char *const names[] = { "sand", "Dark_Blue-2", "reddish", "gray" };
    static const char *const expected[] = { "#e0914c", "#4a80c4", "#5ca86a", "#8c9096" };
    for (int k = 0; k < 4; k++) {
        char colour[CAIRN_COLOUR_BYTES];
        cairn_palette_kind(names, 4, k, colour);
        CHECK_TEXT(colour, expected[k]);
    }
}

TEST(shares_go_from_blue_to_amber)
{
    char colour[CAIRN_COLOUR_BYTES];
    cairn_palette_share(-1, colour);
    CHECK_TEXT(colour, "#626ca8");
    cairn_palette_share(0.5, colour); /* half way from 36 152 160 to 40 164 132 */
    CHECK_TEXT(colour, "#269e92");
    cairn_palette_share(1, colour);
    CHECK_TEXT(colour, "#f4c428");
}

/* Two triangles look up and are filled, as ground; none is a wire. */
TEST(ground_is_solid)
{
    draw_picture(
        "cairn: 1\nbodies:\n  - {motion: fixed, shape: {height_field: {spacing: 1, heights: "
        "[[0, 0], [0, 0]]}}}\n  - {shape: {sphere: {radius: 0.1}}, position: [0.5, 0.5, 0.2]}\n"
        "run: {time_step: 1e-2, duration: 0.01}\n",
        text, sizeof text);
    CHECK_INT(count_of(text, "<polygon fill=\"#"), 2);
    CHECK_INT(count_of(text, "stroke=\"#8a94a0\""), 2);
    CHECK_INT(count_of(text, "fill=\"none\""), 1); /* the group of the joints */
}

/* 125 x 125 points are 2 * 124^2 = 30,752 triangles: more than the 30,000 marks of moving bodies. */
TEST(all_of_a_large_ground_is_drawn)
{
    enum { SIDE = 125 };
    static char scene[4 * SIDE * SIDE + 1000];
    size_t at = (size_t)sprintf(scene, "cairn: 1\nrun: {time_step: 1e-2, duration: 0.01}\nbodies:\n"
                                       "  - {motion: fixed, shape: {height_field: {spacing: 1, "
                                       "heights: [");
    for (int i = 0; i < SIDE * SIDE; i++)
        at += (size_t)sprintf(scene + at, "%s0%s",
                              i % SIDE ? ","
                              : i      ? "],["
                                       : "[",
                              i + 1 == SIDE * SIDE ? "]" : "");
    sprintf(scene + at, "]}}}\n");
    draw_picture(scene, text, sizeof text);
    CHECK_INT(count_of(text, "<polygon fill=\"#"), 2 * 124 * 124);
}

GROUP(test_picture)
{
    RUN(CASE(every_ball_is_drawn_in_3d), CASE(the_legend_ends_at_the_largest_force),
        CASE(disks_have_a_spoke_in_2d_and_fixed_ones_are_grey), CASE(joints_are_lines),
        CASE(other_shapes_are_polygons), CASE(cubes_on_a_plate_are_not_hidden_by_it),
        CASE(materials_named_as_colours_have_them), CASE(kinds_have_the_colours_of_their_names),
        CASE(shares_go_from_blue_to_amber), CASE(ground_is_solid),
        CASE(all_of_a_large_ground_is_drawn));
}

/* ==== test_picture_order: what is in front is painted after what is behind ==================== */

enum { MOST = 8 };

/* Boxes along the axes, seen from +x and a little from above. */
typedef struct stage {
    cairn_picture_item items[MOST];
    cairn_vec3 corners[MOST][8];
    cairn_picture_face faces[MOST][6];
    int count;
} stage;

static const cairn_vec3 right = { 0, 1, 0 };
static cairn_arena arena;

static cairn_vec3 towards(void)
{
    return cairn_unit((cairn_vec3){ 2, 0, 1 });
}

static void set_box(cairn_picture_item *item, const cairn_vec3 *corners, int count)
{
    cairn_vec3 up = cairn_cross(towards(), right);
    item->low[0] = item->low[1] = INFINITY;
    item->high[0] = item->high[1] = -INFINITY;
    for (int k = 0; k < count; k++) {
        double at[2] = { cairn_dot(corners[k], right), cairn_dot(corners[k], up) };
        for (int axis = 0; axis < 2; axis++) {
            item->low[axis] = fmin(item->low[axis], at[axis]);
            item->high[axis] = fmax(item->high[axis], at[axis]);
        }
    }
}

static void add_box(stage *s, cairn_vec3 centre, cairn_vec3 half)
{
    int n = s->count++;
    cairn_vec3 normals[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    for (int k = 0; k < 8; k++) {
        cairn_vec3 sign = { k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1 };
        s->corners[n][k] = cairn_add(centre, cairn_times(sign, half));
    }
    for (int k = 0; k < 6; k++)
        s->faces[n][k] = (cairn_picture_face){ cairn_scale(k % 2 ? 1 : -1, normals[k / 2]),
                                               s->corners[n][k % 2 ? 7 : 0] };
    s->items[n] = (cairn_picture_item){ .centre = centre,
                                        .corners = s->corners[n],
                                        .faces = s->faces[n],
                                        .corner_count = 8,
                                        .face_count = 6,
                                        .size = cairn_norm(half),
                                        .depth = cairn_dot(centre, towards()) };
    set_box(&s->items[n], s->corners[n], 8);
}

static void put_ball(stage *s, cairn_vec3 centre, double radius)
{
    int n = s->count++;
    cairn_vec3 up = cairn_cross(towards(), right);
    double x = cairn_dot(centre, right), y = cairn_dot(centre, up);
    s->items[n] = (cairn_picture_item){ .centre = centre,
                                        .radius = radius,
                                        .size = radius,
                                        .low = { x - radius, y - radius },
                                        .high = { x + radius, y + radius },
                                        .depth = cairn_dot(centre, towards()) };
}

/* When each item is painted. */
static void paint(const stage *s, int turn[MOST])
{
    int32_t order[MOST];
    CHECK_OK(cairn_picture_order(s->items, s->count, towards(), &arena, order));
    for (int i = 0; i < s->count; i++)
        turn[i] = -1;
    for (int i = 0; i < s->count; i++)
        turn[order[i]] = i;
    for (int i = 0; i < s->count; i++)
        CHECK(turn[i] >= 0); /* each once */
    cairn_arena_destroy(&arena);
}

/* The middle of the plate is nearer than what lies on its far edge, and still below it. */
TEST(what_lies_on_a_plate_is_painted_after_it)
{
    stage s = { .count = 0 };
    int turn[MOST];
    add_box(&s, (cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 4, 4, 0.1 });
    add_box(&s, (cairn_vec3){ -3.5, 0, 0.3 }, (cairn_vec3){ 0.2, 0.2, 0.2 });
    put_ball(&s, (cairn_vec3){ -3.5, 1, 0.3 }, 0.2);
    CHECK(s.items[0].depth > s.items[1].depth && s.items[0].depth > s.items[2].depth);
    paint(&s, turn);
    CHECK(turn[1] > turn[0] && turn[2] > turn[0]);
}

/* Below the plate's near edge, behind its side. */
TEST(what_lies_under_a_plate_is_painted_before_it)
{
    stage s = { .count = 0 };
    int turn[MOST];
    add_box(&s, (cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 4, 4, 0.1 });
    put_ball(&s, (cairn_vec3){ 3.7, 0, -0.3 }, 0.2);
    CHECK(s.items[1].depth > s.items[0].depth);
    paint(&s, turn);
    CHECK(turn[1] < turn[0]);
}

TEST(balls_are_painted_by_their_depth)
{
    stage s = { .count = 0 };
    int turn[MOST];
    put_ball(&s, (cairn_vec3){ 2, 0, 0 }, 1);
    put_ball(&s, (cairn_vec3){ -2, 0, 0 }, 1);
    put_ball(&s, (cairn_vec3){ 0, 0.1, 0 }, 1);
    paint(&s, turn);
    CHECK_INT(turn[1], 0);
    CHECK_INT(turn[2], 1);
    CHECK_INT(turn[0], 2);
}

/* A triangle of ground by itself has no inside: what is on its upper side is nearer. */
TEST(a_polygon_alone_has_two_sides)
{
    stage s = { .count = 1 };
    int turn[MOST];
    const cairn_vec3 ground[3] = { { -4, -4, 0 }, { 4, -4, 0 }, { 0, 4, 0 } };
    const cairn_picture_face up = { { 0, 0, 1 }, { 0, 0, 0 } };
    s.items[0] = (cairn_picture_item){
        .corners = ground, .faces = &up, .corner_count = 3, .face_count = 1, .size = 4, .depth = 0
    };
    set_box(&s.items[0], ground, 3);
    put_ball(&s, (cairn_vec3){ -1, 0, 0.2 }, 0.2);
    put_ball(&s, (cairn_vec3){ 1, 0, -0.2 }, 0.2);
    paint(&s, turn);
    CHECK(turn[2] < turn[0] && turn[0] < turn[1]);
}

/* Beams above, between and below others: the order is that of the heights, whatever the depths. */
TEST(crossed_beams_are_painted_from_below)
{
    stage s = { .count = 0 };
    int turn[MOST];
    add_box(&s, (cairn_vec3){ 0, -1, 0.3 }, (cairn_vec3){ 3, 0.2, 0.1 });
    add_box(&s, (cairn_vec3){ 1, 0, 0 }, (cairn_vec3){ 0.2, 3, 0.1 });
    add_box(&s, (cairn_vec3){ -1, 0, 0 }, (cairn_vec3){ 0.2, 3, 0.1 });
    add_box(&s, (cairn_vec3){ 0, 1, -0.3 }, (cairn_vec3){ 3, 0.2, 0.1 });
    paint(&s, turn);
    CHECK(turn[0] > turn[1] && turn[0] > turn[2] && turn[3] < turn[1] && turn[3] < turn[2]);
}

TEST(every_failed_allocation_of_an_order_is_told)
{
    stage s = { .count = 0 };
    int32_t order[MOST];
    add_box(&s, (cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 4, 4, 0.1 });
    put_ball(&s, (cairn_vec3){ -3.5, 1, 0.3 }, 0.2);
    meter m = { 0 };
    meter_install(&m);
    cairn_status status = CAIRN_NO_MEMORY;
    for (long n = 1; status != CAIRN_OK; n++) {
        m = (meter){ .fail_at = n };
        status = cairn_picture_order(s.items, s.count, towards(), &arena, order);
        cairn_arena_destroy(&arena);
        CHECK(status == CAIRN_OK || status == CAIRN_NO_MEMORY);
        CHECK_INT(m.alive, 0);
    }
    cairn_allocator_set(NULL);
    CHECK(m.fail_at >= 2);
}

GROUP(test_picture_order)
{
    RUN(CASE(what_lies_on_a_plate_is_painted_after_it),
        CASE(what_lies_under_a_plate_is_painted_before_it), CASE(balls_are_painted_by_their_depth),
        CASE(a_polygon_alone_has_two_sides), CASE(crossed_beams_are_painted_from_below),
        CASE(every_failed_allocation_of_an_order_is_told));
}
