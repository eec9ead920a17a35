/* expression.c - parses formulas by recursive descent into a list of instructions for a stack, and
 * evaluates them; values and integrals of functions of time.
 *
 * "a + b * 2" becomes  push a, push b, push 2, multiply, add. The parser bounds the nesting and the
 * number of instructions and knows how deep the stack gets, so that evaluation needs no check, no
 * recursion and no memory of its own. */
#include "base/expression.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"

enum { MOST_CODES = 1000, MOST_NESTED = 50, MOST_STACKED = 200, MOST_LETTERS = 31 };

/* ---- what can be computed ------------------------------------------------------------------ */

typedef double unary_fn(double x);
typedef double binary_fn(double x, double y);

typedef struct operation {
    const char *name;
    unary_fn *of_one; /* one of the two is NULL */
    binary_fn *of_two;
} operation;

static double sum(double x, double y)
{
    return x + y;
}

static double difference(double x, double y)
{
    return x - y;
}

static double product(double x, double y)
{
    return x * y;
}

static double quotient(double x, double y)
{
    return x / y;
}

static double negative(double x)
{
    return -x;
}

static double sign(double x)
{
    return (double)((x > 0) - (x < 0));
}

/* 0 before 0, 1 from there on. */
static double step(double x)
{
    return x >= 0;
}

/* The remainder with the sign of y: mod(-1, 4) = 3, as periods need it. */
static double modulus(double x, double y)
{
    return x - y * floor(x / y);
}

static const operation functions[] = {
    { "sin", sin, NULL },     { "cos", cos, NULL },     { "tan", tan, NULL },
    { "asin", asin, NULL },   { "acos", acos, NULL },   { "atan", atan, NULL },
    { "sinh", sinh, NULL },   { "cosh", cosh, NULL },   { "tanh", tanh, NULL },
    { "exp", exp, NULL },     { "log", log, NULL },     { "log10", log10, NULL },
    { "sqrt", sqrt, NULL },   { "abs", fabs, NULL },    { "sign", sign, NULL },
    { "step", step, NULL },   { "floor", floor, NULL }, { "ceil", ceil, NULL },
    { "round", round, NULL }, { "atan2", NULL, atan2 }, { "min", NULL, fmin },
    { "max", NULL, fmax },    { "mod", NULL, modulus }, { "pow", NULL, pow },
};

const char *cairn_expression_function(int index)
{
    return index >= 0 && index < CAIRN_COUNT(functions) ? functions[index].name : NULL;
}

/* One instruction: push a number, push a variable, or replace the top of the stack. */
typedef enum code_kind { PUSH, LOAD, APPLY_ONE, APPLY_TWO } code_kind;

typedef struct code {
    code_kind kind;
    int variable;
    double number;
    unary_fn *of_one;
    binary_fn *of_two;
} code;

struct cairn_expression {
    code *codes;
    size_t count, capacity;
};

void cairn_expression_destroy(cairn_expression *expression)
{
    if (expression)
        cairn_memory_free(expression->codes);
    cairn_memory_free(expression);
}

double cairn_expression_value(const cairn_expression *expression, const double *values)
{
    double stack[MOST_STACKED];
    int top = -1;
    for (size_t k = 0; k < expression->count; k++) {
        const code *c = &expression->codes[k];
        switch (c->kind) {
        case PUSH:
            stack[++top] = c->number;
            break;
        case LOAD:
            stack[++top] = values[c->variable];
            break;
        case APPLY_ONE:
            stack[top] = c->of_one(stack[top]);
            break;
        case APPLY_TWO:
            top--;
            stack[top] = c->of_two(stack[top], stack[top + 1]);
            break;
        }
    }
    return stack[0];
}

/* ---- parsing ------------------------------------------------------------------------------- */

typedef struct parser {
    const char *text, *at; /* the whole text, and what is left of it */
    const char *const *names;
    int count;
    int nested, stacked;
    cairn_expression *out;
    cairn_error *error;
} parser;

