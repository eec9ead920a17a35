/* summary.c - totals over the steps of a run, summary.json, and the tables of what a step reports.
 * Totals of certificates, energy and times are formed entry by entry with these tables, so a new
 * quantity appears in all of them by itself. */
#include "run/run_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "cairn/backend.h"
#include "cairn/generate.h"
#include "cairn/joint.h"
#include "file/file.h"

/* Contacts and bodies are numbered from 0, so -1 means none. */
cairn_run_summary cairn_run_summary_start(const cairn_world *world)
{
    cairn_run_summary s = { .time = cairn_world_time(world),
                            .first_uncertified = -1,
                            .first_energy_made = -1,
                            .distance_body = { -1, -1 },
                            .overlap_body = { -1, -1 } };
    cairn_world_energy(world, &s.energy.kinetic, &s.energy.potential);
    for (int i = 0; i < cairn_world_joint_count(world); i++)
        s.energy.elastic += cairn_world_joint(world, i).elastic;
    s.initial_energy = s.energy.kinetic + s.energy.potential + s.energy.elastic;
    s.worst.judgement.asked.worst_contact = s.worst.judgement.coulomb.worst_contact = -1;
    s.mean.judgement.asked.worst_contact = s.mean.judgement.coulomb.worst_contact = -1;
    return s;
}

cairn_run_inlets cairn_run_inlets_of(const cairn_world *world)
{
    cairn_run_inlets all = { .worst = -1 };
    int64_t most = 0;
    for (int i = 0; i < cairn_world_inlet_count(world); i++) {
        cairn_inlet_state inlet = cairn_world_inlet(world, i);
        all.bodies += inlet.count;
        all.released += inlet.released;
        all.unplaced += inlet.unplaced;
        all.worst = inlet.unplaced > most ? i : all.worst;
        most = inlet.unplaced > most ? inlet.unplaced : most;
    }
    all.later = all.bodies - all.released - all.unplaced;
    return all;
}

/* The larger of two numbers. NaN wins and stays: a step that could not be judged is the worst
 * one. */
static double worse(double a, double b)
{
    return isnan(a) || a >= b ? a : b;
}

/* Remember the contact of the worst residual so far. */
static void keep_worst_contact(cairn_residual *worst, const cairn_residual *residual)
{
    if (worst->worst_contact < 0 || residual->worst > worst->worst)
        worst->worst_contact = residual->worst_contact;
}

static void keep_worst_distance(cairn_run_summary *s, const cairn_step_report *report)
{
    if (report->certificate.distance > s->worst.distance)
        for (int k = 0; k < 2; k++)
            s->distance_body[k] = report->distance_body[k];
}

/* The comparison is written so that a NaN never replaces a number. */
static void keep_deepest(cairn_run_summary *s, const cairn_step_report *report)
{
    s->deep_steps += report->overlap > CAIRN_RUN_DEEP;
    if (!(report->overlap > s->overlap))
        return;
    s->overlap = report->overlap;
    s->overlap_step = s->steps;
    for (int k = 0; k < 2; k++)
        s->overlap_body[k] = report->overlap_body[k];
}

static void add_certificate(cairn_run_summary *s, const cairn_certificate *c)
{
    /* before the loop over the entries, which overwrites the values that are compared */
    keep_worst_contact(&s->worst.judgement.asked, &c->judgement.asked);
    keep_worst_contact(&s->worst.judgement.coulomb, &c->judgement.coulomb);
    for (int i = 0; i < cairn_certificate_entries.count; i++) {
        const cairn_report_entry *entry = &cairn_certificate_entries.items[i];
        double value = cairn_report_entry_get(entry, c);
        cairn_report_entry_set(entry, &s->worst,
                               worse(cairn_report_entry_get(entry, &s->worst), value));
        cairn_report_entry_set(entry, &s->mean, cairn_report_entry_get(entry, &s->mean) + value);
    }
}

