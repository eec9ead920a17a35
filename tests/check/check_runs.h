/* check_runs.h - what the tests of cairn-check share: scenes with everything there is, what the program
 * says of a run, and changing single numbers of it. */
#ifndef CAIRN_TESTS_CHECK_RUNS_H
#define CAIRN_TESTS_CHECK_RUNS_H

#include <sys/wait.h>

#include "tests/problems/run_scene.h"

/* ==== what the tests of cairn-check share: scenes with everything there is, what the
 * program says of a run, and numbers of the file to change. CAIRN_CHECK names the program. */

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

/* A scene, run with one override, is certified, and the program says so in these words. The
 * sanitizers look at every other one. */
static inline void check_verdict(const char *text, const char *override, const char *words)
{
    static int runs;
    if (CHECKED && runs++ % 2 != 0)
        return;
    folder f = folder_create();
    run_into(&f, text, override);
    int code = full_verdict(&f);
    const char *said = file_text(&f, "said.txt");
    if (code != CERTIFIED || !strstr(said, words))
        fail_msg("%s: %s", override ? override : "", said);
    folder_remove(f.path);
}

/* ==== changing single numbers of a stored run, and seeing that cairn-check notices ============ */

/* A dataset whose every number is checked; a change is a millionth of `scale` or of the number. */
typedef struct target {
    const char *name;
    double scale;
} target;

/* Ended by a NULL. */
static const target all_reals[] = {
    { "certificate/bodies/x", 1 },
    { "certificate/bodies/q", 1 },
    { "certificate/bodies/v", 1 },
    { "certificate/bodies/omega", 1 },
    { "certificate/bodies/angle", 1 },
    { "certificate/contacts/point", 1 },
    { "certificate/contacts/normal", 1 },
    { "certificate/contacts/tangent", 1 },
    { "certificate/contacts/gap", 0.1 },
    { "certificate/contacts/impulse", 1 },
    { "certificate/contacts/velocity", 1 },
    { "certificate/contacts/mu", 1 },
    { "certificate/contacts/restitution", 1 },
    { "certificate/contacts/bias", 1 },
    { "certificate/contacts/compression", 1 },
    { "certificate/contacts/correction", 1 },
    { "certificate/guesses/v", 1 },
    { "certificate/loads/force", 1 },
    { "certificate/loads/torque", 1 },
    { "certificate/poses/x", 1 },
    { "certificate/poses/q", 1 },
    { "frames/time", 1 },
    { "frames/bodies/x", 1 },
    { "frames/bodies/q", 1 },
    { "frames/bodies/v", 1 },
    { "frames/bodies/omega", 1 },
    { "frames/bodies/angle", 1 },
    { "frames/contacts/point", 1 },
    { "frames/contacts/normal", 1 },
    { "frames/contacts/tangent", 1 },
    { "frames/contacts/gap", 1 },
    { "frames/contacts/impulse", 1 },
    { "frames/contacts/velocity", 1 },
    { "frames/contacts/mu", 1 },
    { "steps/time", 1 },
    { "steps/penetration", 1e-3 },
    { "steps/gap_error", 1e-3 },
    { "steps/cone_violation", 1 },
    { "steps/friction_direction", 100 },
    { "steps/complementarity", 1 },
    { "steps/dilatation", 1e-3 },
    { "steps/spurious_work", 1 },
    { "steps/friction_law", 1 },
    { "steps/linearisation_error", 1e-3 },
    { "steps/asked_worst", 1 },
    { "steps/asked_relative", 1 },
    { "steps/asked_fclib", 1 },
    { "steps/coulomb_worst", 1 },
    { "steps/coulomb_relative", 1 },
    { "steps/coulomb_fclib", 1 },
    { "steps/judge_cone_violation", 1 },
    { "steps/kinetic", 1 },
    { "steps/potential", 1 },
    { "steps/entered_energy", 1 },
    { "steps/load_work", 1 },
    { "steps/driver_work", 1 },
    { "steps/friction_loss", 1 },
    { "steps/impact_loss", 1 },
    { "steps/numerical_loss", 1 },
    { "steps/sleep_loss", 1 },
    { "steps/correction", 1 },
    { NULL, 0 },
};

