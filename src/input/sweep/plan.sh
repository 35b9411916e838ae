bats_root=$PWD; bats_node=$(mktemp -d "${TMPDIR:-/tmp}/bats-XXXXXX") || exit 1
trap 'cd / && rm -rf "$bats_node"' EXIT; trap 'exit 143' HUP INT TERM
exec 3>&1 4>&2; cd "$bats_node" || exit 1
bats_ended() { bats_status=$?; [ "$bats_ignores" ] || exit $bats_status; }

bats_exec() (exec "$@")

bats_copy() (
bats_at "$1"; bats_from=$bats_path; bats_at "$2"
IFS=; cp -r -- $bats_from "$bats_path"
)

bats_onerror() { case $1 in ignore) bats_ignores=1 ;; *) bats_ignores= ;; esac; }

bats_redirect() {
case $1 in stdout) bats_n=1 ;; *) bats_n=2 ;; esac
case $2 in
off) eval "exec $bats_n>&$((bats_n + 2))" ;;
append) bats_at "$4" "$bats_node"; eval "exec $bats_n>>\"\$bats_path\"" ;;
*) bats_at "$3" "$bats_node"; eval "exec $bats_n>\"\$bats_path\"" ;;
esac
}

bats_substitute() (
bats_at "$2" "$1"; bats_from=$bats_path; bats_at "$3" "$1"
for bats_name in $bats_names; do
eval "bats_value=\$$bats_name"
bats_value=$(printf '%s\n' "$bats_value" | sed 's/[\\&/]/\\&/g; $!s/$/\\/')
printf 's/${%s}/%s/g\ns/$%s\\b/%s/g\n' "$bats_name" "$bats_value" "$bats_name" "$bats_value"
done | sed -f - -- "$bats_from" >"$bats_path"
)

bats_at() {
case $1 in
node:*) bats_path=$bats_node/${1#node:} ;;
root:*) bats_path=$bats_root/${1#root:} ;;
/*) bats_path=$1 ;;
*) bats_path=${2:-$bats_root}/$1 ;;
esac
}
