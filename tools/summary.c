/* summary.c - the table at the end of a run, progress while it lasts, and pictures by gnuplot. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cairn/backend.h"
#include "cairn/output.h"
#include "command.h"

/* Whether an event ended the run. */
static bool ended_by_event(const cairn_scene *scene, const cairn_run_summary *s)
{
    bool found = false;
    for (int i = 0; i < scene->event_count; i++)
        found = found || (scene->events[i].action == CAIRN_ACTION_STOP_RUN &&
                          scene->events[i].step == s->steps);
    return found;
}

/* How a run ended, if it ended early. */
static const char *ending(const cairn_scene *scene, const cairn_run_summary *s)
{
    if (s->interrupted)
        return ", interrupted";
    bool early = s->time < scene->run.duration - 0.5 * scene->step.time_step;
    bool stopped = s->uncertified > 0 && strcmp(scene->run.on_uncertified, "stop") == 0;
    bool event = ended_by_event(scene, s);
    return event ? ", ended by an event" : !early ? "" : stopped ? ", stopped" : ", at rest";
}

/* What happened, and when. */
static void print_events(const cairn_scene *scene)
{
    for (int i = 0; i < scene->event_count; i++) {
        const cairn_event *event = &scene->events[i];
        char body[192] = "";
        if (event->target >= 0)
            cairn_scene_body_label(scene, event->target, body, sizeof body);
        if (event->step >= 0)
            cairn_line_print("event", "%s: %s%s%s at %g s, after step %lld",
                             cairn_event_record((int)event->kind)->name,
                             cairn_action_name((int)event->action), body[0] ? " " : "", body,
                             event->time, (long long)event->step);
    }
}

static void print_totals(const cairn_scene *scene, const cairn_run_summary *s)
{
    cairn_line_print("time", "%g s of %g s%s", s->time, scene->run.duration, ending(scene, s));
    cairn_line_print("steps", "%lld of %g s; %lld repeated with more candidates",
                     (long long)s->steps, scene->step.time_step, (long long)s->repeated);
    if (s->substeps > 0)
        cairn_line_print("divided",
                         "%lld of %lld steps, since bodies moved too far in them, at most into "
                         "%lld; %lld substeps count as steps here",
                         (long long)s->divided, (long long)(s->steps - s->substeps + s->divided),
                         (long long)s->finest, (long long)s->substeps);
    if (strcmp(scene->step.backend, cairn_backend_name(0)) != 0)
        cairn_line_print("back end",
                         "%s: %lld of %lld steps whole, %lld with collision on the host",
                         scene->step.backend, (long long)s->resident, (long long)s->steps,
                         (long long)(s->steps - s->resident));
    cairn_line_print("wall clock", "%.2f s", s->wall_seconds);
    if (s->ranks.ranks > 0)
        cairn_line_print("ranks", "%lld; %lld parts", (long long)s->ranks.ranks,
                         (long long)s->ranks.parts);
    cairn_line_print("bodies", "%lld", (long long)s->bodies);
    if (s->joints + s->broken > 0)
        cairn_line_print("joints", "%lld, %lld broken", (long long)s->joints, (long long)s->broken);
    cairn_line_print("contacts", "%.1f active per step, at most %d", s->mean_active, s->max_active);
    if (s->max_asleep > 0)
        cairn_line_print("asleep", "%.1f bodies on average, at most %d; woken %lld times",
                         s->mean_asleep, s->max_asleep, (long long)s->woken);
    if (s->impacts + s->impacts_left > 0)
        cairn_line_print("impacts",
                         "%lld in order of time, in at most %d rounds per step; %lld left",
                         (long long)s->impacts, s->max_impact_rounds, (long long)s->impacts_left);
    if (s->impacts_reduced > 0)
        cairn_line_print("restitution",
                         "reduced at %lld contacts in %lld steps: it would have made energy",
                         (long long)s->impacts_reduced, (long long)s->impacts_reduced_steps);
    if (s->energy_made_steps > 0)
        cairn_line_print("energy made",
                         "%.3g J by contacts in %lld steps, first in step %lld: they are not "
                         "certified",
                         s->energy_made, (long long)s->energy_made_steps,
                         (long long)s->first_energy_made);
    if (s->max_upgraded > 0)
        cairn_line_print("upgraded", "%.1f per step to exact friction, at most %d",
                         s->mean_upgraded, s->max_upgraded);
    if (s->energy.entered_mass > 0 || s->energy.left_mass > 0)
        cairn_line_print("mass", "%g kg entered, %g kg left", s->energy.entered_mass,
                         s->energy.left_mass);
    if (s->inlets.released < s->inlets.bodies)
        cairn_line_print("inlets",
                         "%lld of %lld bodies came; %lld found no place, %lld are due later",
                         (long long)s->inlets.released, (long long)s->inlets.bodies,
                         (long long)s->inlets.unplaced, (long long)s->inlets.later);
    print_events(scene);
    cairn_line_print("candidates", "%.1f per step, at most %d", s->mean_candidates,
                     s->max_candidates);
    cairn_line_print("iterations", "%.1f per step, at most %lld", s->mean_iterations,
                     (long long)s->max_iterations);
    cairn_line_print("frames stored", "%lld", (long long)s->frames);
}

