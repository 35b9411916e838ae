#!/bin/sh
# one.sh SECONDS TEST: a test as prove starts it, ended after that time. Its
# standard error goes around prove, to 9: after a line there, prove would wait
# for one on standard output before it looked at another test. The end of its
# own pipe is kept, as 8, for prove would wait after the end of that, too.
exec timeout -k 10 "$@" 8>&2 2>&9
