/* test_option.c - options by name, texts, expressions, and status codes. */
#include <locale.h>

#include "base/common.h"
#include "base/expression.h"
#include "cairn/base.h"
#include "tests/check.h"

/* ==== test_option: option tables: look-up, range check, expectation texts, nearest names ====== */

typedef struct settings {
    double step, share, never, shift;
    int64_t count;
    bool flag;
    cairn_vec3 direction;
    cairn_list radii;
    const char *scheme;
} settings;

static const char *scheme_name(int index)
{
    static const char *const names[] = { "convex", "fixed-point", NULL };
    return names[index];
}

#define FIELD(name) offsetof(settings, name)

static const cairn_option options[] = {
    { "step", CAIRN_OPTION_REAL, true, FIELD(step), CAIRN_POSITIVE, CAIRN_UNBOUNDED, "s", "",
      NULL },
    { "share", CAIRN_OPTION_REAL, false, FIELD(share), CAIRN_POSITIVE, 1, "", "", NULL },
    { "never", CAIRN_OPTION_REAL, false, FIELD(never), 0, INFINITY, "s", "", NULL },
    { "shift", CAIRN_OPTION_REAL, false, FIELD(shift), -CAIRN_UNBOUNDED, CAIRN_UNBOUNDED, "", "",
      NULL },
    { "count", CAIRN_OPTION_INTEGER, false, FIELD(count), 1, 10, "", "", NULL },
    { "flag", CAIRN_OPTION_FLAG, false, FIELD(flag), 0, 0, "", "", NULL },
    { "direction", CAIRN_OPTION_VECTOR, false, FIELD(direction), -2, 2, "m", "", NULL },
    { "radii", CAIRN_OPTION_LIST, false, FIELD(radii), 0, CAIRN_UNBOUNDED, "m", "", NULL },
    { "scheme", CAIRN_OPTION_NAME, false, FIELD(scheme), 0, 0, "", "", scheme_name },
};

static const cairn_record record = { "settings", "for tests", sizeof(settings), NULL, options, 9 };

static settings good(void)
{
    return (settings){ .step = 1e-3,
                       .share = 1,
                       .never = INFINITY,
                       .shift = -5,
                       .count = 10,
                       .direction = { -2, 0, 2 },
                       .scheme = "fixed-point" };
}

static void check_refused(const settings *s, cairn_status status, const char *key,
                          const char *message)
{
    cairn_error error = { 0 };
    CHECK_INT(cairn_record_check(&record, s, &error), status);
    CHECK_TEXT(error.key, key);
    CHECK_TEXT(error.message, message);
    CHECK_INT(cairn_record_check(&record, s, NULL), status);
}

TEST(an_option_is_found_by_its_name)
{
    CHECK(cairn_record_find(&record, "count") == &options[4]);
    CHECK(cairn_record_find(&record, "scheme") == &options[8]);
    CHECK(cairn_record_find(&record, "coun") == NULL);
    CHECK(cairn_record_find(&record, "") == NULL);
}

TEST(values_at_their_bounds_pass)
{
    settings s = good();
    cairn_error error = { 0 };
    CHECK_OK(cairn_record_check(&record, &s, &error));
    CHECK_TEXT(error.message, "");
    s.step = CAIRN_POSITIVE;
    s.count = 1;
    s.never = 0;
    CHECK_OK(cairn_record_check(&record, &s, &error));
}

TEST(numbers_out_of_range_are_refused)
{
    settings s = good();
    s.step = 0;
    check_refused(&s, CAIRN_BAD_INPUT, "step", "found 0, expected a number > 0 in s");
    s = good();
    s.share = 1.5;
    check_refused(&s, CAIRN_BAD_INPUT, "share", "found 1.5, expected a number > 0 and <= 1");
    s = good();
    s.count = 11;
    check_refused(&s, CAIRN_BAD_INPUT, "count",
                  "found 11, expected a whole number between 1 and 10");
    s = good();
    s.never = -1;
    check_refused(&s, CAIRN_BAD_INPUT, "never", "found -1, expected a number >= 0 in s");
}

