/* bench.c - ratios measured in one run: solvers on a settled box of spheres, the broad phases, and
 * where a step's time goes. Prints tables and writes CSV files into the folder given.
 *
 *     cairn_bench FOLDER [N [SOLVERS]]    N^3 spheres, default 8; SOLVERS: names separated by
 *                                         commas, default all, each with 10 s for a solve
 *     cairn_bench FOLDER sweeps [MOST]    sweeps.c, up to this many contacts, default 1,000,000
 *     cairn_bench FOLDER settle [MOST]    up to this many spheres, default 4,000
 *     cairn_bench FOLDER large [N [STEPS [SCHEME]]]
 *                                         N^3 spheres, default 100; steps, default 200; scheme,
 *                                         default convex
 *     cairn_bench FOLDER scopi [MOST]     up to this many spheres along an edge, default 16
 *     cairn_bench FOLDER rest [N [SCHEME [COPIES [BEFORE [STEPS [PARTS [BACKEND [THREADS]]]]]]]]
 *                                         N^3 spheres, default 32; COPIES as 2x2x1, default 1x1x1;
 *                                         steps to settle, default 20, and to measure, default 20;
 *                                         run.parts, default 0: by the number of contacts; back
 *                                         end, default host; threads, default 1
 *     cairn_bench FOLDER mpi KIND [N [SCHEME [COPIES [BEFORE [STEPS [PARTS]]]]]]
 *                                         the same by all ranks (mpirun); KIND is a word for the
 *                                         table, such as weak or strong
 *     cairn_bench FOLDER mpi-link         latency and bandwidth between two ranks
 *     cairn_bench FOLDER mpi-pour [SPHERES [PARTS]]
 *                                         how evenly ranks share a pour
 *     cairn_bench FOLDER mpi-model        a model of these tables, checked with them
 *     cairn_bench FILE export N|rest-N|column
 *                                         a scene of the comparison with other engines
 *     cairn_bench FILE problem N          the problem of a settled box, as a file
 *
 * settle, large and scopi are in boxes.c, rest in rest.c, mpi in mpi.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "bench.h"
#include "peers/peer.h"
#include "tests/problems/random_shapes.h"

/* ---- the settled box ------------------------------------------------------------------------ */

/* scenes/box_of_spheres.yaml with n^3 spheres instead of 16^3. */
cairn_scene *bench_box(int n, const char *scheme, double longer)
{
    double d = 10.0 / n, r = d / 2;
    char texts[7][160];
    const char *overrides[7];
    snprintf(texts[0], sizeof texts[0], "generators.0.grid.count=[%d, %d, %d]", n, n, n);
    snprintf(texts[1], sizeof texts[1], "generators.0.grid.spacing=[%.17g, %.17g, %.17g]", d, d, d);
    snprintf(texts[2], sizeof texts[2], "generators.0.grid.origin=[%.17g, %.17g, %.17g]", r, r, r);
    snprintf(texts[3], sizeof texts[3], "generators.0.grid.jitter=%.17g", 0.05 * r);
    snprintf(texts[4], sizeof texts[4],
             "generators.0.grid.radius={uniform: {minimum: %.17g, maximum: %.17g}}", 0.8 * r,
             0.9 * r);
    snprintf(texts[5], sizeof texts[5], "run.time_step=%.17g", longer * 0.2 * 0.8 * r / 4.5);
    snprintf(texts[6], sizeof texts[6], "run.scheme=%s", scheme);
    for (int i = 0; i < 7; i++)
        overrides[i] = texts[i];
    cairn_scene *scene;
    cairn_error error = { 0 };
    if (cairn_scene_load(CAIRN_SOURCE_DIR "/scenes/box_of_spheres.yaml", overrides, 7, &scene,
                         &error) != CAIRN_OK) {
        fprintf(stderr, "bench: %s: %s\n", error.key, error.message);
        exit(1);
    }
    return scene;
}

