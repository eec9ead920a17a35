/* check_runs.h - what the tests of cairn-check share: scenes with everything there is, what the
 * program says of a run, and numbers of the file to change. CAIRN_CHECK names the program. */
#ifndef CAIRN_TESTS_CHECK_RUNS_H
#define CAIRN_TESTS_CHECK_RUNS_H

#include <sys/wait.h>

#include "scene_text.h"

#include "run_scene.h"

enum { CERTIFIED = 0, NOT_CERTIFIED = 1, CANNOT_CHECK = 2 };

/* Everything there is, short: curved walls, restitution, loads, drivers, an inlet, unequal inertia,
 * a particle. All that moves touches and spins within the 60 steps. */
static const char *const scene_3d =
    "cairn: 1\n"
    "materials:\n"
    "  rock: {friction: 0.4, restitution: 0.3}\n"
    "  steel: {friction: 0.2, restitution: 0.6}\n"
    "pairs: [{materials: [rock, steel], friction: 0.35, restitution: 0.5}]\n"
    "bodies:\n"
    "  - {motion: fixed, material: steel, shape: {inside_cone: {half_angle: 1.0}}}\n"
    "  - {motion: fixed, material: steel, shape: {inside_cylinder: {radius: 0.2}}}\n"
    "  - motion: driven\n"
    "    material: steel\n"
    "    shape: {funnel: {bottom_radius: 0.12, top_radius: 0.25, height: 0.2}}\n"
    "    position: [0, 0, 0.4]\n"
    "    drivers: [{rotation: {angular_velocity: [0.3, 0.2, 1]}}]\n"
    "  - motion: driven\n"
    "    material: rock\n"
    "    shape: {half_space: {axis: [-1, 0, 0.2]}}\n"
    "    position: [0.08, 0, 0]\n"
    "    drivers: [{shake: {amplitude: [0.05, 0, 0], frequency: 5}}]\n"
    "  - {material: rock, shape: {sphere: {radius: 0.08}}, density: 2000, position: [0.01, 0, "
    "0.16],\n"
    "     angular_velocity: [1, 2, 3],\n"
    "     loads: [{sine: {force: [30, 10, 0], torque: [0.1, 0.2, 0.3], frequency: 4}}]}\n"
    "  - {material: rock, shape: {sphere: {radius: 0.07}}, mass: 2, inertia: [0.004, 0.006, "
    "0.009],\n"
    "     position: [0.02, 0.01, 0.32], velocity: [0, 0, -1], angular_velocity: [5, 1, 8],\n"
    "     loads: [{constant: {torque: [0.05, 0.01, 0.02]}}]}\n"
    "  - {material: rock, shape: point, mass: 0.1, position: [0.1, 0.05, 0.1], velocity: [0, 1, "
    "-1]}\n"
    "generators:\n"
    "  - pour: {count: 3, rate: 200, centre: [0, 0, 0.57], size: [0.3, 0.3, 0.04], radius: 0.03,\n"
    "           velocity: [0, 0, -2], material: rock}\n"
    "run: {time_step: 4e-3, duration: 0.24, frame_interval: 0.02, certificate: full,\n"
    "      paraview: false, picture: false}\n";

static const char *const scene_2d =
    "cairn: 1\n"
    "dimension: 2\n"
    "gravity: [0, -9.81]\n"
    "materials: {a: {friction: 0.3, restitution: 0.4}, b: {friction: 0.6}}\n"
    "bodies:\n"
    "  - {motion: fixed, material: a, shape: {inside_cone: {half_angle: 0.8}}}\n"
    "  - {motion: driven, material: b, shape: {inside_cylinder: {radius: 0.5}}, position: [0, "
    "0.5],\n"
    "     drivers: [{rotation: {angular_velocity: 1}}]}\n"
    "  - {motion: driven, material: a, position: [0, 0.9],\n"
    "     shape: {funnel: {bottom_radius: 0.12, top_radius: 0.4, height: 0.2}},\n"
    "     drivers: [{shake: {amplitude: [0.05, 0.02], frequency: 3}}]}\n"
    "  - {material: a, shape: {sphere: {radius: 0.1}}, density: 100, position: [0.01, 0.2],\n"
    "     angular_velocity: 3, loads: [{constant: {force: [2, 1], torque: 0.1}}]}\n"
    "  - {material: b, shape: {sphere: {radius: 0.08}}, mass: 2, position: [0.03, 0.4],\n"
    "     velocity: [0, -2], angular_velocity: -1}\n"
    "  - {material: b, shape: point, mass: 1, position: [-0.3, 0.3], velocity: [-1, 0]}\n"
    "run: {time_step: 4e-3, duration: 0.24, frame_interval: 0.02, certificate: full,\n"
    "      paraview: false, picture: false}\n";