/* sum += addend, entry by entry. */
static void add_sums(const cairn_report_entries *entries, const void *addend, void *sum)
{
    for (int i = 0; i < entries->count; i++) {
        const cairn_report_entry *entry = &entries->items[i];
        double total = cairn_report_entry_get(entry, sum) + cairn_report_entry_get(entry, addend);
        cairn_report_entry_set(entry, sum, total);
    }
}

/* A step that follows the last one extends its range, else a new range begins. Ranges beyond
 * CAIRN_RUN_MOST_SPANS are counted but not stored. */
void cairn_run_spans_add(cairn_run_spans *spans, int64_t step)
{
    bool follows = spans->count > 0 && spans->last == step - 1;
    spans->count += !follows;
    spans->last = step;
    if (spans->count > CAIRN_RUN_MOST_SPANS)
        return;
    int64_t *span = spans->span[spans->count - 1];
    span[0] = follows ? span[0] : step;
    span[1] = step;
}

/* Steps are numbered from 1, so the count after the increment is the number of this step. */
void cairn_run_summary_add(cairn_run_summary *s, const cairn_step_report *report)
{
    s->steps++;
    if (!report->solve.converged && s->uncertified++ == 0)
        s->first_uncertified = s->steps;
    if (!report->solve.converged)
        cairn_run_spans_add(&s->missed, s->steps);
    s->repeated += report->attempts > 1;
    if (report->length > 0)
        s->lift_speed = worse(s->lift_speed, report->certificate.dilatation / report->length);
    s->resident += report->resident;
    s->max_candidates =
        report->candidates > s->max_candidates ? report->candidates : s->max_candidates;
    s->max_active = report->active > s->max_active ? report->active : s->max_active;
    s->max_upgraded = report->upgraded > s->max_upgraded ? report->upgraded : s->max_upgraded;
    s->mean_upgraded += report->upgraded;
    s->max_asleep = report->asleep > s->max_asleep ? report->asleep : s->max_asleep;
    s->mean_asleep += report->asleep;
    s->woken += report->woken;
    s->changed += report->changed;
    s->impacts += report->impacts;
    s->impacts_left += report->impacts_left;
    s->impacts_left_steps += report->impacts_left > 0;
    s->impacts_reduced += report->impacts_reduced;
    s->impacts_reduced_steps += report->impacts_reduced > 0;
    if (report->energy_made > 0 && s->energy_made_steps++ == 0)
        s->first_energy_made = s->steps;
    s->energy_made += report->energy_made;
    s->max_impact_rounds =
        report->impact_rounds > s->max_impact_rounds ? report->impact_rounds : s->max_impact_rounds;
    s->mean_candidates += report->candidates;
    s->mean_active += report->active;
    s->mean_iterations += (double)report->solve.iterations;
    if (report->solve.iterations > s->max_iterations)
        s->max_iterations = report->solve.iterations;
    /* Before add_certificate, which updates s->worst. */
    keep_worst_distance(s, report);
    keep_deepest(s, report);
    add_certificate(s, &report->certificate);
    add_sums(&cairn_energy_entries, &report->energy, &s->energy);
    s->energy.kinetic = report->energy.kinetic; /* states, not sums: the last value counts */
    s->energy.potential = report->energy.potential;
    s->energy.elastic = report->energy.elastic;
    s->broken += report->broken;
    add_sums(&cairn_timing_entries, &report->timing, &s->timing);
}

/* A run without steps has sums of 0 and means of 0. */
void cairn_run_summary_finish(cairn_run_summary *s)
{
    double steps = s->steps > 0 ? (double)s->steps : 1;
    s->mean_candidates /= steps;
    s->mean_active /= steps;
    s->mean_upgraded /= steps;
    s->mean_asleep /= steps;
    s->mean_iterations /= steps;
    for (int i = 0; i < cairn_certificate_entries.count; i++) {
        const cairn_report_entry *entry = &cairn_certificate_entries.items[i];
        cairn_report_entry_set(entry, &s->mean, cairn_report_entry_get(entry, &s->mean) / steps);
    }
}

