/* test_yaml_value.c - what scalars mean, and how they are described. */
#include <locale.h>

#include "check.h"
#include "io/yaml.h"

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

int main(void)
{
    RUN(CASE(numbers_of_yaml_and_json), CASE(what_is_not_a_number), CASE(whole_numbers),
        CASE(flags_and_nothing), CASE(the_locale_does_not_matter),
        CASE(descriptions_are_short_and_printable));
}
