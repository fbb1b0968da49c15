"""Record a program's stream operations: when each runs, what CUDA doesn't order, and what costs time.

    with streams.record() as timeline:
        …                                # copies, launches, events, graphs, of CuPy and of Numba
    timeline.schedule()                  # spans on copy engines and SMs: measured on a GPU, modelled elsewhere
    timeline.hazards()                   # conflicting accesses that nothing orders
    timeline.findings()                  # what costs time without being wrong

    streams.schedule(program, *args)     # both in one, for a function that issues the work
    streams.dry_run(program).hazards()   # on any machine

The virtual GPU runs each operation as soon as it is issued, which is one of the orders that CUDA allows. So a program
with hazards gives right results here and may give wrong ones on a GPU. Hazards and findings need what only the virtual
GPU sees; on a real one `measured` records when operations ran, and `dry_run` gives the rest.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from vgpu.hardware import gpus
from vgpu.hardware.device import current
from vgpu.hardware.gpus import GPU
from vgpu.launch.counters import Counters
from vgpu.launch.launch import Kernel
from vgpu.tools.profile import modelled
from vgpu.tools.streams import model as stream_schedule
from vgpu.tools.streams import order
from vgpu.tools.streams.listing import Listed, ListedOperation, NumberedList
from vgpu.tools.streams.measured import MeasuredTimeline, measure
from vgpu.tools.streams.model import Work

if TYPE_CHECKING:
    from vgpu.operations import Operation, Queue
    from vgpu.tools.streams.order import Hazard
    from vgpu.tools.streams.spans import Schedule

# A kernel that was not counted takes next to no time: only its launch shows.
_SMALLEST = 1e-6


class Timeline(Listed):
    """The operations of one recording of the virtual GPU, in the program's order."""

    def __init__(self, operations: list[Operation]):
        self.operations = operations

    def __len__(self) -> int:
        return len(self.operations)

    def steps(self) -> list[order.Ordered]:
        """The operations, graphs split into nodes, each with those it has to follow."""
        self._number_streams()
        return order.steps(self.operations)

    def schedule(self, gpu: GPU | str | None = None) -> Schedule:
        """When each operation would run on `gpu` (else the one chosen by `device("…")`): modelled seconds.

        Raises ValueError where no document gives the link between that GPU and its host, and KeyError for a name that
        is not in the table.
        """
        return self._modelled(gpu)[0]

    def elapsed(self, start: object, end: object, gpu: GPU | str | None = None) -> float:
        """Modelled milliseconds between two events that were recorded in this recording, on `gpu`.

        Raises ValueError for an event that was not. What `get_elapsed_time` gives is the host's clock instead.
        """
        _, found, ends = self._modelled(gpu)
        times = {step.operation.event: at for step, at in zip(found, ends, strict=True)
                 if step.operation.kind == "record"}  # fmt: skip
        for event, name in ((start, "start"), (end, "end")):
            if event not in times:
                raise ValueError(f"the {name} event was not recorded within this recording")
        return 1e3 * (times[end] - times[start])

    def hazards(self) -> list[Hazard]:
        """Pairs of operations that touch the same bytes, one of them writing, in an order that nothing guarantees.

        A kernel's accesses are known by sectors of 32 bytes. Two kernels that touch one sector at the edges of their
        parts count as separate.
        """
        return NumberedList(order.hazards(self.steps()), "No hazards: what touches the same bytes is in order.")

    def findings(self) -> list[str]:
        """What costs time or does nothing, without being wrong: pageable copies, the default stream, empty waits."""
        self._number_streams()
        return NumberedList(order.findings(self.operations), "Nothing found that wastes time.")

    def host_read(self, array: np.ndarray) -> None:
        """Note in the recording that the host reads this array here: accesses to NumPy arrays aren't recorded."""
        self._host(array, False)

    def host_write(self, array: np.ndarray) -> None:
        """Note in the recording that the host writes this array here."""
        self._host(array, True)

    def _host(self, array: np.ndarray, writes: bool) -> None:
        from vgpu import operations

        kind = "host write" if writes else "host read"
        touched = operations.access(np.asarray(array), writes, "the host's buffer")
        operations.note(operations.Operation(kind, label=kind, accesses=touched))

    def _modelled(self, gpu: GPU | str | None) -> tuple[Schedule, list[order.Ordered], list[float]]:
        row = current() if gpu is None else gpus.find(gpu) if isinstance(gpu, str) else getattr(gpu, "models", gpu)
        if not isinstance(row, GPU):
            raise TypeError(f'a schedule is for a GPU of the table, by name: schedule("A100"); got {gpu!r}')
        found = self.steps()
        result, ends = stream_schedule.schedule(found, [work_of(step.operation, row) for step in found], row)
        return result, found, ends

    def _number_streams(self) -> None:
        numbers: dict[Queue, int] = {}
        for operation in self.operations:
            for each in (operation, *(node for node, _ in operation.nodes)):
                if each.queue is not None and each.queue.kind == "stream":
                    each.queue.number = numbers.setdefault(each.queue, len(numbers) + 1)

    def rows(self) -> list[ListedOperation]:
        self._number_streams()
        return [
            ListedOperation(order.stream_name(each.queue), each.kind, each.label, each.waits)
            for each in self.operations
        ]


