#compdef bats-mpi
_bats_mpi() {
    local -a found
    found=("${(@f)$(bats-mpi --complete "${(@)words[2,CURRENT]}")}")
    found=(${found//:/\\:})
    found=(${found/$'\t'/:})
    if (( $#found )); then
        _describe bats-mpi found
    else
        _files
    fi
}
if [ "$funcstack[1]" = _bats-mpi ]; then
    _bats_mpi
else
    compdef _bats_mpi bats-mpi
fi
