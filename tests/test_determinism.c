/* test_determinism.c - the same bits every time: whatever the number of threads or the width of
 * registers, when a run is repeated, and when it goes on from saved bytes. docs/determinism.md tells
 * in which sense. */
#include "saved_world.h"

#include "backend/host/batch.h"

/* ---- the width of registers ----------------------------------------------------------------- */

/* The linker puts this in the place of cairn_width_best (tests/CMakeLists.txt). */
cairn_width __real_cairn_width_best(void);
cairn_width __wrap_cairn_width_best(void);

static int widest = CAIRN_WIDTH_COUNT; /* that sweeps may use */

cairn_width __wrap_cairn_width_best(void)
{
    cairn_width best = __real_cairn_width_best();
    return (int)best < widest ? best : (cairn_width)widest;
}

/* ---- one world, run in many ways ------------------------------------------------------------ */

/* A way to run. */
typedef struct manner {
    int threads, width;
} manner;

/* Bytes after `steps` steps from saved bytes; *most is the largest number of candidates. */
static saved run_from(const saved *start, cairn_step_options options, manner how, int steps,
                      int *most)
{
    cairn_world *world = load(start);
    cairn_step_report report;
    options.threads = how.threads;
    widest = how.width;
    for (int i = 0; i < steps; i++) {
        CHECK_OK(cairn_world_step(world, &options, &report));
        *most = report.candidates > *most ? report.candidates : *most;
    }
    saved end = save(world);
    cairn_world_destroy(world);
    widest = CAIRN_WIDTH_COUNT;
    return end;
}

/* Saved in the middle, loaded, and finished with other threads. */
static saved run_in_two_parts(const saved *start, const cairn_step_options *options, int steps)
{
    int most = 0;
    const manner first = { 3, CAIRN_WIDTH_COUNT }, second = { 2, CAIRN_WIDTH_COUNT };
    saved middle = run_from(start, *options, first, steps / 2, &most);
    saved end = run_from(&middle, *options, second, steps - steps / 2, &most);
    free(middle.data);
    return end;
}

static bool same(const saved *a, const saved *b)
{
    return a->bytes == b->bytes && memcmp(a->data, b->data, a->bytes) == 0;
}

static void expect(const saved *expected, saved found, const char *name, const char *how)
{
    if (!same(expected, &found))
        fail_msg("%s: other bits %s", name, how);
    free(found.data);
}

/* All of the state is compared, contacts and impulses too. Returns the largest number of
 * candidates. */
static int check_same_bits(const char *name, const cairn_world *world,
                           const cairn_step_options *options, int steps)
{
    static const manner manners[] = { { 1, CAIRN_WIDTH_COUNT },    { 2, CAIRN_WIDTH_COUNT },
                                      { 3, CAIRN_WIDTH_COUNT },    { 8, CAIRN_WIDTH_COUNT },
                                      { 1, CAIRN_WIDTH_BASELINE }, { 2, CAIRN_WIDTH_AVX2 } };
    int most = 0;
    char how[64];
    saved start = save(world), end = run_from(&start, *options, manners[0], steps, &most);
    CHECK(!same(&start, &end)); /* something happened */
    for (size_t i = 0; i < sizeof manners / sizeof manners[0]; i++) {
        snprintf(how, sizeof how, "with %d threads, width %d", manners[i].threads,
                 manners[i].width);
        expect(&end, run_from(&start, *options, manners[i], steps, &most), name, how);
    }
    expect(&end, run_in_two_parts(&start, options, steps), name, "after saving and loading");
    free(start.data);
    free(end.data);
    return most;
}

/* ---- what is run ---------------------------------------------------------------------------- */

