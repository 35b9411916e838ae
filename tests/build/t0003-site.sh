#!/bin/bash
# jobscripts/site and packaging: what the clusters files charge is what the sites' rules say,
# the modulefile leads to what was installed, and the Spack recipe installs.
. "$TOP/tests/mpi/lib.sh"

site=$TOP/jobscripts/site

# The charge of half an hour on all nodes of a queue (on 10 where the file has
# no max), by hand from the rule in its head: nodes x hours x rate, and to
# cents. On Delta no less than an hour is charged.
cat >bills <<'END'
frontera   normal                 512 x 0.5 x 1      = 256
frontera   small                  2 x 0.5 x 1        = 1
frontera   development            40 x 0.5 x 1       = 20
frontera   large                  2048 x 0.5 x 1     = 1024
frontera   flex                   128 x 0.5 x 0.8    = 51.2
frontera   nvdimm                 4 x 0.5 x 2        = 4
frontera   rtx                    16 x 0.5 x 3       = 24
frontera   rtx-dev                2 x 0.5 x 3        = 3
stampede3  skx                    256 x 0.5 x 1      = 128
stampede3  skx-dev                16 x 0.5 x 1       = 8
stampede3  icx                    32 x 0.5 x 1.5     = 24
stampede3  spr                    32 x 0.5 x 2       = 32
stampede3  nvdimm                 1 x 0.5 x 4        = 2
stampede3  pvc                    4 x 0.5 x 3        = 6
stampede3  h100                   4 x 0.5 x 4        = 8
stampede3  amd-rtx                10 x 0.5 x 8       = 40
delta      cpu                    132 x 1 x 128      = 16896
delta      cpu-interactive        4 x 1 x 256        = 1024
delta      cpu-preempt            132 x 1 x 64       = 8448
delta      gpuA100x4              100 x 1 x 4        = 400
delta      gpuA100x4-interactive  100 x 1 x 8        = 800
delta      gpuA100x4-preempt      100 x 1 x 2        = 200
delta      gpuA40x4               100 x 1 x 2        = 200
delta      gpuA40x4-preempt       100 x 1 x 1        = 100
delta      gpuA100x8              6 x 1 x 12         = 72
delta      gpuH200x8              10 x 1 x 24        = 240
delta      gpuMI100x8             10 x 1 x 2         = 20
vermilion  t                      15 x 0.5 x 0.4375  = 3.29
vermilion  sm                     28 x 0.5 x 0.875   = 12.25
vermilion  std                    60 x 0.5 x 3.5     = 105
vermilion  lg                     39 x 0.5 x 7       = 136.5
vermilion  gpu                    16 x 0.5 x 12      = 96
archer2    standard               1024 x 0.5 x 1     = 512
archer2    serial                 1 x 0.5 x 0        = 0
END

