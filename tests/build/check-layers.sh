#!/bin/sh
# check-layers.sh OBJECT... [-- OBJECT...]: proves that dependencies point one
# way. The first objects are those of libbats, the sources are below $SRC and in
# include. Only those ask how machines are billed who do it, read it or set it
# up; only src/site may ask for the variables of a batch system. Every offence is
# one line.

SRC=${SRC:-src}
arguments="$*"
all=$(echo "$arguments" | sed 's/ -- / /')
set -- ${arguments%% -- *}
defined=$(mktemp) || exit 1
trap 'rm -f "$defined"' EXIT

offences=$(
    # ---- what libbats refers to ----
    nm -uA "$@" | awk '
    {
        name = $NF
        sub(/@.*/, "", name)
        sub(/:.*/, "", $1)
    }
    name ~ /^(MPI_|PMIx_|PMI_|sqlite3_|hwloc_|slurm_|json_|ini_)/ ||
    name ~ /^(time|clock|clock_.*|gettimeofday|timespec_get|ftime)$/ ||
    name ~ /^(localtime|gmtime|strftime|mktime)(_r)?$/ ||
    name ~ /^(sleep|usleep|nanosleep|alarm|getpid|gethostname|uname)$/ ||
    name ~ /^(getenv|secure_getenv|setenv|putenv|environ|setlocale)$/ ||
    name ~ /^(rand|srand|rand_r|s?random|[dlm]rand48|getrandom)$/ ||
    name ~ /^(gsl_rng_env_setup)$/ ||
    name ~ /^(open|openat|creat|read|write|close|fork|vfork|f?exec[lv].*)$/ ||
    name ~ /^(posix_spawn.*|system|popen|kill|waitpid|socket)$/ ||
    name ~ /^(fopen|fdopen|freopen|fmemopen|stdin|stdout|stderr)(64)?$/ ||
    name ~ /^(v?f?printf|v?dprintf|f?puts|f?putc|putchar|fwrite|perror)$/ ||
    name ~ /^(exit|_exit|_Exit|atexit|signal|sigaction)$/ {
        print $1 ": refers to " name
    }'

    # ---- what it keeps ----
    nm -A --format=sysv --defined-only "$@" | awk -F'|' '
    $NF ~ /^\.(data|bss|tdata|tbss|common)$/ || $NF ~ /COM/ {
        name = $1
        sub(/:[^:]*$/, "", name)
        variable = $1
        sub(/^.*:/, "", variable)
        gsub(/ /, "", variable)
        # A sanitizer or profiler may have its own.
        if (variable !~ /^(__|\.L)/)
            print name ": has a variable, " variable
    }'

    # ---- who includes whom ----
    find "$SRC" include -name '*.[ch]' | sort | xargs awk -v src="$SRC" '
    BEGIN {
        split("util plan estimate engine input proto exec record history site " \
              "run sim report cli client sql", n)
        split("0 1 2 3 4 4 4 4 4 4 5 5 5 6 1 3", r)
        for (i in n)
            rank[n[i]] = r[i]
        owner["mpi.h"] = "run"
        owner["sqlite3.h"] = "sql record history"
        owner["hwloc.h"] = owner["pmix.h"] = "site"
        split("error units", u)
        split("billing cluster goal lifetime plan frontier tariff windows", p)
        split("choice estimate factors interval prior regression sample stats", e)
        for (i in u)
            home["bats/" u[i] ".h"] = "util"
        for (i in p)
            home["bats/" p[i] ".h"] = "plan"
        for (i in e)
            home["bats/" e[i] ".h"] = "estimate"
    }
    # The room of a public header.
    function room(header) {
        return header in home ? home[header] : "engine"
    }
    FNR == 1 {
        layer = room(substr(FILENAME, length("include/") + 1))
        if (index(FILENAME, src "/") == 1) {
            layer = substr(FILENAME, length(src) + 2)
            sub(/\/.*/, "", layer)
        }
    }
    layer != "site" && match($0, /getenv\("(SLURM|PBS|FLUX|LSB)_/) {
        print FILENAME ":" FNR ": only site may ask for " \
            substr($0, RSTART + 8, RLENGTH - 8)
    }
    # Names of billing models are read, written and set up.
    FILENAME !~ src "/(engine/money/|input/|sim/scenario|cli/alloc/)" &&
    FILENAME !~ src "/(plan/billing|sim/world|run/survey|cli/cmd/plan)\\.c$" &&
    index(FILENAME, src) == 1 && /BATS_BILLING_[A-Z]/ {
        print FILENAME ":" FNR ": asks how machines are billed, not for " \
            "the terms of their leases"
    }
    /^[ \t]*#[ \t]*include/ {
        header = $0
        sub(/^[^"<]*["<]/, "", header)
        sub(/[">].*/, "", header)
        if (header ~ /\.\.\//)
            print FILENAME ":" FNR ": includes upwards, " header
        if (header in owner && index(owner[header], layer) == 0)
            print FILENAME ":" FNR ": only " owner[header] " may include " \
                header
        other = header
        if (!sub(/\/.*/, "", other))
            next
        if ($0 ~ /</ && other != "bats" && !(other in rank))
            next
        if (other == "bats")
            other = room(header)
        if (!(other in rank) || !(layer in rank))
            print FILENAME ":" FNR ": not a layer, " header
        else if (layer != other && rank[layer] <= rank[other])
            print FILENAME ":" FNR ": " layer " may not include " header
    }'

    # ---- the rooms of the engine ----
    find "$SRC/engine" -name '*.[ch]' 2>/dev/null | sort |
        xargs -r awk -v prefix="$SRC/engine/" '
    # The state below, then the money, the forecast, the advisors, and the one
    # who asks.
    function room(file) {
        return file ~ /\// ? substr(file, 1, index(file, "/") - 1) \
            : file == "advisor.h" ? "advisor" : "sched"
    }
    function floor(name) {
        return name == "state" ? 0 : name == "money" ? 1 \
            : name == "outlook" ? 2 : name == "advisor" ? 3 \
            : name == "sched" ? 5 : 4
    }
    FNR == 1 {
        own = room(substr(FILENAME, length(prefix) + 1))
    }
    own != "policy" && /&bats_policy_/ {
        print FILENAME ":" FNR ": names a policy"
    }
    own != "tail" && /&tail_[a-z]|BATS_TAIL_[A-Z]/ {
        print FILENAME ":" FNR ": names a tail"
    }
    /^[ \t]*#[ \t]*include[ \t]*"engine\// {
        header = $0
        sub(/^[^"]*"engine\//, "", header)
        sub(/".*/, "", header)
        if (floor(own) > 1 && own != "sched" &&
            header ~ /^(state\/(moves|books|leases)|money\/kinds)\.h$/)
            print FILENAME ":" FNR ": " own " may only ask, not include " \
                "engine/" header
        if (own != room(header) && floor(own) <= floor(room(header)))
            print FILENAME ":" FNR ": " own " may not include engine/" header
    }'

    # ---- circles ----
    # Files that include each other.
    find "$SRC" include -name '*.[ch]' | sort | xargs awk -v src="$SRC" '
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        header = $0
        sub(/^[^"]*"/, "", header)
        sub(/".*/, "", header)
        print FILENAME, (header ~ /^bats\// ? "include/" : src "/") header
    }' | tsort 2>&1 >/dev/null | sed -n 's/^tsort: \(.*\.[ch]\)$/\1: includes itself, by way of the others named here/p'
    # Objects that refer to each other.
    nm -A --defined-only -g $all | awk '{ sub(/:.*/, "", $1); print $NF, $1 }' \
        >"$defined"
    nm -uA $all | awk -v defined="$defined" '
    BEGIN { while ((getline line < defined) > 0) {
            split(line, f, " ")
            home[f[1]] = f[2]
        } }
    { sub(/:.*/, "", $1) }
    $NF in home && home[$NF] != $1 { print $1, home[$NF] }' | sort -u |
        tsort 2>&1 >/dev/null |
        sed -n 's/^tsort: \(.*\.o\)$/\1: calls itself, by way of the others named here/p'
)
if [ -n "$offences" ]; then
    printf '%s\n' "$offences" | sort -u >&2
    exit 1
fi
echo "layers: $# objects of libbats and all sources keep to their layer"
