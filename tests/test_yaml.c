/* test_yaml.c - texts become trees, and hostile texts are refused. */
#include <stdlib.h>

#include "check.h"
#include "io/yaml.h"

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

static void check_refused(const char *text, int line, int column, const char *message)
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
    char path[96];
    cairn_yaml_path(c, path, sizeof path);
    CHECK_TEXT(path, "b.1.c");
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
    check_refused("a: 1\nb: [1, 2\nc: 3\n", 3, 2, "not a YAML text");
    check_refused("a: 1\n b: 2\n", 2, 3, "not a YAML text");
    check_refused("a: 1\n\ttab: 2\n", 2, 1, "not a YAML text");
    check_refused("a: 1\nb: \x01\n", 2, 4, "control characters are not allowed");
    check_refused("a: 1\nb: \xff\n", 2, 4, "not a YAML text");
    check_refused("a: 1\nb: 2\na: 3\n", 3, 1, "the key 'a' is given twice");
    check_refused("a: 1\n---\nb: 2\n", 2, 1, "second document");
    check_refused("a: !!str 1\n", 1, 4, "tags");
    check_refused("a: *x\n", 1, 4, "anchor");
    check_refused("a: &x [*x]\n", 1, 8, "anchor");
    check_refused("? [1, 2]\n: 3\n", 1, 3, "expected a key");
    check_refused("a: 1\n<<: 3\n", 2, 1, "merge key");
    check_refused("a: 1\nb: \"c\\0d\"\n", 2, 4, "zero character");
    check_refused("a: 1\n\"b\\0\": 2\n", 2, 1, "zero character");
}

/* 32 levels are allowed, 33 are not; the bracket that is too much is named. */
TEST(depth_is_limited)
{
    char text[128];
    memset(text, '[', 33);
    memset(text + 33, ']', 33);
    text[66] = '\0';
    check_refused(text, 1, 33, "nested too deeply");
    memmove(text, text + 1, 64);
    text[64] = '\0';
    CHECK_OK(parse(text));
    cairn_yaml_destroy(&tree);
}

/* Nine levels of ten aliases each would be a billion values. */
TEST(an_alias_bomb_is_refused)
{
    check_refused("a: &a [x,x,x,x,x,x,x,x,x,x]\n"
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

int main(void)
{
    RUN(CASE(nodes_know_where_they_stand), CASE(json_is_yaml),
        CASE(columns_count_letters_not_bytes), CASE(an_alias_is_a_copy),
        CASE(merge_fills_in_what_is_not_given), CASE(an_empty_text_has_no_root),
        CASE(the_mark_of_utf8_is_passed_over), CASE(bad_texts_are_refused), CASE(depth_is_limited),
        CASE(an_alias_bomb_is_refused), CASE(aliases_cannot_nest_deeper_than_brackets),
        CASE(many_keys_are_checked_quickly));
}