/* Whole numbers: changed by 1, or to the other value of two. */
static const char *const all_integers[] = {
    "certificate/bodies/index",
    "certificate/bodies/asleep",
    "certificate/contacts/body",
    "certificate/contacts/feature",
    "certificate/contacts/exact",
    "certificate/guesses/body",
    "certificate/loads/body",
    "certificate/poses/body",
    "certificate/body_offset",
    "certificate/contact_offset",
    "frames/step",
    "frames/body_offset",
    "frames/bodies/index",
    "frames/bodies/asleep",
    "frames/contacts/body",
    "steps/step",
    "steps/candidates",
    "steps/active",
    "steps/entered",
    "steps/upgraded",
    "steps/asleep",
    "steps/woken",
    "steps/impacts",
    "steps/impact_rounds",
    "steps/impacts_left",
    "steps/impacts_reduced",
    "steps/energy_made_groups",
    "steps/converged",
    NULL,
};

/* Numbers in a dataset; 0: there is no such dataset. */
static inline hsize_t count_numbers(const folder *f, const char *name)
{
    hid_t file = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDONLY, H5P_DEFAULT);
    hsize_t count = 0;
    if (H5Lexists(file, name, H5P_DEFAULT) > 0) {
        hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(dataset);
        count = (hsize_t)H5Sget_simple_extent_npoints(space);
        H5Sclose(space);
        H5Dclose(dataset);
    }
    H5Fclose(file);
    return count;
}

/* All that the program says of a run. */
static inline const char *said_of(const folder *f)
{
    char command[1024];
    const char *program = getenv("CAIRN_CHECK");
    CHECK(program != NULL);
    snprintf(command, sizeof command, "'%s' --all '%s' >'%s/said.txt' 2>&1", program, f->path,
             f->path);
    CHECK(system(command) >= 0);
    return file_text(f, "said.txt");
}

/* Change one number, see that it is noticed, put it back. The sanitizers look at the program for one
 * change of eight: that every one is noticed is shown by the optimised build. */
static inline void check_noticed(const folder *f, const char *name, hsize_t place, double new)
{
    static int changes;
    if (CHECKED && changes++ % 8 != 0)
        return;
    double old = swap_number(f, name, place, &new);
    int code = verdict(f);
    if (code == CERTIFIED)
        fail_msg("%s[%llu] changed from %.17g to %.17g unnoticed", name, (unsigned long long)place,
                 old, new);
    swap_number(f, name, place, &old);
}

/* `tries` numbers of each dataset: the first is changed a lot, the others a little. */
static inline int tamper_with_reals(const folder *f, const target *reals, const char *left_out,
                                    int tries)
{
    uint64_t state = 7;
    int changes = 0;
    for (const target *t = reals; t->name; t++) {
        hsize_t count = count_numbers(f, t->name);
        if (strstr(t->name, left_out))
            count = 0;
        for (int i = 0; i < tries && count > 0; i++, changes++) {
            hsize_t place = draw(&state) % count;
            double old = swap_number(f, t->name, place, NULL);
            double step = 1e-6 * fmax(fabs(old), t->scale);
            double small = old + (draw(&state) % 2 ? step : -step);
            check_noticed(f, t->name, place, i ? small : -1.5 * old + t->scale);
        }
    }
    return changes;
}

static inline int tamper_with_integers(const folder *f, const char *const *integers, int tries)
{
    uint64_t state = 3;
    int changes = 0;
    for (const char *const *name = integers; *name; name++) {
        hsize_t count = count_numbers(f, *name);
        for (int i = 0; i < tries && count > 0; i++, changes++) {
            hsize_t place = draw(&state) % count;
            double old = swap_number(f, *name, place, NULL);
            bool flag = strstr(*name, "converged") || strstr(*name, "exact") ||
                        strstr(*name, "broken") || strstr(*name, "bodies/asleep");
            check_noticed(f, *name, place, flag ? 1 - old : i % 2 && old > 0 ? old - 1 : old + 1);
        }
    }
    return changes;
}

