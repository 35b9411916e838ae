# Sourced by the scripts here: what they do with their samples.

# [AWK OPTION...] FILE: see summary.awk.
summary() {
    awk -f benchmarks/summary.awk "$@"
}

# NAME FILE: for the plots of `make bench`, if it is that.
keep() {
    [ -z "$RESULTS_DIR" ] || cp "$2" "$RESULTS_DIR/$1.tsv"
}
