/* test_scene.c - whole scenes: what a file becomes, files that are none, memory that runs out. */
#include <sys/stat.h>

#include <stdlib.h>

#include "scene_text.h"

#define BALLS                                                                                      \
    "title: Two balls\n"                                                                           \
    "materials: {rock: {friction: 0.3}, wall: {friction: 0.2, restitution: 0.1}}\n"                \
    "bodies:\n"                                                                                    \
    "  - {name: floor, motion: fixed, material: wall, shape: half_space}\n"                        \
    "  - {shape: {sphere: {radius: 0.1}}, material: rock, mass: 2, position: [0, 0, 1]}\n"         \
    "  - {name: top, shape: {sphere: {radius: 0.1}}, material: rock, position: [0, 0, 2]}\n"

/* Everything the format knows, in 3D. */
static const char *const everything =
    "cairn: 1\n"
    "title: Everything\n"
    "dimension: 3\n"
    "gravity: [0, 0, -1]\n"
    "materials: {rock: {friction: 0.3, restitution: 0.1}, wall: {}}\n"
    "pairs: [{materials: [rock, wall], friction: 0.2}]\n"
    "bodies:\n"
    "  - name: floor\n"
    "    motion: driven\n"
    "    material: wall\n"
    "    shape: {half_space: {axis: [0, 0, 1]}}\n"
    "    drivers:\n"
    "      - shake: {amplitude: [0, 0, 0.1], frequency: 2}\n"
    "      - velocity: {velocity: [1, 0, 0], start: 1, stop: .inf}\n"
    "      - rotation: {angular_velocity: [0, 0, 1]}\n"
    "      - table: {time: [0, 1], x: [0, 1], angle: [0, 1], axis: [0, 0, 1]}\n"
    "  - name: ball\n"
    "    material: rock\n"
    "    shape: &ball {sphere: {radius: 0.5}}\n"
    "    mass: 2\n"
    "    inertia: [1, 1, 1]\n"
    "    position: [100, 0, 1]\n"
    "    orientation: {axis: [0, 0, 2], angle: 1.5707963267948966}\n"
    "    velocity: [1, 0, 0]\n"
    "    angular_velocity: [0, 1, 0]\n"
    "    loads:\n"
    "      - constant: {force: [0, 0, 1], torque: [1, 0, 0]}\n"
    "      - sine: {force: [1, 0, 0], frequency: 2, phase: 1}\n"
    "      - table: {force: [0, 1, 0], time: [0, 1, 2], factor: [0, 1, 0]}\n"
    "  - {material: rock, shape: *ball, position: [110, 0, 1], orientation: [2, 0, 0, 0]}\n"
    "  - {material: rock, shape: point, position: [120, 0, 1], mass: 1}\n"
    "  - {material: wall, motion: fixed, shape: {inside_cylinder: {radius: 500}}}\n"
    "  - {material: wall, motion: fixed, shape: {inside_cone: {half_angle: 1.5}}, position: [0, 0, "
    "-90]}\n"
    "  - material: wall\n"
    "    motion: fixed\n"
    "    shape: {funnel: {bottom_radius: 1, top_radius: 2, height: 1}}\n"
    "    position: [0, 300, 0]\n"
    "joints:\n"
    "  - revolute: {a: ball, anchor: [100, 0, 2], axis: [0, 1, 0],\n"
    "               turn: {lower: -1, upper: 1, motor: velocity, target: 2, effort: 9}}\n"
    "  - rope: {a: ball, b: floor, anchor: [100, 0, 1], anchor_b: [0, 0, 0], break_force: 1e9}\n"
    "generators:\n"
    "  - grid: {count: [2, 2, 2], spacing: [1, 1, 1], origin: [0, 0, 1], jitter: 0.01, seed: 5,\n"
    "           radius: {uniform: {minimum: 0.1, maximum: 0.2}}, material: rock}\n"
    "  - hexagonal: {count: [2, 2, 2], origin: [0, 0, 10], radius: 0.1, material: rock}\n"
    "  - pile: {rows: 3, origin: [0, 0, 20], radius: 0.1, material: rock, density: 500}\n"
    "  - fill: {bodies: 5, centre: [0, 0, 30], size: [3, 3, 3], material: rock, seed: 2,\n"
    "           radius: {normal: {mean: 0.1, deviation: 0.01, minimum: 0.05, maximum: 0.2}},\n"
    "           mass: {list: {values: [1, 2], weights: [1, 3]}}}\n"
    "  - fill: {bodies: 5, centre: [0, 0, 40], size: [3, 3, 3], disk_radius: 1.5, material: rock,\n"
    "           radius: {lognormal: {mean: 0.1, deviation: 0.01, minimum: 0.05, maximum: 0.2}}}\n"
    "  - pour: {count: 10, rate: 5, centre: [0, 0, 50], size: [1, 1, 1], radius: 0.1,\n"
    "           material: rock}\n"
    "run: {time_step: 1e-3, duration: 1, scheme: convex, solver: auto, contacts: false,\n"
    "      on_uncertified: stop}\n";