/* A run with all that a scene of check_runs.h has. */
static inline void tamper_with_run(const char *text, const char *override, const char *left_out,
                                   int tries)
{
    folder f = folder_create();
    run_into(&f, text, override);
    CHECK_INT(verdict(&f), CERTIFIED);
    CHECK(tamper_with_reals(&f, all_reals, left_out, tries) >= 45 * tries);
    CHECK(tamper_with_integers(&f, all_integers, tries) >= 15 * tries);
    CHECK_INT(verdict(&f), CERTIFIED); /* all was put back */
    folder_remove(f.path);
}

/* ==== scenes for the tests of cairn-check: every kind of joint with all that can act
 * along its coordinates; and what surfaces do beyond Coulomb friction. */

/* Every kind, to the world, to a dynamic and to a driven body; the weld breaks, joined bodies
 * start overlapping the floor. */
static const char *const scene_joints_3d =
    "cairn: 1\n"
    "materials: {m: {friction: 0.3}}\n"
    "bodies:\n"
    "  - {name: floor, motion: fixed, material: m, shape: half_space}\n"
    "  - {name: drum, motion: driven, material: m, shape: {sphere: {radius: 0.1}}, position: "
    "[0, 0, 2],\n"
    "     drivers: [{rotation: {angular_velocity: [0, 0, 2]}}, {shake: {amplitude: [0.02, 0, "
    "0.03], frequency: 3}}]}\n"
    "  - {name: ball_a, mass: 1, inertia: [0.01, 0.02, 0.03], shape: {sphere: {radius: "
    "0.1}}, position: [0.3, 0, 2], angular_velocity: [1, 2, 3]}\n"
    "  - {name: ball_b, mass: 3, inertia: [0.02, 0.02, 0.03], shape: {sphere: {radius: "
    "0.1}}, position: [0.3, 0.3, 2]}\n"
    "  - {name: weld, mass: 2, inertia: [0.02, 0.01, 0.02], shape: {sphere: {radius: 0.1}}, "
    "position: [1, 0, 1]}\n"
    "  - {name: hinge, mass: 1, inertia: [0.01, 0.02, 0.01], shape: {sphere: {radius: 0.1}}, "
    "position: [1.3, 0, 1]}\n"
    "  - {name: piston, mass: 1, inertia: [0.01, 0.02, 0.03], shape: {sphere: {radius: "
    "0.1}}, position: [2, 0, 1], velocity: [0.5, 0, 0]}\n"
    "  - {name: sleeve, mass: 1, inertia: [0.01, 0.02, 0.03], shape: {sphere: {radius: "
    "0.1}}, position: [2, 1, 1], angular_velocity: [0, 0, 4]}\n"
    "  - {name: cross, mass: 1, inertia: [0.01, 0.02, 0.03], shape: {sphere: {radius: 0.1}}, "
    "position: [2, 2, 1], angular_velocity: [1, 0, 4]}\n"
    "  - {name: slab, mass: 1, shape: {sphere: {radius: 0.1}}, position: [3, 0, 1], "
    "velocity: [1, 1, 0], angular_velocity: [0, 0, 4]}\n"
    "  - {name: bolt, mass: 1, shape: {sphere: {radius: 0.1}}, position: [3, 1, 1]}\n"
    "  - {name: rod, mass: 1, shape: {sphere: {radius: 0.1}}, position: [3, 2, 1], velocity: "
    "[1, 0, 0]}\n"
    "  - {name: tied, mass: 1, shape: {sphere: {radius: 0.1}}, position: [4, 0, 1], "
    "velocity: [0, 1, 0]}\n"
    "  - {name: wheel_a, mass: 1, inertia: [0.01, 0.02, 0.03], shape: {sphere: {radius: "
    "0.1}}, position: [4, 1, 1], angular_velocity: [0, 0, 4]}\n"
    "  - {name: wheel_b, mass: 1, shape: {sphere: {radius: 0.1}}, position: [4, 2, 1]}\n"
    "  - {name: hung, mass: 1, shape: {sphere: {radius: 0.1}}, position: [5, 0, 1], "
    "velocity: [0, 1, 0]}\n"
    "  - {name: wound, mass: 1, shape: {sphere: {radius: 0.1}}, position: [5, 1, 1], "
    "angular_velocity: [2, 0, 1]}\n"
    "  - {name: rubber, mass: 1, inertia: [0.01, 0.02, 0.03], shape: {sphere: {radius: "
    "0.1}}, position: [5, 2, 0.097], velocity: [0, 1, 0], angular_velocity: [2, 0, 1]}\n"
    "  - {name: foot, mass: 1, shape: {sphere: {radius: 0.1}}, position: [5.3, 2, 0.098]}\n"
    "joints:\n"
    "  - fixed: {a: foot, b: rubber, anchor: [5.2, 2, 0.1]}\n"
    "  - ball: {a: ball_a, b: drum, anchor: [0.1, 0, 2]}\n"
    "  - ball: {a: ball_b, b: ball_a, anchor: [0.3, 0.15, 2]}\n"
    "  - fixed: {a: weld, anchor: [1, 0, 1.2], break_force: 29.8}\n"
    "  - revolute: {a: hinge, b: weld, anchor: [1.15, 0, 1], axis: [0, 1, 0], turn: {lower: "
    "-0.05, upper: 0.3, friction: 0.1}}\n"
    "  - prismatic: {a: piston, axis: [1, 0, 0.5], slide: {motor: velocity, target: 0.3, "
    "effort: 30, friction: 0.4, upper: 0.01}}\n"
    "  - cylindrical: {a: sleeve, axis: [0, 1, 1], turn: {motor: force, target: 0.2, "
    "damping: 0.01}, slide: {motor: position, target: 0.05, effort: 40}}\n"
    "  - universal: {a: cross, anchor: [2, 2.2, 1], axis: [0, 1, 0], axis_b: [0, 0, 1]}\n"
    "  - planar: {a: slab, axis: [0.2, 0, 1], turn: {friction: 0.05, stiffness: 0.3}}\n"
    "  - screw: {a: bolt, axis: [0, 0, 1], pitch: 0.05, turn: {motor: velocity, target: 10, "
    "effort: 0.5}, slide: {damping: 2}}\n"
    "  - distance: {a: rod, anchor: [3, 2, 1.05], anchor_b: [3, 2, 1.5]}\n"
    "  - rope: {a: tied, anchor: [4, 0, 1], anchor_b: [4, 0, 1.4], length: 0.401}\n"
    "  - revolute: {a: wheel_a, anchor: [4, 1, 1], axis: [0, 0, 1]}\n"
    "  - revolute: {a: wheel_b, anchor: [4, 2, 1], axis: [0, 0, 1]}\n"
    "  - gear: {a: wheel_a, b: wheel_b, axis: [0, 0, 1], axis_b: [0, 0, 1], ratio: 2}\n"
    "  - spring: {a: hung, anchor: [5, 0, 1.05], anchor_b: [5, 0, 1.5], slide: {stiffness: "
    "100, damping: 2, rest: 0.4, lower: 0.46}}\n"
    "  - torsion_spring: {a: wound, axis: [1, 0, 1], turn: {stiffness: 5, damping: 0.1, "
    "rest: 0.1}}\n"
    "  - bushing: {a: rubber, anchor: [5, 2, 0.2], stiffness: 1.0e+3, damping: 10, "
    "turn_stiffness: 5, turn_damping: 0.1}\n"
    "run: {time_step: 4e-3, duration: 0.24, frame_interval: 0.02, certificate: full, "
    "paraview: false, picture: false}\n";

