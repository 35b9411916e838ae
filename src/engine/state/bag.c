#include "bats/bag.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_rng.h>

static void free_groups(struct bats_bag_group *groups, uint32_t n)
{
    for (uint32_t g = 0; g < n; g++)
        if (groups[g].order)
            free(groups[g].order - groups[g].below);
    free(groups);
}

int bats_bag_init(struct bats_bag *bag, uint32_t n, uint64_t seed,
                  struct bats_error *err)
{
    struct bats_position *order = malloc(n * sizeof *order);
    *bag = (struct bats_bag){.n = n, .n_groups = 1};
    bag->count[BATS_TASK_PENDING] = n;
    bag->state = calloc(n, sizeof *bag->state);
    bag->groups = malloc(sizeof *bag->groups);
    bag->index = malloc(n * sizeof *bag->index);
    bag->position = malloc(n * sizeof *bag->position);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    if (bag->groups)
        bag->groups[0] =
            (struct bats_bag_group){.order = order, .n_ready = n, .room = n};
    if (!order || !bag->state || !bag->groups || !bag->index ||
        !bag->position || !rng) {
        if (!bag->groups)
            free(order);
        gsl_rng_free(rng);
        bats_bag_release(bag);
        return bats_no_memory(err);
    }
    gsl_rng_set(rng, (unsigned long)seed);
    for (uint32_t i = 0; i < n; i++) {
        bag->index[i] = i;
        order[i].i = i;
    }
    for (uint32_t i = n; i > 1;) { /* gsl_ran_shuffle, without its calls */
        uint32_t j = (uint32_t)gsl_rng_uniform_int(rng, i--);
        uint32_t number = bag->index[j];
        bag->index[j] = bag->index[i];
        bag->index[i] = number;
        bag->position[number].i = i;
    }
    if (n > 0)
        bag->position[bag->index[0]].i = 0;
    gsl_rng_free(rng);
    return 0;
}

void bats_bag_keep_order(struct bats_bag *bag, const uint32_t *order)
{
    for (uint32_t i = 0; i < bag->n; i++) {
        uint32_t draw = bag->n - 1 - i;
        bag->index[i] = order ? order[draw] : draw;
        bag->position[bag->index[i]].i = i;
    }
}

void bats_bag_release(struct bats_bag *bag)
{
    free(bag->state);
    free(bag->index);
    free(bag->position);
    free(bag->missing);
    free(bag->at);
    free(bag->ended);
    free(bag->skipped);
    free_groups(bag->groups, bag->groups ? bag->n_groups : 0);
    *bag = (struct bats_bag){0};
}

static void move(struct bats_bag *bag, struct bats_position task,
                 enum bats_task_state to)
{
    bag->count[bag->state[task.i]]--;
    bag->count[to]++;
    bag->state[task.i] = (uint8_t)to;
}

/* ---- groups ---- */

static inline uint32_t number_of(const struct bats_bag *bag,
                                 struct bats_position task)
{
    return bag->group ? bag->group[bag->index[task.i]] : 0;
}

static inline struct bats_bag_group *group_of(const struct bats_bag *bag,
                                              struct bats_position task)
{
    return &bag->groups[number_of(bag, task)];
}

int bats_bag_divide(struct bats_bag *bag, const uint16_t *group, uint32_t n,
                    const uint16_t *next, struct bats_error *err)
{
    struct bats_bag_group *groups = calloc(n, sizeof *groups);
    const struct bats_bag_group *all = &bag->groups[0];
    for (uint32_t i = 0; groups && i < bag->n; i++) {
        groups[group[i]].room++;
        for (uint32_t g = group[i]; next && next[g] != g; g = next[g])
            groups[next[g]].room++;
    }
    for (uint32_t g = 0; groups && g < n; g++) {
        groups[g].order =
            malloc((groups[g].room + (size_t)1) * sizeof *groups[g].order);
        if (!groups[g].order) {
            free_groups(groups, n);
            groups = NULL;
        }
    }
    if (!groups)
        return bats_no_memory(err);
    for (uint32_t i = 0; i < all->n_ready; i++) {
        struct bats_bag_group *of =
            &groups[group[bag->index[all->order[i].i]]];
        of->order[of->n_ready++] = all->order[i];
    }
    free_groups(bag->groups, 1);
    bag->groups = groups;
    bag->group = group;
    bag->n_groups = n;
    return 0;
}

void bats_bag_resume(struct bats_bag *bag, const uint8_t *state)
{
    struct bats_bag_group *all = &bag->groups[0];
    all->n_ready = 0;
    for (uint32_t i = 0; i < bag->n; i++) {
        const struct bats_position task = {i};
        uint8_t now = state[bag->index[i]];
        if (now == BATS_TASK_DONE || now == BATS_TASK_FAILED ||
            now == BATS_TASK_LEFT_OUT)
            move(bag, task, (enum bats_task_state)now);
        else
            all->order[all->n_ready++] = task;
    }
}

