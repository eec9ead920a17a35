/* test_scene.c - whole scenes, their worlds, bodies and names, and the options of a run. */
#include <stdlib.h>
#include <sys/stat.h>

#include "cairn/scene.h"
#include "scene/stages.h"
#include "tests/check.h"
#include "tests/problems/run_scene.h"

/* ==== test_scene: whole scenes: what a file becomes, files that are none, memory that runs out */

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

GROUP(test_scene)
{
    RUN(CASE(a_file_becomes_a_world), CASE(names_are_kept_by_number),
        CASE(the_text_lists_the_overrides), CASE(overrides_come_before_interpretation),
        CASE(json_makes_the_same_world), CASE(a_scene_can_use_everything),
        CASE(files_that_are_no_scenes), CASE(every_failing_allocation_is_survived));
}

/* ==== test_scene_parts: sub-scenes and parameters ============================================ */

TEST(parameters_stand_for_their_values)
{
    static const char text[] =
        HEAD "parameters: {friction: 0.25, radius: 0.1, height: $(3 * radius), who: ball}\n"
             "materials: {rock: {friction: $friction}}\n"
             "title: $who of $(1000 * radius) mm costs $$5, $ 6\n"
             "bodies:\n"
             "  - {name: $who, shape: {sphere: {radius: $radius}}, position: [0, \"$(-radius)\",\n"
             "     '$(height + max(radius, 0))']}\n";
    cairn_scene *s = scene_text_good(text, NULL);
    cairn_material_def rock;
    CHECK_OK(cairn_material_pair_get(s->world, 0, 0, &rock));
    CHECK_NEAR(rock.friction, 0.25, 0);
    CHECK_TEXT(s->title, "ball of 100 mm costs $5, $ 6");
    CHECK_TEXT(s->body_names[0], "ball");
    CHECK_NEAR(cairn_world_bodies(s->world).x[0].y, -0.1, 0);
    CHECK_NEAR(cairn_world_bodies(s->world).x[0].z, 0.4, 1e-15);
    cairn_scene_destroy(s);
    s = scene_text_good(text, "parameters.radius=0.2");
    CHECK_NEAR(cairn_world_bodies(s->world).x[0].z, 0.8, 1e-15);
    cairn_scene_destroy(s);
}

TEST(without_parameters_a_dollar_is_a_dollar)
{
    cairn_scene *s = scene_text_good(HEAD "title: $name costs $(5)\n", NULL);
    CHECK_TEXT(s->title, "$name costs $(5)");
    cairn_scene_destroy(s);
}

TEST(wrong_parameters_are_refused_where_they_stand)
{
    static const struct {
        const char *text;
        int line, column;
        const char *message;
    } wrong[] = {
        { "parameters: {a: 1}\ntitle: $b\n", 4, 9, "unknown parameter 'b'; did you mean 'a'?" },
        { "parameters: {a: 1}\ntitle: $a\ngravity: [0, 0, $(a + )]\n", 5, 23, "expected" },
        { "parameters: {a: 1}\ntitle: $a\ngravity: [0, 0, '$(a / 0)']\n", 5, 20,
          "not a finite number" },
        { "parameters: {a: 1}\ntitle: $(a\n", 4, 9, "found '(' without ')'" },
        { "parameters: {a: x}\ntitle: $a $(2*a)\n", 4, 15, "is a text, expected a number" },
        { "parameters: {a: 1}\n", 3, 14, "used nowhere" },
        { "parameters: {a: [1]}\n", 3, 17, "found a list of 1, expected a number or a text" },
        { "parameters: {2a: 1}\n", 3, 14, "expected a name" },
        { "parameters: {a: $b, b: 1}\ntitle: $a\n", 3, 18, "unknown parameter 'b'" },
        { "parameters: [1]\n", 3, 13, "expected a mapping" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[512];
        cairn_scene *s;
        cairn_error error;
        snprintf(text, sizeof text, HEAD "%s", wrong[i].text);
        CHECK_INT(scene_text_load(text, NULL, &s, &error), CAIRN_BAD_INPUT);
        CHECK_CONTAINS(error.message, wrong[i].message);
        CHECK_INT(error.line, wrong[i].line);
        CHECK_INT(error.column, wrong[i].column);
    }
}

TEST(only_parameters_that_exist_can_be_set)
{
    cairn_scene *s;
    cairn_error error;
    CHECK_INT(scene_text_load(HEAD "parameters: {width: 1}\ntitle: $width\n", "parameters.widht=2",
                              &s, &error),
              CAIRN_BAD_INPUT);
    CHECK_TEXT(error.file, "--set");
    CHECK_TEXT(error.key, "parameters.widht");
    CHECK_TEXT(error.message, "unknown parameter 'widht'; did you mean 'width'?");
}

static cairn_status load_main(const folder *f, const char *override, cairn_scene **out,
                              cairn_error *error)
{
    return cairn_scene_load(path_in(f, "main.yaml").text, &override, override ? 1 : 0, out, error);
}

TEST(a_sub_scene_becomes_part_of_the_scene)
{
    folder f = folder_create();
    CHECK_INT(mkdir(path_in(&f, "sub").text, 0777), 0);
    file_write(&f, "sub/walls.yaml",
               "cairn: 1\nparameters: {mu: 0.1, side: 2}\ntitle: walls\ngravity: [0, 0, -3]\n"
               "include: floor.yaml\n"
               "materials: {wall: {friction: $mu}, rock: {friction: 0.9}}\n"
               "bodies:\n  - {name: wall, motion: fixed, material: wall,\n"
               "     shape: {half_space: {axis: [1, 0, 0]}}, position: [$(-side), 0, 0]}\n");
    file_write(
        &f, "sub/floor.yaml",
        "cairn: 1\nbodies:\n  - {name: floor, motion: fixed, material: wall, shape: half_space}\n");
    file_write(&f, "main.yaml",
               HEAD "title: whole\ninclude: [sub/walls.yaml]\nparameters: {mu: 0.3}\n"
                    "materials: {rock: {friction: 0.5}}\n"
                    "bodies:\n  - {name: ball, material: rock, shape: {sphere: {radius: 0.1}},\n"
                    "     position: [0, 0, 1]}\n");
    cairn_scene *s = NULL;
    cairn_error error = { 0 };
    CHECK_OK(load_main(&f, "bodies.wall.position=[-7, 0, 0]", &s, &error));
    cairn_material_def law;
    CHECK_TEXT(s->title, "whole");
    CHECK_NEAR(cairn_world_gravity(s->world).z, -3, 0);
    CHECK_TEXT(s->body_names[0], "floor"); /* the innermost file comes first */
    CHECK_TEXT(s->body_names[1], "wall");
    CHECK_TEXT(s->body_names[2], "ball");
    CHECK_NEAR(cairn_world_bodies(s->world).x[1].x, -7, 0);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(cairn_material_pair_get(s->world, i, i, &law));
        CHECK_NEAR(law.friction, strcmp(s->material_names[i], "wall") == 0 ? 0.3 : 0.5, 0);
    }
    CHECK_CONTAINS(s->text, "# include sub/walls.yaml\n#   cairn: 1\n");
    cairn_scene_destroy(s);
    folder_remove(f.path);
}

