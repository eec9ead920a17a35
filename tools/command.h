/* command.h - what the commands of the program `cairn` share: the table entry of a command, its
 * arguments, and what it prints. */
#ifndef CAIRN_TOOLS_COMMAND_H
#define CAIRN_TOOLS_COMMAND_H

#include "cairn/cairn.h"
#include "ending/ending.h"

/* Where `cairn solve` starts from. */
typedef enum cairn_solve_start { START_ZERO, START_GUESS, START_SOLUTION } cairn_solve_start;

/* The flags of `cairn solve`; zero is the default of each. */
typedef struct cairn_solve_arguments {
    const char *solver;  /* NULL: auto                                          */
    const char *backend; /* NULL: the default                                  */
    bool convex;         /* --law convex; else exact Coulomb friction           */
    int directions;      /* --law polyhedral:K; 0: circular cones               */
    double tolerance;    /* 0: the library's default; likewise max_iterations   */
    int64_t max_iterations;
    double time_limit;         /* s; 0: none                                          */
    bool fclib_measure;        /* --measure fclib                                     */
    const char *csv, *profile; /* files to write; NULL: none                          */
    cairn_solve_start start;
    int repeats; /* --repeat: further solves, of which the shortest time counts  */
} cairn_solve_arguments;

enum { COMPARE_MOST = 32 }; /* schemes, solvers or time steps of `cairn compare`, each */

/* The flags of `cairn compare`; zero is the default of each. Names are those of the tables. */
typedef struct cairn_compare_arguments {
    const char *schemes[COMPARE_MOST], *solvers[COMPARE_MOST];
    double time_steps[COMPARE_MOST]; /* s                              */
    int scheme_count, solver_count, time_step_count;
    const char *reference; /* a scheme; NULL: the library's default    */
    double reference_step; /* s; 0: the smallest time step             */
} cairn_compare_arguments;

/* The flags of `cairn reproduce`. */
typedef struct cairn_reproduce_arguments {
    bool list, quick;
    int jobs; /* items at a time; 0: one per processor */
} cairn_reproduce_arguments;

/* The flags of `cairn export`; NULL: not given. */
typedef struct cairn_export_arguments {
    const char *html, *csv, *gltf, *vtkhdf, *video; /* files to write                       */
    bool png; /* a picture at `time` s                                */
    double time;
    int width, height;    /* of pictures, in pixels; 0: the default                            */
    const char *look;     /* their appearance, as words of the page's address                  */
    const char *table;    /* --table                          */
    const char *contacts; /* --contacts                       */
    bool all_times;       /* --time all                       */
    bool at_time;         /* --time was given, `moment` is it */
    double moment;        /* s                                */
} cairn_export_arguments;

/* The flags of `cairn sweep`. */
enum { CAIRN_SWEEP_KEYS = 8 };
typedef struct cairn_sweep_arguments {
    const char *vary[CAIRN_SWEEP_KEYS];
    int vary_count;
    int jobs;            /* runs at a time; 0: one per processor */
    int only;            /* the run to compute, from 1; 0: all   */
    int threads;         /* of each run; 0: one                  */
    const char *results; /* names, separated by commas; NULL: all */
    bool slurm;
} cairn_sweep_arguments;

/* The flags of `cairn explain`; zero is the default of each. */
typedef struct cairn_explain_arguments {
    bool step_length;
    double duration, seconds; /* s: simulated time; wall time */
    const char *scene;        /* NULL: the text in the run    */
} cairn_explain_arguments;

