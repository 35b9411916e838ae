#!/bin/sh
# The machine of the benchmarks, the date, and how busy it was.
cd "$(dirname "$0")/.." || exit 1
model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
memory=$(awk '/^MemTotal/ { printf "%.0f", $2 / 1048576 }' /proc/meminfo)
commit=$(git rev-parse --short HEAD 2>/dev/null)
[ -z "$(git status --porcelain --untracked-files=no 2>/dev/null)" ] ||
    commit="$commit and changes"
cat <<END
$(date +%Y-%m-%d), commit ${commit:-unknown}; $(nproc) cores of
${model:-an unknown processor}, $memory GiB;
$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release),
$(mpirun --version 2>/dev/null | head -n 1 | sed 's/mpirun (\(.*\))/\1/'),
$(cc --version | head -n 1). Load average when this began:
$(cut -d' ' -f1-3 /proc/loadavg).
END
