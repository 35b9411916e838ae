#!/bin/bash
# --memory-limit where the cgroup of a run is delegated to its user, and where it
# is not, in a virtual machine, since the machines of the tests have cgroups of
# version 1. Two tasks say that they need 100M: one holds 20M, the other one 150M.
#
#     bash benchmarks/cgroup.sh KERNEL      such as vmlinuz of linux-image-cloud-amd64
#
# Needs qemu-system-x86, busybox-static, cpio.
kernel=$(realpath "${1:?a kernel}") B=$(cd "$(dirname "$0")/.." && cd "${B:-build}" && pwd)
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir -p fs/{bin,proc,sys,dev,tmp,home,etc}
cp /usr/bin/busybox /bin/bash "$B/bats-mpi" fs/bin
ldd /bin/bash "$B/bats-mpi" | grep -o '/[^ )]*' | grep -v ':$' | sort -u |
    while read -r file; do cp -L --parents "$file" fs; done
printf '%s\n' root:x:0:0:root:/:/bin/sh user:x:1000:1000::/home:/bin/bash >fs/etc/passwd
cat >fs/home/bag <<'T'
#BATS memory=100M
dd if=/dev/zero of=/dev/null bs=20M count=1 2>&1 | tail -n 1
dd if=/dev/zero of=/dev/null bs=150M count=1 2>&1 | tail -n 1
T
cat >fs/home/run <<'T'
cd /home
export PATH=/bin BATS_HISTORY=
bats-mpi -j 2 bag --memory-limit -q
echo "exit status $?"
bats-mpi tasks bag
bats-mpi -j 2 bag --memory-limit --retry-memory 2 --resume-failed -q
echo "with --retry-memory, exit status $?, groups: $(cd /sys/fs/cgroup; echo *elegated*/*bats*)"
rm bag.bats
T
cat >fs/init <<'T'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc p /proc; mount -t sysfs s /sys; mount -t devtmpfs d /dev
mount -t cgroup2 c /sys/fs/cgroup; mount -t tmpfs t /tmp
hostname vm
cd /sys/fs/cgroup
mkdir delegated undelegated
echo +memory >cgroup.subtree_control
chown 1000 delegated delegated/cgroup.procs delegated/cgroup.subtree_control /home
for group in delegated undelegated; do
    echo "== $group, Linux $(uname -r)"
    sh -c "echo \$\$ >$group/cgroup.procs; exec su user -s /bin/bash -c 'bash /home/run'" 2>&1
done
dmesg | grep 'out of memory: Killed' | sed 's/^/kernel: /'
poweroff -f
T
chmod +x fs/init
(cd fs && find . | cpio -o -H newc 2>/dev/null) >initrd
timeout 600 qemu-system-x86_64 -accel tcg -cpu max -nic none -m 1500 -smp 2 -nographic \
    -no-reboot -kernel "$kernel" -initrd initrd \
    -append 'console=ttyS0 quiet loglevel=0 panic=-1' </dev/null |
    tr -d '\r' | sed -n '/== delegated/,$p'
