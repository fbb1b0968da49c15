"""Where submissions are graded: any `concurrent.futures.Executor`, and how to get another when one breaks."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing import util
from typing import TYPE_CHECKING, Any

from helpers.grading import worker

if TYPE_CHECKING:
    from distributed import Client

PRELOADED = ["helpers.grading.submission"]
SHORT_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")
LONGEST_PATH = 107  # bytes that Linux takes as the path of a Unix socket
ADDED = len("/pymp-12345678/listener-12345678")  # to a folder of temporary files, by multiprocessing


class NoCluster(RuntimeError):
    """The scheduler that was named can not be used; the message says what to do."""


class NoSockets(RuntimeError):
    """No folder has a path that is short enough for sockets; the message says what to do."""


class Pool:
    """Workers behind an executor; a context manager that leaves none.

    `make()` gives an executor and `end(executor)` ends it whatever its workers do. `width()` is how many submissions to
    have under way at once. `watched`: whether a worker that says nothing for long is taken for dead; a cluster's
    scheduler sees to that itself, and may have nobody at work for hours.
    """

    def __init__(
        self,
        make: Callable[[], Executor],
        width: Callable[[], int],
        end: Callable[[Executor], None] = lambda executor: executor.shutdown(wait=False),
        watched: bool = True,
    ):
        self._make, self._end, self.width, self.watched = make, end, width, watched
        self._executor: Executor | None = None

    def submit(self, function: Callable, *arguments: object) -> Future:
        """As the executor does; raises what it raises."""
        if self._executor is None:
            self._executor = self._make()
        return self._executor.submit(function, *arguments)

    def renew(self) -> None:
        """Leave the executor, which broke or hangs, for a new one."""
        executor, self._executor = self._executor, None
        if executor is not None:
            self._end(executor)

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._executor is not None:
            self._executor.shutdown(wait=True)
            self._executor = None
        self.renew()


def processes(count: int | None = None) -> Pool:
    """Processes of this machine, `count` of them; default: one for each core that may be used.

    They are forked from a small server that has imported what they need and read no student's work. Raises NoSockets.
    """
    count = count or len(os.sched_getaffinity(0))
    place_sockets()

    def make() -> ProcessPoolExecutor:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(PRELOADED)
        return ProcessPoolExecutor(count, mp_context=context, initializer=worker.begin)

    def end(executor: Executor) -> None:
        assert isinstance(executor, ProcessPoolExecutor)
        for process in list((executor._processes or {}).values()):
            process.kill()
        executor.shutdown(wait=False, cancel_futures=True)

    return Pool(make, lambda: count, end)


def place_sockets() -> None:
    """Where TMPDIR is too long for sockets, let multiprocessing keep its own elsewhere; raises NoSockets.

    They lie in a folder with a short path that is made for them, and that only this user can enter.
    """
    named = tempfile.gettempdir()
    for folder in (named, *SHORT_FOLDERS):
        if len(os.fsencode(folder)) + ADDED > LONGEST_PATH or not os.access(folder, os.W_OK | os.X_OK):
            continue
        before, tempfile.tempdir = tempfile.tempdir, folder
        try:
            util.get_temp_dir()  # made now, and kept until this process ends
        finally:
            tempfile.tempdir = before
        return
    raise NoSockets(
        f"The folder for temporary files, {named}, has so long a path that no socket can lie in it, and none of "
        f"{', '.join(SHORT_FOLDERS)} can be written to. Name a folder with a shorter path, as in "
        "TMPDIR=/short warpbook grade …"
    )


def cluster(address: str, resources: Mapping[str, float] | None = None, seconds: float = 30) -> Pool:
    """The workers of a Dask scheduler at `address`; each submission asks for `resources`, such as {"GPU": 1}.

    `seconds`: how long to wait for its first answer. Raises NoCluster.
    """
    try:
        from distributed import Client
    except ImportError:
        raise NoCluster("--scheduler needs Dask: python -m pip install -c constraints.txt -e '.[dask]'") from None
    try:
        client = Client(address, timeout=seconds, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        why = f"No Dask scheduler answers at {address} ({error}). Is the address right, as in tcp://host:8786?"
        raise NoCluster(why) from None

    def width() -> int:
        # More than there are threads, so that none waits for the network, and a cluster that grows with its work grows.
        return max(32, 2 * sum(client.nthreads().values()))

    # Dask would else take a second try for the first, since it is called with the same arguments.
    options = {"pure": False, **({"resources": dict(resources)} if resources else {})}
    return _Cluster(client, lambda: client.get_executor(**options), width, watched=False)


class _Cluster(Pool):
    """A pool whose client has to be left, too."""

    def __init__(self, client: Client, *arguments: Any, **named: Any):
        super().__init__(*arguments, **named)
        self._client = client

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            super().__exit__(kind, *error)
        finally:
            self._client.close()
