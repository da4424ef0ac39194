"""Processes of this machine that share the work of a sweep, and the loop that waits for them.

The loop asks `progress` often, which may raise whatever it likes: what has not begun is then cancelled. So a
page stops at once when something on it is changed.
"""

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from threading import Lock
from typing import Any

POLL_S = 0.05
SMALL = 40_000
"""So many requests in all are run sooner here than processes are started for them, in about two seconds."""
TINY = 1500
"""So many are run sooner here even than running processes are asked."""

Progress = Callable[[int, int], None]
"""Told how many tasks are done, and of how many."""


class WorkersDied(RuntimeError):
    """A process ended before it gave its answer; the message is a sentence for people."""

    def __init__(self) -> None:
        super().__init__(
            "A worker process ended before its run was done, perhaps for want of memory. "
            "Nothing of this is kept; try again with fewer seeds, points or requests."
        )


def run_all(
    call: Callable[[Any], Any], tasks: Sequence[Any], executor: Executor | None, progress: Progress | None
) -> list[Any]:
    """The answers to all tasks, in their order, by an executor or, without one, here one by one.

    Raises WorkersDied for a process that ended, and what a task raises.
    """
    tell = progress or (lambda done, total: None)
    if executor is None:
        found = []
        for done, task in enumerate(tasks):
            tell(done, len(tasks))
            found.append(call(task))
        tell(len(tasks), len(tasks))
        return found
    waiting: list[Future[Any]] = []
    try:
        waiting = [executor.submit(call, task) for task in tasks]
        _until_done(waiting, tell)
        return [one.result() for one in waiting]
    except BrokenProcessPool:
        raise WorkersDied from None
    finally:
        for one in waiting:
            one.cancel()


def _until_done(waiting: Sequence[Future[Any]], tell: Progress) -> None:
    """Tell how far it is until all are done or one has failed."""
    rest, total = set(waiting), len(waiting)
    while rest:
        tell(total - len(rest), total)
        done, rest = wait(rest, timeout=POLL_S)
        for one in done:
            one.result()
    tell(total, total)


class Workers:
    """A pool of processes, as many as there are processors: started when first needed, anew when one died."""

    def __init__(self, processes: int | None = None) -> None:
        self._processes = processes or os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None
        self._lock = Lock()

    @property
    def are_started(self) -> bool:
        """Whether asking them costs no start."""
        return self._pool is not None and not self._is_broken()

    def _is_broken(self) -> bool:
        return bool(getattr(self._pool, "_broken", False))

    def executor(self) -> Executor:
        """The pool, started if it is not."""
        with self._lock:
            if self._pool is None or self._is_broken():
                methods = multiprocessing.get_all_start_methods()
                # A server with threads must not be forked: its locks would stay as they were.
                context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
                if "forkserver" in methods:
                    context.set_forkserver_preload(["sched.experiments"])
                self._pool = ProcessPoolExecutor(self._processes, mp_context=context)
            return self._pool

    def executor_for(self, requests: float) -> Executor | None:
        """Who runs so many requests soonest: the pool, or nobody but the caller."""
        least = TINY if self.are_started else SMALL
        return None if self._processes == 1 or requests < least else self.executor()

    def close(self) -> None:
        """End the processes; what they have not begun is left undone."""
        with self._lock:
            if self._pool is not None:
                self._pool.shutdown(wait=False, cancel_futures=True)
                self._pool = None
