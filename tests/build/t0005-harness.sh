#!/bin/bash
# A test in shell fails when any of its commands does.
. "$TOP/tests/tap.sh"

# verdict: what the script on standard input comes to, as "ok" and "not" for
# each case and the plan. Its complaints are in err.
verdict() {
    { echo '. "$TOP/tests/tap.sh"'; cat; } >script
    bash script 2>err | sed 's/^\(ok\|not ok\) .*/\1/' | paste -sd ' ' >out
    cat out
}

# Of each row the commands of a case, and whether it succeeds.
while IFS='|' read -r is commands; do
    said=$(printf '%s\nok a\ndone_testing\n' "$commands" | verdict)
    test "$said" = "$is 1..1" || note_failure 1 "$said: $commands"
done <<'ROWS'
ok|true
ok|if false; then :; fi; false || :; until true; do :; done
ok|within 1 test -d /
ok|expect 3 sh -c 'exit 3'; expect '0|4' sh -c 'exit 4'; expect '0|4' true
not ok|false; true
not ok|helper() { grep -q x /dev/null; true; }; helper
not ok|(false; true)
not ok|: "$(false; true)"
not ok|(false; true) & wait $!
not ok|! true
not ok|false && true
not ok|expect 1 true; true
not ok|expect 3 sh -c 'exit 4'; true
not ok|expect 4 sh -c 'exit 40'; true
ROWS
grep -q 'exit status 40: sh -c exit 40 (expected exit status: 4)' err
ok 'conditions may fail, but no command, wherever it is; expect compares the status'

test "$(printf '%s\n' false true 'ok b' true 'ok c' done_testing | verdict)" = \
    'not ok ok 1..2'
finds err 'script: b$' '^# line 2: exit status 1: false'
ok 'a command that fails in the middle fails its case, by line, and no other'
test "$(echo 'ok a; false; true; done_testing' | verdict)" = 'ok not ok 1..2'
ok 'so do the commands after the last case'
test "$(echo 'ok a; exit; done_testing' | verdict)" = ok
ok 'a script that ends early has no plan'
test "$(echo 'echo "$dir"; ok a' | verdict)" = "$(cat out)"
test ! -e "$(cut -d ' ' -f 1 out)"
ok 'its directory goes away with it'
test "$(echo 'skip a why; done_testing' | CI=true verdict)" = 'not ok 1..1'
ok 'a case that is skipped fails under CI=true'

# Helpers: what they find right, and a line for each thing that is wrong.
cat >setup <<'T'
printf '%s\n' one two >out
cp out words
echo '{"a": [true, false], "b": true, "n": 0}' >report
: >empty
T
cat >right <<'T'
finds words one '^two$'
consists words one two
holds '.b, .a[0]'
tells '^bats-mpi [0-9]' --version
exits 2 nonsense verb plan --nonsense
T
cat >wrong <<'T'
finds words one three
finds words
finds nowhere one
consists words one
consists words two one
consists empty
holds '.a[]'
holds .n
holds .b empty
holds .b nowhere
cat report report >many; echo '{' >>many; holds .b many
json .b nowhere
tells nonsense --version
tells . plan --nonsense
exits 2 nonsense verb --version
exits 3 nonsense verb plan --nonsense
echo stale >err; exits 0 stale true
verb plan --nonsense
within 1 test -e nowhere
T
{ cat setup right; echo 'ok right'; sed 's/.*/&\ntrue\nok wrong/' wrong; echo done_testing; } |
    verdict >said
consists said "ok $(sed 's/.*/not ok/' wrong | xargs) 1..$(($(wc -l <wrong) + 1))"
ok 'helpers fail on a wrong value, none at all, or an old file'

# hidden FILE...: cases with a command at which bash does not look, but for the
# last one.
hidden() {
    perl -ne '
        if (defined $here) {
            undef $here if $_ eq "$here\n";
            print "$ARGV: no line $here\n" if defined $here && eof;
            next;
        }
        my $bare = s/\x27[^\x27]*\x27|"[^"]*"//gr;
        undef $at if /^ok / || $. == 1;
        print $at and undef $at if defined $at;
        $at = "$ARGV:$.: $_" if $bare =~ /^!|^[^ #(].* &&( |$)/m &&
            $bare !~ /^(if|for|while|until) |\|\||\$\(|[\x27"]/;
        $here = $1 if /<<[\x27\\]?([A-Z]+)/;
        close ARGV if eof' "$@"
}
printf '%s\n' 'ok a' 'a && b' 'c' '! d' 'ok b' >example
test "$(hidden example)" = 'example:2: a && b'
hidden "$TOP"/tests/*/t[0-9]*.sh >out
test ! -s out
ok 'no test has a command that may fail unseen behind && or !'
done_testing
