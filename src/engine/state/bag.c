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
    bag->index = malloc(n * sizeof *bag->index);
    bag->position = malloc(n * sizeof *bag->position);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    if (!bag->state || !bag->order || !bag->index || !bag->position || !rng) {
        gsl_rng_free(rng);
        bats_bag_release(bag);
        return bats_no_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        bag->index[i] = i;
        bag->order[i].i = i;
    }
    gsl_rng_set(rng, (unsigned long)seed);
    gsl_ran_shuffle(rng, bag->index, n, sizeof *bag->index);
    gsl_rng_free(rng);
    for (uint32_t i = 0; i < n; i++)
        bag->position[bag->index[i]].i = i;
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
    free(bag->order ? bag->order - bag->below : NULL);
    free(bag->index);
    free(bag->position);
    free(bag->missing);
    free(bag->ended);
    free(bag->skipped);
    for (uint32_t g = 0; g < bag->n_groups; g++)
        if (bag->groups[g].room > 0)
            free(bag->groups[g].order - bag->groups[g].below);
    free(bag->groups);
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

/* Pending tasks drawn together: all, or those of a group. */
struct part {
    struct bats_position *order;
    uint32_t n;
};

static inline struct part part_of(const struct bats_bag *bag,
                                  struct bats_position task)
{
    if (!bag->group)
        return (struct part){bag->order, bats_bag_ready(bag)};
    const struct bats_bag_group *of =
        &bag->groups[bag->group[bag->index[task.i]]];
    return (struct part){of->order, of->n_ready};
}

/* Adds `more` (1 or -1) to the pending tasks of the task's group. */
static inline void count_ready(struct bats_bag *bag, struct bats_position task,
                               uint32_t more)
{
    if (bag->group)
        bag->groups[bag->group[bag->index[task.i]]].n_ready += more;
}

int bats_bag_divide(struct bats_bag *bag, const uint16_t *group, uint32_t n,
                    const uint16_t *next, struct bats_error *err)
{
    uint32_t n_pending = bats_bag_ready(bag);
    size_t sum = 0;
    size_t *members = calloc(n, sizeof *members);
    bag->groups = calloc(n, sizeof *bag->groups);
    if (!members || !bag->groups) {
        free(members);
        return bats_no_memory(err);
    }
    for (uint32_t i = 0; i < bag->n; i++) {
        members[group[i]]++;
        for (uint32_t g = group[i]; next && next[g] != g; g = next[g])
            members[next[g]]++;
    }
    for (uint32_t g = 0; g < n; g++)
        sum += members[g];
    struct bats_position *order = malloc(sum * sizeof *order);
    struct bats_position *at = order;
    for (uint32_t g = 0; order && g < n; at += members[g++])
        bag->groups[g].order = at;
    free(members);
    if (!order)
        return bats_no_memory(err);
    for (uint32_t i = 0; i < n_pending; i++) {
        struct bats_bag_group *of =
            &bag->groups[group[bag->index[bag->order[i].i]]];
        of->order[of->n_ready++] = bag->order[i];
    }
    free(bag->order);
    bag->order = order;
    bag->group = group;
    bag->n_groups = n;
    return 0;
}

void bats_bag_resume(struct bats_bag *bag, const uint8_t *state)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < bag->n; i++) {
        const struct bats_position task = {i};
        uint8_t now = state[bag->index[i]];
        if (now == BATS_TASK_DONE || now == BATS_TASK_FAILED ||
            now == BATS_TASK_LEFT_OUT)
            move(bag, task, (enum bats_task_state)now);
        else
            bag->order[kept++] = task;
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
    if (of->room > 0)
        free(of->order);
    of->order = order + more;
    of->below = more;
    of->room = room;
    return 0;
}

/* Gives each group memory of its own. */
static int open_groups(struct bats_bag *bag, struct bats_error *err)
{
    for (uint32_t g = 0; g < bag->n_groups; g++) {
        uint32_t n = bag->groups[g].n_ready;
        struct bats_position *order = malloc((n + 1) * sizeof *order);
        if (!order)
            return bats_no_memory(err);
        memcpy(order + 1, bag->groups[g].order, n * sizeof *order);
        bag->groups[g] = (struct bats_bag_group){order + 1, n, 1, n + 1};
    }
    free(bag->order);
    bag->order = NULL;
    return 0;
}

/* Adds the task to its group, which may be new. */
static int add_to_group(struct bats_bag *bag, struct bats_position task,
                        struct bats_error *err)
{
    uint32_t g = bag->group[bag->index[task.i]];
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
    return 0;
}

