#!/bin/bash
# hwloc, PMIx and GnuTLS may be missing: the build says so and does
# without.
. "$TOP/tests/mpi/lib.sh"

needs() {
    readelf -d "$1" | grep NEEDED
}
if needs "$BATS_MPI" | grep -q hwloc; then
    needs "$BATS_MPI" | grep -q pmix
    ok 'PMIx is used where it is there'
else
    skip 'PMIx is used where it is there' 'built without hwloc'
fi

mkdir bin
ln -s /bin/false bin/pkg-config
env -u MAKEFLAGS -u MAKELEVEL PATH="$PWD/bin:$PATH" \
    make -C "$TOP" CC='cc -nostdinc' -pn help >out 2>err
test "$(grep -c -E '^(HWLOC|PMIX|GNUTLS) := no$' out)" = 3
ok 'without pkg-config they are there if the compiler finds their headers'

# What is built already serves here, too, but for the sources that name one of
# the libraries.
mkdir -p b/obj
cp -a "$B/obj/src" b/obj
cp -a "$B/flags" "$B/optional-flags" b
grep -rl --include='*.h' BATS_HAVE_ "$TOP/src" "$TOP/include" >named || :
test ! -s named
grep -rl --include='*.c' BATS_HAVE_ "$TOP/src" |
    sed "s|^$TOP/|b/obj/|; s|c\$|o|" >named
test -s named
touch before
make -C "$TOP" B="$dir/b" HWLOC=no PMIX=no GNUTLS=no programs \
    >out 2>err
find b/obj -name '*.o' -newer before | sort >rebuilt
sort named | diff - rebuilt
ok 'it builds without them, and only what names them again'
finds out '^Built without hwloc: .*not bound' '^Built without pmix: ' \
    '^Built without gnutls: '
ok 'and says what is lost'
needs b/bats-mpi >needed
expect 1 grep -E 'hwloc|pmix|gnutls' needed
ok 'it is not linked with them'
BATS_MPI=$dir/b/bats-mpi
echo 'echo ${OMP_NUM_THREADS-unset}' >bag
unset OMP_NUM_THREADS
bats 3 bag --quiet
test "$(cat out)" = unset
ok 'it runs a bag, and binds nothing'
printf '%s\n' '[cluster w]' 'ranks = 1-2' 'charge = 1' >clusters.ini
exits 3 'built without GnuTLS' verb bag --clusters clusters.ini --welcome door
test ! -e door
ok 'no worker jobs join it'
bats 3 clusters --ranks
grep -q 'nodes *hardware not known' out
grep -q ' charge *1 core-h per window: 1 per core-hour, 1 core' out
ok 'a rank whose hardware is not known is one core'
done_testing