/* Impacts by Poisson's law, in two phases, with friction that depends on the sliding speed; what
 * starts overlapped is moved apart. */
static const char *const scene_bounce =
    "cairn: 1\n"
    "materials:\n"
    "  hard: {friction: 0.3, restitution: 0.7, restitution_law: poisson}\n"
    "  soft: {friction_law: {stribeck: {static: 0.6, dynamic: 0.2, speed: 0.5}}, restitution: "
    "0.5,\n"
    "         restitution_law: poisson}\n"
    "  worn: {friction_law: {table: {speeds: [0, 1, 3], values: [0.5, 0.3, 0.1]}}}\n"
    "pairs: [{materials: [soft, worn], friction_law: {stribeck: {static: 0.5, dynamic: 0.1, speed: "
    "1}}}]\n"
    "bodies:\n"
    "  - {motion: fixed, material: soft, shape: {half_space: {axis: [0.2, 0.1, 1]}}}\n"
    "  - {material: hard, shape: {sphere: {radius: 0.1}}, mass: 1, position: [0, 0, 0.13],\n"
    "     velocity: [1, 0.5, -2]}\n"
    "  - {material: soft, shape: {sphere: {radius: 0.1}}, mass: 2, position: [0.15, 0, 0.28],\n"
    "     velocity: [0.5, 0, -2], angular_velocity: [3, 8, 1]}\n"
    "  - {material: worn, shape: {sphere: {radius: 0.1}}, mass: 1, position: [0.31, 0.02, 0.1],\n"
    "     velocity: [1, 0, 0]}\n"
    "  - {material: worn, shape: {sphere: {radius: 0.1}}, mass: 1, position: [0.505, 0.03, 0.1]}\n"
    "run: {time_step: 4e-3, duration: 0.24, frame_interval: 0.02, certificate: full,\n"
    "      paraview: false, picture: false}\n";

/* Run a scene into the folder, with one override (NULL: none). */
static inline void run_into(const folder *f, const char *text, const char *override)
{
    cairn_scene *scene = scene_text_good(text, override);
    cairn_error error = { 0 };
    if (cairn_run(scene, f->path, NULL, NULL, NULL, &error) != CAIRN_OK)
        fail_msg("%s", error.message);
    cairn_scene_destroy(scene);
}

/* What the program says of a file in the folder ("": of the folder), called with these flags: its
 * exit code; its words go to said.txt. */
static inline int verdict_of(const folder *f, const char *file, const char *flags)
{
    char command[1024];
    const char *program = getenv("CAIRN_CHECK");
    CHECK(program != NULL);
    snprintf(command, sizeof command, "'%s' %s '%s/%s' >'%s/said.txt' 2>&1", program, flags,
             f->path, file, f->path);
    int code = system(command);
    CHECK(code >= 0 && WIFEXITED(code));
    return WEXITSTATUS(code);
}

/* By recomputation alone: what it says of a run that was tampered with does not come from
 * checksums. */
static inline int verdict(const folder *f)
{
    return verdict_of(f, "", "--no-checksums");
}

static inline int full_verdict(const folder *f)
{
    return verdict_of(f, "", "");
}

static inline uint64_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* One number of a dataset, as a double: read it, and when `value` differs write it. */
static inline double swap_number(const folder *f, const char *name, hsize_t place,
                                 const double *value)
{
    hid_t file = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(dataset);
    hsize_t extent[2] = { 1, 1 }, at[2], one = 1;
    int rank = H5Sget_simple_extent_dims(space, extent, NULL);
    double old;
    CHECK(rank == 1 || rank == 2);
    at[0] = rank == 2 ? place / extent[1] : place;
    at[1] = rank == 2 ? place % extent[1] : 0;
    hid_t memory = H5Screate_simple(1, &one, NULL);
    CHECK(H5Sselect_elements(space, H5S_SELECT_SET, 1, at) >= 0);
    CHECK(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &old) >= 0);
    if (value)
        CHECK(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, value) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
    return old;
}

/* A scene, run with one override, is certified, and the program says so in these words. */
static inline void check_verdict(const char *text, const char *override, const char *words)
{
    folder f = folder_create();
    run_into(&f, text, override);
    int code = full_verdict(&f);
    const char *said = file_text(&f, "said.txt");
    if (code != CERTIFIED || !strstr(said, words))
        fail_msg("%s: %s", override ? override : "", said);
    folder_remove(f.path);
}

#endif