static void print_share(const char *name, double seconds, double whole)
{
    cairn_line_print(name, "%10.3f s  %5.1f %%", seconds, whole > 0 ? 100 * seconds / whole : 0.0);
}

static void print_timing(const cairn_run_summary *s)
{
    const cairn_timing *t = &s->timing;
    double known = t->collide + t->assemble + t->solve + t->finish + s->write_seconds;
    puts("\nwhere the time went");
    print_share("collide", t->collide, s->wall_seconds);
    print_share("assemble", t->assemble, s->wall_seconds);
    print_share("solve", t->solve, s->wall_seconds);
    print_share("finish", t->finish, s->wall_seconds);
    print_share("write", s->write_seconds, s->wall_seconds);
    print_share("other", fmax(0, s->wall_seconds - known), s->wall_seconds);
}

/* Where the ranks spend their steps. The imbalance is how much longer the slowest one computes than
 * the mean. */
static void print_ranks(const cairn_run_ranks *r)
{
    double all = r->compute + r->sending + r->waiting, members = (double)r->members;
    if (r->members < 2)
        return;
    puts("\nwhere the time of the ranks went, in steps (mean)");
    print_share("compute", r->compute, all);
    print_share("wait for others", r->waiting, all);
    print_share("send", r->sending, all);
    cairn_line_print("imbalance", "%.1f %%: %.3f s compute at most",
                     r->compute > 0 ? 100 * (r->most_compute / r->compute - 1) : 0.0,
                     r->most_compute);
    cairn_line_print("messages", "%.0f of %.3g MB in all by a rank", (double)r->messages / members,
                     (double)r->bytes / members / 1e6);
}

/* The entries of a certificate, in the order of the table. */
static const struct {
    const char *name, *unit;
    size_t offset;
    bool always; /* also if it is 0 throughout: users look for it */
} entries[] = {
    { "penetration", "m", offsetof(cairn_certificate, penetration), true },
    { "gap error", "m", offsetof(cairn_certificate, gap_error), false },
    { "dilatation", "m", offsetof(cairn_certificate, dilatation), false },
    { "spurious work", "J", offsetof(cairn_certificate, spurious_work), false },
    { "cone violation", "N s", offsetof(cairn_certificate, cone_violation), false },
    { "friction direction", "W", offsetof(cairn_certificate, friction_direction), false },
    { "complementarity", "J", offsetof(cairn_certificate, complementarity), false },
    { "joint drift", "m", offsetof(cairn_certificate, joint_drift), false },
    { "joint turn drift", "rad", offsetof(cairn_certificate, joint_turn_drift), false },
    { "distances", "of the size", offsetof(cairn_certificate, distance), false },
    { "residual, chosen law", "relative", offsetof(cairn_certificate, judgement.asked.relative),
      true },
    { "  at one contact", "m/s", offsetof(cairn_certificate, judgement.asked.worst), false },
    { "  norm of all", "relative", offsetof(cairn_certificate, judgement.asked.whole), false },
    { "  as in FCLib", "", offsetof(cairn_certificate, judgement.asked.fclib), false },
    { "residual, Coulomb", "relative", offsetof(cairn_certificate, judgement.coulomb.relative),
      false },
    { "  at one contact", "m/s", offsetof(cairn_certificate, judgement.coulomb.worst), false },
    { "  norm of all", "relative", offsetof(cairn_certificate, judgement.coulomb.whole), false },
    { "  as in FCLib", "", offsetof(cairn_certificate, judgement.coulomb.fclib), false },
};

