#include "site/ask.h"

#include "site/query.h"

#define PATIENCE_US 10000000

int bats_ask(const char *const *argv, const char *variable, char **answer,
             struct bats_error *err)
{
    struct bats_query query;
    int rc = bats_query_start(&query, argv, variable, NULL, PATIENCE_US, err);
    while (rc == 0)
        rc = bats_query_poll(&query, PATIENCE_US, answer, err);
    return rc < 0 ? rc : 0;
}
