#!/bin/sh
# make install puts everything in its place, and it is of use there.
echo 1..6
cd "$TOP" || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
ok() { # COMMAND-RESULT NUMBER NAME
    if [ "$1" -eq 0 ]; then
        echo "ok $2 - $3"
    else
        echo "not ok $2 - $3"
        sed 's/^/# /' "$dir/out"
    fi
}

# The knobs of the make that runs the tests come along in MAKEFLAGS.
make install B="$B" PREFIX=/opt/bats DESTDIR="$dir/stage" \
    >"$dir/out" 2>&1
ok $? 1 'make install works'

at=$dir/stage/opt/bats
(cd "$dir/stage" && find . -type f | sort) >"$dir/out"
test "$(grep -cv '^\./opt/bats/' "$dir/out")" -eq 0 &&
    test -x "$at/bin/bats-mpi" && test -s "$at/lib/libbats.a" &&
    test -s "$at/include/bats/sched.h"
ok $? 2 'everything is below DESTDIR and PREFIX'

"$at/bin/bats-mpi" --version >"$dir/out" 2>&1
ok $? 3 'the installed program starts'

# Every heading that a man page has to have, and no stray roff.
for heading in NAME SYNOPSIS DESCRIPTION OPTIONS 'EXIT STATUS'; do
    grep -q "^\.SH.*$heading" "$at/share/man/man1/bats-mpi.1" ||
        echo "no $heading"
done >"$dir/out"
test ! -s "$dir/out"
ok $? 4 'the man page has its sections'

bash -n "$at/share/bash-completion/completions/bats-mpi" >"$dir/out" 2>&1 &&
    grep -q 'complete .*bats-mpi' \
        "$at/share/bash-completion/completions/bats-mpi"
ok $? 5 'bash understands the completion'

# The flags that bats.pc names, without asking for pkg-config.
cat >"$dir/use.c" <<'C'
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
${CC:-cc} $(pc Cflags) -o "$dir/use" "$dir/use.c" $(pc Libs) \
    >"$dir/out" 2>&1 && "$dir/use"
ok $? 6 'a program that uses libbats builds with the flags of bats.pc'
