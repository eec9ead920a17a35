/* clock.h - wall-clock time for reports; nothing that is computed depends on it. */
#ifndef CAIRN_BASE_CLOCK_H
#define CAIRN_BASE_CLOCK_H

/* Seconds since some moment in the past. */
double cairn_clock_seconds(void);

#endif
