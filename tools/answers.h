/* answers.h - the answers of `cairn solve` as files: FOLDER/PROBLEM-SOLVER.hdf5, an FCLib file with
 * the problem and its solution. */
#ifndef CAIRN_TOOLS_ANSWERS_H
#define CAIRN_TOOLS_ANSWERS_H

#include "command.h"

enum { CAIRN_ANSWER_BYTES = 8192 };

/* The name of a problem: that of its file without folder and ending, `length` bytes. */
const char *cairn_problem_name(const char *problem, int *length);

/* Where the answer of a solver to the problem file `problem` goes. */
typedef struct cairn_answer_path {
    char text[CAIRN_ANSWER_BYTES];
} cairn_answer_path;

cairn_answer_path cairn_answer_place(const char *folder, const char *problem, const char *solver);

/* Make the folder of --out and refuse one that holds problems to be solved: EXIT_DONE, or an exit
 * code after a message. Without --out nothing happens. */
int cairn_answers_prepare(const cairn_arguments *arguments);

/* CAIRN_IO_FAILED: there is something of that name already. */
cairn_status cairn_answer_check(const char *path, cairn_error *error);

/* An earlier trial of a problem file of the same name, in another folder or given twice, whose
 * answer would be written over; NULL: none. */
const cairn_trial *cairn_answer_namesake(const cairn_trials *trials, const char *problem);

/* Write the last trial's answer to the problem of a file. */
cairn_status cairn_answer_write(const char *path, const cairn_trials *trials,
                                const cairn_fclib *file, cairn_error *error);

#endif