TEST(wrong_sub_scenes_are_refused_at_their_place)
{
    static const struct {
        const char *include, *sub;
        const char *file; /* where the error is */
        int line, column;
        const char *message;
    } wrong[] = {
        { "../main.yaml", "cairn: 1\n", "main.yaml", 3, 10, "in the scene's folder or below" },
        { "/etc/passwd", "cairn: 1\n", "main.yaml", 3, 10, "in the scene's folder or below" },
        { "link.yaml", "cairn: 1\n", "main.yaml", 3, 10, "in the scene's folder or below" },
        { "none.yaml", "cairn: 1\n", "none.yaml", 0, 0, "No such file" },
        { "sub.yaml", "cairn: 1\ninclude: main.yaml\n", "sub.yaml", 2, 10, "includes itself" },
        { "sub.yaml", "cairn: 1\ninclude: sub.yaml\n", "sub.yaml", 2, 10, "includes itself" },
        { "sub.yaml", "cairn: 1\nbodies:\n  - {name: a, shap: b}\n", "sub.yaml", 3, 15,
          "unknown key 'shap'; did you mean 'shape'?" },
        { "sub.yaml", "cairn: 1\nbodies: [\n", "sub.yaml", 3, 1, "not a YAML text" },
        { "sub.yaml", "bodies: []\n", "sub.yaml", 1, 1, "the key 'cairn' is missing" },
        { "sub.yaml", "cairn: 2\n", "sub.yaml", 1, 8, "found 2, expected 1" },
        { "sub.yaml", "", "main.yaml", 3, 10, "'sub.yaml' is empty, expected a scene" },
        { "sub.yaml", "[1]\n", "sub.yaml", 1, 1, "expected a scene" },
        { "[[1]]", "", "main.yaml", 3, 11, "found a list of 1, expected the name of a file" },
        { "{a: 1}", "", "main.yaml", 3, 10, "found a mapping, expected a list of files" },
    };
    folder f = folder_create();
    CHECK_INT(symlink("/etc/passwd", path_in(&f, "link.yaml").text), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[300];
        cairn_scene *s;
        cairn_error error = { 0 };
        snprintf(text, sizeof text, HEAD "include: %s\n", wrong[i].include);
        file_write(&f, "main.yaml", text);
        file_write(&f, "sub.yaml", wrong[i].sub);
        CHECK(load_main(&f, NULL, &s, &error) != CAIRN_OK);
        CHECK_CONTAINS(error.message, wrong[i].message);
        CHECK_CONTAINS(error.file, wrong[i].file);
        CHECK_INT(error.line, wrong[i].line);
        CHECK_INT(error.column, wrong[i].column);
    }
    folder_remove(f.path);
}

/* 60 times 60 files, and twice 40 MiB. Without a bound on the sum, files that include each other
 * fill the memory. */
