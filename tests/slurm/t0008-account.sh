#!/bin/bash
# Bills of jobs where Slurm keeps accounts: slurmdbd, with its database.
export BED_REQUEUES=1
. "$TOP/tests/slurm/lib.sh"

. "$TOP/tests/slurm/accounts.sh"
ok 'slurmdbd answers'

{
    sacctmgr -i add account science GrpTRESMins=billing=120000
    sacctmgr -i add account phys parent=science GrpTRESMins=billing=60000
    sacctmgr -i add account open
    sacctmgr -i add user root account=phys,open
} >out 2>&1
controller >>out 2>&1
ok 'a controller that keeps accounts'

ask() {
    srun --mpi=pmix -A "$1" -p slow --exclusive -N2 -n4 \
        bats-mpi clusters --budget account "${@:2}" >out 2>err
}
# says TEXT: that is the budget, but for the number of blanks.
says() {
    tr -s ' ' <out | grep -qFx "budget $1"
}
ask phys
says '1000 billing-h: account phys: 0 of 60000 billing-minutes are used'
ok 'the budget is what the account may use'
ask open
says 'unlimited: account open: no limit of billing-minutes is set'
ok 'an account without a limit is said to have none'
ini '[run]; currency = SU' '[cluster slow]; machine = node; charge = 3/h' >su.ini
exits 2 'the charges are in SU' ask phys -c su.ini
ok 'money that is not what Slurm bills is not taken for it'

# 2 nodes of 64 CPUs at 3: 384 per hour, 6.4 per second. Usage that Slurm has
# not counted yet it counts when it starts; sshare has it in billing-seconds.
srun -A phys -p slow --exclusive -N2 sleep 4
controller
used=$(sshare -n -P -A phys -o rawusage | head -n 1)
used=$((used / 60))
test "$used" -ge 25
ask phys
tr -s ' ' <out | grep -q "^budget 99[0-9.]* billing-h: account phys: $used of"
ok 'less what it has used'
sacctmgr -i modify account science set GrpTRESMins=billing=$((used + 600)) \
    >>out 2>&1
ask phys
# It may have used more by now.
awk -v used="$used" -v limit=$((used + 600)) '
    /^budget/ && /: account science: / && $8 == limit && $6 >= used &&
        ($2 - (limit - $6) / 60) ^ 2 < 0.01 { found = 1 }
    END { exit !found }' out
ok 'the account above it may have less left'

# Nobody gives the node of rank 0 up for long.
printf '%s\n' SlurmdTimeout=6 KillWait=2 >>"$SLURM_CONF"
sacctmgr -i add account tight GrpTRESMins=billing=200 >>out 2>&1
sacctmgr -i add user root account=tight >>out 2>&1
sacctmgr -i modify account science set GrpTRESMins=billing=-1 >>out 2>&1
controller

less=15
every_kind '' tight
# The same for a bats-mpi that cannot ask for what was billed.
mkdir blind
printf '#!/bin/sh\nexit 1\n' >blind/sacct
chmod +x blind/sacct
PATH=$BED/blind:$PATH lives limit-held resume.sh -p slow -x 'slow[2-4]' --time=1
PATH=$BED/blind:$PATH lives lost-held resume.sh -p fast -x 'fast[1-3]'
PATH=$BED/blind:$PATH lives preempted-held preemptible.sh -p preemptible \
    -x 'slow[1-3]'

lose_nodes lost preempted lost-held preempted-held

# agrees NAME: with what the run says, within 2 % and the two seconds that are
# the end of the job and Slurm's way of counting whole ones.
agrees() {
    bill "$1" >billed
    awk -v charged="$(json .charged "$1/report")" '{
        print charged, "charged,", $1, "billed"
        exit !((charged - $1) ^ 2 <= (0.02 * $1 + 2 * $2 / 3600) ^ 2) }' billed >out
}
# lived NAME N: all N tasks are done, in two sessions or more, none twice.
lived() {
    test "$(sql "$1/bag.txt.bats" 'SELECT done, sessions > 1 FROM progress')" = "$2|1"
    test "$(sql "$1/bag.txt.bats" 'SELECT count(*) - count(DISTINCT task)
        FROM execution WHERE outcome = 0')" = 0
}
code_is() { test "$(cat "$1/code")" -eq "$2"; }

agrees plain
code_is plain 0
ok 'a job is billed what the run says'
agrees budget
code_is budget 4
awk '{ exit $1 > 0.2 }' billed
ok 'with a budget, and never more than that'
agrees account
code_is account 4
awk '{ exit $1 > 200 / 60 }' billed
ok 'with what the account has left, and never more than that'
agrees hetero
code_is hetero 0
ok 'as a heterogeneous job'
agrees shrunk
code_is shrunk 0
ok 'where nodes were given back'
agrees limit
code_is limit 0
lived limit 36
sqlite3 limit/bag.txt.bats 'SELECT finish FROM session' | grep -qx deadline
ok 'over several lives with a time limit'
agrees preempted
code_is preempted 0
lived preempted $((36 - less))
ok 'over the lives of a preempted job'
agrees lost
code_is lost 0
lived lost $((36 - less))
ok 'after the node of rank 0 was lost'
for job in limit-held preempted-held lost-held; do
    agrees $job
    code_is $job 0
    grep 'beyond what its earlier sessions charged, is an estimate' $job/out
    ok "and without accounting, as far as the record and the time tell: $job"
done
done_testing
