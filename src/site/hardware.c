#include "site/hardware.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#ifdef BATS_HAVE_HWLOC
#include <hwloc.h>
#include <stdbool.h>
#include <stdlib.h>

/* Set to an empty place while hwloc loads: its plugins for graphics cards load
 * slow libraries. */
#define PLUGINS "HWLOC_PLUGINS_PATH"

/* The topology of the whole node, including parts that this process may not
 * use, or NULL. Loading takes milliseconds, so it is done once before
 * forking. */
static hwloc_topology_t load(void)
{
    static hwloc_topology_t topology;
    bool is_set = getenv(PLUGINS) != NULL;
    if (topology != NULL)
        return topology;
    if (!is_set)
        setenv(PLUGINS, "/dev/null", 1);
    if (hwloc_topology_init(&topology) != 0)
        topology = NULL;
    if (!is_set)
        unsetenv(PLUGINS);
    if (topology != NULL &&
        (hwloc_topology_set_flags(
             topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0 ||
         hwloc_topology_load(topology) != 0)) {
        hwloc_topology_destroy(topology);
        topology = NULL;
    }
    return topology;
}

static uint32_t count(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    int n = hwloc_get_nbobjs_by_type(topology, type);
    return n > 0 ? (uint32_t)n : 0;
}

/* If a virtual machine reports no cores, hardware threads count as cores. */
static hwloc_obj_type_t core_type(hwloc_topology_t topology)
{
    return count(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
}

static uint32_t count_cores(hwloc_topology_t topology,
                            hwloc_const_cpuset_t set)
{
    hwloc_obj_type_t type = core_type(topology);
    hwloc_obj_t core = NULL;
    uint32_t n = 0;
    while ((core = hwloc_get_next_obj_by_type(topology, type, core)) != NULL)
        n += hwloc_bitmap_intersects(core->cpuset, set) != 0;
    return n;
}

static void look_at_binding(hwloc_topology_t topology, struct bats_hardware *h)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    if (set != NULL &&
        hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_PROCESS) == 0) {
        int n = hwloc_bitmap_list_snprintf(h->bound, sizeof h->bound, set);
        if (n < 0 || (size_t)n >= sizeof h->bound)
            h->bound[0] = '\0';
        h->bound_cores = count_cores(topology, set);
    }
    hwloc_bitmap_free(set);
}

void bats_hardware_look(struct bats_hardware *hardware)
{
    struct bats_hardware *h = hardware;
    hwloc_topology_t topology = load();
    *h = (struct bats_hardware){0};
    if (topology == NULL)
        return;
    hwloc_obj_t package =
        hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    const char *model = package != NULL
                            ? hwloc_obj_get_info_by_name(package, "CPUModel")
                            : NULL;
    if (model != NULL)
        snprintf(h->model, sizeof h->model, "%s", model);
    h->packages = count(topology, HWLOC_OBJ_PACKAGE);
    h->cores = count(topology, core_type(topology));
    h->threads = count(topology, HWLOC_OBJ_PU);
    h->memory_bytes = hwloc_get_root_obj(topology)->total_memory;
    look_at_binding(topology, h);
}

/* ---- binding ---- */

/* Puts the cores of `set` that belong to this share into `mine`. Returns their
 * number. */
static uint32_t take_share(hwloc_topology_t topology, hwloc_const_cpuset_t set,
                           struct bats_share share, hwloc_bitmap_t mine)
{
    hwloc_obj_type_t type = core_type(topology);
    hwloc_obj_t core = NULL;
    uint32_t each = count_cores(topology, set) / share.count, i = 0;
    if (each == 0)
        return 0;
    while ((core = hwloc_get_next_obj_by_type(topology, type, core)) != NULL)
        if (hwloc_bitmap_intersects(core->cpuset, set) &&
            i++ / each == share.index)
            hwloc_bitmap_or(mine, mine, core->cpuset);
    hwloc_bitmap_and(mine, mine, set);
    return each;
}

static void widen_to_numa(hwloc_topology_t topology, hwloc_const_cpuset_t set,
                          hwloc_bitmap_t mine)
{
    hwloc_obj_t numa = NULL;
    hwloc_bitmap_t wide = hwloc_bitmap_alloc();
    while (wide != NULL && (numa = hwloc_get_next_obj_by_type(
                                topology, HWLOC_OBJ_NUMANODE, numa)) != NULL)
        if (hwloc_bitmap_intersects(numa->cpuset, mine))
            hwloc_bitmap_or(wide, wide, numa->cpuset);
    if (wide != NULL && !hwloc_bitmap_iszero(wide))
        hwloc_bitmap_and(mine, wide, set);
    hwloc_bitmap_free(wide);
}