@contextlib.contextmanager
def record() -> Iterator[Timeline | MeasuredTimeline]:
    """Record every operation of the with block: of this thread, and of threads that are started within it.

    A thread that ran before, such as one of a pool that an earlier cell has used, isn't recorded: make the pool inside.
    On the virtual GPU kernels are counted meanwhile, so each runs up to twice as long. On a real GPU the calls of all
    libraries are recorded, and the block ends with a wait for the GPU; raises `RecordingError` where that isn't
    possible.
    """
    from vgpu import operations
    from vgpu.standins.backend import on_gpu

    if on_gpu():
        with measure() as timeline:
            yield timeline
        return
    with operations.listening() as recorded:
        yield Timeline(recorded)


def schedule(program: Callable[..., object], *args: Any, **named: Any) -> Schedule:
    """When each operation of `program(*args, **named)` runs: measured on a GPU, else modelled.

    On a GPU the program runs twice, so that the recording doesn't show the compilation of its kernels. Under a
    profiler such as `ncu`, no other tool can record the GPU, so the schedule is modelled too.
    """
    from vgpu.base.profiler import profiled
    from vgpu.standins.backend import on_gpu

    if on_gpu() and profiled():
        return dry_run(program, *args, **named).schedule()
    if on_gpu():
        program(*args, **named)
    with record() as timeline:
        program(*args, **named)
    return timeline.schedule()


def dry_run(program: Callable[..., object], *args: Any, **named: Any) -> Timeline:
    """Run `program(*args, **named)` on the virtual GPU, on a machine with a GPU too, and record its operations.

    So hazards and findings are available everywhere. Where there is a GPU, the program runs with the stand-ins in place
    of CuPy and Numba, and with copies of their arrays: pinned memory has to be allocated in the program to count as
    such.
    """
    from vgpu import operations

    program, args, named = on_virtual_gpu(program, args, named)
    with operations.listening() as recorded:
        program(*args, **named)
    return Timeline(recorded)


def on_virtual_gpu(program: Callable[..., object], args: tuple, named: dict) -> tuple:
    """A program and its arguments as they run on the virtual GPU, on a machine with a GPU too."""
    from vgpu.standins.backend import on_gpu
    from vgpu.standins.translated import to_virtual

    return to_virtual((program, args, named)) if on_gpu() else (program, args, named)


def work_of(operation: Operation, gpu: GPU) -> Work:
    """What an operation needs of the GPU: its engine, and modelled seconds there; blocks too for a kernel."""
    kind = operation.kind
    if kind in ("H2D", "D2H"):
        return Work(kind, stream_schedule.copy_seconds(operation.nbytes, gpu, operation.pinned))
    if kind in ("D2D", "memset", "array"):
        touched = {"D2D": 2}.get(kind, 1) * operation.nbytes
        return Work("SMs", max(_SMALLEST, stream_schedule.memory_seconds(touched, gpu)))
    if kind != "kernel":
        return Work(None)
    if not isinstance(operation.counters, Counters) or not isinstance(operation.kernel, Kernel):
        return Work("SMs", _SMALLEST)
    held, model = modelled(operation.kernel, operation.counters, gpu)
    blocks = int(np.prod(operation.counters.grid))
    resident = max(1, held.blocks_per_sm * gpu.sms)
    return Work("SMs", max(0.0, model.seconds - model.terms["launch"]), blocks, resident)