/* ---- summary.json -------------------------------------------------------------------------- */

/* An object with one number for each entry. */
static void write_entries(cairn_json *json, const char *key, const cairn_report_entries *entries,
                          const void *record)
{
    cairn_json_begin(json, key);
    for (int i = 0; i < entries->count; i++)
        cairn_json_real(json, entries->items[i].name,
                        cairn_report_entry_get(&entries->items[i], record));
    cairn_json_end(json);
}

static void write_settings(cairn_json *json, const cairn_scene *scene)
{
    cairn_json_begin(json, "settings");
    cairn_json_integer(json, "dimension", cairn_world_dimension(scene->world));
    cairn_json_text(json, "scheme", scene->step.scheme);
    cairn_json_text(json, "solver", scene->step.solver);
    /* The default back end is not mentioned. */
    if (strcmp(scene->step.backend, cairn_backend_name(0)) != 0)
        cairn_json_text(json, "backend", scene->step.backend);
    cairn_json_real(json, "time_step", scene->step.time_step);
    cairn_json_real(json, "duration", scene->run.duration);
    cairn_json_real(json, "tolerance", scene->step.tolerance);
    cairn_json_end(json);
}

static void write_counts(cairn_json *json, const cairn_run_summary *s)
{
    cairn_json_integer(json, "steps", s->steps);
    cairn_json_real(json, "time", s->time);
    cairn_json_real(json, "wall_seconds", s->wall_seconds);
    cairn_json_integer(json, "bodies", s->bodies);
    cairn_json_integer(json, "frames", s->frames);
    cairn_json_integer(json, "uncertified", s->uncertified);
    cairn_json_integer(json, "first_uncertified", s->first_uncertified);
    int64_t kept = s->missed.count < CAIRN_RUN_MOST_SPANS ? s->missed.count : CAIRN_RUN_MOST_SPANS;
    cairn_json_integer(json, "missed_ranges", s->missed.count);
    cairn_json_pairs(json, "missed", (const int64_t(*)[2])s->missed.span, (int)kept);
    cairn_json_integer(json, "problems", s->problems);
    cairn_json_integer(json, "repeated", s->repeated);
    cairn_json_integer(json, "divided", s->divided);
    cairn_json_integer(json, "substeps", s->substeps);
    cairn_json_integer(json, "finest", s->finest);
    if (s->resident > 0)
        cairn_json_integer(json, "resident", s->resident);
    cairn_json_integer(json, "joints", s->joints);
    cairn_json_integer(json, "broken", s->broken);
    cairn_json_integer(json, "changed", s->changed);
    cairn_json_begin(json, "contacts");
    cairn_json_integer(json, "max_candidates", s->max_candidates);
    cairn_json_real(json, "mean_candidates", s->mean_candidates);
    cairn_json_integer(json, "max_active", s->max_active);
    cairn_json_real(json, "mean_active", s->mean_active);
    cairn_json_integer(json, "max_upgraded", s->max_upgraded);
    cairn_json_real(json, "mean_upgraded", s->mean_upgraded);
    cairn_json_end(json);
    cairn_json_begin(json, "sleep");
    cairn_json_integer(json, "max_asleep", s->max_asleep);
    cairn_json_real(json, "mean_asleep", s->mean_asleep);
    cairn_json_integer(json, "woken", s->woken);
    cairn_json_end(json);
    cairn_json_begin(json, "impacts");
    cairn_json_integer(json, "count", s->impacts);
    cairn_json_integer(json, "max_rounds", s->max_impact_rounds);
    cairn_json_integer(json, "left", s->impacts_left);
    cairn_json_integer(json, "left_steps", s->impacts_left_steps);
    cairn_json_integer(json, "reduced", s->impacts_reduced);
    cairn_json_integer(json, "reduced_steps", s->impacts_reduced_steps);
    cairn_json_end(json);
    cairn_json_begin(json, "energy_made");
    cairn_json_integer(json, "steps", s->energy_made_steps);
    cairn_json_integer(json, "first_step", s->first_energy_made);
    cairn_json_real(json, "sum", s->energy_made);
    cairn_json_end(json);
    cairn_json_begin(json, "iterations");
    cairn_json_integer(json, "max", s->max_iterations);
    cairn_json_real(json, "mean", s->mean_iterations);
    cairn_json_end(json);
}