/* The place of a byte as line and column; a column is a byte. */
static void set_place(const parser *p, const char *place)
{
    const char *line = p->text;
    p->error->line = 1;
    for (const char *c = p->text; c < place; c++)
        if (*c == '\n') {
            p->error->line++;
            line = c + 1;
        }
    p->error->column = (int)(place - line) + 1;
}

/* "found 'x', expected ..." at the present place. */
static cairn_status unexpected(parser *p, const char *expected)
{
    char found[8] = { '\'', *p->at, '\'', '\0' };
    if (p->error)
        set_place(p, p->at);
    if (cairn_is_control(*p->at) || (unsigned char)*p->at > 126)
        snprintf(found, sizeof found, "\\x%02x", (unsigned char)*p->at);
    return cairn_fail(p->error, CAIRN_BAD_INPUT, NULL, "found %s, expected %s",
                      *p->at ? found : "the end", expected);
}

static void skip_space(parser *p)
{
    while (cairn_is_space(*p->at))
        p->at++;
}

/* Whether the next character is this one, which is then taken. */
static bool takes(parser *p, char c)
{
    skip_space(p);
    if (*p->at != c)
        return false;
    p->at++;
    return true;
}

/* Append an instruction and follow the height of the stack. */
static cairn_status emit(parser *p, code next)
{
    cairn_expression *e = p->out;
    p->stacked += next.kind == APPLY_TWO ? -1 : next.kind == APPLY_ONE ? 0 : 1;
    if (e->count >= MOST_CODES || p->stacked > MOST_STACKED)
        return unexpected(p, "a shorter expression");
    TRY(cairn_memory_reserve((void **)&e->codes, &e->capacity, e->count + 1, sizeof *e->codes));
    e->codes[e->count++] = next;
    return CAIRN_OK;
}

static cairn_status emit_two(parser *p, binary_fn *of_two)
{
    return emit(p, (code){ .kind = APPLY_TWO, .of_two = of_two });
}

static cairn_status parse_sum(parser *p);
static cairn_status parse_signed(parser *p);

