#!/bin/bash
# What takes part in a run on jobs is killed at random, with a fixed seed.
# (benchmarks/alloc/crash.sh does it for longer.)
. "$TOP/tests/slurm/lib.sh"
. "$TOP/tests/slurm/accounts.sh"
. "$TOP/tests/slurm/leases.sh"
. "$TOP/tests/slurm/kills.sh"
budget=4
RANDOM=3
survives bag 5 "${parts[@]}" >>out
ok 'a run is done and billed as charged after five kills'
done_testing
