_bats_mpi() {
    local IFS=$'\n' word=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=($(bats-mpi --complete "${COMP_WORDS[@]:1:COMP_CWORD}" | cut -f1))
    [ ${#COMPREPLY[@]} -gt 0 ] ||
        COMPREPLY=($(compgen -f -- "$word"))
}
complete -o filenames -F _bats_mpi bats-mpi
