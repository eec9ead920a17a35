/* explain.c - one page about a run: what was slow, where accuracy was lost, which contacts did not
 * converge, and what to change.
 *
 * Everything is derived from run.h5, so runs can be explained long after they ended and on another
 * machine. Advice comes from a table of rules; each rule is a function that contains its own
 * limit. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "cairn/study.h"
#include "file/file.h"
#include "file/hdf5.h"
#include "run/run_file.h"

/* Columns of /steps, one number a step; NULL: the run did not store this column. */
typedef struct columns {
    const double *candidates, *attempts, *iterations, *converged, *asked_relative, *asked_worst,
        *asked_whole, *asked_fclib, *coulomb_relative, *penetration, *dilatation, *numerical_loss,
        *correction, *kinetic, *collide_seconds, *assemble_seconds, *solve_seconds, *finish_seconds,
        *asked_worst_contact, *impacts_reduced, *energy_made, *time_step;
} columns;

/* Where each column of the file goes. All are optional: which ones a file has depends on
 * `certificate` and on the version that wrote it. */
static const struct {
    const char *name;
    size_t offset;
} wanted[] = {
    { "candidates", offsetof(columns, candidates) },
    { "attempts", offsetof(columns, attempts) },
    { "iterations", offsetof(columns, iterations) },
    { "converged", offsetof(columns, converged) },
    { "asked_relative", offsetof(columns, asked_relative) },
    { "asked_worst", offsetof(columns, asked_worst) },
    { "asked_whole", offsetof(columns, asked_whole) },
    { "asked_fclib", offsetof(columns, asked_fclib) },
    { "coulomb_relative", offsetof(columns, coulomb_relative) },
    { "penetration", offsetof(columns, penetration) },
    { "dilatation", offsetof(columns, dilatation) },
    { "numerical_loss", offsetof(columns, numerical_loss) },
    { "correction", offsetof(columns, correction) },
    { "kinetic", offsetof(columns, kinetic) },
    { "collide_seconds", offsetof(columns, collide_seconds) },
    { "assemble_seconds", offsetof(columns, assemble_seconds) },
    { "solve_seconds", offsetof(columns, solve_seconds) },
    { "finish_seconds", offsetof(columns, finish_seconds) },
    { "asked_worst_contact", offsetof(columns, asked_worst_contact) },
    { "impacts_reduced", offsetof(columns, impacts_reduced) },
    { "energy_made", offsetof(columns, energy_made) },
    { "time_step", offsetof(columns, time_step) },
};

/* The quantities that the rules use. */
typedef struct facts {
    cairn_run_info info;
    double max_iterations; /* run.max_iterations                                   */
    double gravity;        /* m/s^2                                                */
    double margin;         /* m: run.margin; 0: as much as a step can need */
    double arcs;           /* run.arcs; older files lack it                */
    columns c;
    int steps;                /* complete rows: the length of the shortest column */
    double seconds[4], total; /* s: collide, assemble, solve, finish; their sum */
    /* the attribute `ranks`: members (0: one process); s: compute, wait, send, most compute;
     * messages and bytes of all */
    double ranks[7];
    double inlets[4];        /* the attribute `inlets`: bodies, released, unplaced, later */
    double repeated, missed; /* steps                                               */
    double divided, substeps, finest; /* steps; their substeps; most of one length  */
    double exhausted;        /* missed steps that used all iterations: more might have helped */
    double reduced, reduced_contacts; /* steps with reduced restitution, and its contacts */
    int first_reduced;                /* the first of these steps, from 1                 */
    double making, made; /* steps in which contacts made energy; J: in all of them, ... */
    double most_made;    /* ... and at most in one                                      */
    int most_making;     /* that step, from 1                                           */
    double mean_iterations;
    /* m: length scale of the smallest dynamic body: the radius of a sphere, or half the edge of a
     * cube (2D: square) of the same volume; 0: none */
    double size;
    double mass; /* kg: of all dynamic bodies                                         */
    /* J: sums of numerical_loss and correction; largest kinetic energy */
    double numerical, correction, energy;
} facts;

/* Index of the largest entry; -1: there is none, or the column is not stored. */
static int worst_of(const double *column, int steps)
{
    int worst = -1;
    for (int i = 0; column && i < steps; i++)
        if (worst < 0 || column[i] > column[worst])
            worst = i;
    return worst;
}