TEST(each_number_of_a_vector_and_of_a_list_counts)
{
    const double radii[3] = { 1, 0, -0.5 };
    settings s = good();
    s.direction.z = 2.5;
    check_refused(&s, CAIRN_BAD_INPUT, "direction",
                  "found 2.5, expected a vector of numbers between -2 and 2 in m");
    s = good();
    s.radii = (cairn_list){ radii, 2 };
    CHECK_OK(cairn_record_check(&record, &s, NULL));
    s.radii.count = 3;
    check_refused(&s, CAIRN_BAD_INPUT, "radii", "found -0.5, expected a list of numbers >= 0 in m");
}

TEST(nan_is_not_finite_and_infinity_only_where_it_makes_sense)
{
    settings s = good();
    s.share = NAN;
    check_refused(&s, CAIRN_NOT_FINITE, "share", "found nan, expected a number > 0 and <= 1");
    s.share = INFINITY;
    check_refused(&s, CAIRN_NOT_FINITE, "share", "found inf, expected a number > 0 and <= 1");
    s = good();
    s.direction.y = NAN;
    check_refused(&s, CAIRN_NOT_FINITE, "direction",
                  "found nan, expected a vector of numbers between -2 and 2 in m");
    s = good();
    s.shift = INFINITY;
    check_refused(&s, CAIRN_BAD_INPUT, "shift", "found inf, expected a number");
    s.shift = -INFINITY;
    check_refused(&s, CAIRN_BAD_INPUT, "shift", "found -inf, expected a number");
}

TEST(unknown_and_missing_names_are_refused)
{
    settings s = good();
    s.scheme = "convexx";
    check_refused(&s, CAIRN_BAD_INPUT, "scheme",
                  "found 'convexx', expected one of convex, fixed-point");
    s.scheme = NULL;
    check_refused(&s, CAIRN_BAD_INPUT, "scheme", "found '', expected one of convex, fixed-point");
}

