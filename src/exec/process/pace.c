#include "exec/process/pace.h"

/* Length of a cycle. It is longer if its running part would otherwise be
 * shorter than a slice that the system's scheduler can keep. */
#define PERIOD_US 20000.0
#define SLICE_US 1000.0

void bats_pace_begin(struct bats_pace *pace, double speed, int64_t now)
{
    *pace = (struct bats_pace){.speed = speed, .start = now, .since = now};
}

static double lead(const struct bats_pace *pace, int64_t now)
{
    int64_t ran = pace->ran + (pace->stopped ? 0 : now - pace->since);
    return (double)ran / pace->speed - (double)(now - pace->start);
}

/* The lead gained in the running part of one cycle. */
static double full_lead(const struct bats_pace *pace)
{
    double slice = pace->speed * PERIOD_US;
    if (slice < SLICE_US)
        slice = SLICE_US;
    return slice * (1 / pace->speed - 1);
}

bool bats_pace_stopped(struct bats_pace *pace, int64_t now)
{
    bool stop;
    if (pace->speed >= 1)
        return false;
    if (pace->stopped)
        stop = lead(pace, now) > 0;
    else
        stop = lead(pace, now) >= full_lead(pace);
    if (stop != pace->stopped) {
        if (stop)
            pace->ran += now - pace->since;
        pace->since = now;
        pace->stopped = stop;
    }
    return stop;
}

int64_t bats_pace_next(const struct bats_pace *pace, int64_t now)
{
    double wait;
    if (pace->speed >= 1)
        return INT64_MAX;
    if (pace->stopped)
        wait = lead(pace, now);
    else
        wait = (full_lead(pace) - lead(pace, now)) / (1 / pace->speed - 1);
    return wait > 0 ? now + (int64_t)wait + 1 : now;
}

int64_t bats_pace_end(const struct bats_pace *pace, int64_t now)
{
    double wait = pace->speed < 1 ? lead(pace, now) : 0;
    return wait > 0 ? now + (int64_t)(wait + 0.5) : now;
}
