/* test_bytes.c - numbers, texts and records to bytes and back. */
#include "base/bytes.h"

#include <math.h>

#include "check.h"
#include "failing_allocator.h"

TEST(a_number_takes_eight_bytes_lowest_first)
{
    cairn_writer w = { 0 };
    cairn_write_whole(&w, 0x0102);
    cairn_write_whole(&w, -1);
    CHECK_INT(w.size, 16);
    CHECK_INT(w.data[0], 2);
    CHECK_INT(w.data[1], 1);
    CHECK_INT(w.data[2], 0);
    CHECK_INT(w.data[15], 255);
    cairn_writer_destroy(&w);
}

TEST(what_was_written_is_read)
{
    cairn_arena arena = { 0 };
    cairn_writer w = { 0 };
    cairn_write_real(&w, -0.1);
    cairn_write_text(&w, "quartz");
    cairn_write_text(&w, NULL);
    cairn_write_vector(&w, (cairn_vec3){ 1, 2, INFINITY });
    cairn_reader r = { .data = w.data, .size = w.size, .arena = &arena };
    CHECK_NEAR(cairn_read_real(&r), -0.1, 0);
    CHECK_TEXT(cairn_read_text(&r), "quartz");
    CHECK(cairn_read_text(&r) == NULL);
    CHECK(cairn_read_vector(&r).z == INFINITY);
    CHECK(!r.failed && r.at == r.size);
    cairn_read_whole(&r);
    CHECK(r.failed);
    cairn_arena_destroy(&arena);
    cairn_writer_destroy(&w);
}

static const char *stone(int index)
{
    static const char *const names[] = { "quartz", "flint", "slate" };
    return index >= 0 && index < 3 ? names[index] : NULL;
}

typedef struct quarry {
    double depth;
    int64_t count;
    bool open;
    cairn_vec3 place;
    cairn_list sizes;
    const char *main;
    cairn_names others;
    const char *owner;
} quarry;

#define LINE(name, type, choice)                                                                   \
    {                                                                                              \
#name, type, false, offsetof(quarry, name), 0, 1, "", "", choice                           \
    }
static const cairn_option options[] = {
    LINE(depth, CAIRN_OPTION_REAL, NULL),    LINE(count, CAIRN_OPTION_INTEGER, NULL),
    LINE(open, CAIRN_OPTION_FLAG, NULL),     LINE(place, CAIRN_OPTION_VECTOR, NULL),
    LINE(sizes, CAIRN_OPTION_LIST, NULL),    LINE(main, CAIRN_OPTION_NAME, stone),
    LINE(others, CAIRN_OPTION_NAMES, stone), LINE(owner, CAIRN_OPTION_WORD, stone),
};
static const cairn_record record = { "quarry", "", sizeof(quarry), NULL, options, 8 };

/* Options of every type; names become those of the table. */
TEST(a_record_comes_back_with_all_its_options)
{
    static const double sizes[] = { 0.5, 2 };
    const quarry given = { .depth = 3.5,
                           .count = -7,
                           .open = true,
                           .place = { 1, 2, 3 },
                           .sizes = { sizes, 2 },
                           .main = "flint",
                           .others = { { "slate", "quartz" }, 2 },
                           .owner = "nobody-2" };
    quarry found = { 0 };
    cairn_arena arena = { 0 };
    cairn_writer w = { 0 };
    cairn_write_record(&w, &record, &given);
    cairn_reader r = { .data = w.data, .size = w.size, .arena = &arena };
    cairn_read_record(&r, &record, &found);
    CHECK(!r.failed && r.at == r.size);
    CHECK(found.depth == 3.5 && found.count == -7 && found.open && found.place.z == 3);
    CHECK(found.sizes.count == 2 && found.sizes.values[1] == 2);
    CHECK(found.main == stone(1));
    CHECK(found.others.count == 2 && found.others.items[0] == stone(2));
    CHECK_TEXT(found.owner, "nobody-2");
    cairn_arena_destroy(&arena);
    cairn_writer_destroy(&w);
}