/* a word need not be in the table, but leads nowhere: no dots, slashes or blanks */
TEST(words_are_letters_digits_and_lines)
{
    static const char *const good[] = { "convex", "cuda", "My_own-2",
                                        "thirty-one_letters_are_the_most" };
    static const char *const bad[] = {
        "", "../x", "a/b", "a.so", "a b", "b\xc3\xa4r", "thirty-two_letters_are_too_many_"
    };
    const cairn_option word = { "place", CAIRN_OPTION_WORD, false, 0, 0, 0, "", "", scheme_name };
    const cairn_record place = { "place", "", sizeof(const char *), NULL, &word, 1 };
    cairn_error error = { 0 };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CHECK_OK(cairn_record_check(&place, &good[i], NULL));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_INT(cairn_record_check(&place, &bad[i], &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message,
                   "expected one of convex, fixed-point, or another name of letters, "
                   "digits, - and _");
}

TEST(expectations_say_kind_range_and_unit)
{
    static const char *const expected[9] = { "a number > 0 in s",
                                             "a number > 0 and <= 1",
                                             "a number >= 0 in s",
                                             "a number",
                                             "a whole number between 1 and 10",
                                             "true or false",
                                             "a vector of numbers between -2 and 2 in m",
                                             "a list of numbers >= 0 in m",
                                             "one of convex, fixed-point" };
    char text[256];
    for (int i = 0; i < 9; i++) {
        cairn_option_expectation(&options[i], text, sizeof text);
        CHECK_TEXT(text, expected[i]);
    }
    const cairn_option below = {
        "x", CAIRN_OPTION_REAL, false, 0, -CAIRN_UNBOUNDED, 3, "", "", NULL
    };
    cairn_option_expectation(&below, text, sizeof text);
    CHECK_TEXT(text, "a number <= 3");
}

TEST(expectations_are_cut_to_the_room_there_is)
{
    char text[16] = "xxxxxxxxxxxxxxx";
    cairn_option_expectation(&options[8], text, 10);
    CHECK_TEXT(text, "one of co");
    CHECK_TEXT(text + 10, "xxxxx");
    cairn_option_expectation(&options[8], text, 1);
    CHECK_TEXT(text, "");
}

TEST(the_nearest_name_is_the_one_with_fewest_changes)
{
    static const char *const names[] = { "friction", "restitution", "radius", "density" };
    CHECK_TEXT(cairn_nearest_name("fricton", names, 4), "friction");        /* 1 inserted */
    CHECK_TEXT(cairn_nearest_name("restitutoin", names, 4), "restitution"); /* 2 replaced */
    CHECK_TEXT(cairn_nearest_name("radios", names, 4), "radius");
    CHECK_TEXT(cairn_nearest_name("density", names, 4), "density");
    CHECK(cairn_nearest_name("colour", names, 4) == NULL);
    CHECK(cairn_nearest_name("friction", names, 0) == NULL);
    CHECK(cairn_nearest_name("", names, 4) == NULL);
}

TEST(words_of_64_letters_and_more_are_near_nothing)
{
    char word[101];
    memset(word, 'r', 100);
    word[100] = '\0';
    const char *const names[] = { "radius", word };
    CHECK(cairn_nearest_name(word, names, 2) == NULL);
    CHECK_TEXT(cairn_nearest_name("radius", names, 2), "radius");
    word[63] = '\0'; /* 63 letters are the most */
    CHECK(cairn_nearest_name(word, names, 2) == word);
}

GROUP(test_option)
{
    RUN(CASE(an_option_is_found_by_its_name), CASE(values_at_their_bounds_pass),
        CASE(numbers_out_of_range_are_refused), CASE(each_number_of_a_vector_and_of_a_list_counts),
        CASE(nan_is_not_finite_and_infinity_only_where_it_makes_sense),
        CASE(unknown_and_missing_names_are_refused), CASE(words_are_letters_digits_and_lines),
        CASE(expectations_say_kind_range_and_unit), CASE(expectations_are_cut_to_the_room_there_is),
        CASE(the_nearest_name_is_the_one_with_fewest_changes),
        CASE(words_of_64_letters_and_more_are_near_nothing));
}

/* ==== test_option_text: fields set from texts, by the table =================================== */

typedef struct things {
    double length;
    int64_t count;
    bool flag;
    cairn_vec3 corner;
    cairn_list list;
    const char *name;
    cairn_names names;
    const char *word;
} things;

static const char *colour(int index)
{
    static const char *const names[] = { "red", "green", "blue" };
    return index >= 0 && index < 3 ? names[index] : NULL;
}

#define FIELD_OF_THINGS(name) offsetof(things, name)
static const cairn_option thing_options[] = {
    { "length", CAIRN_OPTION_REAL, false, FIELD_OF_THINGS(length), 0, 5, "m", "", NULL },
    { "count", CAIRN_OPTION_INTEGER, false, FIELD_OF_THINGS(count), 1, 9, "", "", NULL },
    { "flag", CAIRN_OPTION_FLAG, false, FIELD_OF_THINGS(flag), 0, 1, "", "", NULL },
    { "corner", CAIRN_OPTION_VECTOR, false, FIELD_OF_THINGS(corner), -5, 5, "m", "", NULL },
    { "list", CAIRN_OPTION_LIST, false, FIELD_OF_THINGS(list), -5, 5, "m", "", NULL },
    { "name", CAIRN_OPTION_NAME, false, FIELD_OF_THINGS(name), 0, 0, "", "", colour },
    { "names", CAIRN_OPTION_NAMES, false, FIELD_OF_THINGS(names), 0, 0, "", "", colour },
    { "word", CAIRN_OPTION_WORD, false, FIELD_OF_THINGS(word), 0, 0, "", "", colour },
};
static const cairn_record thing_record = { "things", "", sizeof(things), NULL, thing_options, 8 };

TEST(every_type_but_a_list_is_read)
{
    things t = { .corner = { 0, 0, 3 } };
    CHECK_OK(cairn_record_assign(&thing_record, &t, "length=2.5", NULL));
    CHECK_OK(cairn_record_assign(&thing_record, &t, "count=7", NULL));
    CHECK_OK(cairn_record_assign(&thing_record, &t, "flag=true", NULL));
    CHECK_OK(cairn_record_assign(&thing_record, &t, "corner=1,-2", NULL));
    CHECK_OK(cairn_record_assign(&thing_record, &t, "name=blue", NULL));
    CHECK_OK(cairn_record_assign(&thing_record, &t, "names=green,red", NULL));
    CHECK_OK(cairn_record_assign(&thing_record, &t, "word=red", NULL));
    CHECK_TEXT(t.word, colour(0));
    CHECK_OK(cairn_record_assign(&thing_record, &t, "word=mauve", NULL));
    CHECK_TEXT(t.word, "mauve");
    CHECK_NEAR(t.length, 2.5, 0);
    CHECK_INT(t.count, 7);
    CHECK(t.flag);
    CHECK_NEAR(t.corner.y, -2, 0);
    CHECK_NEAR(t.corner.z, 3, 0);
    CHECK_TEXT(t.name, "blue");
    CHECK_INT(t.names.count, 2);
    CHECK_TEXT(t.names.items[1], "red");
    CHECK_OK(cairn_record_assign(&thing_record, &t, "corner=1,-2,-3e0", NULL));
    CHECK_NEAR(t.corner.z, -3, 0);
}

/* Each of these is refused with the key and what was expected, and nothing changes. */
TEST(what_is_not_right_is_refused)
{
    static const char *const bad[][3] = {
        { "length=6", "length", "expected a number between 0 and 5 in m" },
        { "length=2m", "length", "found '2m'" },
        { "length=nan", "length", "found 'nan'" },
        { "count=0", "count", "expected a whole number between 1 and 9" },
        { "count=2.5", "count", "found '2.5'" },
        { "flag=yes", "flag", "expected true or false" },
        { "corner=1", "corner", "expected a vector of numbers" },
        { "corner=1,2,3,4", "corner", "found '1,2,3,4'" },
        { "list=1,2", "list", "found '1,2'" },
        { "name=rd", "name", "expected one of red, green, blue" },
        { "names=red,", "names", "expected a list of some of red, green, blue" },
        { "word=a/b", "word", "expected one of red, green, blue, or another name" },
        { "lenght=2", "lenght", "did you mean 'length'?" },
        { "length", "", "expected KEY=VALUE" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        things t = { .count = 4, .name = "red" }, before = t;
        cairn_error error = { 0 };
        CHECK_INT(cairn_record_assign(&thing_record, &t, bad[i][0], &error), CAIRN_BAD_INPUT);
        CHECK_TEXT(error.key, bad[i][1]);
        CHECK_CONTAINS(error.message, bad[i][2]);
        CHECK(memcmp(&t, &before, sizeof t) == 0);
    }
}

GROUP(test_option_text)
{
    RUN(CASE(every_type_but_a_list_is_read), CASE(what_is_not_right_is_refused));
}

/* ==== test_text: numbers in texts, and texts on a terminal ==================================== */

TEST(a_number_ends_where_its_last_digit_stands)
{
    static const struct {
        const char *text;
        size_t length;
        double value;
    } good[] = { { "1.5e3,2", 5, 1500 }, { "-.25 ", 4, -0.25 },   { "+7.", 3, 7 },
                 { "1e", 1, 1 },         { "2e+x", 1, 2 },        { "0x10", 1, 0 },
                 { "3inf", 1, 3 },       { "1e400", 5, INFINITY } };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        double value = -1;
        CHECK_INT(cairn_number_read(good[i].text, &value), good[i].length);
        CHECK(value == good[i].value);
    }
}

TEST(what_strtod_takes_and_no_decimal_is_is_no_number)
{
    static const char *const bad[] = { "",
                                       " 1",
                                       "\t1",
                                       "\f1",
                                       "\v1",
                                       "\n1",
                                       "inf",
                                       "nan",
                                       "-inf",
                                       "e5",
                                       ".",
                                       "-",
                                       "x",
                                       "\xc2\xa0"
                                       "1" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double value;
        int64_t whole;
        CHECK_INT(cairn_number_read(bad[i], &value), 0);
        CHECK_INT(cairn_integer_read(bad[i], &whole), 0);
    }
}

TEST(a_whole_number_that_does_not_fit_is_the_nearest_that_does)
{
    int64_t whole;
    CHECK_INT(cairn_integer_read("-12/3", &whole), 3);
    CHECK_INT(whole, -12);
    CHECK_INT(cairn_integer_read("99999999999999999999", &whole), 20);
    CHECK(whole == INT64_MAX);
}

/* A locale with a comma changes nothing; where none is installed there is nothing to try. */
TEST(numbers_have_a_point_in_every_locale)
{
    static const char *const names[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "de_DE" };
    double value = 0;
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]) != NULL;
    size_t length = cairn_number_read("1.5", &value);
    setlocale(LC_NUMERIC, "C");
    CHECK_INT(length, 3);
    CHECK_NEAR(value, 1.5, 0);
}