/* Only of a run with inlets. */
static void write_inlets(cairn_json *json, const cairn_run_inlets *inlets)
{
    if (inlets->bodies == 0)
        return;
    cairn_json_begin(json, "inlets");
    cairn_json_integer(json, "bodies", inlets->bodies);
    cairn_json_integer(json, "released", inlets->released);
    cairn_json_integer(json, "unplaced", inlets->unplaced);
    cairn_json_integer(json, "later", inlets->later);
    cairn_json_end(json);
}

static void write_certificate(cairn_json *json, const cairn_run_summary *s)
{
    cairn_json_begin(json, "certificate");
    write_entries(json, "worst", &cairn_certificate_entries, &s->worst);
    write_entries(json, "mean", &cairn_certificate_entries, &s->mean);
    const int64_t pair[1][2] = { { s->distance_body[0], s->distance_body[1] } };
    /* an empty list if there is no such pair */
    cairn_json_pairs(json, "distance_body", pair, pair[0][0] >= 0);
    const int64_t overlapping[1][2] = { { s->overlap_body[0], s->overlap_body[1] } };
    cairn_json_real(json, "overlap", s->overlap);
    cairn_json_pairs(json, "overlap_body", overlapping, overlapping[0][0] >= 0);
    cairn_json_integer(json, "overlap_step", s->overlap_step);
    cairn_json_integer(json, "deep_steps", s->deep_steps);
    cairn_json_real(json, "lift_speed", s->lift_speed);
    cairn_json_real(json, "lift_height", s->lift_height);
    cairn_json_end(json);
}

/* The events that happened, by their number in the scene. */
static void write_events(cairn_json *json, const cairn_scene *scene)
{
    cairn_json_begin(json, "events");
    for (int i = 0; i < scene->event_count; i++) {
        const cairn_event *event = &scene->events[i];
        char key[24];
        if (event->step < 0)
            continue;
        snprintf(key, sizeof key, "%d", i);
        cairn_json_begin(json, key);
        cairn_json_text(json, "when", cairn_event_record((int)event->kind)->name);
        cairn_json_text(json, "do", cairn_action_name((int)event->action));
        cairn_json_integer(json, "step", event->step);
        cairn_json_real(json, "time", event->time);
        cairn_json_end(json);
    }
    cairn_json_end(json);
}

static void write_timing(cairn_json *json, const cairn_run_summary *s)
{
    cairn_json_begin(json, "timing");
    for (int i = 0; i < cairn_timing_entries.count; i++)
        cairn_json_real(json, cairn_timing_entries.items[i].name,
                        cairn_report_entry_get(&cairn_timing_entries.items[i], &s->timing));
    cairn_json_real(json, "write_seconds", s->write_seconds);
    cairn_json_end(json);
}

/* Only of a run that a launcher of MPI started. */
static void write_ranks(cairn_json *json, const cairn_run_ranks *r)
{
    if (r->ranks == 0)
        return;
    cairn_json_begin(json, "ranks");
    cairn_json_integer(json, "count", r->ranks);
    cairn_json_integer(json, "members", r->members);
    cairn_json_integer(json, "parts", r->parts);
    cairn_json_integer(json, "messages", r->messages);
    cairn_json_integer(json, "bytes", r->bytes);
    cairn_json_real(json, "compute_seconds", r->compute);
    cairn_json_real(json, "most_compute_seconds", r->most_compute);
    cairn_json_real(json, "wait_seconds", r->waiting);
    cairn_json_real(json, "most_wait_seconds", r->most_waiting);
    cairn_json_real(json, "send_seconds", r->sending);
    cairn_json_end(json);
}

