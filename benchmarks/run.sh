#!/bin/sh
# make bench: what RESULTS.md says about speed, measured here and now. The
# emulation of the thesis's table 2.1 takes 6 minutes and has a command of its
# own: sh benchmarks/das/table21.sh
cd "$(dirname "$0")/.." || exit 1
sh benchmarks/speed.sh "$@" || exit 1
sh benchmarks/record.sh "$@" || exit 1
[ ! -f benchmarks/idle.sh ] || sh benchmarks/idle.sh
