/* test_memory.c - memory: the heap, the arena, and things as bytes. */
#include <math.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "tests/check.h"

/* ==== test_memory: the only way to the heap: zeroing, growing, refusing, and the hook ========= */

/* Runs with a counting allocator; at the end nothing may be left. */
static void begin(meter *m)
{
    *m = (meter){ 0 };
    meter_install(m);
}

static void end(const meter *m)
{
    cairn_allocator_set(NULL);
    CHECK_INT(m->alive, 0);
}

TEST(a_zeroed_block_is_zero)
{
    meter m;
    begin(&m);
    for (int round = 0; round < 3; round++) {
        unsigned char *block = cairn_memory_zeroed(100, 8);
        for (int i = 0; i < 800; i++)
            CHECK_INT(block[i], 0);
        memset(block, 0xff, 800); /* a later block may get this memory again */
        cairn_memory_free(block);
    }
    CHECK_INT(m.calls, 3);
    end(&m);
}

TEST(nothing_and_too_much_give_null_without_asking_the_allocator)
{
    meter m;
    begin(&m);
    CHECK(cairn_memory_zeroed(0, 8) == NULL);
    CHECK(cairn_memory_zeroed(8, 0) == NULL);
    CHECK(cairn_memory_zeroed(SIZE_MAX / 8 + 1, 8) == NULL); /* wraps round to 0 bytes */
    CHECK(cairn_memory_resize(NULL, SIZE_MAX / 2, 3) == NULL);
    CHECK_INT(m.calls, 0);
    end(&m);
}

TEST(resize_keeps_what_was_there_and_leaves_it_on_failure)
{
    meter m;
    begin(&m);
    int *numbers = cairn_memory_resize(NULL, 2, sizeof *numbers);
    numbers[0] = 11;
    numbers[1] = 22;
    m.fail_at = m.calls + 1;
    CHECK(cairn_memory_resize(numbers, 1000, sizeof *numbers) == NULL);
    CHECK_INT(numbers[0] + numbers[1], 33);
    numbers = cairn_memory_resize(numbers, 1000, sizeof *numbers);
    CHECK_INT(numbers[0] + numbers[1], 33);
    cairn_memory_free(numbers);
    end(&m);
}

TEST(free_takes_null)
{
    meter m;
    begin(&m);
    cairn_memory_free(NULL);
    end(&m);
}

TEST(a_text_is_copied_with_its_end)
{
    meter m;
    begin(&m);
    char original[] = "funnel";
    char *copy = cairn_memory_text(original), *empty = cairn_memory_text("");
    original[0] = 't';
    CHECK_TEXT(copy, "funnel");
    CHECK_TEXT(empty, "");
    cairn_memory_free(copy);
    cairn_memory_free(empty);
    m.fail_at = m.calls + 1;
    CHECK(cairn_memory_text("x") == NULL);
    end(&m);
}

/* capacity -> capacity + capacity/2 + 8: 0, 8, 20, 38 */
TEST(reserve_grows_by_half_as_much_again)
{
    meter m;
    begin(&m);
    void *block = NULL;
    size_t capacity = 0;
    const size_t needed[] = { 1, 8, 9, 20, 21, 1000 }, expected[] = { 8, 8, 20, 20, 38, 1000 };
    for (int i = 0; i < 6; i++) {
        CHECK_OK(cairn_memory_reserve(&block, &capacity, needed[i], sizeof(double)));
        CHECK_INT(capacity, expected[i]);
    }
    CHECK_INT(m.calls, 4);
    cairn_memory_free(block);
    end(&m);
}

/* Capacity grows as with reserve: 0 -> 8, then to what is needed. */
TEST(extend_keeps_old_items)
{
    int *items = NULL;
    size_t capacity = 0;
    CHECK_OK(cairn_memory_extend((void **)&items, &capacity, 2, sizeof *items));
    CHECK_INT(capacity, 8);
    items[1] = 5;
    CHECK_OK(cairn_memory_extend((void **)&items, &capacity, 100, sizeof *items));
    CHECK_INT(capacity, 100);
    CHECK_INT(items[1], 5);
    cairn_memory_free(items);
}

