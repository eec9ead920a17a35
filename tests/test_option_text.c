/* test_option_text.c - fields set from texts, by the table. */
#include "cairn/base.h"
#include "check.h"

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

#define FIELD(name) offsetof(things, name)
static const cairn_option options[] = {
    { "length", CAIRN_OPTION_REAL, false, FIELD(length), 0, 5, "m", "", NULL },
    { "count", CAIRN_OPTION_INTEGER, false, FIELD(count), 1, 9, "", "", NULL },
    { "flag", CAIRN_OPTION_FLAG, false, FIELD(flag), 0, 1, "", "", NULL },
    { "corner", CAIRN_OPTION_VECTOR, false, FIELD(corner), -5, 5, "m", "", NULL },
    { "list", CAIRN_OPTION_LIST, false, FIELD(list), -5, 5, "m", "", NULL },
    { "name", CAIRN_OPTION_NAME, false, FIELD(name), 0, 0, "", "", colour },
    { "names", CAIRN_OPTION_NAMES, false, FIELD(names), 0, 0, "", "", colour },
    { "word", CAIRN_OPTION_WORD, false, FIELD(word), 0, 0, "", "", colour },
};
static const cairn_record record = { "things", "", sizeof(things), NULL, options, 8 };

TEST(every_type_but_a_list_is_read)
{
    things t = { .corner = { 0, 0, 3 } };
    CHECK_OK(cairn_record_assign(&record, &t, "length=2.5", NULL));
    CHECK_OK(cairn_record_assign(&record, &t, "count=7", NULL));
    CHECK_OK(cairn_record_assign(&record, &t, "flag=true", NULL));
    CHECK_OK(cairn_record_assign(&record, &t, "corner=1,-2", NULL));
    CHECK_OK(cairn_record_assign(&record, &t, "name=blue", NULL));
    CHECK_OK(cairn_record_assign(&record, &t, "names=green,red", NULL));
    CHECK_OK(cairn_record_assign(&record, &t, "word=red", NULL));
    CHECK_TEXT(t.word, colour(0));
    CHECK_OK(cairn_record_assign(&record, &t, "word=mauve", NULL));
    CHECK_TEXT(t.word, "mauve");
    CHECK_NEAR(t.length, 2.5, 0);
    CHECK_INT(t.count, 7);
    CHECK(t.flag);
    CHECK_NEAR(t.corner.y, -2, 0);
    CHECK_NEAR(t.corner.z, 3, 0);
    CHECK_TEXT(t.name, "blue");
    CHECK_INT(t.names.count, 2);
    CHECK_TEXT(t.names.items[1], "red");
    CHECK_OK(cairn_record_assign(&record, &t, "corner=1,-2,-3e0", NULL));
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
        CHECK_INT(cairn_record_assign(&record, &t, bad[i][0], &error), CAIRN_BAD_INPUT);
        CHECK_TEXT(error.key, bad[i][1]);
        CHECK_CONTAINS(error.message, bad[i][2]);
        CHECK(memcmp(&t, &before, sizeof t) == 0);
    }
}

int main(void)
{
    RUN(CASE(every_type_but_a_list_is_read), CASE(what_is_not_right_is_refused));
}