/* The arguments of a command. */
typedef struct cairn_arguments {
    const char *operand;         /* SCENE, RUN, TOPIC or COMMAND; NULL: none         */
    const char *const *operands; /* FILE...: all of them, in order                   */
    int operand_count;
    const char *out;              /* --out; NULL: the default                         */
    const char *const *overrides; /* the values of --set, in order                    */
    int override_count;
    bool quiet;
    bool strict; /* --strict: as run.on_uncertified: stop                           */
    bool force;  /* --force: overwrite results that the folder holds                */
    bool help;
    bool view;          /* --view: show the run as it progresses                        */
    bool no_browser;    /* --no-browser: only print the address of the viewer           */
    int thread_count;   /* --threads; -1: not given                                     */
    char threads[32];   /* the same as the override "run.threads=N"; empty: not given   */
    char problems[512]; /* --save-problem as "run.save_problem=[...]"; empty: not given */
    cairn_solve_arguments solve;
    cairn_compare_arguments compare;
    cairn_measure_options measure; /* --region and --set of `cairn stat` and `cairn plot`    */
    char problem[640];             /* message about the value of a flag, where it varies */
    cairn_reproduce_arguments reproduce;
    cairn_export_arguments export;
    cairn_sweep_arguments sweep;
    cairn_explain_arguments explain;
} cairn_arguments;

/* A flag: its name, whether a value follows, and the function that stores it. */
typedef struct cairn_flag {
    const char *name;  /* "--out"                                              */
    char letter;       /* 'o' for -o; 0: none                                  */
    const char *value; /* what follows, "DIR"; NULL: nothing                   */
    const char *text;  /* one line of help                                     */
    /* NULL, or what is wrong with the value */
    const char *(*take)(cairn_arguments *arguments, const char *value);
} cairn_flag;

/* A command: one line in the table of main.c. */
typedef struct cairn_command {
    const char *name;
    const char
        *operand; /* in brackets if optional, with dots if there may be several; NULL: none */
    const char *summary; /* one line                                                             */
    const char *details; /* more, for `cairn help NAME`                                          */
    const cairn_flag *const *flags; /* ended by NULL */
    int (*run)(const cairn_arguments *arguments);
} cairn_command;

extern const cairn_command cairn_command_run, cairn_command_resume, cairn_command_check,
    cairn_command_list, cairn_command_info, cairn_command_explain, cairn_command_solve,
    cairn_command_compare, cairn_command_stat, cairn_command_plot, cairn_command_reproduce,
    cairn_command_view, cairn_command_export, cairn_command_sweep, cairn_command_help;
extern const cairn_flag cairn_flag_out, cairn_flag_set, cairn_flag_quiet, cairn_flag_threads,
    cairn_flag_save_problem, cairn_flag_strict, cairn_flag_force, cairn_flag_help,
    cairn_flag_no_browser;
/* Read argv[0 .. count-1] as the arguments of a command; uses argv itself as the list of
 * overrides, or of several operands: no command takes both. EXIT_DONE, or EXIT_USAGE after a
 * message. */
int cairn_arguments_read(const cairn_command *command, int count, char **argv,
                         cairn_arguments *out);

/* The command called `name`; NULL after a message with the nearest name. */
const cairn_command *cairn_command_find(const char *name);

/* A command that rank 0 of MPI carries out while the other ranks serve it; `link` NULL: there are
 * none. */
typedef int cairn_ranks_fn(const cairn_arguments *arguments, cairn_link *link);
int cairn_with_ranks(const cairn_arguments *arguments, cairn_ranks_fn *work);

/* Load the operand as a scene that all ranks of a link will run; EXIT_DONE, or an exit code after a
 * message. */
int cairn_arguments_scene(const cairn_arguments *arguments, cairn_link *link, cairn_scene **out);

/* Create the folder and its missing parents, before work begins whose results would otherwise be
 * lost. EXIT_DONE, or EXIT_FAILED after a message of the command. */
int cairn_folder_prepare(const char *command, const char *folder);

/* ---- what commands print --------------------------------------------------------------------- */

/* What commands print: lines, scenes, the summary of a run, progress, and pictures by
 * gnuplot. */

