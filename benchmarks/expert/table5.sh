# Sourced by the scripts here that play table 5 of ExPERT. Runtimes are spread
# over table 3's range with its mean (a power of a uniform number); of WL5 to 7
# the columns "average" and "min" of the print are taken for each other.

# WORKLOAD: tasks T D mean low high
workload() {
    case $1 in
    1) echo 820 2500 4000 1597 1019 3558 ;;
    2) echo 820 1700 4000 1597 1019 3558 ;;
    3) echo 3276 5000 8000 1911 1484 6435 ;;
    4) echo 3276 3000 5000 2232 1643 4517 ;;
    5) echo 615 4000 6000 1571 878 4947 ;;
    6) echo 615 4000 4000 1512 729 3534 ;;
    7) echo 615 2500 4000 1542 987 3250 ;;
    esac
}

runtimes() { # N MEAN LOW HIGH: one a line
    awk -v n="$1" -v mean="$2" -v low="$3" -v high="$4" 'BEGIN {
        k = (high - low) / (mean - low) - 1
        for (i = 0; i < n; i++)
            printf "%.3f\n", low + (high - low) * ((i + .5) / n) ^ k
    }'
}

strategy_of() { # N T D
    [ "$1" != CNinf ] || { echo CNinf && return; }
    echo "N=$1,T=${2}s,D=${3}s"
}

# Calls `experiment NUMBER WORKLOAD N UNRELIABLE RELIABLE GAMMA` for each.
table5() {
    experiment 1 1 0 202 20 0.995
    experiment 2 1 2 199 20 0.983
    experiment 3 6 inf 220 0 0.981
    experiment 4 3 0 206 20 0.974
    experiment 5 6 CNinf 200 20 0.970
    experiment 6 5 inf 201 0 0.942
    experiment 7 1 0 208 20 0.864
    experiment 8 2 1 208 20 0.857
    experiment 9 1 0 251 20 0.853
    experiment 10 7 0 208 20 0.844
    experiment 11 1 0 200 20 0.827
    experiment 12 1 0 200 20 0.788
    experiment 13 4 0 204 20 0.746
}