/* The arguments of a function after its name. */
static cairn_status parse_call(parser *p, const operation *f)
{
    if (!takes(p, '('))
        return unexpected(p, "'(' after the name of a function");
    TRY(parse_sum(p));
    if (f->of_two) {
        if (!takes(p, ','))
            return unexpected(p, "',' and a second argument");
        TRY(parse_sum(p));
    }
    if (!takes(p, ')'))
        return unexpected(p, "an operator or ')'");
    return f->of_two ? emit_two(p, f->of_two)
                     : emit(p, (code){ .kind = APPLY_ONE, .of_one = f->of_one });
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Take a name. One that is too long is cut; it then is unknown. */
static void take_name(parser *p, char name[MOST_LETTERS + 1])
{
    int length = 0;
    for (; is_letter(*p->at) || cairn_is_digit(*p->at); p->at++)
        if (length < MOST_LETTERS)
            name[length++] = *p->at;
    name[length] = '\0';
}

/* The error is at the first letter; a near name is suggested. */
static cairn_status unknown_name(parser *p, const char *start, const char *name)
{
    const char *known[CAIRN_COUNT(functions)];
    for (int i = 0; i < CAIRN_COUNT(functions); i++)
        known[i] = functions[i].name;
    const char *near_one = cairn_nearest_name(name, p->names, p->count);
    near_one = near_one ? near_one : cairn_nearest_name(name, known, CAIRN_COUNT(functions));
    if (p->error)
        set_place(p, start);
    if (near_one)
        return cairn_fail(p->error, CAIRN_BAD_INPUT, NULL, "unknown name '%s'; did you mean '%s'?",
                          name, near_one);
    char names[300] = "";
    size_t used = 0;
    for (int i = 0; i < p->count && used < sizeof names; i++)
        used +=
            (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", p->names[i]);
    return cairn_fail(p->error, CAIRN_BAD_INPUT, NULL, "unknown name '%s'%s%s%s", name,
                      p->count > 1   ? ", expected one of "
                      : p->count > 0 ? ", expected "
                                     : "",
                      names, names[0] ? ", or a function" : "");
}

/* A variable, a function or pi. The names of the caller come first. */
static cairn_status parse_name(parser *p)
{
    char name[MOST_LETTERS + 1];
    const char *start = p->at;
    take_name(p, name);
    for (int i = 0; i < p->count; i++)
        if (strcmp(p->names[i], name) == 0)
            return emit(p, (code){ .kind = LOAD, .variable = i });
    for (int i = 0; i < CAIRN_COUNT(functions); i++)
        if (strcmp(functions[i].name, name) == 0)
            return parse_call(p, &functions[i]);
    if (strcmp(name, "pi") == 0)
        return emit(p, (code){ .kind = PUSH, .number = M_PI });
    return unknown_name(p, start, name);
}

static cairn_status parse_atom(parser *p)
{
    if (takes(p, '(')) {
        TRY(parse_sum(p));
        return takes(p, ')') ? CAIRN_OK : unexpected(p, "an operator or ')'");
    }
    if (is_letter(*p->at))
        return parse_name(p);
    double number;
    size_t length = *p->at == '+' || *p->at == '-' ? 0 : cairn_number_read(p->at, &number);
    if (length == 0)
        return unexpected(p, "a number, a name or '('");
    p->at += length;
    return emit(p, (code){ .kind = PUSH, .number = number });
}

/* A power binds more strongly than a sign before it, and less than one after ^. */
static cairn_status parse_signed(parser *p)
{
    if (++p->nested > MOST_NESTED)
        return unexpected(p, "less nesting");
    bool minus = takes(p, '-');
    if (minus || takes(p, '+')) {
        TRY(parse_signed(p));
        if (minus)
            TRY(emit(p, (code){ .kind = APPLY_ONE, .of_one = negative }));
    } else {
        TRY(parse_atom(p));
        if (takes(p, '^')) {
            TRY(parse_signed(p));
            TRY(emit_two(p, pow));
        }
    }
    p->nested--;
    return CAIRN_OK;
}

static cairn_status parse_product(parser *p)
{
    TRY(parse_signed(p));
    for (;;) {
        bool times = takes(p, '*');
        if (!times && !takes(p, '/'))
            return CAIRN_OK;
        TRY(parse_signed(p));
        TRY(emit_two(p, times ? product : quotient));
    }
}

static cairn_status parse_sum(parser *p)
{
    TRY(parse_product(p));
    for (;;) {
        bool plus = takes(p, '+');
        if (!plus && !takes(p, '-'))
            return CAIRN_OK;
        TRY(parse_product(p));
        TRY(emit_two(p, plus ? sum : difference));
    }
}

static cairn_status parse_all(parser *p)
{
    TRY(parse_sum(p));
    skip_space(p);
    return *p->at ? unexpected(p, "an operator or the end") : CAIRN_OK;
}

cairn_status cairn_expression_parse(const char *text, const char *const *names, int count,
                                    cairn_expression **out, cairn_error *error)
{
    *out = NULL;
    cairn_expression *e = cairn_memory_zeroed(1, sizeof *e);
    if (!e)
        return CAIRN_NO_MEMORY;
    parser p = { text, text, names, count, 0, 0, e, error };
    cairn_status status = parse_all(&p);
    if (status != CAIRN_OK) {
        cairn_expression_destroy(e);
        return status;
    }
    *out = e;
    return CAIRN_OK;
}

/* ==== functions of time ======================================================================= */

#define ANY -CAIRN_UNBOUNDED, CAIRN_UNBOUNDED

static const char *const time_name[] = { "t" };

cairn_function cairn_function_default(cairn_function_kind kind)
{
    return (cairn_function){ .kind = kind, .to = 1, .stop = 1 };
}

/* A record needs a function that sets the defaults of one kind without being told the kind. */
static void constant_default(void *function)
{
    *(cairn_function *)function = cairn_function_default(CAIRN_FUNCTION_CONSTANT);
}

static void table_default(void *function)
{
    *(cairn_function *)function = cairn_function_default(CAIRN_FUNCTION_TABLE);
}

static void harmonic_default(void *function)
{
    *(cairn_function *)function = cairn_function_default(CAIRN_FUNCTION_HARMONIC);
}

static void ramp_default(void *function)
{
    *(cairn_function *)function = cairn_function_default(CAIRN_FUNCTION_RAMP);
}

static const cairn_option constant_options[] = {
    { "value", CAIRN_OPTION_REAL, true, offsetof(cairn_function, value), ANY, "", "at any time",
      NULL },
};
static const cairn_option table_options[] = {
    { "time", CAIRN_OPTION_LIST, true, offsetof(cairn_function, time), ANY, "s", "increasing",
      NULL },
    { "values", CAIRN_OPTION_LIST, true, offsetof(cairn_function, values), ANY, "",
      "at these times, linear in between, constant outside", NULL },
};
static const cairn_option harmonic_options[] = {
    { "amplitude", CAIRN_OPTION_REAL, true, offsetof(cairn_function, amplitude), ANY, "",
      "of the sine", NULL },
    { "frequency", CAIRN_OPTION_REAL, true, offsetof(cairn_function, frequency), 0, 1e9, "Hz",
      "of the sine", NULL },
    { "phase", CAIRN_OPTION_REAL, false, offsetof(cairn_function, phase), ANY, "rad",
      "of the sine at t = 0", NULL },
    { "mean", CAIRN_OPTION_REAL, false, offsetof(cairn_function, mean), ANY, "",
      "added to the sine", NULL },
};
static const cairn_option ramp_options[] = {
    { "from", CAIRN_OPTION_REAL, true, offsetof(cairn_function, from), ANY, "", "value until start",
      NULL },
    { "to", CAIRN_OPTION_REAL, true, offsetof(cairn_function, to), ANY, "", "value after stop",
      NULL },
    { "start", CAIRN_OPTION_REAL, false, offsetof(cairn_function, start), ANY, "s",
      "when it begins to change", NULL },
    { "stop", CAIRN_OPTION_REAL, true, offsetof(cairn_function, stop), ANY, "s",
      "when it ends to change", NULL },
};

const cairn_record *cairn_function_record(int kind)
{
    static const cairn_record records[] = {
        { "constant", "one number", sizeof(cairn_function), constant_default, constant_options,
          CAIRN_COUNT(constant_options) },
        { "table", "numbers at times, linear in between", sizeof(cairn_function), table_default,
          table_options, CAIRN_COUNT(table_options) },
        { "harmonic", "mean + amplitude sin(2 pi frequency t + phase)", sizeof(cairn_function),
          harmonic_default, harmonic_options, CAIRN_COUNT(harmonic_options) },
        { "ramp", "from one number to another", sizeof(cairn_function), ramp_default, ramp_options,
          CAIRN_COUNT(ramp_options) },
    };
    return kind >= 0 && kind < CAIRN_COUNT(records) ? &records[kind] : NULL;
}

/* As many values as times, and times strictly increasing: interpolation divides by differences. */
static cairn_status check_table(const cairn_function *f, cairn_error *error)
{
    if (f->time.count == 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, "time", "the table is empty");
    if (f->values.count != f->time.count)
        return cairn_fail(error, CAIRN_BAD_INPUT, "values",
                          "found %d numbers, expected %d as in time", f->values.count,
                          f->time.count);
    for (int i = 1; i < f->time.count; i++)
        if (!(f->time.values[i] > f->time.values[i - 1]))
            return cairn_fail(error, CAIRN_BAD_INPUT, "time",
                              "entry %d is %g, expected more than %g before it", i + 1,
                              f->time.values[i], f->time.values[i - 1]);
    return CAIRN_OK;
}

static cairn_status check_text(const cairn_function *f, cairn_error *error)
{
    cairn_expression *parsed;
    if (!f->text)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "there is no expression");
    TRY(cairn_expression_parse(f->text, time_name, 1, &parsed, error));
    cairn_expression_destroy(parsed);
    return CAIRN_OK;
}

cairn_status cairn_function_check(const cairn_function *f, cairn_error *error)
{
    const cairn_record *record = cairn_function_record((int)f->kind);
    if (record)
        TRY(cairn_record_check(record, f, error));
    switch (f->kind) {
    case CAIRN_FUNCTION_CONSTANT:
    case CAIRN_FUNCTION_HARMONIC:
        return CAIRN_OK;
    case CAIRN_FUNCTION_TABLE:
        return check_table(f, error);
    case CAIRN_FUNCTION_RAMP:
        if (f->stop > f->start)
            return CAIRN_OK;
        return cairn_fail(error, CAIRN_BAD_INPUT, "stop", "found %g, expected more than start, %g",
                          f->stop, f->start);
    case CAIRN_FUNCTION_EXPRESSION:
        return check_text(f, error);
    case CAIRN_FUNCTION_CALL:
        if (f->call)
            return CAIRN_OK;
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "there is no callback");
    default:
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "unknown function %d", (int)f->kind);
    }
}