/* Whether an energy is larger than what tolerance and rounding produce in a scene at rest. The
 * limit is a millionth of m g r, the energy that lifts all bodies by the smallest radius. The
 * kinetic energy of a scene at rest is itself of that order, so a share of it would say nothing. */
static bool matters(const facts *f, double energy)
{
    return fabs(energy) > 1e-6 * f->mass * f->gravity * f->size;
}

/* An entry of a column, or 0 if the column is not stored or there is no such step. */
static double at(const double *column, int i)
{
    return column && i >= 0 ? column[i] : 0;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Columns of a damaged or foreign file may differ in length; only rows that all of them have are
 * used. */
static cairn_status read_columns(hid_t group, cairn_arena *arena, facts *f, cairn_error *error)
{
    f->steps = (int)f->info.steps;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        cairn_hdf5_numbers numbers;
        if (!cairn_hdf5_has(group, wanted[i].name))
            continue;
        TRY(cairn_hdf5_read(group, wanted[i].name, CAIRN_HDF5_REAL, arena, &numbers, error));
        f->steps = numbers.count < f->steps ? numbers.count : f->steps;
        memcpy((char *)&f->c + wanted[i].offset, &numbers.data, sizeof numbers.data);
    }
    return CAIRN_OK;
}

/* Bodies without mass, such as walls, are left out. Bodies without a radius are measured by their
 * volume. */
static cairn_status read_size(hid_t file, cairn_arena *arena, facts *f, cairn_error *error)
{
    hid_t group;
    cairn_hdf5_numbers radius = { NULL, 0 }, mass = { NULL, 0 }, volume = { NULL, 0 };
    double dimension = 3;
    cairn_hdf5_read_real_attribute(file, "dimension", &dimension);
    TRY(cairn_hdf5_open_group(file, "bodies", &group, error));
    cairn_status status = cairn_hdf5_read(group, "radius", CAIRN_HDF5_REAL, arena, &radius, error);
    if (status == CAIRN_OK)
        status = cairn_hdf5_read(group, "mass", CAIRN_HDF5_REAL, arena, &mass, error);
    if (status == CAIRN_OK)
        status = cairn_hdf5_read(group, "volume", CAIRN_HDF5_REAL, arena, &volume, error);
    H5Gclose(group);
    for (int i = 0; status == CAIRN_OK && i < radius.count && i < mass.count; i++) {
        double r = ((const double *)radius.data)[i];
        if (!(r > 0) && i < volume.count)
            r = 0.5 * pow(((const double *)volume.data)[i], 1 / dimension);
        double m = ((const double *)mass.data)[i];
        if (r > 0 && m > 0) {
            f->size = f->size > 0 ? fmin(f->size, r) : r;
            f->mass += m;
        }
    }
    return status;
}

static void count_reduced(facts *f, int i)
{
    double contacts = at(f->c.impacts_reduced, i);
    if (!(contacts > 0))
        return;
    f->first_reduced = f->reduced > 0 ? f->first_reduced : i + 1;
    f->reduced += 1;
    f->reduced_contacts += contacts;
}

/* Substeps are powers of 2 of the time step, so their shares add up to whole steps. */
static void add_length(facts *f, int i)
{
    double length = at(f->c.time_step, i), whole = f->info.time_step;
    if (!(length > 0 && length < whole))
        return;
    f->substeps++;
    f->divided += length / whole;
    f->finest = fmax(f->finest, whole / length);
}

static void count_made(facts *f, int i)
{
    double made = at(f->c.energy_made, i);
    f->making += made > 0;
    f->made += made;
    if (made > f->most_made) {
        f->most_made = made;
        f->most_making = i + 1;
    }
}

