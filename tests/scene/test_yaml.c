/* test_yaml.c - texts as trees, records of keys, and the JSON Schema. */
#include <locale.h>
#include <stdlib.h>

#include "scene/stages.h"
#include "scene/yaml.h"
#include "tests/check.h"
#include "tests/problems/run_scene.h"

/* ==== test_yaml: texts become trees, and hostile texts are refused ============================ */

static cairn_yaml tree;
static cairn_error error;

static cairn_status parse(const char *text)
{
    cairn_yaml_destroy(&tree);
    memset(&error, 0, sizeof error);
    return cairn_yaml_parse(&tree, text, strlen(text), "t.yaml", &error);
}

static const cairn_yaml_node *at(const char *a, const char *b)
{
    const cairn_yaml_node *node = cairn_yaml_find(tree.root, a);
    return b ? cairn_yaml_find(node, b) : node;
}

static void check_text_refused(const char *text, int line, int column, const char *message)
{
    CHECK_INT(parse(text), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, message);
    CHECK_INT(error.line, line);
    CHECK_INT(error.column, column);
    CHECK_TEXT(error.file, "t.yaml");
    cairn_yaml_destroy(&tree);
}

TEST(nodes_know_where_they_stand)
{
    CHECK_OK(parse("a: 1\nb:\n  - x\n  - {c: 2}\n"));
    const cairn_yaml_node *list = at("b", NULL), *c = cairn_yaml_find(list->last, "c");
    CHECK_INT(list->kind, CAIRN_YAML_LIST);
    CHECK_INT(list->count, 2);
    CHECK_INT(c->line, 4);
    CHECK_INT(c->column, 9);
    CHECK_INT(c->key_column, 6);
    char place[96];
    cairn_yaml_path(c, place, sizeof place);
    CHECK_TEXT(place, "b.1.c");
    cairn_yaml_destroy(&tree);
}

TEST(json_is_yaml)
{
    CHECK_OK(parse("{\"a\": [1, 2.5e-3, true, null],\n\t\"b\": {\"c\": \"x\\/y\"}}"));
    CHECK_INT(at("a", NULL)->count, 4);
    CHECK_TEXT(at("b", "c")->text, "x/y");
    CHECK(at("b", "c")->quoted);
    cairn_yaml_destroy(&tree);
}

TEST(columns_count_letters_not_bytes)
{
    CHECK_OK(parse("{\"\xc3\xa9\xc3\xa9\": 1, b: 2}"));
    CHECK_INT(at("b", NULL)->column, 14); /* the byte is the 16th */
    cairn_yaml_destroy(&tree);
}

TEST(an_alias_is_a_copy)
{
    CHECK_OK(parse("a: &x {c: [1, 2]}\nb: *x\n"));
    CHECK_INT(at("b", "c")->count, 2);
    CHECK(at("b", "c") != at("a", "c"));
    CHECK_OK(cairn_yaml_override(&tree, "b.c.0=7", &error));
    CHECK_TEXT(at("a", "c")->first->text, "1");
    CHECK_TEXT(at("b", "c")->first->text, "7");
    cairn_yaml_destroy(&tree);
}

TEST(merge_fills_in_what_is_not_given)
{
    CHECK_OK(parse("a: &a {p: 1, q: 2}\nb: &b {q: 3, r: 4}\nc: {q: 9, <<: [*a, *b]}\n"));
    CHECK_INT(at("c", NULL)->count, 3);
    CHECK_TEXT(at("c", "p")->text, "1");
    CHECK_TEXT(at("c", "q")->text, "9");
    CHECK_TEXT(at("c", "r")->text, "4");
    cairn_yaml_destroy(&tree);
}

/* What was merged where it was written is merged whole elsewhere. */
TEST(a_mapping_that_was_merged_can_be_merged_again)
{
    CHECK_OK(parse("a: {q: 9, <<: &x {p: 1, q: 2}}\nb: {<<: *x}\n"
                   "c: {<<: [&y {r: 3}, {s: 4}]}\nd: {<<: *y}\n"));
    CHECK_TEXT(at("a", "q")->text, "9");
    CHECK_TEXT(at("a", "p")->text, "1");
    CHECK_INT(at("b", NULL)->count, 2);
    CHECK_TEXT(at("b", "q")->text, "2");
    CHECK_INT(at("c", NULL)->count, 2);
    CHECK_INT(at("d", NULL)->count, 1);
    CHECK_TEXT(at("d", "r")->text, "3");
    cairn_yaml_destroy(&tree);
}

TEST(an_empty_text_has_no_root)
{
    CHECK_OK(parse("# nothing\n"));
    CHECK(tree.root == NULL);
    cairn_yaml_destroy(&tree);
}

