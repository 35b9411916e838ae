/* slurm_fields: the fields of what Slurm prints. */
#include <stdlib.h>
#include <string.h>

#include "site/slurm.h"

const char *bats_slurm_find(const char *at, const char *key)
{
    size_t n = strlen(key);
    for (; *at != '\0' && *at != '\n'; at++)
        if (*at == ' ' && strncmp(at + 1, key, n) == 0 && at[n + 1] == '=')
            return at + n + 2;
    return NULL;
}

/* Copies the value at `at`; "" for NULL, none or a value that is too long. */
static void copy(const char *at, char *value, size_t size)
{
    size_t n = at != NULL ? strcspn(at, " \n") : 0;
    if (n >= size || (n == 6 && strncmp(at, "(null)", 6) == 0))
        n = 0;
    memcpy(value, at != NULL ? at : "", n);
    value[n] = '\0';
}

void bats_slurm_get(const char *at, const char *key, char *value, size_t size)
{
    copy(bats_slurm_find(at, key), value, size);
}

bool bats_slurm_begins(const char *line, const char *key, char *value,
                       size_t size)
{
    size_t n = strlen(key);
    if (strncmp(line, key, n) != 0 || line[n] != '=')
        return false;
    copy(line + n + 1, value, size);
    return true;
}

const char *bats_slurm_item(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (;; list++) {
        if (strncmp(list, name, n) == 0 && list[n] == '=')
            return list + n + 1;
        list += strcspn(list, ", \n");
        if (*list != ',')
            return NULL;
    }
}

double bats_slurm_amount(const char *list, const char *name)
{
    const char *item = bats_slurm_item(list, name);
    return item != NULL ? strtod(item, NULL) : -1;
}
