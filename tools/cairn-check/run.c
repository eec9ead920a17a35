/* run.c - opens a stored run and loads its steps. What each group of the file holds is a table: a
 * new column is a new line. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "run.h"

/* ---- tables --------------------------------------------------------------------------------- */

static const check_field body_fields[] = {
    { "shape", 1, true, offsetof(check_bodies, shape), false },
    { "motion", 1, true, offsetof(check_bodies, motion), false },
    { "material", 1, true, offsetof(check_bodies, material), false },
    { "mass", 1, false, offsetof(check_bodies, mass), false },
    { "inertia", 3, false, offsetof(check_bodies, inertia), false },
    { "radius", 1, false, offsetof(check_bodies, radius), false },
    { "half_angle", 1, false, offsetof(check_bodies, half_angle), false },
    { "bottom_radius", 1, false, offsetof(check_bodies, bottom_radius), false },
    { "top_radius", 1, false, offsetof(check_bodies, top_radius), false },
    { "height", 1, false, offsetof(check_bodies, height), false },
    { "axis", 3, false, offsetof(check_bodies, axis), false },
    { "length", 1, false, offsetof(check_bodies, length), false },
    { "rounding", 1, false, offsetof(check_bodies, rounding), false },
    { "exponents", 2, false, offsetof(check_bodies, exponents), false },
    { "size", 3, false, offsetof(check_bodies, size), false },
    { "semi_axes", 3, false, offsetof(check_bodies, semi_axes), false },
    { "shape_x", 3, false, offsetof(check_bodies, shape_x), false },
    { "shape_q", 4, false, offsetof(check_bodies, shape_q), false },
    { "geometry", 1, true, offsetof(check_bodies, geometry), true },
    { "uid", 1, false, offsetof(check_bodies, uid), true },
    { "born", 1, false, offsetof(check_bodies, born), true },
    { "passes", 1, false, offsetof(check_bodies, passes), true },
    { "first", 1, false, offsetof(check_bodies, first), true },
    { "volume", 1, false, offsetof(check_bodies, volume), true },
    { "surface_velocity", 3, false, offsetof(check_bodies, surface_velocity), true },
    { "friction_axis", 3, false, offsetof(check_bodies, friction_axis), true },
    { "group", 1, true, offsetof(check_bodies, group), true },
    { "ignores", 1, true, offsetof(check_bodies, ignores), true },
};

static const check_field state_fields[] = {
    { "index", 1, true, offsetof(check_state, index), false },
    { "x", 3, false, offsetof(check_state, x), false },
    { "q", 4, false, offsetof(check_state, q), false },
    { "v", 3, false, offsetof(check_state, v), false },
    { "omega", 3, false, offsetof(check_state, omega), false },
    { "image", 3, true, offsetof(check_state, image), true },
    { "asleep", 1, true, offsetof(check_state, asleep), true },
    { "angle", 1, false, offsetof(check_state, angle), false },
};

/* The first fifteen are also in /frames/contacts. */
static const check_field contact_fields[] = {
    { "body", 2, true, offsetof(check_contacts, body), false },
    { "point", 3, false, offsetof(check_contacts, point), false },
    { "normal", 3, false, offsetof(check_contacts, normal), false },
    { "tangent", 3, false, offsetof(check_contacts, tangent), false },
    { "gap", 1, false, offsetof(check_contacts, gap), false },
    { "impulse", 0, false, offsetof(check_contacts, impulse), false },
    { "velocity", 0, false, offsetof(check_contacts, velocity), false },
    { "mu", 1, false, offsetof(check_contacts, mu), false },
    { "mu_2", 1, false, offsetof(check_contacts, mu_2), true },
    { "adhesion", 1, false, offsetof(check_contacts, adhesion), true },
    { "mu_rolling", 1, false, offsetof(check_contacts, mu_rolling), true },
    { "mu_spinning", 1, false, offsetof(check_contacts, mu_spinning), true },
    { "moment", CHECK_TURNS, false, offsetof(check_contacts, moment), true },
    { "turning", CHECK_TURNS, false, offsetof(check_contacts, turning), true },
    { "image", 3, true, offsetof(check_contacts, image), true },
    { "feature", 1, true, offsetof(check_contacts, feature), false },
    { "restitution", 1, false, offsetof(check_contacts, restitution), false },
    { "bias", 1, false, offsetof(check_contacts, bias), false },
    { "exact", 1, true, offsetof(check_contacts, exact), false },
    { "compression", 0, false, offsetof(check_contacts, compression), false },
    { "correction", 1, false, offsetof(check_contacts, correction), false },
};

static const check_field load_fields[] = {
    { "body", 1, true, offsetof(check_loads, body), false },
    { "force", 3, false, offsetof(check_loads, force), false },
    { "torque", 3, false, offsetof(check_loads, torque), false },
    { "damping", 3, false, offsetof(check_loads, damping), true },
};

static const check_field pose_fields[] = {
    { "body", 1, true, offsetof(check_poses, body), false },
    { "x", 3, false, offsetof(check_poses, x), false },
    { "q", 4, false, offsetof(check_poses, q), false },
};

static const check_field guess_fields[] = {
    { "body", 1, true, offsetof(check_guesses, body), false },
    { "v", 3, false, offsetof(check_guesses, v), false },
    { "omega", 3, false, offsetof(check_guesses, omega), false },
};

