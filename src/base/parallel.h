/* parallel.h - the one parallel loop. */
#ifndef CAIRN_BASE_PARALLEL_H
#define CAIRN_BASE_PARALLEL_H

/* Works on items begin .. end-1; results must not depend on how a loop is cut into ranges. */
typedef void cairn_range_fn(int begin, int end, void *context);

/* Call `work` on ranges of at most `grain` items that cover 0 .. count-1, on several threads when
 * that pays. The ranges depend on count and grain alone, never on the number of threads. */
void cairn_parallel_for(int count, int grain, cairn_range_fn *work, void *context);

/* How many threads loops may use from now on; 0: as many as the machine has. */
void cairn_parallel_threads(int threads);
/* How many that is; to choose how to work, never what comes out. */
int cairn_parallel_width(void);
/* Threads that can run at the same time. */
int cairn_parallel_cores(void);

#endif
