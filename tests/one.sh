#!/bin/sh
# one.sh SECONDS TEST: a test as prove starts it, ended after that time. What may
# be in the making, or makes something itself, waits until all is built. Its
# standard error goes around prove, to 9: after a line there, prove would wait
# for one on standard output before it looked at another test. The end of its
# own pipe is kept, as 8, for prove would wait after the end of that, too.
case $2 in
*/tests/test_* | */tests/fuzz_* | *tests/build/* | */t0000-testbed.sh | */t0601-readme.sh)
    flock -s "$B/building" true ;;
esac
exec timeout -k 10 "$@" 8>&2 2>&9
