#!/bin/bash
# Plan files of Nimrod, in both dialects, and scripts with parameters.
. "$TOP/tests/mpi/lib.sh"
export TMPDIR=$dir/tmp
mkdir tmp

# run ARGUMENT...: with three workers, into out and err.
run() {
    verb run -j 3 "$@"
}
seeds=$TOP/tests/fuzz/seeds/planfile

# Figure 9 of the paper on DBC algorithms, misprints and all: a parameter is
# misspelt, and a line of a comment has lost its '#'.
cp "$seeds/figure9" calc.pln
cat >clac.SOS <<'END'
#!/bin/sh
echo "$1 squared is $(($1 * $1))" >output
END
chmod +x clac.SOS
run calc.pln
test "$(ls output.* | wc -l)" -eq 200
test "$(cat output.12)" = '12 squared is 144'
test "$("$BATS_MPI" tasks calc.pln --where 'length > 198' --json |
    grep -c '"time_base_alue":10')" -eq 2
ok 'the plan of the paper runs as it is'

cat >model.sh <<'END'
#!/bin/sh
cat input
echo "args $*"
echo oops >&2
[ "$2" != 2.5 ]
END
chmod +x model.sh
printf 'A=$angle B=${name} $angled $jobname\n' >skeleton
touch x1.dat x2.dat
cat >wing.pln <<'END'
parameter angle label "of attack" float range from -2.5 to 2.5 step 2.5
parameter name text select anyof "a&b" "it's /" // two of them
parameter data files select anyof "x?.dat"; parameter z integer select oneof 3 4
task nodestart
    copy skeleton node:.
    copy root:*.sh node:.
endtask
task main
    copy ${data} node:data
    node:substitute skeleton input
    redirect stderr to errors
    redirect stdout append to result
    onerror ignore
    exec ./model.sh "$name" ${angle} $data \
        'l"$5 `'; onerror fail
    redirect stdout off
    shexec "cat result errors | grep -v squared > all.txt; ls data"
    copy node:all.txt root:out.${jobindex}
endtask
END
run -q wing.pln
test "$(ls out.* | wc -l)" -eq 12
test "$(sort out | uniq -c | tr -s ' ')" = ' 12 data'
consists out.7 "A=0 B=it's / \$angled 7" 'args it'"'s"' / 0 x1.dat l"$5 `' oops
test -z "$(find tmp -name 'bats-*')"
ok 'a plan of the later dialect runs, and leaves nothing behind'

printf '%s\n' 'parameter name text select anyof "plain" "it'\''s"' 'task main' \
    'exec echo "$name"' endtask >two.pln
cat >sweep.sh <<'END'
#!/bin/sh
#SBATCH --ntasks=4
#BATS parameter rate float range from 0.1 to 0.3 step 0.1
#BATS parameter seed integer random from 1 to 1000 points 2
echo "$rate $seed ${0##*/}"
END
run -q sweep.sh
test "$(cut -d' ' -f1,3 out | sort | uniq -c | xargs)" = \
    '2 0.1 sweep.sh 2 0.2 sweep.sh 2 0.3 sweep.sh'
sort out >before
run -q sweep.sh
sort out | cmp - before
ok 'a script with parameters is a sweep, the same every time'

run --dry-run sweep.sh
test "$(cut -d' ' -f1,3- out)" = "$(printf 'rate=0.%s /bin/sh sweep.sh\n' \
    1 1 2 2 3 3)"
run --dry-run two.pln
test "$(grep -c '^name=' out)" -eq 2
grep -q "^name='it'\\\\''s' .*" out
for name in exec ended; do grep -q "bats_$name()" out; done
for name in at copy substitute; do expect 1 grep "bats_$name" out; done
ok '--dry-run prints the commands of all points, with variables and functions'

printf '%s\n' 'parameter x 1' 'task main' 'exec touch begun' 'exec sleep 600' \
    endtask >slow.pln
behind "$BATS_MPI" run -q --grace 1m slow.pln
within 60 eval '[ -n "$(find tmp -name begun)" ]'
kill -TERM $run
wait $run || :
test -z "$(find tmp -name 'bats-*')"
ok 'a job that is told to stop takes its directory along'

# refuses WHERE-AND-WHAT PLAN: says so about the plan.
refuses() {
    printf "$2\n" >bad.pln
    expect 2 run bad.pln
    grep -qF -e "bad.pln:$1" err || note_failure 1 "no '$1' in: $(cat err)"
}
x='parameter x 1\n'
refuses "1: expected a number, found the end of the statement" \
    'parameter x integer range from 1 to '
refuses "1: expected an integer, found '1.5'" \
    'parameter x integer range from 1.5 to 2'
refuses "2: expected step, points or the end of the statement, found 'by'" \
    'parameter x float \\\n  range from 1 to 2     by 3'
refuses "2: there is already a 'x'" "${x}parameter x 2"
refuses "1: no file matches 'none*'" 'parameter x files "none*"'
refuses "1: a quote is not closed" 'parameter x text "abc'
refuses "1: expected parameter or task, found 'paramter'" 'paramter x 1'
refuses "3: expected copy, execute, exec, shexec, substitute, redirect, onerror or endtask, found 'cp'" \
    "${x}task main\n    cp a b\nendtask"
refuses "3: 'copy' has too few words, or too many" "${x}task main; \n copy a"
refuses " the last task has no 'endtask'" "${x}task main\n    exec a"
refuses "3: the task before has no 'endtask'" "${x}task main\ntask nodestart"
refuses "3: only the tasks main and nodestart may have commands" \
    "${x}task mian\n    exec a\nendtask"
refuses " there is no task main" 'parameter x 1'
refuses "1: the range ends before it begins" 'parameter x range from 2 to 1'
refuses "1: this range has too many values" \
    'parameter x integer range from 1 to 999999999999'
ok 'mistakes are shown with their line'

done_testing
