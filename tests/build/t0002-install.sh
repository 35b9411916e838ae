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
test "$(readlink "$at/lib/libbats.so")" = libbats.so.1
test -s "$at/include/bats/sched.h"
ok 'everything is below DESTDIR and PREFIX'

"$at/bin/bats-mpi" --version >out 2>&1
ok 'the installed program starts'

version=$(sed -n 's/^VERSION = //p' "$TOP/Makefile")
grep -qx "bats-mpi $version" out
grep -qx "Version: $version" "$at/lib/pkgconfig/bats.pc"
grep -qx "version: $version" "$TOP/CITATION.cff"
grep -q "^bats-mpi ($version-" "$TOP/packaging/debian/changelog"
grep -qx "version = '$version'" \
    "$TOP/packaging/easybuild/bats-mpi-$version-foss-2023a.eb"
test "$(grep -m 1 '^## [0-9]' "$TOP/CHANGELOG.md")" = "## $version"
test -e "$at/share/modulefiles/bats-mpi/$version"
ok 'program, library, packages, citation and changes are of one version'

for page in "$at"/share/man/man1/bats-mpi-*.1; do
    groff -man -Tascii -P-bcu -ww "$page" 2>&1 >/dev/null
done >out
test ! -s out
test -s "$at/share/man/man1/bats-mpi-alloc.1"
ok 'each verb has a page, and groff has nothing to say against any'

for file in bash-completion/completions/bats-mpi zsh/site-functions/_bats-mpi \
    fish/vendor_completions.d/bats-mpi.fish man/man1/bats-mpi.1; do
    test -s "$at/share/$file"
done
ok 'completions and the man page are where shells and man look'

# Names of ours that no header has are nobody's to use.
nm -D --defined-only "$at/lib/libbats.so.1" >names
grep -q ' T bats_plan_solve@@BATS_1$' names
expect 1 grep -v '[ @]BATS_1$' names
expect 1 grep -q ' bats_grow@' names
ok 'the shared library has what the headers say, and no more'

make -C "$TOP" installcheck PREFIX=/opt/bats DESTDIR="$dir/stage" >out 2>&1
grep -q 'works$' out
ok 'what was installed runs a bag, and libbats can be linked with, both ways'
done_testing
