/* test_packer.c - chunks come out in order, as shuffle and deflate make them. */
#include "io/packer.h"

#include <string.h>
#include <time.h>
#include <zlib.h>

#include "check.h"
#include "failing_allocator.h"

enum { NUMBERS = 4096, BYTES = NUMBERS * sizeof(double) };

static void fill(double *numbers, double first)
{
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = first + 1e-3 * i;
}

/* What inflate and the way back from the shuffled order make of a packed chunk. */
static void unpack(const cairn_chunk *chunk, double *out)
{
    static unsigned char shuffled[BYTES];
    uLongf bytes = BYTES;
    CHECK_INT(uncompress(shuffled, &bytes, chunk->data, chunk->bytes), Z_OK);
    CHECK_INT(bytes, BYTES);
    for (size_t i = 0; i < NUMBERS; i++)
        for (size_t b = 0; b < sizeof(double); b++)
            ((unsigned char *)out)[i * sizeof(double) + b] = shuffled[b * NUMBERS + i];
}

static void put(cairn_packer *packer, int k)
{
    static double numbers[NUMBERS];
    fill(numbers, k);
    cairn_chunk chunk = { .owner = 7,
                          .row = (uint64_t)k,
                          .rows = 3,
                          .width = 2,
                          .number_bytes = sizeof(double),
                          .bytes = BYTES,
                          .data = numbers };
    CHECK_OK(cairn_packer_put(packer, &chunk));
}

/* the ring goes round three times; each chunk is as zlib alone would write it */
TEST(chunks_come_out_in_order_and_whole)
{
    static double wanted[NUMBERS], found[NUMBERS];
    cairn_packer *packer;
    cairn_chunk chunk;
    int next = 0;
    CHECK_OK(cairn_packer_create(&packer));
    CHECK(!cairn_packer_first(packer, true, &chunk));
    for (int k = 0; k < 3 * CAIRN_PACKER_ROOM || cairn_packer_count(packer) > 0;) {
        if (k < 3 * CAIRN_PACKER_ROOM && cairn_packer_count(packer) < CAIRN_PACKER_ROOM) {
            put(packer, k++);
            continue;
        }
        CHECK(cairn_packer_first(packer, true, &chunk));
        CHECK_INT(chunk.row, next);
        CHECK(chunk.owner == 7 && chunk.rows == 3 && chunk.width == 2);
        CHECK(chunk.bytes < BYTES / 2);
        fill(wanted, next++);
        unpack(&chunk, found);
        CHECK(memcmp(found, wanted, BYTES) == 0);
        cairn_packer_drop(packer);
    }
    CHECK_INT(next, 3 * CAIRN_PACKER_ROOM);
    cairn_packer_destroy(packer);
}

/* the thread works while nobody waits for it */
TEST(a_chunk_gets_ready_by_itself)
{
    cairn_packer *packer;
    cairn_chunk chunk;
    CHECK_OK(cairn_packer_create(&packer));
    put(packer, 1);
    for (int k = 0; k < 10000 && !cairn_packer_first(packer, false, &chunk); k++)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    CHECK(cairn_packer_first(packer, false, &chunk));
    cairn_packer_destroy(packer); /* with something inside */
}

/* numbers without a pattern get no shorter: 4096 doubles grow by less than 1 % */
TEST(noise_still_fits)
{
    static uint64_t noise[NUMBERS];
    uint64_t state = 1;
    cairn_packer *packer;
    cairn_chunk out, chunk = { .number_bytes = 8, .bytes = BYTES, .data = noise };
    for (int i = 0; i < NUMBERS; i++)
        noise[i] = state = state * 6364136223846793005u + 1442695040888963407u;
    CHECK_OK(cairn_packer_create(&packer));
    CHECK_OK(cairn_packer_put(packer, &chunk));
    CHECK(cairn_packer_first(packer, true, &out));
    CHECK(out.data && out.bytes < BYTES + BYTES / 100);
    cairn_packer_destroy(packer);
}

/* the n-th allocation fails, for every n: of the packer, of its two streams, of a slot */
TEST(no_memory_is_said)
{
    cairn_status status = CAIRN_NO_MEMORY;
    long n = 0;
    while (status != CAIRN_OK && n < 100) {
        meter m = { .fail_at = ++n };
        cairn_packer *packer = NULL;
        double number = 1;
        cairn_chunk chunk = { .number_bytes = 8, .bytes = 8, .data = &number };
        meter_install(&m);
        status = cairn_packer_create(&packer);
        CHECK((status == CAIRN_OK) == (packer != NULL));
        if (status == CAIRN_OK)
            status = cairn_packer_put(packer, &chunk);
        cairn_packer_destroy(packer);
        cairn_allocator_set(NULL);
        CHECK(status == CAIRN_OK || status == CAIRN_NO_MEMORY);
        CHECK_INT(m.alive, 0);
    }
    CHECK(n > 3 && n < 100);
}

int main(void)
{
    RUN(CASE(chunks_come_out_in_order_and_whole), CASE(a_chunk_gets_ready_by_itself),
        CASE(noise_still_fits), CASE(no_memory_is_said));
}