# bill SITE QUEUE DURATION ARGUMENT...: what plan says it costs to run a task of
# that length on every node, of which there are $nodes then.
bill() {
    local options="--runtime $2=$3 --clusters site.ini ${*:4}"
    awk -v queue="$2" '
        function flush() {
            if (in_it && !has_max)
                print "max = 10"
        }
        /^\[/ { flush(); in_it = $0 ~ "^\\[cluster " queue "\\]"; has_max = 0 }
        /^max/ { has_max = 1 }
        { print }
        END { flush() }' "$site/$1.ini" >site.ini
    nodes=$("$BATS_MPI" plan --tasks 1 $options 2>err |
        awk -v queue="$2" '$1 == queue { print $NF; exit }')
    "$BATS_MPI" plan --tasks "${nodes:-1}" $options --json 2>>err | tee out |
        jq -r .cost
}

while read -r name queue nodes _ hours _ rate _ sum; do
    : "$hours" "$rate"
    test "$(bill "$name" "$queue" 30m)" = "$sum"
    grep -q "^ *\"$queue\": $nodes\$" out
done <bills
for file in "$site"/*.ini; do
    name=$(basename "$file" .ini)
    sed -n "s/^\[cluster \(.*\)\].*/$name \1/p" "$file"
done | sort | cmp - <(awk '{ print $1, $2 }' bills | sort)
ok 'all queues of all the files charge half an hour as their sites do'

# 5 minutes are charged as 15: 512 x 0.25 x 1, 32 x 0.25 x 1.5.
test "$(bill frontera normal 5m)" = 128
test "$(bill stampede3 icx 5m)" = 12
test "$(bill frontera normal 5m --window 10m)" = ''
grep -q 'shorter than 15m, the shortest that is charged' err
test "$(bill frontera normal 5m --window 1h)" = 128
test "$(bill delta gpuA40x4-preempt 5m)" = 100
test "$(bill delta gpuA40x4-preempt 5m --window 30m)" = ''
ok 'the least that is charged at TACC is a quarter of an hour, on Delta 1 SU'

# A job in one of the partitions; Slurm says which.
echo true >bag.txt
SLURM_JOB_PARTITION=flex bats 3 run --dry-run bag.txt \
    --clusters "$site/frontera.ini"
grep -Eq '^flex +1 +2 +0\.2 ' out
expect 1 grep -q rtx out
ok 'a job has the part of the file that is its partition'

make -C "$TOP" install B="$B" PREFIX="$dir/opt" DESTDIR= >out 2>err
verb plan --tasks 1 --runtime cpu=5m \
    --clusters "$dir/opt/share/bats-mpi/site/delta.ini"
ok 'the clusters files are installed'

cat >use.sh <<'END'
prefix=$1
shift
export MODULEPATH=$prefix/share/modulefiles
eval "$("$@" bash load bats-mpi)" || exit
test "$(command -v bats-mpi)" = "$prefix/bin/bats-mpi" || exit
test -x "$BATS_MPI_SHARE/simple.sh" || exit
test -r "$BATS_MPI_SHARE/site/delta.ini" || exit
test -r "${PKG_CONFIG_PATH%%:*}/bats.pc" || exit
bats-mpi --version | grep -qx "bats-mpi ${LOADEDMODULES#bats-mpi/}.*"
END
# Debian has one or the other.
lmod=${LMOD_CMD:-/usr/share/lmod/lmod/libexec/lmod}
for command in "$lmod" $(command -v modulecmd || :); do
    bash use.sh "$dir/opt" "$command" >out 2>err
done
ok 'the modulefile leads to what was installed'

python3 "$TOP/tests/build/spack.py" \
    "$TOP/packaging/spack/spack_repo/bats" "$dir/spack" "$B" >out 2>err
"$dir/spack/bin/bats-mpi" --version >>out 2>&1
ok 'the Spack recipe installs, and asks for what the build needs'

# There is neither EasyBuild nor Apptainer here: what they parse is parsed.
{
    echo 'SOURCELOWER_TAR_GZ = ""'
    cat "$TOP"/packaging/easybuild/*.eb
    echo 'assert all([name, version, homepage, description, toolchain, installopts])'
    echo 'assert dict(dependencies + builddependencies)'
    echo 'print(installopts)'
} | python3 - >out 2>err
grep -q '^PREFIX=%(installdir)s ' out
ok 'the easyconfig is Python with what EasyBuild requires'
def=$TOP/packaging/apptainer.def
test "$(grep -o '^%[a-z]*' "$def" | tr '\n' ' ')" = \
    '%files %post %runscript %test '
for section in post runscript test; do
    sed -n "/^%$section/,/^%/p" "$def" | grep -v ^% | sh -n
done >out 2>err
sed -n '/^%test/,$p' "$def" | grep -v ^% >try
PATH=$dir/opt/bin:$PATH sh -e try >>out 2>>err
ok 'the sections of the Apptainer definition are scripts, and its test passes'

done_testing
