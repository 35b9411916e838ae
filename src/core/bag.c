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
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    if (!bag->state || !bag->order || !rng) {
        gsl_rng_free(rng);
        bats_bag_release(bag);
        return bats_error_set(err, BATS_ENOMEM,
                              "no memory for a bag of %u tasks", n);
    }
    for (uint32_t i = 0; i < n; i++)
        bag->order[i] = i;
    gsl_rng_set(rng, (unsigned long)seed);
    gsl_ran_shuffle(rng, bag->order, n, sizeof *bag->order);
    gsl_rng_free(rng);
    return 0;
}

void bats_bag_release(struct bats_bag *bag)
{
    free(bag->state);
    free(bag->order);
    *bag = (struct bats_bag){0};
}

static void move(struct bats_bag *bag, uint32_t task, enum bats_task_state to)
{
    bag->count[bag->state[task]]--;
    bag->count[to]++;
    bag->state[task] = (uint8_t)to;
}

void bats_bag_resume(struct bats_bag *bag, const uint8_t *state)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < bag->n; i++) {
        uint32_t task = bag->order[i];
        if (state[task] == BATS_TASK_DONE || state[task] == BATS_TASK_FAILED ||
            state[task] == BATS_TASK_LEFT_OUT)
            move(bag, task, (enum bats_task_state)state[task]);
        else
            bag->order[kept++] = task;
    }
}

uint32_t bats_bag_peek(const struct bats_bag *bag, uint32_t behind)
{
    assert(behind < bag->count[BATS_TASK_PENDING]);
    return bag->order[bag->count[BATS_TASK_PENDING] - 1 - behind];
}

uint32_t bats_bag_draw(struct bats_bag *bag, uint32_t behind)
{
    uint32_t task = bats_bag_peek(bag, behind);
    uint32_t *at = &bag->order[bag->count[BATS_TASK_PENDING] - 1 - behind];
    if (behind > 0)
        memmove(at, at + 1, behind * sizeof *at);
    move(bag, task, BATS_TASK_ASSIGNED);
    return task;
}

void bats_bag_cancel(struct bats_bag *bag, uint32_t task)
{
    assert(bag->state[task] == BATS_TASK_ASSIGNED);
    move(bag, task, BATS_TASK_CANCELLING);
}

static bool on_machine(const struct bats_bag *bag, uint32_t task)
{
    return bag->state[task] == BATS_TASK_ASSIGNED ||
           bag->state[task] == BATS_TASK_CANCELLING;
}

void bats_bag_put_aside(struct bats_bag *bag, uint32_t task)
{
    assert(on_machine(bag, task));
    move(bag, task, BATS_TASK_WAITING);
}

void bats_bag_put_back(struct bats_bag *bag, uint32_t task)
{
    assert(on_machine(bag, task) || bag->state[task] == BATS_TASK_WAITING);
    bag->order[bag->count[BATS_TASK_PENDING]] = task;
    move(bag, task, BATS_TASK_PENDING);
}

void bats_bag_finish(struct bats_bag *bag, uint32_t task,
                     enum bats_task_state state)
{
    assert(on_machine(bag, task));
    assert(state == BATS_TASK_DONE || state == BATS_TASK_FAILED);
    move(bag, task, state);
}

void bats_bag_check(const struct bats_bag *bag)
{
    uint32_t count[BATS_TASK_STATES] = {0};
    for (uint32_t i = 0; i < bag->n; i++) {
        assert(bag->state[i] < BATS_TASK_STATES);
        count[bag->state[i]]++;
    }
    for (int state = 0; state < BATS_TASK_STATES; state++)
        assert(count[state] == bag->count[state]);
    for (uint32_t i = 0; i < bag->count[BATS_TASK_PENDING]; i++)
        assert(bag->state[bag->order[i]] == BATS_TASK_PENDING);
}