static const char *const scene_joints_2d =
    "cairn: 1\n"
    "dimension: 2\n"
    "gravity: [0, -9.81]\n"
    "materials: {m: {friction: 0.3}}\n"
    "bodies:\n"
    "  - {name: floor, motion: fixed, material: m, shape: {half_space: {axis: [0, 1]}}}\n"
    "  - {name: drum, motion: driven, material: m, shape: {sphere: {radius: 0.1}}, position: "
    "[0, 2],\n"
    "     drivers: [{rotation: {angular_velocity: 3}}]}\n"
    "  - {name: crank, mass: 1, inertia: 0.01, shape: {sphere: {radius: 0.1}}, position: "
    "[0.3, 2], angular_velocity: 3}\n"
    "  - {name: weld, mass: 2, inertia: 0.02, shape: {sphere: {radius: 0.1}}, position: [1, "
    "1]}\n"
    "  - {name: piston, mass: 1, inertia: 0.02, shape: {sphere: {radius: 0.1}}, position: "
    "[2, 1], velocity: [0.5, 0]}\n"
    "  - {name: rod, mass: 1, inertia: 0.02, shape: {sphere: {radius: 0.1}}, position: [3, "
    "2], velocity: [1, 0]}\n"
    "  - {name: tied, mass: 1, inertia: 0.02, shape: {sphere: {radius: 0.1}}, position: [4, "
    "1], velocity: [1, 0]}\n"
    "  - {name: wheel_a, mass: 1, inertia: 0.02, shape: {sphere: {radius: 0.1}}, position: "
    "[4, 3], angular_velocity: 4}\n"
    "  - {name: wheel_b, mass: 1, inertia: 0.03, shape: {sphere: {radius: 0.1}}, position: "
    "[4, 4]}\n"
    "  - {name: hung, mass: 1, inertia: 0.02, shape: {sphere: {radius: 0.1}}, position: [5, "
    "3], velocity: [1, 0]}\n"
    "  - {name: wound, mass: 1, inertia: 0.02, shape: {sphere: {radius: 0.1}}, position: [5, "
    "4], angular_velocity: 2}\n"
    "  - {name: rubber, mass: 1, inertia: 0.02, shape: {sphere: {radius: 0.1}}, position: "
    "[5, 0.097], velocity: [1, 0], angular_velocity: 2}\n"
    "  - {name: foot, mass: 1, inertia: 0.02, shape: {sphere: {radius: 0.1}}, position: "
    "[5.3, 0.098]}\n"
    "joints:\n"
    "  - revolute: {a: crank, b: drum, anchor: [0.1, 2], turn: {lower: -0.05, upper: 0.3, "
    "friction: 0.1, motor: velocity, target: -2, effort: 2}}\n"
    "  - fixed: {a: weld, anchor: [1, 1.2]}\n"
    "  - prismatic: {a: piston, axis: [1, 0.5], slide: {motor: position, target: 0.03, "
    "effort: 30, friction: 0.4, upper: 0.02}}\n"
    "  - distance: {a: rod, anchor: [3, 2.05], anchor_b: [3, 2.5]}\n"
    "  - rope: {a: tied, anchor: [4, 1], anchor_b: [4, 1.4], length: 0.401}\n"
    "  - revolute: {a: wheel_a, anchor: [4, 3], turn: {motor: force, target: 0.4}}\n"
    "  - revolute: {a: wheel_b, anchor: [4, 4]}\n"
    "  - gear: {a: wheel_a, b: wheel_b, ratio: -1.5}\n"
    "  - spring: {a: hung, anchor: [5, 3.05], anchor_b: [5, 3.5], slide: {stiffness: 100, "
    "damping: 2, rest: 0.4}}\n"
    "  - torsion_spring: {a: wound, turn: {stiffness: 5, damping: 0.1, rest: 0.1}}\n"
    "  - bushing: {a: rubber, anchor: [5, 0.2], stiffness: 1.0e+3, damping: 10, "
    "turn_stiffness: 5, turn_damping: 0.1}\n"
    "  - fixed: {a: foot, b: rubber, anchor: [5.2, 0.1]}\n"
    "run: {time_step: 4e-3, duration: 0.24, frame_interval: 0.02, certificate: full, "
    "paraview: false, picture: false}\n";