/* Totals over all steps. A column that is not stored contributes 0, so its rules do not apply. */
static void sum_up(facts *f)
{
    const double *const parts[4] = { f->c.collide_seconds, f->c.assemble_seconds,
                                     f->c.solve_seconds, f->c.finish_seconds };
    for (int i = 0; i < f->steps; i++) {
        for (int k = 0; k < 4; k++)
            f->seconds[k] += at(parts[k], i);
        bool missed = f->c.converged && f->c.converged[i] == 0;
        f->missed += missed;
        count_reduced(f, i);
        count_made(f, i);
        f->exhausted += missed && at(f->c.iterations, i) >= f->max_iterations;
        f->repeated += at(f->c.attempts, i) > 1;
        add_length(f, i);
        f->mean_iterations += at(f->c.iterations, i) / f->steps;
        f->numerical += at(f->c.numerical_loss, i);
        f->correction += at(f->c.correction, i);
        f->energy = fmax(f->energy, at(f->c.kinetic, i));
    }
    for (int k = 0; k < 4; k++)
        f->total += f->seconds[k];
}

enum { BODIES, RELEASED, UNPLACED, LATER };

/* Settings that the file lacks stay 0; the rules treat 0 as unknown. */
static cairn_status read_facts(hid_t file, cairn_arena *arena, facts *f, cairn_error *error)
{
    hid_t group;
    double g[3] = { 0, 0, 0 };
    cairn_hdf5_read_real_attribute(file, "max_iterations", &f->max_iterations);
    if (cairn_hdf5_read_reals_attribute(file, "gravity", 3, g))
        f->gravity = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    cairn_hdf5_read_real_attribute(file, "margin", &f->margin);
    if (!cairn_hdf5_read_real_attribute(file, "arcs", &f->arcs))
        f->arcs = 1;
    if (!cairn_hdf5_read_reals_attribute(file, "ranks", 7, f->ranks))
        f->ranks[0] = 0;
    if (!cairn_hdf5_read_reals_attribute(file, "inlets", 4, f->inlets))
        f->inlets[BODIES] = f->inlets[RELEASED] = f->inlets[UNPLACED] = f->inlets[LATER] = 0;
    TRY(cairn_hdf5_open_group(file, "steps", &group, error));
    cairn_status status = read_columns(group, arena, f, error);
    H5Gclose(group);
    TRY(status);
    TRY(read_size(file, arena, f, error));
    sum_up(f);
    return CAIRN_OK;
}

/* ---- what happened -------------------------------------------------------------------------- */

/* Steps are printed as numbers from 1, as in the column `step`. */
static void tell_time(const facts *f, FILE *out)
{
    static const char *const names[4] = { "collision", "assembly", "solving", "the rest" };
    int slow = worst_of(f->c.solve_seconds, f->steps);
    fprintf(out, "\nwhere the time went\n");
    for (int k = 0; k < 4; k++)
        fprintf(out, "  %-20s %.3g s, %.0f %%\n", names[k], f->seconds[k],
                f->total > 0 ? 100 * f->seconds[k] / f->total : 0);
    fprintf(out, "  %-20s %.1f on average\n", "iterations", f->mean_iterations);
    if (f->substeps > 0)
        fprintf(out, "  %-20s %.0f of %.0f steps, at most into %.0f: bodies moved too far\n",
                "divided", ceil(f->divided), ceil(f->steps - f->substeps + f->divided), f->finest);
    if (slow >= 0)
        fprintf(out, "  %-20s %d: %.3g s to solve, %.0f iterations, %.0f candidates\n",
                "slowest step", slow + 1, f->c.solve_seconds[slow], at(f->c.iterations, slow),
                at(f->c.candidates, slow));
}

enum { MEMBERS, COMPUTE, WAIT, SEND, MOST_COMPUTE, MESSAGES, BYTES };

/* How much longer the slowest rank computes than the mean. */
static double imbalance(const facts *f)
{
    const double *r = f->ranks;
    return r[COMPUTE] > 0 ? r[MOST_COMPUTE] / r[COMPUTE] - 1 : 0;
}

/* Means over the ranks, in steps. */
static void tell_ranks(const facts *f, FILE *out)
{
    static const char *const names[] = { "compute", "wait for others", "send" };
    const double *r = f->ranks;
    double all = r[COMPUTE] + r[WAIT] + r[SEND];
    if (r[MEMBERS] < 2)
        return;
    fprintf(out, "\nwhere the time of the %.0f ranks went (mean)\n", r[MEMBERS]);
    for (int k = 0; k < 3; k++)
        fprintf(out, "  %-20s %.3g s, %.0f %%\n", names[k], r[COMPUTE + k],
                all > 0 ? 100 * r[COMPUTE + k] / all : 0);
    fprintf(out, "  %-20s %.1f %%: %.3g s compute at most\n", "imbalance", 100 * imbalance(f),
            r[MOST_COMPUTE]);
    fprintf(out, "  %-20s %.0f of %.3g MB in all by a rank\n", "messages", r[MESSAGES] / r[MEMBERS],
            r[BYTES] / r[MEMBERS] / 1e6);
}

