# Sourced after lib.sh by tests of jobs that alloc buys, whose bill is asked of
# squeue.
. "$TOP/tests/jobs.sh"
# settled BAG: no job is left, what was charged is what squeue knows, and the
# record is true.
settled() {
    within 60 none_left "$1"
    same "$(billed_by_squeue "$1")" "$(charged "$1")"
    bats-mpi record verify "$1" >>out
}
# drain NODE WORDS; undrain: the node; the words are told in err.
drain() {
    scontrol update NodeName="$1" State=DRAIN Reason=test
    within 60 grep -q "$2" err
}
undrain() { scontrol update NodeName="$1" State=RESUME; }
