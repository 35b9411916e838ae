# What a node does before its first task (START) and after its last (STOP). Each
# rank runs this for both. The file of the node belongs to this user. Its first
# line is "begun", or the number of the rank that has run START; then come the
# processes of the ranks that may run tasks. Who holds the lock is alone.
mask=$(umask)
umask 077
file=$BATS_NODE_FILE
while :; do
    exec 9>>"$file"
    if [ -h "$file" ] || [ ! -O /dev/fd/9 ]; then
        echo "bats-mpi: $file, for PERENGINE: another user has made it" >&2
        exit 125
    fi
    flock 9 || exit 125
    [ "$file" -ef /dev/fd/9 ] && break # else it has just been removed
done
umask $mask
first= ranks=
{ read -r first; ranks=$(grep -vx $PPID); } <"$file"

# The first command of START that fails is the last one.
run() {
    printf %s "$BATS_NODE_COMMANDS" | while IFS= read -r line; do
        (exec 9>&-; exec sh -c -- "$line") </dev/null && continue
        status=$?
        echo "bats-mpi: '#DISBATCH PERENGINE $1 $line' has failed, exit $status" >&2
        [ $1 = STOP ] || exit $status
    done
}

case $BATS_NODE_PHASE.$first in
START. | START.begun)
    echo begun >"$file" || { rm "$file"; exit 125; }
    run START || { status=$?; rm "$file"; exit $status; }
    printf '%s\n' $DISBATCH_ENGINE_RANK $PPID >"$file" ;;
START.*)
    echo $PPID >>"$file" ;;
STOP.)
    rm "$file" ;;
STOP.*)
    printf '%s\n' $first $ranks >"$file"
    for rank in $ranks; do
        # A zombie has no words.
        grep -qs . /proc/$rank/cmdline && exit
    done
    run STOP
    rm "$file" ;;
esac
