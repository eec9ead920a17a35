/* expression.h - formulas written by people, such as 0.5 * sin(2 * pi * t): parsed once, then
 * evaluated for values of their variables; and functions of time, of which a formula is one kind.
 *
 *     sum     = product { (+ | -) product }
 *     product = signed { (* | /) signed }
 *     signed  = { + | - } power
 *     power   = atom [ ^ signed ]            2^3^2 = 2^9, -2^2 = -4, 2^-1 = 1/2
 *     atom    = number | name | function ( sum { , sum } ) | ( sum )
 *
 * Names are pi and those of the caller. There are no assignments, no loops and no access to
 * anything else; length and depth are bounded, so that evaluation takes a bounded time. */
#ifndef CAIRN_BASE_EXPRESSION_H
#define CAIRN_BASE_EXPRESSION_H

#include "cairn/base.h"

typedef struct cairn_expression cairn_expression;

/* Parse a text whose variables have these names. On failure (CAIRN_BAD_INPUT, CAIRN_NO_MEMORY)
 * *out is NULL, and `error` (may be NULL) says what was found and expected; its line and column
 * count from 1 within the text. */
cairn_status cairn_expression_parse(const char *text, const char *const *names, int count,
                                    cairn_expression **out, cairn_error *error);

/* The value for the given values of the variables, in the order of `names`. It may be infinite or
 * NaN, for example 1/0 or sqrt(-1): the caller decides what that means. */
double cairn_expression_value(const cairn_expression *expression, const double *values);

/* The name of function `index`, NULL past the last. */
const char *cairn_expression_function(int index);

/* Free an expression; NULL is allowed. */
void cairn_expression_destroy(cairn_expression *expression);

/* ---- functions of time --------------------------------------------------------------------- */

/* Replace lists and text by copies that belong to the function, and parse its expression. On
 * failure (of cairn_function_check, or CAIRN_NO_MEMORY) the function is as before. */
cairn_status cairn_function_own(cairn_function *function, cairn_error *error);
/* Free what an owned function holds, and make it 0. */
void cairn_function_release(cairn_function *function);
/* Whether it is 0 at all times by its kind: a function that was not given. */
bool cairn_function_is_none(const cairn_function *function);

/* The integral from a to b, of an owned function. Constant, table, harmonic and ramp: in closed
 * form. Expression and callback: by Gauss's rule with 4 points, exact for polynomials up to degree
 * 7; a jump or a kink between a and b makes it less accurate. */
double cairn_function_integral(const cairn_function *function, double a, double b);
/* The mean over [a, b], b > a. */
double cairn_function_mean(const cairn_function *function, double a, double b);

#endif
