# Sourced by the benchmarks here whose worker jobs join a run over the loopback
# interface. The benchmark goes on in a directory of its own, $tmp.
cd "$(dirname "$0")/../.." || exit 1
. benchmarks/launch.sh
bats=$(realpath "${B:-build}")/bats-mpi
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
export BATS_AUTH=secret

# begin BAG ARGUMENT...: starts the run, process $master. Its door is open then.
begin() {
    rm -f door
    "$bats" "$@" --clusters clusters.ini --welcome door --host 127.0.0.1 \
        >out 2>err &
    master=$!
    until [ -s door ]; do sleep 0.01; done
}