TEST(reserve_keeps_old_items_and_zeroes_new_ones)
{
    meter m;
    begin(&m);
    int *block = NULL;
    size_t capacity = 0;
    for (int round = 0; round < 5; round++) {
        size_t old = capacity;
        CHECK_OK(cairn_memory_reserve((void **)&block, &capacity, old + 1, sizeof *block));
        for (size_t i = 0; i < capacity; i++)
            CHECK_INT(block[i], i < old ? 7 : 0);
        for (size_t i = 0; i < capacity; i++)
            block[i] = 7;
    }
    cairn_memory_free(block);
    end(&m);
}

TEST(a_reserve_that_fails_changes_nothing)
{
    meter m;
    begin(&m);
    void *block = NULL;
    size_t capacity = 0;
    CHECK_OK(cairn_memory_reserve(&block, &capacity, 3, 1));
    void *before = block;
    m.fail_at = m.calls + 1;
    CHECK_INT(cairn_memory_reserve(&block, &capacity, 100, 1), CAIRN_NO_MEMORY);
    CHECK(block == before);
    CHECK_INT(capacity, 8);
    CHECK_INT(cairn_memory_reserve(&block, &capacity, SIZE_MAX / 2, 16), CAIRN_NO_MEMORY);
    CHECK(block == before);
    cairn_memory_free(block);
    end(&m);
}

TEST(without_a_hook_the_c_library_serves)
{
    meter m = { 0 };
    meter_install(&m);
    cairn_allocator_set(NULL);
    void *block = cairn_memory_zeroed(10, 10);
    CHECK(block != NULL);
    cairn_memory_free(block);
    CHECK_INT(m.calls, 0);
}

TEST(a_list_that_owns_its_values_keeps_them)
{
    double values[3] = { 1, 2, 3 };
    cairn_list list = { values, 3 }, empty = { values, 0 };
    CHECK_OK(cairn_memory_own_list(&list));
    values[1] = 7;
    CHECK(list.values != values && list.values[1] == 2);
    cairn_memory_free((void *)list.values);
    CHECK_OK(cairn_memory_own_list(&empty));
    CHECK(empty.values == NULL);
}

GROUP(test_memory)
{
    RUN(CASE(a_list_that_owns_its_values_keeps_them), CASE(a_zeroed_block_is_zero),
        CASE(nothing_and_too_much_give_null_without_asking_the_allocator),
        CASE(resize_keeps_what_was_there_and_leaves_it_on_failure), CASE(free_takes_null),
        CASE(a_text_is_copied_with_its_end), CASE(reserve_grows_by_half_as_much_again),
        CASE(reserve_keeps_old_items_and_zeroes_new_ones), CASE(extend_keeps_old_items),
        CASE(a_reserve_that_fails_changes_nothing), CASE(without_a_hook_the_c_library_serves));
}

/* ==== test_arena: scratch memory: alignment, reuse without allocation, refusal ================ */

TEST(pieces_are_aligned_to_64_bytes_and_do_not_overlap)
{
    cairn_arena arena = { 0 };
    unsigned char *pieces[200];
    for (int i = 0; i < 200; i++) { /* 1 + 64 + ... : several blocks of at least 64 KiB */
        size_t bytes = 1 + 37 * (size_t)i;
        pieces[i] = cairn_arena_take(&arena, bytes, 1);
        CHECK_INT((uintptr_t)pieces[i] % 64, 0);
        memset(pieces[i], i, bytes);
    }
    for (int i = 0; i < 200; i++)
        for (size_t k = 0; k < 1 + 37 * (size_t)i; k++)
            CHECK_INT(pieces[i][k], i);
    cairn_arena_destroy(&arena);
}

