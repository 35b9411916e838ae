# The same number of tasks that do nothing, by mpi4py's master and workers:
#   mpirun -n WORKERS+1 python3 -m mpi4py.futures futures.py TASKS
# Prints the seconds that took, start-up excluded. chunksize=1, the default:
# one message per task, as for tasks whose runtimes are not known.
import sys
import time

from mpi4py.futures import MPIPoolExecutor


def nothing(i):
    return i


if __name__ == "__main__":
    tasks = int(sys.argv[1])
    with MPIPoolExecutor() as pool:
        list(pool.map(nothing, range(100)))
        start = time.monotonic()
        list(pool.map(nothing, range(tasks)))
        print("%.6f" % (time.monotonic() - start))
