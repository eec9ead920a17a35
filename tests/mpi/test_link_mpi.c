/* test_link_mpi.c - messages between ranks of MPI, with 1, 2, 3 and 4 of them on any number of
 * processors. Started by ctest it starts itself under mpiexec; the tests run in the ranks. */
#include <stdlib.h>
#include <unistd.h>

#include "mpi/mpi.h"
#include "tests/problems/run_scene.h"

static cairn_link link_;

/* byte i of message k between two ranks */
static unsigned char byte_of(int from, int to, int k, size_t i)
{
    return (unsigned char)(31 * from + 17 * to + 7 * k + (int)(i % 251));
}

/* Lengths from 0 to some MB: MPI treats short and long messages differently. */
static size_t length_of(int k)
{
    static const size_t length[] = { 0, 1, 8, 4097, 300000, 3, 2500000, 0, 65536, 12 };
    return length[k % 10];
}

enum { MESSAGES = 30, LONGEST = 2500000 };

/* All are sent before the first one is received, from a buffer that is overwritten at once. */
static void send_all(unsigned char *buffer)
{
    for (int k = 0; k < MESSAGES; k++)
        for (int to = 0; to < link_.members; to++) {
            for (size_t i = 0; i < length_of(k); i++)
                buffer[i] = byte_of(link_.member, to, k, i);
            if (to != link_.member)
                cairn_link_send(&link_, to, buffer, length_of(k));
        }
}

static void receive_all(void)
{
    for (int k = 0; k < MESSAGES; k++)
        for (int from = 0; from < link_.members; from++) {
            size_t count, wrong = 0;
            if (from == link_.member)
                continue;
            const unsigned char *found = cairn_link_receive(&link_, from, &count);
            CHECK_INT(count, length_of(k));
            for (size_t i = 0; i < count; i++)
                wrong += found[i] != byte_of(from, link_.member, k, i);
            CHECK_INT(wrong, 0);
        }
}

TEST(messages_are_copied_and_keep_their_order)
{
    unsigned char *buffer = malloc(LONGEST);
    send_all(buffer);
    receive_all();
    CHECK_OK(link_.status);
    free(buffer);
}

TEST(long_messages_travel_in_pieces)
{
    unsigned char *buffer = malloc(LONGEST);
    cairn_mpi_set_piece(&link_, 65536);
    send_all(buffer);
    receive_all();
    cairn_mpi_set_piece(&link_, (size_t)1 << 30);
    CHECK_OK(link_.status);
    free(buffer);
}

TEST(reductions_are_over_all_ranks)
{
    int n = link_.members;
    CHECK_INT(cairn_link_sum(&link_, link_.member + 1), n * (n + 1) / 2);
    CHECK_NEAR(cairn_link_largest(&link_, -link_.member), 0, 0);
    CHECK(cairn_link_any(&link_, link_.member == n - 1));
    CHECK(cairn_link_all(&link_, true));
    CHECK(n == 1 || !cairn_link_all(&link_, link_.member != 0));
}

TEST(traffic_is_counted)
{
    cairn_traffic before = link_.traffic;
    int others = link_.members - 1;
    for (int k = 0; k < link_.members; k++)
        if (k != link_.member)
            cairn_link_send(&link_, k, "8 bytes", 8);
    for (int k = 0; k < link_.members; k++) {
        char text[8];
        if (k != link_.member)
            cairn_link_receive_into(&link_, k, text, sizeof text);
    }
    CHECK_INT(link_.traffic.messages - before.messages, others);
    CHECK_INT(link_.traffic.bytes - before.bytes, 8 * others);
    CHECK(link_.traffic.waiting >= before.waiting);
    CHECK(cairn_mpi_ranks_here(&link_) == link_.members);
}

static const char *const scene_balls =
    "cairn: 1\n"
    "materials: {stone: {friction: 0.4}}\n"
    "bodies: [{motion: fixed, shape: {half_space: {}}}]\n"
    "generators:\n"
    "  - grid: {count: [4, 4, 3], spacing: [0.15, 0.15, 0.15], origin: [-0.2, -0.2, 0.08], radius: "
    "0.07}\n"
    "run: {time_step: 0.01, duration: 0.1, solver: ngs, parts: 4, threads: 1}\n";

