"""Functions on the machines of a bats-mpi run, within its budget.

An Executor is a concurrent.futures.Executor. It starts 'bats-mpi run --open',
or joins the run at BATS_SOCKET, and submits workers to it: interpreters that
stay, on every machine that the run holds, and take one call after the other.

>>> with Executor(max_workers=2) as ex:
...     sum(ex.map(abs, range(-3, 4)))
12

Functions, arguments and results are pickled, as for ProcessPoolExecutor: what
is called is defined in a module or at the top of the script, which has to be
guarded by if __name__ == "__main__".
"""
from __future__ import annotations

import atexit
import collections
import json
import multiprocessing.connection
import multiprocessing.spawn
import os
import pickle
import secrets
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from concurrent.futures import BrokenExecutor, Executor as _Executor, Future
from typing import Any, Callable, Deque, Dict, List, Optional, Sequence, Tuple

__all__ = ["Executor", "RunEnded", "WorkerLost"]

TRIES = 2          # a call that was on a worker that died is tried again
AHEAD = 64         # the most calls that are sent to a worker at once,
AHEAD_TIME = 0.002  # but no more than take this long (s)
IDLE = "1m"        # without workers for so long a run ends


class RunEnded(BrokenExecutor):
    """The run has ended before the call: its budget is spent, for instance."""


class WorkerLost(BrokenExecutor):
    """The workers that ran this call have died."""


class _Remote(Exception):
    def __str__(self) -> str:
        return "\n" + self.args[0]


class _Call:
    __slots__ = ("future", "payload", "tries")

    def __init__(self, future: "Future[Any]", payload: bytes) -> None:
        self.future = future
        self.payload = payload
        self.tries = 0


class _Worker:
    def __init__(self, pipe: Any) -> None:
        self.pipe = pipe
        self.calls: Deque[_Call] = collections.deque()
        self.took = 0.0  # seconds of a call, the last ones on average


