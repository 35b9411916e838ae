#include "run/pernode.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "exec/process/environment.h"
#include "util/asset.h"

BATS_ASSET(script, "run/pernode.sh");

int bats_pernode_init(struct bats_pernode *node,
                      const struct bats_setup *setup, struct bats_error *err)
{
    const char *directory = getenv("TMPDIR");
    char host[HOST_NAME_MAX + 1] = "";
    gethostname(host, sizeof host - 1);
    node->is_due = setup->n_start + setup->n_stop > 0;
    if (snprintf(node->file, PATH_MAX, "%s/bats-mpi-%s-%s",
                 directory != NULL && *directory ? directory : "/tmp",
                 setup->run_id, host) >= PATH_MAX)
        return bats_refuse(err, "TMPDIR is too long");
    int rc = 0;
    for (int stops = 0; rc == 0 && stops < 2; stops++) {
        struct bats_text *text = &node->variables[stops];
        const char *commands = stops ? setup->stop : setup->start;
        const char *end = commands + (stops ? setup->n_stop : setup->n_start);
        bats_text_cut(text, 0);
        bats_text_format(text,
                         "BATS_NODE_PHASE=%s%cBATS_NODE_FILE=%s%c"
                         "DISBATCH_ENGINE_RANK=%" PRIu32
                         "%cBATS_NODE_COMMANDS=",
                         stops ? "STOP" : "START", '\0', node->file, '\0',
                         setup->number, '\0');
        for (; commands < end; commands += strlen(commands) + 1)
            bats_text_format(text, "%s\n", commands);
        bats_text_put(text, "", 1);
        rc = bats_text_check(text, err);
    }
    return rc;
}

void bats_pernode_release(struct bats_pernode *node)
{
    bats_text_release(&node->variables[0]);
    bats_text_release(&node->variables[1]);
}

int bats_pernode_run(struct bats_pernode *node, bool stops,
                     const struct bats_text *variables,
                     struct bats_runner *runner, int64_t timeout_us,
                     struct bats_runner_result *end, struct bats_error *err)
{
    struct bats_text *text = &node->variables[stops];
    size_t own = text->n;
    if (!bats_runner_busy(runner)) {
        bats_text_put(text, variables->bytes, variables->n);
        const char **environment = bats_environment_list(text);
        const struct bats_runner_task task = {.command = script.begin,
                                              .is_aside = true,
                                              .environment = environment};
        int rc = environment != NULL ? bats_runner_start(runner, &task, err)
                                     : bats_no_memory(err);
        free(environment);
        bats_text_cut(text, own);
        if (rc < 0)
            return rc;
    }
    return bats_runner_poll(runner, timeout_us, end, err);
}

uint32_t bats_pernode_number(const struct bats_pernode *node)
{
    uint32_t number = 0;
    FILE *file = fopen(node->file, "re");
    /* A rank that leaves writes it anew. */
    while (file != NULL && flock(fileno(file), LOCK_SH) < 0 && errno == EINTR)
        ;
    if (file == NULL || fscanf(file, "%" SCNu32, &number) != 1)
        number = 0;
    if (file != NULL)
        fclose(file);
    return number;
}