/* Some editors begin a file with EF BB BF; columns count from behind it. */
TEST(the_mark_of_utf8_is_passed_over)
{
    CHECK_OK(parse("\xef\xbb\xbf"
                   "a: 1\n"));
    const cairn_yaml_node *a = cairn_yaml_find(tree.root, "a");
    CHECK(a != NULL);
    CHECK_INT(a->line, 1);
    CHECK_INT(a->column, 4);
    cairn_yaml_destroy(&tree);
}

TEST(bad_texts_are_refused)
{
    check_text_refused("a: 1\nb: [1, 2\nc: 3\n", 3, 2, "not a YAML text");
    check_text_refused("a: 1\n b: 2\n", 2, 3, "not a YAML text");
    check_text_refused("a: 1\n\ttab: 2\n", 2, 1, "found a tab, expected spaces");
    check_text_refused("a: 1\nb: \x01\n", 2, 4, "control characters are not allowed");
    check_text_refused("a: 1\nb: \xff\n", 2, 4, "not a YAML text");
    check_text_refused("a: 1\nb: 2\na: 3\n", 3, 1, "the key 'a' is given twice");
    check_text_refused("a: 1\n---\nb: 2\n", 2, 1, "second document");
    check_text_refused("a: !!str 1\n", 1, 4, "tags");
    check_text_refused("a: *x\n", 1, 4, "anchor");
    check_text_refused("a: &x [*x]\n", 1, 8, "anchor");
    check_text_refused("? [1, 2]\n: 3\n", 1, 3, "expected a key");
    check_text_refused("a: 1\n<<: 3\n", 2, 1, "merge key");
    check_text_refused("a: 1\nb: \"c\\0d\"\n", 2, 4, "zero character");
    check_text_refused("a: 1\n\"b\\0\": 2\n", 2, 1, "zero character");
}

/* 32 levels are allowed, 33 are not; the bracket that is too much is named. */
TEST(depth_is_limited)
{
    char text[128];
    memset(text, '[', 33);
    memset(text + 33, ']', 33);
    text[66] = '\0';
    check_text_refused(text, 1, 33, "nested too deeply");
    memmove(text, text + 1, 64);
    text[64] = '\0';
    CHECK_OK(parse(text));
    cairn_yaml_destroy(&tree);
}

/* Nine levels of ten aliases each would be a billion values. */
TEST(an_alias_bomb_is_refused)
{
    check_text_refused("a: &a [x,x,x,x,x,x,x,x,x,x]\n"
                       "b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
                       "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
                       "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
                       "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n"
                       "f: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"
                       "g: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f,*f]\n",
                       6, 8, "aliases stand for more than 200000 values");
}

TEST(aliases_cannot_nest_deeper_than_brackets)
{
    char text[2000] = "a0: &a0 [1]\n";
    for (int i = 1; i < 40; i++) {
        char line[64];
        snprintf(line, sizeof line, "a%d: &a%d [*a%d]\n", i, i, i - 1);
        strcat(text, line);
    }
    CHECK_INT(parse(text), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "nested too deeply");
    CHECK_INT(error.line, 31);
    cairn_yaml_destroy(&tree);
}

TEST(many_keys_are_checked_quickly)
{
    enum { KEYS = 200000 };
    char *text = malloc(KEYS * 12 + 16);
    CHECK(text != NULL);
    size_t used = 0;
    for (int i = 0; i < KEYS; i++)
        used += (size_t)sprintf(text + used, "k%d: 1\n", i);
    CHECK_OK(cairn_yaml_parse(&tree, text, used, "t.yaml", &error));
    CHECK_INT(tree.root->count, KEYS);
    cairn_yaml_destroy(&tree);
    used += (size_t)sprintf(text + used, "k7: 1\n");
    CHECK_INT(cairn_yaml_parse(&tree, text, used, "t.yaml", &error), CAIRN_BAD_INPUT);
    CHECK_INT(error.line, KEYS + 1);
    cairn_yaml_destroy(&tree);
    free(text);
}

GROUP(test_yaml)
{
    RUN(CASE(nodes_know_where_they_stand), CASE(json_is_yaml),
        CASE(columns_count_letters_not_bytes), CASE(an_alias_is_a_copy),
        CASE(merge_fills_in_what_is_not_given), CASE(a_mapping_that_was_merged_can_be_merged_again),
        CASE(an_empty_text_has_no_root), CASE(the_mark_of_utf8_is_passed_over),
        CASE(bad_texts_are_refused), CASE(depth_is_limited), CASE(an_alias_bomb_is_refused),
        CASE(aliases_cannot_nest_deeper_than_brackets), CASE(many_keys_are_checked_quickly));
}

