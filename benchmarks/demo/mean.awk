# Results of som over the folds of one set of parameters: mean accuracy, its
# spread, mean quantization error, rate, radius.
{
    gsub("=", " ")
    n++
    accuracy += $15
    squares += $15 * $15
    error += $11
}
END {
    mean = accuracy / n
    variance = squares / n - mean * mean
    printf "%.4f %.4f %.4f %s %s\n", mean,
        (variance > 0 ? sqrt(variance) : 0), error / n, $5, $7
}