static const check_field impact_fields[] = {
    { "round", 1, true, offsetof(check_impacts, round), false },
    { "contact", 1, true, offsetof(check_impacts, contact), false },
    { "time", 1, false, offsetof(check_impacts, time), false },
    { "impulse", 0, false, offsetof(check_impacts, impulse), false },
};

static const check_field change_fields[] = {
    { "body", 1, true, offsetof(check_changes, body), false },
    { "x", 3, false, offsetof(check_changes, x), false },
    { "q", 4, false, offsetof(check_changes, q), false },
    { "angle", 1, false, offsetof(check_changes, angle), false },
    { "v", 3, false, offsetof(check_changes, v), false },
    { "omega", 3, false, offsetof(check_changes, omega), false },
    { "material", 1, true, offsetof(check_changes, material), false },
};

static const check_field step_fields[] = {
    { "step", 1, false, offsetof(check_steps, step), false },
    { "time", 1, false, offsetof(check_steps, time), false },
    { "time_step", 1, false, offsetof(check_steps, time_step), true },
    { "candidates", 1, false, offsetof(check_steps, candidates), false },
    { "active", 1, false, offsetof(check_steps, active), false },
    { "entered", 1, false, offsetof(check_steps, entered), false },
    { "converged", 1, false, offsetof(check_steps, converged), false },
    { "attempts", 1, false, offsetof(check_steps, attempts), true },
    { "asked_worst", 1, false, offsetof(check_steps, asked_worst), false },
    { "asked_relative", 1, false, offsetof(check_steps, asked_relative), false },
    { "asked_whole", 1, false, offsetof(check_steps, asked_whole), true },
    { "asked_fclib", 1, false, offsetof(check_steps, asked_fclib), false },
    { "coulomb_worst", 1, false, offsetof(check_steps, coulomb_worst), false },
    { "coulomb_relative", 1, false, offsetof(check_steps, coulomb_relative), false },
    { "coulomb_whole", 1, false, offsetof(check_steps, coulomb_whole), true },
    { "coulomb_fclib", 1, false, offsetof(check_steps, coulomb_fclib), false },
    { "penetration", 1, false, offsetof(check_steps, penetration), false },
    { "gap_error", 1, false, offsetof(check_steps, gap_error), false },
    { "cone_violation", 1, false, offsetof(check_steps, cone_violation), false },
    { "dilatation", 1, false, offsetof(check_steps, dilatation), false },
    { "complementarity", 1, false, offsetof(check_steps, complementarity), false },
    { "friction_direction", 1, false, offsetof(check_steps, friction_direction), false },
    { "kinetic", 1, false, offsetof(check_steps, kinetic), false },
    { "potential", 1, false, offsetof(check_steps, potential), false },
    { "entered_energy", 1, false, offsetof(check_steps, entered_energy), false },
    { "load_work", 1, false, offsetof(check_steps, load_work), false },
    { "driver_work", 1, false, offsetof(check_steps, driver_work), false },
    { "friction_loss", 1, false, offsetof(check_steps, friction_loss), false },
    { "impact_loss", 1, false, offsetof(check_steps, impact_loss), false },
    { "numerical_loss", 1, false, offsetof(check_steps, numerical_loss), false },
    { "correction", 1, false, offsetof(check_steps, correction), false },
    { "elastic", 1, false, offsetof(check_steps, elastic), false },
    { "motor_work", 1, false, offsetof(check_steps, motor_work), false },
    { "damping_loss", 1, false, offsetof(check_steps, damping_loss), false },
    { "sleep_loss", 1, false, offsetof(check_steps, sleep_loss), true },
    { "left", 1, false, offsetof(check_steps, left), true },
    { "entered_mass", 1, false, offsetof(check_steps, entered_mass), true },
    { "left_mass", 1, false, offsetof(check_steps, left_mass), true },
    { "gravity_work", 1, false, offsetof(check_steps, gravity_work), true },
    { "gravity", 3, false, offsetof(check_steps, gravity), true },
    { "cell", 9, false, offsetof(check_steps, cell), true },
    { "cell_rate", 9, false, offsetof(check_steps, cell_rate), true },
    { "applied_energy", 1, false, offsetof(check_steps, applied_energy), true },
    { "changed", 1, false, offsetof(check_steps, changed), true },
    { "asleep", 1, false, offsetof(check_steps, asleep), true },
    { "woken", 1, false, offsetof(check_steps, woken), true },
    { "impacts", 1, false, offsetof(check_steps, impacts), true },
    { "impact_rounds", 1, false, offsetof(check_steps, impact_rounds), true },
    { "impacts_left", 1, false, offsetof(check_steps, impacts_left), true },
    { "impacts_reduced", 1, false, offsetof(check_steps, impacts_reduced), true },
    { "energy_made_groups", 1, false, offsetof(check_steps, energy_made_groups), true },
    { "energy_made", 1, false, offsetof(check_steps, energy_made), true },
    { "broken", 1, false, offsetof(check_steps, broken), false },
    { "joint_drift", 1, false, offsetof(check_steps, joint_drift), false },
    { "joint_turn_drift", 1, false, offsetof(check_steps, joint_turn_drift), false },
    { "spurious_work", 1, false, offsetof(check_steps, spurious_work), false },
    { "friction_law", 1, false, offsetof(check_steps, friction_law), false },
    { "upgraded", 1, false, offsetof(check_steps, upgraded), false },
    { "linearisations", 1, false, offsetof(check_steps, linearisations), false },
    { "linearisation_error", 1, false, offsetof(check_steps, linearisation_error), false },
    { "judge_cone_violation", 1, false, offsetof(check_steps, judge_cone_violation), false },
    { "asked_worst_contact", 1, false, offsetof(check_steps, asked_worst_contact), false },
    { "coulomb_worst_contact", 1, false, offsetof(check_steps, coulomb_worst_contact), false },
    { "distance", 1, false, offsetof(check_steps, distance), true },
    { "distance_body", 2, false, offsetof(check_steps, distance_body), true },
};