TEST(a_name_that_the_table_does_not_have_is_refused)
{
    quarry given = { .main = "flint", .others = { { "basalt" }, 1 } }, found = { 0 };
    cairn_arena arena = { 0 };
    cairn_writer w = { 0 };
    cairn_write_record(&w, &record, &given);
    cairn_reader r = { .data = w.data, .size = w.size, .arena = &arena };
    cairn_read_record(&r, &record, &found);
    CHECK(r.failed);
    CHECK_INT(found.others.count, 0);
    cairn_arena_destroy(&arena);
    cairn_writer_destroy(&w);
}

TEST(what_is_no_word_is_refused)
{
    quarry given = { .main = "flint", .owner = "../me" }, found = { 0 };
    cairn_arena arena = { 0 };
    cairn_writer w = { 0 };
    cairn_write_record(&w, &record, &given);
    cairn_reader r = { .data = w.data, .size = w.size, .arena = &arena };
    cairn_read_record(&r, &record, &found);
    CHECK(r.failed && !found.owner);
    cairn_arena_destroy(&arena);
    cairn_writer_destroy(&w);
}

/* A size of 2^60 in 24 bytes is refused before anything is taken. */
TEST(sizes_are_held_against_what_is_left)
{
    cairn_arena arena = { 0 };
    cairn_writer w = { 0 };
    cairn_write_whole(&w, INT64_C(1) << 60);
    cairn_write_whole(&w, 2);
    cairn_write_whole(&w, 0);
    cairn_reader r = { .data = w.data, .size = w.size, .arena = &arena }, again = r, third = r;
    CHECK_INT(cairn_read_count(&r, 8), 0);
    CHECK(r.failed);
    CHECK(cairn_read_text(&again) == NULL);
    CHECK(again.failed);
    CHECK_INT(cairn_read_within(&third, 0, 5), 0);
    CHECK(third.failed);
    cairn_arena_destroy(&arena);
    cairn_writer_destroy(&w);
}

/* The known check value of this sum. */
TEST(the_check_sum_is_crc_64)
{
    CHECK(cairn_bytes_check("123456789", 9) == 0x995dc9bbdf1939fau);
    CHECK(cairn_bytes_check("", 0) == 0);
}

/* The sum bit by bit, for every length up to a few steps of eight bytes. */
TEST(the_check_sum_is_that_of_its_definition)
{
    unsigned char data[40];
    for (int i = 0; i < 40; i++)
        data[i] = (unsigned char)(i * 151 + 7);
    for (size_t bytes = 0; bytes <= sizeof data; bytes++) {
        uint64_t sum = ~(uint64_t)0;
        for (size_t i = 0; i < 8 * bytes; i++) {
            uint64_t bit = data[i / 8] >> i % 8 & 1;
            sum = sum >> 1 ^ ((sum ^ bit) & 1 ? 0xc96c5795d7870f42u : 0);
        }
        CHECK(cairn_bytes_check(data, bytes) == ~sum);
    }
}

TEST(a_number_can_be_written_again)
{
    cairn_writer w = { 0 };
    cairn_write_whole(&w, 1);
    cairn_write_whole(&w, 2);
    cairn_rewrite_whole(&w, 8, -5);
    cairn_reader r = { .data = w.data, .size = w.size };
    CHECK_INT(cairn_read_whole(&r), 1);
    CHECK_INT(cairn_read_whole(&r), -5);
    CHECK_INT(w.size, 16);
    cairn_writer_destroy(&w);
}

TEST(without_memory_a_writer_says_so_and_goes_on)
{
    meter m = { .fail_at = 1 };
    cairn_writer w = { 0 };
    meter_install(&m);
    cairn_write_whole(&w, 1);
    cairn_write_whole(&w, 2);
    CHECK(w.failed);
    CHECK_INT(w.size, 0);
    cairn_writer_destroy(&w);
    cairn_allocator_set(NULL);
}

int main(void)
{
    RUN(CASE(a_number_takes_eight_bytes_lowest_first), CASE(what_was_written_is_read),
        CASE(a_record_comes_back_with_all_its_options), CASE(what_is_no_word_is_refused),
        CASE(a_name_that_the_table_does_not_have_is_refused),
        CASE(sizes_are_held_against_what_is_left), CASE(the_check_sum_is_crc_64),
        CASE(the_check_sum_is_that_of_its_definition), CASE(a_number_can_be_written_again),
        CASE(without_memory_a_writer_says_so_and_goes_on));
}
