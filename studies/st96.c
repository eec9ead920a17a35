/* st96.c - [ST96] section 4: a spinning rod on a table, and four balls. */
#include <math.h>
#include <string.h>

#include "studies/lagrangian_runs.h"
#include "studies/study.h"
#include "studies/worlds.h"

static const char *const rod_data =
    "Not given: the height, y = 1 m, found from the printed first-contact time, and g = 9.81. "
    "Times "
    "are starts of steps; the lever of friction reaches to the surface of the rounded end, which "
    "the printed d leaves out.";

/* ---- the rod --------------------------------------------------------------------------------- */

typedef struct rod_frames {
    cairn_study *study;
    int series, every, steps;
} rod_frames;

static void see_frames(void *context, const cairn_lagrange *l, const cairn_lagrange_report *report)
{
    rod_frames *frames = context;
    const double *q = cairn_lagrange_position(l);
    (void)report;
    if (frames->steps++ % frames->every)
        return;
    for (int e = -1; e <= 1; e += 2)
        cairn_study_point(frames->study, frames->series, q[0] + e * 0.25 * cos(q[2]),
                          q[1] + e * 0.25 * sin(q[2]), 0);
    cairn_study_break(frames->study, frames->series);
}

static cairn_status fig_2(cairn_study *study)
{
    cairn_rod_run run;
    cairn_study_note(study, rod_data);
    cairn_study_figure(study, &(cairn_figure){ .name = "frames",
                                               .title = "Falling and spinning rod, h = 0.0025",
                                               .x_label = "x (m)",
                                               .y_label = "y (m)",
                                               .equal = true });
    int series = cairn_study_series(study, CAIRN_SERIES_LINE, "its axis every 0.04 s");
    rod_frames frames = { study, series, 16, 0 };
    TRY(cairn_rod_drop(0.0025, 100, &(cairn_lagrange_watch){ see_frames, &frames }, &run));
    cairn_study_values row = { 0.383, 0.3825, run.start[0], 2e-3, 1e-9, "printed to three digits" };
    cairn_study_row(study, &row, "first contact (s)");
    row =
        (cairn_study_values){ 0.548, 0.5475, run.start[1], 2e-3, 1e-9, "printed to three digits" };
    cairn_study_row(study, &row, "the other end hits the table (s)");
    row = (cairn_study_values){ 0.02, 0.02, run.stop - run.start[1], 1e-9, 1e-9, NULL };
    cairn_study_row(study, &row, "then it slides for (s)");
    row = (cairn_study_values){ .reference = pi, .ours = run.q[2], .within = 1e-12 };
    cairn_study_row(study, &row, "angle at rest (rad)");
    row = (cairn_study_values){ .reference = 0.05, .ours = run.q[1], .within = 1e-12 };
    cairn_study_row(study, &row, "height of its centre at rest (m)");
    row = (cairn_study_values){ .reference = 9.81, .ours = run.push, .within = 1e-9 };
    cairn_study_row(study, &row, "sum of normal impulses, m g T (N s)");
    row = (cairn_study_values){ .ours = run.penetration };
    cairn_study_claim(study, run.penetration < 1e-14, &row, "no interpenetration (m)");
    return CAIRN_OK;
}

/* n'M^-1 (n - mu t) of the lower end while its tip slides along t: < 0 means the paradox. */
static double paradox(double angle)
{
    double n = 0.25 * fabs(cos(angle)), lever = 0.25 * sin(angle) + 0.05;
    return 1 + n / 0.002 * (n - 0.6 * lever);
}

static const double rod_steps[] = { 0.01, 0.005, 0.0025, 0.001 };

enum { ROD_STEPS = sizeof rod_steps / sizeof rod_steps[0] };

static cairn_status draw_rod(cairn_study *study, const cairn_figure *figure, cairn_reading *y)
{
    cairn_study_figure(study, figure);
    for (int i = 0; i < ROD_STEPS; i++) {
        int series = cairn_study_series(study, CAIRN_SERIES_LINE, "h = %g", rod_steps[i]);
        cairn_trace trace = { study, series, cairn_reading_time, y, 0, 0 };
        cairn_rod_run run;
        TRY(cairn_rod_drop(rod_steps[i], 100, &(cairn_lagrange_watch){ cairn_trace_see, &trace },
                           &run));
    }
    return CAIRN_OK;
}