static double entry_of(const cairn_certificate *certificate, size_t offset)
{
    return *(const double *)((const char *)certificate + offset);
}

/* "'floor' and 12" */
typedef struct pair_text {
    char text[400];
} pair_text;

static pair_text pair_of(const cairn_scene *scene, const int64_t body[2])
{
    char one[192], other[192];
    pair_text pair;
    cairn_scene_body_label(scene, body[0], one, sizeof one);
    cairn_scene_body_label(scene, body[1], other, sizeof other);
    snprintf(pair.text, sizeof pair.text, "%s and %s", one, other);
    return pair;
}

/* The residual in units of velocity: what was found, and what the tolerance allows where gravity
 * alone acts. */
static void print_promise(const cairn_scene *scene, const cairn_run_summary *s)
{
    cairn_vec3 g = cairn_world_gravity(scene->world);
    double fall = scene->step.time_step * hypot(hypot(g.x, g.y), g.z);
    double worst = s->worst.judgement.asked.worst;
    double allowed = cairn_residual_share(scene->step.tolerance) * fall;
    if (fall > 0)
        cairn_line_print("every contact", "wrong by at most %.2g m/s; %.2g m/s is allowed at rest",
                         worst, allowed);
    else
        cairn_line_print("every contact", "wrong by at most %.2g m/s", worst);
}

static void print_certificate(const cairn_scene *scene, const cairn_run_summary *s)
{
    puts("\ncertificate over the steps     worst        mean");
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        double worst = entry_of(&s->worst, entries[i].offset);
        if (worst != 0 || entries[i].always) /* else it is 0 in every step */
            cairn_line_print(entries[i].name, "%12.3e %11.3e  %s", worst,
                             entry_of(&s->mean, entries[i].offset), entries[i].unit);
    }
    print_promise(scene, s);
    if (s->lift_speed > 0)
        cairn_line_print("lift by convex law",
                         "%.3g m/s when sliding begins, to a height of %.2g m", s->lift_speed,
                         s->lift_height);
    if (s->overlap > 0)
        cairn_line_print("deepest overlap", "%.2g %% of the smaller radius, bodies %s, step %lld",
                         100 * s->overlap, pair_of(scene, s->overlap_body).text,
                         (long long)s->overlap_step);
    if (s->distance_body[0] >= 0)
        cairn_line_print("worst distance", "of bodies %s", pair_of(scene, s->distance_body).text);
}

/* A line of the ledger, unless it is 0. */
static void print_energy_line(const char *name, double joule, const char *remark)
{
    if (joule != 0)
        cairn_line_print(name, "%14.6g J%s", joule, remark);
}

/* Energy added or lost by the finite step, with its sign. */
static void print_step_error(double loss)
{
    print_energy_line(loss > 0 ? "- time stepping" : "+ time stepping", fabs(loss),
                      loss > 0
                          ? "  lost by steps of finite length; 0 in the limit of short steps"
                          : "  gained by steps of finite length; 0 in the limit of short steps");
}

/* E_end = E_start + inlets - outlets + applied + loads + drivers + motors + change of gravity
 *         - friction - impacts - damping - falling asleep - time stepping + rounding */
