"""What the host asks of the GPU, in order: queues (streams), and the operations given to them.

Everything runs at once, in the order of the program, which is one of the orders CUDA allows. What CUDA would have
been free to do instead can be told from a recording: while a recorder listens, every operation is noted with its
queue, its bytes or launch, and the memory it touches. `results.streams` makes schedules and hazards of that. A queue
under capture runs nothing: `graphs` keeps the operation for later.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from vgpu.base import own
from vgpu.operations import recorders
from vgpu.operations.accesses import Touch, access, named_after, span
from vgpu.operations.operation import Call, Launch, Operation
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
from vgpu.operations.recorders import capturing, listening, note, recording, unheard
from vgpu.storage.host import size_text

__all__ = [
    "LEGACY",
    "PRIORITIES",
    "CUDARuntimeError",
    "Call",
    "CaptureError",
    "Launch",
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
    "unheard",
]  # fmt: skip


def submit(queue: Queue, operation: Operation, run: Callable[[], Operation | None]) -> None:
    """Run an operation in a queue and note it; or keep it, when the queue is under capture.

    `run` does the work, and may return the operation with what only the run has shown.
    """
    from vgpu.operations import graphs

    operation = replace(operation, queue=queue)
    graphs.check(queue, operation)
    if queue.capture is not None:
        queue.capture.add(queue, operation, run)
        return
    note(run() or operation)


def kernel(queue: Queue, loaded, grid, block, params, arrays, shared_bytes: int = 0, finish=None, **options) -> None:
    """Launch a loaded kernel in a queue; `finish` is called after it has run."""
    from vgpu.launch import launch

    def do() -> None:
        launch.launch(loaded, grid, block, params, arrays, shared_bytes, **options)

    if unheard():
        do()
        if finish is not None:
            finish()
        return
    blocks = _sizes(grid)
    label = f"{loaded.name} ({'×'.join(map(str, blocks))} block{'s' * (math.prod(blocks) != 1)})"
    does = Launch(_three(grid), _three(block), tuple(params), tuple(arrays), shared_bytes, **_cooperative(options))
    asked = Operation("kernel", label=label, asynchronous=True, kernel=loaded, does=does)
    if queue.capture is not None:
        launch.check_dimensions(grid, block)

    def run() -> Operation | None:
        seen = recorders.launched(do)
        if finish is not None and replayed:
            finish()
        if seen is None:
            return None
        counters, touched = seen
        return replace(asked, queue=queue, counters=counters, accesses=named_after(touched, arrays))

    replayed = queue.capture is not None
    submit(queue, asked, run)
    if finish is not None and not replayed:
        finish()  # after the launch was noted: it may copy results back


def copy(
    queue: Queue, kind: str, host: np.ndarray | None, device: np.ndarray, run, *, asynchronous: bool, value: int = 0
) -> None:
    """A copy between host and device memory ("H2D", "D2H"; without `host` a "memset" to `value`): `run` does it.

    From or to pageable memory the host waits whatever it asked for: the data goes through a staging buffer.
    """
    if unheard():
        with own.LAUNCHING:
            run()
        return
    pinned = None if host is None else is_pinned(host)
    touched = access(device, kind != "D2H")
    if host is not None:
        touched += access(host, kind == "D2H", "the host's buffer")
    asked = Operation(
        kind,
        label=f"{kind} {size_text(device.nbytes)}",
        nbytes=device.nbytes,
        pinned=pinned,
        asynchronous=asynchronous,
        waits=host is not None and not (asynchronous and pinned),
        accesses=touched,
        does=Call("copy", (device if kind == "D2H" else value if host is None else host,),
                  (host if kind == "D2H" else device,)),
    )  # fmt: skip

    def do() -> None:
        with own.LAUNCHING:
            run()

    submit(queue, asked, do)


def device_copy(queue: Queue, label: str, source: np.ndarray, target: np.ndarray, run) -> None:
    """A copy between two places on the device: `run` does it."""
    touched = access(source, False) + access(target, True)
    does = Call("copy", (source,), (target,))
    asked = Operation("D2D", None, label, target.nbytes, asynchronous=True, accesses=touched, does=does)
    submit(queue, asked, run)


def synchronise(queue: Queue | None = None, event=None) -> None:
    """The host waits: for a queue, for an event, or for everything; an error under capture."""
    if unheard():
        return
    from vgpu.operations import graphs

    operation = Operation("synchronise", queue, event=event, waits=True)
    graphs.check(queue, operation)
    note(operation)


def refuse_captured(queue: Queue, what: str) -> None:
    """Raise for work that NumPy does here when the queue is under capture: it could not be run again."""
    if not capturing:
        return
    from vgpu.operations import graphs

    if queue.capture is not None:
        graphs.abandon(queue)
        raise graphs.uncapturable(what)
    graphs.check(queue, Operation("array", queue, what))


def _three(sizes) -> tuple[int, ...]:
    return tuple(map(int, sizes)) if isinstance(sizes, (tuple, list)) else (int(sizes),)


def _cooperative(options: dict) -> dict:
    return {"cooperative": bool(options.get("cooperative"))}


def _sizes(grid) -> tuple[int, ...]:
    sizes = tuple(grid) if isinstance(grid, (tuple, list)) else (grid,)
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes = sizes[:-1]
    return sizes