/* Puts the chosen part of the hardware threads `bound` (NULL: those of this
 * process) into `mine`. */
static uint32_t choose(hwloc_topology_t topology, const char *bound,
                       enum bats_bind bind, struct bats_share share,
                       hwloc_bitmap_t mine)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    uint32_t cores = 0;
    if (set != NULL && mine != NULL && bind != BATS_BIND_NONE &&
        share.count > 0 &&
        (bound != NULL
             ? hwloc_bitmap_list_sscanf(set, bound)
             : hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_PROCESS)) == 0) {
        cores = take_share(topology, set, share, mine);
        if (bind == BATS_BIND_NUMA && cores > 0)
            widen_to_numa(topology, set, mine);
        cores = cores > 0 ? cores : 1;
    }
    hwloc_bitmap_free(set);
    return cores;
}

uint32_t bats_hardware_choose(const char *bound, enum bats_bind bind,
                              struct bats_share share, char *chosen,
                              size_t size)
{
    hwloc_topology_t topology = load();
    hwloc_bitmap_t mine = topology != NULL ? hwloc_bitmap_alloc() : NULL;
    uint32_t cores = 0;
    chosen[0] = '\0';
    if (mine != NULL) {
        cores = choose(topology, bound, bind, share, mine);
        hwloc_bitmap_list_snprintf(chosen, size, mine);
    }
    hwloc_bitmap_free(mine);
    return cores;
}

/* Binds this thread to `cores` cores with these hardware threads, which are
 * freed; none: it is not bound. Returns the number, or 0 if that fails. */
static uint32_t bind_to(hwloc_topology_t topology, hwloc_bitmap_t threads,
                        uint32_t cores)
{
    if (cores > 0 && !hwloc_bitmap_iszero(threads) &&
        hwloc_set_cpubind(topology, threads, HWLOC_CPUBIND_THREAD) != 0)
        cores = 0;
    hwloc_bitmap_free(threads);
    return cores;
}

uint32_t bats_hardware_bind(enum bats_bind bind, struct bats_share share)
{
    hwloc_topology_t topology = bind != BATS_BIND_NONE ? load() : NULL;
    hwloc_bitmap_t mine = topology != NULL ? hwloc_bitmap_alloc() : NULL;
    return bind_to(topology, mine,
                   mine != NULL ? choose(topology, NULL, bind, share, mine)
                                : 0);
}

/* Adds the binding of the rank of this part, "THREADS:INDEX:COUNT". Returns
 * its number of cores; 0: it has none of its own. */
static uint32_t add_part(hwloc_topology_t topology, enum bats_bind bind,
                         const char *part, hwloc_bitmap_t all)
{
    char threads[BATS_HARDWARE_BOUND];
    struct bats_share share;
    uint32_t cores = 0;
    hwloc_bitmap_t mine = hwloc_bitmap_alloc();
    if (sscanf(part, "%255[0-9,-]:%" SCNu32 ":%" SCNu32, threads, &share.index,
               &share.count) == 3)
        cores = choose(topology, threads, bind, share, mine);
    if (cores > 0 && hwloc_bitmap_iszero(mine))
        cores = 0;
    if (cores > 0)
        hwloc_bitmap_or(all, all, mine);
    hwloc_bitmap_free(mine);
    return cores;
}

uint32_t bats_hardware_bind_to(enum bats_bind bind, const char *holds)
{
    hwloc_topology_t topology = bind != BATS_BIND_NONE ? load() : NULL;
    hwloc_bitmap_t all = topology != NULL ? hwloc_bitmap_alloc() : NULL;
    uint32_t cores = 0, more = 1;
    for (const char *part = holds; all != NULL && *part && more > 0;) {
        more = add_part(topology, bind, part, all);
        cores = more > 0 ? cores + more : 0;
        part += strcspn(part, " ");
        part += strspn(part, " ");
    }
    return bind_to(topology, all, cores);
}

#else

void bats_hardware_look(struct bats_hardware *hardware)
{
    *hardware = (struct bats_hardware){0};
}

uint32_t bats_hardware_choose(const char *bound, enum bats_bind bind,
                              struct bats_share share, char *chosen,
                              size_t size)
{
    chosen[0] = '\0';
    return 0;
}

uint32_t bats_hardware_bind(enum bats_bind bind, struct bats_share share)
{
    return 0;
}

uint32_t bats_hardware_bind_to(enum bats_bind bind, const char *holds)
{
    return 0;
}

#endif
