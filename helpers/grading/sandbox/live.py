"""One running job, seen from outside: what it says, how it ended, and that nothing of it is left."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable

from helpers.grading.sandbox import processes
from helpers.grading.sandbox.cgroups import Group
from helpers.grading.sandbox.faults import InfrastructureFault
from helpers.grading.sandbox.limits import Limits
from helpers.grading.sandbox.meter import Reading, read
from helpers.grading.sandbox.wire import Channel, Ended, Late, Malformed

WATCH_SECONDS = 0.05
LOST_SECONDS = 0.5
# By name: Windows lacks most of them, and imports this too.
SIGNAL_SAYS = {
    "SIGSEGV": "the process was stopped for touching memory that is not its own",
    "SIGABRT": "the process aborted",
    "SIGKILL": "the process was killed",
    "SIGXCPU": "the process used all the seconds of CPU that it may",
    "SIGFPE": "the process was stopped at an arithmetic fault",
    "SIGBUS": "the process was stopped at an address that cannot be reached, as when no room is left in /dev/shm",
    "SIGXFSZ": "the process was stopped for writing a file longer than it may",
}


class Died(Exception):
    """The job has ended: `outcome` "timeout", "crash", "memory" or "output", and a sentence."""

    def __init__(self, outcome: str, says: str):
        super().__init__(says)
        self.outcome, self.says = outcome, says


class Unanswered(InfrastructureFault):
    """The sandbox's server does not answer, although it lives."""


class Live:
    """A job from its settling to its end.

    `alone`: it has a namespace of processes. `lost()` says whether the sandbox itself has died.
    """

    def __init__(self, channel: Channel, limits: Limits, alone: bool, group: Group | None, lost: Callable[[], bool]):
        self.channel, self.limits, self.alone, self.group, self._lost = channel, limits, alone, group, lost
        self.handle = -1
        self.afterwards: Callable[[], None] = lambda: None
        self.over = ""  # why the watchdog has ended the job
        self._closed = threading.Event()
        self._watchdog: threading.Thread | None = None

    @property
    def closed(self) -> bool:
        return self._closed.is_set()

    def settle(self, seconds: float) -> None:
        """Wait until the job has given up all that it must not have, limit it, and let it go."""
        try:
            message, handle = self.channel.receive_file(seconds)
        except Late:
            raise Unanswered(f"a sandbox was not ready within {seconds:g} seconds") from None
        except (Ended, Malformed) as error:
            raise InfrastructureFault(f"a sandbox ended while it was being made: {error}") from None
        if "fault" in message or handle is None:
            raise InfrastructureFault(f"a sandbox could not be made: {message.get('fault', message)}")
        self.handle = handle
        kept = {"memory": False, "processes": False}
        if self.group is not None and (pid := processes.pid_of(handle)) > 0:
            with contextlib.suppress(OSError):
                # Bubblewrap's first process has the job's below it already; what they start follows them.
                for one in (pid, *processes.descendants(pid)):
                    self.group.add(one)
                kept = {"memory": self.group.memory, "processes": self.group.processes}
        if not all(kept.values()):
            self._watchdog = threading.Thread(target=self._watch, name="sandbox-watchdog", daemon=True)
            self._watchdog.start()
        try:
            self.channel.send(kept)
        except Ended as error:
            raise InfrastructureFault(f"a sandbox ended before its job began: {error}") from None

    def _watch(self) -> None:
        """Add up what all processes hold, where no control group does; end the job when it is too much."""
        pid = processes.pid_of(self.handle)
        # What the fork server holds is shared with it, and was there before.
        base = None
        while not self._closed.wait(WATCH_SECONDS):
            pids = processes.descendants(pid)
            if len(pids) > self.limits.processes:
                self.over = "crash"
            if base is None:
                base = processes.resident([pid])
            most = self.limits.memory + base
            if processes.resident(pids) > most and processes.memory(pids) > most:
                self.over = "memory"
            if self.over:
                self.end()
                return

    def receive(self, seconds: float) -> dict:
        """The job's next message; raises Late, or Died, or InfrastructureFault when it was not the job's doing."""
        try:
            message = self.channel.receive(seconds)
        except Malformed as error:
            raise Died("output" if error.too_long else "crash", str(error)) from None
        except Ended:
            raise self.death(None) from None
        if "ended" in message:
            raise self.death(message["ended"])
        return message

    def death(self, code: int | None) -> Exception:
        if self.out_of_memory():
            return Died("memory", self.memory_says)
        if self.over == "crash":
            return Died("crash", f"more than {self.limits.processes} processes were started")
        if code is None:
            # The job's first process said nothing: was it killed with the whole sandbox?
            until = time.monotonic() + LOST_SECONDS
            while time.monotonic() < until:
                if self._lost():
                    return InfrastructureFault("the sandbox died while a job ran in it")
                time.sleep(0.02)
        return death(code)

    @property
    def memory_says(self) -> str:
        return f"more than {self.limits.memory >> 20:,} MiB of memory were asked for"

    def out_of_memory(self) -> bool:
        return self.over == "memory" or (self.group is not None and self.group.killed_for_memory())

    def reading(self) -> Reading:
        """What the job's processes have had of the CPU."""
        return read(processes.pid_of(self.handle) if self.handle >= 0 else -1, self.group)

    def end(self) -> bool:
        """End everything of the job at once; whether it had ended in time."""
        if self.group is not None:
            self.group.end()
        return processes.end(self.handle, self.alone) if self.handle >= 0 else True

    def close(self) -> None:
        """End the job and give back all that it had; raises InfrastructureFault when something of it is left."""
        if self._closed.is_set():
            return
        self._closed.set()
        ended = self.end()
        if self._watchdog is not None and self._watchdog is not threading.current_thread():
            self._watchdog.join()
        self.channel.close()
        if self.handle >= 0:
            os.close(self.handle)
        if self.group is not None:
            self.group.close()
        self.afterwards()
        if not ended:
            raise InfrastructureFault("processes of a job could not be ended")


def death(code: int | None) -> Died:
    """How a process ended, by its exit code (negative: the number of a signal)."""
    if not isinstance(code, int):
        return Died("crash", "the process was killed")
    if code >= 0:
        return Died("crash", f"the process ended, with exit status {code}")
    try:
        number = signal.Signals(-code)
    except ValueError:
        return Died("crash", f"the process was ended by signal {-code}")
    says = SIGNAL_SAYS.get(number.name, f"the process was ended by {number.name}")
    return Died("timeout" if number.name == "SIGXCPU" else "crash", says)
