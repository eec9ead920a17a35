/* cmocka.h - the few functions of cmocka that tests/check.h and the tests use, for machines on which
 * cmocka is not installed (-DCAIRN_FILES=OFF builds only): a test that fails jumps out of itself. */
#ifndef CAIRN_TESTS_PLAIN_CMOCKA_H
#define CAIRN_TESTS_PLAIN_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

/* Where a test that fails or is skipped continues: 1 failed, 2 skipped. Every file of tests has its
 * own, and its groups run in it. */
static jmp_buf plain_end;

static inline __attribute__((unused)) void print_message(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
}

static inline __attribute__((unused, noreturn)) void fail_msg(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    longjmp(plain_end, 1);
}

static inline __attribute__((unused, noreturn)) void skip(void)
{
    longjmp(plain_end, 2);
}

static inline __attribute__((unused)) void assert_string_equal(const char *a, const char *b)
{
    if (strcmp(a, b) != 0)
        fail_msg("\"%s\" is not \"%s\"", a, b);
}

typedef int plain_hook(void **state);

/* The number of tests that failed; `before` and `after` may be NULL. */
static inline __attribute__((unused)) int plain_run(const char *group,
                                                    const struct CMUnitTest *tests, size_t count,
                                                    plain_hook *before, plain_hook *after)
{
    void *shared = NULL;
    if (before && before(&shared) != 0)
        return (int)count;
    static volatile int failed;
    failed = 0;
    for (volatile size_t i = 0; i < count; i++) {
        static const char *const words[] = { "OK", "FAILED", "SKIPPED" };
        printf("[ RUN      ] %s\n", tests[i].name);
        fflush(stdout);
        int end = setjmp(plain_end);
        if (end == 0)
            tests[i].run(&shared);
        failed += end == 1;
        printf("[ %8s ] %s\n", words[end], tests[i].name);
    }
    if (after)
        after(&shared);
    printf("[==========] %s: %d of %zu failed\n", group, failed, count);
    return failed;
}

#define cmocka_unit_test(test)                                                                     \
    {                                                                                              \
        #test, test                                                                                \
    }
#define cmocka_run_group_tests_name(group, tests, setup, teardown)                                 \
    plain_run(group, tests, sizeof(tests) / sizeof(tests)[0], setup, teardown)

#endif
