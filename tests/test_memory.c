/* test_memory.c - the only way to the heap: zeroing, growing, refusing, and the hook. */
#include "base/memory.h"
#include "check.h"
#include "failing_allocator.h"

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

int main(void)
{
    RUN(CASE(a_list_that_owns_its_values_keeps_them), CASE(a_zeroed_block_is_zero),
        CASE(nothing_and_too_much_give_null_without_asking_the_allocator),
        CASE(resize_keeps_what_was_there_and_leaves_it_on_failure), CASE(free_takes_null),
        CASE(a_text_is_copied_with_its_end), CASE(reserve_grows_by_half_as_much_again),
        CASE(reserve_keeps_old_items_and_zeroes_new_ones), CASE(extend_keeps_old_items),
        CASE(a_reserve_that_fails_changes_nothing), CASE(without_a_hook_the_c_library_serves));
}