static void print_energy(const cairn_run_summary *s)
{
    const cairn_energy *e = &s->energy;
    double end = e->kinetic + e->potential + e->elastic;
    double ledger = s->initial_energy + e->entered + e->applied + e->load_work + e->driver_work +
                    e->motor_work + e->gravity_work + e->correction - e->friction_loss -
                    e->impact_loss - e->damping_loss - e->sleep_loss - e->numerical_loss;
    puts("\nenergy");
    cairn_line_print("at the start", "%14.6g J", s->initial_energy);
    print_energy_line("+ inlets, - outlets", e->entered, "");
    print_energy_line("+ applied between steps", e->applied, "");
    print_energy_line("+ loads", e->load_work, "");
    print_energy_line("+ drivers", e->driver_work, "");
    print_energy_line("+ motors", e->motor_work, "");
    print_energy_line("+ change of gravity", e->gravity_work, "");
    print_energy_line("+ overlap correction", e->correction, "");
    print_energy_line("- friction", e->friction_loss, "");
    print_energy_line("- impacts", e->impact_loss, "");
    print_energy_line("- damping", e->damping_loss, "");
    print_energy_line("- falling asleep", e->sleep_loss, "");
    print_step_error(e->numerical_loss);
    print_energy_line("+ rounding", end - ledger, "");
    cairn_line_print("= at the end", "%14.6g J  (kinetic %.6g, potential %.6g, elastic %.6g)", end,
                     e->kinetic, e->potential, e->elastic);
}

/* The series for ParaView that were written: a run of boxes has none of balls. */
static void print_series(const char *folder)
{
    static const char *const names[] = { "bodies", "shapes", "contacts", "joints", "walls" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[4096];
        struct stat about;
        snprintf(path, sizeof path, "%s/paraview/%s.pvd", folder, names[i]);
        if (stat(path, &about) == 0)
            printf("  %s\n", path);
    }
    printf("  %s/paraview/view.py  (to see them: cd %s/paraview && paraview --script=view.py)\n",
           folder, folder);
}

static void print_files(const cairn_scene *scene, const cairn_run_summary *s, const char *folder)
{
    puts("\nfiles");
    printf("  %s/run.h5\n  %s/summary.json\n", folder, folder);
    if (scene->run.picture)
        printf("  %s/picture.svg\n", folder);
    if (scene->run.paraview)
        print_series(folder);
    if (s->problems > 0)
        printf("  %s/problems: %lld contact problems\n", folder, (long long)s->problems);
}

void cairn_summary_print(const cairn_scene *scene, const cairn_run_summary *s, const char *folder)
{
    char title[4 * sizeof scene->title];
    cairn_text_escape(scene->title[0] ? scene->title : "run", title, sizeof title);
    printf("%s\n", title);
    print_totals(scene, s);
    print_timing(s);
    print_ranks(&s->ranks);
    print_certificate(scene, s);
    print_energy(s);
    puts("\nfinal state");
    if (s->has_packing)
        cairn_line_print("packing fraction", "%.4f between heights %.4g and %.4g m",
                         s->packing.fraction, s->packing.low, s->packing.high);
    if (s->displaced >= 0) {
        char body[192];
        cairn_scene_body_label(scene, s->displaced, body, sizeof body);
        cairn_line_print("largest displacement", "%.4g m since the start, body %s", s->displacement,
                         body);
    }
    cairn_line_print("hash", "%016llx", (unsigned long long)s->hash);
    print_files(scene, s, folder);
}

/* Independently of the residuals. */
static void warn_of_overlaps(const cairn_scene *scene, const cairn_run_summary *s)
{
    if (s->deep_steps == 0)
        return;
    fprintf(stderr,
            "\nWARNING: in %lld of %lld steps bodies overlap by more than %g %% of the smaller\n"
            "one's radius; by %.2g %% in step %lld, bodies %s. A smaller run.time_step or\n"
            "run.tolerance may help.\n",
            (long long)s->deep_steps, (long long)s->steps, 100 * CAIRN_RUN_DEEP, 100 * s->overlap,
            (long long)s->overlap_step, pair_of(scene, s->overlap_body).text);
}

static void warn_of_misses(const cairn_scene *scene, const cairn_run_summary *s, const char *folder)
{
    char steps[256];
    if (s->uncertified == 0)
        return;
    cairn_spans_text(&s->missed, 8, steps, sizeof steps);
    fprintf(
        stderr,
        "\nWARNING: %lld of %lld steps missed the tolerance %g: %s; the\n"
        "worst relative residual is %.2e. Each kept the best impulses found, either after all "
        "%lld\n"
        "iterations or when further iterations could not have met the tolerance in time; a larger\n"
        "run.max_iterations or a smaller run.time_step may help.\n",
        (long long)s->uncertified, (long long)s->steps, scene->step.tolerance, steps,
        s->worst.judgement.asked.relative, (long long)scene->step.max_iterations);
    if (s->missed_problems == 0)
        return;
    if (s->missed_problems < s->uncertified)
        fprintf(stderr, "The contact problems of the first %lld of them are in %s/problems.\n",
                (long long)s->missed_problems, folder);
    else
        fprintf(stderr, "Their contact problems are in %s/problems.\n", folder);
}