/* ---- tasks that are added ---- */

/* Makes room for one more task below the pending ones. Drawn tasks may come
 * back above them, so all tasks of the group need a place. */
static int make_room(struct bats_bag_group *of, struct bats_error *err)
{
    uint32_t room = 2 * of->room + 16, more = room - of->room;
    if (of->below > 0)
        return 0;
    struct bats_position *order = malloc(room * sizeof *order);
    if (!order)
        return bats_no_memory(err);
    if (of->n_ready > 0)
        memcpy(order + more, of->order, of->n_ready * sizeof *order);
    free(of->order);
    of->order = order + more;
    of->below = more;
    of->room = room;
    return 0;
}

int bats_bag_open(struct bats_bag *bag, struct bats_error *err)
{
    assert(!bag->graph);
    bag->skipped = malloc(bag->n * sizeof *bag->skipped);
    return bag->skipped ? 0 : bats_no_memory(err);
}

int bats_bag_add(struct bats_bag *bag, struct bats_position task,
                 struct bats_error *err)
{
    uint32_t g = number_of(bag, task);
    assert(bag->state[task.i] == BATS_TASK_LEFT_OUT);
    if (g >= bag->n_groups) {
        struct bats_bag_group *groups =
            realloc(bag->groups, (g + 1) * sizeof *groups);
        if (!groups)
            return bats_no_memory(err);
        bag->groups = groups;
    }
    for (; bag->n_groups <= g; bag->n_groups++)
        bag->groups[bag->n_groups] = (struct bats_bag_group){.order = NULL};
    struct bats_bag_group *of = &bag->groups[g];
    int rc = make_room(of, err);
    if (rc < 0)
        return rc;
    of->below--;
    *--of->order = task;
    of->n_ready++;
    move(bag, task, BATS_TASK_PENDING);
    bag->n_released++;
    return 0;
}

static void take_from_stack(struct bats_bag_group *of, uint32_t at)
{
    uint32_t behind = of->n_ready - 1 - at;
    if (behind > 0)
        memmove(&of->order[at], &of->order[at + 1],
                behind * sizeof *of->order);
}

void bats_bag_withdraw(struct bats_bag *bag, struct bats_position task)
{
    assert(!bag->graph);
    if (bag->state[task.i] == BATS_TASK_PENDING) {
        struct bats_bag_group *of = group_of(bag, task);
        uint32_t at = 0;
        while (!bats_same_position(of->order[at], task))
            at++;
        take_from_stack(of, at);
        of->n_ready--;
    }
    bag->skipped[bag->count[BATS_TASK_SKIPPED]] = bag->index[task.i];
    move(bag, task, BATS_TASK_SKIPPED);
}

/* ---- ready tasks as a heap ---- */

/* `a` is drawn before `b`. */
static bool comes_first(const struct bats_bag *bag, struct bats_position a,
                        struct bats_position b)
{
    if (bag->priority) {
        int64_t pa = bag->priority[bag->index[a.i]];
        int64_t pb = bag->priority[bag->index[b.i]];
        if (pa != pb)
            return pa > pb;
    }
    return a.i > b.i;
}

static inline void put(struct bats_bag *bag, struct bats_position *order,
                       uint32_t at, struct bats_position task)
{
    order[at] = task;
    bag->at[task.i] = at;
}

/* Moves the task at `at` up to its place. */
static void sift_up(struct bats_bag *bag, struct bats_position *order,
                    uint32_t at, struct bats_position task)
{
    for (; at > 0 && comes_first(bag, task, order[(at - 1) / 2]);
         at = (at - 1) / 2)
        put(bag, order, at, order[(at - 1) / 2]);
    put(bag, order, at, task);
}

/* The same downwards, among n tasks. */
static void sift_down(struct bats_bag *bag, struct bats_position *order,
                      uint32_t at, uint32_t n, struct bats_position task)
{
    for (uint64_t child; (child = 2 * (uint64_t)at + 1) < n;
         at = (uint32_t)child) {
        child +=
            child + 1 < n && comes_first(bag, order[child + 1], order[child]);
        if (!comes_first(bag, order[child], task))
            break;
        put(bag, order, at, order[child]);
    }
    put(bag, order, at, task);
}

static void make_heap(struct bats_bag *bag, struct bats_position *order,
                      uint32_t n)
{
    for (uint32_t at = n / 2; at-- > 0;)
        sift_down(bag, order, at, n, order[at]);
}

