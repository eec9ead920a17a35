/* test_text.c - numbers in texts, and texts on a terminal. */
#include "base/text.h"

#include <locale.h>

#include "check.h"

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

int main(void)
{
    RUN(CASE(a_number_ends_where_its_last_digit_stands),
        CASE(what_strtod_takes_and_no_decimal_is_is_no_number),
        CASE(a_whole_number_that_does_not_fit_is_the_nearest_that_does),
        CASE(numbers_have_a_point_in_every_locale), CASE(a_terminal_is_told_nothing_by_a_text),
        CASE(a_long_text_is_cut_between_characters), CASE(the_mark_of_utf8_has_three_bytes));
}