_Static_assert(CHECK_COUNT(step_fields) <= CHECK_FIELDS, "room in a check_group");

static const check_field offset_fields[CHECK_PARTS] = {
    [CHECK_BODIES] = { "body_offset", 1, false, offsetof(check_list, value), false },
    [CHECK_JOINTS] = { "joint_offset", 1, false, offsetof(check_list, value), false },
    [CHECK_CONTACTS] = { "contact_offset", 1, false, offsetof(check_list, value), false },
    [CHECK_LOADS] = { "load_offset", 1, false, offsetof(check_list, value), false },
    [CHECK_POSES] = { "pose_offset", 1, false, offsetof(check_list, value), false },
    [CHECK_GUESSES] = { "guess_offset", 1, false, offsetof(check_list, value), false },
    [CHECK_ROWS] = { "row_offset", 1, false, offsetof(check_list, value), false },
    [CHECK_IMPACTS] = { "impact_offset", 1, false, offsetof(check_list, value), false },
    [CHECK_CHANGES] = { "change_offset", 1, false, offsetof(check_list, value), false },
};

static const char *const shapes[] = { "sphere",       "point",      "half_space", "inside_cylinder",
                                      "inside_cone",  "funnel",     "box",        "capsule",
                                      "cylinder",     "cone",       "ellipsoid",  "superellipsoid",
                                      "inside_box",   "polyhedron", "mesh",       "polyline",
                                      "height_field", "compound",   NULL };
static const char *const motions[] = { "dynamic", "fixed", "driven", NULL };

static const check_scheme schemes[] = {
    { "convex", .convex = true },
    { "convex-polyhedral", .convex = true, .edges = true },
    { "frictionless", .convex = true, .frictionless = true },
    { "coulomb", .convex = false },
    { "fixed-point", .convex = false },
    { "coulomb-newton", .convex = false },
    { "auto", .convex = true, .mixed = true },
    { "lcp", .edges = true },
    { "stewart-trinkle", .edges = true, .linearisations = 30 },
    { "moreau-jean", .middle = true },
};

check_group check_state_group(const char *name, int dimension)
{
    int count = CHECK_COUNT(state_fields) - (dimension == 3); /* no angle */
    return (check_group){
        .name = name, .fields = state_fields, .count = count, .dimension = dimension
    };
}

check_group check_contact_group(const char *name, int dimension)
{
    return (
        check_group){ .name = name, .fields = contact_fields, .count = 15, .dimension = dimension };
}

/* ---- settings ------------------------------------------------------------------------------- */

static bool read_scheme(check_run *run)
{
    char name[64];
    check_settings *s = &run->settings;
    if (!check_attribute_text(run->file, "scheme", name, sizeof name, run->report))
        return false;
    for (int i = 0; i < CHECK_COUNT(schemes); i++)
        if (strcmp(schemes[i].name, name) == 0)
            s->scheme = &schemes[i];
    return s->scheme || check_fail(run->report, "unknown scheme '%s'", name);
}

/* Whether the run had a back end other than the host: it judges piles by the norm over all
 * contacts, and says so by a residual that is that norm. */
static bool is_elsewhere(check_run *run)
{
    char backend[CHECK_TEXT] = "host";
    return H5Aexists(run->file, "backend") > 0 &&
           check_attribute_text(run->file, "backend", backend, sizeof backend, run->report) &&
           strcmp(backend, "host") != 0;
}

/* An attribute that older files do not have. */
static bool read_later(check_run *run, const char *name, double *out)
{
    return H5Aexists(run->file, name) <= 0 || check_attribute(run->file, name, 1, out, run->report);
}

