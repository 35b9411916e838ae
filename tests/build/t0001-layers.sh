#!/bin/bash
# check-layers finds what it is there to find.
. "$TOP/tests/tap.sh"

# layers OBJECT...: of the tree in src, here.
layers() {
    (cd "$TOP" && SRC=$dir/src sh tests/build/check-layers.sh "$@") >out 2>err
}

# offend: a tree of one file is refused, with the offence named, for each row of
# file, what is said, and source. One of the engine, as engine/bad.c, is compiled.
: >empty.c
${CC:-cc} -c -o empty.o empty.c
offend() {
    while IFS='|' read -r file says source; do
        rm -rf src
        mkdir -p "src/${file%/*}"
        printf '%b\n' "$source" >"src/$file"
        cp empty.o bad.o
        [ $file != engine/bad.c ] || ${CC:-cc} -O2 -c -o bad.o src/$file
        exits 1 "$says" layers "$dir/bad.o"
    done
}
offend <<'ROWS'
engine/bad.c|refers to time|#include <time.h>\nlong now(void) { return time(NULL); }
engine/bad.c|refers to puts|#include <stdio.h>\nvoid say(void) { printf("hello\\n"); }
engine/bad.c|has a variable, calls|static int calls;\nint count(void) { return ++calls; }
ROWS
ok 'clocks, printing and variables in the engine are refused'
offend <<'ROWS'
input/bad.c|may not include proto/|#include "proto/message.h"
exec/bad.c|may not include run/|#include "run/run.h"
plan/bad.c|may not include bats/stats.h|#include "bats/stats.h"
engine/state/bad.c|state may not include engine/tail/tail.h|#include "engine/tail/tail.h"
engine/tail/bad.c|tail may not include engine/order/order.h|#include "engine/order/order.h"
engine/policy/bad.c|policy may only ask|#include "engine/state/moves.h"
cli/bad.c|only run may|#include <mpi.h>
ROWS
ok 'a sibling, a higher layer, a plan that asks an estimate and so on are refused'
offend <<'ROWS'
run/bad.c|only site may ask for SLURM_|const char *job = getenv("SLURM_JOB_ID");
engine/state/bad.c|names a policy|bool is_expert = o->policy == &bats_policy_expert;
engine/policy/bad.c|names a tail|e->tail = o->sends ? &tail_expert : tail_find(o->tail);
engine/state/bad.c|names a tail|bool any = o->tail != BATS_TAIL_NONE;
engine/state/bad.c|asks how machines are billed|if (o->model == BATS_BILLING_USE)
report/bad.c|asks how machines are billed|bool x = p->billing == BATS_BILLING_WINDOW;
ROWS
ok 'who asks for, or names, what is not for that room is refused'

rm -rf src
mkdir -p src/sim
echo '#include "sim/b.h"' >src/sim/a.h
echo '#include "sim/a.h"' >src/sim/b.h
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

done_testing
