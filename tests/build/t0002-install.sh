#!/bin/bash
# make install puts everything in its place, and it is of use there.
. "$TOP/tests/tap.sh"

# The knobs of the make that runs the tests come along in MAKEFLAGS.
make -C "$TOP" install B="$B" PREFIX=/opt/bats DESTDIR="$dir/stage" \
    >out 2>&1
ok 'make install works'

at=$dir/stage/opt/bats
(cd "$dir/stage" && find . -type f | sort) >out
expect 1 grep -v '^\./opt/bats/' out
test -x "$at/bin/bats-mpi"
test -s "$at/lib/libbats.a"
test -s "$at/include/bats/sched.h"
ok 'everything is below DESTDIR and PREFIX'

"$at/bin/bats-mpi" --version >out 2>&1
ok 'the installed program starts'

# Every heading that a man page has to have, and no stray roff.
for heading in NAME SYNOPSIS DESCRIPTION OPTIONS 'EXIT STATUS'; do
    grep -q "^\.SH.*$heading" "$at/share/man/man1/bats-mpi.1" ||
        echo "no $heading"
done >out
test ! -s out
ok 'the man page has its sections'

bash -n "$at/share/bash-completion/completions/bats-mpi" >out 2>&1
grep -q 'complete .*bats-mpi' \
    "$at/share/bash-completion/completions/bats-mpi"
ok 'bash understands the completion'

# The flags that bats.pc names, without asking for pkg-config.
cat >use.c <<'C'
#include <bats/plan.h>
#include <stdio.h>
int main(void)
{
    struct bats_plan_item item = {.rate = 4, .charge = 3000000, .max = 32};
    struct bats_plan plan;
    if (bats_plan_solve(&item, 1, 1000, BATS_UNLIMITED, &plan, NULL) != 0)
        return 1;
    return plan.machines[0] != 32;
}
C
pc() { # KEY: with the variables filled in, for the staged tree
    sed -n "s/^$1: //p" "$at/lib/pkgconfig/bats.pc" | sed \
        -e "s|\${includedir}|$at/include|" -e "s|\${libdir}|$at/lib|"
}
${CC:-cc} $(pc Cflags) -o use use.c $(pc Libs) >out 2>&1
./use
ok 'a program that uses libbats builds with the flags of bats.pc'
done_testing
