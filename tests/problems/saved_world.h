/* saved_world.h - worlds as bytes, scenes that have all that a state consists of, and run folders that
 * hold the same numbers. */
#ifndef CAIRN_TESTS_SAVED_WORLD_H
#define CAIRN_TESTS_SAVED_WORLD_H

#include <dirent.h>

#include "tests/check/check_runs.h"

/* ==== worlds as bytes, and scenes that have all that a state consists of ====================== */

/* Joints of ten kinds with motors, limits, springs and dry friction, one of which tears; in the air,
 * over the ground, and against it. */
static const char *const scene_machine =
    "cairn: 1\n"
    "materials: {a: {friction: 0.4, restitution: 0.1}}\n"
    "bodies:\n"
    "  - {name: floor, motion: fixed, shape: half_space}\n"
    "  - {name: hub, shape: {sphere: {radius: 0.1}}, mass: 1, position: [0, 0, 0.6]}\n"
    "  - {name: arm, shape: {box: {size: [0.3, 0.06, 0.06]}}, position: [0.3, 0, 0.6]}\n"
    "  - {name: bob, shape: {sphere: {radius: 0.05}}, mass: 0.4, position: [0.55, 0, 0.6]}\n"
    "  - {name: cart, shape: {box: {size: [0.1, 0.1, 0.1]}}, mass: 1, position: [0, 1, 0.06]}\n"
    "  - {name: wheel, shape: {cylinder: {radius: 0.1, height: 0.05}}, position: [0, 2, 0.5]}\n"
    "  - {name: pinion, shape: {cylinder: {radius: 0.05, height: 0.05}}, position: [0.2, 2, 0.5]}\n"
    "  - {name: nut, shape: {box: {size: [0.1, 0.1, 0.1]}}, mass: 1, position: [1, 2, 0.5]}\n"
    "  - {name: rope end, shape: {sphere: {radius: 0.05}}, mass: 1, position: [2, 0, 0.8],\n"
    "     velocity: [0, 1, 2]}\n"
    "  - {name: load, shape: {sphere: {radius: 0.05}}, mass: 5, position: [2, 1, 0.8]}\n"
    "joints:\n"
    "  - ball: {a: hub, anchor: [0, 0, 0.8]}\n"
    "  - revolute: {a: arm, b: hub, anchor: [0.1, 0, 0.6], axis: [0, 1, 0],\n"
    "               turn: {lower: -0.5, upper: 0.4, friction: 0.05}}\n"
    "  - spring: {a: bob, b: arm, anchor: [0.55, 0, 0.6], anchor_b: [0.45, 0, 0.6],\n"
    "             slide: {stiffness: 200, damping: 1, rest: 0.1}}\n"
    "  - prismatic: {a: cart, axis: [1, 0, 0], anchor: [0, 1, 0.06],\n"
    "                slide: {motor: velocity, target: 0.4, effort: 20, friction: 1}}\n"
    "  - revolute: {a: wheel, anchor: [0, 2, 0.5], axis: [0, 0, 1],\n"
    "               turn: {motor: force, target: 0.3}}\n"
    "  - revolute: {a: pinion, anchor: [0.2, 2, 0.5], axis: [0, 0, 1]}\n"
    "  - gear: {a: wheel, b: pinion, ratio: 0.5, axis: [0, 0, 1], axis_b: [0, 0, 1]}\n"
    "  - screw: {a: nut, anchor: [1, 2, 0.5], axis: [0, 0, 1], pitch: 0.1}\n"
    "  - rope: {a: rope end, anchor: [2, 0, 0.8], anchor_b: [2, 0, 0.9], length: 0.15}\n"
    "  - fixed: {a: load, anchor: [2, 1, 0.8], break_force: 40}\n"
    "run: {time_step: 4e-3, duration: 0.24, frame_interval: 0.02, certificate: full,\n"
    "      scheme: coulomb, paraview: false, picture: false}\n";

/* Every kind of shared data, boxes and superellipsoids; a belt, rolling and spinning friction, an
 * axis of friction, adhesion. */