void bats_bag_reorder(struct bats_bag *bag)
{
    for (uint32_t g = 0; g < bag->n_groups; g++)
        make_heap(bag, bag->groups[g].order, bag->groups[g].n_ready);
}

/* Visits the top of the heap, then repeatedly the best child of those
 * visited. */
uint32_t bats_bag_walk(const struct bats_bag *bag, struct bats_bag_walk *walk)
{
    const struct bats_position *order = bag->groups[0].order;
    uint32_t best = 0;
    for (uint32_t i = 1; i < walk->n; i++)
        if (comes_first(bag, order[walk->open[i]], order[walk->open[best]]))
            best = i;
    uint64_t at = walk->open[best];
    walk->open[best] = walk->open[--walk->n];
    for (uint64_t child = 2 * at + 1; child <= 2 * at + 2; child++)
        if (child < bats_bag_ready(bag))
            walk->open[walk->n++] = (uint32_t)child;
    return (uint32_t)at;
}

uint32_t bats_bag_find(const struct bats_bag *bag, uint32_t behind)
{
    struct bats_bag_walk walk = {.n = 1};
    assert(behind < BATS_BAG_AHEAD && behind < bats_bag_ready(bag));
    while (behind-- > 0)
        bats_bag_walk(bag, &walk);
    return bats_bag_walk(bag, &walk);
}

/* Makes the task PENDING: into the heap, or on top of the stack. */
static void make_ready(struct bats_bag *bag, struct bats_position task)
{
    struct bats_bag_group *of = group_of(bag, task);
    move(bag, task, BATS_TASK_PENDING);
    if (bag->graph)
        sift_up(bag, of->order, of->n_ready, task);
    else
        of->order[of->n_ready] = task;
    of->n_ready++;
}

static void take_from_heap(struct bats_bag *bag, struct bats_bag_group *of,
                           uint32_t at)
{
    uint32_t n = of->n_ready - 1;
    struct bats_position last = of->order[n];
    if (at == n)
        return;
    if (at > 0 && comes_first(bag, last, of->order[(at - 1) / 2]))
        sift_up(bag, of->order, at, last);
    else
        sift_down(bag, of->order, at, n, last);
}

/* ---- draws ---- */

static void draw(struct bats_bag *bag, struct bats_bag_group *of, uint32_t at)
{
    struct bats_position task = of->order[at];
    if (bag->graph)
        take_from_heap(bag, of, at);
    else
        take_from_stack(of, at);
    move(bag, task, BATS_TASK_ASSIGNED);
    of->n_ready--;
}

struct bats_position bats_bag_draw(struct bats_bag *bag, uint32_t behind)
{
    assert(behind < bats_bag_ready(bag) && !bag->group);
    struct bats_position task = bats_bag_peek(bag, behind);
    bats_bag_take(bag, task);
    return task;
}

void bats_bag_take(struct bats_bag *bag, struct bats_position task)
{
    struct bats_bag_group *of = group_of(bag, task);
    uint32_t at = bag->graph ? bag->at[task.i] : of->n_ready - 1;
    while (!bag->graph && !bats_same_position(of->order[at], task))
        at--; /* near the end of the stack */
    draw(bag, of, at);
}

void bats_bag_cancel(struct bats_bag *bag, struct bats_position task)
{
    assert(bag->state[task.i] == BATS_TASK_ASSIGNED);
    move(bag, task, BATS_TASK_CANCELLING);
}

static bool on_machine(const struct bats_bag *bag, struct bats_position task)
{
    return bag->state[task.i] == BATS_TASK_ASSIGNED ||
           bag->state[task.i] == BATS_TASK_CANCELLING;
}

void bats_bag_put_aside(struct bats_bag *bag, struct bats_position task)
{
    assert(on_machine(bag, task));
    move(bag, task, BATS_TASK_WAITING);
}

void bats_bag_put_back(struct bats_bag *bag, struct bats_position task)
{
    assert(on_machine(bag, task) || bag->state[task.i] == BATS_TASK_WAITING);
    make_ready(bag, task);
}

/* ---- tasks that wait for others ---- */

/* Values of `missing`: a joint that is over; a skipped node. */
#define OVER (UINT32_MAX - 1)
#define NEVER UINT32_MAX

static bool is_task(const struct bats_bag *bag, uint32_t node)
{
    return node < bag->n;
}

static bool is_blocked(const struct bats_bag *bag, uint32_t task)
{
    return bag->state[bag->position[task].i] == BATS_TASK_BLOCKED;
}

/* A parent of the node has ended as required. True: the node is a joint and is
 * now over. */
