#!/bin/bash
# check-layers finds what it is there to find.
. "$TOP/tests/tap.sh"

# layers OBJECT...: of the tree in src, here.
layers() {
    (cd "$TOP" && SRC=$dir/src sh tests/build/check-layers.sh "$@") >out 2>err
}

# offends FILE SAYS SOURCE: a tree with this source is refused, with the offence
# named. One of the engine, as src/engine/bad.c, is compiled.
offends() {
    rm -rf src
    mkdir -p "$(dirname "src/$1")"
    echo "$3" >"src/$1"
    : >empty.c
    ${CC:-cc} -O2 -c -o bad.o $([ $1 = engine/bad.c ] && echo src/$1 || echo empty.c)
    exits 1 "$2" layers "$dir/bad.o"
}
include() { # FILE SAYS HEADER
    offends "$1" "$2" "#include \"$3\""
}
offends engine/bad.c 'refers to time' '#include <time.h>
long now(void);
long now(void) { return time(NULL); }'
offends engine/bad.c 'refers to puts' '#include <stdio.h>
void say(void);
void say(void) { printf("hello\n"); }'
offends engine/bad.c 'has a variable, calls' 'static int calls;
int count(void);
int count(void) { return ++calls; }'
ok 'clocks, printing and variables in the engine are refused'
include input/bad.c 'may not include proto/' proto/message.h
include exec/bad.c 'may not include run/' run/run.h
include plan/bad.c 'may not include bats/stats.h' bats/stats.h
include engine/state/bad.c 'state may not include engine/tail/tail.h' engine/tail/tail.h
include engine/tail/bad.c 'tail may not include engine/order/order.h' engine/order/order.h
include engine/policy/bad.c 'policy may only ask' engine/state/moves.h
offends cli/bad.c 'only run may' '#include <mpi.h>'
ok 'a sibling, a higher layer, a plan that asks an estimate and so on are refused'
offends run/bad.c 'only site may ask for SLURM_' \
    'const char *job = getenv("SLURM_JOB_ID");'
offends engine/state/bad.c 'names a policy' \
    'bool is_expert = o->policy == &bats_policy_expert;'
offends engine/policy/bad.c 'names a tail' \
    'e->tail = o->policy->sends_instances ? &tail_expert : tail_find(o->tail);'
offends engine/state/bad.c 'names a tail' 'bool any = o->tail != BATS_TAIL_NONE;'
offends engine/state/bad.c 'asks how machines are billed' \
    'if (o->billing.model == BATS_BILLING_USE)'
offends report/bad.c 'asks how machines are billed' \
    'bool by_window = platform->billing == BATS_BILLING_WINDOW;'
ok 'who asks for, or names, what is not for that room is refused'

rm -rf src *.o
mkdir -p src/sim
echo '#include "sim/b.h"' >src/sim/a.h
echo '#include "sim/a.h"' >src/sim/b.h
${CC:-cc} -c -o empty.o empty.c
exits 1 'sim/a.h: includes itself' layers "$dir/empty.o"
rm src/sim/a.h
: >src/sim/b.h
echo 'int b(void); int a(void); int a(void) { return b(); }' >a.c
echo 'int b(void); int a(void); int b(void) { return a(); }' >b.c
${CC:-cc} -O0 -c -o a.o a.c
${CC:-cc} -O0 -c -o b.o b.c
exits 1 'a.o: calls itself' layers "$dir/empty.o" "$dir/a.o" "$dir/b.o"
exits 1 'a.o: calls itself' layers "$dir/empty.o" -- "$dir/a.o" "$dir/b.o"
ok 'files that include, or objects that call, each other are refused'

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
