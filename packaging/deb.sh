#!/bin/sh
# deb.sh: Debian packages of what is committed, in $B/deb. VERSION and B come
# from the Makefile. Needs dpkg-dev, debhelper and the build dependencies.
set -eu

out=$B/deb
source=$out/bats-mpi-$VERSION
rm -rf "$out"
mkdir -p "$source"
git archive HEAD | tar -x -C "$source"
(cd "$out" && tar -czf "bats-mpi_$VERSION.orig.tar.gz" "bats-mpi-$VERSION")
cp -r "$source/packaging/debian" "$source/debian"
cd "$source"
dpkg-buildpackage -us -uc
ls -l "$out"/*.deb
