"""Record what a real GPU does, with PyTorch's profiler: the work of CuPy, Numba, PyTorch and Triton.

The profiler is PyTorch's because every installation has it; behind it CUPTI records the whole process (NVIDIA, CUPTI
documentation, Activity API). CUDA events alone wouldn't do: they show only the streams and libraries that record them,
and only the time between events.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vgpu.base.errors import Unsupported
from vgpu.hardware import gpus
from vgpu.tools.streams.exported import DEFAULT_STREAM, PROGRAM, Exported, RecordingError, read
from vgpu.tools.streams.listing import Listed, ListedOperation
from vgpu.tools.streams.profiler_lock import Busy, exclusive

if TYPE_CHECKING:
    from vgpu.hardware.gpus import GPU
    from vgpu.tools.streams.spans import Schedule

_INSTEAD = "VGPU_BACKEND=virtual, set before Python starts, models the schedule on any machine."


class MeasuredTimeline(Listed):
    """What a real GPU did in one recording, with the methods of the virtual GPU's `Timeline`.

    `gpu` is its name, `row` its row of `gpus.GPUS`. Everything is known once the with block has ended.
    """

    def __init__(self, gpu: str, row: GPU, device: int = 0):
        self.gpu, self.row, self.device = gpu, row, device
        self._trace: bytes | None = None
        self._read: Exported | None = None

    def rows(self) -> list[ListedOperation]:
        """The kernels, copies, memsets and the host's waits, in the order they were issued.

        Raises `RecordingError` as `schedule` does.
        """
        return list(self._recording().rows)

    def schedule(self, gpu: GPU | str | None = None) -> Schedule:
        """When each operation ran on this GPU: measured seconds from the first span.

        Raises `RecordingError` before the with block has ended and where nothing was recorded, saying why; ValueError
        for another `gpu` than this one, for which only the virtual GPU has an answer.
        """
        self._check(gpu)
        return self._recording().schedule

    def elapsed(self, start: Any, end: Any, gpu: GPU | str | None = None) -> float:
        """Measured milliseconds between two CUDA events, both of CuPy, of Numba or of PyTorch; waits for the second.

        Raises ValueError for events without a time between them, and for another `gpu` than this one. Whether they
        were recorded within this recording can't be checked.
        """
        self._check(gpu)
        try:
            end.synchronize()
            if hasattr(start, "elapsed_time"):
                return float(start.elapsed_time(end))
            return float(import_module("cupy").cuda.get_elapsed_time(start, end))
        except Exception as error:
            raise ValueError(
                f"CUDA gives no time between these events ({error}): record both, in streams of this device, and make "
                "them with timing (not disable_timing=True; in PyTorch with enable_timing=True)"
            ) from error

    def hazards(self) -> list:
        """Raises Unsupported: only the virtual GPU sees which memory a kernel touches."""
        raise _only_virtual("hazards", "which bytes each operation touches")

    def findings(self) -> list[str]:
        """Raises Unsupported: only the virtual GPU sees every operation of a stream."""
        raise _only_virtual("findings", "every operation of each stream and event")

    def steps(self) -> list:
        """Raises Unsupported: only the virtual GPU sees which operation follows which."""
        raise _only_virtual("steps", "which operation has to follow which")

    def host_read(self, array: np.ndarray) -> None:
        """Nothing to do on a real GPU, where hazards aren't looked for."""

    def host_write(self, array: np.ndarray) -> None:
        """Nothing to do on a real GPU, where hazards aren't looked for."""

    def __repr__(self) -> str:
        return self._missing() or super().__repr__()

    def _repr_html_(self) -> str:
        missing = self._missing()
        return f"<p>{escape(missing)}</p>" if missing else super()._repr_html_()

    def _missing(self) -> str:
        """Why there is nothing to show; "" where there is something. A repr shouldn't raise."""
        try:
            self._recording()
        except RecordingError as error:
            return f"Timeline of {self.gpu}, empty: {error}"
        return ""

    def _check(self, gpu: GPU | str | None) -> None:
        if gpu is None:
            return
        row = gpus.find(gpu) if isinstance(gpu, str) else getattr(gpu, "models", gpu)
        if row != self.row:
            raise ValueError(
                f"this schedule was measured on {self.gpu}: leave `gpu` out. For {row.name} it can only be modelled. "
                f"{_INSTEAD}"
            )

    def _recording(self) -> Exported:
        if self._read is None:
            if self._trace is None:
                raise RecordingError(
                    "the recording has no trace yet: it is available after the with block has ended. Where the block "
                    "ended in an error nothing is kept."
                )
            self._read = read(self._trace, self.gpu, self.device)
        return self._read


