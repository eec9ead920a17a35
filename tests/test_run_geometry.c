/* test_run_geometry.c - points, faces and parts in run.h5. */
#include "io/run_geometry.h"

#include "same_runs.h"

/* A tetrahedron and a compound of the same one (loaded anew) and a ball; a sphere without data. */
static const char *const scene =
    "cairn: 1\n"
    "bodies:\n"
    "  - {motion: fixed, shape: {polyhedron: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, "
    "1]]}}}\n"
    "  - {shape: {sphere: {radius: 0.5}}, position: [0, 0, 9]}\n"
    "  - {motion: fixed, position: [5, 0, 0], shape: {compound: {parts: [\n"
    "      {shape: {polyhedron: {points: [[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2]]}}, "
    "position: [0, 0, 3]},\n"
    "      {shape: {sphere: {radius: 0.25}}}]}}}\n"
    "run: {time_step: 1e-3, duration: 2e-3, paraview: false, picture: false}\n";

static long numbers_of(const folder *f, const char *name, double *out, long capacity)
{
    return h5_numbers(path_in(f, "run.h5").text, name, out, capacity);
}

TEST(a_body_names_the_row_of_its_data)
{
    folder f = folder_create();
    double n[64];
    run_into(&f, scene, NULL);
    CHECK_INT(numbers_of(&f, "bodies/geometry", n, 64), 3);
    CHECK_NEAR(n[0], 0, 0);
    CHECK_NEAR(n[1], -1, 0);
    CHECK_NEAR(n[2], 2, 0); /* after its part */
    folder_remove(f.path);
}

TEST(points_and_faces_are_those_of_the_hull)
{
    folder f = folder_create();
    double n[64];
    run_into(&f, scene, NULL);
    CHECK_INT(numbers_of(&f, "geometry/vertex_offset", n, 64), 4);
    CHECK_NEAR(n[1], 4, 0);
    CHECK_NEAR(n[2], 8, 0);
    CHECK_NEAR(n[3], 8, 0); /* a compound has parts instead */
    CHECK_INT(numbers_of(&f, "geometry/face_offset", n, 64), 4);
    CHECK_NEAR(n[2], 8, 0);
    CHECK_INT(numbers_of(&f, "geometry/corner_offset", n, 64), 9);
    CHECK_NEAR(n[8], 24, 0); /* 8 triangles */
    CHECK_INT(numbers_of(&f, "geometry/corners", n, 64), 24);
    for (int k = 0; k < 24; k++)
        CHECK(n[k] >= 0 && n[k] <= 3);
    CHECK_INT(numbers_of(&f, "geometry/vertices", n, 64), 24);
    double sum = 0;
    for (int k = 12; k < 24; k++)
        sum += n[k];
    CHECK_NEAR(sum, 6, 0); /* three corners at 2 */
    folder_remove(f.path);
}

TEST(parts_have_their_place_and_measures)
{
    folder f = folder_create();
    double n[64];
    run_into(&f, scene, NULL);
    CHECK_INT(numbers_of(&f, "geometry/part_offset", n, 64), 4);
    CHECK_NEAR(n[2], 0, 0);
    CHECK_NEAR(n[3], 2, 0);
    CHECK_INT(numbers_of(&f, "geometry/parts/geometry", n, 64), 2);
    CHECK_NEAR(n[0], 1, 0);
    CHECK_NEAR(n[1], -1, 0);
    CHECK_INT(numbers_of(&f, "geometry/parts/x", n, 64), 6);
    CHECK_NEAR(n[2], 3, 0);
    CHECK_INT(numbers_of(&f, "geometry/parts/radius", n, 64), 2);
    CHECK_NEAR(n[1], 0.25, 0);
    folder_remove(f.path);
}

TEST(a_run_of_balls_has_no_such_group)
{
    folder f = folder_create();
    double n[64];
    cairn_scene s = scene_create(3);
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, NULL, NULL));
    CHECK_INT(numbers_of(&f, "geometry/vertices", n, 64), -1);
    CHECK_INT(numbers_of(&f, "bodies/geometry", n, 64), 4);
    CHECK_NEAR(n[0], -1, 0);
    scene_destroy(&s);
    folder_remove(f.path);
}

/* ---- going on ------------------------------------------------------------------------------- */

/* Hulls come in one by one: a stopped run meets the same data again, and new ones. */
static const char *const pours =
    "cairn: 1\n"
    "bodies: [{motion: fixed, shape: half_space}]\n"
    "generators:\n"
    "  - pour: {count: 4, rate: 500, centre: [0, 0, 3], size: [1, 1, 0.1], velocity: [0, 0, -9],\n"
    "           shape: {polyhedron: {points: [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, "
    "0.1]]}}}\n"
    "  - pour: {count: 2, rate: 100, centre: [9, 0, 3], size: [1, 1, 0.1], velocity: [0, 0, -9],\n"
    "           shape: {polyhedron: {points: [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, "
    "0.2]]}}}\n"
    "run: {time_step: 1e-3, duration: 0.04, frame_interval: 5e-3, certificate: full, paraview: "
    "false, picture: false}\n";

static bool stop_after(const cairn_progress *progress, void *context)
{
    return progress->step < *(const int64_t *)context;
}

TEST(a_stopped_run_goes_on_to_the_same_rows)
{
    folder whole = folder_create();
    double n[64];
    run_into(&whole, pours, NULL);
    CHECK_INT(numbers_of(&whole, "geometry/vertex_offset", n, 64), 3);
    for (int64_t steps = 1; steps < 40; steps += 7) {
        folder f = folder_create();
        cairn_scene *s = scene_text_good(pours, NULL), *again = NULL;
        const cairn_resume_options options = { .threads = 1 };
        cairn_run(s, f.path, stop_after, &steps, NULL, NULL);
        cairn_scene_destroy(s);
        CHECK_OK(cairn_run_resume(f.path, &options, &again, NULL, NULL));
        cairn_scene_destroy(again);
        CHECK(check_same_h5(&whole, &f) > 80);
        folder_remove(f.path);
    }
    folder_remove(whole.path);
}

int main(void)
{
    RUN(CASE(a_body_names_the_row_of_its_data), CASE(points_and_faces_are_those_of_the_hull),
        CASE(parts_have_their_place_and_measures), CASE(a_run_of_balls_has_no_such_group),
        CASE(a_stopped_run_goes_on_to_the_same_rows));
}