/* 5000 kg on a light link that swings. */
static const char *const scene_tension =
    "cairn: 1\n"
    "bodies:\n"
    "  - {name: link, mass: 1, inertia: [0.01, 0.02, 0.03], shape: {sphere: {radius: 0.1}},\n"
    "     position: [0, 0, 2], angular_velocity: [1, 0, 2]}\n"
    "  - {name: load, mass: 5000, shape: {sphere: {radius: 0.1}}, position: [0, 0, 1.7],\n"
    "     velocity: [0.1, 0, 0]}\n"
    "joints:\n"
    "  - ball: {a: link, anchor: [0, 0.01, 2.15]}\n"
    "  - ball: {a: load, b: link, anchor: [0, 0, 1.85]}\n"
    "run: {time_step: 4e-3, duration: 0.24, frame_interval: 0.02, certificate: full, "
    "paraview: false, picture: false}\n";

/* Belts, friction with directions, adhesion, rolling and spinning, all at once. */
static const char *const scene_surface_3d =
    "cairn: 1\n"
    "materials:\n"
    "  wood: {friction: 0.2, friction_2: 0.5, rolling_friction: 0.004, spinning_friction: "
    "0.002}\n"
    "  glue: {friction: 0.4, adhesion: 12, rolling_friction: 0.002, adhesion_range: 2.0e-3}\n"
    "pairs: [{materials: [wood, glue], friction: 0.3, friction_2: 0.1, adhesion: 8, "
    "adhesion_range: 1.0e-3, rolling_friction: 0.003, spinning_friction: 0.001}]\n"
    "bodies:\n"
    "  - {name: belt, motion: fixed, material: wood, shape: {half_space: {axis: [0.1, 0, "
    "1]}}, surface_velocity: [1, 0.5, 0], friction_axis: [1, 0.3, 0]}\n"
    "  - {name: wall, motion: driven, material: glue, shape: {half_space: {axis: [-1, 0, "
    "0]}}, position: [0.5, 0, 0], surface_velocity: [0, 0.5, 0.3],\n"
    "     drivers: [{rotation: {angular_velocity: [0, 0, 0.4]}}]}\n"
    "  - {material: wood, shape: {sphere: {radius: 0.1}}, mass: 1, position: [0, 0, 0.11], "
    "velocity: [1, 0.5, -0.5], angular_velocity: [3, 1, 5], friction_axis: [0, 1, 0.2]}\n"
    "  - {material: glue, shape: {sphere: {radius: 0.1}}, mass: 1, inertia: [0.003, 0.004, "
    "0.006], position: [0.15, 0, 0.28], velocity: [0.5, 0, -1], angular_velocity: [3, 8, "
    "1]}\n"
    "  - {material: glue, shape: {sphere: {radius: 0.1}}, mass: 2, position: [0.39, 0.02, "
    "0.1], velocity: [1, 0, 0]}\n"
    "  - {material: wood, shape: point, mass: 0.1, position: [-0.3, 0.02, 0.05], velocity: "
    "[1, 0, 0], friction_axis: [0, 1, 0]}\n"
    "  - {material: wood, shape: {sphere: {radius: 0.1}}, mass: 1, position: [0, 0.6, 0.1], "
    "velocity: [1, 0.5, -0.5], angular_velocity: [3, 1, 5]}\n"
    "run: {time_step: 4e-3, duration: 0.24, frame_interval: 0.02, certificate: full, "
    "paraview: false, picture: false}\n";