/* Where inlets have not brought all bodies. */
static void tell_inlets(const facts *f, FILE *out)
{
    static const char *const names[] = { "came", "found no free place", "due later" };
    if (!(f->inlets[RELEASED] < f->inlets[BODIES]))
        return;
    fprintf(out, "\nthe %.0f bodies of inlets\n", f->inlets[BODIES]);
    for (int k = 0; k < 3; k++)
        fprintf(out, "  %-20s %.0f\n", names[k], f->inlets[RELEASED + k]);
}

static void tell_worst(const facts *f, FILE *out, const char *name, const double *column,
                       const char *unit)
{
    int worst = worst_of(column, f->steps);
    if (worst >= 0)
        fprintf(out, "  %-20s %.2e%s%s at worst, in step %d\n", name, column[worst],
                unit[0] ? " " : "", unit, worst + 1);
}

/* What the tolerance promises, in m/s; files of older versions have only the norm. */
static void tell_promise(const facts *f, FILE *out)
{
    double share = cairn_residual_share(f->info.tolerance);
    if (!f->c.asked_whole)
        return;
    fprintf(out, "  %-20s %.2g m/s where gravity alone acts, %.3g %% of what a contact removes\n",
            "tolerance allows", share * f->info.time_step * f->gravity, 100 * share);
}

static void tell_accuracy(const facts *f, FILE *out)
{
    fprintf(out, "\nwhere accuracy was lost\n");
    fprintf(out, "  %-20s %.0f of %d steps\n", "missed tolerance", f->missed, f->steps);
    tell_promise(f, out);
    tell_worst(f, out, "residual", f->c.asked_relative, "");
    tell_worst(f, out, "  at one contact", f->c.asked_worst, "m/s");
    tell_worst(f, out, "  norm of all", f->c.asked_whole, "");
    tell_worst(f, out, "  as in FCLib", f->c.asked_fclib, "");
    tell_worst(f, out, "of exact friction", f->c.coulomb_relative, "");
    tell_worst(f, out, "penetration", f->c.penetration, "m");
    tell_worst(f, out, "gap while sliding", f->c.dilatation, "m");
    char loss[64] = "next to nothing";
    if (matters(f, f->numerical))
        snprintf(loss, sizeof loss, "%.3g J by the time stepping", f->numerical);
    fprintf(out, "  %-20s %s, largest kinetic energy %.3g J\n", "energy lost", loss, f->energy);
}

/* ---- contacts that did not settle ----------------------------------------------------------- */

/* The names of bodies in the scene, as stored in the file. */
typedef struct names {
    cairn_hdf5_numbers row; /* in /bodies */
    cairn_hdf5_text_list name;
} names;

static cairn_status read_names(hid_t file, cairn_arena *arena, names *out, cairn_error *error)
{
    hid_t group;
    *out = (names){ .row = { NULL, 0 } };
    if (!cairn_hdf5_has(file, "names"))
        return CAIRN_OK;
    TRY(cairn_hdf5_open_group(file, "names", &group, error));
    cairn_status status = cairn_hdf5_read(group, "body", CAIRN_HDF5_REAL, arena, &out->row, error);
    if (status == CAIRN_OK)
        status = cairn_hdf5_read_texts(group, "name", arena, &out->name, error);
    H5Gclose(group);
    return status;
}

/* "'ball'" for a body with a name, else its row in /bodies. Names come from the file and are
 * escaped, so that they cannot send control sequences to a terminal. */
static void label(const names *n, double row, char *text, size_t capacity)
{
    const double *rows = n->row.data;
    char name[160];
    for (int i = 0; i < n->row.count && i < n->name.count; i++)
        if (rows[i] == row) {
            cairn_text_escape(n->name.items[i], name, sizeof name);
            snprintf(text, capacity, "'%s'", name);
            return;
        }
    snprintf(text, capacity, "%.0f", row);
}

