/* summary.c - see summary.h. */
#include "summary.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "describe.h"

/* How a run ended, when it did not go its full way. */
static const char *ending(const cairn_scene *scene, const cairn_run_summary *s)
{
    if (s->interrupted)
        return ", interrupted";
    bool early = s->time < scene->run.duration - 0.5 * scene->step.time_step;
    bool stopped = s->uncertified > 0 && strcmp(scene->run.on_uncertified, "stop") == 0;
    return !early ? "" : stopped ? ", stopped" : ", at rest";
}

static void print_totals(const cairn_scene *scene, const cairn_run_summary *s)
{
    cairn_line_print("time", "%g s of %g s%s", s->time, scene->run.duration, ending(scene, s));
    cairn_line_print("steps", "%lld of %g s, %lld solved again with more candidates",
                     (long long)s->steps, scene->step.time_step, (long long)s->repeated);
    cairn_line_print("wall clock", "%.2f s", s->wall_seconds);
    cairn_line_print("bodies", "%lld", (long long)s->bodies);
    if (s->joints + s->broken > 0)
        cairn_line_print("joints", "%lld, %lld broken", (long long)s->joints, (long long)s->broken);
    cairn_line_print("contacts", "%.1f a step pushing, %d at most", s->mean_active, s->max_active);
    if (s->max_asleep > 0)
        cairn_line_print("asleep", "%.1f bodies in a mean step, %d at most; %lld times one woke",
                         s->mean_asleep, s->max_asleep, (long long)s->woken);
    if (s->impacts + s->impacts_left > 0)
        cairn_line_print("impacts", "%lld by their times, in %d rounds a step at most; %lld left",
                         (long long)s->impacts, s->max_impact_rounds, (long long)s->impacts_left);
    if (s->max_upgraded > 0)
        cairn_line_print("upgraded", "%.1f a step to exact friction, %d at most", s->mean_upgraded,
                         s->max_upgraded);
    cairn_line_print("candidates", "%.1f a step, %d at most", s->mean_candidates,
                     s->max_candidates);
    cairn_line_print("iterations", "%.1f a step, %lld at most", s->mean_iterations,
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

/* The entries of a certificate, in the order of the table. */
static const struct {
    const char *name, *unit;
    size_t offset;
    bool always; /* also where it is 0 throughout: the answer is what people look for */
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
    { "residual, law asked", "relative", offsetof(cairn_certificate, judgement.asked.relative),
      true },
    { "  at one contact", "m/s", offsetof(cairn_certificate, judgement.asked.worst), false },
    { "residual, Coulomb", "relative", offsetof(cairn_certificate, judgement.coulomb.relative),
      false },
    { "  at one contact", "m/s", offsetof(cairn_certificate, judgement.coulomb.worst), false },
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

static void print_certificate(const cairn_scene *scene, const cairn_run_summary *s)
{
    puts("\ncertificate over the steps     worst        mean");
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        double worst = entry_of(&s->worst, entries[i].offset);
        if (worst != 0 || entries[i].always) /* else it is 0 in every step */
            cairn_line_print(entries[i].name, "%12.3e %11.3e  %s", worst,
                             entry_of(&s->mean, entries[i].offset), entries[i].unit);
    }
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

/* A line of the ledger, where there is something to tell. */
static void print_energy_line(const char *name, double joule, const char *remark)
{
    if (joule != 0)
        cairn_line_print(name, "%14.6g J%s", joule, remark);
}

/* What the finite step adds or takes: told with the sign that it has. */
static void print_step_error(double loss)
{
    print_energy_line(loss > 0 ? "- time stepping" : "+ time stepping", fabs(loss),
                      loss > 0
                          ? "  lost by steps of finite length: 0 in the limit of short ones"
                          : "  gained by steps of finite length: 0 in the limit of short ones");
}

/* E_end = E_start + inlets + loads + drivers + motors
 *         - friction - impacts - damping - falling asleep - time stepping + rounding */
static void print_energy(const cairn_run_summary *s)
{
    const cairn_energy *e = &s->energy;
    double end = e->kinetic + e->potential + e->elastic;
    double ledger = s->initial_energy + e->entered + e->load_work + e->driver_work + e->motor_work +
                    e->correction - e->friction_loss - e->impact_loss - e->damping_loss -
                    e->sleep_loss - e->numerical_loss;
    puts("\nenergy");
    cairn_line_print("at the start", "%14.6g J", s->initial_energy);
    print_energy_line("+ inlets", e->entered, "");
    print_energy_line("+ loads", e->load_work, "");
    print_energy_line("+ drivers", e->driver_work, "");
    print_energy_line("+ motors", e->motor_work, "");
    print_energy_line("+ overlaps mended", e->correction, "");
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

/* Whatever the residuals say. */
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
    fprintf(stderr,
            "\nWARNING: %lld of %lld steps missed the tolerance %g: %s; the\n"
            "worst relative residual is %.2e. Each ended with the best impulses found, when %lld\n"
            "iterations were used up or more would not have met the tolerance in time; more\n"
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

void cairn_summary_warn(const cairn_scene *scene, const cairn_run_summary *s, const char *folder)
{
    warn_of_misses(scene, s, folder);
    warn_of_overlaps(scene, s);
}
