/* trace.c - see trace.h. */
#include "reproduce/trace.h"

void cairn_trace_see(void *context, const cairn_lagrange *l, const cairn_lagrange_report *report)
{
    cairn_trace *trace = context;
    (void)report;
    if (trace->every < 2 || trace->steps % trace->every == 0)
        cairn_study_point(trace->study, trace->series, trace->x(l), trace->y(l), 0);
    trace->steps++;
}

double cairn_reading_time(const cairn_lagrange *l)
{
    return cairn_lagrange_time(l);
}

double cairn_reading_q0(const cairn_lagrange *l)
{
    return cairn_lagrange_position(l)[0];
}

double cairn_reading_q1(const cairn_lagrange *l)
{
    return cairn_lagrange_position(l)[1];
}

double cairn_reading_q2(const cairn_lagrange *l)
{
    return cairn_lagrange_position(l)[2];
}

double cairn_reading_v0(const cairn_lagrange *l)
{
    return cairn_lagrange_velocity(l)[0];
}

double cairn_reading_v1(const cairn_lagrange *l)
{
    return cairn_lagrange_velocity(l)[1];
}

double cairn_reading_v2(const cairn_lagrange *l)
{
    return cairn_lagrange_velocity(l)[2];
}