static const char *const scene_surface_2d =
    "cairn: 1\n"
    "dimension: 2\n"
    "gravity: [0, -9.81]\n"
    "materials:\n"
    "  wood: {friction: 0.5, rolling_friction: 0.004, restitution: 0.3}\n"
    "  glue: {friction: 0.4, adhesion: 12, rolling_friction: 0.002, adhesion_range: 5.0e-3}\n"
    "bodies:\n"
    "  - {name: belt, motion: fixed, material: wood, shape: {half_space: {axis: [0.1, 1]}}, "
    "surface_velocity: [1, 0]}\n"
    "  - {name: wall, motion: driven, material: glue, shape: {half_space: {axis: [-1, 0]}}, "
    "position: [0.5, 0], surface_velocity: [0, 0.5],\n"
    "     drivers: [{rotation: {angular_velocity: 0.4}}]}\n"
    "  - {material: wood, shape: {sphere: {radius: 0.1}}, mass: 1, position: [0, 0.11], "
    "velocity: [1, -0.5], angular_velocity: 5}\n"
    "  - {material: glue, shape: {sphere: {radius: 0.1}}, mass: 1, position: [0.15, 0.28], "
    "velocity: [0.5, -1], angular_velocity: 8}\n"
    "  - {material: glue, shape: {sphere: {radius: 0.1}}, mass: 2, position: [0.39, 0.1], "
    "velocity: [1, 0]}\n"
    "  - {material: glue, shape: {sphere: {radius: 0.1}}, mass: 2, position: [-0.59, 0.19], "
    "velocity: [1, 0]}\n"
    "  - {material: glue, motion: fixed, shape: {half_space: {axis: [0.1, 1]}}, position: "
    "[0, 0.0]}\n"
    "run: {time_step: 4e-3, duration: 0.24, frame_interval: 0.02, certificate: full, "
    "paraview: false, picture: false}\n";

