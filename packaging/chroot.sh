#!/bin/sh
# chroot.sh [SUITE]: builds the packages of what is committed in a new chroot
# that has nothing but their build dependencies; then lintian looks at them, and
# autopkgtest installs them there and runs all their tests, that in Slurm's
# testbed included. As root, with debootstrap, lintian and autopkgtest; from the
# top of the sources. Everything happens in build/chroot, which is removed
# before, and in a mount namespace, which nothing outlives.
set -eu

[ -n "${IN_NAMESPACE-}" ] ||
    exec env IN_NAMESPACE=yes unshare --mount sh "$0" "$@"
suite=${1-bookworm}
root=$PWD/build/chroot
version=$(sed -n 's/^VERSION = //p' Makefile)
rm -rf --one-file-system "$root"
debootstrap --variant=minbase "$suite" "$root"
source=$root/build/bats-mpi-$version
mkdir -p "$source"
git archive HEAD | tar -x -C "$source"
tar -C "$root/build" -czf "$root/build/bats-mpi_$version.orig.tar.gz" \
    "bats-mpi-$version"
cp -r "$source/packaging/debian" "$source/debian"
cp /etc/resolv.conf "$root/etc/"
for dir in proc sys dev; do
    mount --rbind "/$dir" "$root/$dir"
done
chroot "$root" env -i PATH="$PATH" DEBIAN_FRONTEND=noninteractive \
    LC_ALL=C.UTF-8 ${http_proxy:+http_proxy="$http_proxy"} sh -ec '
    apt-get -qq install --no-install-recommends build-essential >/dev/null
    cd /build/bats-mpi-*
    apt-get -qq build-dep --no-install-recommends ./ >/dev/null
    dpkg-buildpackage -us -uc
'
lintian --allow-root --fail-on error,warning "$root"/build/*.changes
autopkgtest "$root"/build/*.changes --ignore-restrictions=isolation-machine \
    -- chroot "$root"