TEST(scenes_end_with_the_same_bits)
{
    static const struct {
        const char *name;
        int steps;
    } scenes[] = { { "ball_drop", 100 },
                   { "bouncing_ball", 500 },
                   { "four_balls", 100 },
                   { "column_collapse_2d", 30 },
                   { "newton_cradle", 400 },
                   { "pebble_bed", 100 },
                   { "rotating_drum_2d", 60 },
                   { "shaken_box_2d", 300 },
                   { "stribeck_block", 400 },
                   { "incline_disk_2d", 30 },
                   { "box_of_spheres", 6 },
                   { "chain", 100 },           /* joints */
                   { "gripper", 200 },         /* motors, limits */
                   { "slider_crank_2d", 200 }, /* dry friction in joints */
                   { "box_stack", 60 },        /* boxes */
                   { "hook", 300 },            /* a mesh */
                   { "superellipsoid_drum", 5 },
                   { "arch_2d", 60 },            /* polygons */
                   { "pebbles_on_a_belt", 300 }, /* rolling, spinning, a belt */
                   { "rolling_heap_2d", 200 } };
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        char file[512];
        cairn_scene *scene = NULL;
        snprintf(file, sizeof file, CAIRN_SOURCE_DIR "/scenes/%s.yaml", scenes[i].name);
        CHECK_OK(cairn_scene_load(file, NULL, 0, &scene, NULL));
        check_same_bits(scenes[i].name, scene->world, &scene->step, scenes[i].steps);
        cairn_scene_destroy(scene);
    }
}

static void check_scene(const char *text, const char *override, int steps)
{
    cairn_scene *scene = scene_text_good(text, override);
    check_same_bits(override, scene->world, &scene->step, steps);
    cairn_scene_destroy(scene);
}

TEST(every_scheme_ends_with_the_same_bits)
{
    char override[64];
    for (int i = 0; cairn_scheme_name(i); i++) {
        snprintf(override, sizeof override, "run.scheme=%s", cairn_scheme_name(i));
        check_scene(scene_3d, override, 60);
    }
}

/* Joints of ten kinds; shapes of every kind with rolling, adhesion and a belt. */
TEST(machines_and_shapes_end_with_the_same_bits)
{
    check_scene(scene_machine, "run.scheme=coulomb", 50);
    check_scene(scene_machine, "run.scheme=convex", 50);
    check_scene(scene_shapes, "run.scheme=coulomb", 50);
    check_scene(scene_shapes, "run.scheme=convex", 50);
}

/* SIDE^3 spheres in touch on a floor. */
static cairn_world *cube(int side)
{
    cairn_world *world = world_create(3);
    add_wall(world, cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3), (cairn_vec3){ 0, 0, 0 });
    for (int i = 0; i < side * side * side; i++)
        add_sphere(world, 0.1,
                   (cairn_vec3){ 0.2 * (i % side), 0.2 * (i / side % side),
                                 0.1 + 0.2 * (i / side / side) });
    return world;
}

/* 117 contacts, each solver that treats the convex law of circular cones. */
TEST(every_solver_ends_with_the_same_bits)
{
    int solved = 0;
    cairn_step_options options = cairn_step_options_default();
    options.time_step = 1e-3;
    options.tolerance = 1e-6;
    options.scheme = "convex";
    for (int i = 0; cairn_solver_name(i); i++) {
        cairn_world *world = cube(3);
        options.solver = cairn_solver_name(i);
        if (cairn_world_step_check(world, &options, NULL) == CAIRN_OK) {
            check_same_bits(options.solver, world, &options, 4);
            solved++;
        }
        cairn_world_destroy(world);
    }
    CHECK(solved >= 12);
}

/* 4913 spheres in touch: 14161 candidates, four pieces of parallel work in the narrow phase (4096
 * pairs each), the least for which threads are woken, and more in products and judge. */
TEST(loops_that_are_cut_into_pieces_give_the_same_bits)
{
    static const char *const solvers[] = { "auto", "ngs",      "pgs",    "apgd",
                                           "pgd",  "apgd-asr", "apgd-d", "spg" };
    cairn_world *world = cube(17);
    cairn_step_options options = cairn_step_options_default();
    options.time_step = 1e-3;
    options.tolerance = 1e-1;
    options.max_iterations = 5;
    options.scheme = "convex";
    for (size_t i = 0; i < sizeof solvers / sizeof solvers[0]; i++) {
        options.solver = solvers[i];
        CHECK(check_same_bits(solvers[i], world, &options, 2) > 3 * 4096);
    }
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(scenes_end_with_the_same_bits), CASE(every_scheme_ends_with_the_same_bits),
        CASE(machines_and_shapes_end_with_the_same_bits),
        CASE(every_solver_ends_with_the_same_bits),
        CASE(loops_that_are_cut_into_pieces_give_the_same_bits));
}
