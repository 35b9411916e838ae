#!/bin/sh
# chroot.sh [SUITE]: builds the packages of what is committed in a new chroot
# that has nothing but their build dependencies, installs them there and runs
# their autopkgtests that need no cluster. As root, with debootstrap; from the
# top of the sources. Everything happens in build/chroot, which is removed
# before.
set -eu

suite=${1-bookworm}
root=$PWD/build/chroot
version=$(sed -n 's/^VERSION = //p' Makefile)
[ ! -d "$root/proc/self" ] || umount "$root/proc"
rm -rf --one-file-system "$root"
debootstrap --variant=minbase "$suite" "$root"
source=$root/build/bats-mpi-$version
mkdir -p "$source"
git archive HEAD | tar -x -C "$source"
tar -C "$root/build" -czf "$root/build/bats-mpi_$version.orig.tar.gz" \
    "bats-mpi-$version"
cp -r "$source/packaging/debian" "$source/debian"
cp /etc/resolv.conf "$root/etc/"
mount -t proc proc "$root/proc"
trap 'umount "$root/proc"' EXIT
chroot "$root" env -i PATH="$PATH" DEBIAN_FRONTEND=noninteractive \
    LC_ALL=C.UTF-8 ${http_proxy:+http_proxy="$http_proxy"} sh -ec '
    apt-get -qq install --no-install-recommends build-essential >/dev/null
    cd /build/bats-mpi-*
    apt-get -qq build-dep --no-install-recommends ./ >/dev/null
    dpkg-buildpackage -us -uc
    apt-get -qq install --no-install-recommends ../*.deb >/dev/null
    for name in forked mpirun library; do
        AUTOPKGTEST_TMP=$(mktemp -d)
        export AUTOPKGTEST_TMP
        sh debian/tests/$name
        echo "autopkgtest $name: ok"
    done
    lib=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
    for file in libbats.so.1 libbats.so libbats.a pkgconfig/bats.pc; do
        test -e "$lib/$file"
        echo "$lib/$file"
    done
'
