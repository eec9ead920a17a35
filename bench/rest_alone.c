/* rest_alone.c - boxes at rest as a program of its own, cairn_bench_rest, which the core without file
 * formats can build:
 *     cairn_bench_rest FOLDER [N [SCHEME [COPIES [BEFORE [STEPS [PARTS [BACKEND [THREADS]]]]]]]] */
#include <stdlib.h>

#include "bench.h"

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: cairn_bench_rest FOLDER [N [SCHEME [COPIES [BEFORE [STEPS [PARTS "
                        "[BACKEND [THREADS]]]]]]]]\n");
        return 2;
    }
    bench_rest_options options = bench_read_rest(argc, argv, 2);
    bench_rest(argv[1], &options);
    return 0;
}
