complete -c bats-mpi -a '(bats-mpi --complete (commandline -opc)[2..-1] (commandline -ct))'