TEST(the_sum_of_what_is_included_is_bounded)
{
    const size_t large = (size_t)40 << 20;
    char list[60 * 3 + 1] = "", text[300];
    cairn_scene *s;
    cairn_error error = { 0 };
    folder f = folder_create();
    for (int i = 0; i < 60; i++)
        memcpy(list + 3 * i, "b, ", 4);
    snprintf(text, sizeof text, "cairn: 1\ninclude: [%s]\n", list);
    file_write(&f, "a", text);
    file_write(&f, "b", "cairn: 1\ninclude: [c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c]\n");
    file_write(&f, "c", "cairn: 1\n");
    file_write(&f, "main.yaml", HEAD "include: a\n");
    CHECK_INT(load_main(&f, NULL, &s, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "the scene includes more than 1000 files");
    CHECK(error.line == 2 && strstr(error.file, "/b"));

    char *comment = malloc(large);
    memset(comment, 'x', large);
    memcpy(comment, "cairn: 1\n#", 10);
    comment[large - 1] = '\0';
    file_write(&f, "c", comment);
    free(comment);
    file_write(&f, "main.yaml", HEAD "include: [c, c]\n");
    CHECK_INT(load_main(&f, NULL, &s, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "more than 64 MiB together");
    folder_remove(f.path);
}

TEST(every_failing_allocation_of_parts_is_survived)
{
    folder f = folder_create();
    meter m = { 0 };
    cairn_status status = CAIRN_NO_MEMORY;
    file_write(&f, "sub.yaml", "cairn: 1\nbodies: [{motion: fixed, shape: half_space}]\n");
    file_write(&f, "main.yaml", HEAD "parameters: {a: 2}\ninclude: sub.yaml\ntitle: $(a + 1)\n");
    for (long n = 1; status == CAIRN_NO_MEMORY; n++) {
        cairn_scene *s = NULL;
        cairn_error error;
        m = (meter){ .fail_at = n };
        meter_install(&m);
        status = load_main(&f, NULL, &s, &error);
        cairn_scene_destroy(s);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
    }
    CHECK_OK(status);
    folder_remove(f.path);
}

GROUP(test_scene_parts)
{
    RUN(CASE(parameters_stand_for_their_values), CASE(without_parameters_a_dollar_is_a_dollar),
        CASE(wrong_parameters_are_refused_where_they_stand),
        CASE(only_parameters_that_exist_can_be_set), CASE(a_sub_scene_becomes_part_of_the_scene),
        CASE(wrong_sub_scenes_are_refused_at_their_place),
        CASE(the_sum_of_what_is_included_is_bounded),
        CASE(every_failing_allocation_of_parts_is_survived));
}

/* ==== test_scene_world: version, title, space and materials =================================== */

/* A ball rests on a plane that slides away below it at 1 m/s: friction starts to move it. */
#define MOVING                                                                                     \
    "bodies:\n"                                                                                    \
    "  - {motion: driven, material: a, shape: half_space, drivers: [velocity: {velocity: [1, 0, "  \
    "0]}]}\n"                                                                                      \
    "  - {material: b, shape: {sphere: {radius: 1}}, mass: 1, position: [0, 0, 1]}\n"

/* Speed of the ball after one step of 1 ms: mu g h while it slides. */
static double speed_after_a_step(const char *text)
{
    cairn_scene *s = scene_text_good(text, NULL);
    cairn_step_report report;
    s->step.tolerance = 1e-12;
    s->step.scheme = "fixed-point";
    CHECK_OK(cairn_world_step(s->world, &s->step, &report));
    double speed = cairn_world_bodies(s->world).v[1].x;
    cairn_scene_destroy(s);
    return speed;
}

TEST(a_pair_of_materials_overrules_the_smaller_values)
{
    CHECK_CLOSE(
        speed_after_a_step(HEAD "materials: {a: {friction: 0.1}, b: {friction: 0.3}}\n" MOVING),
        0.1 * 9.81e-3, 1e-6);
    CHECK_CLOSE(speed_after_a_step(HEAD "materials: {a: {friction: 0.1}, b: {friction: 0.3}}\n"
                                        "pairs: [{materials: [b, a], friction: 0.2}]\n" MOVING),
                0.2 * 9.81e-3, 1e-6);
    /* a pair that does not speak of friction leaves it */
    CHECK_CLOSE(speed_after_a_step(HEAD "materials: {a: {friction: 0.1}, b: {friction: 0.3}}\n"
                                        "pairs: [{materials: [b, a], restitution: 0.2}]\n" MOVING),
                0.1 * 9.81e-3, 1e-6);
}

TEST(without_materials_there_is_one_called_default)
{
    cairn_scene *s = scene_text_good(HEAD, NULL);
    CHECK_INT(s->material_count, 1);
    CHECK_TEXT(s->material_names[0], "default");
    cairn_scene_destroy(s);
}

TEST(gravity_points_down_in_2d_too)
{
    cairn_scene *s =
        scene_text_good(HEAD "dimension: 2\nbodies: [{shape: {sphere: {radius: 1}}}]\n", NULL);
    cairn_step_report report;
    CHECK_OK(cairn_world_step(s->world, &s->step, &report));
    CHECK_NEAR(cairn_world_bodies(s->world).v[0].y, -9.81e-3, 1e-15);
    cairn_scene_destroy(s);
}

TEST(bad_tops_are_refused)
{
    static const refused table[] = {
        { "cairn: 2\nnew_key: 1\n", 1, 8, "cairn", "found 2, expected 1" },
        { "cairn: one\n", 1, 8, "cairn", "found 'one', expected 1" },
        { HEAD "title: [a]\n", 3, 8, "title", "found a list of 1, expected a text" },
        { HEAD "title: 0123456789012345678901234567890123456789012345678901234567890123456789"
               "0123456789012345678901234567890123456789012345678901234567\n",
          3, 8, "title", "found 128 bytes of text, expected at most 127" },
        { HEAD "materials: [rock]\n", 3, 12, "materials", "expected a mapping" },
        { HEAD "materials: {rock: 3}\n", 3, 19, "materials.rock", "found 3, expected a mapping" },
        { HEAD "materials: {\"\": {}}\n", 3, 13, "materials.", "expected a name" },
        { HEAD "materials:\n  a: {}\n  b: {}\n  a: {}\n", 6, 3, "materials.a",
          "the key 'a' is given twice" },
        { HEAD "materials: {a: {}, b: {}}\nbodies: [{shape: {sphere: {radius: 1}}}]\n", 4, 10,
          "bodies.0.material", "the key 'material' is missing: there are 2 materials" },
        { HEAD "materials: {rock: {}}\nbodies: [{shape: {sphere: {radius: 1}}, material: rok}]\n",
          4, 51, "bodies.0.material", "unknown material 'rok'; did you mean 'rock'?" },
        { HEAD "outlets: [{height: {below: 0, start: 2, stop: 1}}]\n", 3, 47,
          "outlets.0.height.stop", "found 1, expected more than start, 2" },
        { HEAD "events: [{when: {flow_stops: {for: 1}}, do: stop_run}]\n", 3, 18,
          "events.0.when.flow_stops", "the scene has no outlets" },
        { HEAD "events: [{when: {time: 1}, do: stop_run}]\n", 3, 24, "events.0.when.time",
          "found 1, expected a mapping with some of the keys at" },
        { HEAD "bodies: [{name: a, motion: fixed, shape: half_space}]\n"
               "events: [{when: {time: {at: 1}}, do: {start_driver: a}}]\n",
          4, 53, "events.0.do.start_driver", "the body 'a' has no drivers" },
        { HEAD "pairs: [{materials: [default], friction: 1}]\n", 3, 21, "pairs.0.materials",
          "expected a list of two materials" },
        { HEAD "pairs: [{materials: [default, stone]}]\n", 3, 31, "pairs.0.materials.1",
          "unknown material 'stone'" },
        { HEAD "pairs: [{friction: 1}]\n", 3, 9, "pairs.0.materials", "'materials' is missing" },
        { HEAD "pairs:\n  - {materials: [default, default]}\n  - {materials: [default, default]}\n",
          5, 17, "pairs.1.materials", "the pair 'default', 'default' is given twice" },
        { HEAD "pairs: {a: 1}\n", 3, 8, "pairs", "expected a list of pairs of materials" },
    };
    CHECK_REFUSED(table);
}

/* 1 s in steps of 2^-53 s = 1.1e-16 s are as many as can be counted; half of that is refused, and
 * so are all those that never end. */
TEST(steps_that_cannot_be_counted_are_refused)
{
    static const refused table[] = {
        { "cairn: 1\nrun: {time_step: 1e-300, duration: 1}\n", 2, 18, "run.time_step",
          "found 1e-300 s for a duration of 1 s, expected at least 1.11e-16 s" },
        { "cairn: 1\nrun: {time_step: 5.5e-17, duration: 1}\n", 2, 18, "run.time_step",
          "a run has at most 2^53 (9e15) steps" },
        { "cairn: 1\nrun: {time_step: 1e-3, duration: 1e300}\n", 2, 18, "run.time_step",
          "found 0.001 s for a duration of 1e+300 s" },
    };
    CHECK_REFUSED(table);
    cairn_scene_destroy(
        scene_text_good("cairn: 1\nrun: {time_step: 1.2e-16, duration: 1}\n", NULL));
}

/* An exact scheme for friction laws; the ball of MOVING gets h g mu(1 m/s), the plane's speed. */
#define EXACT   "cairn: 1\nrun: {time_step: 1e-3, duration: 1, scheme: coulomb, tolerance: 1e-10}\n"
#define FALLING "{friction_law: {stribeck: {static: 0.5, dynamic: 0.1, speed: 0.3, exponent: 1}}}"

TEST(friction_laws_are_read_and_the_smaller_one_counts_at_each_speed)
{
    double fast = 0.1 + 0.4 * exp(-1 / 0.3), push = 9.81e-3;
    const char *const texts[] = {
        EXACT "materials: {a: " FALLING ", b: {friction: 0.9}}\n" MOVING,
        EXACT "materials: {a: " FALLING ", b: {friction: 0.05}}\n" MOVING,
        EXACT "materials: {a: {friction: 0.9}, b: {friction_law: {table: {speeds: [0, 2], values: "
              "[0.6, 0.2]}}}}\n" MOVING,
        EXACT "materials: {a: {friction: 0.9}, b: " FALLING "}\n"
              "pairs: [{materials: [a, b], restitution: 0.1}]\n" MOVING,
        EXACT "materials: {a: {friction: 0.9}, b: " FALLING "}\n"
              "pairs: [{materials: [a, b], friction: 0.3}]\n" MOVING,
        EXACT "materials: {a: {}, b: {}}\n"
              "pairs: [{materials: [a, b], friction_law: {stribeck: {static: 0.7, dynamic: 0.2, "
              "speed: 1e-3}}}]\n" MOVING,
        EXACT
        "materials: {a: {friction: 0.4, friction_law: constant}, b: {friction: 0.9}}\n" MOVING,
    };
    const double mu[] = { fast, 0.05, 0.4, fast, 0.3, 0.2, 0.4 };
    for (int i = 0; i < 7; i++) /* sliding slows down by 1 % in the step */
        CHECK_CLOSE(speed_after_a_step(texts[i]), push * mu[i], 0.02);
}

TEST(bad_friction_laws_are_refused_at_their_place)
{
    static const refused table[] = {
        { EXACT
          "materials:\n  a: {friction: 1, friction_law: {table: {speeds: [0], values: [1]}}}\n",
          4, 20, "materials.a.friction_law", "found both 'friction' and 'friction_law'" },
        { EXACT "materials:\n  a: {friction_law: {table: {speeds: [0, 1], values: [1, 2]}}}\n", 4,
          54, "materials.a.friction_law.table.values",
          "entry 2 is 2, expected at most 1 before it" },
        { EXACT "materials:\n  a: {friction_law: {stribeck: {static: 1, dynamic: 2, speed: 1}}}\n",
          4, 53, "materials.a.friction_law.stribeck.dynamic", "found 2, expected at most 1" },
        { EXACT "materials: {a: {friction_law: stribek}}\n", 3, 31, "materials.a.friction_law",
          "unknown friction_law 'stribek'; did you mean 'stribeck'?" },
        { EXACT "materials: {a: {friction_law: stribeck}}\n", 3, 31,
          "materials.a.friction_law.static", "the key 'static' is missing" },
        { EXACT "materials: {a: {restitution_law: poison}}\n", 3, 34, "materials.a.restitution_law",
          "unknown restitution_law 'poison'; did you mean 'poisson'?" },
    };
    CHECK_REFUSED(table);
}

/* convex is the scheme when none is given */
TEST(a_convex_scheme_with_a_friction_law_is_refused_before_it_runs)
{
    const refused told = { "cairn: 1\nmaterials: {a: " FALLING "}\n"
                           "run: {time_step: 1e-3, duration: 1, scheme: convex}\n",
                           3, 45, "run.scheme", "expected a scheme of exact Coulomb friction" };
    check_refused(&told, CAIRN_UNSUPPORTED, NULL);
}

TEST(surfaces_are_read_with_materials_pairs_and_bodies)
{
    cairn_scene *s = scene_text_good(
        HEAD "materials:\n"
             "  a: {friction: 0.2, friction_2: 0.4, adhesion: 3, adhesion_range: 0.01}\n"
             "  b: {rolling_friction: 0.01, spinning_friction: 0.02}\n"
             "pairs: [{materials: [a, b], adhesion: 7}]\n"
             "bodies:\n"
             "  - {motion: fixed, material: a, shape: half_space, surface_velocity: [1, 2, 3],\n"
             "     friction_axis: [4, 5, 6]}\n",
        NULL);
    cairn_material_def a, pair;
    CHECK_OK(cairn_material_pair_get(s->world, 0, 0, &a));
    CHECK_OK(cairn_material_pair_get(s->world, 0, 1, &pair));
    CHECK_NEAR(a.friction_2, 0.4, 0);
    CHECK_NEAR(a.adhesion_range, 0.01, 0);
    CHECK_NEAR(pair.adhesion, 7, 0);
    CHECK_NEAR(pair.rolling_friction, 0, 0);
    cairn_surface_laws laws = cairn_world_surface_laws(s->world);
    CHECK(laws.anisotropic && laws.adhesive && laws.rolling && laws.spinning && laws.moving);
    CHECK_NEAR(cairn_world_bodies(s->world).surface_velocity[0].y, 2, 0);
    CHECK_NEAR(cairn_world_bodies(s->world).friction_axis[0].z, 6, 0);
    cairn_scene_destroy(s);
}

TEST(what_does_not_go_with_rolling_friction_is_refused_at_its_place)
{
    const refused scheme = { "cairn: 1\nmaterials: {a: {rolling_friction: 0.1}}\n"
                             "run: {time_step: 1e-3, duration: 1, scheme: fixed-point}\n",
                             3, 45, "run.scheme", "expected one that treats rolling" };
    const refused flat = { "cairn: 1\ndimension: 2\nrun: {time_step: 1e-3, duration: 1}\n"
                           "materials: {a: {spinning_friction: 0.1}}\n",
                           4, 36, "materials.a.spinning_friction", "found 0.1, expected 0 in 2D" };
    const refused belt = {
        HEAD "bodies: [{shape: {sphere: {radius: 1}}, surface_velocity: [1, 0, 0]}]\n", 3, 59,
        "bodies.0.surface_velocity", "only a fixed or driven body"
    };
    check_refused(&scheme, CAIRN_UNSUPPORTED, NULL);
    check_refused(&flat, CAIRN_BAD_INPUT, NULL);
    check_refused(&belt, CAIRN_BAD_INPUT, NULL);
}

GROUP(test_scene_world)
{
    RUN(CASE(a_pair_of_materials_overrules_the_smaller_values),
        CASE(without_materials_there_is_one_called_default), CASE(gravity_points_down_in_2d_too),
        CASE(bad_tops_are_refused), CASE(steps_that_cannot_be_counted_are_refused),
        CASE(friction_laws_are_read_and_the_smaller_one_counts_at_each_speed),
        CASE(bad_friction_laws_are_refused_at_their_place),
        CASE(a_convex_scheme_with_a_friction_law_is_refused_before_it_runs),
        CASE(surfaces_are_read_with_materials_pairs_and_bodies),
        CASE(what_does_not_go_with_rolling_friction_is_refused_at_its_place));
}

/* ==== test_scene_body: bodies: motion, pose, drivers, loads, names ============================ */

#define BALL       "shape: {sphere: {radius: 1}}"
#define BODY(keys) HEAD "bodies:\n  - {" keys "}\n"
#define FLAT(keys) HEAD "dimension: 2\nbodies:\n  - {" keys "}\n"

TEST(keys_that_do_not_fit_the_motion_are_refused)
{
    static const refused table[] = {
        { BODY(BALL ", motion: fixd"), 4, 44, "bodies.0.motion", "did you mean 'fixed'?" },
        { BODY(BALL ", drivers: [{velocity: {velocity: [1, 0, 0]}}]"), 4, 36, "bodies.0.drivers",
          "only with motion: driven" },
        { BODY(BALL ", motion: fixed, velocity: [1, 0, 0]"), 4, 51, "bodies.0.velocity",
          "only with motion: dynamic" },
        { BODY(BALL ", motion: driven, loads: []"), 4, 52, "bodies.0.loads",
          "only with motion: dynamic" },
        { BODY("shape: half_space"), 4, 5, "bodies.0.motion", "half_space" },
        { BODY("shape: point"), 4, 5, "bodies.0.mass", "expected a mass > 0 kg" },
        { BODY(BALL ", density: 1, mass: 1"), 4, 36, "bodies.0.density", "found both" },
        { BODY(BALL ", mass: 0"), 4, 42, "bodies.0.mass", "found 0, expected a number > 0" },
        { BODY(BALL ", motion: fixed, mass: 0"), 4, 57, "bodies.0.mass", "found 0" },
    };
    CHECK_REFUSED(table);
}

TEST(impossible_poses_are_refused)
{
    static const refused table[] = {
        { BODY(BALL ", angle: 1"), 4, 36, "bodies.0.angle", "only in 2D" },
        { FLAT(BALL ", orientation: [1, 0, 0, 0]"), 5, 36, "bodies.0.orientation", "only in 3D" },
        { BODY(BALL ", orientation: [0, 0, 0, 0]"), 4, 49, "bodies.0.orientation",
          "found a quaternion of length 0" },
        { BODY(BALL ", orientation: [1, 0, 0]"), 4, 49, "bodies.0.orientation",
          "found a list of 3, expected {axis: [x, y, z], angle: rad} or a quaternion" },
        { BODY(BALL ", orientation: [1, 0, 0, a]"), 4, 59, "bodies.0.orientation.3",
          "found 'a', expected a number" },
        { BODY(BALL ", orientation: {axis: [0, 0, 0], angle: 1}"), 4, 56,
          "bodies.0.orientation.axis", "expected a direction" },
        { BODY(BALL ", orientation: {angle: 1}"), 4, 49, "bodies.0.orientation.axis",
          "the key 'axis' is missing" },
        { BODY(BALL ", inertia: [1, 1, 5]"), 4, 45, "bodies.0.inertia", "no body has these" },
    };
    CHECK_REFUSED(table);
}

TEST(impossible_tables_are_refused)
{
    static const refused table[] = {
        { BODY(BALL ", motion: driven, drivers: [{table: {time: [1, 1], x: [0, 1]}}]"), 4, 77,
          "bodies.0.drivers.0.table.time", "entry 2 is 1, expected more than 1" },
        { BODY(BALL ", motion: driven, drivers: [{table: {time: [0, 1], x: [0]}}]"), 4, 88,
          "bodies.0.drivers.0.table.x", "found 1 numbers, expected 2" },
        { BODY(BALL ", loads: [{table: {time: [0, a], factor: [1, 1]}}]"), 4, 63,
          "bodies.0.loads.0.table.time.1", "found 'a', expected a number in s" },
        { BODY(BALL ", loads: [{sine: {force: [1, 0, 0]}}]"), 4, 51,
          "bodies.0.loads.0.sine.frequency", "'frequency' is missing" },
        { BODY(BALL ", loads: {}"), 4, 43, "bodies.0.loads", "expected a list of loads" },
        { BODY("motion: fixed, shape: {half_space: {axis: [0, 0, 0]}}"), 4, 48,
          "bodies.0.shape.half_space.axis", "expected a direction" },
    };
    CHECK_REFUSED(table);
}

TEST(names_are_names_and_unique)
{
    static const refused table[] = {
        { BODY(BALL ", name: [a]"), 4, 42, "bodies.0.name", "found a list of 1, expected a name" },
        { BODY(BALL ", name: \"a\\nb\""), 4, 42, "bodies.0.name", "printable" },
        { HEAD "bodies:\n  - {name: a, " BALL "}\n  - {name: a, " BALL ", position: [5, 0, 0]}\n",
          5, 12, "bodies.1.name", "the name 'a' is given twice" },
    };
    CHECK_REFUSED(table);
}

/* Turned by 0.5 rad about z after 1 s of a driver with 0.5 rad/s, in 2D. */
TEST(drivers_move_bodies)
{
    cairn_scene *s = scene_text_good(
        FLAT(BALL ", motion: driven, angle: 0.25, drivers: [rotation: {angular_velocity: 0.5}]"),
        "run.time_step=1");
    cairn_step_report report;
    CHECK_OK(cairn_world_step(s->world, &s->step, &report));
    CHECK_NEAR(cairn_world_bodies(s->world).angle[0], 0.75, 1e-14);
    cairn_scene_destroy(s);
}

/* Load 6 N on 2 kg for one step of 1 ms, no gravity. */
TEST(loads_push_bodies)
{
    cairn_scene *s = scene_text_good(
        BODY(BALL ", mass: 2, loads: [constant: {force: [6, 0, 0]}]") "gravity: [0, 0, 0]\n", NULL);
    cairn_step_report report;
    CHECK_OK(cairn_world_step(s->world, &s->step, &report));
    CHECK_NEAR(cairn_world_bodies(s->world).v[0].x, 3e-3, 1e-15);
    cairn_scene_destroy(s);
}

GROUP(test_scene_body)
{
    RUN(CASE(keys_that_do_not_fit_the_motion_are_refused), CASE(impossible_poses_are_refused),
        CASE(impossible_tables_are_refused), CASE(names_are_names_and_unique),
        CASE(drivers_move_bodies), CASE(loads_push_bodies));
}

/* ==== test_scene_label: bodies are called by the names that their scene gives them ============ */

static const char *const scene_of_two =
    HEAD "bodies:\n"
         "  - {name: floor, motion: fixed, shape: {half_space: {}}}\n"
         "  - {shape: {sphere: {radius: 1}}, position: [0, 0, 1]}\n"
         "  - {name: top, shape: {sphere: {radius: 1}}, position: [0, 0, 4]}\n";

TEST(a_body_has_its_name_or_its_number)
{
    cairn_scene *scene = scene_text_good(scene_of_two, NULL);
    static const char *const expected[4] = { "'floor'", "1", "'top'", "3" };
    char label[64];
    for (int i = 0; i < 4; i++) {
        cairn_scene_body_label(scene, i, label, sizeof label);
        CHECK_TEXT(label, expected[i]);
    }
    cairn_scene_body_label(scene, -1, label, sizeof label);
    CHECK_TEXT(label, "-1");
    cairn_scene_destroy(scene);
}

TEST(messages_of_the_world_get_the_names)
{
    static const char *const messages[][2] = {
        { "body 1 would move by 3 m relative to body 0 in", "body 1 would move by 3 m relative to "
                                                            "body 'floor' in" },
        { "body 0", "body 'floor'" },
        { "nobody 0 and any body at all", "nobody 'floor' and any body at all" },
        { "", "" },
    };
    cairn_scene *scene = scene_text_good(scene_of_two, NULL);
    char text[100], small[12];
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
        cairn_scene_name_bodies(scene, messages[i][0], text, sizeof text);
        CHECK_TEXT(text, messages[i][1]);
    }
    cairn_scene_name_bodies(scene, "body 0 and body 0", small, sizeof small);
    CHECK_TEXT(small, "body 'floor"); /* cut */
    cairn_scene_destroy(scene);
}

GROUP(test_scene_label)
{
    RUN(CASE(a_body_has_its_name_or_its_number), CASE(messages_of_the_world_get_the_names));
}

/* ==== test_run_options: the table of the run part and its defaults ============================ */

TEST(only_the_duration_must_be_given)
{
    cairn_run_options options;
    const cairn_record *record = cairn_run_record();
    cairn_error error = { 0 };
    CHECK_INT(record->size, sizeof options);
    record->set_default(&options);
    CHECK_INT(cairn_record_check(record, &options, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "duration");
    options.duration = 1;
    CHECK_OK(cairn_record_check(record, &options, &error));
    for (int i = 0; i < record->option_count; i++)
        CHECK_INT(record->options[i].required, strcmp(record->options[i].name, "duration") == 0);
}

TEST(defaults_are_as_documented)
{
    const cairn_run_options options = cairn_run_options_default();
    CHECK_NEAR(options.frame_interval, 0.05, 0);
    CHECK(options.contacts);
    CHECK(options.paraview);
    CHECK(!options.packing);
    CHECK_TEXT(options.on_uncertified, "warn");
    CHECK_NEAR(options.rest_speed, 0, 0);
}

TEST(on_uncertified_is_warn_or_stop)
{
    const cairn_option *option = cairn_record_find(cairn_run_record(), "on_uncertified");
    CHECK_TEXT(option->choice(0), "warn");
    CHECK_TEXT(option->choice(1), "stop");
    CHECK(option->choice(2) == NULL);
    CHECK(option->choice(-1) == NULL);
}

TEST(a_certificate_is_off_summary_or_full)
{
    const cairn_option *option = cairn_record_find(cairn_run_record(), "certificate");
    CHECK_TEXT(option->choice(0), "off");
    CHECK_TEXT(option->choice(1), "summary");
    CHECK_TEXT(option->choice(2), "full");
    CHECK(option->choice(3) == NULL);
    CHECK(option->choice(-1) == NULL);
    CHECK_TEXT(cairn_run_options_default().certificate, "summary");
}

GROUP(test_run_options)
{
    RUN(CASE(only_the_duration_must_be_given), CASE(defaults_are_as_documented),
        CASE(on_uncertified_is_warn_or_stop), CASE(a_certificate_is_off_summary_or_full));
}

/* ==== test_scene_function: functions of time in a scene ====================================== */

#define SCENE(lines) "cairn: 1\n" lines "run: {time_step: 0.01, duration: 1}\n"

/* Each form of a function, and where it ends up: gravity after 0.5 s. */
TEST(numbers_may_be_functions_of_time)
{
    static const char *const forms[] = {
        "gravity: [0, 0, -2 * t]\n",
        "gravity: [0, 0, \"-2 * t\"]\n",
        "gravity: [0, 0, {ramp: {from: 0, to: -2, stop: 1}}]\n",
        "gravity: [0, 0, {table: {time: [0, 1], values: [0, -2]}}]\n",
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "cairn: 1\n%sbodies: [shape: {sphere: {radius: 0.1}}]\n"
                 "run: {time_step: 0.01, duration: 1}\n",
                 forms[i]);
        cairn_scene *scene = scene_text_good(text, NULL);
        for (int k = 0; k < 50; k++)
            CHECK_OK(cairn_world_step(scene->world, &scene->step, NULL));
        CHECK_NEAR(cairn_world_gravity(scene->world).z, -0.99, 1e-14); /* the mean over the step */
        CHECK_NEAR(cairn_world_bodies(scene->world).v[0].z, -0.25, 1e-14);
        cairn_scene_destroy(scene);
    }
}

/* The frame, the lid and the blade turn as one about the position of the frame. */
TEST(groups_are_driven_as_one)
{
    cairn_scene *scene = scene_text_good(
        SCENE(
            "bodies:\n"
            "  - {name: frame, motion: driven, position: [1, 0, 0], shape: {sphere: {radius: "
            "0.1}}}\n"
            "  - {name: lid, motion: driven, position: [1, 0, 2], shape: {sphere: {radius: 0.1}}}\n"
            "drivers:\n"
            "  - {bodies: [frame, lid], drivers: [rotation: {angular_velocity: [0, 1, 0]}]}\n"),
        NULL);
    for (int k = 0; k < 100; k++)
        CHECK_OK(cairn_world_step(scene->world, &scene->step, NULL));
    const cairn_bodies b = cairn_world_bodies(scene->world);
    CHECK_NEAR(b.x[0].x, 1, 1e-15);
    CHECK_NEAR(b.x[1].x, 1 + 2 * sin(1), 1e-14);
    CHECK_NEAR(b.x[1].z, 2 * cos(1), 1e-14);
    cairn_scene_destroy(scene);
}

TEST(bad_functions_are_refused_with_their_place)
{
    static const refused wrong[] = {
        { SCENE("gravity: [0, 0, \"-9.81 * sinn(t)\"]\n"), 2, 26, "gravity.2",
          "in the expression '-9.81 * sinn(t)': unknown name 'sinn'; did you mean 'sin'?" },
        { SCENE("gravity: [0, 0, -9.81 * (1 + t]\n"), 2, 31, "gravity.2",
          "found the end, expected an operator or ')'" },
        { SCENE("materials: {a: {friction: 0.5 +* t}}\n"), 2, 32, "materials.a.friction",
          "found '*', expected a number, a name or '('" },
        { SCENE("materials: {a: {friction: high}}\n"), 2, 27, "materials.a.friction",
          "found 'high', expected a number between 0 and 1e+06, or a function of time" },
        { SCENE("materials: {a: {friction: t - 1}}\n"), 2, 27, "materials.a.friction",
          "its value at t = 0 is -1" },
        { SCENE("materials: {a: {friction: {ramp: {from: 0, to: 1, start: 2, stop: 1}}}}\n"), 2, 67,
          "materials.a.friction.ramp.stop", "found 1, expected more than start, 2" },
        { SCENE("materials: {a: {friction: {sine: 1}}}\n"), 2, 28, "materials.a.friction.sine",
          "unknown function 'sine'" },
        { SCENE("materials: {a: {}, b: {}}\npairs: [{materials: [a, b], friction: t}]\n"), 3, 39,
          "pairs.0.friction", "friction varies by the material, not by the pair" },
        { SCENE("drivers: [{bodies: [lid], drivers: []}]\n"), 2, 21, "drivers.0.bodies.0",
          "unknown body 'lid': none has a name" },
        { SCENE("bodies: [{name: lid, shape: {sphere: {radius: 1}}}]\n"
                "drivers: [{bodies: [lid], drivers: [velocity: {velocity: [0, 0, 1]}]}]\n"),
          3, 21, "drivers.0.bodies.0", "only a driven body has drivers" },
    };
    CHECK_REFUSED(wrong);
}

#define PRESS                                                                                      \
    "bodies:\n"                                                                                    \
    "  - {name: floor, motion: fixed, shape: half_space}\n"                                        \
    "  - {name: lid, position: [0, 0, 1], shape: {box: {size: [1, 1, 0.2]}}}\n"                    \
    "  - {name: ball, position: [0, 0, 0.2], shape: {sphere: {radius: 0.1}}}\n"

/* The lid has its face at z = 0.9; with a stress it needs an area. */
TEST(cells_are_read_with_their_walls_and_functions)
{
    cairn_scene *scene = scene_text_good(
        SCENE(PRESS "cells: [{z: {low: floor, high: lid, force: 10 * t, strain_rate: 0.1}, mass: 2,"
                    " strain_from: 3}]\n"),
        NULL);
    CHECK_INT(cairn_world_cell_count(scene->world), 1);
    CHECK_NEAR(cairn_world_cell(scene->world, 0).length[2], 0.9, 1e-15);
    CHECK(isnan(cairn_world_cell(scene->world, 0).length[0]));
    CHECK_NEAR(cairn_world_bodies(scene->world).mass[1], 2, 0);
    cairn_scene_destroy(scene);
}

TEST(bad_cells_are_refused_with_their_place)
{
    static const refused wrong[] = {
        { SCENE(PRESS "cells: [{z: {low: floor, high: lit, force: 1}}]\n"), 6, 32, "cells.0.z.high",
          "unknown body 'lit'; did you mean 'lid'?" },
        { SCENE(PRESS "cells: [{z: {low: floor, high: lid, stress: 1}}]\n"), 6, 13, "cells.0.z",
          "expected a low and a high wall of every other axis" },
        { SCENE(PRESS "cells: [{z: {low: floor, high: ball, force: 1}}]\n"), 6, 13, "cells.0.z",
          "expected a box or half_space" },
        { SCENE(PRESS "cells: [{z: {low: floor, force: 1}}]\n"), 6, 13, "cells.0.z",
          "no wall that it could move: expected one of its walls, low: body 'floor'" },
        { SCENE(PRESS "cells: [{z: {force: 1}}]\n"), 6, 13, "cells.0.z",
          "expected the key 'low' or 'high'" },
        { SCENE(PRESS "cells: [{z: {high: lid, forse: 1}}]\n"), 6, 25, "cells.0.z.forse",
          "did you mean 'force'?" },
        { SCENE(PRESS "cells: [{z: {high: lid, force: 1}, mass: -1}]\n"), 6, 42, "cells.0.mass",
          "found -1" },
    };
    CHECK_REFUSED(wrong);
}

GROUP(test_scene_cell)
{
    RUN(CASE(cells_are_read_with_their_walls_and_functions),
        CASE(bad_cells_are_refused_with_their_place));
}

GROUP(test_scene_function)
{
    RUN(CASE(numbers_may_be_functions_of_time), CASE(groups_are_driven_as_one),
        CASE(bad_functions_are_refused_with_their_place));
}
