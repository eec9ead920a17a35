/* test_clock.c - wall-clock time goes forward, in seconds. */
#include "base/clock.h"
#include "check.h"

#include <time.h>

TEST(a_pause_of_20_ms_takes_at_least_that_and_the_clock_never_goes_back)
{
    const struct timespec pause = { .tv_nsec = 20000000 };
    double before = cairn_clock_seconds();
    nanosleep(&pause, NULL);
    double after = cairn_clock_seconds();
    CHECK(after - before >= 0.0199);
    CHECK(after - before < 60);
    for (int i = 0; i < 1000; i++) {
        double now = cairn_clock_seconds();
        CHECK(now >= after);
        after = now;
    }
}

int main(void)
{
    RUN(CASE(a_pause_of_20_ms_takes_at_least_that_and_the_clock_never_goes_back));
}