static bool read_numbers(check_run *run)
{
    check_settings *s = &run->settings;
    double dimension = 0, directions = 0, turns = 0, sleep = 0, rounds = -1, rules = 1, gravity[3];
    double arcs = 0;
    struct {
        const char *name;
        int count;
        double *out;
    } wanted[] = { { "dimension", 1, &dimension },
                   { "time_step", 1, &s->time_step },
                   { "tolerance", 1, &s->tolerance },
                   { "stabilisation", 1, &s->gamma },
                   { "directions", 1, &directions },
                   { "gravity", 3, gravity },
                   { "linearisations", 1, &turns },
                   { "model_tolerance", 1, &s->model_tolerance },
                   { "fixed_point_tolerance", 1, &s->increment } };
    for (int i = 0; i < CHECK_COUNT(wanted); i++)
        if (!check_attribute(run->file, wanted[i].name, wanted[i].count, wanted[i].out,
                             run->report))
            return false;
    s->substeps = 1;
    if (!read_later(run, "sleep", &sleep) || !read_later(run, "impact_rounds", &rounds) ||
        !read_later(run, "max_substeps", &s->substeps) || !read_later(run, "arcs", &arcs) ||
        !read_later(run, "rules", &rules))
        return false;
    if (!(rounds >= -1 && rounds <= 1e6))
        return check_fail(run->report, "attribute impact_rounds: out of range");
    s->impact_rounds = (int)rounds;
    if (!(rules >= 1 && rules <= 5 && rules == floor(rules)))
        return check_fail(run->report, "attribute rules: unknown version %.17g", rules);
    if (dimension != 2 && dimension != 3)
        return check_fail(run->report, "attribute dimension: expected 2 or 3");
    s->h = s->time_step;
    s->lengths = check_has(run->file, "steps/time_step");
    if (!(s->h > 0) || !(directions >= 0 && directions < 1e6))
        return check_fail(run->report, "attribute time_step or directions: out of range");
    if (!(turns >= 0 && turns <= 1e6))
        return check_fail(run->report, "attribute linearisations: out of range");
    s->linearisations = turns > 0 ? (int)turns : s->scheme->linearisations;
    s->dimension = (int)dimension;
    s->sleep = sleep != 0;
    s->elsewhere = is_elsewhere(run);
    s->arcs = arcs != 0 && !s->scheme->middle && s->linearisations == 0;
    s->rules = (int)rules;
    s->gravity = (vec){ gravity[0], gravity[1], s->dimension == 3 ? gravity[2] : 0 };
    s->gravity_before = s->gravity;
    s->gravity_varies = check_has(run->file, "steps/gravity");
    s->directions = s->scheme->edges && s->dimension == 3 ? (int)directions : 0;
    return true;
}

static bool read_overlaps(check_run *run)
{
    char way[32];
    check_settings *s = &run->settings;
    if (!check_attribute_text(run->file, "overlaps", way, sizeof way, run->report))
        return false;
    s->push = strcmp(way, "push") == 0 || s->linearisations > 0;
    s->move = strcmp(way, "move") == 0 && s->linearisations == 0 && !s->scheme->middle;
    return s->push || s->move || s->scheme->middle || strcmp(way, "keep") == 0 ||
           check_fail(run->report, "attribute overlaps: unknown value '%s'", way);
}

/* What kind of file it is. Since version 2 there are checksums, and texts have a fixed length. */
static bool read_format(check_run *run)
{
    char format[32] = "";
    double version = 0;
    if (!check_attribute_text(run->file, "format", format, sizeof format, run->report) ||
        strcmp(format, "cairn run") != 0)
        return check_fail(run->report, "this is not a run");
    if (!check_attribute(run->file, "format_version", 1, &version, run->report))
        return false;
    if (version != 1 && version != 2 && version != 3)
        return check_fail(run->report, "unknown format version %.17g", version);
    run->settings.version = (int)version;
    check_true(run->report, check_at(run, NULL, 0, "format_version"),
               check_attribute_is_fixed(run->file, "format") == (version >= 2) &&
                   check_has(run->file, "checksums") == (version >= 2),
               "the file is of another version than it says");
    if (run->skip_checksums || !check_has(run->file, "checksums"))
        return true;
    return check_checksums(run);
}

static bool read_settings(check_run *run)
{
    check_settings *s = &run->settings;
    strcpy(s->level, "summary"); /* what runs stored before there was a choice */
    if (H5Aexists(run->file, "certificate") > 0 &&
        !check_attribute_text(run->file, "certificate", s->level, sizeof s->level, run->report))
        return false;
    if (strcmp(s->level, "off") == 0)
        return check_fail(run->report, "the run keeps no certificate (certificate: off)");
    return read_scheme(run) && read_numbers(run) && read_overlaps(run);
}

/* ---- what does not change ------------------------------------------------------------------- */

static bool read_all(check_run *run, check_group *group, void *record, int *count)
{
    if (!check_group_open(run->file, group, run->report))
        return false;
    *count = (int)group->rows;
    return check_group_read(group, 0, group->rows, record, run->report);
}

/* Translate numbers of the file to those of an enum, by name. */
static bool translate(check_run *run, const char *dataset, const char *const *known, int rows,
                      int32_t *value)
{
    int names[64];
    int count = check_names(run->file, dataset, known, CHECK_COUNT(names), names);
    for (int i = 0; i < rows; i++) {
        if (value[i] < 0 || value[i] >= count)
            return check_fail(run->report, "%s: row %d has a number that has no name", dataset, i);
        value[i] = names[value[i]];
    }
    return true;
}

bool check_shapes_translate(check_run *run, const char *dataset, int count, int32_t *shape)
{
    if (!translate(run, dataset, shapes, count, shape))
        return false;
    for (int i = 0; i < count; i++)
        shape[i] = shape[i] < 0 ? CHECK_OTHER : shape[i];
    return true;
}

