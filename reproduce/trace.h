/* trace.h - a watch that draws the motion of a Lagrangian system into a series of a study. */
#ifndef CAIRN_REPRODUCE_TRACE_H
#define CAIRN_REPRODUCE_TRACE_H

#include "reproduce/lagrangian_runs.h"
#include "reproduce/study.h"

typedef double cairn_reading(const cairn_lagrange *l);

typedef struct cairn_trace {
    cairn_study *study;
    int series;
    cairn_reading *x, *y;
    int every; /* steps between points; 0: 1 */
    int steps; /* seen */
} cairn_trace;

/* See of cairn_watch, its context a cairn_trace. */
void cairn_trace_see(void *context, const cairn_lagrange *l, const cairn_lagrange_report *report);

/* Readings: time, coordinates, their velocities. */
double cairn_reading_time(const cairn_lagrange *l);
double cairn_reading_q0(const cairn_lagrange *l);
double cairn_reading_q1(const cairn_lagrange *l);
double cairn_reading_q2(const cairn_lagrange *l);
double cairn_reading_v0(const cairn_lagrange *l);
double cairn_reading_v1(const cairn_lagrange *l);
double cairn_reading_v2(const cairn_lagrange *l);

#endif
