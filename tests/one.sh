#!/bin/sh
# one.sh SECONDS TEST: a test as prove starts it, ended after that time. Its
# standard error goes around prove, to 9: prove would wait for the next line of
# its standard output before it looked at another test.
exec timeout -k 10 "$@" 2>&9
