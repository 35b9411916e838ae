"""spack.py REPOSITORY PREFIX BUILD: goes through our recipe as Spack would.

Spack itself is not here: spack.package is a stand-in that notes what the
recipe says. Its install() is really carried out, with our own make, into
PREFIX. What it depends on is compared with packaging/packages.sh.
"""

import os
import re
import subprocess
import sys
import types

repository, prefix, build = sys.argv[1:]
top = os.environ["TOP"]
PACKAGES = os.path.join(top, "packaging", "packages.sh")

# Header, or the command of an MPI, to the name of Spack's package.
KNOWN = {
    "@mpicc": "mpi",
    "mpirun": "mpi",
    "cc": "c",
    "stdio.h": "c",
    "gsl/gsl_version.h": "gsl",
    "jansson.h": "jansson",
    "sqlite3.h": "sqlite",
}

depends, variants, commands = [], [], []


def make(*arguments):
    commands.append(arguments)
    subprocess.run(["make", "-C", top, "B=" + build, *arguments], check=True)


def module(name, **members):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(members)


module("spack")
module("spack.package", license=print, version=lambda _, branch: None,
       depends_on=lambda spec, **_: depends.append(spec),
       variant=lambda name, **_: variants.append(name), make=make)
module("spack_repo")
module("spack_repo.builtin")
module("spack_repo.builtin.build_systems")
module("spack_repo.builtin.build_systems.generic", Package=object)

path = os.path.join(repository, "packages", "bats_mpi", "package.py")
recipe = {"__file__": path}
with open(path) as f:
    exec(compile(f.read(), path, "exec"), recipe)
package = recipe["BatsMpi"]
assert package.git == "file://" + os.path.realpath(top), package.git
with open(os.path.join(repository, "repo.yaml")) as f:
    assert f.read() == "repo:\n  namespace: bats\n  api: v2.0\n"

with open(PACKAGES) as f:
    needed = {KNOWN[it] for it in re.findall(r"^build +(\S+)", f.read(), re.M)}
with open(os.path.join(top, "Makefile")) as f:
    needed.update(re.findall(r"\(call have,(\w+)\)", f.read()))
names = {re.split("[@+~ ]", spec)[0] for spec in depends}
assert names == needed | {"gmake", "pkgconfig", "slurm"}, (names, needed)
assert variants == ["slurm", "pmix"], variants

# With another compiler than the tests have, all would be built again, while
# they run.
os.environ.setdefault("CC", "cc")
mpicc = os.environ.get("MPICC", "mpicc")
package().install({"mpi": types.SimpleNamespace(mpicc=mpicc), "+pmix": True}, prefix)
assert commands, "nothing was made"
