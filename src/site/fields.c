#include "site/fields.h"

#include <string.h>

const char *bats_field_find(const char *at, const char *end, const char *key)
{
    size_t n = strlen(key);
    for (; at + n + 1 < end; at++)
        if (at[0] == ' ' && strncmp(at + 1, key, n) == 0 && at[n + 1] == '=')
            return at + n + 2;
    return NULL;
}

void bats_field_copy(const char *at, char *value, size_t size)
{
    size_t n = at != NULL ? strcspn(at, " \n") : 0;
    if (n >= size || (n == 6 && strncmp(at, "(null)", 6) == 0))
        n = 0;
    memcpy(value, at != NULL ? at : "", n);
    value[n] = '\0';
}

void bats_field_get(const char *at, const char *end, const char *key,
                    char *value, size_t size)
{
    bats_field_copy(bats_field_find(at, end, key), value, size);
}

const char *bats_field_line_end(const char *line)
{
    return line + strcspn(line, "\n");
}
