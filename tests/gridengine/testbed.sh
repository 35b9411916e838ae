#!/bin/sh
# testbed.sh COMMAND...: a small Grid Engine cluster for as long as COMMAND runs.
#
# Four nodes (bed.sh): fast1, fast2 (queue fast.q, charge 8) and slow1, slow2
# (queue slow.q, charge 3), with 8 slots each and the parallel environment mpi;
# one master, where COMMAND runs, with SGE_ROOT and BED in its environment.
#
# COMMAND's exit code is the testbed's.

bed=gridengine
tools='/usr/sbin/sge_qmaster /usr/sbin/sge_execd /usr/lib/gridengine/qsub'
. "$(dirname "$0")/../bed.sh"

nodes='fast1 fast2 slow1 slow2'
debian=/usr/lib/gridengine
# The commands themselves: Debian's wrappers take 0.1 s more each time.
PATH=$debian:$PATH
SGE_ROOT=$BED/sge SGE_CELL=default SGE_ARCH=lx-amd64 SGE_ND=1
SGE_QMASTER_PORT=6444 SGE_EXECD_PORT=6445
export PATH SGE_ROOT SGE_CELL SGE_ARCH SGE_ND SGE_QMASTER_PORT SGE_EXECD_PORT

common=$SGE_ROOT/$SGE_CELL/common
mkdir -p "$common" "$BED/spool/db" "$BED/spool/qmaster"
for link in util bin lib utilbin; do
    ln -s "/var/lib/gridengine/$link" "$SGE_ROOT/$link"
done
echo bats-control >"$common/act_qmaster"
echo bats >"$common/cluster_name"
cat >"$common/bootstrap" <<CONF
admin_user none
default_domain none
ignore_fqdn true
spooling_method classic
spooling_lib libspoolc
spooling_params $common;$BED/spool/qmaster
binary_path /usr/sbin
qmaster_spool_dir $BED/spool/qmaster
security_mode none
listener_threads 2
worker_threads 2
scheduler_threads 1
CONF
sed 's|^\(execd_spool_dir\).*|\1 '"$BED"'/spool|; s|^\(mailer\).*|\1 /bin/true|
    s/^\(min_[ug]id\).*/\1 0/; s/^\(load_report_time\).*/\1 00:00:02/
    s/^\(max_unheard\).*/\1 00:00:20/; s/^\(reschedule_unknown\).*/\1 00:00:10/
    s/flush_time=00:00:15/& accounting_flush_time=00:00:00/' \
    /usr/share/gridengine/default-configuration >"$BED/configuration"

# Names are resolved by a file of hosts that all see.
{
    echo '127.0.0.1 localhost'
    echo '10.77.0.1 bats-control'
    number=10
    for node in $nodes; do
        number=$((number + 1))
        echo "10.77.0.$number $node"
    done
} >"$BED/hosts"
mount --bind "$BED/hosts" /etc/hosts

(
    LD_LIBRARY_PATH=$debian
    export LD_LIBRARY_PATH
    set -e
    resources=/usr/share/gridengine/util/resources
    defaults=$debian/spooldefaults.bin
    $debian/spoolinit classic libspoolc "$common;$BED/spool/qmaster" init
    $defaults configuration "$BED/configuration"
    $defaults complexes $resources/centry
    $defaults usersets $resources/usersets
    $defaults managers root
) >"$BED/log/spool" 2>&1 || give_up 'the master has no place for its state'
sge_qmaster </dev/null >"$BED/log/qmaster" 2>&1 &

patiently qconf -sh >/dev/null
{
    number=10
    for node in $nodes; do
        number=$((number + 1))
        qconf -ah $node
        mkdir "$BED/spool/$node"
        start_node $node $number sge_execd
    done
    qconf -as bats-control
    conf=$BED/conf
    qconf -ssconf | sed 's/^\(schedule_interval\).*/\1 0:0:2/
        s/^\(flush_submit_sec\).*/\1 1/; s/^\(flush_finish_sec\).*/\1 1/
        s/^\(schedd_job_info\).*/\1 true/
        s/^\(queue_sort_method\).*/\1 seqno/' >"$conf"
    qconf -Msconf "$conf"
    qconf -sc >"$conf"
    echo 'charge charge DOUBLE <= YES NO 0 0' >>"$conf"
    qconf -Mc "$conf"
    cat >"$conf" <<CONF
pe_name mpi
slots 999
user_lists NONE
xuser_lists NONE
start_proc_args NONE
stop_proc_args NONE
allocation_rule \$fill_up
control_slaves TRUE
job_is_first_task FALSE
urgency_slots min
qsort_args NONE
accounting_summary TRUE
CONF
    qconf -Ap "$conf"
} >"$BED/log/setup" 2>&1
# The scheduler takes queues in the order of seq_no, whatever their load.
add_queue() { # NAME CHARGE SEQ_NO
    qconf -sq 2>/dev/null | sed "s/^\(qname\).*/\1 $1.q/
        s/^\(hostlist\).*/\1 ${1}1 ${1}2/; s/^\(slots\).*/\1 8/
        s/^\(pe_list\).*/\1 mpi/; s/^\(rerun\).*/\1 TRUE/
        s/^\(load_thresholds\).*/\1 NONE/; s/^\(notify\).*/\1 00:00:05/
        s/^\(shell_start_mode\).*/\1 unix_behavior/; s|^\(shell\) .*|\1 /bin/sh|
        s/^\(complex_values\).*/\1 charge=$2/
        s/^\(seq_no\).*/\1 $3/" >"$conf"
    qconf -Aq "$conf" >>"$BED/log/setup" 2>&1
}
add_queue fast 8 1
add_queue slow 3 2

ready() { [ "$(qstat -f | awk '$1 ~ /@/ && NF == 5' | wc -l)" -eq 4 ]; }
patiently ready || give_up 'the nodes of Grid Engine do not come up'

"$@"
