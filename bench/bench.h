/* bench.h - functions that the parts of the benchmark share. */
#ifndef CAIRN_BENCH_H
#define CAIRN_BENCH_H

#include <stdio.h>

#include "cairn/cairn.h"

/* Boxes settle with time steps that many times those of the scene, to this time, about half of its
 * duration: dense, and almost at rest. */
#define BENCH_LONGER 3.0
#define BENCH_UNTIL  4.3

/* rest.c: shared by all parts */
/* Print what failed, and exit. */
void bench_fail(const char *what, cairn_status status);
/* A CSV file in the folder, with its first line. */
FILE *bench_table(const char *folder, const char *name, const char *head);
/* Seconds of the wall clock. */
double bench_clock(void);
/* Seconds of processor time so far, of all threads. */
double bench_processor_time(void);
/* A number from 1 on, given in place `at`, or its default; exits if it is something else. */
int bench_number_at(int argc, char **argv, int at, int otherwise);
/* scenes/box_of_spheres.yaml with n^3 spheres, a scheme, and time steps longer by a factor. */
cairn_scene *bench_box(int n, const char *scheme, double longer);

/* Sweeps on lattices of up to about `most` contacts: nanoseconds, bytes, share of the stream. */
void bench_sweeps(const char *folder, int most);
/* Boxes of 1,000 to `most` spheres that settle: where the time of a step goes, and how it grows. */
void bench_settle(const char *folder, int most);
/* A box of n^3 spheres for some steps by a scheme: time, sweeps, contacts, memory of each. */
void bench_large(const char *folder, int n, int steps, const char *scheme);
/* The closed box of [BL23] with n^3 spheres, n = 8, 16, 32 up to `most`, beside SCoPI's times. */
void bench_scopi(const char *folder, int most);
/* Settled boxes of n^3 spheres, put together: the cost of a step at rest, by stage. */
typedef struct bench_rest_options {
    int n;
    int copies[3]; /* along x, y and z */
    const char *scheme;
    int before, steps;   /* to settle after that; to measure */
    int parts;           /* run.parts; 0: by the number of contacts */
    const char *backend; /* NULL: the default */
    int threads;
} bench_rest_options;

/* Options of a box at rest, from argument `at` on: N SCHEME COPIES BEFORE STEPS PARTS BACKEND
 * THREADS. */
bench_rest_options bench_read_rest(int argc, char **argv, int at);
void bench_rest(const char *folder, const bench_rest_options *options);
/* The world of such boxes, one thread, and its options; returns the number of spheres. world NULL:
 * the box settles and its file is written, no more. */
double bench_heap(const char *folder, const bench_rest_options *options, cairn_world **world,
                  cairn_step_options *step);
/* The same n^3 spheres between walls and in a cell with periodic sides: time per contact, by stage. */
void bench_periodic(const char *folder, int n, int steps, int rounds);
/* mpi.c: such boxes computed by all ranks of MPI: times, and messages and bytes of a sweep. */
void bench_mpi(const char *folder, const char *kind, const bench_rest_options *options);
/* How evenly the ranks share a pour once parts have moved between them. */
void bench_mpi_pour(const char *folder, int spheres, int parts);
/* Latency and bandwidth of messages between two ranks. */
void bench_mpi_link(const char *folder);
/* A model of the time of a sweep, from these tables, beside what was measured. */
void bench_mpi_model(const char *folder);
/* A scene of the comparison with other engines: "column", "16" for 16^3 spheres in a box, "rest-16"
 * for the same once it has settled. */
void bench_export(const char *path, const char *which);
/* The exact-friction problem of the last step of the box of n^3 spheres, as an FCLib file. */
void bench_problem(const char *path, const char *which);

#endif
