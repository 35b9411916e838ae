#include "util/similar.h"

#include <limits.h>
#include <string.h>

#define LONGEST 32 /* words beyond this length resemble no name */

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned edits(const char *a, size_t n, const char *b, size_t m)
{
    unsigned d[LONGEST + 1][LONGEST + 1];
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = (unsigned)(i + j);
                continue;
            }
            d[i][j] = least(d[i - 1][j], d[i][j - 1]) + 1;
            d[i][j] = least(d[i][j], d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

struct bats_similar bats_similar_to(const char *word, size_t length)
{
    return (struct bats_similar){
        .word = word, .length = length, .edits = UINT_MAX};
}

void bats_similar_try(struct bats_similar *similar, const char *name)
{
    size_t n = strlen(name);
    if (similar->length > LONGEST || n > LONGEST)
        return;
    unsigned d = edits(similar->word, similar->length, name, n);
    if (3 * d <= n && d < similar->edits) {
        similar->name = name;
        similar->edits = d;
    }
}
