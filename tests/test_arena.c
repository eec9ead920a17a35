/* test_arena.c - scratch memory: alignment, reuse without allocation, refusal. */
#include "base/arena.h"
#include "check.h"
#include "failing_allocator.h"

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

int main(void)
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
