/* test_yaml_override.c - "path=value" on a tree. */
#include "check.h"
#include "io/yaml.h"

static const char *const text = "run: {time_step: 1, list: [5, 6]}\nbodies:\n  - {mass: 1}\n";
static cairn_yaml tree;
static cairn_error error;

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
    char path[96];
    cairn_yaml_path(a->last, path, sizeof path);
    CHECK_TEXT(path, "run.list.a.2");
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

int main(void)
{
    RUN(CASE(a_value_is_replaced_in_place), CASE(lists_go_by_position),
        CASE(entries_of_a_list_go_by_name_too), CASE(a_new_key_is_added_at_the_end_of_a_path),
        CASE(a_value_may_be_a_mapping_or_a_list), CASE(paths_that_lead_nowhere_are_refused));
}