static const char *const scene_shapes =
    "cairn: 1\n"
    "materials:\n"
    "  a: {friction: 0.4, rolling_friction: 0.002, spinning_friction: 0.001}\n"
    "  b: {friction: 0.6, friction_2: 0.2, adhesion: 0.5}\n"
    "pairs: [{materials: [a, b], friction: 0.5, rolling_friction: 0.003, adhesion: 0.2}]\n"
    "bodies:\n"
    "  - {motion: fixed, material: b, friction_axis: [1, 0, 0],\n"
    "     shape: {height_field: {spacing: 0.5, heights: [[0, 0, 0.1, 0], [0, 0.05, 0, 0.1],\n"
    "             [0.1, 0, 0, 0], [0, 0.1, 0, 0.05]]}}}\n"
    "  - {motion: fixed, material: a, surface_velocity: [1, 0, 0], position: [-0.9, 0, 0.02],\n"
    "     shape: {box: {size: [0.4, 2, 0.2]}}}\n"
    "  - {material: a, position: [0.1, 0.2, 0.22], velocity: [0, 0, -1],\n"
    "     shape: {polyhedron: {points: [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2],\n"
    "             [0.15, 0.15, 0.15]], rounding: 0.01}}}\n"
    "  - {material: a, position: [-0.3, 0.2, 0.2], angular_velocity: [1, 2, 3],\n"
    "     shape: {compound: {parts: [{shape: {box: {size: [0.2, 0.06, 0.06]}}},\n"
    "       {shape: {capsule: {radius: 0.04, length: 0.1}}, position: [0.08, 0, 0.02],\n"
    "        orientation: {axis: [1, 2, 0], angle: 0.7}},\n"
    "       {shape: {polyhedron: {points: [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]}},\n"
    "        position: [-0.1, 0, 0]}]}}}\n"
    "  - {material: b, position: [0.3, -0.2, 0.2], shape: {superellipsoid: {semi_axes:\n"
    "     [0.1, 0.08, 0.06], exponent: 3}}}\n"
    "  - {material: a, position: [-0.8, 0, 0.25], shape: {sphere: {radius: 0.1}}}\n"
    "  - {material: b, position: [-0.2, -0.3, 0.2], shape: {box: {size: [0.1, 0.1, 0.1]}}}\n"
    "run: {time_step: 4e-3, duration: 0.24, frame_interval: 0.02, certificate: summary,\n"
    "      scheme: coulomb, tolerance: 1e-4, paraview: false, picture: false}\n";

/* All bytes of a world. Zero is valid: none. */
typedef struct saved {
    unsigned char *data;
    size_t bytes;
} saved;

static inline cairn_status keep(const void *data, size_t bytes, void *context)
{
    saved *s = context;
    s->data = realloc(s->data, bytes);
    s->bytes = bytes;
    memcpy(s->data, data, bytes);
    return CAIRN_OK;
}

static inline saved save(const cairn_world *world)
{
    saved s = { NULL, 0 };
    CHECK_OK(cairn_world_save(world, keep, &s));
    return s;
}

/* A loaded world, which the caller destroys. */
static inline cairn_world *load(const saved *s)
{
    cairn_world *world = NULL;
    cairn_error error = { 0 };
    if (cairn_world_load(s->data, s->bytes, &world, &error) != CAIRN_OK)
        fail_msg("%s: %s", error.key, error.message);
    return world;
}

/* Some steps, converged or not. */
static inline void go_on(cairn_world *world, const cairn_step_options *options, int steps)
{
    cairn_step_report report;
    for (int i = 0; i < steps; i++)
        CHECK_OK(cairn_world_step(world, options, &report));
}

/* Two worlds have the same state: every number that the bytes hold, not only what moves. */
static inline void check_same_state(const cairn_world *a, const cairn_world *b)
{
    saved p = save(a), q = save(b);
    CHECK_INT(p.bytes, q.bytes);
    CHECK(memcmp(p.data, q.data, p.bytes) == 0);
    CHECK(cairn_world_hash(a) == cairn_world_hash(b));
    free(p.data);
    free(q.data);
}

/* After `before` steps a copy is made; both do `after` steps and are the same. */
static inline void check_goes_on(const cairn_scene *scene, int before, int after)
{
    go_on(scene->world, &scene->step, before);
    saved s = save(scene->world);
    cairn_world *copy = load(&s);
    check_same_state(scene->world, copy);
    go_on(scene->world, &scene->step, after);
    go_on(copy, &scene->step, after);
    check_same_state(scene->world, copy);
    cairn_world_destroy(copy);
    free(s.data);
}

/* Cut anywhere, or with any byte changed: refused, or some other world, never a crash. */
static inline void check_damage_does_no_harm(const saved *s, size_t every)
{
    cairn_world *copy;
    for (size_t bytes = 0; bytes < s->bytes; bytes += every) {
        unsigned char *part = malloc(bytes + 1); /* of its size: a reader that goes on is seen */
        memcpy(part, s->data, bytes);
        CHECK_INT(cairn_world_load(part, bytes, &copy, NULL), CAIRN_BAD_INPUT);
        CHECK(copy == NULL);
        free(part);
    }
    for (size_t at = 0; at < s->bytes; at += every / 3) {
        s->data[at] ^= 0x81;
        if (cairn_world_load(s->data, s->bytes, &copy, NULL) == CAIRN_OK) {
            cairn_step_options options = cairn_step_options_default();
            options.time_step = 1e-4;
            options.max_iterations = 20;
            cairn_world_step(copy, &options, NULL); /* may refuse */
        }
        cairn_world_destroy(copy);
        s->data[at] ^= 0x81;
    }
}