/* The contacts of all steps, from /certificate: the rows of their two bodies, the start of each
 * step's contacts, and names for the bodies. */
typedef struct couples {
    cairn_hdf5_numbers pairs, offset;
    names names;
} couples;

/* Print the two bodies of the worst contact for the first missed steps, at most MOST. Offsets and
 * contact numbers come from the file, so the row is checked against the length of the list before
 * it is used; NaN fails the check too. */
static void tell_pairs(const facts *f, const couples *c, FILE *out)
{
    const double *offset = c->offset.data;
    enum { MOST = 5 };
    int told = 0;
    for (int i = 0; i < f->steps && told < MOST; i++) {
        double contact = at(f->c.asked_worst_contact, i);
        bool missed = f->c.converged && f->c.converged[i] == 0 && f->c.asked_worst_contact;
        double row = offset[i] + contact;
        if (!missed || !(contact >= 0 && offset[i] >= 0 && 2 * row + 1 < c->pairs.count))
            continue;
        const double *pair = (const double *)c->pairs.data + 2 * (size_t)row;
        char one[192], other[192];
        label(&c->names, pair[0], one, sizeof one);
        label(&c->names, pair[1], other, sizeof other);
        fprintf(out, "  step %d: contact %.0f, bodies %s and %s, residual %.2e\n", i + 1, contact,
                one, other, at(f->c.asked_relative, i));
        told++;
    }
    if (f->missed > told)
        fprintf(out, "  and in %.0f more steps\n", f->missed - told);
}

/* Frames hold the contacts of few steps only; those of every step exist with `certificate: full`
 * alone. */
static cairn_status tell_contacts(hid_t file, cairn_arena *arena, const facts *f, FILE *out,
                                  cairn_error *error)
{
    hid_t group, contacts;
    couples c = { .pairs = { NULL, 0 } };
    if (f->missed == 0)
        return CAIRN_OK;
    fprintf(out, "\ncontacts that did not settle\n");
    if (!cairn_hdf5_has(file, "certificate")) {
        fprintf(out, "  unknown: run with certificate: full to see them\n");
        return CAIRN_OK;
    }
    TRY(cairn_hdf5_open_group(file, "certificate", &group, error));
    cairn_status status =
        cairn_hdf5_read(group, "contact_offset", CAIRN_HDF5_REAL, arena, &c.offset, error);
    if (status == CAIRN_OK)
        status = cairn_hdf5_open_group(group, "contacts", &contacts, error);
    if (status == CAIRN_OK) {
        status = cairn_hdf5_read(contacts, "body", CAIRN_HDF5_REAL, arena, &c.pairs, error);
        H5Gclose(contacts);
    }
    H5Gclose(group);
    TRY(status);
    TRY(read_names(file, arena, &c.names, error));
    if (c.offset.count > f->steps) /* tell_pairs reads one offset for each step */
        tell_pairs(f, &c, out);
    return CAIRN_OK;
}

/* ---- rules ---------------------------------------------------------------------------------- */

/* A rule: returns whether it applies. It always writes its text, which is used only if it applies;
 * a quotient in the text may therefore be NaN or infinite if it does not.
 *
 * Lengths are compared with the smallest radius, energies with the largest kinetic energy, times
 * with the total time. */
typedef bool rule_fn(const facts *f, char *text, size_t capacity);

static bool share_missed(const facts *f, char *text, size_t n)
{
    bool all = f->exhausted > 0.5 * f->missed;
    snprintf(text, n, "%.0f steps missed the tolerance %g%s: %s", f->missed, f->info.tolerance,
             all ? ", most of them with all iterations used" : "",
             all ? "raise run.max_iterations, or try another run.solver (cairn solve on the files "
                   "in problems/ compares them)"
                 : "halve run.time_step, or try another run.solver");
    return f->missed > 0;
}

/* The convex law keeps a gap of g = h mu |u_T| under a sliding contact. A body that begins to slide
 * gains the speed g/h and rises by (g/h)^2 / (2 gravity), which does not depend on h. */
