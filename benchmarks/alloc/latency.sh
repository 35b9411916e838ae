#!/bin/sh
# latency.sh [SECONDS]: what it costs a worker to be behind a gateway: from the
# end of its task to the start of the next one, as in benchmarks/latency.sh
# (default 20 s), for three workers that are ranks of the run, and for three of
# one worker job, of which rank 0 is the gateway, over the loopback interface.
# From the top of the sources, after make.
. "$(dirname "$0")/loopback.sh"
seconds=${1:-20}

# row NAME CONDITION: of the machines in the record for which it is true.
row() {
    sqlite3 record "SELECT gap FROM (SELECT machine, start_us -
        lag(start_us + wall_us) OVER (PARTITION BY machine ORDER BY start_us)
        AS gap FROM execution) WHERE gap IS NOT NULL AND $2" | sort -n |
        awk -v name="$1" '{ x[NR] = $1 } END { printf("| %s | %d | %d | %d |\n",
            name, x[int((NR + 1) / 2)], x[int(0.99 * NR + 0.999)], NR) }'
}
yes '@sleep 0.2' | head -n $((seconds * 15)) >bag
echo '| worker | end to start, us: p50 | p99 | gaps |'
echo '|---|--:|--:|--:|'
launch 4 "$bats" run bag --quiet --policy rr --record record </dev/null >&2 ||
    exit 1
row 'a rank of the run' 1
rm record
printf '%s\n' '[cluster w]' 'ranks = 1-3' 'charge = 1' >clusters.ini
begin bag --quiet --policy rr --record record
launch 3 "$bats" worker --join door </dev/null >&2
wait "$master" || { cat err >&2; exit 1; }
row 'the gateway' 'machine = 0'
row 'behind it' 'machine > 0'