/* Loading with the n-th allocation failing, for every n. */
static inline void check_without_memory(const saved *s)
{
    cairn_status status = CAIRN_NO_MEMORY;
    for (long n = 1; status != CAIRN_OK; n++) {
        meter m = { .fail_at = n };
        cairn_world *copy;
        meter_install(&m);
        status = cairn_world_load(s->data, s->bytes, &copy, NULL);
        cairn_world_destroy(copy);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
        CHECK(n < 5000);
    }
}

/* ==== two run folders hold the same numbers: every dataset of run.h5, every byte of the
 * ParaView series and of the statistics. Only seconds on the clock may differ. */

static inline bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Numbers of a dataset as bytes, to be freed; texts count by their number alone. */
static inline void *dataset_bytes(hid_t dataset, size_t *bytes)
{
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    hssize_t count = H5Sget_simple_extent_npoints(space);
    bool text = H5Tget_class(type) == H5T_STRING;
    *bytes = (size_t)count * (text ? 0 : H5Tget_size(type));
    void *data = calloc(*bytes + 1, 1);
    if (!text)
        CHECK(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Sclose(space);
    H5Tclose(type);
    return data;
}

static inline void check_same_dataset(hid_t a, hid_t b, const char *name)
{
    size_t bytes, others;
    void *p = dataset_bytes(a, &bytes), *q = dataset_bytes(b, &others);
    if (bytes != others || memcmp(p, q, bytes) != 0)
        fail_msg("%s: %zu and %zu bytes are not the same", name, bytes, others);
    free(p);
    free(q);
}

/* Groups a and b; returns how many datasets were compared. */
static inline int check_same_group(hid_t a, hid_t b)
{
    H5G_info_t about, other;
    int compared = 0;
    CHECK(H5Gget_info(a, &about) >= 0 && H5Gget_info(b, &other) >= 0);
    CHECK_INT(other.nlinks, about.nlinks);
    for (hsize_t i = 0; i < about.nlinks; i++) {
        char name[128];
        H5Lget_name_by_idx(a, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);
        hid_t p = H5Oopen(a, name, H5P_DEFAULT), q = H5Oopen(b, name, H5P_DEFAULT);
        CHECK(p >= 0 && q >= 0);
        if (strcmp(name, "checksums") == 0) /* those of seconds are there as well */
            compared++;
        else if (H5Iget_type(p) == H5I_GROUP)
            compared += check_same_group(p, q);
        else if (!ends_with(name, "_seconds")) {
            check_same_dataset(p, q, name);
            compared++;
        }
        H5Oclose(p);
        H5Oclose(q);
    }
    return compared;
}

static inline int check_same_h5(const folder *f, const folder *g)
{
    hid_t a = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t b = H5Fopen(path_in(g, "run.h5").text, H5F_ACC_RDONLY, H5P_DEFAULT);
    CHECK(a >= 0 && b >= 0);
    int compared = check_same_group(a, b);
    H5Fclose(a);
    H5Fclose(b);
    return compared;
}

/* The lines of a text, but for those that tell seconds. */
static inline void check_same_lines(const folder *f, const folder *g, const char *name)
{
    char *mine = strdup(file_text(f, name)), *p, *q;
    char *its = strdup(file_text(g, name)), *rest = mine, *others = its;
    do {
        p = strtok_r(rest, "\n", &rest);
        q = strtok_r(others, "\n", &others);
        if ((p == NULL) != (q == NULL) || (p && !strstr(p, "_seconds") && strcmp(p, q) != 0))
            fail_msg("%s: found %s, expected %s", name, q ? q : "less", p ? p : "less");
    } while (p);
    free(mine);
    free(its);
}

/* The files of a folder inside; returns how many there are. */
static inline int check_same_files(const folder *f, const folder *g, const char *inside)
{
    char name[512];
    const struct dirent *entry;
    int files = 0, others = 0;
    DIR *mine = opendir(path_in(f, inside).text), *its = opendir(path_in(g, inside).text);
    CHECK(mine != NULL && its != NULL);
    while ((entry = readdir(its)))
        others += entry->d_name[0] != '.';
    while ((entry = readdir(mine))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", inside, entry->d_name);
        char *text = strdup(file_text(f, name));
        if (strcmp(file_text(g, name), text) != 0)
            fail_msg("%s is not the same", name);
        free(text);
        files++;
    }
    closedir(mine);
    closedir(its);
    CHECK_INT(others, files);
    return files;
}

#endif
