#!/bin/bash
# Is the default for machines that may not answer ever worse than plain
# self-scheduling? Random mixtures (gamma 0.3 to 1, lost at the start or on the
# way, silent or noticed after a minute; 10 to 80 unreliable machines and 0 to
# 20 reliable ones, 1 to 40 times as dear; 50 to 600 tasks, lognormal with sigma
# 0.2 to 1.5), simulated: expert by its default utility, and rr, or the policy
# $OTHER. That one is told how long the longest task takes, and stops what has
# run for longer.
#
# Prints the mixtures where that one is sooner and cheaper, with differences of
# means of the same seeds and half their 95 % intervals, and a summary.
#
#   bash benchmarks/expert/random.sh [MIXTURES [SEEDS [FIRST]]] default 100 10 1
cd "$(dirname "$0")/../.." || exit 1
other=${OTHER:-rr}
build=$(realpath "${B:-build}")
out=$build/bench/expert/random
mkdir -p "$out" && cd "$out" || exit 1
: >random.tsv

draw() { # NUMBER: gamma way noticed unreliable reliable charge tasks sigma
    awk -v seed="$1" 'BEGIN { srand(seed); rand(); rand()
        gamma = 0.3 + 0.7 * rand()
        printf "%.3f %d %d %d %d %.2f %d %.2f\n", gamma, rand() * 2,
            rand() * 2, 10 + 71 * rand(), (rand() < 0.2 ? 0 : 1 + 20 * rand()),
            exp(log(40) * rand()), 50 * exp(log(12) * rand()),
            0.2 + 1.3 * rand() }'
}

# 200 quantiles, mean 1800 s; the logistic approximation of the normal ones.
lognormal() { # SIGMA
    awk -v sigma="$1" 'BEGIN { n = 200
        for (i = 0; i < n; i++) {
            u = (i + .5) / n
            x[i] = exp(sigma * log(u / (1 - u)) / 1.702)
            sum += x[i]
        }
        for (i = 0; i < n; i++)
            printf "%.3f\n", 1800 * x[i] / (sum / n) }'
}

play() { # POLICY: makespan and charge of each seed
    "$build/bats-mpi" simulate "$1" --csv |
        awk -F, 'NR > 1 { print $6, $7, $9 }'
}

for i in $(seq "${3:-1}" $((${3:-1} + ${1:-100} - 1))); do
    read -r gamma way noticed ur r charge tasks sigma <<<"$(draw "$i")"
    # A task that is far longer than machines last would never end.
    [ "$way" = 0 ] || sigma=$(awk -v s="$sigma" 'BEGIN { print s / 3 }')
    lognormal "$sigma" >runtimes
    longest=$(tail -n 1 runtimes)
    losses="reliability = $gamma"
    [ "$way" = 0 ] || losses=$(awk -v g="$gamma" 'BEGIN {
        printf "survival = exponential %.0fs", 1800 / -log(g - 1e-6) }')
    {
        printf '[run]\nbilling = use\nseeds = 1-%d\nPOLICY\n[bag]\n' "${2:-10}"
        printf 'tasks = %d\nruntime = file runtimes\n[cluster cheap]\n' "$tasks"
        printf 'machines = %d\ncharge = 1\ncharge_lost = no\n%s\n' "$ur" "$losses"
        [ "$noticed" = 0 ] || echo 'noticed = 1m'
        [ "$r" = 0 ] || printf '[cluster safe]\nmachines = %d\ncharge = %s\n' \
            "$r" "$charge"
    } >mixture
    sed 's/POLICY//' mixture >expert
    sed "s/POLICY/policy = $other\ntimeout = ${longest}s\nretries = 255/" \
        mixture >other
    paste -d' ' <(play expert) <(play other) |
        awk -v i="$i" -v what="gamma $gamma, $ur + $r machines, charge $charge, $tasks tasks, sigma $sigma$(
            [ "$way" = 0 ] || echo ', on the way')$(
            [ "$noticed" = 0 ] || echo ', noticed')" '
        { n++; t += $2; c += $3; rt += $5; rc += $6
          bad += $1 != "all_done"; rbad += $4 != "all_done"
          d = $2 - $5; dt += d; dtt += d * d; d = $3 - $6; dc += d; dcc += d * d }
        function half(s, ss) { return 1.96 * sqrt((ss / n - (s / n) ^ 2) / (n - 1)) }
        END { printf "%d\t%s\t%d\t%d\t%.0f\t%.2f\t%.0f\t%.2f\t%.0f\t%.0f\t%.2f\t%.2f\n",
            i, what, bad, rbad, t / n, c / n, rt / n, rc / n, dt / n,
            half(dt, dtt), dc / n, half(dc, dcc) }' >>random.tsv
done
awk -F'\t' '
    { n++; bad += $3; rbad += $4
      lt += log($5 / $7); lc += log($6 / $8); p = $5 * $6 / ($7 * $8)
      lp += log(p); if (p > worst) worst = p
      sooner += $9 < -$10; later += $9 > $10; cheaper += $11 < -$12; dearer += $11 > $12
      if ($9 >= -$10 && $11 >= -$12 && ($9 > $10 || $11 > $12)) {
          k++
          printf "%s: %s: %+.0f ± %.0f s of %.0f, %+.2f ± %.2f of %.2f\n", $1, $2,
              $9, $10, $7, $11, $12, $8
      } }
    END {
        printf "%d mixtures: sooner in %d, later in %d; cheaper in %d, dearer in %d; worse in one and better in none: %d\n",
            n, sooner, later, cheaper, dearer, k
        printf "geometric means of the ratios: makespan %.2f, charge %.2f, product %.2f (worst %.2f); undone: expert %d, other %d\n",
            exp(lt / n), exp(lc / n), exp(lp / n), worst, bad, rbad }' random.tsv
