/* check_tampering.h - changing single numbers of a stored run, and seeing that cairn-check notices. */
#ifndef CAIRN_TESTS_CHECK_TAMPERING_H
#define CAIRN_TESTS_CHECK_TAMPERING_H

#include "check_runs.h"

/* A dataset whose every number is checked; a change is a millionth of `scale` or of the number. */
typedef struct target {
    const char *name;
    double scale;
} target;

/* Ended by a NULL. */
static const target all_reals[] = {
    { "certificate/bodies/x", 1 },
    { "certificate/bodies/q", 1 },
    { "certificate/bodies/v", 1 },
    { "certificate/bodies/omega", 1 },
    { "certificate/bodies/angle", 1 },
    { "certificate/contacts/point", 1 },
    { "certificate/contacts/normal", 1 },
    { "certificate/contacts/tangent", 1 },
    { "certificate/contacts/gap", 0.1 },
    { "certificate/contacts/impulse", 1 },
    { "certificate/contacts/velocity", 1 },
    { "certificate/contacts/mu", 1 },
    { "certificate/contacts/restitution", 1 },
    { "certificate/contacts/bias", 1 },
    { "certificate/contacts/compression", 1 },
    { "certificate/contacts/correction", 1 },
    { "certificate/guesses/v", 1 },
    { "certificate/loads/force", 1 },
    { "certificate/loads/torque", 1 },
    { "certificate/poses/x", 1 },
    { "certificate/poses/q", 1 },
    { "frames/time", 1 },
    { "frames/bodies/x", 1 },
    { "frames/bodies/q", 1 },
    { "frames/bodies/v", 1 },
    { "frames/bodies/omega", 1 },
    { "frames/bodies/angle", 1 },
    { "frames/contacts/point", 1 },
    { "frames/contacts/normal", 1 },
    { "frames/contacts/tangent", 1 },
    { "frames/contacts/gap", 1 },
    { "frames/contacts/impulse", 1 },
    { "frames/contacts/velocity", 1 },
    { "frames/contacts/mu", 1 },
    { "steps/time", 1 },
    { "steps/penetration", 1e-3 },
    { "steps/gap_error", 1e-3 },
    { "steps/cone_violation", 1 },
    { "steps/friction_direction", 100 },
    { "steps/complementarity", 1 },
    { "steps/dilatation", 1e-3 },
    { "steps/spurious_work", 1 },
    { "steps/friction_law", 1 },
    { "steps/linearisation_error", 1e-3 },
    { "steps/asked_worst", 1 },
    { "steps/asked_relative", 1 },
    { "steps/asked_fclib", 1 },
    { "steps/coulomb_worst", 1 },
    { "steps/coulomb_relative", 1 },
    { "steps/coulomb_fclib", 1 },
    { "steps/judge_cone_violation", 1 },
    { "steps/kinetic", 1 },
    { "steps/potential", 1 },
    { "steps/entered_energy", 1 },
    { "steps/load_work", 1 },
    { "steps/driver_work", 1 },
    { "steps/friction_loss", 1 },
    { "steps/impact_loss", 1 },
    { "steps/numerical_loss", 1 },
    { "steps/sleep_loss", 1 },
    { "steps/correction", 1 },
    { NULL, 0 },
};

/* Whole numbers: changed by 1, or to the other value of two. */
static const char *const all_integers[] = {
    "certificate/bodies/index",
    "certificate/bodies/asleep",
    "certificate/contacts/body",
    "certificate/contacts/feature",
    "certificate/contacts/exact",
    "certificate/guesses/body",
    "certificate/loads/body",
    "certificate/poses/body",
    "certificate/body_offset",
    "certificate/contact_offset",
    "frames/step",
    "frames/body_offset",
    "frames/bodies/index",
    "frames/bodies/asleep",
    "frames/contacts/body",
    "steps/step",
    "steps/candidates",
    "steps/active",
    "steps/entered",
    "steps/upgraded",
    "steps/asleep",
    "steps/woken",
    "steps/impacts",
    "steps/impact_rounds",
    "steps/impacts_left",
    "steps/converged",
    NULL,
};

/* Numbers in a dataset; 0: there is no such dataset. */
static inline hsize_t count_numbers(const folder *f, const char *name)
{
    hid_t file = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDONLY, H5P_DEFAULT);
    hsize_t count = 0;
    if (H5Lexists(file, name, H5P_DEFAULT) > 0) {
        hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(dataset);
        count = (hsize_t)H5Sget_simple_extent_npoints(space);
        H5Sclose(space);
        H5Dclose(dataset);
    }
    H5Fclose(file);
    return count;
}

/* All that the program says of a run. */
static inline const char *said_of(const folder *f)
{
    char command[1024];
    const char *program = getenv("CAIRN_CHECK");
    CHECK(program != NULL);
    snprintf(command, sizeof command, "'%s' --all '%s' >'%s/said.txt' 2>&1", program, f->path,
             f->path);
    CHECK(system(command) >= 0);
    return file_text(f, "said.txt");
}

/* Change one number, see that it is noticed, put it back. */
static inline void check_noticed(const folder *f, const char *name, hsize_t place, double new)
{
    double old = swap_number(f, name, place, &new);
    int code = verdict(f);
    if (code == CERTIFIED)
        fail_msg("%s[%llu] changed from %.17g to %.17g unnoticed", name, (unsigned long long)place,
                 old, new);
    swap_number(f, name, place, &old);
}

/* `tries` numbers of each dataset: the first is changed a lot, the others a little. */
static inline int tamper_with_reals(const folder *f, const target *reals, const char *left_out,
                                    int tries)
{
    uint64_t state = 7;
    int changes = 0;
    for (const target *t = reals; t->name; t++) {
        hsize_t count = count_numbers(f, t->name);
        if (strstr(t->name, left_out))
            count = 0;
        for (int i = 0; i < tries && count > 0; i++, changes++) {
            hsize_t place = draw(&state) % count;
            double old = swap_number(f, t->name, place, NULL);
            double step = 1e-6 * fmax(fabs(old), t->scale);
            double small = old + (draw(&state) % 2 ? step : -step);
            check_noticed(f, t->name, place, i ? small : -1.5 * old + t->scale);
        }
    }
    return changes;
}

static inline int tamper_with_integers(const folder *f, const char *const *integers, int tries)
{
    uint64_t state = 3;
    int changes = 0;
    for (const char *const *name = integers; *name; name++) {
        hsize_t count = count_numbers(f, *name);
        for (int i = 0; i < tries && count > 0; i++, changes++) {
            hsize_t place = draw(&state) % count;
            double old = swap_number(f, *name, place, NULL);
            bool flag = strstr(*name, "converged") || strstr(*name, "exact") ||
                        strstr(*name, "broken") || strstr(*name, "bodies/asleep");
            check_noticed(f, *name, place, flag ? 1 - old : i % 2 && old > 0 ? old - 1 : old + 1);
        }
    }
    return changes;
}

/* A run with all that a scene of check_runs.h has. */
static inline void tamper_with_run(const char *text, const char *override, const char *left_out,
                                   int tries)
{
    folder f = folder_create();
    run_into(&f, text, override);
    CHECK_INT(verdict(&f), CERTIFIED);
    CHECK(tamper_with_reals(&f, all_reals, left_out, tries) >= 45 * tries);
    CHECK(tamper_with_integers(&f, all_integers, tries) >= 15 * tries);
    CHECK_INT(verdict(&f), CERTIFIED); /* all was put back */
    folder_remove(f.path);
}

#endif