/* Run to the end of the scene; prints where the time of the last quarter went. */
static void settle(cairn_scene *scene)
{
    cairn_step_report report;
    cairn_timing sum = { 0 };
    int64_t steps = (int64_t)round(scene->run.duration / scene->step.time_step), sweeps = 0;
    for (int64_t k = 0; k < steps; k++) {
        cairn_status status = cairn_world_step(scene->world, &scene->step, &report);
        if (status != CAIRN_OK)
            bench_fail("a step", status);
        if (4 * k < 3 * steps)
            continue;
        sum.collide += report.timing.collide;
        sum.assemble += report.timing.assemble;
        sum.solve += report.timing.solve;
        sum.finish += report.timing.finish;
        sweeps += report.solve.iterations;
    }
    double sweep = sum.solve / (double)(sweeps ? sweeps : 1);
    double rest = (sum.collide + sum.assemble + sum.finish) / ((double)steps / 4);
    printf("settled: %d candidates, %d pushing; a sweep takes %.3g ms, %.0f ns a contact; all but "
           "the solve %.1f sweeps a step\n\n",
           report.candidates, report.active, 1e3 * sweep, 1e9 * sweep / report.candidates,
           rest / sweep);
}

/* ---- solvers -------------------------------------------------------------------------------- */

typedef struct answer {
    double seconds;
    cairn_solve_report report;
    bool treated;
} answer;

static answer solve_cold(const cairn_problem *p, const char *solver, cairn_law law,
                         double tolerance)
{
    answer a = { 0 };
    size_t r_count = (size_t)p->dimension * (size_t)p->contacts;
    double *r = calloc(2 * r_count, sizeof(double));
    double *v = calloc((size_t)p->blocks * (size_t)p->block_size, sizeof(double));
    cairn_workspace *workspace;
    cairn_solve_options options = cairn_solve_options_default();
    options.solver = solver;
    options.law = law;
    options.tolerance = tolerance;
    options.max_iterations = 1000000;
    options.time_limit = 10;
    if (!r || !v || cairn_workspace_create(&workspace) != CAIRN_OK)
        bench_fail("memory", CAIRN_NO_MEMORY);
    a.treated = cairn_solver_accepts(solver, law, p);
    double start = cairn_clock_seconds();
    if (a.treated && cairn_solve(p, &options, workspace, r, v, r + r_count, &a.report) != CAIRN_OK)
        a.report.converged = false;
    a.seconds = cairn_clock_seconds() - start;
    cairn_workspace_destroy(workspace);
    free(r);
    free(v);
    return a;
}

/* Whether `name` is in the list `wanted`; NULL: always. */
static bool is_wanted(const char *wanted, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = wanted; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    return !wanted;
}

static void compare_solvers(const cairn_problem *p, cairn_law law, const char *wanted, FILE *csv)
{
    static const double tolerances[] = { 1e-2, 1e-3, 1e-4 };
    printf("%s law, cold start: iterations (ms, times the time of ngs)\n%-10s", cairn_law_name(law),
           "");
    for (int t = 0; t < 3; t++)
        printf(" %26.0e", tolerances[t]);
    printf("\n");
    double unit[3];
    for (int t = 0; t < 3; t++)
        unit[t] = solve_cold(p, "ngs", law, tolerances[t]).seconds;
    for (int i = 0; cairn_solver_name(i); i++) {
        const char *name = cairn_solver_name(i);
        if (!cairn_solver_accepts(name, law, p) || !is_wanted(wanted, name))
            continue;
        printf("%-10s", name);
        for (int t = 0; t < 3; t++) {
            answer a = solve_cold(p, name, law, tolerances[t]);
            char text[64];
            snprintf(text, sizeof text, "%lld (%.1f, %.2f)", (long long)a.report.iterations,
                     1e3 * a.seconds, a.seconds / unit[t]);
            printf(" %26s", a.report.converged ? text : "-");
            fprintf(csv, "%s,%s,%g,%d,%lld,%.6g,%.6g\n", cairn_law_name(law), name, tolerances[t],
                    a.report.converged, (long long)a.report.iterations, a.seconds,
                    a.report.judgement.asked.relative);
        }
        printf("\n");
        fflush(stdout);
    }
    printf("\n");
}

/* ---- broad phases --------------------------------------------------------------------------- */

