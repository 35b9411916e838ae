#include "util/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *text, *at;
    const char *const *names;
    const double *values;
    size_t n;
    struct bats_error *err;
    bool failed;
};

static double fail(struct reader *r, const char *what)
{
    if (!r->failed)
        bats_refuse(r->err, "%s in '%.80s', character %d", what, r->text,
                    (int)(r->at - r->text) + 1);
    r->failed = true;
    return 0;
}

static void skip(struct reader *r)
{
    while (*r->at == ' ' || *r->at == '\t')
        r->at++;
}

/* Takes the character if it is next. */
static bool take(struct reader *r, char c)
{
    skip(r);
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static double binary(struct reader *r, int level);

static double argument(struct reader *r, char end)
{
    double value = binary(r, 0);
    if (!r->failed && !take(r, end))
        return fail(r, end == ',' ? "a comma is missing"
                                  : "a parenthesis is missing");
    return value;
}

static double call(struct reader *r, const char *name, size_t length)
{
    bool is_min = length == 3 && strncmp(name, "min", 3) == 0;
    bool is_max = length == 3 && strncmp(name, "max", 3) == 0;
    if (is_min || is_max) {
        double a = argument(r, ','), b = argument(r, ')');
        return is_min ? fmin(a, b) : fmax(a, b);
    }
    if (length == 4 && strncmp(name, "sqrt", 4) == 0)
        return sqrt(argument(r, ')'));
    if (length == 3 && strncmp(name, "log", 3) == 0)
        return log(argument(r, ')'));
    r->at = name;
    return fail(r, "an unknown function");
}

static double named(struct reader *r)
{
    const char *name = r->at;
    while (isalnum((unsigned char)*r->at) || *r->at == '_')
        r->at++;
    size_t length = (size_t)(r->at - name);
    if (take(r, '('))
        return call(r, name, length);
    for (size_t i = 0; i < r->n; i++)
        if (strlen(r->names[i]) == length &&
            strncmp(r->names[i], name, length) == 0)
            return r->values[i];
    r->at = name;
    return fail(r, "an unknown name");
}

static double power(struct reader *r);

static double primary(struct reader *r)
{
    skip(r);
    if (r->failed)
        return 0;
    if (isalpha((unsigned char)*r->at))
        return named(r);
    if (take(r, '('))
        return argument(r, ')');
    if (take(r, '-'))
        return -power(r);
    if (!isdigit((unsigned char)*r->at) && *r->at != '.')
        return fail(r, "a number or a name is missing");
    char *end;
    double value = strtod(r->at, &end);
    if (end == r->at)
        return fail(r, "a number or a name is missing");
    r->at = end;
    return value;
}

static double power(struct reader *r)
{
    double base = primary(r);
    return take(r, '^') ? pow(base, power(r)) : base;
}

static double apply(char sign, double a, double b)
{
    switch (sign) {
    case '<':
        return a < b;
    case '>':
        return a > b;
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    default:
        return a / b;
    }
}

/* Operators of one level bind to the left, except that there is at most one
 * comparison. */
static double binary(struct reader *r, int level)
{
    static const char *const operators[] = {"<>", "+-", "*/"};
    if (level == 3)
        return power(r);
    double value = binary(r, level + 1);
    for (bool more = true; more && !r->failed; more = level > 0) {
        skip(r);
        char sign = *r->at;
        if (sign == '\0' || strchr(operators[level], sign) == NULL)
            break;
        r->at++;
        value = apply(sign, value, binary(r, level + 1));
    }
    return value;
}

int bats_expression_value(const char *text, const char *const *names,
                          const double *values, size_t n, double *value,
                          struct bats_error *err)
{
    struct reader r = {text, text, names, values, n, err, false};
    if (strlen(text) >= BATS_EXPRESSION_MAX)
        return bats_refuse(err, "an expression of more than %d characters",
                           BATS_EXPRESSION_MAX - 1);
    *value = binary(&r, 0);
    skip(&r);
    if (!r.failed && *r.at != '\0')
        fail(&r, "something that does not belong there");
    return r.failed ? BATS_EINPUT : 0;
}