TEST(a_file_becomes_a_world)
{
    cairn_scene *s = scene_text_good(HEAD BALLS, NULL);
    const cairn_bodies bodies = cairn_world_bodies(s->world);
    CHECK_TEXT(s->title, "Two balls");
    CHECK_INT(cairn_world_dimension(s->world), 3);
    CHECK_INT(bodies.count, 3);
    CHECK_INT(bodies.motion[0], CAIRN_MOTION_FIXED);
    CHECK_NEAR(bodies.mass[1], 2, 0);
    CHECK_CLOSE(bodies.mass[2], 1000 * 4.0 / 3 * M_PI * 1e-3, 1e-14);
    CHECK_NEAR(bodies.x[2].z, 2, 0);
    CHECK_INT(bodies.material[2], 0);
    CHECK_NEAR(s->step.time_step, 1e-3, 0);
    CHECK_NEAR(s->run.duration, 1, 0);
    cairn_scene_destroy(s);
}

TEST(names_are_kept_by_number)
{
    cairn_scene *s = scene_text_good(HEAD BALLS, NULL);
    CHECK_INT(s->material_count, 2);
    CHECK_TEXT(s->material_names[0], "rock");
    CHECK_TEXT(s->material_names[1], "wall");
    CHECK_INT(s->body_count, 3);
    CHECK_TEXT(s->body_names[0], "floor");
    CHECK(s->body_names[1] == NULL);
    CHECK_TEXT(s->body_names[2], "top");
    cairn_scene_destroy(s);
}

TEST(the_text_lists_the_overrides)
{
    cairn_scene *s = scene_text_good(HEAD "title: x", "title=a\nb");
    CHECK_TEXT(s->title, "a b");
    CHECK_TEXT(s->text, HEAD "title: x\n# --set title=a b\n");
    cairn_scene_destroy(s);
}

TEST(overrides_come_before_interpretation)
{
    cairn_scene *s = scene_text_good(HEAD BALLS, "bodies.1.mass=7");
    CHECK_NEAR(cairn_world_bodies(s->world).mass[1], 7, 0);
    cairn_scene_destroy(s);
    s = scene_text_good(HEAD BALLS, "run.tolerance=1e-6");
    CHECK_NEAR(s->step.tolerance, 1e-6, 0);
    cairn_scene_destroy(s);
}

TEST(json_makes_the_same_world)
{
    cairn_scene *yaml = scene_text_good(HEAD BALLS, NULL);
    cairn_scene *json = scene_text_good(
        "{\"cairn\": 1, \"run\": {\"time_step\": 0.001, \"duration\": 1},\n"
        "\t\"materials\": {\"rock\": {\"friction\": 0.3},\n"
        "\t\t\"wall\": {\"friction\": 0.2, \"restitution\": 0.1}},\n"
        "\t\"bodies\": [\n"
        "\t{\"motion\": \"fixed\", \"material\": \"wall\", \"shape\": {\"half_space\": {}}},\n"
        "\t{\"shape\": {\"sphere\": {\"radius\": 0.1}}, \"material\": \"rock\", \"mass\": 2,\n"
        "\t \"position\": [0, 0, 1]},\n"
        "\t{\"shape\": {\"sphere\": {\"radius\": 0.1}}, \"material\": \"rock\",\n"
        "\t \"position\": [0, 0, 2]}]}\n",
        NULL);
    CHECK(cairn_world_hash(yaml->world) == cairn_world_hash(json->world));
    cairn_scene_destroy(yaml);
    cairn_scene_destroy(json);
}

