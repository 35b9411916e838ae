#include "bats/bag.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

int bats_bag_init(struct bats_bag *bag, uint32_t n, uint64_t seed,
                  struct bats_error *err)
{
    *bag = (struct bats_bag){.n = n};
    bag->count[BATS_TASK_PENDING] = n;
    bag->state = calloc(n, sizeof *bag->state);
    bag->order = malloc(n * sizeof *bag->order);
    bag->task = malloc(n * sizeof *bag->task);
    bag->place = malloc(n * sizeof *bag->place);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    if (!bag->state || !bag->order || !bag->task || !bag->place || !rng) {
        gsl_rng_free(rng);
        bats_bag_release(bag);
        return bats_error_set(err, BATS_ENOMEM,
                              "no memory for a bag of %u tasks", n);
    }
    for (uint32_t place = 0; place < n; place++)
        bag->task[place] = bag->order[place] = place;
    gsl_rng_set(rng, (unsigned long)seed);
    gsl_ran_shuffle(rng, bag->task, n, sizeof *bag->task);
    gsl_rng_free(rng);
    for (uint32_t place = 0; place < n; place++)
        bag->place[bag->task[place]] = place;
    return 0;
}

void bats_bag_release(struct bats_bag *bag)
{
    free(bag->state);
    free(bag->order);
    free(bag->task);
    free(bag->place);
    *bag = (struct bats_bag){0};
}

static void move(struct bats_bag *bag, uint32_t place, enum bats_task_state to)
{
    bag->count[bag->state[place]]--;
    bag->count[to]++;
    bag->state[place] = (uint8_t)to;
}

void bats_bag_resume(struct bats_bag *bag, const uint8_t *state)
{
    uint32_t kept = 0;
    for (uint32_t place = 0; place < bag->n; place++) {
        uint8_t now = state[bag->task[place]];
        if (now == BATS_TASK_DONE || now == BATS_TASK_FAILED ||
            now == BATS_TASK_LEFT_OUT)
            move(bag, place, (enum bats_task_state)now);
        else
            bag->order[kept++] = place;
    }
}

uint32_t bats_bag_draw(struct bats_bag *bag, uint32_t behind)
{
    assert(behind < bats_bag_ready(bag));
    uint32_t *at = &bag->order[bats_bag_ready(bag) - 1 - behind];
    uint32_t place = *at;
    if (behind > 0)
        memmove(at, at + 1, behind * sizeof *at);
    move(bag, place, BATS_TASK_ASSIGNED);
    return place;
}

void bats_bag_cancel(struct bats_bag *bag, uint32_t place)
{
    assert(bag->state[place] == BATS_TASK_ASSIGNED);
    move(bag, place, BATS_TASK_CANCELLING);
}

static bool on_machine(const struct bats_bag *bag, uint32_t place)
{
    return bag->state[place] == BATS_TASK_ASSIGNED ||
           bag->state[place] == BATS_TASK_CANCELLING;
}

void bats_bag_put_aside(struct bats_bag *bag, uint32_t place)
{
    assert(on_machine(bag, place));
    move(bag, place, BATS_TASK_WAITING);
}

void bats_bag_put_back(struct bats_bag *bag, uint32_t place)
{
    assert(on_machine(bag, place) || bag->state[place] == BATS_TASK_WAITING);
    bag->order[bag->count[BATS_TASK_PENDING]] = place;
    move(bag, place, BATS_TASK_PENDING);
}

void bats_bag_finish(struct bats_bag *bag, uint32_t place,
                     enum bats_task_state state)
{
    assert(on_machine(bag, place));
    assert(state == BATS_TASK_DONE || state == BATS_TASK_FAILED);
    move(bag, place, state);
}

void bats_bag_check(const struct bats_bag *bag)
{
    uint32_t count[BATS_TASK_STATES] = {0};
    for (uint32_t i = 0; i < bag->n; i++) {
        assert(bag->state[i] < BATS_TASK_STATES);
        assert(bag->task[i] < bag->n && bag->place[bag->task[i]] == i);
        count[bag->state[i]]++;
    }
    for (int state = 0; state < BATS_TASK_STATES; state++)
        assert(count[state] == bag->count[state]);
    for (uint32_t i = 0; i < bag->count[BATS_TASK_PENDING]; i++)
        assert(bag->state[bag->order[i]] == BATS_TASK_PENDING);
}
