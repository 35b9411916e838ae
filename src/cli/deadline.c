/* deadline: the argument of --deadline. See options.h. */
#include "cli/options.h"

#include <math.h>
#include <string.h>

static bool fits(const char *text, const char *form, struct tm *tm)
{
    const char *end = strptime(text, form, tm);
    return end != NULL && *end == '\0';
}

/* "25:00" is not a time of day, and would be ambiguous as minutes. */
static bool is_clock(const char *text)
{
    const char *colon = strchr(text, ':');
    return colon && !strchr(text, '-') && colon == strrchr(text, ':');
}

/* "18:30": today or, if that is past, tomorrow. */
static bool parse_clock(const char *text, time_t now, time_t *moment)
{
    struct tm tm = {0}, at;
    if (!fits(text, "%H:%M", &tm) || localtime_r(&now, &at) == NULL)
        return false;
    at.tm_hour = tm.tm_hour;
    at.tm_min = tm.tm_min;
    at.tm_sec = 0;
    at.tm_isdst = -1;
    *moment = mktime(&at);
    if (*moment <= now) {
        at.tm_mday++;
        at.tm_isdst = -1;
        *moment = mktime(&at);
    }
    return true;
}

static bool parse_date(const char *text, time_t *moment)
{
    static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M",
                                        "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M",
                                        "%Y-%m-%d"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct tm tm = {.tm_isdst = -1};
        if (fits(text, forms[i], &tm)) {
            tm.tm_isdst = -1;
            *moment = mktime(&tm);
            return true;
        }
    }
    return false;
}

int bats_deadline_parse(const char *text, time_t now,
                        struct bats_deadline *deadline, struct bats_error *err)
{
    struct bats_deadline d = {.text = text};
    if (bats_share_parse(text, &d.share)) {
        d.is_share = true;
    } else if (parse_clock(text, now, &d.moment) ||
               parse_date(text, &d.moment)) {
        if (d.moment <= now)
            return bats_refuse(err, "%.40s is over", text);
    } else if (is_clock(text) ||
               bats_duration_parse(text, &d.duration, NULL) != 0) {
        return bats_refuse(
            err,
            "'%.40s' is neither a duration like 4h, nor a time like 18:30 or "
            "2026-11-22T18:30, nor a percentage up to 100%%",
            text);
    } else if (d.duration == 0) {
        return bats_refuse(err, "it must be longer than 0");
    }
    *deadline = d;
    return 0;
}

bats_time bats_deadline_from(const struct bats_deadline *d, time_t now,
                             double time_scale)
{
    if (d->moment == 0)
        return d->duration;
    double left = difftime(d->moment, now) * time_scale * (double)BATS_SECOND;
    return left < (double)BATS_LONGEST ? (bats_time)fmax(left, 1)
                                       : BATS_LONGEST;
}

int bats_deadline_of_share(const struct bats_deadline *d,
                           const struct bats_estimator *e, bats_time *left,
                           struct bats_error *err)
{
    struct bats_schedule offers[BATS_OFFERS];
    size_t n;
    int rc = bats_estimate_offers(e, offers, &n, err);
    if (rc < 0)
        return rc;
    double soonest = offers[n - 1].makespan.estimate;
    double latest = offers[0].makespan.estimate;
    *left = (bats_time)ceil(soonest + d->share * (latest - soonest));
    return 0;
}