/* One line of a table on standard output: a name and a formatted value. */
void cairn_line_print(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Title, bodies, materials, mass, extent, and the settings of the run. */
void cairn_scene_describe(const cairn_scene *scene);

/* "3-5, 9 and 2 more ranges": steps as text, at most `most` ranges. */
void cairn_spans_text(const cairn_run_spans *spans, int most, char *text, size_t capacity);

/* ---- the table at the end of a run ----------------------------------------------------------- */

/* Print what a run did, how well, where the time went and where the files are. */
void cairn_summary_print(const cairn_scene *scene, const cairn_run_summary *summary,
                         const char *folder);

/* Warn on standard error of steps that missed their tolerance, with the place of their problems,
 * and of deep overlaps. */
void cairn_summary_warn(const cairn_scene *scene, const cairn_run_summary *summary,
                        const char *folder);

/* ---- how far a run has come: one redrawn line on a terminal, else plain lines ---------------- */

/* Set by cairn_progress_start, updated by cairn_progress_show. */
typedef struct cairn_progress_view {
    bool quiet, terminal;
    double started; /* s, clock at the start                                      */
    double shown;   /* s, clock when a line was last printed                      */
    double reached; /* s of the run reached then                                  */
    double speed;   /* recent seconds of the run per second; 0: not known yet     */
    int tenths;     /* 10 % marks passed                                          */
    bool line_open; /* the cursor is in a redrawn line                            */
} cairn_progress_view;

/* Begin; lines go to standard error. */
cairn_progress_view cairn_progress_start(bool quiet);
/* Called after every step; prints when a line is due. */
void cairn_progress_show(cairn_progress_view *view, const cairn_progress *progress);
/* For work other than a run: whether a line is due when the fraction `done` in [0, 1] is completed,
 * and printing it. */
bool cairn_progress_due(cairn_progress_view *view, double done);
void cairn_progress_print(cairn_progress_view *view, const char *state, double done);
/* Seconds as "1:05" or "2:03:09"; NaN: "?". */
void cairn_progress_left(double seconds, char *text, size_t capacity);
/* Leave the redrawn line. */
void cairn_progress_end(cairn_progress_view *view);

/* ---- pictures by gnuplot, where it is installed ---------------------------------------------- */

typedef enum cairn_plot_outcome { PLOT_DRAWN, PLOT_NO_GNUPLOT, PLOT_FAILED } cairn_plot_outcome;

/* Run `gnuplot SCRIPT` in `folder` as a child process, without a shell. The script writes
 * PICTURE.part, which becomes PICTURE (cairn/output.h) if gnuplot succeeds, and is removed if
 * not. */
cairn_plot_outcome cairn_plot_draw(const char *folder, const char *script, const char *picture);

/* ---- work in processes of its own, several at a time (jobs.c) -------------------------------- */

/* How the process of an item ended. */
typedef struct cairn_job_end {
    const char *bytes; /* that it sent, `count` of them, lent            */
    size_t count;
    int code;            /* its exit code; -1: none                      */
    double seconds, cpu; /* s: elapsed, and CPU time                     */
    char problem[96];    /* how it was ended; empty: it ended by itself  */
} cairn_job_end;

/* Items to compute. */
typedef struct cairn_work {
    int count;
    int width; /* processes at a time, at most 64 */
    bool quiet;
    const char *noun;                          /* of the items, for the line of progress */
    void *context;                             /* given to all functions                 */
    double (*weight)(void *context, int item); /* estimated seconds, > 0; the longest begin first */
    const char *(*name)(void *context, int item);
    /* in a process of its own, which SIGTERM ends: compute, send, return the exit code */
    int (*compute)(void *context, int item, int pipe);
    void (*ended)(void *context, int item, const cairn_job_end *end);
} cairn_work;

/* Compute all items. An interrupt of the program ends it before all items have ended; `ended` is
 * not called for those in progress. Progress goes to standard error. */
cairn_status cairn_work_do(const cairn_work *work);
/* Send bytes to the parent; false: it is gone. */
bool cairn_job_send(int pipe, const void *bytes, size_t count);

#endif
