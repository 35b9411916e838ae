#!/bin/sh
# check-layers finds what it is there to find.
echo 1..9
cd "$TOP" || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
count=0

# offends NAME: a tree with the source on standard input as src/engine/bad.c
# (or $2) is refused, with the offence named ($3).
offends() {
    name=$1 file=${2:-src/engine/bad.c} says=$3
    rm -rf "$dir/src" "$dir/bad.o"
    mkdir -p "$dir/$(dirname "$file")"
    cat >"$dir/$file"
    : >"$dir/empty.c"
    ${CC:-cc} -O2 -c -o "$dir/bad.o" "$dir/empty.c"
    case $file in *engine*) ${CC:-cc} -O2 -c -o "$dir/bad.o" "$dir/$file" ;; esac
    count=$((count + 1))
    if SRC=$dir/src sh tests/build/check-layers.sh "$dir/bad.o" \
        >"$dir/out" 2>&1
    then
        echo "not ok $count - $name"
    elif ! grep -q "$says" "$dir/out"; then
        echo "not ok $count - $name"
        sed 's/^/# /' "$dir/out"
    else
        echo "ok $count - $name"
    fi
}

offends 'a clock in the engine is refused' '' 'refers to time' <<'C'
#include <time.h>
long now(void);
long now(void) { return time(NULL); }
C
offends 'printing in the engine is refused' '' 'refers to puts' <<'C'
#include <stdio.h>
void say(void);
void say(void) { printf("hello\n"); }
C
offends 'a variable in the engine is refused' '' 'has a variable, calls' <<'C'
static int calls;
int count(void);
int count(void) { return ++calls; }
C
offends 'a sibling is refused' src/input/bad.c 'may not include proto/' <<'C'
#include "proto/message.h"
C
offends 'a higher layer is refused' src/exec/bad.c 'may not include run/' <<'C'
#include "run/run.h"
C
offends 'a plan that asks an estimate is refused' src/plan/bad.c \
    'may not include bats/stats.h' <<'C'
#include "bats/stats.h"
C
offends 'mpi.h outside src/run is refused' src/cli/bad.c 'only run may' <<'C'
#include <mpi.h>
C
offends "a batch system's variable outside src/site is refused" \
    src/run/bad.c 'only site may ask for SLURM_' <<'C'
const char *job = getenv("SLURM_JOB_ID");
C

# And what the engine may do is let through.
rm -rf "$dir/src"
mkdir -p "$dir/src/engine"
cat >"$dir/src/engine/good.c" <<'C'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static const char *const names[] = { "a", "b" };
int good(char *text, size_t n, double x);
int good(char *text, size_t n, double x)
{
    char *copy = malloc(n);
    memcpy(copy, text, n);
    int length = snprintf(text, n, "%s %g", names[n & 1], sqrt(x));
    free(copy);
    return length;
}
C
${CC:-cc} -c -o "$dir/good.o" "$dir/src/engine/good.c"
if SRC=$dir/src sh tests/build/check-layers.sh "$dir/good.o" >"$dir/out" 2>&1
then
    echo 'ok 9 - memory, text and mathematics are let through'
else
    echo 'not ok 9 - memory, text and mathematics are let through'
    sed 's/^/# /' "$dir/out"
fi
