#!/bin/sh
# installcheck.sh: what was installed runs a bag of 20 tasks within a budget, and
# a program that uses libbats is built and runs. PREFIX, LIBDIR, DESTDIR and CC
# come from the Makefile.
set -eu

bin=$DESTDIR$PREFIX/bin
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
seq 20 | sed 's/.*/echo $((& * &))/' >bag.txt
printf '[cluster all]\nranks = 1-2\ncharge = 1\n' >clusters.ini
BATS_HISTORY='' "$bin/bats-mpi" -j 2 bag.txt --clusters clusters.ini \
    --budget 2 --quiet | sort -n >out
seq 20 | awk '{ print $1 * $1 }' | cmp - out
"$bin/bats-mpi" status bag.txt | grep -q '20 done'

cat >use.c <<'C'
#include <bats/plan.h>
int main(void)
{
    struct bats_plan_item item = {.rate = 4, .charge = 3000000, .max = 32};
    struct bats_plan plan;
    int rc = bats_plan_solve(&item, 1, 1000, BATS_UNLIMITED, &plan, 0);
    return rc != 0 || plan.machines[0] != 32;
}
C
lib=$DESTDIR$LIBDIR
flags() {
    PKG_CONFIG_PATH=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$DESTDIR \
        pkg-config --cflags --libs "$@" bats
}
# shellcheck disable=SC2046 # words
$CC -o shared use.c $(flags)
LD_LIBRARY_PATH=$lib ./shared
# shellcheck disable=SC2046
$CC -o static use.c $(flags --static | sed "s|-lbats|$lib/libbats.a|")
./static
echo "what is installed below $DESTDIR$PREFIX works"
