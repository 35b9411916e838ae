"""spack.py REPOSITORY PREFIX BUILD: goes through our recipe as Spack would.

Spack itself is not here: spack.package is a stand-in that notes what the
recipe says. Its install() is really carried out, with our own make, into
PREFIX. What it depends on is compared with tests/build/packages.sh.
"""

import os
import re
import subprocess
import sys
import types

repository, prefix, build = sys.argv[1:]
top = os.environ["TOP"]

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

depends, versions, variants, commands = [], [], [], []


def make(*arguments):
    commands.append(arguments)
    subprocess.run(["make", "-C", top, "B=" + build, *arguments], check=True)


stand_in = types.ModuleType("spack.package")
stand_in.license = lambda *_, **__: None
stand_in.version = lambda name, **how: versions.append((name, how))
stand_in.depends_on = lambda spec, **_: depends.append(spec)
stand_in.variant = lambda name, **_: variants.append(name)
stand_in.make = make
sys.modules["spack"] = types.ModuleType("spack")
sys.modules["spack.package"] = stand_in
generic = "spack_repo.builtin.build_systems.generic"
for i in range(1, generic.count(".") + 2):
    name = ".".join(generic.split(".")[:i])
    sys.modules[name] = types.ModuleType(name)
sys.modules[generic].Package = object

path = os.path.join(repository, "packages", "bats_mpi", "package.py")
recipe = {"__file__": path, "__name__": "recipe"}
with open(path) as f:
    exec(compile(f.read(), path, "exec"), recipe)
package = recipe["BatsMpi"]

# The place that it names: a clone of ours, with these branches.
assert package.git == "file://" + os.path.realpath(top), package.git
assert versions and all(how.get("branch") for _, how in versions), versions
with open(os.path.join(repository, "repo.yaml")) as f:
    assert re.fullmatch(r"repo:\n  namespace: (\w+)\n  api: v2.0\n",
                        f.read()).group(1) == os.path.basename(repository)

with open(os.path.join(top, "tests", "build", "packages.sh")) as f:
    needed = re.findall(r"^build +(\S+)", f.read(), re.M)
unknown = [thing for thing in needed if thing not in KNOWN]
assert not unknown, "which Spack package has %s?" % unknown
names = {re.split("[@+~ ]", spec)[0] for spec in depends}
with open(os.path.join(top, "Makefile")) as f:
    optional = re.findall(r"\(call have,(\w+)\)", f.read())
wanted = {KNOWN[thing] for thing in needed} | set(optional)
wanted |= {"gmake", "pkgconfig", "slurm"}
assert names == wanted, "%s, but the build needs %s" % (names, wanted)

assert variants == ["slurm", "pmix"], variants
# With another compiler than the tests have, all would be built again, while
# they run.
os.environ.setdefault("CC", "cc")
mpicc = os.environ.get("MPICC", "mpicc")
spec = {"mpi": types.SimpleNamespace(mpicc=mpicc), "+pmix": True}
package().install(spec, prefix)
assert commands, "nothing was made"