/* ==== test_yaml_value: what scalars mean, and how they are described ========================== */

static cairn_yaml_node scalar(const char *text)
{
    return (cairn_yaml_node){ .kind = CAIRN_YAML_SCALAR, .text = text };
}

static double real(const char *text)
{
    double value = -99;
    const cairn_yaml_node node = scalar(text);
    return cairn_yaml_real(&node, &value) ? value : -99;
}

static int64_t integer(const char *text)
{
    int64_t value = -99;
    const cairn_yaml_node node = scalar(text);
    return cairn_yaml_integer(&node, &value) ? value : -99;
}

TEST(numbers_of_yaml_and_json)
{
    CHECK_NEAR(real("1"), 1, 0);
    CHECK_NEAR(real("-1.5e-3"), -1.5e-3, 0);
    CHECK_NEAR(real("+.5"), 0.5, 0);
    CHECK_NEAR(real("2."), 2, 0);
    CHECK_NEAR(real("1E5"), 1e5, 0);
    CHECK(real(".inf") == INFINITY);
    CHECK(real("-.Inf") == -INFINITY);
    CHECK(isnan(real(".nan")));
}

TEST(what_is_not_a_number)
{
    static const char *const words[] = { "",    "abc", "1a",  "0x10",  "1e",  "e5",  ".", "1e+",
                                         "nan", "inf", "1 2", "1_000", "--1", "1,5", "-" };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        CHECK_NEAR(real(words[i]), -99, 0);
    double value;
    const cairn_yaml_node quoted = { .kind = CAIRN_YAML_SCALAR, .text = "1", .quoted = true };
    CHECK(!cairn_yaml_real(&quoted, &value));
}

TEST(whole_numbers)
{
    CHECK_INT(integer("9223372036854775807"), INT64_MAX);
    CHECK_INT(integer("9223372036854775808"), -99);
    CHECK_INT(integer("2e6"), 2000000);
    CHECK_INT(integer("3.0"), 3);
    CHECK_INT(integer("3.5"), -99);
    CHECK_INT(integer(".inf"), -99);
    CHECK_INT(integer("1e300"), -99);
}

TEST(flags_and_nothing)
{
    bool value = false;
    cairn_yaml_node node = scalar("True");
    CHECK(cairn_yaml_flag(&node, &value) && value);
    node.text = "yes";
    CHECK(!cairn_yaml_flag(&node, &value));
    node.text = "~";
    CHECK(cairn_yaml_is_null(&node));
    node.quoted = true;
    CHECK(!cairn_yaml_is_null(&node));
}

/* A host program may have set a locale whose decimal point is a comma. */
TEST(the_locale_does_not_matter)
{
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        skip();
    double value = real("2.5e-1");
    setlocale(LC_ALL, "C");
    CHECK_NEAR(value, 0.25, 0);
}

TEST(descriptions_are_short_and_printable)
{
    char text[80];
    cairn_yaml_node node = scalar("0123456789012345678901234567890123456789x");
    node.quoted = true;
    cairn_yaml_describe(&node, text, sizeof text);
    CHECK_TEXT(text, "'0123456789012345678901234567890123456789...'");
    node.text = "a\nb";
    cairn_yaml_describe(&node, text, sizeof text);
    CHECK_TEXT(text, "'a?b'");
    node = scalar("-3");
    cairn_yaml_describe(&node, text, sizeof text);
    CHECK_TEXT(text, "-3");
}

GROUP(test_yaml_value)
{
    RUN(CASE(numbers_of_yaml_and_json), CASE(what_is_not_a_number), CASE(whole_numbers),
        CASE(flags_and_nothing), CASE(the_locale_does_not_matter),
        CASE(descriptions_are_short_and_printable));
}

/* ==== test_yaml_override: "path=value" on a tree ============================================== */

static const char *const text = "run: {time_step: 1, list: [5, 6]}\nbodies:\n  - {mass: 1}\n";

static cairn_status override(const char *assignment)
{
    cairn_yaml_destroy(&tree);
    memset(&error, 0, sizeof error);
    CHECK_OK(cairn_yaml_parse(&tree, text, strlen(text), "t.yaml", &error));
    return cairn_yaml_override(&tree, assignment, &error);
}

static const cairn_yaml_node *run_key(const char *key)
{
    return cairn_yaml_find(cairn_yaml_find(tree.root, "run"), key);
}

TEST(a_value_is_replaced_in_place)
{
    CHECK_OK(override("run.time_step=1e-3"));
    CHECK_TEXT(run_key("time_step")->text, "1e-3");
    CHECK_TEXT(run_key("time_step")->file, "--set");
    CHECK_INT(cairn_yaml_find(tree.root, "run")->count, 2);
    cairn_yaml_destroy(&tree);
}

