"""Events of `torch.cuda`, for PyTorch's and Triton's stand-ins."""

from __future__ import annotations

import time


class Event:
    """`torch.cuda.Event`: the time between two is this computer's, not a GPU's."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False):
        self._at: float | None = None

    def record(self, stream: object = None) -> None:
        """Take the time; work has ended when a call returns."""
        self._at = time.perf_counter()

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds of this computer until `end`. Errors: RuntimeError where one hasn't been recorded."""
        if self._at is None or end._at is None:
            raise RuntimeError("an event has no time before event.record() was called")
        return 1000 * (end._at - self._at)

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def wait(self, stream: object = None) -> None:
        """Nothing to wait for."""

    def query(self) -> bool:
        """True: the work before it has ended."""
        return True