static double pairs_seconds(const cairn_broad_phase *broad, const cairn_collider *colliders,
                            int count, size_t *found)
{
    cairn_arena arena = { 0 };
    cairn_pair_list list = { 0 };
    double start = cairn_clock_seconds();
    if (pairs_of(broad, colliders, count, &arena, &list) != CAIRN_OK)
        bench_fail("pairs", CAIRN_NO_MEMORY);
    double seconds = cairn_clock_seconds() - start;
    *found = list.count;
    cairn_pair_list_destroy(&list);
    cairn_arena_destroy(&arena);
    return seconds;
}

/* Balls at random, half of the volume filled; sizes up to 1 : `spread`. */
static void compare_broad_phases(double spread, FILE *csv)
{
    printf("broad phases, sizes 1:%g: milliseconds\n%10s %12s %12s %12s %12s\n", spread, "balls",
           "pairs", "grid", "tree", "all pairs");
    for (int count = 1000; count <= 64000; count *= 4) {
        cairn_collider *colliders = calloc((size_t)count, sizeof *colliders);
        static const cairn_shape ball = { .kind = CAIRN_SHAPE_SPHERE, .radius = 1 };
        uint64_t state = 1;
        double volume = 0;
        if (!colliders)
            bench_fail("memory", CAIRN_NO_MEMORY);
        for (int i = 0; i < count; i++) {
            double r = pow(spread, cairn_random_uniform(&state));
            volume += 4.2 * r * r * r;
            colliders[i] = (cairn_collider){ .shape = &ball, .extent = r, .movable = true };
        }
        double side = cbrt(2 * volume);
        for (int i = 0; i < count; i++) {
            colliders[i].x = (cairn_vec3){ side * cairn_random_uniform(&state),
                                           side * cairn_random_uniform(&state),
                                           side * cairn_random_uniform(&state) };
            cairn_collider_enclose(&colliders[i]);
        }
        size_t found;
        double grid = pairs_seconds(&cairn_broad_phase_grid, colliders, count, &found);
        double tree = pairs_seconds(&cairn_broad_phase_tree, colliders, count, &found);
        double all = count <= 16000
                         ? pairs_seconds(&cairn_broad_phase_all_pairs, colliders, count, &found)
                         : NAN;
        printf("%10d %12zu %12.2f %12.2f %12.2f\n", count, found, 1e3 * grid, 1e3 * tree,
               1e3 * all);
        fprintf(csv, "%g,%d,%zu,%.6g,%.6g,%.6g\n", spread, count, found, grid, tree, all);
        free(colliders);
    }
    printf("\n");
}

/* Every solver on one settled box, and the broad phases. */
static void compare_all(const char *folder, int n, const char *wanted)
{
    printf("cairn %s, one thread\n\n%d spheres in a box, mu 0.3, at t = 8 s\n", cairn_version(),
           n * n * n);
    cairn_scene *scene = bench_box(n, "convex", 1);
    scene->step.threads = 1;
    settle(scene);
    FILE *csv = bench_table(folder, "solvers.csv",
                            "law,solver,tolerance,converged,iterations,seconds,residual");
    const cairn_problem *problem = cairn_world_problem(scene->world, NULL);
    compare_solvers(problem, CAIRN_LAW_CONVEX, wanted, csv);
    compare_solvers(problem, CAIRN_LAW_COULOMB, wanted, csv);
    fclose(csv);
    cairn_scene_destroy(scene);
    csv = bench_table(folder, "broad_phases.csv", "spread,balls,pairs,grid_s,tree_s,all_pairs_s");
    compare_broad_phases(1, csv);
    compare_broad_phases(100, csv);
    fclose(csv);
}

/* ---- scenes and problems as files ------------------------------------------------------------ */

/* Scenes of the comparison as files that every engine reads (bench/peers/peer.h), made from cairn's
 * scenes: box_of_spheres with n^3 spheres, the same after it has settled, and column_collapse_2d.
 * And the contact problem of a settled box, as a file that other solvers read. */

enum { FRAMES = 80, REST_STEPS = 160 };

