#include "report/inorder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/grow.h"

#define NONE SIZE_MAX

struct piece {
    off_t at; /* in the file */
    size_t n;
    size_t next; /* of the same task, or NONE */
    int stream;
};

struct held {
    size_t first, last; /* its pieces, or NONE */
    int64_t to_come;
    bool ended;
};

struct bats_inorder {
    bats_inorder_write *write;
    void *context;
    uint32_t n, next;
    struct held *held; /* by task */
    struct piece *pieces;
    size_t n_pieces, room;
    size_t n_held; /* pieces not written yet */
    FILE *file;    /* NULL: not needed yet */
    off_t end;
};

int bats_inorder_create(uint32_t n, bats_inorder_write *write, void *context,
                        struct bats_inorder **inorder, struct bats_error *err)
{
    struct bats_inorder *o = calloc(1, sizeof *o);
    if (o != NULL)
        *o = (struct bats_inorder){
            .write = write,
            .context = context,
            .n = n,
            .held = malloc((size_t)n * sizeof *o->held),
        };
    if (o == NULL || o->held == NULL) {
        free(o);
        return bats_no_memory(err);
    }
    for (uint32_t i = 0; i < n; i++)
        o->held[i] = (struct held){NONE, NONE, 0, false};
    *inorder = o;
    return 0;
}

static void write_piece(struct bats_inorder *o, uint32_t task,
                        const struct piece *piece)
{
    char bytes[32768];
    fseeko(o->file, piece->at, SEEK_SET);
    for (size_t left = piece->n, got; left > 0; left -= got) {
        got = left < sizeof bytes ? left : sizeof bytes;
        got = fread(bytes, 1, got, o->file);
        if (got == 0)
            return;
        o->write(o->context, task, piece->stream, bytes, got);
    }
}

static void let_go(struct bats_inorder *o, uint32_t task)
{
    size_t i = o->held[task].first;
    for (; i != NONE; i = o->pieces[i].next) {
        write_piece(o, task, &o->pieces[i]);
        o->n_held--;
    }
    o->held[task].first = o->held[task].last = NONE;
    if (o->n_held > 0 || o->n_pieces == 0)
        return;
    o->n_pieces = 0;
    o->end = 0;
    if (ftruncate(fileno(o->file), 0) != 0)
        return; /* it will be overwritten */
}

static void advance(struct bats_inorder *o)
{
    while (o->next < o->n && o->held[o->next].ended &&
           o->held[o->next].to_come <= 0)
        if (++o->next < o->n)
            let_go(o, o->next);
}

static int hold(struct bats_inorder *o, uint32_t task, int stream,
                const char *bytes, size_t n, struct bats_error *err)
{
    struct held *h = &o->held[task];
    if (o->file == NULL)
        o->file = tmpfile();
    if (o->file == NULL)
        return bats_error_set(err, BATS_ESYS, "no file to hold output in: %s",
                              strerror(errno));
    if (!bats_grow(&o->pieces, &o->room, o->n_pieces + 1, sizeof *o->pieces))
        return bats_no_memory(err);
    if (fseeko(o->file, o->end, SEEK_SET) != 0 ||
        fwrite(bytes, 1, n, o->file) != n || fflush(o->file) != 0)
        return bats_error_set(err, BATS_ESYS, "cannot hold output: %s",
                              strerror(errno));
    o->pieces[o->n_pieces] = (struct piece){o->end, n, NONE, stream};
    if (h->last == NONE)
        h->first = o->n_pieces;
    else
        o->pieces[h->last].next = o->n_pieces;
    h->last = o->n_pieces++;
    o->n_held++;
    o->end += (off_t)n;
    return 0;
}

int bats_inorder_output(struct bats_inorder *o, uint32_t task, int stream,
                        const char *bytes, size_t n, struct bats_error *err)
{
    int rc = task > o->next ? hold(o, task, stream, bytes, n, err) : 0;
    if (task <= o->next || rc < 0)
        o->write(o->context, task, stream, bytes, n);
    if (stream == 1)
        o->held[task].to_come -= (int64_t)n;
    if (o->held[task].ended)
        advance(o);
    return rc;
}

void bats_inorder_ended(struct bats_inorder *o, uint32_t task, int64_t to_come)
{
    if (o->held[task].ended)
        return;
    o->held[task].ended = true;
    o->held[task].to_come = to_come;
    advance(o);
}

uint32_t bats_inorder_next(const struct bats_inorder *o)
{
    return o->next;
}

void bats_inorder_destroy(struct bats_inorder *o)
{
    if (o == NULL)
        return;
    for (uint32_t task = o->next; task < o->n; task++)
        let_go(o, task);
    if (o->file != NULL)
        fclose(o->file);
    free(o->pieces);
    free(o->held);
    free(o);
}