static bool read_bodies(check_run *run)
{
    check_bodies *b = &run->bodies;
    run->body_group = (check_group){ "bodies", body_fields, CHECK_COUNT(body_fields), 3, { 0 }, 0 };
    if (!read_all(run, &run->body_group, b, &b->count) ||
        !check_shapes_translate(run, "bodies/shape", b->count, b->shape) ||
        !translate(run, "bodies/motion", motions, b->count, b->motion))
        return false;
    for (int i = 0; i < b->count; i++) {
        if (b->motion[i] < 0)
            return check_fail(run->report, "body %d: unknown motion", i);
        if (b->material[i] < 0 || b->material[i] >= run->materials.count)
            return check_fail(run->report, "body %d: there is no such material", i);
    }
    return true;
}

static bool is_unfinished(const check_run *run)
{
    char ending[32] = "";
    check_report quiet = { 0 };
    check_attribute_text(run->file, "ending", ending, sizeof ending, &quiet);
    return strcmp(ending, "unfinished") == 0;
}

/* The offsets at which steps begin: two more than steps for states, else one more. */
static bool read_offsets(check_run *run, int part)
{
    int count;
    check_group list = { "certificate", &offset_fields[part], 1, 3, { 0 }, 0 };
    bool good = read_all(run, &list, &run->offsets[part], &count);
    check_group_close(&list);
    if (!good)
        return false;
    int steps = count - (part < CHECK_STATES ? 2 : 1);
    if (steps < run->steps.count && run->unfinished)
        run->steps.count = steps < 0 ? 0 : steps;
    if (steps < run->steps.count || (steps > run->steps.count && !run->unfinished))
        return check_fail(run->report, "/certificate/%s has %d steps, /steps has %d",
                          offset_fields[part].name, steps, run->steps.count);
    return true;
}

static bool open_parts(check_run *run)
{
    int d = run->settings.dimension;
    run->parts[CHECK_BODIES] = check_state_group("certificate/bodies", d);
    run->parts[CHECK_JOINTS] = check_joint_group("certificate/joints", d, true);
    run->parts[CHECK_ROWS] = check_row_group();
    run->parts[CHECK_CONTACTS] = check_contact_group("certificate/contacts", d);
    run->parts[CHECK_CONTACTS].count = CHECK_COUNT(contact_fields);
    run->parts[CHECK_LOADS] =
        (check_group){ "certificate/loads", load_fields, CHECK_COUNT(load_fields), d, { 0 }, 0 };
    run->parts[CHECK_POSES] =
        (check_group){ "certificate/poses", pose_fields, CHECK_COUNT(pose_fields), d, { 0 }, 0 };
    run->parts[CHECK_GUESSES] = (check_group){
        "certificate/guesses", guess_fields, CHECK_COUNT(guess_fields), d, { 0 }, 0
    };
    run->parts[CHECK_IMPACTS] = (check_group){
        "certificate/impacts", impact_fields, CHECK_COUNT(impact_fields), d, { 0 }, 0
    };
    run->parts[CHECK_CHANGES] = (check_group){
        "certificate/changes", change_fields, CHECK_COUNT(change_fields), d, { 0 }, 0
    };
    /* older files have neither impacts nor changes */
    run->has_changes = check_has(run->file, "certificate/change_offset");
    int parts = run->settings.impact_rounds < 0 ? CHECK_IMPACTS
                : run->has_changes              ? CHECK_PARTS
                                                : CHECK_CHANGES;
    for (int part = 0; part < parts; part++)
        if (!check_group_open(run->file, &run->parts[part], run->report) ||
            !read_offsets(run, part))
            return false;
    return true;
}

static bool take_by_body(check_run *run)
{
    size_t n = (size_t)run->bodies.count;
    vec **vectors[] = { &run->x_eval,     &run->force,          &run->torque,      &run->x_after,
                        &run->gyroscopic, &run->v_free,         &run->omega_free,  &run->v_eval,
                        &run->omega_eval, &run->v_start,        &run->omega_start, &run->added,
                        &run->v_adhesion, &run->omega_adhesion, &run->damping,
                        &run->omega_before };
    bool good = check_memory_take(&run->q_eval, n, sizeof *run->q_eval) &&
                check_memory_take(&run->q_after, n, sizeof *run->q_after) &&
                check_memory_take(&run->expected, n, sizeof *run->expected) &&
                check_memory_take(&run->moved, n, sizeof *run->moved) &&
                check_memory_take(&run->hit, n, sizeof *run->hit) &&
                check_memory_take(&run->path, n, sizeof *run->path) &&
                check_memory_take(&run->late, n, sizeof *run->late) &&
                check_memory_take(&run->hit_time, n, sizeof *run->hit_time) &&
                check_memory_take(&run->earliest, n, sizeof *run->earliest) &&
                check_memory_take(&run->earliest_perhaps, n, sizeof *run->earliest_perhaps) &&
                check_memory_take(&run->around, n, sizeof *run->around) &&
                check_memory_take(&run->around_perhaps, n, sizeof *run->around_perhaps) &&
                check_memory_take(&run->group_first, n, sizeof *run->group_first) &&
                check_memory_take(&run->creation, n, sizeof *run->creation) &&
                check_memory_take(&run->touched, n, sizeof *run->touched) &&
                check_memory_take(&run->group, n, sizeof *run->group) &&
                check_memory_take(&run->group_scale, n, sizeof *run->group_scale) &&
                check_memory_take(&run->pushed, n, sizeof *run->pushed) &&
                check_memory_take(&run->gone, n, sizeof *run->gone) &&
                check_memory_take(&run->side, n, sizeof *run->side) &&
                check_memory_take(&run->hang, n, sizeof *run->hang) &&
                check_memory_take(&run->swing, n, sizeof *run->swing) &&
                check_memory_take(&run->before.row, n, sizeof *run->before.row) &&
                check_memory_take(&run->after.row, n, sizeof *run->after.row);
    for (int i = 0; i < CHECK_COUNT(vectors); i++)
        good = good && check_memory_take(vectors[i], n, sizeof(vec));
    return good || check_fail(run->report, "no memory");
}