static cairn_status rod_numbers(cairn_study *study)
{
    static const double end[] = { -0.2397943822, -0.2338793841, -0.2307863285, -0.2284999268 };
    static const double spin[] = { 8.4738296653, 8.4205346779, 8.5164976023, 8.5112659817 };
    for (int i = 0; i < ROD_STEPS; i++) {
        cairn_rod_run run;
        TRY(cairn_rod_drop(rod_steps[i], 100, NULL, &run));
        cairn_study_values row = { .reference = end[i], .ours = run.q[0], .within = 1e-6 };
        cairn_study_row(study, &row, "h = %g s: final x (m)", rod_steps[i]);
        row = (cairn_study_values){ .reference = spin[i], .ours = run.spin, .within = 1e-7 };
        cairn_study_row(study, &row, "h = %g s: largest angular velocity (rad/s)", rod_steps[i]);
        if (rod_steps[i] != 0.0025)
            continue;
        /* until then it rotates freely */
        row = (cairn_study_values){ .reference = -1.71529,
                                    .ours = paradox(pi / 6 + 4 * run.start[0]),
                                    .within = 1e-5 };
        cairn_study_row(study, &row,
                        "n'M^-1 (n - mu t) before the first contact: < 0, the paradox");
    }
    return CAIRN_OK;
}

static cairn_status fig_3_4_5(cairn_study *study)
{
    cairn_figure figure = { .x_label = "time (s)" };
    cairn_study_note(study, rod_data);
    figure.name = "vertical", figure.title = "Vertical velocity of the rod";
    figure.y_label = "v_y (m/s)";
    TRY(draw_rod(study, &figure, cairn_reading_v1));
    figure.name = "angular", figure.title = "Angular velocity of the rod";
    figure.y_label = "angular velocity (rad/s)";
    TRY(draw_rod(study, &figure, cairn_reading_v2));
    figure.name = "horizontal", figure.title = "Horizontal velocity of the rod";
    figure.y_label = "v_x (m/s)";
    TRY(draw_rod(study, &figure, cairn_reading_v0));
    return rod_numbers(study);
}

/* ---- four balls ------------------------------------------------------------------------------ */

static void draw_ball_paths(cairn_study *study, const cairn_throw *t, int axis)
{
    for (int i = 0; i < BALLS; i++) {
        int path = cairn_study_series(study, CAIRN_SERIES_LINE, i ? "ball %d" : "thrown ball", i);
        for (int k = 0; k <= t->steps; k += 2)
            cairn_study_point(study, path, t->q[k][6 * i], t->q[k][6 * i + axis], 0);
    }
    int balls = cairn_study_series(study, CAIRN_SERIES_DISKS, "at t = 1 s");
    for (int i = 0; i < BALLS; i++)
        cairn_study_point(study, balls, t->q[t->steps][6 * i], t->q[t->steps][6 * i + axis], 0.1);
}

static void ball_positions(cairn_study *study, const cairn_throw *t)
{
    static const double x[BALLS][2] = { { 0.90170663, 0.1607198 },
                                        { 1.05132737, -0.01265437 },
                                        { 1.25776456, -0.0159823 },
                                        { 1.461883, 0.00288388 } };
    for (int i = 0; i < BALLS; i++)
        for (int c = 0; c < 2; c++) {
            cairn_study_values row = { .reference = x[i][c],
                                       .ours = t->q[t->steps][6 * i + c],
                                       .within = c ? 1e-4 : 1e-7 };
            cairn_study_row(study, &row, "ball %d at t = 1 s: %c (m)", i, "xy"[c]);
        }
}

static void ball_events(cairn_study *study, const cairn_throw *t)
{
    cairn_study_values row = { 0.42, 0.425, t->table,
                               0.02, 1e-9,  "printed as about 0.42; exactly 0.4284" };
    cairn_study_row(study, &row, "the ball hits the table (s)");
    row = (cairn_study_values){ 0.59, 0.58, t->collision, 0.02, 1e-9, "printed as about 0.59" };
    cairn_study_row(study, &row, "it hits the row of balls (s)");
    row = (cairn_study_values){ 70, 0, 10.0 * t->candidates, 1e-9, 0, NULL };
    cairn_study_row(study, &row, "largest LCP: 10 unknowns for each of 7 contacts");
    const double *v = t->v[t->steps / 2];
    row = (cairn_study_values){ .reference = 7.5 / 7, .ours = v[0], .within = 1e-9 };
    cairn_study_row(study, &row, "rolling after it has landed: v_x = 5/7 of 1.5 (m/s)");
    double lift = 0;
    for (int k = 0; k <= t->steps; k++)
        if (k > 0.585 * t->steps)
            lift = fmax(lift, t->q[k][2] - 0.1);
    row = (cairn_study_values){ .ours = lift };
    cairn_study_claim(study, lift > 0, &row, "friction lifts the thrown ball at the collision (m)");
}

static const char *const balls_data =
    "g = 9.81, 8 edges with t1 = n x z, contacts linearised until they settle. Variation is the "
    "largest total variation of a component of v; positions include the integrated angles: these "
    "readings of the text fit the table.";