/* An inlet tries a few places in every step; a body that finds none free waits for the next one. */
static void warn_of_inlets(const cairn_scene *scene, const cairn_run_summary *s)
{
    int worst = s->inlets.worst;
    char name[200] = "";
    if (s->inlets.unplaced == 0)
        return;
    bool named = worst < scene->inlet_count && scene->inlet_names[worst][0];
    if (named)
        cairn_text_escape(scene->inlet_names[worst], name, sizeof name);
    else
        snprintf(name, sizeof name, "number %d", worst);
    fprintf(stderr,
            "\nWARNING: %lld of %lld bodies of inlets did not come: they were due and found no\n"
            "free place, most of them at the inlet %s. What came before fills its region: make\n"
            "the region larger, or the velocity higher, or the rate lower.\n",
            (long long)s->inlets.unplaced, (long long)s->inlets.bodies, name);
}

/* Ranks without a part wait for the end of the run. */
static void warn_of_idle_ranks(const cairn_run_ranks *r)
{
    if (r->members >= r->ranks)
        return;
    fprintf(
        stderr,
        "\nWARNING: %lld of %lld ranks had nothing to do: run.parts is %lld, and a rank needs at\n"
        "least one part. The result depends on run.parts, and not on the number of ranks.\n",
        (long long)(r->ranks - r->members), (long long)r->ranks, (long long)r->parts);
}

void cairn_summary_warn(const cairn_scene *scene, const cairn_run_summary *s, const char *folder)
{
    warn_of_misses(scene, s, folder);
    warn_of_overlaps(scene, s);
    warn_of_inlets(scene, s);
    warn_of_idle_ranks(&s->ranks);
}

/* ---- progress -------------------------------------------------------------------------------- */

/* Progress of a run on the terminal, and pictures by gnuplot; see command.h. */

/* ---- progress -------------------------------------------------------------------------------- */

static const double redraw_seconds = 0.1, line_seconds = 10.0;

static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int terminal_columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

cairn_progress_view cairn_progress_start(bool quiet)
{
    double now = clock_seconds();
    return (cairn_progress_view){
        .quiet = quiet, .terminal = isatty(STDERR_FILENO), .started = now, .shown = now
    };
}

void cairn_progress_left(double seconds, char *text, size_t capacity)
{
    if (!(seconds >= 0 && seconds < 1e8)) {
        snprintf(text, capacity, "?");
        return;
    }
    long whole = lround(seconds), hours = whole / 3600, minutes = whole / 60 % 60;
    if (hours > 0)
        snprintf(text, capacity, "%ld:%02ld:%02ld", hours, minutes, whole % 60);
    else
        snprintf(text, capacity, "%ld:%02ld", minutes, whole % 60);
}

/* A moving average of the speed: steps cost more once more bodies touch, so old steps count
 * less. */
static void update_speed(cairn_progress_view *view, double time, double now)
{
    const double memory_seconds = 5.0;
    double passed = now - view->shown;
    if (passed <= 0)
        return;
    double latest = (time - view->reached) / passed, keep = exp(-passed / memory_seconds);
    view->speed = view->speed > 0 ? keep * view->speed + (1 - keep) * latest : latest;
    view->reached = time;
}

/* What few runs have, behind the rest. */
static void add_rare(const cairn_progress *p, char *text, size_t capacity)
{
    size_t length = strlen(text);
    if (p->report->asleep > 0)
        snprintf(text + length, capacity - length, "  asleep %d", p->report->asleep);
    length = strlen(text);
    if (p->divided > 0)
        snprintf(text + length, capacity - length, "  divided %lld", (long long)p->divided);
}

