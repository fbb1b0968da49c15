"""Operations of the host on the GPU, in order: queues (streams) and what is submitted to them.

Every operation runs immediately, in program order, which is one of the orders that CUDA allows. A recording shows the
other allowed orders: while there is a recorder, every operation is noted with its queue, its bytes or launch, and the
memory it touches. `tools.streams` computes schedules and hazards from it. A queue under capture runs nothing: `graphs`
keeps the operation for later.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from vgpu.base import own, words
from vgpu.operations import recorders
from vgpu.operations.accesses import Touch, access, named_after, span
from vgpu.operations.operation import KernelLaunch, NumPyCall, Operation
from vgpu.operations.pinned import PinnedArray, is_pinned, registered
from vgpu.operations.queues import (
    LEGACY,
    PRIORITIES,
    CaptureError,
    CUDARuntimeError,
    Queue,
    find_queue,
    new_queue,
)
from vgpu.operations.recorders import REFUSED, capturing, listening, note, recording, unobserved
from vgpu.ptx import Instruction
from vgpu.storage.host import size_text

if TYPE_CHECKING:
    from vgpu.launch.launch import Kernel, Prepared
    from vgpu.storage.memory import ArrayInfo

Sizes: TypeAlias = int | Sequence[int]

__all__ = [
    "LEGACY",
    "PRIORITIES",
    "REFUSED",
    "CUDARuntimeError",
    "CaptureError",
    "KernelLaunch",
    "NumPyCall",
    "Operation",
    "PinnedArray",
    "Queue",
    "Touch",
    "access",
    "capturing",
    "copy",
    "device_copy",
    "find_queue",
    "is_pinned",
    "kernel",
    "listening",
    "new_queue",
    "note",
    "recording",
    "refuse_captured",
    "registered",
    "span",
    "submit",
    "synchronise",
    "unobserved",
]  # fmt: skip


def submit(
    queue: Queue, operation: Operation, run: Callable[[], Operation | None], prepared: Prepared | None = None
) -> None:
    """Run an operation in a queue and note it, or add it to the capture of its queue.

    `run` does the work, and may return the operation with details that are known only after it. `prepared` is the
    launch that a graph repeats, if the operation is one.
    """
    from vgpu.operations import graphs

    operation = replace(operation, queue=queue)
    graphs.check(queue, operation)
    if queue.capture is not None:
        queue.capture.add(queue, operation, run, prepared)
        return
    note(run() or operation)


def _waits(kernel: Kernel) -> bool:
    """Whether a kernel, or a function in its module, waits for the kernels that it depends on."""
    functions = kernel.module.module.functions.values()
    return any(
        statement.opcode == "griddepcontrol" and "wait" in statement.modifiers
        for function in functions if function is kernel.function or not function.entry
        for statement in function.body or () if isinstance(statement, Instruction)
    )  # fmt: skip


def kernel(
    queue: Queue,
    loaded: Kernel,
    grid: Sizes,
    block: Sizes,
    params: Sequence[bytes],
    arrays: Sequence[ArrayInfo],
    shared_bytes: int = 0,
    finish: Callable[[], None] | None = None,
    cooperative: bool = False,
    dependent: bool = False,
) -> None:
    """Launch a loaded kernel in a queue; `finish` is called after it has run.

    `dependent`: a GPU may begin it before the kernel in front of it has ended (programmatic dependent launch); here it
    begins afterwards, and is marked `early` if it never waits for the other one.
    """
    from vgpu.launch import launch

    def do() -> None:
        launch.launch(loaded, grid, block, params, arrays, shared_bytes, cooperative=cooperative)

    if unobserved():
        do()
        if finish is not None:
            finish()
        return
    blocks = _tuple(grid)
    label = f"{loaded.name} ({words.sizes(blocks)} block{'s' * (math.prod(blocks) != 1)})"
    does = KernelLaunch(blocks, _tuple(block), tuple(params), tuple(arrays), shared_bytes, cooperative)
    submitted = Operation(
        "kernel", label=label, asynchronous=True, kernel=loaded, does=does, early=dependent and not _waits(loaded)
    )
    prepared = None
    if queue.capture is not None:
        prepared = launch.Prepared(
            loaded, list(params), list(arrays), shared_bytes, finish or (lambda: None),
            *launch.check_dimensions(grid, block), cooperative,
        )  # fmt: skip

    def run() -> Operation | None:
        seen = recorders.launched(do)
        if finish is not None and replayed:
            finish()
        if seen is None:
            return None
        counters, touched = seen
        return replace(submitted, queue=queue, counters=counters, accesses=named_after(touched, arrays))

    replayed = queue.capture is not None
    submit(queue, submitted, run, prepared)
    if finish is not None and not replayed:
        finish()  # after the launch was noted: it may copy results back


def copy(
    queue: Queue,
    kind: str,
    host: np.ndarray | None,
    device: np.ndarray,
    run: Callable[[], object],
    *,
    asynchronous: bool,
    value: int = 0,
) -> None:
    """A copy between host and device memory ("H2D", "D2H"; without `host` a "memset" to `value`): `run` does it.

    With pageable memory the host always waits, since the data goes through a staging buffer.
    """
    if unobserved():
        with own.LAUNCHING:
            run()
        return
    pinned = None if host is None else is_pinned(host)
    touched = access(device, kind != "D2H")
    if host is not None:
        touched += access(host, kind == "D2H", "the host's buffer")
    source, target = (device, host) if kind == "D2H" else (value if host is None else host, device)
    submitted = Operation(
        kind,
        label=f"{kind} {size_text(device.nbytes)}",
        nbytes=device.nbytes,
        pinned=pinned,
        asynchronous=asynchronous,
        waits=host is not None and not (asynchronous and pinned),
        accesses=touched,
        does=NumPyCall("copy", (source,), () if target is None else (target,)),
    )

    def do() -> None:
        with own.LAUNCHING:
            run()

    submit(queue, submitted, do)


def device_copy(
    queue: Queue, label: str, source: np.ndarray, target: np.ndarray, run: Callable[[], Operation | None]
) -> None:
    """A copy within device memory: `run` does it."""
    touched = access(source, False) + access(target, True)
    does = NumPyCall("copy", (source,), (target,))
    submitted = Operation("D2D", None, label, target.nbytes, asynchronous=True, accesses=touched, does=does)
    submit(queue, submitted, run)


def synchronise(queue: Queue | None = None, event: object = None) -> None:
    """The host waits: for a queue, for an event, or for everything; an error under capture."""
    if unobserved():
        return
    from vgpu.operations import graphs

    operation = Operation("synchronise", queue, event=event, waits=True)
    graphs.check(queue, operation)
    note(operation)


def refuse_captured(queue: Queue, what: str) -> None:
    """Raise, when the queue is under capture, for work that NumPy does and a graph can't run again."""
    if not capturing:
        return
    from vgpu.operations import graphs

    if queue.capture is not None:
        graphs.abandon(queue)
        raise graphs.uncapturable(what)
    graphs.check(queue, Operation("array", queue, what))


def _tuple(sizes: Sizes) -> tuple[int, ...]:
    return tuple(map(int, sizes)) if isinstance(sizes, Sequence) else (int(sizes),)