TEST(a_terminal_is_told_nothing_by_a_text)
{
    char shown[64];
    cairn_text_escape("a\x1b[31mb\x07\n\t\x7f", shown, sizeof shown);
    CHECK_TEXT(shown, "a\\x1b[31mb\\x07\\n\\t\\x7f");
    cairn_text_escape("\xc2\x9b"
                      "31m",
                      shown, sizeof shown); /* the 8-bit form of escape [ */
    CHECK_TEXT(shown, "\\xc2\\x9b31m");
    cairn_text_escape("\x9b\xff\xe2\x82", shown, sizeof shown); /* not UTF-8 */
    CHECK_TEXT(shown, "\\x9b\\xff\\xe2\\x82");
    cairn_text_escape("Kies \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", shown, sizeof shown);
    CHECK_TEXT(shown, "Kies \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
}

TEST(a_long_text_is_cut_between_characters)
{
    char shown[8];
    cairn_text_escape("1234567", shown, sizeof shown);
    CHECK_TEXT(shown, "1234567");
    cairn_text_escape("12345678", shown, sizeof shown);
    CHECK_TEXT(shown, "1234...");
    cairn_text_escape("123\xe2\x82\xac\xe2\x82\xac", shown, sizeof shown);
    CHECK_TEXT(shown, "123...");
}

TEST(the_mark_of_utf8_has_three_bytes)
{
    CHECK_INT(cairn_text_mark("\xef\xbb\xbf"
                              "a",
                              4),
              3);
    CHECK_INT(cairn_text_mark("\xef\xbb", 2), 0);
    CHECK_INT(cairn_text_mark("abc", 3), 0);
}

GROUP(test_text)
{
    RUN(CASE(a_number_ends_where_its_last_digit_stands),
        CASE(what_strtod_takes_and_no_decimal_is_is_no_number),
        CASE(a_whole_number_that_does_not_fit_is_the_nearest_that_does),
        CASE(numbers_have_a_point_in_every_locale), CASE(a_terminal_is_told_nothing_by_a_text),
        CASE(a_long_text_is_cut_between_characters), CASE(the_mark_of_utf8_has_three_bytes));
}

/* ==== test_expression: formulas: values, precedence, and errors with their place ============== */

/* The value of a text with a = 2, t = 3. */
static double value_of(const char *text)
{
    static const char *const names[] = { "a", "t" };
    cairn_expression *e;
    CHECK_OK(cairn_expression_parse(text, names, 2, &e, NULL));
    double value = cairn_expression_value(e, (double[]){ 2, 3 });
    cairn_expression_destroy(e);
    return value;
}

/* The error of a text with the variable t. */
static cairn_error error_of(const char *text)
{
    static const char *const names[] = { "t" };
    cairn_expression *e;
    cairn_error error = { 0 };
    CHECK_INT(cairn_expression_parse(text, names, 1, &e, &error), CAIRN_BAD_INPUT);
    CHECK(e == NULL);
    CHECK_INT(cairn_expression_parse(text, names, 1, &e, NULL), CAIRN_BAD_INPUT);
    return error;
}

TEST(operators_bind_as_in_mathematics)
{
    CHECK_NEAR(value_of("1 + 2 * 3 - 4 / 8"), 6.5, 0);
    CHECK_NEAR(value_of("(1 + 2) * 3"), 9, 0);
    CHECK_NEAR(value_of("8 - 3 - 2"), 3, 0);
    CHECK_NEAR(value_of("8 / 4 / 2"), 1, 0);
    CHECK_NEAR(value_of("2^3^2"), 512, 0);
    CHECK_NEAR(value_of("-2^2"), -4, 0);
    CHECK_NEAR(value_of("2^-1"), 0.5, 0);
    CHECK_NEAR(value_of("2*-a - -t"), -1, 0);
}

TEST(expressions_know_variables_functions_and_pi)
{
    CHECK_NEAR(value_of("a + 10 * t"), 32, 0);
    CHECK_NEAR(value_of("sin(pi / 6)"), 0.5, 1e-15);
    CHECK_NEAR(value_of(" max( a,t ) + min(a, t) "), 5, 0);
    CHECK_NEAR(value_of("mod(-1, 4) + abs(-a) + sign(-7) + step(0)"), 5, 0);
    CHECK_NEAR(value_of("sqrt(t^2 + 16)\n"), 5, 0);
    CHECK_NEAR(value_of("atan2(1, 1) * 4"), M_PI, 1e-15);
    CHECK(isnan(value_of("sqrt(-1)")));
    for (int i = 0; cairn_expression_function(i); i++)
        CHECK(cairn_is_word(cairn_expression_function(i)));
}

TEST(an_error_has_line_and_column_of_what_was_found)
{
    const struct {
        const char *text;
        int line, column;
        const char *message;
    } wrong[] = {
        { "2 * (t + 1", 1, 11, "found the end, expected an operator or ')'" },
        { "2 t", 1, 3, "found 't', expected an operator or the end" },
        { "t +\n  * 2", 2, 3, "found '*', expected a number, a name or '('" },
        { "sin t", 1, 5, "found 't', expected '(' after the name of a function" },
        { "1 + sinn(t)", 1, 5, "unknown name 'sinn'; did you mean 'sin'?" },
        { "system(t)", 1, 1, "unknown name 'system', expected t, or a function" },
        { "max(t)", 1, 6, "found ')', expected ',' and a second argument" },
        { "sin(t, 1)", 1, 6, "found ',', expected an operator or ')'" },
        { "", 1, 1, "found the end, expected a number, a name or '('" },
        { "0x10", 1, 2, "found 'x', expected an operator or the end" },
        { "t \xc3\x97 2", 1, 3, "found \\xc3, expected an operator or the end" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cairn_error error = error_of(wrong[i].text);
        CHECK_TEXT(error.message, wrong[i].message);
        CHECK_INT(error.line, wrong[i].line);
        CHECK_INT(error.column, wrong[i].column);
    }
}

TEST(nesting_and_length_are_bounded)
{
    char text[4001];
    memset(text, '(', 4000);
    text[4000] = '\0';
    CHECK_CONTAINS(error_of(text).message, "expected less nesting");
    memset(text, '-', 4000);
    CHECK_CONTAINS(error_of(text).message, "expected less nesting");
    for (int i = 0; i < 4000; i += 2)
        memcpy(text + i, "1+", 2);
    text[3999] = '\0';
    CHECK_CONTAINS(error_of(text).message, "expected a shorter expression");
}

TEST(an_expression_frees_what_it_took_when_memory_ends)
{
    static const char *const names[] = { "t" };
    for (long n = 1; n <= 3; n++) {
        meter m = { .fail_at = n };
        cairn_allocator allocator = { metered_resize, &m };
        cairn_expression *e;
        cairn_allocator_set(&allocator);
        cairn_status status = cairn_expression_parse("t + 1", names, 1, &e, NULL);
        cairn_expression_destroy(e);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
        CHECK_INT(status, m.calls < n ? CAIRN_OK : CAIRN_NO_MEMORY);
    }
}

GROUP(test_expression)
{
    RUN(CASE(operators_bind_as_in_mathematics), CASE(expressions_know_variables_functions_and_pi),
        CASE(an_error_has_line_and_column_of_what_was_found), CASE(nesting_and_length_are_bounded),
        CASE(an_expression_frees_what_it_took_when_memory_ends));
}

/* ==== test_status: texts of status codes, and filling errors ================================== */

TEST(every_status_has_its_own_text)
{
    for (int a = CAIRN_OK; a <= CAIRN_STOPPED; a++) {
        CHECK(strlen(cairn_status_text((cairn_status)a)) > 0);
        for (int b = CAIRN_OK; b < a; b++)
            CHECK(strcmp(cairn_status_text((cairn_status)a), cairn_status_text((cairn_status)b)));
    }
    CHECK_TEXT(cairn_status_text(CAIRN_OK), "ok");
    CHECK_TEXT(cairn_status_text(CAIRN_NO_MEMORY), "out of memory");
}

TEST(a_number_that_is_no_status_has_a_text_too)
{
    CHECK_TEXT(cairn_status_text((cairn_status)(CAIRN_STOPPED + 1)), "unknown status");
    CHECK_TEXT(cairn_status_text((cairn_status)-1), "unknown status");
}

TEST(the_version_is_three_numbers)
{
    int major, minor, patch, length = 0;
    CHECK_INT(sscanf(cairn_version(), "%d.%d.%d%n", &major, &minor, &patch, &length), 3);
    CHECK_INT(length, strlen(cairn_version()));
}

TEST(fail_returns_the_status_and_fills_message_and_key)
{
    cairn_error error = { .line = 7 };
    CHECK_INT(cairn_fail(&error, CAIRN_BAD_INPUT, "run.time_step", "found %d, expected %s", -1,
                         "a number > 0"),
              CAIRN_BAD_INPUT);
    CHECK_TEXT(error.message, "found -1, expected a number > 0");
    CHECK_TEXT(error.key, "run.time_step");
    CHECK_INT(error.line, 7);
}

TEST(fail_keeps_the_key_when_none_is_given)
{
    cairn_error error = { .key = "bodies.3" };
    cairn_fail(&error, CAIRN_NOT_FOUND, NULL, "gone");
    CHECK_TEXT(error.key, "bodies.3");
    CHECK_TEXT(error.message, "gone");
}

TEST(fail_without_an_error_still_returns_the_status)
{
    CHECK_INT(cairn_fail(NULL, CAIRN_STOPPED, "key", "%d", 1), CAIRN_STOPPED);
}

TEST(long_messages_and_keys_are_cut_and_ended)
{
    cairn_error error = { 0 };
    char text[1000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    cairn_fail(&error, CAIRN_BAD_INPUT, text, "%s", text);
    CHECK_INT(strlen(error.message), sizeof error.message - 1);
    CHECK_INT(strlen(error.key), sizeof error.key - 1);
    CHECK_TEXT(error.file, "");
}

static cairn_status passes_on(cairn_status first, int *reached)
{
    TRY(first);
    *reached = 1;
    return CAIRN_OK;
}

TEST(try_leaves_at_the_first_failure_and_goes_on_otherwise)
{
    int reached = 0;
    CHECK_INT(passes_on(CAIRN_IO_FAILED, &reached), CAIRN_IO_FAILED);
    CHECK_INT(reached, 0);
    CHECK_INT(passes_on(CAIRN_OK, &reached), CAIRN_OK);
    CHECK_INT(reached, 1);
}

GROUP(test_status)
{
    RUN(CASE(every_status_has_its_own_text), CASE(a_number_that_is_no_status_has_a_text_too),
        CASE(the_version_is_three_numbers), CASE(fail_returns_the_status_and_fills_message_and_key),
        CASE(fail_keeps_the_key_when_none_is_given),
        CASE(fail_without_an_error_still_returns_the_status),
        CASE(long_messages_and_keys_are_cut_and_ended),
        CASE(try_leaves_at_the_first_failure_and_goes_on_otherwise));
}