/* Short enough for a terminal of 80 columns. */
static void format_state(const cairn_progress_view *view, const cairn_progress *p, char *text,
                         size_t capacity)
{
    char left[32];
    double rest = view->speed > 0 ? (p->duration - p->time) / view->speed : -1;
    cairn_progress_left(rest, left, sizeof left);
    snprintf(text, capacity,
             "%3.0f%% %s left  t %.4g/%.4g s  step %lld  bodies %lld  contacts %d  res %.1e",
             100 * fmin(1, p->time / p->duration), left, p->time, p->duration, (long long)p->step,
             (long long)p->bodies, p->report->active,
             p->report->certificate.judgement.asked.relative);
    add_rare(p, text, capacity);
}

/* "[######....] state", in one line whatever the width. */
static void redraw(const char *state, double done)
{
    enum { WIDEST = 40 };
    char bar[WIDEST + 1];
    int columns = terminal_columns() - 1, room = columns - (int)strlen(state) - 3;
    int width = room < 0 ? 0 : room > WIDEST ? WIDEST : room;
    int filled = (int)(done * width);
    memset(bar, '.', sizeof bar);
    memset(bar, '#', (size_t)filled);
    bar[width] = '\0';
    fputs("\r\033[K", stderr);
    if (width >= 8)
        fprintf(stderr, "[%s] ", bar);
    fprintf(stderr, "%.*s", columns, state);
    fflush(stderr);
}

static bool is_due(cairn_progress_view *view, double done, double now)
{
    int tenths = (int)floor(10 * done + 1e-9);
    bool passed_mark = tenths > view->tenths;
    view->tenths = tenths;
    if (view->terminal)
        return now - view->shown >= redraw_seconds || done >= 1 - 1e-9;
    return passed_mark || now - view->shown >= line_seconds;
}

bool cairn_progress_due(cairn_progress_view *view, double done)
{
    return !view->quiet && is_due(view, done, clock_seconds());
}

void cairn_progress_print(cairn_progress_view *view, const char *state, double done)
{
    view->shown = clock_seconds();
    if (view->terminal)
        redraw(state, done);
    else
        fprintf(stderr, "%s\n", state);
    view->line_open = view->terminal;
}

void cairn_progress_show(cairn_progress_view *view, const cairn_progress *p)
{
    char state[256];
    double done = fmax(0, fmin(1, p->time / p->duration));
    if (!cairn_progress_due(view, done))
        return;
    update_speed(view, p->time, clock_seconds());
    format_state(view, p, state, sizeof state);
    cairn_progress_print(view, state, done);
}

void cairn_progress_end(cairn_progress_view *view)
{
    if (view->line_open)
        fputs("\n", stderr);
    view->line_open = false;
}

/* ---- pictures by gnuplot --------------------------------------------------------------------- */

enum { BROKEN = 126, NOT_THERE = 127, PATH_BYTES = 4096 };

/* In the child: become gnuplot, or exit with a code that gives the reason. */
static void become_gnuplot(const char *folder, const char *script)
{
    if (chdir(folder) == 0)
        execlp("gnuplot", "gnuplot", script, (char *)NULL);
    _exit(errno == ENOENT ? NOT_THERE : BROKEN);
}

/* The exit code of gnuplot; -1 if it was killed or never started. */
static int run_gnuplot(const char *folder, const char *script)
{
    int how = 0;
    fflush(NULL); /* or the child would print buffered output again */
    pid_t child = fork();
    if (child == 0)
        become_gnuplot(folder, script);
    if (child < 0)
        return -1;
    while (waitpid(child, &how, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

cairn_plot_outcome cairn_plot_draw(const char *folder, const char *script, const char *picture)
{
    char whole[PATH_BYTES], part[PATH_BYTES];
    int length = snprintf(part, sizeof part, "%s/%s.part", folder, picture);
    if (length < 0 || (size_t)length >= sizeof part)
        return PLOT_FAILED;
    snprintf(whole, sizeof whole, "%s/%s", folder, picture);
    remove(part); /* so that no link is followed */
    int code = run_gnuplot(folder, script);
    if (code == 0 && cairn_output_place(part, whole, NULL) == CAIRN_OK)
        return PLOT_DRAWN;
    remove(part);
    return code == NOT_THERE ? PLOT_NO_GNUPLOT : PLOT_FAILED;
}