/* null if the packing fraction was not requested or could not be measured. */
static void write_packing(cairn_json *json, const cairn_run_summary *s)
{
    if (!s->has_packing) {
        cairn_json_text(json, "packing", NULL);
        return;
    }
    cairn_json_begin(json, "packing");
    cairn_json_real(json, "fraction", s->packing.fraction);
    cairn_json_real(json, "low", s->packing.low);
    cairn_json_real(json, "high", s->packing.high);
    cairn_json_integer(json, "samples", s->packing.samples);
    cairn_json_end(json);
}

/* The unit of the numbers above, by key. */
static void write_units(cairn_json *json)
{
    static const cairn_report_entries *const tables[] = { &cairn_certificate_entries,
                                                          &cairn_energy_entries,
                                                          &cairn_timing_entries };
    static const char *const others[][2] = {
        { "time", "s" },          { "time_step", "s" },
        { "duration", "s" },      { "wall_seconds", "s" },
        { "write_seconds", "s" }, { "initial_energy", "J" },
        { "lift_speed", "m/s" },  { "lift_height", "m" },
        { "low", "m" },           { "high", "m" },
        { "fraction", "1" },      { "tolerance", "1" },
        { "overlap", "1" },       { "largest_displacement", "m" },
    };
    cairn_json_begin(json, "units");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        cairn_json_text(json, others[i][0], others[i][1]);
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (int i = 0; i < tables[t]->count; i++)
            cairn_json_text(json, tables[t]->items[i].name, tables[t]->items[i].unit);
    cairn_json_end(json);
}

static void write_all(cairn_json *json, const cairn_run_summary *s, const cairn_scene *scene,
                      const cairn_run_ending *ending)
{
    char hash[24];
    snprintf(hash, sizeof hash, "%016" PRIx64, s->hash);
    cairn_json_begin(json, NULL);
    cairn_json_text(json, "format", "cairn summary");
    cairn_json_integer(json, "format_version", 1);
    cairn_json_text(json, "version", cairn_version());
    cairn_json_text(json, "title", scene->title);
    cairn_json_text(json, "ending", ending->name);
    cairn_json_text(json, "message", ending->message);
    cairn_json_flag(json, "interrupted", s->interrupted);
    write_settings(json, scene);
    write_counts(json, s);
    write_inlets(json, &s->inlets);
    write_events(json, scene);
    write_certificate(json, s);
    write_entries(json, "energy", &cairn_energy_entries, &s->energy);
    cairn_json_real(json, "initial_energy", s->initial_energy);
    write_timing(json, s);
    write_ranks(json, &s->ranks);
    write_packing(json, s);
    cairn_json_real(json, "largest_displacement", s->displacement);
    cairn_json_text(json, "hash", hash);
    write_units(json);
    cairn_json_end(json);
}

/* Failures of writing show at the commit, which leaves an older file in place. */
cairn_status cairn_run_summary_write(const cairn_run_summary *summary, const cairn_scene *scene,
                                     const cairn_run_ending *ending, const char *folder,
                                     cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    cairn_file file = { 0 };
    TRY(cairn_path_join(folder, "summary.json", path, error));
    TRY(cairn_file_create(path, &file, error));
    cairn_json json = { .out = file.stream };
    write_all(&json, summary, scene, ending);
    return cairn_file_commit(&file, error);
}

/* ---- what a step reports ----------------------------------------------------------------- */

/* The names are those of columns in run.h5 and keys in summary.json: they are part of the file
 * formats. docs/run-format.md explains each quantity. The order is that of the columns and of
 * checkpoints, whose version must change with it. */