static bool convex_gap(const facts *f, char *text, size_t n)
{
    double gap = at(f->c.dilatation, worst_of(f->c.dilatation, f->steps));
    double speed = f->info.time_step > 0 ? gap / f->info.time_step : 0;
    double height = f->gravity > 0 ? speed * speed / (2 * f->gravity) : 0;
    snprintf(
        text, n,
        "the convex law lifts what begins to slide, with up to %.2g m/s: bodies are thrown %.1e "
        "m high, whatever the time step, and kept %.1e m apart while they slide (the smallest "
        "radius is %.1e m): use run.scheme=coulomb",
        speed, height, gap, f->size);
    return f->size > 0 && fmax(gap, height) > 0.01 * f->size;
}

static bool deep_overlap(const facts *f, char *text, size_t n)
{
    double depth = at(f->c.penetration, worst_of(f->c.penetration, f->steps));
    snprintf(
        text, n,
        "bodies overlap by up to %.1e m, %.1f %% of the smallest radius: halve run.time_step or "
        "lower run.tolerance",
        depth, 100 * depth / f->size);
    return f->size > 0 && depth > 0.01 * f->size;
}

static bool often_repeated(const facts *f, char *text, size_t n)
{
    snprintf(text, n,
             "%.0f %% of the steps were solved twice because bodies outran their candidates: set "
             "run.margin to what a body moves in a step",
             100 * f->repeated / f->steps);
    return f->repeated > 0.1 * f->steps;
}

/* A step that is divided into n is computed more than n times. */
static bool often_divided(const facts *f, char *text, size_t n)
{
    double steps = f->steps - f->substeps + f->divided;
    snprintf(text, n,
             "%.0f %% of the steps were divided, at most into %.0f, because bodies moved farther "
             "than their size in them: a smaller run.time_step costs less",
             100 * f->divided / steps, f->finest);
    return f->divided > 0.1 * steps;
}

/* A run of less than 0.1 s is too short for its shares of the time to mean anything. */
static bool slow_collision(const facts *f, char *text, size_t n)
{
    double share = 100 * f->seconds[0] / f->total;
    if (f->margin > 0)
        snprintf(text, n,
                 "%.0f %% of the time is collision: a run.margin below %g m makes fewer candidates",
                 share, f->margin);
    else
        snprintf(text, n,
                 "%.0f %% of the time is collision: more run.threads share it, and a larger "
                 "run.time_step looks for contacts less often",
                 share);
    return f->total > 0.1 && f->seconds[0] > 0.5 * f->total;
}

/* Less than 0.1 s of computing is too short to judge by. */
static bool uneven_ranks(const facts *f, char *text, size_t n)
{
    snprintf(text, n,
             "the slowest rank computes %.0f %% longer than the mean: more run.parts leave more to "
             "divide between the ranks (8 for each rank)",
             100 * imbalance(f));
    return f->ranks[MEMBERS] >= 2 && f->ranks[COMPUTE] > 0.1 && imbalance(f) > 0.05;
}

static bool waiting_ranks(const facts *f, char *text, size_t n)
{
    double all = f->ranks[COMPUTE] + f->ranks[WAIT] + f->ranks[SEND];
    snprintf(text, n,
             "the ranks spend %.0f %% of their steps in messages: use fewer ranks, each with a "
             "processor of its own",
             100 * (1 - f->ranks[COMPUTE] / all));
    return f->ranks[MEMBERS] >= 2 && f->ranks[COMPUTE] > 0.1 && f->ranks[COMPUTE] < 0.5 * all;
}

/* Counted on average: single hard steps do not matter here, and share_missed reports the missed
 * ones. */
static bool many_iterations(const facts *f, char *text, size_t n)
{
    snprintf(text, n,
             "%.0f iterations a step on average: a tolerance of %g, or another run.solver, may do",
             f->mean_iterations, 10 * f->info.tolerance);
    return f->mean_iterations > 300;
}

static bool numerical_loss(const facts *f, char *text, size_t n)
{
    snprintf(text, n,
             "the time stepping took %.2g J, %.0f %% of the largest kinetic energy: halve "
             "run.time_step",
             f->numerical, 100 * f->numerical / f->energy);
    return f->energy > 0 && fabs(f->numerical) > 0.1 * f->energy && matters(f, f->numerical);
}

