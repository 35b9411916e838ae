#!/bin/bash
# check-layers finds what it is there to find.
. "$TOP/tests/tap.sh"

# layers OBJECT...: of the tree in src, here.
layers() {
    (cd "$TOP" && SRC=$dir/src sh tests/build/check-layers.sh "$@") >out 2>&1
}

# offends NAME: a tree with the source on standard input as src/engine/bad.c
# (or $2) is refused, with the offence named ($3).
offends() {
    name=$1 file=${2:-src/engine/bad.c} says=$3
    rm -rf src
    mkdir -p "$(dirname "$file")"
    cat >"$file"
    : >empty.c
    ${CC:-cc} -O2 -c -o bad.o empty.c
    case $file in *engine/bad.c) ${CC:-cc} -O2 -c -o bad.o "$file" ;; esac
    expect 1 layers "$dir/bad.o"
    grep -q "$says" out
    ok "$name"
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
offends 'a state that asks an advisor is refused' src/engine/state/bad.c \
    'state may not include engine/tail/tail.h' <<'C'
#include "engine/tail/tail.h"
C
offends 'advisors that know each other are refused' src/engine/tail/bad.c \
    'tail may not include engine/order/order.h' <<'C'
#include "engine/order/order.h"
C
offends 'an advisor that changes the state is refused' \
    src/engine/policy/bad.c 'policy may only ask' <<'C'
#include "engine/state/moves.h"
C
offends 'a state that names a policy is refused' src/engine/state/bad.c \
    'names a policy' <<'C'
bool is_expert = o->policy == &bats_policy_expert;
C
offends 'a policy that names a tail is refused' src/engine/policy/bad.c \
    'names a tail' <<'C'
e->tail = o->policy->sends_instances ? &tail_expert : tail_find(o->tail);
C
offends 'a state that knows a tail by its option is refused' \
    src/engine/state/bad.c 'names a tail' <<'C'
bool any = o->tail != BATS_TAIL_NONE;
C
offends 'one that names a billing model is refused' src/engine/state/bad.c \
    'asks how machines are billed' <<'C'
if (o->billing.model == BATS_BILLING_USE)
C
offends 'a report that asks for a billing model is refused' \
    src/report/bad.c 'asks how machines are billed' <<'C'
bool by_window = platform->billing == BATS_BILLING_WINDOW;
C
# circles NAME SAYS: the tree in src and the objects here are refused.
circles() {
    expect 1 layers "$dir"/*.o
    grep -q "$2" out
    ok "$1"
}

rm -rf src *.o
mkdir -p src/sim
echo '#include "sim/b.h"' >src/sim/a.h
echo '#include "sim/a.h"' >src/sim/b.h
${CC:-cc} -c -o empty.o empty.c
circles 'files that include each other are refused' 'sim/a.h: includes itself'

rm src/sim/a.h
: >src/sim/b.h
echo 'int b(void); int a(void); int a(void) { return b(); }' >a.c
echo 'int b(void); int a(void); int b(void) { return a(); }' >b.c
${CC:-cc} -O0 -c -o a.o a.c
${CC:-cc} -O0 -c -o b.o b.c
circles 'objects that call each other are refused' 'a.o: calls itself'
expect 1 layers "$dir/empty.o" -- "$dir/a.o" "$dir/b.o"
grep -q 'a.o: calls itself' out
ok 'so are those of the layers above libbats'

# And what the engine may do is let through.
rm -rf src
mkdir -p src/engine
cat >src/engine/good.c <<'C'
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
${CC:-cc} -c -o good.o src/engine/good.c
layers "$dir/good.o"
ok 'memory, text and mathematics are let through'
done_testing
