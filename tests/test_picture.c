/* test_picture.c - picture.svg shows every ball, the walls, the title and a legend. */
#include <stdlib.h>
#include <unistd.h>

#include "cairn/cairn.h"
#include "check.h"

static int count_of(const char *text, const char *piece)
{
    int count = 0;
    size_t length = strlen(piece);
    for (const char *at = text; *at; at++)
        count += *at == *piece && strncmp(at, piece, length) == 0;
    return count;
}

/* Run a scene of a few balls into a fresh folder and read its picture. */
static void draw(const char *yaml, char *text, size_t capacity)
{
    char folder[] = "/tmp/cairn-test-XXXXXX", path[256];
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/scene.yaml", folder);
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(yaml, file) >= 0 && fclose(file) == 0);
    cairn_scene *scene;
    cairn_run_summary summary;
    cairn_error error = { 0 };
    CHECK_OK(cairn_scene_load(path, NULL, 0, &scene, &error));
    CHECK_OK(cairn_run(scene, folder, NULL, NULL, &summary, &error));
    cairn_scene_destroy(scene);
    snprintf(path, sizeof path, "%s/picture.svg", folder);
    file = fopen(path, "r");
    CHECK(file);
    size_t read = fread(text, 1, capacity - 1, file);
    text[read] = '\0';
    fclose(file);
    snprintf(path, sizeof path, "rm -r %s", folder);
    CHECK_INT(system(path), 0);
}

static char text[8000000];

TEST(every_ball_is_drawn_in_3d)
{
    draw("cairn: 1\ntitle: a < b & c\nbodies:\n  - {motion: fixed, shape: half_space}\n"
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
    draw("cairn: 1\nbodies:\n  - {motion: fixed, shape: half_space}\n"
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
    draw("cairn: 1\ndimension: 2\nbodies:\n"
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
    draw("cairn: 1\ndimension: 2\n"
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
    draw("cairn: 1\nbodies:\n  - {shape: {box: {size: [1, 1, 1]}}}\n"
         "run: {time_step: 1e-2, duration: 0.01}\n",
         text, sizeof text);
    CHECK_INT(count_of(text, "<polygon"), 6);
    draw("cairn: 1\ndimension: 2\nbodies:\n  - {shape: {ellipsoid: {semi_axes: [1, 2]}}}\n"
         "run: {time_step: 1e-2, duration: 0.01}\n",
         text, sizeof text);
    CHECK_INT(count_of(text, "<polygon"), 1);
    CHECK_INT(count_of(text, "<circle"), 0);
}

/* The plate carries most and has the last colour. Its middle is nearer than the far corners, and it
 * lies below all four cubes: three faces of each are painted after its three. */
TEST(cubes_on_a_plate_are_not_hidden_by_it)
{
    draw("cairn: 1\nbodies:\n  - {motion: fixed, shape: half_space}\n"
         "  - {shape: {box: {size: [4, 4, 0.1]}}, position: [0, 0, 0.05]}\n"
         "generators:\n  - grid: {count: [2, 2, 1], spacing: [3.6, 3.6, 1], radius: 0.17,\n"
         "           origin: [-1.8, -1.8, 0.2], shape: {box: {size: [1, 1, 1]}}}\n"
         "run: {time_step: 1e-2, duration: 0.2}\n",
         text, sizeof text);
    const char *plate = NULL;
    for (const char *at = strstr(text, "<polygon fill=\"hsl(45,"); at;
         at = strstr(at + 1, "<polygon fill=\"hsl(45,"))
        plate = at;
    CHECK(plate != NULL);
    CHECK_INT(count_of(text, "<polygon fill=\"hsl(45,"), 3);
    CHECK_INT(count_of(plate + 1, "<polygon fill=\"hsl("), 12);
}

/* Two triangles look up and are filled, as ground; none is a wire. */
TEST(ground_is_solid)
{
    draw("cairn: 1\nbodies:\n  - {motion: fixed, shape: {height_field: {spacing: 1, heights: "
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
    draw(scene, text, sizeof text);
    CHECK_INT(count_of(text, "<polygon fill=\"#"), 2 * 124 * 124);
}

int main(void)
{
    RUN(CASE(every_ball_is_drawn_in_3d), CASE(the_legend_ends_at_the_largest_force),
        CASE(disks_have_a_spoke_in_2d_and_fixed_ones_are_grey), CASE(joints_are_lines),
        CASE(other_shapes_are_polygons), CASE(cubes_on_a_plate_are_not_hidden_by_it),
        CASE(ground_is_solid), CASE(all_of_a_large_ground_is_drawn));
}