/* ---- memory --------------------------------------------------------------------------------- */

bool cairn_function_is_none(const cairn_function *f)
{
    return f->kind == CAIRN_FUNCTION_CONSTANT && f->value == 0;
}

void cairn_function_release(cairn_function *f)
{
    cairn_memory_free((void *)f->time.values);
    cairn_memory_free((void *)f->values.values);
    cairn_memory_free((void *)f->text);
    cairn_expression_destroy(f->parsed);
    *f = (cairn_function){ .kind = CAIRN_FUNCTION_CONSTANT };
}

/* Fill the copies in; what was taken belongs to `own`, which can be released half-built. */
static cairn_status copy_parts(const cairn_function *f, cairn_function *own)
{
    cairn_expression *parsed = NULL;
    if (f->kind == CAIRN_FUNCTION_TABLE) {
        own->time = f->time;
        TRY(cairn_memory_own_list(&own->time));
        own->values = f->values;
        if (cairn_memory_own_list(&own->values) != CAIRN_OK) {
            own->values = (cairn_list){ NULL, 0 };
            return CAIRN_NO_MEMORY;
        }
    }
    if (f->kind != CAIRN_FUNCTION_EXPRESSION)
        return CAIRN_OK;
    own->text = cairn_memory_text(f->text);
    if (!own->text)
        return CAIRN_NO_MEMORY;
    TRY(cairn_expression_parse(own->text, time_name, 1, &parsed, NULL));
    own->parsed = parsed;
    return CAIRN_OK;
}

