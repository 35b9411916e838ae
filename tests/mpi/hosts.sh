#!/bin/sh
# hosts.sh COMMAND...: two hosts, n1 and n2, for as long as COMMAND runs, with
# sshd and no batch system (bed.sh). $BED/ssh_config lets COMMAND in.
#
# COMMAND's exit code is the testbed's.

bed=hosts
tools='/usr/sbin/sshd ssh ssh-keygen'
. "$(dirname "$0")/../bed.sh"

printf '%s\n' '127.0.0.1 localhost' '10.77.0.1 bats-control' '10.77.0.11 n1' \
    '10.77.0.12 n2' >"$BED/hosts"
mount --bind "$BED/hosts" /etc/hosts
for key in host user; do
    ssh-keygen -q -t ed25519 -N '' -f "$BED/$key.key" || give_up 'no keys'
done
cat >"$BED/sshd_config" <<CONF
HostKey $BED/host.key
AuthorizedKeysFile $BED/user.key.pub
PermitRootLogin yes
StrictModes no
PidFile none
CONF
cat >"$BED/ssh_config" <<CONF
IdentityFile $BED/user.key
UserKnownHostsFile $BED/known
StrictHostKeyChecking no
LogLevel ERROR
CONF
mkdir -p /run/sshd
for number in 1 2; do
    start_node n$number 1$number /usr/sbin/sshd -D -e -f "$BED/sshd_config"
done
for number in 1 2; do
    patiently ssh -F "$BED/ssh_config" n$number true ||
        give_up "nobody answers on n$number"
done
"$@"