/* The numbers by contact: where the pointer is, how many there are; 0: `components`. */
static const struct {
    size_t offset;
    size_t width;
} derived[] = {
    { offsetof(check_derived, weight), 1 },
    { offsetof(check_derived, size), 1 },
    { offsetof(check_derived, share), 2 },
    { offsetof(check_derived, length), 2 },
    { offsetof(check_derived, scaled), 1 },
    { offsetof(check_derived, r), 0 },
    { offsetof(check_derived, velocity), 0 },
    { offsetof(check_derived, judged), 0 },
    { offsetof(check_derived, free), 0 },
    { offsetof(check_derived, before), 0 },
    { offsetof(check_derived, imposed), 0 },
    { offsetof(check_derived, guess), 1 },
    { offsetof(check_derived, mu), 1 },
    { offsetof(check_derived, s), 1 },
    { offsetof(check_derived, compressed), 0 },
    { offsetof(check_derived, middle), 0 },
    { offsetof(check_derived, compression_mu), 1 },
    { offsetof(check_derived, compression_bias), 1 },
    { offsetof(check_derived, decompression), 0 },
    { offsetof(check_derived, least), 1 },
    { offsetof(check_derived, early), 0 },
    { offsetof(check_derived, struck), 0 },
    { offsetof(check_derived, lag), 1 },
    { offsetof(check_derived, hits_at), 1 },
    { offsetof(check_derived, hits_slack), 1 },
    { offsetof(check_derived, sure), 1 },
    { offsetof(check_derived, round_r), 0 },
    { offsetof(check_derived, round_u), 0 },
    { offsetof(check_derived, round_q), 0 },
    { offsetof(check_derived, round_bias), 1 },
    { offsetof(check_derived, scale), sizeof(check_scale) / sizeof(double) },
    { offsetof(check_derived, spared), 1 },
    { offsetof(check_derived, work), 1 },
    { offsetof(check_derived, work_size), 1 },
};

/* The events of the run, where it has any. */
static bool read_events(check_run *run)
{
    static const check_field fields[] = {
        { "event", 1, false, offsetof(check_event_list, event), false },
        { "step", 1, false, offsetof(check_event_list, step), false },
        { "time", 1, false, offsetof(check_event_list, time), false },
    };
    check_group group = { "events", fields, CHECK_COUNT(fields), 3, { 0 }, 0 };
    if (!check_has(run->file, "events"))
        return true;
    bool good = check_group_open(run->file, &group, run->report) &&
                check_group_read(&group, 0, group.rows, &run->events, run->report);
    run->event_count = good ? group.rows : 0;
    check_group_close(&group);
    return good;
}

/* ---- opening and closing -------------------------------------------------------------------- */

/* CPU seconds to open a file on which HDF5 may loop for ever, and bytes per second afterwards: more
 * than ten times what a check takes. */
enum { SECONDS_TO_OPEN = 5, BYTES_A_SECOND = 50000 };

/* The first format of HDF5, number 0 or 1 after the signature, has no checksums in its metadata. */
static bool is_unsummed(const char *path)
{
    char head[9] = "";
    FILE *file = fopen(path, "rb");
    bool read = file && fread(head, 1, sizeof head, file) == sizeof head;
    if (file)
        fclose(file);
    return read && head[8] < 2;
}

/* SIGPROF ends the process when they have passed; 0: never. */
static void limit_time(long seconds)
{
    struct itimerval limit = { { 0, 0 }, { seconds, 0 } };
    setitimer(ITIMER_PROF, &limit, NULL);
}

static bool open_file(check_run *run, const char *path)
{
    char inside[4096];
    struct stat about;
    if (stat(path, &about) != 0)
        return check_fail(run->report, "%s: there is no such file or folder", path);
    bool folder = S_ISDIR(about.st_mode);
    snprintf(inside, sizeof inside, folder ? "%s/run.h5" : "%s", path);
    if (folder && stat(inside, &about) != 0)
        return check_fail(run->report, "%s: there is no run.h5 in this folder", path);
    if (!S_ISREG(about.st_mode))
        return check_fail(run->report, "%s: not a plain file", inside);
    if (is_unsummed(inside)) {
        run->time_limit = SECONDS_TO_OPEN + (long)about.st_size / BYTES_A_SECOND;
        limit_time(SECONDS_TO_OPEN);
    }
    run->file = H5Fopen(inside, H5F_ACC_RDONLY, H5P_DEFAULT);
    return run->file >= 0 ||
           check_fail(run->report, "%s: not an HDF5 file, or an incomplete one", inside);
}

