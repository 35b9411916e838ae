# Copyright: the authors of bats-mpi
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A Spack recipe (Spack 1.0 or newer). In a clone of bats-mpi:
#
#     spack repo add packaging/spack/spack_repo/bats
#     spack install bats-mpi

import os

from spack_repo.builtin.build_systems.generic import Package

from spack.package import *


class BatsMpi(Package):
    """Runs a bag of tasks on the ranks of an MPI job, within a budget."""

    # The recipe lies in the clone that it builds.
    git = "file://" + os.path.abspath(
        os.path.join(os.path.dirname(__file__), *[os.pardir] * 6)
    )

    license("GPL-3.0-or-later")

    version("main", branch="main")

    variant("slurm", default=False, description="alloc buys jobs from Slurm")
    variant("pmix", default=False, description="Show node numbers")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3:")
    depends_on("gnutls")
    depends_on("gsl")
    depends_on("hwloc")
    depends_on("jansson")
    depends_on("pmix", when="+pmix")
    depends_on("slurm", when="+slurm", type="run")
    depends_on("sqlite@3:")

    def install(self, spec, prefix):
        make(
            "install",
            "CC=" + os.environ["CC"],
            "MPICC=" + spec["mpi"].mpicc,
            "PREFIX=" + str(prefix),
            "HWLOC=yes",
            "GNUTLS=yes",
            "PMIX=" + ("yes" if "+pmix" in spec else "no"),
        )
