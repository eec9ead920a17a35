/* test_depth.c - how many functions there are from cairn_world_step to the first multiply of a
 * sweep: as many as stand on the stack of the optimised build, both ends counted.
 *
 * The linker puts the kernels of this file in place of those of the host (tests/CMakeLists.txt).
 * They count, and do what those do. */
#include <execinfo.h>
#include <stdlib.h>
#include <string.h>

#include "backend/host/batch.h"
#include "worlds.h"

enum { MOST_FRAMES = 128, MOST_FUNCTIONS = 12 };

static const cairn_batch_kernels_f32 *kernels;
static int depth_of_sweep, depth_of_test;

/* Frames on the stack, the caller's among them. */
__attribute__((noinline)) static int frames(void)
{
    void *at[MOST_FRAMES];
    return backtrace(at, MOST_FRAMES) - 1;
}

static void counting_sweep(const cairn_pass_f32 *job, int begin, int end, cairn_sweep *out)
{
    if (depth_of_sweep == 0)
        depth_of_sweep = frames();
    kernels->sweep(job, begin, end, out);
}

const cairn_batch_kernels_f32 *__real_cairn_batch_kernels_f32_of(cairn_width width);
const cairn_batch_kernels_f32 *__wrap_cairn_batch_kernels_f32_of(cairn_width width);

const cairn_batch_kernels_f32 *__wrap_cairn_batch_kernels_f32_of(cairn_width width)
{
    static cairn_batch_kernels_f32 counting;
    kernels = __real_cairn_batch_kernels_f32_of(width);
    counting = *kernels;
    counting.sweep = counting_sweep;
    return &counting;
}

/* 216 balls in a cube, each 1e-4 m from six others, above a floor. */
static cairn_world *new_cube(void)
{
    cairn_world *world = new_world(3, 9.81, 0.3, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, (cairn_vec3){ 0, 0, 0 });
    for (int k = 0; k < 216; k++)
        add_ball(world, 0.05,
                 (cairn_vec3){ 0.1001 * (k % 6), 0.1001 * (k / 6 % 6), 0.0501 + 0.1001 * (k / 36) },
                 (cairn_vec3){ 0.1, 0, -0.5 });
    return world;
}

TEST(from_a_step_to_the_first_multiply_are_at_most_12_functions)
{
    const char *type = getenv("CAIRN_BUILD_TYPE"), *sanitised = getenv("CAIRN_SANITIZE");
    cairn_world *world = new_cube();
    cairn_step_options options = cairn_step_options_default();
    options.time_step = 1e-3;
    depth_of_test = frames();
    CHECK_OK(cairn_world_step(world, &options, NULL));
    cairn_world_destroy(world);
    CHECK(depth_of_sweep > depth_of_test);
    int functions = depth_of_sweep - depth_of_test;
    print_message("%d functions\n", functions);
    CHECK(functions > 5); /* one that counts nothing cannot pass */
    if (type && strcmp(type, "Release") == 0 && !(sanitised && strcmp(sanitised, "ON") == 0))
        CHECK(functions <= MOST_FUNCTIONS);
}

int main(void)
{
    RUN(CASE(from_a_step_to_the_first_multiply_are_at_most_12_functions));
}
