"""Processes of this machine that share the work of a sweep, and the loop that waits for them.

The loop asks `progress` often, which may raise whatever it likes: what has not begun is then cancelled. So a
page stops at once when something on it is changed.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, MutableMapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from sched.trace_store import store_in_use, use_store

POLL_S = 0.05
GRACE_S = 0.3
"""How long the processes may take to end by themselves."""
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


Kept = MutableMapping[Any, Any]
"""Answers by task; each is put there as soon as it is known."""


def run_all(
    call: Callable[[Any], Any],
    tasks: Sequence[Any],
    executor: Executor | None,
    progress: Progress | None,
    kept: Kept | None = None,
) -> list[Any]:
    """The answers to all tasks, in their order, by an executor or, without one, here one by one.

    What is in `kept` is not asked again. Raises WorkersDied for a process that ended, and what a task raises.
    """
    tell = progress or (lambda done, total: None)
    known: Kept = {} if kept is None else kept
    found = {task: answer for task in tasks if (answer := known.get(task)) is not None}
    todo = [task for task in dict.fromkeys(tasks) if task not in found]
    if executor is None:
        for done, task in enumerate(todo):
            tell(done, len(todo))
            found[task] = known[task] = call(task)
        tell(len(todo), len(todo))
    elif todo:
        _in_processes(call, todo, executor, tell, found, known)
    return [found[task] for task in tasks]


def _in_processes(
    call: Callable[[Any], Any],
    todo: Sequence[Any],
    executor: Executor,
    tell: Progress,
    found: Kept,
    known: Kept,
) -> None:
    """Tell how far it is until all are done or one has failed."""
    waiting: dict[Future[Any], Any] = {}
    try:
        for task in todo:
            waiting[executor.submit(call, task)] = task
        rest = set(waiting)
        while rest:
            tell(len(todo) - len(rest), len(todo))
            done, rest = wait(rest, timeout=POLL_S)
            for one in done:
                found[waiting[one]] = known[waiting[one]] = one.result()
        tell(len(todo), len(todo))
    except BrokenProcessPool:
        raise WorkersDied from None
    finally:
        for one in waiting:
            one.cancel()


class Workers:
    """A pool of processes, as many as there are processors: started when first needed, anew when one died."""

    def __init__(self, processes: int | None = None) -> None:
        self._processes = processes or os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None
        self._greetings: list[Future[Any]] = []
        self._lock = Lock()

    @property
    def are_ready(self) -> bool:
        """Whether asking them costs no start."""
        return bool(self._greetings) and not self._is_broken() and all(map(_is_answered, self._greetings))

    def _is_broken(self) -> bool:
        return bool(getattr(self._pool, "_broken", False))

    def executor(self) -> Executor:
        """The pool, started if it is not: at once, though its processes take a second or two to come up."""
        with self._lock:
            if self._pool is None or self._is_broken():
                self._pool = ProcessPoolExecutor(
                    self._processes, _context(), initializer=_begin, initargs=(store_in_use(),)
                )
                self._greetings = [self._pool.submit(os.getpid) for _ in range(self._processes)]
            return self._pool

    def executor_for(self, requests: float, *, warm: bool = False) -> Executor | None:
        """Who runs so many requests soonest: the pool, or nobody but the caller.

        With `warm` the pool is started in any case, so that it is there the next time.
        """
        if self._processes == 1:
            return None
        is_worth_it = requests >= (TINY if self.are_ready else SMALL)
        if not is_worth_it and not warm:
            return None
        try:
            pool = self.executor()
        except (OSError, ImportError, NotImplementedError):
            self._processes = 1  # a closed box without semaphores or a place for sockets: all is done here
            return None
        return pool if is_worth_it else None

    def close(self) -> None:
        """End the processes at once, whatever they are doing."""
        with self._lock:
            if self._pool is not None:
                processes = dict(getattr(self._pool, "_processes", None) or {})
                manager = getattr(self._pool, "_executor_manager_thread", None)
                self._pool.shutdown(wait=False, cancel_futures=True)
                if manager is not None:
                    manager.join(GRACE_S)  # it forgets what was cancelled, or else complains of it
                for one in processes.values():
                    one.terminate()
            self._pool, self._greetings = None, []


def _is_answered(one: Future[Any]) -> bool:
    return one.done() and not one.cancelled() and one.exception() is None


def _begin(store: str) -> None:
    """In each process first: it reads the server's traces, and Ctrl+C is for whoever started it to hear."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    use_store(store)


def _end_with_parent() -> None:
    """A server that is killed cannot tell its processes; they would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _context() -> Any:
    """How processes are made. A server with threads must not be forked: its locks would stay as they were."""
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    # The server of processes looks for modules where it was started only: elsewhere `sched` is another one.
    if "forkserver" in methods and Path.cwd() == Path(__file__).resolve().parent.parent:
        context.set_forkserver_preload(["sched.experiments"])
    return context