static cairn_status fig_7_8(cairn_study *study)
{
    cairn_throw *t = cairn_block_take(1, sizeof *t);
    if (!t)
        return CAIRN_NO_MEMORY;
    cairn_status status = cairn_balls_throw(200, t);
    cairn_study_note(study, balls_data);
    if (status == CAIRN_OK) {
        cairn_figure figure = { .name = "elevation",
                                .title = "Elevation view of balls, h = 0.005",
                                .x_label = "x (m)",
                                .y_label = "z (m)",
                                .equal = true,
                                .y_low = 0,
                                .y_high = 1.1 };
        cairn_study_figure(study, &figure);
        draw_ball_paths(study, t, 2);
        figure.name = "plan", figure.title = "Plan view of balls, h = 0.005";
        figure.y_label = "y (m)", figure.y_low = -0.3, figure.y_high = 0.5;
        cairn_study_figure(study, &figure);
        draw_ball_paths(study, t, 1);
        ball_events(study, t);
        ball_positions(study, t);
    }
    cairn_block_free(t);
    return status;
}

typedef struct ball_row {
    int steps;
    double published[3], reference[3], within; /* variation, velocity error, position error */
} ball_row;

static const ball_row ball_rows[] = {
    { 50, { 19.4046, 0.5050, 0.2505 }, { 19.4110, 0.4957, 0.2509 }, 0.10 },
    { 100, { 19.1728, 0.3523, 0.2015 }, { 19.1754, 0.3507, 0.2008 }, 0.10 },
    { 200, { 19.1702, 0.1657, 0.0838 }, { 19.1698, 0.1649, 0.0831 }, 0.10 },
    { 400, { 19.0862, 0.0700, 0.0298 }, { 19.0870, 0.0650, 0.0331 }, 0.15 },
};

static void ball_table_row(cairn_study *study, const ball_row *r, const double ours[3])
{
    static const char *const names[3] = { "variation of v", "velocity error", "position error" };
    for (int i = 0; i < 3; i++) {
        cairn_study_values row = { .published = r->published[i],
                                   .reference = r->reference[i],
                                   .ours = ours[i],
                                   .within = i ? r->within : 5e-4,
                                   .within_reference = i ? 2e-3 : 1e-5 };
        row.why = i ? "differences of two runs: they amplify details of the 1996 program" : "";
        cairn_study_row(study, &row, "h = %g s: %s", 1.0 / r->steps, names[i]);
    }
}

/* Series: errors in velocity and position, ours and published. */
static cairn_status ball_table(cairn_study *study, cairn_throw t[2])
{
    cairn_study_figure(study, &(cairn_figure){ .name = "errors",
                                               .title = "Errors against h = 0.00125",
                                               .x_label = "time step h (s)",
                                               .y_label = "error",
                                               .log_x = true,
                                               .log_y = true });
    int ours[2] = { cairn_study_series(study, CAIRN_SERIES_LINE, "velocity"),
                    cairn_study_series(study, CAIRN_SERIES_DASHED, "position") };
    int paper = cairn_study_series(study, CAIRN_SERIES_PUBLISHED, "Table 1");
    TRY(cairn_balls_throw(800, &t[0]));
    for (size_t i = 0; i < sizeof ball_rows / sizeof ball_rows[0]; i++) {
        const ball_row *r = &ball_rows[i];
        double found[3];
        TRY(cairn_balls_throw(r->steps, &t[1]));
        found[0] = cairn_throw_variation(&t[1]);
        cairn_throw_compare(&t[1], &t[0], &found[1], &found[2]);
        ball_table_row(study, r, found);
        for (int k = 0; k < 2; k++) {
            cairn_study_point(study, ours[k], 1.0 / r->steps, found[1 + k], 0);
            cairn_study_point(study, paper, 1.0 / r->steps, r->published[1 + k], 0);
        }
    }
    cairn_study_values row = { 19.0690, 19.0698, cairn_throw_variation(&t[0]), 5e-4, 1e-5, NULL };
    cairn_study_row(study, &row, "h = 0.00125 s: variation of v");
    return CAIRN_OK;
}

static cairn_status table_1(cairn_study *study)
{
    cairn_throw *t = cairn_block_take(2, sizeof *t);
    cairn_study_note(study, balls_data);
    cairn_status status = t ? ball_table(study, t) : CAIRN_NO_MEMORY;
    cairn_block_free(t);
    return status;
}

const cairn_study_entry cairn_entries_st96[] = {
    { "st96-fig-2", "[ST96]", "Fig. 2", "the falling rod: frames and events", CAIRN_QUICK, 1,
      fig_2 },
    { "st96-fig-3-5", "[ST96]", "Figs 3, 4, 5", "velocities of the rod for four time steps",
      CAIRN_QUICK, 1, fig_3_4_5 },
    { "st96-fig-7-8", "[ST96]", "Figs 6, 7, 8", "four balls: paths and impulses", CAIRN_QUICK, 1,
      fig_7_8 },
    { "st96-table-1", "[ST96]", "Table 1", "errors and variations of the four balls", CAIRN_QUICK,
      1, table_1 },
};
const int cairn_entries_st96_count = sizeof cairn_entries_st96 / sizeof cairn_entries_st96[0];
