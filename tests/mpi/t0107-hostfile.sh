#!/bin/bash
# A bag on two hosts without a batch system: mpirun with a file of hosts, and ssh.
[ -n "${BED-}" ] || exec sh "$TOP/tests/mpi/hosts.sh" bash "$0"
# Both hosts see the directory of the testbed.
export TMPDIR="$BED"
. "$TOP/tests/mpi/lib.sh"
unset TMPDIR
export OMPI_MCA_plm_rsh_args="-F $BED/ssh_config"
export OMPI_MCA_btl_tcp_if_include=10.77.0.0/24
export OMPI_MCA_oob_tcp_if_include=10.77.0.0/24

printf '%s\n' 'n1 slots=2' 'n2 slots=2' >hosts
ini '[cluster one]; nodes = n1; charge = 3' \
    '[cluster two]; nodes = n2; charge = 1' >clusters.ini
for i in $(seq 30); do echo "sleep 0.2; hostname"; done >bag.txt
launched --hostfile hosts "$BATS_MPI" bag.txt --clusters clusters.ini \
    --policy rr --joblog log
test "$(wc -l <out)" = 30
test "$(sort -u out | tr '\n' ' ')" = 'n1 n2 '
cut -f2 log | sort -u | tr '\n' ' ' | grep -q 'n1.* n2'
ok 'a bag runs on the hosts of a file, by ssh'
"$BATS_MPI" status bag.txt --json >report
test "$(json '.clusters[] | "\(.name) \(.done)"' | xargs)" = \
    "one $(grep -c n1 out) two $(grep -c n2 out)"
ok 'each host is a cluster with the charge of the clusters file'
done_testing