/* A caller pushes and strikes in each step what it sees at the time; the hash at the end. */
static uint64_t run_loop(cairn_link *link)
{
    cairn_scene *scene = scene_text_good(scene_balls, NULL);
    cairn_running *run;
    cairn_run_summary summary;
    scene->link = link;
    CHECK_OK(cairn_run_begin(scene, NULL, &run, NULL));
    for (uint64_t k = 1; cairn_run_goes_on(run); k++) {
        cairn_body_state state;
        CHECK_OK(cairn_body_get(scene->world, (cairn_body_id){ 40 - k }, &state));
        CHECK_OK(cairn_body_push(scene->world, (cairn_body_id){ 2 * k },
                                 (cairn_vec3){ 100 * state.x.z, 0, 5 }, (cairn_vec3){ 0, 0, 0 }));
        CHECK_OK(cairn_body_strike(scene->world, (cairn_body_id){ 3 * k }, state.v, state.x));
        CHECK_OK(cairn_run_step(run, NULL, NULL));
    }
    CHECK_OK(cairn_run_end(&run, &summary, NULL));
    cairn_scene_destroy(scene);
    return summary.hash;
}

TEST(a_loop_of_rank_0_pushes_bodies_of_all_ranks)
{
    if (link_.member == 0)
        CHECK(run_loop(&link_) == run_loop(NULL));
    else
        CHECK_OK(cairn_ranks_serve(&link_, NULL));
}

/* The last test: the link is of no use afterwards. What was sent before still arrives. */
TEST(ranks_that_wait_for_one_that_left_fail)
{
    size_t count;
    int last = link_.members - 1;
    if (link_.member == last) {
        for (int k = 0; k < last; k++)
            cairn_link_send(&link_, k, "word", 4);
        link_.leave(link_.context);
        return;
    }
    CHECK(cairn_link_receive(&link_, last, &count) != NULL);
    CHECK_INT(count, 4);
    CHECK(cairn_link_receive(&link_, last, &count) == NULL);
    CHECK_INT(link_.status, CAIRN_IO_FAILED);
}

/* ---- the program ---------------------------------------------------------------------------- */

static int run_as_rank(void)
{
    const struct CMUnitTest tests[] = { CASE(messages_are_copied_and_keep_their_order),
                                        CASE(long_messages_travel_in_pieces),
                                        CASE(reductions_are_over_all_ranks),
                                        CASE(traffic_is_counted),
                                        CASE(a_loop_of_rank_0_pushes_bodies_of_all_ranks),
                                        CASE(ranks_that_wait_for_one_that_left_fail) };
    cairn_error error = { 0 };
    if (cairn_mpi_open(&link_, &error) != CAIRN_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    int failed = cmocka_run_group_tests_name("test_link_mpi", tests, NULL, NULL);
    cairn_mpi_close(&link_);
    return failed;
}

/* Open MPI refuses root, and more ranks than processors, unless told otherwise. */
static int start_ranks(const char *mpiexec, int ranks)
{
    char program[4096] = "", command[9000];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return 1;
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
    setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
    snprintf(command, sizeof command, "%s -n %d '%s' test_link_mpi", mpiexec, ranks, program);
    return system(command);
}

GROUP(test_link_mpi)
{
    char name[64];
    const char *mpiexec = getenv("CAIRN_MPIEXEC");
    if (!cairn_mpi_name(name, sizeof name)) {
        puts("skipped: built without MPI (make mpi, docs/mpi.md)");
        return 77;
    }
    if (cairn_mpi_how_started().launched)
        return run_as_rank();
    for (int ranks = 1; ranks <= 4; ranks++)
        if (start_ranks(mpiexec ? mpiexec : "mpiexec", ranks) != 0)
            return 1;
    return 0;
}
