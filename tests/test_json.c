/* test_json.c - what the JSON writer writes, letter by letter. */
#include "io/json.h"

#include <stdlib.h>

#include "check.h"

/* The text that `write` writes, in a static buffer. */
static const char *written(void (*write)(cairn_json *json))
{
    static char text[1024];
    FILE *out = tmpfile();
    CHECK(out != NULL);
    cairn_json json = { .out = out };
    write(&json);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    fclose(out);
    return text;
}

static void nested(cairn_json *json)
{
    cairn_json_begin(json, NULL);
    cairn_json_integer(json, "count", -3);
    cairn_json_begin(json, "inner");
    cairn_json_real(json, "x", 0.1);
    cairn_json_flag(json, "yes", true);
    cairn_json_end(json);
    cairn_json_begin(json, "empty");
    cairn_json_end(json);
    cairn_json_end(json);
}

TEST(objects_nest_with_commas_between_entries)
{
    CHECK_TEXT(written(nested), "{\n  \"count\": -3,\n  \"inner\": {\n    \"x\": 0.1,\n"
                                "    \"yes\": true\n  },\n  \"empty\": {}\n}\n");
}

static void not_finite(cairn_json *json)
{
    cairn_json_begin(json, NULL);
    cairn_json_real(json, "a", NAN);
    cairn_json_real(json, "b", INFINITY);
    cairn_json_real(json, "c", -INFINITY);
    cairn_json_end(json);
}

TEST(numbers_that_json_does_not_know_are_null)
{
    CHECK_TEXT(written(not_finite), "{\n  \"a\": null,\n  \"b\": null,\n  \"c\": null\n}\n");
}

static void special(cairn_json *json)
{
    cairn_json_begin(json, NULL);
    cairn_json_text(json, "k\"", "a\\b\n\t\x01 \xc3\xa9");
    cairn_json_text(json, "none", NULL);
    cairn_json_end(json);
}

TEST(quotes_backslashes_and_control_letters_are_escaped)
{
    CHECK_TEXT(written(special), "{\n  \"k\\\"\": \"a\\\\b\\u000a\\u0009\\u0001 \xc3\xa9\",\n"
                                 "  \"none\": null\n}\n");
}

TEST(a_number_reads_back_as_itself)
{
    const double numbers[] = { 1.0 / 3, 0.1, 1e300, 5e-324, -2.5, 123456789012345678.0 };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char text[32];
        cairn_number_text(numbers[i], text);
        CHECK(strtod(text, NULL) == numbers[i]);
    }
    char text[32];
    cairn_number_text(0.1, text);
    CHECK_TEXT(text, "0.1");
}

static void pairs(cairn_json *json)
{
    const int64_t steps[2][2] = { { 3, 5 }, { 9, 9 } };
    cairn_json_begin(json, NULL);
    cairn_json_pairs(json, "some", steps, 2);
    cairn_json_pairs(json, "none", steps, 0);
    cairn_json_end(json);
}

TEST(pairs_stand_on_one_line)
{
    CHECK_TEXT(written(pairs), "{\n  \"some\": [[3, 5], [9, 9]],\n  \"none\": []\n}\n");
}

static void lists(cairn_json *json)
{
    const double reals[] = { 1, 0.5, NAN };
    const char *const texts[] = { "a", "\"b\"" };
    cairn_json_begin(json, NULL);
    cairn_json_reals(json, "x", reals, 3);
    cairn_json_texts(json, "names", texts, 2);
    cairn_json_reals(json, "none", NULL, 0);
    cairn_json_end(json);
}

TEST(lists_stand_on_one_line)
{
    CHECK_TEXT(written(lists), "{\n  \"x\": [1, 0.5, null],\n  \"names\": [\"a\", \"\\\"b\\\"\"],\n"
                               "  \"none\": []\n}\n");
}

int main(void)
{
    RUN(CASE(lists_stand_on_one_line), CASE(objects_nest_with_commas_between_entries),
        CASE(numbers_that_json_does_not_know_are_null),
        CASE(quotes_backslashes_and_control_letters_are_escaped),
        CASE(a_number_reads_back_as_itself), CASE(pairs_stand_on_one_line));
}
