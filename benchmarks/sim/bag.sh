# Sourced by the scripts that simulate table 2.1 of Oprescu's thesis: its bag,
# and its two clusters.

bag() { # RUNTIME, CHARGE and SPEED of the second cluster
    cat <<END
[bag]
tasks = 1000
runtime = $1
[cluster cluster0]
machines = 32
charge = 3
[cluster cluster1]
machines = 32
charge = $2
speed = $3
END
}
