/* run.h - a stored run as the checker sees it: settings, bodies, and one step at a time. */
#ifndef CHECK_RUN_H
#define CHECK_RUN_H

#include "columns.h"

/* Shapes with closed forms; the names are those of the file. */
typedef enum check_shape {
    CHECK_SPHERE,
    CHECK_POINT,
    CHECK_HALF_SPACE,
    CHECK_CYLINDER, /* inside */
    CHECK_CONE,     /* inside */
    CHECK_FUNNEL,
    CHECK_OTHER /* no closed form here */
} check_shape;

typedef enum check_motion { CHECK_DYNAMIC, CHECK_FIXED, CHECK_DRIVEN } check_motion;

/* How a scheme poses its step. */
typedef struct check_scheme {
    const char *name;
    bool convex;        /* asked law: s = 0; else exact Coulomb, s = |u_T| */
    bool frictionless;  /* mu = 0                                          */
    bool edges;         /* cones with edges, in 3D                         */
    bool middle;        /* contacts at q + h v/2, no gap in the bias       */
    bool mixed;         /* convex law, with s = |u_T| at marked contacts   */
    int linearisations; /* > 0: contacts at q + h v^, at most so often    */
} check_scheme;

typedef struct check_settings {
    int dimension;
    vec gravity;
    double h;               /* s: time step                         */
    double tolerance;       /* of the relative residual             */
    double gamma;           /* stabilisation                        */
    int directions;         /* edges of a cone; 0: circular         */
    double increment;       /* > 0: another test ended the steps    */
    double model_tolerance; /* m: scheme auto                 */
    int linearisations; /* > 0: contacts are those of q + h v^, found in at most so many turns */
    bool push, move;    /* overlaps are pushed apart; moved apart                             */
    const check_scheme *scheme;
    char level[16]; /* what was stored: off, summary, full          */
} check_settings;

/* What bodies are: rows of /bodies. */
typedef struct check_bodies {
    size_t capacity;
    int count;
    int32_t *shape, *motion, *material; /* the first two translated to the enums above */
    double *mass, *radius, *half_angle, *bottom_radius, *top_radius, *height;
    vec *inertia, *axis;
} check_bodies;

/* Where bodies are. */
typedef struct check_state {
    size_t capacity;
    int count;
    int32_t *index; /* of the body, of each row             */
    vec *x, *v, *omega;
    quat *q;
    double *angle;
    int32_t *row; /* of each body; -1: it is not there    */
} check_state;

typedef struct check_contacts {
    size_t capacity;
    int count;
    int32_t *body; /* a, b */
    int32_t *feature;
    vec *point, *normal, *tangent;
    double *gap, *mu, *restitution, *bias;
    double *impulse, *velocity; /* dimension each                                            */
    int32_t *exact;             /* scheme auto: exact friction                               */
    double *compression;        /* dimension each: of an impact by Poisson's law; else 0     */
    double *correction;         /* normal impulses whose velocities times h move bodies apart */
} check_contacts;

typedef struct check_loads {
    size_t capacity;
    int count;
    int32_t *body;
    vec *force, *torque;
} check_loads;

typedef struct check_poses {
    size_t capacity;
    int count;
    int32_t *body;
    vec *x;
    quat *q;
} check_poses;

/* Velocities v^ with which bodies in contact got to where contacts were evaluated. */
typedef struct check_guesses {
    size_t capacity;
    int count;
    int32_t *body;
    vec *v, *omega;
} check_guesses;

/* What happens where materials meet. A law has 7 numbers: kind, constant, static, dynamic, speed,
 * exponent, how many points; friction is the smaller of a pair's two laws. */
enum { CHECK_LAW_NUMBERS = 7 };
typedef struct check_materials {
    int count;
    double *friction, *restitution, *poisson, *law_first, *law_second; /* count x count */
    double *laws, *points;                                             /* 7, 2 a row    */
    int law_count, point_count;
    int *first_point; /* of each law */
    bool vary;        /* some law depends on the sliding speed */
} check_materials;

/* The columns of /steps that are checked, whole. */
typedef struct check_steps {
    size_t capacity;
    int count;
    double *step, *time, *candidates, *active, *entered, *converged;
    double *upgraded, *linearisations, *linearisation_error, *friction_law, *spurious_work;
    double *asked_worst_contact, *coulomb_worst_contact;
    double *penetration, *gap_error, *cone_violation, *friction_direction, *complementarity,
        *dilatation, *asked_worst, *asked_relative, *asked_fclib, *coulomb_worst, *coulomb_relative,
        *coulomb_fclib, *judge_cone_violation;
    double *kinetic, *potential, *entered_energy, *load_work, *driver_work, *friction_loss,
        *impact_loss, *numerical_loss, *correction;
} check_steps;

/* Numbers of a list of offsets. */
typedef struct check_list {
    size_t capacity;
    double *value;
} check_list;

