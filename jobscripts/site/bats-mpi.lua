-- A modulefile for Lmod. `make install` puts it, with its own prefix and
-- version, into PREFIX/share/modulefiles/bats-mpi/VERSION.lua; then
--
--     module use PREFIX/share/modulefiles
--     module load bats-mpi
--
-- or link it into a directory that is in MODULEPATH already. Load the MPI that
-- bats-mpi was built with first; a site may say so here:
-- depends_on("openmpi")

local root = "/usr/local"

help([[
bats-mpi runs a bag of tasks, one shell command a line, on the ranks of an MPI
job, within a budget:  srun -n 65 bats-mpi bag.txt --budget 200

man bats-mpi, bats-mpi --help. BATS_MPI_SHARE has job scripts, and in site/
what some sites charge.
]])
whatis("Name: bats-mpi")
whatis("Version: " .. myModuleVersion())
whatis("Description: bags of tasks within a budget, on the ranks of an MPI job")

prepend_path("PATH", pathJoin(root, "bin")) -- man finds its page by it
prepend_path("PKG_CONFIG_PATH", pathJoin(root, "lib/pkgconfig"))
setenv("BATS_MPI_SHARE", pathJoin(root, "share/bats-mpi"))