/* Copy the dynamic bodies of the world, which are balls, into the scene. */
static void take_balls(const cairn_scene *scene, peer_scene *out)
{
    cairn_bodies bodies = cairn_world_bodies(scene->world);
    size_t most = (size_t)bodies.count;
    out->position = calloc(3 * most, sizeof(double));
    out->radius = calloc(most, sizeof(double));
    out->mass = calloc(most, sizeof(double));
    if (!out->position || !out->radius || !out->mass)
        bench_fail("memory", CAIRN_NO_MEMORY);
    for (int i = 0; i < bodies.count; i++) {
        if (bodies.motion[i] != CAIRN_MOTION_DYNAMIC)
            continue;
        double *x = out->position + 3 * out->count;
        x[0] = bodies.x[i].x;
        x[1] = bodies.x[i].y;
        x[2] = bodies.x[i].z;
        out->radius[out->count] = cairn_bodies_shape(&bodies, i)->radius;
        out->mass[out->count++] = bodies.mass[i];
    }
}

static void write_scene(const cairn_scene *scene, double side, const char *path)
{
    cairn_vec3 gravity = cairn_world_gravity(scene->world);
    cairn_material_def material;
    peer_scene out = { .side = side };
    if (cairn_material_get(scene->world, 0, &material) != CAIRN_OK)
        bench_fail("the material", CAIRN_NOT_FOUND);
    take_balls(scene, &out);
    out.dimension = cairn_world_dimension(scene->world);
    out.gravity = out.dimension == 3 ? -gravity.z : -gravity.y;
    out.friction = material.friction;
    out.time_step = scene->step.time_step;
    out.steps = (int)ceil(scene->run.duration / out.time_step - 1e-9);
    out.frame_every = out.steps > FRAMES ? out.steps / FRAMES : 1;
    peer_scene_write(path, &out);
    peer_scene_destroy(&out);
}

static cairn_scene *column(void)
{
    cairn_scene *scene;
    cairn_error error = { 0 };
    if (cairn_scene_load(CAIRN_SOURCE_DIR "/scenes/column_collapse_2d.yaml", NULL, 0, &scene,
                         &error) != CAIRN_OK)
        bench_fail(error.message, CAIRN_BAD_INPUT);
    return scene;
}

/* A box of n^3 spheres with exact friction, at the end of a run with steps longer by a factor. */
static cairn_scene *settled_box(int n, double longer)
{
    cairn_scene *scene = bench_box(n, "coulomb", longer);
    cairn_step_report report;
    int steps = (int)(scene->run.duration / scene->step.time_step);
    scene->step.threads = 1;
    for (int k = 0; k < steps; k++) {
        cairn_status status = cairn_world_step(scene->world, &scene->step, &report);
        if (status != CAIRN_OK)
            bench_fail("a step", status);
    }
    return scene;
}

/* n, the spheres along an edge, after `before` in the name of the scene; 0: another name. */
static int edge_of(const char *which, const char *before)
{
    size_t length = strlen(before);
    int n = strncmp(which, before, length) == 0 ? atoi(which + length) : 0;
    return n >= 2 && n <= 100 ? n : 0;
}

void bench_export(const char *path, const char *which)
{
    int n = edge_of(which, ""), rest = edge_of(which, "rest-");
    bool flat = strcmp(which, "column") == 0;
    if (!flat && !n && !rest)
        bench_fail("export: expected column, N or rest-N, N from 2 to 100", CAIRN_BAD_INPUT);
    cairn_scene *scene = flat ? column() : rest ? settled_box(rest, 3) : bench_box(n, "convex", 1);
    if (rest) {
        scene->step.time_step /= 3;
        scene->run.duration = REST_STEPS * scene->step.time_step;
    }
    write_scene(scene, flat ? 0 : 10, path);
    cairn_scene_destroy(scene);
}

