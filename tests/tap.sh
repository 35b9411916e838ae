# Sourced by the lib.sh of tests in sh: what they print, and waiting.

# ok NAME: the last command was to succeed. Otherwise shows out and err, on
# standard error, which prove does not hold back.
tests=0
ok() {
    result=$?
    tests=$((tests + 1))
    if [ $result -eq 0 ]; then
        echo "ok $tests - $1"
    else
        echo "not ok $tests - $1"
        for file in out err; do
            [ -f $file ] && tail -n 20 $file | sed "s/^/# $file: /" >&2
        done
    fi
}

# skip NAME WHY: a test that cannot be made here; with CI=true it fails.
skip() {
    tests=$((tests + 1))
    if [ "${CI-}" = true ]; then
        echo "not ok $tests - $1 # $2"
    else
        echo "ok $tests - $1 # SKIP $2"
    fi
}

done_testing() {
    echo "1..$tests"
}

# within SECONDS COMMAND...: the command succeeds before that.
within() {
    turns=$(($1 * 10))
    shift
    until "$@"; do
        turns=$((turns - 1))
        [ $turns -gt 0 ] || return 1
        sleep 0.1
    done
}

# The processes that have $mark in their environment.
alive() {
    grep -lzx "$mark" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3
}

nobody_left() {
    [ -z "$(alive)" ]
}