static bool let_start(struct bats_bag *bag, uint32_t node)
{
    if (bag->missing[node] == NEVER || --bag->missing[node] > 0)
        return false;
    if (!is_task(bag, node))
        return true;
    if (is_blocked(bag, node)) {
        make_ready(bag, bag->position[node]);
        bag->released[bag->n_released++] = node;
    }
    return false;
}

/* A parent of the node will never be DONE. True: the node newly never will be,
 * either. */
static bool skip(struct bats_bag *bag, uint32_t node)
{
    bool news = is_task(bag, node) ? is_blocked(bag, node)
                                   : bag->missing[node] != NEVER;
    if (news && is_task(bag, node)) {
        bag->skipped[bag->count[BATS_TASK_SKIPPED]] = node;
        move(bag, bag->position[node], BATS_TASK_SKIPPED);
    } else if (news) {
        bag->missing[node] = NEVER;
    }
    return news;
}

static bool is_done(const struct bats_bag *bag, uint32_t node)
{
    return is_task(bag, node)
               ? bag->state[bag->position[node].i] == BATS_TASK_DONE
               : bag->missing[node] != NEVER;
}

/* The node is over: updates its children, and theirs in turn. */
static void tell_children(struct bats_bag *bag, uint32_t node)
{
    const struct bats_graph *graph = bag->graph;
    size_t n = 0;
    bag->ended[n++] = node;
    while (n > 0) {
        uint32_t parent = bag->ended[--n];
        bool done = is_done(bag, parent);
        if (!is_task(bag, parent) && done)
            bag->missing[parent] = OVER;
        for (uint64_t k = graph->first[parent]; k < graph->first[parent + 1];
             k++) {
            uint32_t child = graph->child[k];
            bool any = graph->any && graph->any[child];
            if (done || any ? let_start(bag, child) : skip(bag, child))
                bag->ended[n++] = child;
        }
    }
}

/* Makes tasks with parents BLOCKED, and the others a heap. */
static void block(struct bats_bag *bag)
{
    for (uint64_t k = 0; k < bats_graph_edges(bag->graph); k++)
        bag->missing[bag->graph->child[k]]++;
    for (uint32_t g = 0; g < bag->n_groups; g++)
        bag->groups[g].n_ready = 0;
    for (uint32_t i = 0; i < bag->n; i++) {
        struct bats_position task = {i};
        struct bats_bag_group *of = group_of(bag, task);
        if (bag->state[i] != BATS_TASK_PENDING)
            continue;
        if (bag->missing[bag->index[i]] > 0)
            move(bag, task, BATS_TASK_BLOCKED);
        else
            sift_up(bag, of->order, of->n_ready++, task);
    }
}

/* Applies tasks ended by earlier sessions, and joints without parents. */
static void tell_all(struct bats_bag *bag)
{
    for (uint32_t node = 0; node < bag->graph->n_nodes; node++) {
        bool over = bag->missing[node] == 0;
        if (is_task(bag, node)) {
            uint8_t state = bag->state[bag->position[node].i];
            over = state == BATS_TASK_DONE || state == BATS_TASK_FAILED ||
                   state == BATS_TASK_LEFT_OUT;
        }
        if (over)
            tell_children(bag, node);
    }
}

int bats_bag_connect(struct bats_bag *bag, const struct bats_graph *graph,
                     const int64_t *priority, struct bats_error *err)
{
    size_t n = (size_t)graph->n_nodes + 1;
    assert(graph->n_tasks == bag->n && !bag->graph);
    bag->missing = calloc(n, sizeof *bag->missing);
    bag->ended = malloc(n * sizeof *bag->ended);
    bag->skipped = malloc(2 * n * sizeof *bag->skipped);
    bag->at = malloc(n * sizeof *bag->at);
    if (!bag->missing || !bag->ended || !bag->skipped || !bag->at)
        return bats_no_memory(err);
    bag->released = bag->skipped + n;
    bag->graph = graph;
    bag->priority = priority;
    block(bag);
    tell_all(bag);
    return 0;
}

void bats_bag_skip(struct bats_bag *bag, struct bats_position task)
{
    assert(bag->graph && (bag->state[task.i] == BATS_TASK_WAITING ||
                          bag->state[task.i] == BATS_TASK_BLOCKED));
    bag->skipped[bag->count[BATS_TASK_SKIPPED]] = bag->index[task.i];
    move(bag, task, BATS_TASK_SKIPPED);
    tell_children(bag, bag->index[task.i]);
}

void bats_bag_finish(struct bats_bag *bag, struct bats_position task,
                     enum bats_task_state state)
{
    assert(on_machine(bag, task));
    assert(state == BATS_TASK_DONE || state == BATS_TASK_FAILED);
    move(bag, task, state);
    if (bag->graph)
        tell_children(bag, bag->index[task.i]);
}