cairn_status cairn_function_own(cairn_function *f, cairn_error *error)
{
    TRY(cairn_function_check(f, error));
    cairn_function own = *f;
    own.time = own.values = (cairn_list){ NULL, 0 };
    own.text = NULL;
    own.parsed = NULL;
    cairn_status status = copy_parts(f, &own);
    if (status == CAIRN_OK)
        *f = own;
    else
        cairn_function_release(&own);
    return status;
}

/* ---- values --------------------------------------------------------------------------------- */

/* Linear between the entries, constant outside. A linear search: tables are short. */
static double interpolate(cairn_list time, cairn_list value, double t)
{
    if (t <= time.values[0])
        return value.values[0];
    for (int i = 1; i < time.count; i++)
        if (t < time.values[i]) {
            double share = (t - time.values[i - 1]) / (time.values[i] - time.values[i - 1]);
            return value.values[i - 1] + share * (value.values[i] - value.values[i - 1]);
        }
    return value.values[time.count - 1];
}

/* A definition is parsed for each value; an owned function was parsed once. */
static double formula(const cairn_function *f, double t)
{
    cairn_expression *parsed = f->parsed;
    if (!parsed && (!f->text || cairn_expression_parse(f->text, time_name, 1, &parsed, NULL)))
        return NAN;
    double value = cairn_expression_value(parsed, &t);
    if (!f->parsed)
        cairn_expression_destroy(parsed);
    return value;
}

