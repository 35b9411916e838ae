#!/bin/bash
# A field that strangers write goes through every output, and controls
# neither the terminal nor the shell, nor breaks JSON, CSV or a job script.
. "$TOP/tests/mpi/lib.sh"

# Clears the screen (ESC, and CSI of C1), rings, sets the title, is no UTF-8,
# turns the direction; and would make the file pwned in a shell.
esc=$(printf '\033[2J\302\233J\007\033]0;x\007\377\303\342\200\256')
nasty="'\"\\;\$(touch pwned)\`touch pwned\`$esc"
lines="$nasty
touch pwned #
#SBATCH --uid=0
x"
long=$(printf %4096s | tr ' ' X)
# A terminal may get this of it.
shown='touch pwned)`touch pwned`\\e\[2J\\xc2\\x9bJ\\x07'

# clean FILE...: not empty, and printable UTF-8 without what controls.
clean() {
    for file; do
        test -s "$file" && perl -MEncode -0777 -ne '
            my $text = eval { decode("UTF-8", $_, Encode::FB_CROAK) };
            exit 1 if !defined $text ||
                $text =~ /[\x00-\x09\x0b-\x1f\x7f-\x9f\x{202a}-\x{202e}]/;
        ' "$file" || { echo "$file is not clean" >>err; return 1; }
    done
}
# is EXPRESSION FILE: clean JSON, of which it holds for $_, the data of each line
# or of the whole; a text is $bytes->(it) as it was before it became JSON.
is() {
    clean "$2" && perl -MJSON::PP -MEncode -0777 -e '
        our $bytes = sub {
            join "", map { my $c = ord; $c >= 0xEF80 && $c <= 0xEFFF
                ? chr($c - 0xEF00) : encode("UTF-8", $_) } split //, $_[0] };
        my $condition = shift;
        my $text = <STDIN>;
        for (JSON::PP->new->incr_parse($text)) {
            my $good = eval $condition;
            die $@ if $@;
            exit 1 if !$good;
        }' "$1" <"$2" 2>>err
}
unharmed() {
    test -z "$(find . -name pwned)"
}

# ---- a run: bag, clusters file, options ----

bag="bag $lines"
printf ': # %s\nfalse # %s\n: # %s %s\n' "$nasty" "$nasty" "$nasty" "$long" \
    >"$bag"
currency="currency = \$(touch p)$(printf '\033c\377')"
printf '%s\n' '[run]' "$currency" '[cluster a]' 'ranks = 1' 'charge = 1' \
    >clusters.ini
export NASTY="$nasty" LINES="$lines"
expect 1 bats 2 "$bag" -c clusters.ini --joblog "log $lines" --json "json $lines" \
    --record "$bag.bats" --seed 1 --policy rr
clean err
"$BATS_MPI" tasks --failed "$bag" >failed
clean failed
grep -q "false # '\"" failed
cut -f9- "log $lines" | sed 1d | LC_ALL=C sort >commands
LC_ALL=C sort "$bag" | cmp - commands
ok 'the report of a run is clean, and the joblog has the commands as they are'
cp "json $lines" report
is '$bytes->($_->{failed_tasks}[0]{command}) eq "false # $ENV{NASTY}" &&
    $bytes->($_->{settings}{bag}) eq "bag $ENV{LINES}" &&
    $bytes->($_->{settings}{given}{joblog}) eq "log $ENV{LINES}" &&
    $bytes->($_->{currency}) eq "\$(touch p)\ec\xff"' report
ok 'its JSON gives every text back'
expect 1 bats 2 "$bag" -c clusters.ini --no-record --tag --quiet
test "$(wc -c <out)" -eq 0
unharmed
bats 2 "$bag" -c clusters.ini --dry-run
clean out
grep -q "$shown" out
sed -i '2d' "$bag"
bats 2 "$bag" -c clusters.ini --resume
clean err
grep -q "no longer in the bag: .*$shown" err
ok '--tag, --dry-run and the name of a task that has gone are clean'

# ---- reading verbs, of a record that strangers have written ----

spoil=$(printf '%s' "$lines" | od -An -v -tx1 | tr -d ' \n')
sql "$bag.bats" "SELECT m.name || ' ' || p.name FROM sqlite_master m,
    pragma_table_info(m.name) p WHERE m.type = 'table' AND p.type = 'TEXT'" \
    >columns
finds columns '^task command$' '^happened sentence$'
sql "$bag.bats" "INSERT INTO happened SELECT 1 + seq, 1, 0, 'notice', 0,
    NULL, NULL, 'x' FROM now; UPDATE now SET seq = seq + 1"
# Commands are spoilt; columns of several are JSON.
grep -v ' command$\|s$' columns | while read -r table column; do
    echo "UPDATE OR IGNORE $table SET $column ="
    echo " coalesce($column, '') || CAST(x'$spoil' AS TEXT);"
done | sqlite3 "$bag.bats" 2>err
for words in status log tasks why 'why 1' 'why 2'; do
    set -- $words
    verb $1 "$bag" $2
    clean out
    grep -q "$shown" out
done
verb tasks "$bag" --json
is '$bytes->($_->{command}) =~ /^: # \Q$ENV{NASTY}\E/' out
verb log "$bag" --json
is '$_->{what}' out
verb status "$bag" --json
is '$bytes->($_->{bag}) eq "bag $ENV{LINES}$ENV{LINES}"' out
verb record verify "$bag"
cat out err >both
clean both
expect 2 verb status "no such $lines"
clean err
ok 'verbs that read a spoilt record are clean, and their JSON gives the texts back'

# ---- plan: profile and clusters file ----

allocation_profile | perl -MJSON::PP -0777 -ne 'my $profile = decode_json($_);
    $profile->{bag}{name} = "-$ENV{LINES}" =~ s/[\x80-\xff]//gr;
    $profile->{currency} = "\n\$(touch p)";
    print encode_json($profile)' >profile
for form in '' --json --frontier '--frontier --csv'; do
    verb plan profile $form
    clean out
done
ok 'all forms of plan are clean'

# ---- simulate: scenario and file of runtimes ----

scenario="scenario $lines"
{ echo '[run]'; echo "$currency"; sed '/^\[run\]/d' "$TOP/tests/sim/mixed.scn"; } \
    >"$scenario"
for form in '' --csv --json; do
    verb simulate "$scenario" $form
    clean out
done
ok 'all forms of simulate are clean'
printf 'Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n1\t%s\t0\t%s\t0\t0\t0\t0\t%s\n' \
    "$nasty" "$nasty" "$nasty" >"times $nasty"
printf '%s\n' '[run]' 'policy = rr' 'budget = unlimited' '[bag]' \
    "runtimes = times $nasty" '[cluster a]' 'machines = 1' 'charge = 1' >scenario
expect 2 verb simulate scenario
clean err
ok 'a mistake in a file of runtimes is told, clean'

# ---- what a host and the batch system say ----

SLURM_JOB_PARTITION="p; $esc" exits 2 'cannot be written into a clusters file' \
    bats 2 clusters --save saved
clean err
test ! -e saved
ok 'clusters --save refuses a partition that the file cannot hold'
# A host may be called anything, for all that its kernel cares.
printf 'false\n' >bag
cat >renamed <<'SH'
perl -e '$name = shift; syscall(170, $name, length $name) == 0 or exit 1' \
    "h$(printf '\n$(touch pwned)\033[2J\t\377')" || exit 1
"$BATS_MPI" bag --no-record --joblog log --json json
"$BATS_MPI" clusters --ranks
SH
export BATS_MPI
if [ "$(uname -m)" = x86_64 ] && unshare -u true 2>/dev/null; then
    env "$mark" timeout -k 5 900 unshare -u sh renamed >out 2>err </dev/null
    clean out err
    grep -q 'h\\n$(touch pwned)\\e\[2J\\t\\xff' out
    is '$bytes->($_->{failed_tasks}[0]{host}) =~ /^h\n\$.*\xff$/' json
    test "$(wc -l <log)" -eq 2
    ok 'a host with such a name is shown, clean'
else
    skip 'a host with such a name is shown, clean' 'no namespace for its name'
fi
unharmed
ok 'nothing was executed'

done_testing
