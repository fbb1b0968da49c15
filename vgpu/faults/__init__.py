"""Errors for the faults of compiled code, with messages that say what happened, where, and the usual fix.

`access` has the messages for accesses out of bounds or misaligned, `asynchronous` those for mbarriers and copies,
`calls` for stacks and function pointers, `heap` for wrong frees, `tensor_memory` and `texture` for those; the others
are here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vgpu.base.context import ERRORS, LAUNCH_SLOT
from vgpu.base.errors import Deadlock, DeviceAssert, KernelError, KernelTimeout, Misaligned, OutOfBounds, PartialWarp
from vgpu.faults import access, asynchronous, calls, heap, tensor_memory, texture
from vgpu.faults.scene import ENDED, Fault, LoadedKernel, RunningGrid, RunningWorker, Scene, short
from vgpu.isa import tensor

if TYPE_CHECKING:
    from vgpu.lower import Lowered
    from vgpu.storage.memory import ArrayInfo


def owner(worker: RunningWorker, run: RunningGrid, address: int) -> tuple[int, ...]:
    """The thread (its number in the block) whose local memory a generic address lies in, or ENDED for the shared memory
    of another block of a cluster that has ended; () for other addresses."""
    offset, nbytes = address - worker["local_base"], run.lowered.local_bytes
    if 0 <= offset < worker.areas["local"]:
        return (offset // nbytes,)
    return (ENDED,) if worker.in_ended_block(address) else ()


def failed(worker: RunningWorker, run: RunningGrid) -> Fault:
    """The fault that stopped a worker."""
    kind = ERRORS[worker["error"]]
    site = worker["error_site"]
    if kind in ("assert", "host"):
        site >>= 8  # the low bits say what was called
    detail: tuple[Any, ...] = ()
    if kind == "assert":
        detail = run.assertion
    elif kind == "host":
        detail = (run.host_error,)
    elif kind == "bounds":
        detail = owner(worker, run, worker["error_address"])
    elif kind == "stalled" or kind.startswith("barrier"):
        detail = asynchronous.barrier_word(worker)
    elif kind == "texture":
        lanes = worker.texture_data[:384].view(np.int32).reshape(3, 32)
        detail = tuple(int(row[worker["error_lane"]]) for row in lanes)
    counters = worker.program_counters() if kind == "deadlock" else ()
    block, warp, lane, address = (worker[f"error_{name}"] for name in ("block", "warp", "lane", "address"))
    return Fault(kind, block, warp, lane, site, address, counters, detail)


def timed_out(worker: RunningWorker, run: RunningGrid) -> Fault:
    """The fault of a block that still ran when time was up."""
    return Fault("timeout", worker["block"], program_counters=worker.program_counters(), seconds=run.timeout)


def unfinished(run: RunningGrid) -> Fault:
    """The fault of a launch whose time was up, though every block that had begun ended."""
    return Fault("unfinished", run.blocks - run.missing, detail=(run.missing, run.blocks), seconds=run.timeout)


def all_wait(run: RunningGrid) -> Fault:
    """The deadlock of resident blocks that all wait for memory to change, with no thread left to change it."""
    resident = sorted(found for worker in run.workers for found in worker.resident())
    lanes = run.workers[0].program_counters
    detail = tuple((block, lanes(states)) for block, states in resident)
    started = int(run.shared[LAUNCH_SLOT["next_block"]])
    unstarted = max(run.blocks - started, 0)
    return Fault("all wait", resident[0][0], program_counters=detail[0][1], detail=(detail, unstarted))


def error(
    kernel: LoadedKernel,
    lowered: Lowered,
    fault: Fault,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    arrays: Sequence[ArrayInfo],
) -> KernelError:
    """The exception for a fault."""
    return _BUILDERS[fault.kind](Scene(kernel, lowered, fault, grid, block, arrays))


def _deadlock(scene: Scene) -> KernelError:
    threads_at: dict[int | None, list[tuple[int, int, int]]] = {}
    for line, thread, _ in scene.live_threads():
        threads_at.setdefault(line, []).append(thread)
    positions = "\n".join(
        f"  {len(threads)} threads, the first {scene.named(threads[0])}, wait at "
        f"{scene.at_line(line) or 'an unknown line'}"
        for line, threads in sorted(threads_at.items(), key=lambda item: item[0] or 0)
    )
    line = min((number for number in threads_at if number is not None), default=None)
    return Deadlock(
        f"deadlock: in block {scene.named_block()} threads wait at different barriers, so none can go on.\n"
        f"{positions}\n  Usual fix: every thread of a block must reach the same barrier: move it out of the branch.",
        line=line, block=scene.block, thread=next((threads[0] for threads in threads_at.values()), None),
    )  # fmt: skip


def _all_wait(scene: Scene) -> KernelError:
    blocks, unstarted = scene.fault.detail
    blocks_at: dict[int | None, dict[int, tuple[int, int, int]]] = {}
    for block, counters in blocks:
        for line, thread, at_barrier in scene.live_threads(counters):
            if not at_barrier:
                blocks_at.setdefault(line, {}).setdefault(block, thread)
    total = scene.grid[0] * scene.grid[1] * scene.grid[2]
    positions = "\n".join(
        f"  {len(found)} {'block waits' if len(found) == 1 else 'blocks wait'}, the first "
        f"{short(scene.block_index(min(found)), scene.grid)} in thread {scene.named(found[min(found)])}, "
        f"at {scene.at_line(line) or 'an unknown line'}"
        for line, found in sorted(blocks_at.items(), key=lambda item: item[0] or 0)
    )
    ended = total - len(blocks) - unstarted
    rest = f"  {ended} of the {total} blocks have ended.\n" if ended else ""
    rest += f"  {unstarted} blocks cannot start before others end: the GPU is full.\n" if unstarted else ""
    line = min((number for number in blocks_at if number is not None), default=None)
    first = next(iter(blocks_at[line].values())) if blocks_at.get(line) else None
    return Deadlock(
        "deadlock: blocks wait for memory to change, and no thread is left that could change it.\n"
        f"{positions}\n{rest}  Usual fix: every block must reach every barrier of the grid, so move it out of the "
        "branch or loop that some blocks skip; where a block waits for a flag, make sure that another one sets it.",
        line=line, block=scene.block, thread=first,
    )  # fmt: skip


def _running(scene: Scene) -> tuple[str, int | None, tuple[int, int, int] | None]:
    """Where a stopped block was: in words, and the line and thread."""
    running = [(line, thread) for line, thread, waits in scene.live_threads() if not waits]
    line, thread = running[0] if running else (None, None)
    who = f"thread {scene.named(thread)} of block {scene.named_block()} is still" if thread else "threads are still"
    return f"{who} at {scene.at_line(line) or 'an unknown line'}", line, thread


def whereabouts(
    kernel: LoadedKernel, lowered: Lowered, fault: Fault, grid: tuple[int, int, int], block: tuple[int, int, int]
) -> str:
    """One sentence that says where an interrupted kernel was."""
    words, _, _ = _running(Scene(kernel, lowered, fault, grid, block, ()))
    return f"The kernel {kernel.name} was interrupted: {words.replace(' is still', ' was')}"


def _timeout(scene: Scene) -> KernelError:
    words, line, thread = _running(scene)
    return KernelTimeout(
        f"the kernel did not end within {scene.fault.seconds:g} s: {words}\n"
        "  Usual fix: check that the loop's condition changes in every thread. If the kernel only needs longer, set "
        "the environment variable VGPU_TIMEOUT to more seconds.",
        line=line, thread=thread, block=scene.block,
    )  # fmt: skip


def _unfinished(scene: Scene) -> KernelError:
    missing, blocks = scene.fault.detail
    return KernelTimeout(
        f"the kernel {scene.kernel.name} did not end within {scene.fault.seconds:g} s: {blocks - missing} of its "
        f"{blocks} blocks had begun, and none of them hangs.\n"
        "  Usual fix: check the size of the grid, which is the number of blocks, not of threads. If the kernel only "
        "needs longer, set the environment variable VGPU_TIMEOUT to more seconds.",
        block=scene.block,
    )  # fmt: skip


def _assert(scene: Scene) -> KernelError:
    what = scene.fault.detail[0].decode(errors="replace") if scene.fault.detail else "assertion"
    return DeviceAssert(
        f"assertion `{what}` failed in {scene.where()}.\n  {scene.at_line(scene.line)}", **scene.keywords()
    )


def _trap(scene: Scene) -> KernelError:
    fix = ""
    if "%envreg" in scene.kernel.ptx or "cudaCGSynchronize" in scene.kernel.ptx:
        fix = (
            "\n  Usual fix: a barrier of the whole grid needs a cooperative launch: "
            "cp.RawKernel(…, enable_cooperative_groups=True)."
        )
    at = "" if scene.line is None else f"\n  {scene.at_line(scene.line)}"
    return DeviceAssert(f"{scene.where()} executed a trap.{at}{fix}", **scene.keywords())


def _host(scene: Scene) -> KernelError:
    cause = scene.fault.detail[0] if scene.fault.detail else None
    failure = KernelError(f"printf failed in {scene.where()}: {cause}", **scene.keywords())
    failure.__cause__ = cause
    return failure


def _partial(scene: Scene) -> KernelError:
    count = (scene.fault.address & 0xFFFFFFFF).bit_count()
    return PartialWarp(
        f"part of a warp: {scene.where()} and {count - 1} others of its warp execute `{scene.site.instruction}`, which "
        f"needs all 32.\n  {scene.at_line(scene.line)}\n  Usual fix: let whole warps reach it: choose by warp "
        "(`threadIdx.x / 32`), not by thread, and make the threads of a block a multiple of 32.",
        **scene.keywords(),
    )


def _unlike(scene: Scene) -> KernelError:
    return PartialWarp(
        f"unlike lanes: {scene.where()} gives `{scene.site.instruction}` another address or row length than the first "
        f"thread of its warp.\n  {scene.at_line(scene.line)}\n  Usual fix: the whole warp moves one matrix: compute "
        "its address from the warp's number (`threadIdx.x / 32`), not from the thread's.",
        **scene.keywords(),
    )


def _warpgroup(scene: Scene) -> KernelError:
    return PartialWarp(
        f"part of a warpgroup: {scene.where()} executes `{scene.site.instruction}`, which needs four warps, the first "
        f"a multiple of 4; the block has {scene.fault.address} warps.\n  {scene.at_line(scene.line)}\n  Usual fix: "
        "make the threads of a block a multiple of 128, and choose what they do by warpgroup (`threadIdx.x / 128`).",
        **scene.keywords(),
    )


def _descriptor(scene: Scene) -> KernelError:
    return OutOfBounds(
        f"out of bounds: {scene.where()} gives `{scene.site.instruction}` the descriptor of a matrix that reaches to "
        f"byte {scene.fault.address} of the block's shared memory, which has fewer.\n  {scene.at_line(scene.line)}\n"
        "  Usual fix: check the descriptor: address and both distances without their low 4 bits (the address as "
        "`__cvta_generic_to_shared` gives it), the swizzling mode, and that the tile has as many rows as the product.",
        address=scene.fault.address,
        **scene.keywords(),
    )


def _stride(scene: Scene) -> KernelError:
    found = tensor.move(scene.site.instruction.modifiers)
    assert found is not None, "only moves of matrices have row lengths"
    elements = 8 * found.grain // found.unit
    return Misaligned(
        f"misaligned: {scene.where()} gives a row length of {scene.fault.address} elements to "
        f"`{scene.site.instruction}`, which is no multiple of {found.grain} bytes.\n  {scene.at_line(scene.line)}\n"
        f"  Usual fix: pad the rows to a multiple of {elements} elements.",
        **scene.keywords(),
    )


def _bar_number(scene: Scene) -> KernelError:
    return KernelError(
        f"no such barrier: {scene.where()} comes to barrier {scene.fault.address} of its block, and a block has 0 to "
        f"15.\n  {scene.at_line(scene.line)}\n  Usual fix: check how the barrier's number is computed.",
        **scene.keywords(),
    )


_BUILDERS = {
    "deadlock": _deadlock, "timeout": _timeout, "unfinished": _unfinished, "assert": _assert,
    "trap": _trap, "host": _host, "partial": _partial, "bar_number": _bar_number, "unlike": _unlike, "stride": _stride,
    "warpgroup": _warpgroup, "descriptor": _descriptor,
    "texture": texture.error, "all wait": _all_wait,
    **access.BUILDERS, **asynchronous.BUILDERS, **calls.BUILDERS, **heap.BUILDERS,
    **tensor_memory.BUILDERS,
}  # fmt: skip