static const cairn_report_entry certificate_items[] = {
    { "penetration", "m", offsetof(cairn_certificate, penetration) },
    { "gap_error", "m", offsetof(cairn_certificate, gap_error) },
    { "cone_violation", "N s", offsetof(cairn_certificate, cone_violation) },
    { "friction_direction", "W", offsetof(cairn_certificate, friction_direction) },
    { "complementarity", "J", offsetof(cairn_certificate, complementarity) },
    { "dilatation", "m", offsetof(cairn_certificate, dilatation) },
    { "spurious_work", "J", offsetof(cairn_certificate, spurious_work) },
    { "friction_law", "1", offsetof(cairn_certificate, friction_law) },
    { "joint_drift", "m", offsetof(cairn_certificate, joint_drift) },
    { "joint_turn_drift", "rad", offsetof(cairn_certificate, joint_turn_drift) },
    { "distance", "1", offsetof(cairn_certificate, distance) },
    { "asked_worst", "m/s", offsetof(cairn_certificate, judgement.asked.worst) },
    { "asked_relative", "1", offsetof(cairn_certificate, judgement.asked.relative) },
    { "asked_whole", "1", offsetof(cairn_certificate, judgement.asked.whole) },
    { "asked_fclib", "1", offsetof(cairn_certificate, judgement.asked.fclib) },
    { "coulomb_worst", "m/s", offsetof(cairn_certificate, judgement.coulomb.worst) },
    { "coulomb_relative", "1", offsetof(cairn_certificate, judgement.coulomb.relative) },
    { "coulomb_whole", "1", offsetof(cairn_certificate, judgement.coulomb.whole) },
    { "coulomb_fclib", "1", offsetof(cairn_certificate, judgement.coulomb.fclib) },
    { "judge_cone_violation", "N s", offsetof(cairn_certificate, judgement.cone_violation) },
};

static const cairn_report_entry energy_items[] = {
    { "kinetic", "J", offsetof(cairn_energy, kinetic) },
    { "potential", "J", offsetof(cairn_energy, potential) },
    { "elastic", "J", offsetof(cairn_energy, elastic) },
    { "entered_energy", "J", offsetof(cairn_energy, entered) },
    { "applied_energy", "J", offsetof(cairn_energy, applied) },
    { "load_work", "J", offsetof(cairn_energy, load_work) },
    { "driver_work", "J", offsetof(cairn_energy, driver_work) },
    { "motor_work", "J", offsetof(cairn_energy, motor_work) },
    { "gravity_work", "J", offsetof(cairn_energy, gravity_work) },
    { "correction", "J", offsetof(cairn_energy, correction) },
    { "friction_loss", "J", offsetof(cairn_energy, friction_loss) },
    { "impact_loss", "J", offsetof(cairn_energy, impact_loss) },
    { "damping_loss", "J", offsetof(cairn_energy, damping_loss) },
    { "sleep_loss", "J", offsetof(cairn_energy, sleep_loss) },
    { "numerical_loss", "J", offsetof(cairn_energy, numerical_loss) },
    { "entered_mass", "kg", offsetof(cairn_energy, entered_mass) },
    { "left_mass", "kg", offsetof(cairn_energy, left_mass) },
};

static const cairn_report_entry timing_items[] = {
    { "collide_seconds", "s", offsetof(cairn_timing, collide) },
    { "assemble_seconds", "s", offsetof(cairn_timing, assemble) },
    { "solve_seconds", "s", offsetof(cairn_timing, solve) },
    { "finish_seconds", "s", offsetof(cairn_timing, finish) },
};

const cairn_report_entries cairn_certificate_entries = { certificate_items,
                                                         CAIRN_COUNT(certificate_items) };
const cairn_report_entries cairn_energy_entries = { energy_items, CAIRN_COUNT(energy_items) };
const cairn_report_entries cairn_timing_entries = { timing_items, CAIRN_COUNT(timing_items) };

/* memcpy, because the record is known only by its address and an offset. */
double cairn_report_entry_get(const cairn_report_entry *entry, const void *record)
{
    double value;
    memcpy(&value, (const char *)record + entry->offset, sizeof value);
    return value;
}

void cairn_report_entry_set(const cairn_report_entry *entry, void *record, double value)
{
    memcpy((char *)record + entry->offset, &value, sizeof value);
}
