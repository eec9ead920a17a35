/* test_option.c - option tables: look-up, range check, expectation texts, nearest names. */
#include "cairn/base.h"
#include "check.h"

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

int main(void)
{
    RUN(CASE(an_option_is_found_by_its_name), CASE(values_at_their_bounds_pass),
        CASE(numbers_out_of_range_are_refused), CASE(each_number_of_a_vector_and_of_a_list_counts),
        CASE(nan_is_not_finite_and_infinity_only_where_it_makes_sense),
        CASE(unknown_and_missing_names_are_refused), CASE(words_are_letters_digits_and_lines),
        CASE(expectations_say_kind_range_and_unit), CASE(expectations_are_cut_to_the_room_there_is),
        CASE(the_nearest_name_is_the_one_with_fewest_changes),
        CASE(words_of_64_letters_and_more_are_near_nothing));
}
