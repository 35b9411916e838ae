/* fuzz_record: a damaged record is refused, read or recovered, but never
 * crashes its reader. The input is a list of damages to a small record: three
 * bytes of place and one of value each; a value at its very end cuts. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/record.h"
#include "record/recover.h"
#include "record/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define ROOM 64

static char dir[] = "/dev/shm/bats-fuzz-XXXXXX"; /* fsync costs nothing */
static char damaged[ROOM], saved[ROOM];
static uint8_t *whole;
static size_t size;

static void must(int rc)
{
    if (rc < 0)
        abort();
}

static void remove_directory(void)
{
    rmdir(dir);
}

static void make_record(void)
{
    struct bats_error err;
    struct bats_record *r;
    struct bats_cluster cluster = {.name = "c", .charge = 5, .max = 1};
    struct bats_machine_spec machine = {.slots = 1};
    struct bats_record_session session = {
        .bag = "bag",
        .clusters = &cluster,
        .n_clusters = 1,
        .machines = &machine,
        .n_machines = 1,
    };
    struct bats_decision decision = {.time = 3, .machines = {1}};

    if (mkdtemp(dir) == NULL)
        abort();
    atexit(remove_directory);
    setenv("TMPDIR", dir, 1);
    snprintf(damaged, ROOM, "%s/damaged.bats", dir);
    snprintf(saved, ROOM, "%s/saved.bats", dir);
    must(bats_record_create(damaged, &r, &err));
    for (uint32_t i = 0; i < 300; i++)
        must(bats_record_task(r, i, i, "true", NULL, &err));
    must(bats_record_begin(r, &session, &err));
    must(bats_record_charge(r, 1, 0, 5, &err));
    must(bats_record_decision(r, &decision, &err));
    must(bats_record_notice(r, 1, 0, 0, "odd", &err));
    for (uint32_t i = 0; i < 250; i++) {
        struct bats_command command = {.type = BATS_COMMAND_RUN, .task = i};
        struct bats_event event = {.type = BATS_EVENT_DONE, .task = i};
        struct bats_record_attempt attempt = {.task = i, .attempt = 1};
        must(bats_record_command(r, i, &command, &err));
        must(bats_record_event(r, i, &event, &err));
        must(bats_record_attempt(r, i, &attempt, &err));
    }
    must(bats_record_close(r, &err));

    FILE *f = fopen(damaged, "rb");
    if (f == NULL || fseek(f, 0, SEEK_END) != 0)
        abort();
    size = (size_t)ftell(f);
    whole = malloc(size);
    rewind(f);
    if (whole == NULL || fread(whole, 1, size, f) != size)
        abort();
    fclose(f);
}

static void remove_with(const char *suffix)
{
    char name[2 * ROOM];
    snprintf(name, sizeof name, "%s%s", damaged, suffix);
    unlink(name);
}

static void make_damaged(const uint8_t *data, size_t n)
{
    uint8_t *bytes = malloc(size);
    size_t left = size;
    if (bytes == NULL)
        abort();
    memcpy(bytes, whole, size);
    for (; n >= 4; n -= 4, data += 4) {
        size_t place = (size_t)data[0] << 16 | (size_t)data[1] << 8 | data[2];
        bytes[place % size] = data[3];
        if (n < 8 && data[3] == 0)
            left = place % size;
    }
    FILE *f = fopen(damaged, "wb");
    if (f == NULL || fwrite(bytes, 1, left, f) != left || fclose(f) != 0)
        abort();
    free(bytes);
}

static void view(void)
{
    struct bats_error err;
    struct bats_view *v;
    struct bats_view_status status;
    struct bats_view_entry entry;
    struct bats_view_task task;
    struct bats_view_decision decision;
    bool found;

    if (bats_view_open(damaged, &v, &err) < 0)
        return;
    bats_view_status(v, &status, &err);
    bats_view_decision(v, &found, &decision, &err);
    if (bats_view_log(v, NULL, 0, &err) == 0)
        for (int i = 0; i < 5000; i++)
            if (bats_view_next_entry(v, &entry, &err) <= 0)
                break;
    if (bats_view_tasks(v, NULL, 0, BATS_VIEW_SLOWEST, 10, &err) == 0)
        while (bats_view_next_task(v, &task, &err) > 0)
            ;
    bats_view_close(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct bats_error err;
    struct bats_recovery recovery;
    struct bats_record *r;
    struct bats_record_past past;

    if (whole == NULL)
        make_record();
    make_damaged(data, n);
    view();
    bats_record_recover(damaged, saved, &recovery, &err);
    unlink(saved);
    if (bats_record_open(damaged, &r, &err) == 0) {
        bats_record_task(r, 0, 1, "true", &past, &err);
        bats_record_close(r, &err);
    }
    remove_with("-wal");
    remove_with("-journal");
    remove_with("");
    return 0;
}