/* The first block holds 64 KiB: 64 bytes are left, 128 do not fit there. */
TEST(a_piece_that_does_not_fit_goes_to_a_new_block)
{
    meter m = { 0 };
    cairn_arena arena = { 0 };
    meter_install(&m);
    cairn_arena_take(&arena, (1 << 16) - 64, 1);
    CHECK_INT(m.calls, 1);
    memset(cairn_arena_take(&arena, 128, 1), 1, 128);
    CHECK_INT(m.calls, 2);
    cairn_arena_destroy(&arena);
    cairn_arena_take(&arena, (1 << 16) - 64, 1);
    memset(cairn_arena_take(&arena, 64, 1), 1, 64); /* fits exactly */
    CHECK_INT(m.calls, 3);
    cairn_arena_destroy(&arena);
    cairn_allocator_set(NULL);
}

TEST(used_counts_bytes_rounded_up_to_64)
{
    cairn_arena arena = { 0 };
    cairn_arena_take(&arena, 1, 1);
    CHECK_INT(arena.used, 64);
    cairn_arena_take(&arena, 9, 8);
    CHECK_INT(arena.used, 64 + 128);
    cairn_arena_take(&arena, 0, 8);
    CHECK_INT(arena.used, 64 + 128);
    cairn_arena_reset(&arena);
    CHECK_INT(arena.used, 0);
    cairn_arena_destroy(&arena);
}

TEST(doubles_are_zero_also_in_used_memory)
{
    cairn_arena arena = { 0 };
    for (int round = 0; round < 3; round++) {
        double *numbers = cairn_arena_doubles(&arena, 1000);
        for (int i = 0; i < 1000; i++) {
            CHECK(numbers[i] == 0);
            numbers[i] = 1;
        }
        cairn_arena_reset(&arena);
    }
    cairn_arena_destroy(&arena);
}

/* The first round takes several blocks, the first reset joins them; then nothing is allocated. */
TEST(a_steady_round_allocates_nothing)
{
    meter m = { 0 };
    cairn_arena arena = { 0 };
    long calls[5];
    meter_install(&m);
    for (int round = 0; round < 5; round++) {
        cairn_arena_reset(&arena);
        for (int i = 0; i < 100; i++)
            CHECK(cairn_arena_take(&arena, 1000, sizeof(double)) != NULL);
        calls[round] = m.calls;
    }
    CHECK(calls[0] > 1);
    CHECK_INT(calls[1], calls[0] + 1);
    CHECK_INT(calls[4], calls[1]);
    CHECK_INT(m.alive, 1);
    cairn_arena_destroy(&arena);
    cairn_allocator_set(NULL);
    CHECK_INT(m.alive, 0);
}

TEST(zero_items_give_a_pointer)
{
    cairn_arena arena = { 0 };
    CHECK(cairn_arena_take(&arena, 0, 8) != NULL);
    CHECK(cairn_arena_doubles(&arena, 0) != NULL);
    cairn_arena_destroy(&arena);
}

TEST(no_memory_gives_null_and_the_arena_goes_on)
{
    meter m = { .fail_at = 1 };
    cairn_arena arena = { 0 };
    meter_install(&m);
    CHECK(cairn_arena_doubles(&arena, 10) == NULL);
    double *numbers = cairn_arena_doubles(&arena, 10);
    CHECK(numbers != NULL);
    numbers[9] = 5;
    m.fail_at = m.calls + 1;
    CHECK(cairn_arena_take(&arena, 1 << 20, 8) == NULL);
    CHECK_NEAR(numbers[9], 5, 0);
    CHECK(cairn_arena_take(&arena, 1 << 20, 8) != NULL);
    m.fail_at = m.calls + 1;
    cairn_arena_reset(&arena); /* cannot join its two blocks: starts from nothing */
    CHECK(cairn_arena_doubles(&arena, 10) != NULL);
    cairn_arena_destroy(&arena);
    cairn_allocator_set(NULL);
    CHECK_INT(m.alive, 0);
}

