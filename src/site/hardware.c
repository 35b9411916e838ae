#include "site/hardware.h"

#include <stdio.h>
#include <string.h>

#ifdef BATS_HAVE_HWLOC
#include <hwloc.h>
#include <stdlib.h>

/* The whole node, also what this process may not use. */
static int load(hwloc_topology_t *topology)
{
    if (hwloc_topology_init(topology) != 0)
        return -1;
    if (hwloc_topology_set_flags(
            *topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
        hwloc_topology_load(*topology) == 0)
        return 0;
    hwloc_topology_destroy(*topology);
    return -1;
}

static uint32_t count(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    int n = hwloc_get_nbobjs_by_type(topology, type);
    return n > 0 ? (uint32_t)n : 0;
}

/* Where a virtual machine shows no cores, hardware threads count as such. */
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
    hwloc_topology_t topology;
    *h = (struct bats_hardware){0};
    if (load(&topology) != 0)
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
    hwloc_topology_destroy(topology);
}

#else

void bats_hardware_look(struct bats_hardware *hardware)
{
    *hardware = (struct bats_hardware){0};
}

#endif