bool check_run_open(check_run *run, const char *path)
{
    run->file = -1;
    run->step_group = (check_group){ "steps", step_fields, CHECK_COUNT(step_fields), 3, { 0 }, 0 };
    if (!open_file(run, path) || !read_format(run) || !read_settings(run) ||
        !read_all(run, &run->step_group, &run->steps, &run->steps.count) || !read_events(run) ||
        !check_memory_take(&run->ledger_size, (size_t)run->steps.count, sizeof(double)))
        return false;
    run->unfinished = is_unfinished(run);
    limit_time(run->time_limit);
    if (strcmp(run->settings.level, "full") != 0)
        return true;
    return check_cell_read(run) && check_materials_read(run) && read_bodies(run) &&
           check_geometries_read(run) && check_joints_read(run) && open_parts(run) &&
           take_by_body(run);
}

void check_run_close(check_run *run)
{
    void *blocks[] = { &run->x_eval,      &run->q_eval,
                       &run->force,       &run->torque,
                       &run->v_free,      &run->omega_free,
                       &run->v_eval,      &run->omega_eval,
                       &run->gyroscopic,  &run->before.row,
                       &run->omega_before,
                       &run->hit,         &run->after.row,
                       &run->expected,    &run->moved,
                       &run->x_after,     &run->q_after,
                       &run->touched,     &run->v_start,
                       &run->omega_start, &run->added,
                       &run->group,       &run->group_scale,
                       &run->v_adhesion,  &run->omega_adhesion,
                       &run->ledger_size, &run->path,
                       &run->late,        &run->hit_time,
                       &run->earliest,    &run->earliest_perhaps,
                       &run->around,      &run->around_perhaps,
                       &run->pushed,      &run->gone,
                       &run->damping,     &run->side,
                       &run->swing,       &run->hang,
                       &run->group_first, &run->creation };
    void *records[CHECK_PARTS] = { &run->after,    &run->joints_after, &run->contacts,
                                   &run->loads,    &run->poses,        &run->guesses,
                                   &run->row_list, &run->impacts,      &run->changes };
    for (int i = 0; i < CHECK_COUNT(blocks); i++)
        check_memory_free(blocks[i]);
    for (int i = 0; i < CHECK_COUNT(derived); i++)
        check_memory_free((char *)&run->by_contact + derived[i].offset);
    check_materials_free(&run->materials);
    check_memory_free(&run->events.event);
    check_memory_free(&run->events.step);
    check_memory_free(&run->events.time);
    check_memory_free(&run->lived);
    check_gain_free(run);
    check_statistics_close(run);
    check_forces_close(run);
    check_fields_close(run);
    check_group_free(&run->parts[CHECK_BODIES], &run->before);
    check_group_free(&run->parts[CHECK_JOINTS], &run->joints_before);
    check_joints_free(run);
    for (int part = 0; part < CHECK_PARTS; part++) {
        check_group_free(&run->parts[part], records[part]);
        check_memory_free(&run->offsets[part].value);
        check_group_close(&run->parts[part]);
    }
    check_geometries_free(&run->geometries);
    check_group_free(&run->body_group, &run->bodies);
    check_group_free(&run->step_group, &run->steps);
    check_group_close(&run->body_group);
    check_group_close(&run->step_group);
    if (run->file >= 0)
        H5Fclose(run->file);
}

/* ---- one step ------------------------------------------------------------------------------- */

/* Rows of step `entry` of a part. */
static bool read_part(check_run *run, int part, long entry, void *record, int *count)
{
    const double *offset = run->offsets[part].value;
    double first = offset[entry], end = offset[entry + 1];
    if (!(first >= 0 && end >= first && end < 9e15))
        return check_fail(run->report, "/certificate/%s: found %.17g after %.17g, expected to grow",
                          offset_fields[part].name, end, first);
    *count = (int)(end - first);
    return check_group_read(&run->parts[part], (int64_t)first, (int64_t)(end - first), record,
                            run->report);
}

/* Body numbers must be in range. */
static bool are_bodies(check_run *run, const char *group, const int32_t *body, int count)
{
    for (int i = 0; i < count; i++)
        if (body[i] < 0 || body[i] >= run->bodies.count)
            return check_fail(run->report, "step %ld: %s row %d names body %d of %d", run->step,
                              group, i, body[i], run->bodies.count);
    return true;
}

static bool index_rows(check_run *run, check_state *s)
{
    if (!are_bodies(run, "bodies", s->index, s->count))
        return false;
    for (int i = 0; i < run->bodies.count; i++)
        s->row[i] = -1;
    for (int i = 0; i < s->count; i++) {
        if (s->row[s->index[i]] >= 0)
            return check_fail(run->report, "step %ld: body %d is stored twice", run->step,
                              s->index[i]);
        s->row[s->index[i]] = i;
    }
    return true;
}

static bool take_by_contact(check_run *run)
{
    size_t n = (size_t)run->contacts.count, m = (size_t)run->settings.components;
    bool good = true;
    if (n < run->by_contact.capacity)
        return true;
    n += n / 4 + 1;
    for (int i = 0; i < CHECK_COUNT(derived) && good; i++)
        good = check_memory_take((char *)&run->by_contact + derived[i].offset,
                                 (derived[i].width ? derived[i].width : m) * n, sizeof(double));
    run->by_contact.capacity = good ? n : 0;
    return good || check_fail(run->report, "no memory");
}

