/* check.h - a thin layer over cmocka: TEST states one fact, the CHECKs say it with numbers; and an
 * allocator that fails. */
#ifndef CAIRN_TESTS_CHECK_H
#define CAIRN_TESTS_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cairn/base.h"

/* Whether the sanitizers look on: everything takes several times as long. */
#ifdef __SANITIZE_ADDRESS__
enum { CHECKED = 1 };
#else
enum { CHECKED = 0 };
#endif

/* ==== a thin layer over cmocka: TEST states one fact, the CHECKs say it with numbers ========== */

#define TEST(name) static void name(void **cmocka_state_ __attribute__((unused)))

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("not true: %s", #condition);                                                  \
    } while (0)

/* |found - expected| <= tolerance, absolute */
#define CHECK_NEAR(found, expected, tolerance)                                                     \
    do {                                                                                           \
        double found_ = (found), expected_ = (expected), tolerance_ = (tolerance);                 \
        if (!(fabs(found_ - expected_) <= tolerance_))                                             \
            fail_msg("%s is %.12g, expected %.12g +- %g", #found, found_, expected_, tolerance_);  \
    } while (0)

/* |found - expected| <= tolerance * |expected| */
#define CHECK_CLOSE(found, expected, tolerance)                                                    \
    CHECK_NEAR(found, expected, (tolerance)*fabs((double)(expected)))

#define CHECK_INT(found, expected)                                                                 \
    do {                                                                                           \
        long long found_ = (long long)(found), expected_ = (long long)(expected);                  \
        if (found_ != expected_)                                                                   \
            fail_msg("%s is %lld, expected %lld", #found, found_, expected_);                      \
    } while (0)

#define CHECK_TEXT(found, expected) assert_string_equal((found), (expected))

/* the text contains the piece */
#define CHECK_CONTAINS(text, piece)                                                                \
    do {                                                                                           \
        if (!strstr((text), (piece)))                                                              \
            fail_msg("'%s' does not contain '%s'", (text), (piece));                               \
    } while (0)

#define CHECK_OK(call) CHECK_INT((call), CAIRN_OK)

/* GROUP(test_x) { RUN(CASE(a), CASE(b)); } -- the tests of one name of ctest, in order. The build finds the
 * line and makes the program of the folder, which runs the group that it is asked for. */
#define GROUP(name)                                                                                \
    int name(void);                                                                                \
    int name(void)
#define CASE(name) cmocka_unit_test(name)
#define RUN(...)                                                                                   \
    const struct CMUnitTest tests_[] = { __VA_ARGS__ };                                            \
    return cmocka_run_group_tests_name(__func__, tests_, NULL, NULL)

/* ==== an allocator that counts, fails on the n-th call, and sees leaks ======================== */

typedef struct meter {
    long calls;   /* allocations asked for              */
    long fail_at; /* the one that fails; 0: none does   */
    long alive;   /* blocks not yet freed               */
} meter;

static inline void *metered_resize(void *context, void *block, size_t bytes)
{
    meter *m = context;
    if (bytes == 0) {
        m->alive -= block != NULL;
        free(block);
        return NULL;
    }
    if (++m->calls == m->fail_at)
        return NULL;
    m->alive += block == NULL;
    return realloc(block, bytes);
}

static inline void meter_install(meter *m)
{
    cairn_allocator allocator = { metered_resize, m };
    cairn_allocator_set(&allocator);
}

#endif