TEST(lists_go_by_position)
{
    CHECK_OK(override("run.list.1=7"));
    CHECK_TEXT(run_key("list")->last->text, "7");
    CHECK_OK(override("bodies.0.mass=2"));
    const cairn_yaml_node *body = cairn_yaml_find(tree.root, "bodies")->first;
    CHECK_TEXT(cairn_yaml_find(body, "mass")->text, "2");
    cairn_yaml_destroy(&tree);
}

TEST(entries_of_a_list_go_by_name_too)
{
    const char *const named = "bodies:\n  - {name: ball, mass: 1}\n  - {name: box, mass: 1}\n";
    cairn_yaml_destroy(&tree);
    CHECK_OK(cairn_yaml_parse(&tree, named, strlen(named), "t.yaml", &error));
    CHECK_OK(cairn_yaml_override(&tree, "bodies.box.mass=2", &error));
    const cairn_yaml_node *bodies = cairn_yaml_find(tree.root, "bodies");
    CHECK_TEXT(cairn_yaml_find(bodies->first, "mass")->text, "1");
    CHECK_TEXT(cairn_yaml_find(bodies->last, "mass")->text, "2");
    CHECK_INT(cairn_yaml_override(&tree, "bodies.bal.mass=2", &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "there is no 'bal'");
    cairn_yaml_destroy(&tree);
}

TEST(a_new_key_is_added_at_the_end_of_a_path)
{
    CHECK_OK(override("run.solver=pgs"));
    CHECK_TEXT(run_key("solver")->text, "pgs");
    CHECK_OK(override("title=a = b"));
    CHECK_TEXT(cairn_yaml_find(tree.root, "title")->text, "a = b");
    cairn_yaml_destroy(&tree);
}

TEST(a_value_may_be_a_mapping_or_a_list)
{
    CHECK_OK(override("run.list={a: [1, 2, 3]}"));
    const cairn_yaml_node *a = cairn_yaml_find(run_key("list"), "a");
    char place[96];
    cairn_yaml_path(a->last, place, sizeof place);
    CHECK_TEXT(place, "run.list.a.2");
    CHECK_OK(override("run.list="));
    CHECK(cairn_yaml_is_null(run_key("list")));
    cairn_yaml_destroy(&tree);
}

TEST(paths_that_lead_nowhere_are_refused)
{
    static const struct {
        const char *assignment, *key, *message;
    } bad[] = {
        { "rum.time_step=1", "rum.time_step", "there is no 'rum'" },
        { "bodies.1.mass=2", "bodies.1.mass", "there is no '1'" },
        { "bodies.-1=2", "bodies.-1", "there is no '-1'" },
        { "run.list.2=1", "run.list.2", "there is no '2'" },
        { "run.time_step.x=1", "run.time_step.x", "there is no 'x'" },
        { "run.=1", "run.", "there is no ''" },
        { "run.time_step", "", "expected path=value" },
        { "=3", "", "expected path=value" },
        { "run.list=[1, 2", "run.list", "not a YAML text" },
        { "run.list={a: 1, a: 2}", "run.list", "given twice" },
        { "run.list=*x", "run.list", "anchor" },
        { "bodies.99999999999999999999.mass=2", "bodies.99999999999999999999.mass", "there is no" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_INT(override(bad[i].assignment), CAIRN_BAD_INPUT);
        CHECK_TEXT(error.file, "--set");
        CHECK_TEXT(error.key, bad[i].key);
        CHECK_CONTAINS(error.message, bad[i].message);
        CHECK_INT(error.line, 0);
    }
    cairn_yaml_destroy(&tree);
}

GROUP(test_yaml_override)
{
    RUN(CASE(a_value_is_replaced_in_place), CASE(lists_go_by_position),
        CASE(entries_of_a_list_go_by_name_too), CASE(a_new_key_is_added_at_the_end_of_a_path),
        CASE(a_value_may_be_a_mapping_or_a_list), CASE(paths_that_lead_nowhere_are_refused));
}

/* ==== test_scene_record: values and keys that an option table refuses, with their place ======= */

#define BODY(keys) HEAD "bodies:\n  - {" keys "}\n"

TEST(unknown_keys_are_refused_with_the_nearest_one)
{
    static const refused table[] = {
        { HEAD "gravitiy: [0, 0, 0]\n", 3, 1, "gravitiy", "did you mean 'gravity'?" },
        { "cairn: 1\nrun: {time_step: 1, duration: 1, tolerence: 1}\n", 2, 34, "run.tolerence",
          "unknown key 'tolerence'; did you mean 'tolerance'?" },
        { "cairn: 1\nrun:\n  time_step: 1\n  duration: 1\n  frame_intervall: 1\n", 5, 3,
          "run.frame_intervall", "did you mean 'frame_interval'?" },
        { HEAD "materials:\n  rock: {frcition: 1}\n", 4, 10, "materials.rock.frcition",
          "did you mean 'friction'?" },
        { BODY("shape: {sphere: {radus: 1}}"), 4, 23, "bodies.0.shape.sphere.radus",
          "did you mean 'radius'?" },
        { BODY("shape: {sphere: {zzzzzzzz: 1}}"), 4, 23, "bodies.0.shape.sphere.zzzzzzzz",
          "unknown key 'zzzzzzzz', expected one of radius" },
        { BODY("shape: {shpere: {radius: 1}}"), 4, 14, "bodies.0.shape.shpere",
          "unknown shape 'shpere'; did you mean 'sphere'?" },
        { BODY("motion: driven, shape: half_space, drivers: [{shaek: {}}]"), 4, 52,
          "bodies.0.drivers.0.shaek", "unknown driver 'shaek'; did you mean 'shake'?" },
        { BODY("shape: half_spaec, motion: fixed"), 4, 13, "bodies.0.shape",
          "unknown shape 'half_spaec'; did you mean 'half_space'?" },
        { "cairn: 1\nrun: {time_step: 1, duration: 1, backend: hots}\n", 2, 43, "run.backend",
          "unknown back end 'hots'; did you mean 'host'?" },
        { "cairn: 1\nrun: {time_step: 1, duration: 1, backend: ../x}\n", 2, 43, "run.backend",
          "unknown backend '../x', expected one of host, scalar" },
        { HEAD "generators:\n  - grit: {}\n", 4, 5, "generators.0.grit",
          "unknown generator 'grit'; did you mean 'grid'?" },
    };
    CHECK_REFUSED(table);
}

TEST(missing_keys_are_named)
{
    static const refused table[] = {
        { "title: x\n", 1, 1, "cairn", "the key 'cairn' is missing" },
        { "cairn: 1\n", 1, 1, "run", "the key 'run' is missing" },
        { "cairn: 1\nrun:\n  duration: 1\n", 3, 3, "run.time_step",
          "the key 'time_step' is missing: a number > 0" },
        { "cairn: 1\nrun: {time_step: 1}\n", 2, 6, "run.duration", "'duration' is missing" },
        { "cairn: 1\nrun:\n", 2, 5, "run.time_step", "'time_step' is missing" },
        { BODY("mass: 1"), 4, 5, "bodies.0.shape", "the key 'shape' is missing" },
        { BODY("shape: {sphere: {}}"), 4, 22, "bodies.0.shape.sphere.radius",
          "the key 'radius' is missing" },
        { BODY("shape: sphere"), 4, 13, "bodies.0.shape.radius", "the key 'radius' is missing" },
        { HEAD "generators:\n  - grid: {count: [1, 1, 1], spacing: [1, 1, 1]}\n", 4, 11,
          "generators.0.grid.radius", "the key 'radius' is missing" },
        { HEAD "generators:\n  - fill: {bodies: 3, radius: 1}\n", 4, 11, "generators.0.fill.size",
          "the key 'size' is missing" },
    };
    CHECK_REFUSED(table);
}

TEST(wrong_types_are_refused)
{
    static const refused table[] = {
        { "cairn: 1\nrun: {time_step: fast, duration: 1}\n", 2, 18, "run.time_step",
          "found 'fast', expected a number > 0" },
        { "cairn: 1\nrun: {time_step: \"1\", duration: 1}\n", 2, 18, "run.time_step",
          "found '1', expected a number" },
        { "cairn: 1\nrun: {time_step: [1], duration: 1}\n", 2, 18, "run.time_step",
          "found a list of 1, expected a number" },
        { "cairn: 1\nrun: {time_step: , duration: 1}\n", 2, 18, "run.time_step", "found nothing" },
        { "cairn: 1\nrun: {time_step: 1, duration: 1, threads: 1.5}\n", 2, 43, "run.threads",
          "found 1.5, expected a whole number" },
        { "cairn: 1\nrun: {time_step: 1, duration: 1, paraview: yes}\n", 2, 44, "run.paraview",
          "found 'yes', expected true or false" },
        { "cairn: 1\nrun: {time_step: 1, duration: 1, solver: lemke}\n", 2, 42, "run.solver",
          "lemke does not treat the circular cones in 3D" },
        { "cairn: 1\nrun: {time_step: 1, duration: 1, scheme: convexe}\n", 2, 42, "run.scheme",
          "unknown scheme 'convexe'; did you mean 'convex'?" },
        { "cairn: 1\nrun: {time_step: 1, duration: 1, on_uncertified: [a]}\n", 2, 50,
          "run.on_uncertified", "expected one of warn, stop" },
        { "cairn: 1\nrun: 5\n", 2, 6, "run", "found 5, expected a mapping" },
        { HEAD "gravity: 9.81\n", 3, 10, "gravity", "found 9.81, expected a list of 3 numbers" },
        { HEAD "gravity: [0, -9.81]\n", 3, 10, "gravity",
          "found a list of 2, expected a list of 3 numbers, x, y and z, in m/s^2 in 3D" },
        { HEAD "gravity: [0, 0, down]\n", 3, 17, "gravity.2", "found 'down', expected" },
        { BODY("shape: {sphere: {radius: {a: 1}}}"), 4, 31, "bodies.0.shape.sphere.radius",
          "found a mapping, expected a number" },
        { BODY("shape: {sphere: {}, point: {}}"), 4, 13, "bodies.0.shape",
          "found a mapping with several keys, expected a shape as a mapping with one key" },
        { BODY("shape: [sphere]"), 4, 13, "bodies.0.shape", "found a list of 1, expected a shape" },
        { HEAD "bodies: {}\n", 3, 9, "bodies", "found a mapping, expected a list of bodies" },
        { HEAD "bodies:\n  - 5\n", 4, 5, "bodies.0", "found 5, expected a mapping" },
        { "- cairn\n", 1, 1, "", "found a list of 1, expected a mapping" },
    };
    CHECK_REFUSED(table);
}

TEST(values_out_of_range_are_refused)
{
    static const refused table[] = {
        { "cairn: 1\nrun: {time_step: 0, duration: 1}\n", 2, 18, "run.time_step",
          "found 0, expected a number > 0" },
        { "cairn: 1\nrun: {time_step: 1, duration: -1}\n", 2, 31, "run.duration",
          "found -1, expected a number > 0" },
        { HEAD "materials: {rock: {friction: -0.1}}\n", 3, 30, "materials.rock.friction",
          "found -0.1, expected a number" },
        { HEAD "materials: {rock: {restitution: 1.5}}\n", 3, 33, "materials.rock.restitution",
          "found 1.5, expected a number between 0 and 1" },
        { HEAD "dimension: 4\n", 3, 12, "dimension", "found 4, expected a whole number between 2" },
        { BODY("shape: {sphere: {radius: -1}}"), 4, 31, "bodies.0.shape.sphere.radius",
          "found -1, expected a number > 0" },
        { BODY("mass: -2, shape: {sphere: {radius: 1}}"), 4, 12, "bodies.0.mass",
          "found -2, expected a number" },
    };
    CHECK_REFUSED(table);
}

TEST(what_is_not_finite_is_refused)
{
    static const refused table[] = {
        { "cairn: 1\nrun: {time_step: .nan, duration: 1}\n", 2, 18, "run.time_step",
          "found .nan, expected a number" },
        { "cairn: 1\nrun: {time_step: .inf, duration: 1}\n", 2, 18, "run.time_step",
          "found .inf, expected a number" },
        { "cairn: 1\nrun: {time_step: 1e999, duration: 1}\n", 2, 18, "run.time_step",
          "found 1e999, expected a number" },
        { BODY("position: [0, .nan, 0], shape: {sphere: {radius: 1}}"), 4, 20,
          "bodies.0.position.1", "found .nan, expected a number between -1e+30 and 1e+30 in m" },
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        check_refused(&table[i], CAIRN_NOT_FINITE, NULL);
}

TEST(a_plane_has_two_numbers)
{
    static const refused table[] = {
        { HEAD "dimension: 2\ngravity: [0, -1, 2]\n", 4, 18, "gravity.2",
          "found 2, expected 0 in 2D" },
        { HEAD "dimension: 2\ngravity: [1]\n", 4, 10, "gravity", "expected a list of 2 numbers" },
        { HEAD "dimension: 2\nbodies:\n"
               "  - {shape: {sphere: {radius: 1}}, angular_velocity: [1, 2]}\n",
          5, 54, "bodies.0.angular_velocity", "expected a number (about z)" },
        { HEAD "dimension: 2\nbodies:\n"
               "  - {shape: {sphere: {radius: 1}}, angular_velocity: [1, 0, 2]}\n",
          5, 55, "bodies.0.angular_velocity.0", "found 1, expected 0 in 2D" },
    };
    CHECK_REFUSED(table);
    cairn_scene *s = scene_text_good(HEAD "dimension: 2\ngravity: [0, -1, 0]\nbodies:\n"
                                          "  - shape: {sphere: {radius: 1}}\n"
                                          "    angular_velocity: 3\n"
                                          "    inertia: [0, 0, 5]\n",
                                     NULL);
    const cairn_bodies bodies = cairn_world_bodies(s->world);
    CHECK_NEAR(bodies.omega[0].z, 3, 0);
    CHECK_NEAR(bodies.inertia[0].z, 5, 0);
    cairn_scene_destroy(s);
}

TEST(overridden_values_name_the_override)
{
    static const refused table[] = {
        { HEAD, 0, 0, "run.time_step", "found 0, expected a number > 0" },
        { HEAD, 0, 0, "run.tolerence", "did you mean 'tolerance'?" },
        { HEAD, 0, 0, "rum.tolerance", "the path leads nowhere: there is no 'rum'" },
        { HEAD, 0, 0, "bodies.0.shape", "the key 'shape' is missing" },
    };
    static const char *const overrides[] = { "run.time_step=0", "run.tolerence=1",
                                             "rum.tolerance=1", "bodies=[{mass: 1}]" };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        check_refused(&table[i], CAIRN_BAD_INPUT, overrides[i]);
}

TEST(statistics_are_names_each_once_with_their_own_part)
{
    cairn_scene *s =
        scene_text_good("cairn: 1\nmeasure: {bins: 7, low: [0, 0, 1]}\nrun: {time_step: "
                        "1e-3, duration: 1, statistics: [stress, centre]}\n",
                        NULL);
    CHECK_INT(s->run.statistics.count, 2);
    CHECK_TEXT(s->run.statistics.items[1], "centre");
    CHECK_INT(s->measure.bins, 7);
    CHECK_NEAR(s->measure.low.z, 1, 0);
    CHECK_NEAR(s->measure.high.z, 1e30, 0);
    cairn_scene_destroy(s);
    static const refused table[] = {
        { HEAD, 0, 0, "run.statistics.0", "did you mean 'stress'?" },
        { HEAD, 0, 0, "run.statistics.1", "found stress twice" },
        { HEAD, 0, 0, "run.statistics", "expected a list of some of packing, slices" },
        { HEAD, 0, 0, "measure.bins", "expected a whole number between 1 and 4096" },
        { HEAD, 0, 0, "measure.bims", "did you mean 'bins'?" },
    };
    static const char *const overrides[] = { "run.statistics=[stres]",
                                             "run.statistics=[stress, stress]",
                                             "run.statistics=stress", "measure={bins: 0}",
                                             "measure={bims: 3}" };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        check_refused(&table[i], CAIRN_BAD_INPUT, overrides[i]);
}

TEST(a_box_that_is_empty_is_refused)
{
    static const refused table[] = {
        { "cairn: 1\nrun: {time_step: 1, duration: 1}\nmeasure:\n  low: [0, 0, 2]\n  high: [1, 1, "
          "2]\n",
          5, 9, "measure.high", "found 2, expected more than the lower corner's 2" },
    };
    check_refused(&table[0], CAIRN_BAD_INPUT, NULL);
}

GROUP(test_scene_record)
{
    RUN(CASE(statistics_are_names_each_once_with_their_own_part),
        CASE(a_box_that_is_empty_is_refused), CASE(unknown_keys_are_refused_with_the_nearest_one),
        CASE(missing_keys_are_named), CASE(wrong_types_are_refused),
        CASE(values_out_of_range_are_refused), CASE(what_is_not_finite_is_refused),
        CASE(a_plane_has_two_numbers), CASE(overridden_values_name_the_override));
}

/* ==== test_scene_format: the keys of the format fit together ================================== */

static int times_known(const cairn_scene_keys *keys, const char *name)
{
    int times = 0;
    times += keys->record && cairn_record_find(keys->record, name) != NULL;
    times += keys->second && cairn_record_find(keys->second, name) != NULL;
    for (int i = 0; i < keys->further_count; i++)
        times += strcmp(keys->further[i].name, name) == 0;
    return times;
}

static void check_unique(const cairn_scene_keys keys)
{
    const cairn_record *const records[] = { keys.record, keys.second };
    for (int r = 0; r < 2; r++)
        for (int i = 0; records[r] && i < records[r]->option_count; i++)
            CHECK_INT(times_known(&keys, records[r]->options[i].name), 1);
    for (int i = 0; i < keys.further_count; i++)
        CHECK_INT(times_known(&keys, keys.further[i].name), 1);
}

TEST(no_key_means_two_things)
{
    check_unique(cairn_scene_root_keys());
    check_unique(cairn_scene_run_keys());
    check_unique(cairn_scene_material_keys());
    check_unique(cairn_scene_pair_keys());
    check_unique(cairn_scene_body_keys());
    check_unique(cairn_scene_orientation_keys());
    for (int kind = 0; cairn_scene_generators.at(kind); kind++)
        check_unique(cairn_scene_generator_keys(kind));
}

TEST(the_inlet_and_the_table_stand_after_the_generators)
{
    int kind = cairn_scene_inlet_kind();
    CHECK(cairn_scene_generators.at(kind) == cairn_inlet_record());
    CHECK(cairn_scene_generators.at(kind + 1) == cairn_scene_table_record());
    CHECK_INT(cairn_scene_table_kind(), kind + 1);
    CHECK(cairn_scene_generators.at(kind + 2) == NULL);
    const cairn_scene_keys keys = cairn_scene_generator_keys(kind);
    CHECK_INT(times_known(&keys, "radius"), 1);
    CHECK_INT(times_known(&keys, "mass"), 1);
}

/* In 2D these take one number. */
TEST(what_turns_is_recognised)
{
    CHECK(cairn_scene_is_angular(cairn_record_find(cairn_body_record(), "angular_velocity")));
    CHECK(cairn_scene_is_angular(cairn_record_find(cairn_body_record(), "inertia")));
    CHECK(!cairn_scene_is_angular(cairn_record_find(cairn_body_record(), "velocity")));
    CHECK(!cairn_scene_is_angular(cairn_record_find(cairn_body_record(), "angle")));
    CHECK(cairn_scene_is_angular(cairn_record_find(cairn_load_record(0), "torque")));
    CHECK(!cairn_scene_is_angular(cairn_record_find(cairn_load_record(0), "force")));
}

GROUP(test_scene_format)
{
    RUN(CASE(no_key_means_two_things), CASE(the_inlet_and_the_table_stand_after_the_generators),
        CASE(what_turns_is_recognised));
}

/* ==== test_schema: the JSON Schema holds every key of every table; test_schema.py reads it ==== */

static char *schema_text; /* the schema */

/* "name": { as a whole line begins it */
static void check_key(const char *name)
{
    char line[128];
    snprintf(line, sizeof line, "\"%s\": {", name);
    CHECK_CONTAINS(schema_text, line);
}

static void check_keys(const cairn_scene_keys keys)
{
    const cairn_record *const records[] = { keys.record, keys.second };
    for (int r = 0; r < 2; r++)
        for (int i = 0; records[r] && i < records[r]->option_count; i++) {
            check_key(records[r]->options[i].name);
            CHECK_CONTAINS(schema_text, records[r]->options[i].text);
        }
    for (int i = 0; i < keys.further_count; i++)
        check_key(keys.further[i].name);
}

static void check_choice(const cairn_scene_choice *choice)
{
    for (int kind = 0; choice->at(kind); kind++) {
        check_key(choice->at(kind)->name);
        check_keys((cairn_scene_keys){ .record = choice->at(kind) });
    }
}

static void read_schema(void)
{
    FILE *file = tmpfile();
    CHECK(file != NULL);
    CHECK_OK(cairn_scene_schema(file));
    long size = ftell(file);
    CHECK(size > 10000);
    rewind(file);
    schema_text = calloc((size_t)size + 1, 1);
    CHECK_INT(fread(schema_text, 1, (size_t)size, file), size);
    fclose(file);
}

TEST(every_key_is_in_the_schema)
{
    read_schema();
    check_keys(cairn_scene_root_keys());
    check_keys(cairn_scene_run_keys());
    check_keys(cairn_scene_material_keys());
    check_keys(cairn_scene_pair_keys());
    check_keys(cairn_scene_body_keys());
    check_keys(cairn_scene_orientation_keys());
    check_choice(&cairn_scene_shapes);
    check_choice(&cairn_scene_drivers);
    check_choice(&cairn_scene_loads);
    check_choice(&cairn_scene_distributions);
    check_choice(&cairn_scene_friction_laws);
    check_choice(&cairn_scene_generators);
    free(schema_text);
}

TEST(a_full_disk_is_reported)
{
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        skip();
    CHECK_INT(cairn_scene_schema(full), CAIRN_IO_FAILED);
    fclose(full);
}

static void *no_resize(void *context, void *block, size_t bytes)
{
    (void)context;
    (void)block;
    (void)bytes;
    return NULL;
}

TEST(no_memory_is_reported)
{
    const cairn_allocator none = { no_resize, NULL };
    FILE *file = tmpfile();
    CHECK(file != NULL);
    cairn_allocator_set(&none);
    cairn_status status = cairn_scene_schema(file);
    cairn_allocator_set(NULL);
    fclose(file);
    CHECK_INT(status, CAIRN_NO_MEMORY);
}

GROUP(test_schema)
{
    RUN(CASE(every_key_is_in_the_schema), CASE(a_full_disk_is_reported),
        CASE(no_memory_is_reported));
}