def _only_virtual(what: str, needs: str) -> Unsupported:
    return Unsupported(
        f"{what} need {needs}, and CUDA records only when things ran. Set VGPU_BACKEND=virtual before Python "
        "starts and run the same program on the virtual GPU."
    )


@contextlib.contextmanager
def measure() -> Iterator[MeasuredTimeline]:
    """Record what the current GPU does in the with block; begins and ends with a wait for it.

    Raises `RecordingError` within another recording, where PyTorch does not see the GPU, and where its profiler
    cannot be had.
    """
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(exclusive())
        except Busy as error:
            raise RecordingError(str(error)) from None
        yield from _measured(_torch())


def _measured(torch: Any) -> Iterator[MeasuredTimeline]:
    device = torch.cuda.current_device()
    name = torch.cuda.get_device_name(device)
    timeline = MeasuredTimeline(name, gpus.nearest(name, torch.cuda.get_device_capability(device)), device)
    probe = torch.empty(1, device="cuda")
    mark = torch.profiler.record_function
    torch.cuda.synchronize()
    profiler = _started(torch)
    ended = False
    try:
        with mark(DEFAULT_STREAM), torch.cuda.stream(torch.cuda.default_stream()):
            probe.zero_()
        torch.cuda.synchronize()
        with mark(PROGRAM):
            yield timeline
        # CUPTI drops what ends after the profiler stops.
        torch.cuda.synchronize()
        ended = True
    finally:
        with contextlib.nullcontext() if ended else contextlib.suppress(Exception):
            profiler.stop()  # after an error in the block, raise that one
    timeline._trace = _exported(profiler)


def _torch() -> Any:
    # No progress messages of Kineto on standard error. The variable is read when PyTorch is loaded.
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    try:
        torch = import_module("torch")
    except ImportError as error:
        raise RecordingError(
            f"a recording on a real GPU needs PyTorch's profiler, and PyTorch cannot be imported ({error}). Install "
            f"it: python -m pip install torch. {_INSTEAD}"
        ) from error
    if not torch.cuda.is_available():
        built = getattr(torch.version, "cuda", None)
        why = f"is built for CUDA {built} and finds no GPU" if built else "is built without CUDA"
        raise RecordingError(
            f"a recording on a real GPU needs PyTorch's profiler, and PyTorch {torch.__version__} {why}. Install "
            f"PyTorch for your driver's CUDA. {_INSTEAD}"
        )
    activities = torch.profiler.supported_activities()
    if torch.profiler.ProfilerActivity.CUDA not in activities:
        raise RecordingError(
            f"this PyTorch ({torch.__version__}) was built without CUPTI, so its profiler does not see the GPU. "
            f"Install the wheels of pytorch.org, or look with Nsight Systems. {_INSTEAD}"
        )
    return torch


def _started(torch: Any) -> Any:
    activity = torch.profiler.ProfilerActivity
    try:
        # The host's waits through the driver (Numba's) are recorded only on request.
        options = {"experimental_config": torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True)}
    except (AttributeError, TypeError):
        options = {}  # the setting is not part of PyTorch's promised interface
    profiler = torch.profiler.profile(activities=[activity.CPU, activity.CUDA], **options)
    try:
        if getattr(torch.autograd.profiler, "_is_profiler_enabled", False):
            # PyTorch itself lets a second one start, and the first loses what it has.
            raise RuntimeError("another of its profilers is running")
        profiler.start()
    except RuntimeError as error:
        raise RecordingError(
            f"PyTorch's profiler did not start ({error}). One profiler runs at a time: end the one around this "
            "recording first (torch.profiler.profile, torch.autograd.profiler)."
        ) from error
    return profiler


def _exported(profiler: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        return path.read_bytes()
