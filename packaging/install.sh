#!/bin/sh
# install.sh: what `make install` does. PREFIX, LIBDIR, DESTDIR, VERSION and B
# (the build directory) come from the Makefile.
set -eu

root=$DESTDIR$PREFIX
put() { # MODE FILE... DIRECTORY
    for directory; do :; done
    mkdir -p "$root/$directory"
    mode=$1
    shift
    while [ $# -gt 1 ]; do
        install -m "$mode" "$1" "$root/$directory/"
        shift
    done
}

put 755 "$B/bats-mpi" bin
put 755 "$B/bats-submit" bin
for name in state cancel shell; do
    ln -sf bats-submit "$root/bin/bats-$name"
done
put 644 src/python/bats_mpi.py share/bats-mpi/python
put 644 src/python/snakemake_executor_plugin_bats/__init__.py \
    share/bats-mpi/python/snakemake_executor_plugin_bats
for name in sbatch squeue scancel; do
    put 755 src/client/slurm/$name share/bats-mpi/slurm
done
lib=${LIBDIR#"$PREFIX/"}
put 644 "$B/libbats.a" "$lib"
put 755 "$B/libbats.so.1" "$lib"
ln -sf libbats.so.1 "$root/$lib/libbats.so"
put 644 include/bats/*.h include/bats
put 755 jobscripts/*.sh share/bats-mpi
put 755 jobscripts/gridengine/*.sh share/bats-mpi/gridengine
put 644 jobscripts/README.md share/bats-mpi
put 644 jobscripts/site/*.ini share/bats-mpi/site

mkdir -p "$root/$lib/pkgconfig" "$root/share/man/man1" \
    "$root/share/bash-completion/completions" \
    "$root/share/zsh/site-functions" "$root/share/fish/vendor_completions.d" \
    "$root/share/modulefiles/bats-mpi"
cat >"$root/$lib/pkgconfig/bats.pc" <<PC
prefix=$PREFIX
includedir=\${prefix}/include
libdir=\${prefix}/$lib

Name: bats
Description: Scheduling of bags of tasks within a budget
Version: $VERSION
Cflags: -I\${includedir}
Libs: -L\${libdir} -lbats
Libs.private: -lgsl -lgslcblas -lm
PC
"$B/bats-mpi" --man >"$root/share/man/man1/bats-mpi.1"
put 644 src/doc/bats-submit.1 share/man/man1
for name in state cancel shell; do
    echo '.so man1/bats-submit.1' >"$root/share/man/man1/bats-$name.1"
done
for verb in $("$B/bats-mpi" --complete help '' | cut -f1); do
    "$B/bats-mpi" --man "$verb" >"$root/share/man/man1/bats-mpi-$verb.1"
done
"$B/bats-mpi" --completion bash \
    >"$root/share/bash-completion/completions/bats-mpi"
"$B/bats-mpi" --completion zsh >"$root/share/zsh/site-functions/_bats-mpi"
"$B/bats-mpi" --completion fish \
    >"$root/share/fish/vendor_completions.d/bats-mpi.fish"
sed "s|^set root .*|set root $PREFIX|; s|\$root/lib/|$LIBDIR/|" \
    packaging/modulefile >"$root/share/modulefiles/bats-mpi/$VERSION"
echo "installed below $root"