void bench_problem(const char *path, const char *which)
{
    int n = atoi(which);
    if (n < 2 || n > 50)
        bench_fail("problem: expected a number from 2 to 50", CAIRN_BAD_INPUT);
    cairn_scene *scene = settled_box(n, 1);
    cairn_error error = { 0 };
    const cairn_problem *problem = cairn_world_problem(scene->world, NULL);
    if (cairn_fclib_save_problem(path, problem, "box_of_spheres", NULL, NULL, &error) != CAIRN_OK)
        bench_fail(error.message, CAIRN_IO_FAILED);
    cairn_scene_destroy(scene);
}

/* ---- the command ----------------------------------------------------------------------------- */

static void explain_usage(void)
{
    fprintf(stderr,
            "usage: cairn_bench FOLDER [N from 2 to 50 [SOLVERS]]\n"
            "       cairn_bench FOLDER sweeps|settle [MOST]\n"
            "       cairn_bench FOLDER large [N [STEPS [SCHEME]]]\n"
            "       cairn_bench FOLDER scopi [MOST]\n"
            "       cairn_bench FOLDER rest [N [SCHEME [COPIES [BEFORE [STEPS [PARTS [BACKEND "
            "[THREADS]]]]]]]]\n"
            "       cairn_bench FOLDER periodic [N [STEPS [ROUNDS]]]\n"
            "       cairn_bench FOLDER mpi KIND [N [SCHEME [COPIES [BEFORE [STEPS [PARTS]]]]]]\n"
            "       cairn_bench FOLDER mpi-link|mpi-model\n"
            "       cairn_bench FOLDER mpi-pour [SPHERES [PARTS]]\n"
            "       cairn_bench FILE export N|rest-N|column\n"
            "       cairn_bench FILE problem N\n");
    exit(2);
}

/* Benchmarks of ranks; false: it is another one. */
static bool measure_ranks(const char *what, int argc, char **argv)
{
    bool box = strcmp(what, "mpi") == 0 && argc > 3, link = strcmp(what, "mpi-link") == 0;
    bool model = strcmp(what, "mpi-model") == 0, pour = strcmp(what, "mpi-pour") == 0;
    if (pour)
        bench_mpi_pour(argv[1], bench_number_at(argc, argv, 3, 10000),
                       bench_number_at(argc, argv, 4, 16));
    if (box) {
        bench_rest_options o = bench_read_rest(argc, argv, 4);
        bench_mpi(argv[1], argv[3], &o);
    }
    if (link)
        bench_mpi_link(argv[1]);
    if (model)
        bench_mpi_model(argv[1]);
    return box || link || model || pour;
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[2] : "";
    bool numbered = argc > 1 && (argc == 2 || (what[0] >= '0' && what[0] <= '9'));
    int n = numbered ? bench_number_at(argc, argv, 2, 8) : 0;
    if (strcmp(what, "sweeps") == 0)
        bench_sweeps(argv[1], bench_number_at(argc, argv, 3, 1000000));
    else if (strcmp(what, "settle") == 0)
        bench_settle(argv[1], bench_number_at(argc, argv, 3, 4000));
    else if (strcmp(what, "large") == 0)
        bench_large(argv[1], bench_number_at(argc, argv, 3, 100),
                    bench_number_at(argc, argv, 4, 200), argc > 5 ? argv[5] : "convex");
    else if (strcmp(what, "scopi") == 0)
        bench_scopi(argv[1], bench_number_at(argc, argv, 3, 16));
    else if (strcmp(what, "periodic") == 0)
        bench_periodic(argv[1], bench_number_at(argc, argv, 3, 22),
                       bench_number_at(argc, argv, 4, 200), bench_number_at(argc, argv, 5, 3));
    else if (strcmp(what, "rest") == 0) {
        bench_rest_options o = bench_read_rest(argc, argv, 3);
        bench_rest(argv[1], &o);
    } else if (measure_ranks(what, argc, argv)) {
        return 0;
    } else if (argc > 3 && strcmp(what, "export") == 0)
        bench_export(argv[1], argv[3]);
    else if (argc > 3 && strcmp(what, "problem") == 0)
        bench_problem(argv[1], argv[3]);
    else if (n >= 2 && n <= 50)
        compare_all(argv[1], n, argc > 3 ? argv[3] : NULL);
    else
        explain_usage();
    return 0;
}