/* The ends of a ramp as a table of two points. */
static void ramp_points(const cairn_function *f, double time[2], double value[2])
{
    time[0] = f->start;
    time[1] = f->stop;
    value[0] = f->from;
    value[1] = f->to;
}

double cairn_function_value(const cairn_function *f, double t)
{
    double time[2], value[2];
    switch (f->kind) {
    case CAIRN_FUNCTION_TABLE:
        return interpolate(f->time, f->values, t);
    case CAIRN_FUNCTION_HARMONIC:
        return f->mean + f->amplitude * sin(2 * M_PI * f->frequency * t + f->phase);
    case CAIRN_FUNCTION_RAMP:
        ramp_points(f, time, value);
        return interpolate((cairn_list){ time, 2 }, (cairn_list){ value, 2 }, t);
    case CAIRN_FUNCTION_EXPRESSION:
        return formula(f, t);
    case CAIRN_FUNCTION_CALL:
        return f->call(f->context, t);
    default:
        return f->value;
    }
}

/* ---- integrals ------------------------------------------------------------------------------ */

/* Between two entries the function is linear, so (b - a) (f(a) + f(b))/2 is exact there. */
static double integrate_table(cairn_list time, cairn_list value, double a, double b)
{
    double sum = 0, low = a;
    for (int i = 0; i <= time.count && low < b; i++) {
        double high = i < time.count ? fmin(time.values[i], b) : b;
        if (high <= low)
            continue;
        sum +=
            0.5 * (high - low) * (interpolate(time, value, low) + interpolate(time, value, high));
        low = high;
    }
    return sum;
}

/* The integral of sin(w t + p) is 2/w sin(w (a + b)/2 + p) sin(w (b - a)/2), written without the
 * difference of two cosines, which would cancel in a short step. */
static double integrate_harmonic(const cairn_function *f, double a, double b)
{
    double w = 2 * M_PI * f->frequency, middle = sin(0.5 * w * (a + b) + f->phase);
    double sine = w > 0 ? 2 / w * middle * sin(0.5 * w * (b - a)) : middle * (b - a);
    return f->mean * (b - a) + f->amplitude * sine;
}

/* Gauss's rule with 4 points x_k on [-1, 1]: the sum of w_k f(m + r x_k) times r, with the middle m
 * and half the length r. */
static double integrate_by_points(const cairn_function *f, double a, double b)
{
    static const double x[2] = { 0.33998104358485626, 0.86113631159405257 };
    static const double weight[2] = { 0.65214515486254614, 0.34785484513745386 };
    double m = 0.5 * (a + b), r = 0.5 * (b - a), sum = 0;
    for (int k = 0; k < 2; k++)
        sum += weight[k] *
               (cairn_function_value(f, m - r * x[k]) + cairn_function_value(f, m + r * x[k]));
    return r * sum;
}

double cairn_function_integral(const cairn_function *f, double a, double b)
{
    double time[2], value[2];
    switch (f->kind) {
    case CAIRN_FUNCTION_CONSTANT:
        return f->value * (b - a);
    case CAIRN_FUNCTION_TABLE:
        return integrate_table(f->time, f->values, a, b);
    case CAIRN_FUNCTION_HARMONIC:
        return integrate_harmonic(f, a, b);
    case CAIRN_FUNCTION_RAMP:
        ramp_points(f, time, value);
        return integrate_table((cairn_list){ time, 2 }, (cairn_list){ value, 2 }, a, b);
    default:
        return integrate_by_points(f, a, b);
    }
}

/* A constant is returned as it is: (b - a)/(b - a) may round. */
double cairn_function_mean(const cairn_function *f, double a, double b)
{
    return f->kind == CAIRN_FUNCTION_CONSTANT ? f->value
                                              : cairn_function_integral(f, a, b) / (b - a);
}