TEST(what_was_taken_since_a_moment_is_given_back)
{
    cairn_arena arena = { 0 };
    double *kept = cairn_arena_doubles(&arena, 8);
    kept[7] = 3;
    cairn_arena_moment moment = cairn_arena_now(&arena);
    char *first = cairn_arena_take(&arena, 64, 1);
    CHECK(cairn_arena_take(&arena, 1 << 20, 8) != NULL); /* in a block of its own */
    cairn_arena_return(&arena, moment);
    CHECK_INT(arena.used, 64);
    CHECK_NEAR(kept[7], 3, 0);
    CHECK(cairn_arena_take(&arena, 64, 1) == first);
    CHECK_INT(arena.most, 2 * 64 + 8 * (1 << 20));
    cairn_arena_destroy(&arena);
}

/* A round takes 8 MB, gives them back and takes 64 bytes: the first one alone allocates. */
TEST(rounds_that_give_back_allocate_nothing_once_they_are_steady)
{
    meter m = { 0 };
    cairn_arena arena = { 0 };
    meter_install(&m);
    long calls = 0;
    for (int round = 0; round < 4; round++) {
        CHECK(cairn_arena_take(&arena, 64, 1) != NULL);
        cairn_arena_moment moment = cairn_arena_now(&arena);
        CHECK(cairn_arena_take(&arena, 1 << 20, 8) != NULL);
        cairn_arena_return(&arena, moment);
        CHECK(cairn_arena_take(&arena, 64, 1) != NULL);
        cairn_arena_reset(&arena);
        if (round > 0)
            CHECK_INT(m.calls, calls);
        calls = m.calls;
    }
    CHECK(cairn_arena_capacity(&arena) >= 8 << 20);
    cairn_arena_destroy(&arena);
    cairn_allocator_set(NULL);
}

TEST(sizes_that_overflow_give_null)
{
    cairn_arena arena = { 0 };
    CHECK(cairn_arena_take(&arena, SIZE_MAX / 8 + 1, 8) == NULL); /* wraps round to 0 bytes */
    CHECK(cairn_arena_take(&arena, SIZE_MAX, 1) == NULL);
    CHECK_INT(arena.used, 0);
    cairn_arena_destroy(&arena);
}

TEST(destroy_leaves_an_empty_arena_that_can_be_used_again)
{
    cairn_arena arena = { 0 };
    cairn_arena_destroy(&arena);
    cairn_arena_take(&arena, 100000, 8);
    cairn_arena_destroy(&arena);
    CHECK(arena.newest == NULL);
    CHECK_INT(arena.used, 0);
    CHECK(cairn_arena_take(&arena, 1, 8) != NULL);
    cairn_arena_destroy(&arena);
}

GROUP(test_arena)
{
    RUN(CASE(pieces_are_aligned_to_64_bytes_and_do_not_overlap),
        CASE(a_piece_that_does_not_fit_goes_to_a_new_block),
        CASE(used_counts_bytes_rounded_up_to_64), CASE(doubles_are_zero_also_in_used_memory),
        CASE(a_steady_round_allocates_nothing), CASE(zero_items_give_a_pointer),
        CASE(no_memory_gives_null_and_the_arena_goes_on), CASE(sizes_that_overflow_give_null),
        CASE(what_was_taken_since_a_moment_is_given_back),
        CASE(rounds_that_give_back_allocate_nothing_once_they_are_steady),
        CASE(destroy_leaves_an_empty_arena_that_can_be_used_again));
}

/* ==== test_bytes: numbers, texts and records to bytes and back ================================ */

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

GROUP(test_bytes)
{
    RUN(CASE(a_number_takes_eight_bytes_lowest_first), CASE(what_was_written_is_read),
        CASE(a_record_comes_back_with_all_its_options), CASE(what_is_no_word_is_refused),
        CASE(a_name_that_the_table_does_not_have_is_refused),
        CASE(sizes_are_held_against_what_is_left), CASE(the_check_sum_is_crc_64),
        CASE(the_check_sum_is_that_of_its_definition), CASE(a_number_can_be_written_again),
        CASE(without_memory_a_writer_says_so_and_goes_on));
}
