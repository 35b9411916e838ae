#!/bin/sh
# The packages that are needed to build and to test, and how to get them.
#
#   packages.sh need SET...      says what is missing and stops (exit code 2)
#   packages.sh install SET...   the same, but on Debian and its relatives, as
#                                root or with sudo, installs it
#
# SET is build, libs (libraries that bats-mpi can do without) or test. Things are
# looked for by what they provide, not by package, so that an MPI from a module
# or from /opt is as good as Debian's. Nothing is installed where nothing is
# missing.

mpicc=${MPICC:-mpicc}
cc=${CC:-cc}
lmod=${LMOD_CMD:-/usr/share/lmod/lmod/libexec/lmod}

# set, command or header, Debian package, what it is elsewhere
things='
build cc                gcc             a C compiler
build stdio.h           libc6-dev       the headers of the C library
build @mpicc            libopenmpi-dev  an MPI-3 library with its compiler
build mpirun            openmpi-bin     the launcher of the MPI library
build gsl/gsl_version.h libgsl-dev      GSL, the GNU scientific library
build jansson.h         libjansson-dev  jansson, JSON in C
build sqlite3.h         libsqlite3-dev  SQLite 3
libs  pkg-config      pkg-config      pkg-config
libs  hwloc.pc        libhwloc-dev    hwloc, which knows the cores of a node
libs  pmix.pc         libpmix-dev     PMIx, which knows what a launcher knows
libs  gnutls.pc         libgnutls28-dev GnuTLS, for worker jobs
test  cmocka.h          libcmocka-dev   cmocka, a unit test framework
test  prove             perl            prove, which comes with Perl
test  nm                binutils        the GNU binutils
test  ps                procps          ps
test  groff             groff-base      groff
test  sqlite3           sqlite3         the shell of SQLite
test  parallel          parallel        GNU parallel
test  script            bsdutils        script, of util-linux
test  ip                iproute2        ip, of iproute2
test  unshare           util-linux      unshare and nsenter, of util-linux
test  munged            munge           MUNGE
test  srun              slurm-client    the commands of Slurm
test  slurmctld         slurmctld       the controller of Slurm
test  slurmd            slurmd          the node daemon of Slurm
test  slurmdbd          slurmdbd        the accounting daemon of Slurm
test  mariadbd          mariadb-server-core  the database server of slurmdbd
test  zsh             zsh             the shell zsh
test  fish            fish            the shell fish
test  sshd            openssh-server  the server of ssh
test  sge_qmaster     gridengine-master   the master of Grid Engine
test  sge_execd       gridengine-exec     the node daemon of Grid Engine
test  qconf           gridengine-client   the commands of Grid Engine
test  @python3          python3         Python 3 with its standard library
test  chromium          chromium        the browser Chromium
test  snakemake       snakemake       Snakemake, a workflow manager
test  makeflow        coop-computing-tools  Makeflow, a workflow manager
test  jq              jq              jq, which reads JSON
test  jsonschema      python3-jsonschema jsonschema, a validator of JSON
test  @lmod             lmod            Lmod, the environment modules in Lua
'

# Daemons and ip live where a user's PATH may not look.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

have_command() {
    command -v "$1" >/dev/null 2>&1
}

# The headers in "$@" that the compiler does not find; all, without compiler.
missing_headers() {
    for header; do
        printf '#if !__has_include(<%s>)\n%s\n#endif\n' "$header" "$header"
    done >"$probe"
    $cc ${CPPFLAGS-} -E -P -x c "$probe" 2>/dev/null || echo "$@"
}

action=$1
shift
probe=$(mktemp) || exit 3
trap 'rm -f "$probe"' EXIT

wanted=$(
    echo "$things" | while read -r set thing rest; do
        case " $* " in *" $set "*) echo "$thing $rest" ;; esac
    done
)
headers=" $(missing_headers $(echo "$wanted" | cut -d' ' -f1 | grep '\.h$') |
    tr '\n' ' ') "
missing=$(
    echo "$wanted" | while read -r thing rest; do
        case $thing in
        *.h) case $headers in *" $thing "*) echo "$rest" ;; esac ;;
        *.pc) pkg-config --exists "${thing%.pc}" 2>/dev/null || echo "$rest" ;;
        cc) have_command "${cc%% *}" || echo "$rest" ;;
        @lmod) have_command "$lmod" || echo "$rest" ;;
        @python3) python3 -c 'import argparse, json, tempfile' 2>/dev/null ||
            echo "$rest" ;;
        @mpicc) have_command "${mpicc%% *}" || echo "$rest" ;;
        *) have_command "$thing" || echo "$rest" ;;
        esac
    done
)
[ -n "$missing" ] || exit 0
packages=$(echo "$missing" | cut -d' ' -f1 | tr '\n' ' ')
packages=${packages% }

if ! have_command apt-get; then
    echo "Missing, from your system's packages or modules:" >&2
    echo "$missing" | sed 's/^[^ ]* */    /' >&2
    exit 2
fi
case $(id -u) in
0) as_root= ;;
*) as_root='sudo -n' ;;
esac
if [ "$action" != install ] || { [ -n "$as_root" ] && ! $as_root true; } \
    2>/dev/null
then
    cat >&2 <<TEXT
Missing Debian packages: $packages
Install them with
    sudo apt-get update
    sudo apt-get install --no-install-recommends $packages
TEXT
    exit 2
fi

echo "Installing Debian packages: $packages"
apt() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq \
        -o Dpkg::Use-Pty=0 "$@" >"$probe" 2>&1 && return
    cat "$probe" >&2
    echo "apt-get $1 failed; the packages missing are: $packages" >&2
    exit 2
}
apt update
# The tests set up a Grid Engine of their own.
case $packages in
*gridengine*)
    echo 'gridengine-master shared/gridengineconfig boolean false' |
        $as_root debconf-set-selections ;;
esac
apt install --no-install-recommends $packages