int bats_bag_open(struct bats_bag *bag, struct bats_error *err)
{
    uint32_t n = bag->count[BATS_TASK_PENDING];
    assert(!bag->graph && bag->below == 0);
    bag->skipped = malloc(bag->n * sizeof *bag->skipped);
    if (!bag->skipped)
        return bats_no_memory(err);
    if (bag->group)
        return open_groups(bag, err);
    bag->below = bag->n - n;
    memmove(bag->order + bag->below, bag->order, n * sizeof *bag->order);
    bag->order += bag->below;
    return 0;
}

int bats_bag_add(struct bats_bag *bag, struct bats_position task,
                 struct bats_error *err)
{
    assert(bag->state[task.i] == BATS_TASK_LEFT_OUT);
    int rc = bag->group ? add_to_group(bag, task, err) : 0;
    if (rc < 0)
        return rc;
    if (!bag->group) {
        bag->below--;
        *--bag->order = task;
    }
    move(bag, task, BATS_TASK_PENDING);
    bag->n_released++;
    return 0;
}

void bats_bag_withdraw(struct bats_bag *bag, struct bats_position task)
{
    assert(!bag->graph);
    if (bag->state[task.i] == BATS_TASK_PENDING) {
        struct part part = part_of(bag, task);
        uint32_t at = 0;
        while (!bats_same_position(part.order[at], task))
            at++;
        memmove(&part.order[at], &part.order[at + 1],
                (part.n - 1 - at) * sizeof *part.order);
        count_ready(bag, task, UINT32_MAX);
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

/* Moves the task at `at` up to its place. */
static void sift_up(struct bats_bag *bag, struct bats_position *order,
                    uint32_t at, struct bats_position task)
{
    for (; at > 0 && comes_first(bag, task, order[(at - 1) / 2]);
         at = (at - 1) / 2)
        order[at] = order[(at - 1) / 2];
    order[at] = task;
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
        order[at] = order[child];
    }
    order[at] = task;
}

static void make_heap(struct bats_bag *bag, struct bats_position *order,
                      uint32_t n)
{
    for (uint32_t at = n / 2; at-- > 0;)
        sift_down(bag, order, at, n, order[at]);
}

void bats_bag_reorder(struct bats_bag *bag)
{
    if (!bag->group)
        make_heap(bag, bag->order, bats_bag_ready(bag));
    else
        for (uint32_t g = 0; g < bag->n_groups; g++)
            make_heap(bag, bag->groups[g].order, bag->groups[g].n_ready);
}

/* Visits the top of the heap, then repeatedly the best child of those
 * visited. */
uint32_t bats_bag_walk(const struct bats_bag *bag, struct bats_bag_walk *walk)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < walk->n; i++)
        if (comes_first(bag, bag->order[walk->open[i]],
                        bag->order[walk->open[best]]))
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
    struct part part = part_of(bag, task);
    move(bag, task, BATS_TASK_PENDING);
    count_ready(bag, task, 1);
    if (bag->graph)
        sift_up(bag, part.order, part.n, task);
    else
        part.order[part.n] = task;
}

static void take_from_heap(struct bats_bag *bag, struct part part, uint32_t at)
{
    uint32_t n = part.n - 1;
    struct bats_position last = part.order[n];
    if (at == n)
        return;
    if (at > 0 && comes_first(bag, last, part.order[(at - 1) / 2]))
        sift_up(bag, part.order, at, last);
    else
        sift_down(bag, part.order, at, n, last);
}

/* ---- draws ---- */

/* Draws the task at this place of the part. */
static void draw(struct bats_bag *bag, struct part part, uint32_t at)
{
    struct bats_position task = part.order[at];
    uint32_t behind = part.n - 1 - at;
    if (bag->graph)
        take_from_heap(bag, part, at);
    else if (behind > 0)
        memmove(&part.order[at], &part.order[at + 1],
                behind * sizeof *part.order);
    move(bag, task, BATS_TASK_ASSIGNED);
    count_ready(bag, task, UINT32_MAX);
}

struct bats_position bats_bag_draw(struct bats_bag *bag, uint32_t behind)
{
    assert(behind < bats_bag_ready(bag) && !bag->group);
    uint32_t at = bag->graph ? bats_bag_find(bag, behind)
                             : bats_bag_ready(bag) - 1 - behind;
    struct bats_position task = bag->order[at];
    draw(bag, (struct part){bag->order, bats_bag_ready(bag)}, at);
    return task;
}