/* Both bodies of a contact must exist before and after the step. */
static bool are_there(check_run *run)
{
    for (int k = 0; k < 2 * run->contacts.count; k++) {
        int body = run->contacts.body[k];
        if (run->before.row[body] < 0 || run->after.row[body] < 0)
            return check_fail(run->report,
                              "step %ld: contact %d names body %d, which does not exist", run->step,
                              k / 2, body);
    }
    return true;
}

/* Where friction is isotropic, and the column is missing, mu across is mu. */
static bool plain_across(check_run *run)
{
    for (int j = 0; j < run->contacts.count && !run->materials.friction_2; j++)
        run->contacts.mu_2[j] = run->contacts.mu[j];
    return true;
}

/* So must both bodies of a joint. */
static bool are_joined(check_run *run)
{
    for (int i = 0; i < run->joints_after.count; i++)
        for (int side = 0; side < 2; side++) {
            int body = run->joints.body[2 * run->joints_after.index[i] + side];
            if (body >= 0 && (run->before.row[body] < 0 || run->after.row[body] < 0))
                return check_fail(run->report,
                                  "step %ld: a joint names body %d, which does not exist",
                                  run->step, body);
        }
    return true;
}

/* What belongs to one step: its length, and numbers that are functions of time, which are gravity
 * and the constant of the law of each material. */
static bool set_varying(check_run *run, long step)
{
    check_settings *s = &run->settings;
    s->h = check_length(run, step);
    if (!(s->h > 0 && s->h <= s->time_step))
        return check_fail(run->report, "step %ld: its length is %g s", step, s->h);
    check_materials *m = &run->materials;
    const double *g = run->steps.gravity + 3 * (step - 1);
    s->gravity_before = s->gravity;
    if (s->gravity_varies)
        s->gravity = (vec){ g[0], g[1], s->dimension == 3 ? g[2] : 0 };
    if (!isfinite(vec_norm(s->gravity)))
        return check_fail(run->report, "step %ld: gravity is not finite", step);
    for (int k = 0; m->in_step && k < m->count; k++) {
        double mu = m->in_step[(step - 1) * m->count + k];
        if (!(mu >= 0 && mu < HUGE_VAL))
            return check_fail(run->report, "step %ld: friction of material %d is %g", step, k, mu);
        m->laws[k * CHECK_LAW_NUMBERS + CHECK_LAW_CONSTANT] = mu;
    }
    return true;
}

/* The bodies that were changed begin the step with the states that are stored for it, and from
 * then on have the material that is. */
static bool change_states(check_run *run)
{
    const check_changes *c = &run->changes;
    check_state *s = &run->before;
    run->applied = run->applied_size = 0;
    if (!are_bodies(run, "changes", c->body, c->count))
        return false;
    for (int i = 0; i < c->count; i++) {
        int body = c->body[i], row = s->row[body];
        if (row < 0)
            return check_fail(run->report, "step %ld: body %d was changed, but is not there",
                              run->step, body);
        if (c->material[i] < 0 || c->material[i] >= run->materials.count)
            return check_fail(run->report, "step %ld: body %d has no such material", run->step,
                              body);
        check_energy_change(run, row, -1);
        s->x[row] = c->x[i];
        s->q[row] = c->q[i];
        s->v[row] = c->v[i];
        s->omega[row] = c->omega[i];
        s->asleep[row] = 0;
        if (run->settings.dimension == 2)
            s->angle[row] = c->angle[i];
        run->bodies.material[body] = c->material[i];
        check_energy_change(run, row, 1);
    }
    return true;
}

bool check_run_load(check_run *run, long step)
{
    check_state held = run->before;
    check_joint_states joints = run->joints_before;
    run->before = run->after;
    run->after = held;
    run->joints_before = run->joints_after;
    run->joints_after = joints;
    run->step = step;
    if (!read_part(run, CHECK_BODIES, step, &run->after, &run->after.count) ||
        !index_rows(run, &run->after) ||
        !read_part(run, CHECK_JOINTS, step, &run->joints_after, &run->joints_after.count) ||
        !check_joints_index(run, &run->joints_after))
        return false;
    if (step == 0)
        return true;
    return set_varying(run, step) &&
           read_part(run, CHECK_CONTACTS, step - 1, &run->contacts, &run->contacts.count) &&
           read_part(run, CHECK_LOADS, step - 1, &run->loads, &run->loads.count) &&
           read_part(run, CHECK_POSES, step - 1, &run->poses, &run->poses.count) &&
           read_part(run, CHECK_ROWS, step - 1, &run->row_list, &run->row_list.count) &&
           (run->settings.impact_rounds < 0 ||
            read_part(run, CHECK_IMPACTS, step - 1, &run->impacts, &run->impacts.count)) &&
           (!run->has_changes ||
            (read_part(run, CHECK_CHANGES, step - 1, &run->changes, &run->changes.count) &&
             change_states(run))) &&
           are_bodies(run, "contacts", run->contacts.body, 2 * run->contacts.count) &&
           are_bodies(run, "loads", run->loads.body, run->loads.count) &&
           read_part(run, CHECK_GUESSES, step - 1, &run->guesses, &run->guesses.count) &&
           are_bodies(run, "poses", run->poses.body, run->poses.count) &&
           are_bodies(run, "guesses", run->guesses.body, run->guesses.count) && are_there(run) &&
           are_joined(run) && plain_across(run) && take_by_contact(run);
}