/* Without what turns, so that every scheme takes it; impacts by Poisson's law. */
static const char *const scene_sticky =
    "cairn: 1\n"
    "materials:\n"
    "  wood: {friction: 0.2, friction_2: 0.5, restitution: 0.5, restitution_law: poisson}\n"
    "  glue: {friction: 0.4, adhesion: 12}\n"
    "pairs: [{materials: [wood, glue], friction: 0.3, friction_2: 0.1, adhesion: 8, "
    "adhesion_range: 1.0e-3}]\n"
    "bodies:\n"
    "  - {motion: fixed, material: wood, shape: {half_space: {axis: [0.1, 0, 1]}}, "
    "surface_velocity: [1, 0.5, 0], friction_axis: [1, 0.3, 0]}\n"
    "  - {material: wood, shape: {sphere: {radius: 0.1}}, mass: 1, position: [0, 0, 0.12], "
    "velocity: [1, 0.5, -1.5], angular_velocity: [3, 1, 5]}\n"
    "  - {material: glue, shape: {sphere: {radius: 0.1}}, mass: 1, inertia: [0.003, 0.004, "
    "0.006], position: [0.15, 0, 0.28], velocity: [0.5, 0, -1], angular_velocity: [3, 8, "
    "1]}\n"
    "  - {material: glue, shape: {sphere: {radius: 0.1}}, mass: 2, position: [0.4, 0.02, "
    "0.07], velocity: [1, 0, 0]}\n"
    "  - {motion: fixed, material: glue, shape: {half_space: {axis: [-1, 0, 0]}}, position: "
    "[0.6, 0, 0]}\n"
    "run: {time_step: 4e-3, duration: 0.24, frame_interval: 0.02, certificate: full, "
    "paraview: false, picture: false}\n";

/* A joint between bodies with all of it. */
static const char *const scene_joint_on_belt =
    "cairn: 1\n"
    "materials: {m: {friction: 0.3, rolling_friction: 0.003, spinning_friction: 0.002, "
    "adhesion: 3}}\n"
    "bodies:\n"
    "  - {motion: fixed, material: m, shape: half_space, surface_velocity: [0.5, 0, 0]}\n"
    "  - {name: a, material: m, mass: 1, inertia: [0.01, 0.02, 0.03], shape: {sphere: "
    "{radius: 0.1}}, position: [0, 0, 0.1], velocity: [1, 0, 0]}\n"
    "  - {name: b, material: m, mass: 2, inertia: [0.02, 0.02, 0.01], shape: {sphere: "
    "{radius: 0.1}}, position: [0.3, 0, 0.1], angular_velocity: [0, 1, 3]}\n"
    "joints:\n"
    "  - revolute: {a: a, b: b, anchor: [0.15, 0, 0.1], axis: [0, 1, 0], turn: {lower: -0.1, "
    "upper: 0.1, friction: 0.02}}\n"
    "run: {time_step: 4e-3, duration: 0.24, frame_interval: 0.02, certificate: full, "
    "paraview: false, picture: false}\n";

#endif