void bats_bag_take(struct bats_bag *bag, struct bats_position task)
{
    struct part part = part_of(bag, task);
    uint32_t at = bag->graph ? 0 : part.n - 1;
    while (!bats_same_position(part.order[at], task)) /* near the end of the
                                                         array */
        at += bag->graph ? 1 : UINT32_MAX;
    draw(bag, part, at);
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

/* The task is BLOCKED. */
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
        bag->n_released++;
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
    uint32_t n = 0;
    for (uint32_t i = 0; i < bag->n; i++) {
        struct bats_position task = {i};
        if (bag->state[i] != BATS_TASK_PENDING)
            continue;
        if (bag->missing[bag->index[i]] > 0) {
            move(bag, task, BATS_TASK_BLOCKED);
            continue;
        }
        struct part part = part_of(bag, task);
        sift_up(bag, part.order, bag->group ? part.n : n++, task);
        count_ready(bag, task, 1);
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
    bag->skipped = malloc(n * sizeof *bag->skipped);
    if (!bag->missing || !bag->ended || !bag->skipped)
        return bats_no_memory(err);
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

/* ---- the invariant ---- */

/* The node is over; *done: it is DONE. */
static bool is_over(const struct bats_bag *bag, uint32_t node, bool *done)
{
    if (!is_task(bag, node)) {
        *done = bag->missing[node] == OVER;
        return *done || bag->missing[node] == NEVER;
    }
    uint8_t state = bag->state[bag->position[node].i];
    *done = state == BATS_TASK_DONE;
    return *done || state == BATS_TASK_FAILED || state == BATS_TASK_LEFT_OUT ||
           state == BATS_TASK_SKIPPED;
}

/* A waiting node has a parent left, and `missing` counts each end once. */
static void check_node(const struct bats_bag *bag, uint32_t node,
                       uint32_t waits_for, bool doomed)
{
    if (!is_task(bag, node)) {
        assert((bag->missing[node] == NEVER) == doomed);
        assert((bag->missing[node] == OVER) == (waits_for == 0 && !doomed));
        return;
    }
    switch (bag->state[bag->position[node].i]) {
    case BATS_TASK_BLOCKED:
        assert(!doomed && waits_for > 0 && bag->missing[node] == waits_for);
        break;
    case BATS_TASK_SKIPPED: /* doomed, or skipped itself */
    case BATS_TASK_DONE:    /* may be from an earlier session, with another */
    case BATS_TASK_FAILED:  /* graph */
    case BATS_TASK_LEFT_OUT:
        break;
    default:
        assert(!doomed && waits_for == 0);
    }
}

static void check_graph(const struct bats_bag *bag)
{
    const struct bats_graph *graph = bag->graph;
    uint32_t *waits_for = calloc(graph->n_nodes, sizeof *waits_for);
    bool *doomed = calloc(graph->n_nodes, sizeof *doomed);
    assert(waits_for && doomed);
    for (uint32_t node = 0; node < graph->n_nodes; node++) {
        bool done, over = is_over(bag, node, &done);
        for (uint64_t k = graph->first[node]; k < graph->first[node + 1];
             k++) {
            uint32_t child = graph->child[k];
            bool any = graph->any && graph->any[child];
            waits_for[child] += !over || !(done || any);
            doomed[child] |= over && !done && !any;
        }
    }
    for (uint32_t node = 0; node < graph->n_nodes; node++)
        check_node(bag, node, waits_for[node], doomed[node]);
    for (uint32_t i = 0; i < bag->count[BATS_TASK_SKIPPED]; i++)
        assert(bag->state[bag->position[bag->skipped[i]].i] ==
               BATS_TASK_SKIPPED);
    free(waits_for);
    free(doomed);
}

static void check_part(const struct bats_bag *bag, struct part part)
{
    for (uint32_t i = 0; i < part.n; i++)
        assert(bag->state[part.order[i].i] == BATS_TASK_PENDING);
    for (uint32_t i = 1; bag->graph && i < part.n; i++)
        assert(!comes_first(bag, part.order[i], part.order[(i - 1) / 2]));
}

static void check_groups(const struct bats_bag *bag)
{
    uint32_t n = 0;
    for (uint32_t g = 0; g < bag->n_groups; g++) {
        struct part part = {bag->groups[g].order, bag->groups[g].n_ready};
        check_part(bag, part);
        for (uint32_t i = 0; i < part.n; i++)
            assert(bag->group[bag->index[part.order[i].i]] == g);
        n += part.n;
    }
    assert(n == bats_bag_ready(bag));
}

void bats_bag_check(const struct bats_bag *bag)
{
    uint32_t count[BATS_TASK_STATES] = {0};
    for (uint32_t i = 0; i < bag->n; i++) {
        assert(bag->state[i] < BATS_TASK_STATES);
        assert(bag->index[i] < bag->n && bag->position[bag->index[i]].i == i);
        count[bag->state[i]]++;
    }
    for (int state = 0; state < BATS_TASK_STATES; state++)
        assert(count[state] == bag->count[state]);
    if (bag->group)
        check_groups(bag);
    else
        check_part(bag, (struct part){bag->order, bats_bag_ready(bag)});
    if (bag->graph)
        check_graph(bag);
}
