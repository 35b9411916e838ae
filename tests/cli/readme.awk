# The Nth block of a Markdown file that is marked sh: awk -v n=N -f readme.awk
/^```sh$/ { block++; inside = 1; next }
/^```/ { inside = 0 }
inside && block == n