/* 7 bodies, then 8 + 8 + (9 + 4 + 1) + 5 + 5 made by generators, and 10 to come. */
TEST(a_scene_can_use_everything)
{
    cairn_scene *s = scene_text_good(everything, NULL);
    const cairn_bodies bodies = cairn_world_bodies(s->world);
    CHECK_INT(s->body_count, 7);
    CHECK_INT(bodies.count, 7 + 8 + 8 + 14 + 5 + 5);
    CHECK_INT(cairn_world_inlet_pending(s->world), 10);
    int turned = cairn_body_row(s->world, (cairn_body_id){ 1 });
    int level = cairn_body_row(s->world, (cairn_body_id){ 2 });
    CHECK_NEAR(bodies.q[turned].z, sqrt(0.5), 1e-15); /* a quarter turn about z */
    CHECK_NEAR(bodies.q[level].w, 1, 0);              /* [2, 0, 0, 0] brought to length 1 */
    CHECK(!s->run.contacts);
    CHECK_TEXT(s->run.on_uncertified, "stop");
    cairn_scene_destroy(s);
}

TEST(files_that_are_no_scenes)
{
    cairn_scene *scene;
    cairn_error error;
    CHECK_INT(cairn_scene_load("no/such.yaml", NULL, 0, &scene, &error), CAIRN_NOT_FOUND);
    CHECK_TEXT(error.file, "no/such.yaml");
    CHECK_INT(cairn_scene_load("/", NULL, 0, &scene, &error), CAIRN_IO_FAILED);
    CHECK_INT(mkfifo(scene_text_path(), 0666), 0);
    CHECK_INT(cairn_scene_load(scene_text_path(), NULL, 0, &scene, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.message, "this is not a plain file but a FIFO");
    CHECK_TEXT(error.file, scene_text_path());
    remove(scene_text_path());
    CHECK_INT(cairn_scene_load("/dev/zero", NULL, 0, &scene, NULL), CAIRN_BAD_INPUT);
    CHECK_INT(scene_text_load("", NULL, &scene, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "empty");
    scene_text_write("cairn: 1\n\0x", 11);
    CHECK_INT(cairn_scene_load(scene_text_path(), NULL, 0, &scene, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "zero bytes");
    remove(scene_text_path());
    CHECK(scene == NULL);
    cairn_scene_destroy(NULL);
}

/* ---- memory that runs out ------------------------------------------------------------------ */

typedef struct budget {
    long left;  /* calls that still succeed */
    long alive; /* blocks not given back    */
} budget;

static void *limited_resize(void *context, void *block, size_t bytes)
{
    budget *b = context;
    if (bytes == 0) {
        b->alive -= block != NULL;
        free(block);
        return NULL;
    }
    if (b->left-- <= 0)
        return NULL;
    b->alive += block == NULL;
    return realloc(block, bytes);
}

/* The whole of cairn_scene_load with `left` allocations; true when that was enough. */
static bool load_within(long left)
{
    static const char *const overrides[] = { "run.tolerance=1e-4" };
    budget b = { left, 0 };
    const cairn_allocator limited = { limited_resize, &b };
    cairn_scene *scene;
    cairn_error error;
    cairn_allocator_set(&limited);
    cairn_status status = cairn_scene_load(scene_text_path(), overrides, 1, &scene, &error);
    if (status == CAIRN_OK)
        cairn_scene_destroy(scene);
    cairn_allocator_set(NULL);
    CHECK_INT(b.alive, 0);
    CHECK(status == CAIRN_OK || (status == CAIRN_NO_MEMORY && scene == NULL));
    CHECK(status == CAIRN_OK || strcmp(error.message, "out of memory") == 0);
    return status == CAIRN_OK;
}

TEST(every_failing_allocation_is_survived)
{
    long left = 0;
    scene_text_write(everything, strlen(everything));
    while (left < 100000 && !load_within(left))
        left++;
    remove(scene_text_path());
    CHECK(left > 50 && left < 100000);
}

int main(void)
{
    RUN(CASE(a_file_becomes_a_world), CASE(names_are_kept_by_number),
        CASE(the_text_lists_the_overrides), CASE(overrides_come_before_interpretation),
        CASE(json_makes_the_same_world), CASE(a_scene_can_use_everything),
        CASE(files_that_are_no_scenes), CASE(every_failing_allocation_is_survived));
}