static bool made_energy(const facts *f, char *text, size_t n)
{
    snprintf(text, n,
             "contacts made %.2g J in %.0f steps that the law does not allow, at most %.2g J in "
             "step %d, also when solved again: a larger run.max_iterations, another run.solver or "
             "a shorter run.time_step may help (docs/steps.md)",
             f->made, f->making, f->most_made, f->most_making);
    return f->making > 0;
}

/* Not an error: the law that was asked for has no solution there, or one that makes energy. */
static bool reduced_restitution(const facts *f, char *text, size_t n)
{
    snprintf(text, n,
             "restitution was reduced at %.0f contacts in %.0f steps, first in step %d: to bounce "
             "as asked would have made energy, see docs/restitution.md",
             f->reduced_contacts, f->reduced, f->first_reduced);
    return f->reduced > 0;
}

static bool moved_apart(const facts *f, char *text, size_t n)
{
    snprintf(text, n,
             "moving overlapping bodies apart added %.2g J, %.0f %% of the largest kinetic energy: "
             "start without overlaps, or halve run.time_step",
             f->correction, 100 * f->correction / f->energy);
    return f->energy > 0 && f->correction > 0.05 * f->energy && matters(f, f->correction);
}

static bool full_inlets(const facts *f, char *text, size_t n)
{
    snprintf(text, n,
             "%.0f of the %.0f bodies of inlets did not come, because what came before fills the "
             "region of their inlet: make the region larger, the velocity higher or the rate lower",
             f->inlets[UNPLACED], f->inlets[BODIES]);
    return f->inlets[UNPLACED] > 0;
}

static bool straight_steps(const facts *f, char *text, size_t n)
{
    snprintf(text, n,
             "run.arcs is false: what goes round along a wall with w rad/s loses a share of %.2g "
             "w^2 of its speed a second, as impacts: set run.arcs=true",
             0.5 * f->info.time_step);
    return f->arcs == 0;
}

/* The advice is printed in this order: what is missing, accuracy, cost, energy. */
static rule_fn *const rules[] = { full_inlets,    share_missed,   made_energy,     convex_gap,
                                  deep_overlap,   often_repeated, often_divided,   slow_collision,
                                  uneven_ranks,   waiting_ranks,  many_iterations, numerical_loss,
                                  moved_apart,    straight_steps, reduced_restitution };

static void advise(const facts *f, FILE *out)
{
    char text[400];
    int told = 0;
    fprintf(out, "\nwhat to change\n");
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (rules[i](f, text, sizeof text)) {
            fprintf(out, "  - %s\n", text);
            told++;
        }
    if (told == 0)
        fprintf(out, "  nothing stands out\n");
}

/* ---- the page ------------------------------------------------------------------------------- */

static cairn_status explain(hid_t file, cairn_arena *arena, facts *f, FILE *out, cairn_error *error)
{
    char text[1024], shown[4 * sizeof text];
    TRY(read_facts(file, arena, f, error));
    snprintf(text, sizeof text, "%s: %d steps of %g s, scheme %s, solver %s, %s",
             f->info.title[0] ? f->info.title : "run", f->steps, f->info.time_step, f->info.scheme,
             f->info.solver, f->info.ending);
    /* title, scheme, solver and ending come from the file: no control sequences */
    cairn_text_escape(text, shown, sizeof shown);
    fprintf(out, "%s\n", shown);
    tell_time(f, out);
    tell_ranks(f, out);
    tell_inlets(f, out);
    tell_accuracy(f, out);
    TRY(tell_contacts(file, arena, f, out, error));
    advise(f, out);
    return CAIRN_OK;
}

cairn_status cairn_run_explain(const char *path, FILE *out, cairn_error *error)
{
    char name[CAIRN_PATH_BYTES];
    facts f = { .steps = 0 };
    cairn_arena arena = { 0 };
    hid_t file;
    TRY(cairn_run_read_info(path, &f.info, error));
    TRY(cairn_run_find_file(path, name, error));
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = cairn_hdf5_open(name, &file, error);
    if (status == CAIRN_OK) {
        status = explain(file, &arena, &f, out, error);
        H5Fclose(file);
    }
    cairn_hdf5_quiet_end(quiet);
    cairn_arena_destroy(&arena);
    if (status != CAIRN_OK && error)
        snprintf(error->file, sizeof error->file, "%s", name);
    return status;
}