enum { CHECK_BODIES, CHECK_CONTACTS, CHECK_LOADS, CHECK_POSES, CHECK_GUESSES, CHECK_PARTS };

/* Velocities of a body as impulses make them; sizes are what rounding is relative to. */
typedef struct check_velocity {
    vec v, omega;
    double v_size, omega_size;
} check_velocity;

/* Numbers derived for each contact of the loaded step; `dimension` each where it says so. */
typedef struct check_derived {
    size_t capacity;
    double *weight; /* 1/kg: trace(W_jj)/d                                  */
    double *size;   /* m/s: sum of the magnitudes of the terms of u and b   */
    double *velocity, *free,
        *before;        /* m/s, dimension: u with the velocities after, free, before */
    double *imposed;    /* dimension: the part of driven bodies */
    double *guess;      /* m/s: normal part of u with v^        */
    double *mu;         /* 0 in schemes without friction        */
    double *s;          /* m/s: of the law judged by            */
    double *compressed; /* dimension: u after a compression     */
    double *compression_mu, *compression_bias;
    double *decompression; /* N s, dimension: impulse without that of the compression */
    double *least;         /* N s: least normal part of it                            */
} check_derived;

typedef struct check_run {
    hid_t file;
    check_settings settings;
    check_report *report;
    check_bodies bodies;
    check_steps steps;
    check_group parts[CHECK_PARTS], step_group, body_group;
    check_list offsets[CHECK_PARTS];
    bool unfinished; /* the run did not end: what is there counts */
    check_materials materials;
    long step; /* the one that is loaded; 0: before the first          */
    check_state before, after;
    check_contacts contacts;
    check_loads loads;
    check_poses poses;
    check_guesses guesses;
    /* derived for the loaded step, by body: */
    vec *x_eval; /* where contacts are evaluated */
    quat *q_eval;
    vec *x_after; /* after the step */
    quat *q_after;
    vec *force, *torque; /* loads: N; N m in the body frame              */
    vec *gyroscopic;     /* N m, body frame: as the midpoint rule has it */
    vec *v_free, *omega_free;
    vec *v_eval, *omega_eval; /* v^                                                  */
    char *touched;            /* 1: some contact names it                            */
    check_velocity *expected; /* after the step                                      */
    check_velocity *moved;    /* m/s: displacement over h that mends overlaps        */
    check_velocity *hit;      /* after the compression of an impact                  */
    check_derived by_contact;
    bool impact; /* the step is an impact by Poisson's law: two phases */
} check_run;

/* run.c: open a run file, read what does not change; load step 0, 1, ... in order. */
bool check_run_open(check_run *run, const char *path);
bool check_run_load(check_run *run, long step);
void check_run_close(check_run *run);
/* laws.c: read /certificate's materials; friction of the pair of a contact at a speed. */
bool check_materials_read(check_run *run);
void check_materials_free(check_materials *materials);
double check_friction(const check_run *run, int j, double speed);
bool check_is_poisson(const check_run *run, int j);
/* bias.c: whether this is an impact by Poisson's law. */
void check_impact(check_run *run);
/* linearise.c: where contacts were evaluated. */
void check_place_guesses(check_run *run);

/* Which row of a state a body has; -1: none. */
static inline int check_row(const check_state *state, int body)
{
    return state->row[body];
}
/* A state of bodies out of any group with the columns of bodies. */
check_group check_state_group(const char *name, int dimension);
check_group check_contact_group(const char *name, int dimension);

/* The orientation that the rows of contacts use: that of the start of the step. */
static inline quat check_rows_q(const check_run *run, int body)
{
    return run->before.q[run->before.row[body]];
}

static inline check_place check_at(const check_run *run, const char *kind, long number,
                                   const char *what)
{
    return (check_place){ run->step, kind, number, what };
}

/* ---- the checks: each looks at the loaded step ---------------------------------------------- */

void check_prepare(check_run *run);        /* prepare.c: poses, loads, free velocities */
void check_linearised(check_run *run);     /* linearise.c: how far from q + h v^ it ends */
void check_motion_of(check_run *run);      /* motion.c: velocities from impulses, poses */
void check_contacts_of(check_run *run);    /* contacts.c: geometry, law, velocities    */
void check_law_of(check_run *run);         /* law.c: residuals and certificate         */
void check_energy_of(check_run *run);      /* energy.c: the ledger                     */
void check_energy_start(check_run *run);   /* energy.c: of the state before the first  */
void check_ledgers(check_run *run);        /* energy.c: closed, from /steps alone      */
void check_certificate_of(check_run *run); /* certificate.c: the law in other units   */
void check_bias(check_run *run, int j);    /* bias.c: b of the scheme                 */
bool check_complete(check_run *run);       /* pairs.c: no overlapping pair left out    */
bool check_frames(check_run *run);         /* frames.c: /frames repeats what is stored */

#endif