class Executor(_Executor):
    """max_workers: at most so many calls run at a time; by default the cores
    of this machine. args: further options of bats-mpi run, such as
    ["--budget", "10", "--clusters", "c.ini"]. launcher: words that start it,
    such as ["srun", "-n", "64"]; without them the workers are forked here.
    name: of the run, whose record is NAME.bats; by default a temporary one.
    cores, memory ("4G"), gpus: what each call has of its machine. Calls that
    differ in them are for several Executors, which may join one run.
    initializer, initargs: what each worker calls before its first call."""

    def __init__(self, max_workers: Optional[int] = None, *,
                 args: Sequence[str] = (), launcher: Sequence[str] = (),
                 name: Optional[str] = None, join: bool = True,
                 cores: int = 1, memory: Optional[str] = None,
                 gpus: int = 0,
                 initializer: Optional[Callable[..., Any]] = None,
                 initargs: Tuple[Any, ...] = ()) -> None:
        if cores < 1 or (max_workers is not None and max_workers < 1):
            raise ValueError("max_workers and cores must be at least 1")
        self._n = max_workers or max(1, len(os.sched_getaffinity(0)) // cores)
        self._main = multiprocessing.spawn.get_preparation_data("worker")
        self._main.pop("authkey")
        self._needs: Dict[str, Any] = {"cores": cores, "gpus": gpus}
        if memory is not None:
            self._needs["memory"] = memory
        self._first = (None if initializer is None else
                       pickle.dumps((initializer, initargs, {}), -1))
        self._dir = tempfile.mkdtemp(prefix="bats-", dir=None if not launcher
                                     else os.getcwd())
        self._run: Optional[subprocess.Popen[bytes]] = None
        self._lock = threading.Lock()
        self._waiting: Deque[_Call] = collections.deque()
        self._workers: Dict[Any, _Worker] = {}
        self._new: List[Any] = []
        self._over = False  # who connects now is sent off
        self._closing = self._sleeps = False
        self._ended: Optional[Exception] = None
        path = os.environ.get("BATS_SOCKET") if join else None
        self.record: str = (path or "")[:-len(".sock")]
        try:
            self._listen(bool(launcher))
            if path is None:
                path = self._start(args, launcher, name)
            self._control = self._connect(path)
            self._answers = self._control.makefile("r")
            for _ in range(self._n):
                self._submit_worker()
        except BaseException:
            if self._run is not None:
                self._run.kill()
                self._run.wait()
            self._listener.close()
            shutil.rmtree(self._dir, ignore_errors=True)
            raise
        self._wake_in, self._wake_out = socket.socketpair()
        self._wake_out.setblocking(False)
        self._thread = threading.Thread(target=self._loop, daemon=True)
        self._thread.start()
        threading.Thread(target=self._accept, daemon=True).start()
        atexit.register(self.shutdown)  # else the run would stay, and be paid

    # ---- the run ----

    def _listen(self, far: bool) -> None:
        key = secrets.token_bytes(32)
        self._key_file = os.path.join(self._dir, "key")
        with open(os.open(self._key_file, os.O_CREAT | os.O_WRONLY, 0o600),
                  "wb") as file:
            file.write(key)
        address: Any = os.path.join(self._dir, "workers")
        if far or "SLURM_JOB_ID" in os.environ:
            address = (socket.gethostname(), 0)
        self._listener = multiprocessing.connection.Listener(
            address, backlog=1024, authkey=key)
        self._address = self._listener.address

    def _start(self, args: Sequence[str], launcher: Sequence[str],
               name: Optional[str]) -> str:
        name = os.path.abspath(name or os.path.join(self._dir, "open"))
        self.record = name + ".bats"
        # Workers end with this process, however it ends, and the run soon.
        words = [*launcher, "bats-mpi", "run", "--open", "--quiet",
                 "--idle", IDLE,
                 *([] if launcher
                   else ["-j", str(self._n * self._needs["cores"])]),
                 *args, name]
        self._run = subprocess.Popen(words, stdin=subprocess.DEVNULL)
        return self.record + ".sock"

    def _connect(self, path: str) -> socket.socket:
        while True:
            control = socket.socket(socket.AF_UNIX)
            try:
                control.connect(path)
                return control
            except OSError:
                control.close()
                if self._run is None:
                    raise
                if self._run.poll() is not None:
                    raise RunEnded("bats-mpi run ended with exit status "
                                   f"{self._run.returncode}") from None
                time.sleep(0.005)

    def _ask(self, **request: Any) -> Dict[str, Any]:
        self._control.sendall(json.dumps(request).encode() + b"\n")
        line = self._answers.readline()
        if not line:
            raise RunEnded("the run has ended")
        answer: Dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise RunEnded(answer["error"])
        return answer

    def _submit_worker(self) -> None:
        address = self._address
        where = (address if isinstance(address, str)
                 else f"{address[0]}:{address[1]}")
        words = [sys.executable, os.path.abspath(__file__), where,
                 self._key_file]
        self._ask(submit="exec " + shlex.join(words), cwd=os.getcwd(),
                  **{"class": "python"}, **self._needs)

    def cost(self) -> float:
        """What the run has been charged so far."""
        status = subprocess.run(["bats-mpi", "status", "--json", self.record],
                                stdout=subprocess.PIPE, check=True)
        return float(json.loads(status.stdout)["charged"])

    # ---- for the caller ----

    def submit(self, fn: Callable[..., Any], /, *args: Any,
               **kwargs: Any) -> "Future[Any]":
        future: "Future[Any]" = Future()
        call = _Call(future, pickle.dumps((fn, args, kwargs), -1))
        with self._lock:
            if self._closing:
                raise RuntimeError("cannot submit after shutdown")
            if self._ended is not None:
                raise self._ended
            self._waiting.append(call)
            wake = self._sleeps
            self._sleeps = False
        if wake:
            self._wake()
        return future

    def shutdown(self, wait: bool = True, *,
                 cancel_futures: bool = False) -> None:
        with self._lock:
            self._closing = True
            calls = list(self._waiting) if cancel_futures else []
        for call in calls:
            call.future.cancel()
        self._wake()
        if wait:
            self._thread.join()
            atexit.unregister(self.shutdown)

    def _wake(self) -> None:
        try:
            self._wake_out.send(b"x")
        except OSError:
            pass

    # ---- the thread that feeds the workers ----

    def _accept(self) -> None:
        while True:
            try:
                pipe = self._listener.accept()
                if not isinstance(self._address, str):
                    with socket.socket(fileno=os.dup(pipe.fileno())) as s:
                        s.setsockopt(socket.IPPROTO_TCP,
                                     socket.TCP_NODELAY, 1)
                pipe.send(self._main)
            except (multiprocessing.AuthenticationError, EOFError,
                    ConnectionError):
                continue
            except OSError:
                return  # the end
            with self._lock:
                if self._over:
                    pipe.close()
                    return
                self._new.append(pipe)
            self._wake()

    def _feed(self, worker: _Worker) -> None:
        n = max(1, min(AHEAD, int(AHEAD_TIME / worker.took) if worker.took
                       else 1, len(self._waiting) // (2 * self._n)))
        batch = []
        while self._waiting and len(batch) < n:
            call = self._waiting.popleft()
            if call.tries == 0 and not call.future.set_running_or_notify_cancel():
                continue
            worker.calls.append(call)
            batch.append(call.payload)
        if batch:
            worker.pipe.send_bytes(pickle.dumps(batch, -1))

    def _take(self, worker: _Worker) -> None:
        took, results = pickle.loads(worker.pipe.recv_bytes())
        if worker.calls[0].payload is self._first:
            worker.calls.popleft()
            ok, value, trace = pickle.loads(results[0])
            if not ok:
                value.__cause__ = _Remote(trace)
                raise BrokenExecutor("the initializer failed") from value
            return
        each = took / len(results)
        worker.took = (worker.took + each) / 2 if worker.took else each
        for payload in results:
            call = worker.calls.popleft()
            try:
                ok, value, trace = pickle.loads(payload)
            except Exception as error:
                ok, value, trace = False, error, ""
            if ok:
                call.future.set_result(value)
            else:
                value.__cause__ = _Remote(trace)
                call.future.set_exception(value)

    def _lose(self, worker: _Worker) -> None:
        del self._workers[worker.pipe]
        worker.pipe.close()
        if worker.calls and worker.calls[0].payload is self._first:
            raise BrokenExecutor("a worker died in the initializer")
        for call in reversed(worker.calls):
            call.tries += 1
            if call.tries < TRIES or call is not worker.calls[0]:
                self._waiting.appendleft(call)
            else:
                call.future.set_exception(WorkerLost(
                    f"{TRIES} workers died in this call"))
        if not self._closing or self._waiting:
            self._submit_worker()

    def _step(self) -> bool:
        for worker in self._workers.values():
            if not worker.calls and self._waiting:
                self._feed(worker)
        with self._lock:
            idle = all(not w.calls for w in self._workers.values())
            if self._closing and idle and not self._waiting:
                return False
            self._sleeps = True
        ready = multiprocessing.connection.wait(
            [self._wake_in, self._control, *self._workers])
        self._sleeps = False
        for pipe in ready:
            if pipe is self._wake_in:
                self._wake_in.recv(4096)
            elif pipe is self._control:
                raise RunEnded("the run has ended")
            else:
                worker = self._workers[pipe]
                try:
                    self._take(worker)
                    if self._waiting:
                        self._feed(worker)
                except (EOFError, ConnectionError):
                    self._lose(worker)
        while self._new:
            pipe = self._new.pop()
            worker = self._workers[pipe] = _Worker(pipe)
            if self._first is not None:
                worker.calls.append(_Call(Future(), self._first))
                pipe.send_bytes(pickle.dumps([self._first], -1))
        return True

    def _loop(self) -> None:
        try:
            while self._step():
                pass
        except Exception as error:
            self._fail(error)
        self._end()

    def _fail(self, error: Exception) -> None:
        if self._run is not None and isinstance(error, RunEnded):
            error = RunEnded("the run has ended, with exit status "
                             f"{self._run.wait()}")
        with self._lock:
            self._ended = error
            calls = list(self._waiting)
        for worker in self._workers.values():
            calls += worker.calls
        for call in calls:
            if not call.future.cancelled() and not call.future.done():
                call.future.set_exception(error)

    def _end(self) -> None:
        with self._lock:
            self._over = True
        for pipe in [*self._workers, *self._new]:
            pipe.close()  # and so the worker ends
        self._listener.close()
        if self._run is not None:
            try:
                self._ask(close=True)
            except (RunEnded, OSError):
                pass
            # Workers that had no machine so far never will.
            self._control.close()
            self._run.wait()
        shutil.rmtree(self._dir, ignore_errors=True)


# ---- a worker ----

def _call(payload: bytes) -> bytes:
    try:
        fn, args, kwargs = pickle.loads(payload)
        return pickle.dumps((True, fn(*args, **kwargs), ""), -1)
    except BaseException as error:
        trace = traceback.format_exc()
        try:
            return pickle.dumps((False, error, trace), -1)
        except Exception:
            return pickle.dumps((False, RuntimeError(repr(error)), trace), -1)


def _work(where: str, key_file: str) -> None:
    # An Executor in a call has its own run here: in this one its workers
    # would wait for slots that those who wait for them hold.
    os.environ.pop("BATS_SOCKET", None)
    host, colon, port = where.rpartition(":")
    address: Any = (host, int(port)) if colon else where
    try:
        with open(key_file, "rb") as file:
            key = file.read()
        pipe = multiprocessing.connection.Client(address, authkey=key)
    except (FileNotFoundError, EOFError, ConnectionError):
        return  # the caller has ended, or has all it wants
    if colon:
        with socket.socket(fileno=os.dup(pipe.fileno())) as s:
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        process: Any = multiprocessing.current_process()
        process._inheriting = True  # an Executor here lacks its guard
        multiprocessing.spawn.prepare(pipe.recv())
        del process._inheriting
        while True:
            batch = pickle.loads(pipe.recv_bytes())
            begin = time.perf_counter()
            results = [_call(payload) for payload in batch]
            took = time.perf_counter() - begin
            sys.stdout.flush()
            pipe.send_bytes(pickle.dumps((took, results), -1))
    except (EOFError, ConnectionError):
        pass


if __name__ == "__main__":
    _work(*sys.argv[1:])
