"""From a fault in compiled code to an error that teaches: what happened, where, and what usually mends it.

`access` has the words for accesses out of bounds or misaligned, `asynchronous` those for mbarriers and copies, `calls`
for stacks and pointers to functions, `heap` for wrong frees, `texture` for textures and surfaces; all others stand
here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vgpu.base.context import ERRORS, LAUNCH_SLOT, PC_DONE, PC_SYNC, PC_WAIT
from vgpu.base.errors import Deadlock, DeviceAssert, KernelError, KernelTimeout, Misaligned, PartialWarp
from vgpu.faults import access, asynchronous, calls, heap, texture
from vgpu.isa import tensor
from vgpu.ptx.lines import line_of


@dataclass(frozen=True)
class Fault:
    """What a worker saw: the kind, block, warp and lane, the site, and where the block's lanes stand."""

    kind: str
    block: int
    warp: int = 0
    lane: int = 0
    site: int = 0
    address: int = 0
    program_counters: tuple[int, ...] = ()
    detail: tuple = ()
    seconds: float = 0.0


def _owner(worker, run) -> tuple[int, ...]:
    """The number in its block of the thread whose local memory a generic address lies in; () for other addresses."""
    offset, nbytes = worker["error_address"] - worker["local_base"], run.lowered.local_bytes
    return (offset // nbytes,) if 0 <= offset < worker.areas["local"] else ()


def failed(worker, run) -> Fault:
    """The fault that stopped a worker."""
    kind = ERRORS[worker["error"]]
    site = worker["error_site"]
    if kind in ("assert", "host"):
        site >>= 8  # the low bits say what was called
    detail: tuple = ()
    if kind == "assert":
        detail = run.assertion
    elif kind == "host":
        detail = (run.host_error,)
    elif kind == "bounds":
        detail = _owner(worker, run)
    elif kind == "stalled" or kind.startswith("barrier"):
        detail = asynchronous.barrier_word(worker)
    elif kind == "texture":
        lanes = worker.texture_data[:384].view(np.int32).reshape(3, 32)
        detail = tuple(int(row[worker["error_lane"]]) for row in lanes)
    standing = worker.program_counters() if kind == "deadlock" else ()
    block = worker["error_block"]
    return Fault(
        kind,
        block,
        worker["error_warp"],
        worker["error_lane"],
        site,
        worker["error_address"],
        standing,
        detail,
    )


def timed_out(worker, run) -> Fault:
    return Fault("timeout", worker["block"], program_counters=worker.program_counters(), seconds=run.timeout)


def unfinished(run) -> Fault:
    """Time was up, though every block that had begun came to its end."""
    return Fault("unfinished", run.blocks - run.missing, detail=(run.missing, run.blocks), seconds=run.timeout)


def all_wait(run) -> Fault:
    """All blocks that are resident wait for memory to change, and nobody is left to change it."""
    resident = sorted(found for worker in run.workers for found in worker.resident())
    lanes = run.workers[0].program_counters
    detail = tuple((block, lanes(states)) for block, states in resident)
    started = int(run.shared[LAUNCH_SLOT["next_block"]])
    unstarted = max(run.blocks - started, 0)
    return Fault("all wait", resident[0][0], program_counters=detail[0][1], detail=(detail, unstarted))


def error(kernel, lowered, fault: Fault, grid, block, arrays) -> KernelError:
    """The exception for a fault."""
    return _BUILDERS[fault.kind](_Scene(kernel, lowered, fault, grid, block, arrays))


class _Scene:
    """A fault with names: thread, block, line and array."""

    def __init__(self, kernel, lowered, fault, grid, block, arrays):
        self.kernel, self.lowered, self.fault, self.arrays = kernel, lowered, fault, arrays
        self.block_size, self.grid = block, grid
        self.block = self.index_of(fault.block)
        self.thread = self.thread_index(fault.warp * 32 + fault.lane)
        files = kernel.module.module.files
        self.own = {index for index, name in files.items() if name == kernel.filename}
        self.site = lowered.sites[fault.site] if fault.site < len(lowered.sites) else None
        self.line = line_of(self.site.instruction.location, self.own) if self.site else None

    def thread_index(self, linear: int) -> tuple[int, int, int]:
        x, y, _ = self.block_size
        return (linear % x, linear // x % y, linear // (x * y))

    def index_of(self, block: int) -> tuple[int, int, int]:
        x, y, _ = self.grid
        return (block % x, block // x % y, block // (x * y))

    def where(self) -> str:
        if self.kernel.language == "triton":
            return f"program {self.named_block()} (its thread {self.thread[0]})"
        return f"thread {self.named(self.thread)} of block {self.named_block()}"

    def named(self, thread: tuple[int, int, int]) -> str:
        return _short(thread, self.block_size)

    def named_block(self) -> str:
        return _short(self.block, self.grid)

    def at_line(self, line: int | None) -> str:
        text = self.kernel.line_text(line)
        if line is None:
            return ""
        return f"line {line}" + (f": {text}" if text else "")

    def keywords(self, line: int | None = None) -> dict:
        return {"line": line or self.line, "thread": self.thread, "block": self.block}

    def standing(self, counters: tuple[int, ...] | None = None) -> list[tuple[int | None, tuple[int, int, int], bool]]:
        """(line, thread, waits at a barrier) of every live thread of the block."""
        found = []
        for index, pc in enumerate(self.fault.program_counters if counters is None else counters):
            if pc != PC_DONE:
                waits = pc >= PC_WAIT
                number = pc & (PC_SYNC - 1) & 0xFFFFFF
                found.append((self.basic_block_line(number, waits), self.thread_index(index), waits))
        return found

    def basic_block_line(self, number: int, waits: bool) -> int | None:
        basic_blocks = self.lowered.basic_blocks
        if waits:  # a waiting lane will go on after its barrier
            number = next((s.index for s in basic_blocks if s.end == "barrier" and number in s.targets), number)
            return line_of(basic_blocks[number].last.location, self.own)
        for basic_block in basic_blocks[number:]:
            for instruction in (*basic_block.body, *([basic_block.last] if basic_block.last else [])):
                line = line_of(instruction.location, self.own)
                if line:
                    return line
        return None


def _short(index: tuple[int, int, int], sizes: tuple[int, int, int]) -> str:
    """(x, y, z) in as many dimensions as the launch has: (5), (5, 0), (5, 2, 1)."""
    used = max((axis for axis in range(3) if sizes[axis] > 1), default=0) + 1
    return "(" + ", ".join(str(i) for i in index[:used]) + ")"


def _deadlock(scene: _Scene) -> KernelError:
    standing = scene.standing()
    places: dict[int | None, list] = {}
    for line, thread, _ in standing:
        places.setdefault(line, []).append(thread)
    told = "\n".join(
        f"  {len(threads)} threads, the first {scene.named(threads[0])}, wait at "
        f"{scene.at_line(line) or 'an unknown line'}"
        for line, threads in sorted(places.items(), key=lambda item: item[0] or 0)
    )
    line = min((n for n in places if n is not None), default=None)
    return Deadlock(
        f"deadlock: in block {scene.named_block()} threads wait at different barriers, so none can go on.\n{told}\n"
        "  Usual cure: every thread of a block must reach the same barrier: move it out of the branch.",
        line=line, block=scene.block, thread=standing[0][1] if standing else None,
    )  # fmt: skip


def _all_wait(scene: _Scene) -> KernelError:
    blocks, unstarted = scene.fault.detail
    places: dict[int | None, dict[int, tuple]] = {}
    for block, counters in blocks:
        for line, thread, at_barrier in scene.standing(counters):
            if not at_barrier:
                places.setdefault(line, {}).setdefault(block, thread)
    total = scene.grid[0] * scene.grid[1] * scene.grid[2]
    told = "\n".join(
        f"  {len(found)} {'block waits' if len(found) == 1 else 'blocks wait'}, the first "
        f"{_short(scene.index_of(min(found)), scene.grid)} in thread {scene.named(found[min(found)])}, "
        f"at {scene.at_line(line) or 'an unknown line'}"
        for line, found in sorted(places.items(), key=lambda item: item[0] or 0)
    )
    ended = total - len(blocks) - unstarted
    rest = f"  {ended} of the {total} blocks have ended.\n" if ended else ""
    rest += f"  {unstarted} blocks cannot start before others end: the GPU is full.\n" if unstarted else ""
    line = min((n for n in places if n is not None), default=None)
    thread = next(iter(places[line].values())) if places.get(line) else None
    return Deadlock(
        "deadlock: blocks wait for memory to change, and no thread is left that could change it.\n"
        f"{told}\n{rest}  Usual cure: every block must reach every barrier of the grid, so move it out of the branch "
        "or loop that some blocks skip; where a block waits for a flag, make sure that another one sets it.",
        line=line, block=scene.block, thread=thread,
    )  # fmt: skip


def _running(scene: _Scene) -> tuple[str, int | None, tuple | None]:
    """Where a block that was stopped stands: in words, and the line and thread."""
    running = [(line, thread) for line, thread, waits in scene.standing() if not waits]
    line, thread = running[0] if running else (None, None)
    who = f"thread {scene.named(thread)} of block {scene.named_block()} is still" if thread else "threads are still"
    return f"{who} at {scene.at_line(line) or 'an unknown line'}", line, thread


def whereabouts(kernel, lowered, fault: Fault, grid, block) -> str:
    """One sentence about where an interrupted kernel was."""
    words, _, _ = _running(_Scene(kernel, lowered, fault, grid, block, ()))
    return f"The kernel {kernel.name} was interrupted: {words.replace(' is still', ' was')}"


def _timeout(scene: _Scene) -> KernelError:
    words, line, thread = _running(scene)
    return KernelTimeout(
        f"the kernel did not end within {scene.fault.seconds:g} s: {words}\n"
        "  Usual cure: check that the loop's condition changes in every thread. If the kernel only needs longer, set "
        "the environment variable VGPU_TIMEOUT to more seconds.",
        line=line, thread=thread, block=scene.block,
    )  # fmt: skip


def _unfinished(scene: _Scene) -> KernelError:
    missing, blocks = scene.fault.detail
    return KernelTimeout(
        f"the kernel {scene.kernel.name} did not end within {scene.fault.seconds:g} s: {blocks - missing} of its "
        f"{blocks} blocks had begun, and none of them hangs.\n"
        "  Usual cure: check the size of the grid, which is the number of blocks, not of threads. If the kernel only "
        "needs longer, set the environment variable VGPU_TIMEOUT to more seconds.",
        block=scene.block,
    )  # fmt: skip


def _assert(scene: _Scene) -> KernelError:
    what = scene.fault.detail[0].decode(errors="replace") if scene.fault.detail else "assertion"
    return DeviceAssert(
        f"assertion `{what}` failed in {scene.where()}.\n  {scene.at_line(scene.line)}", **scene.keywords()
    )


def _trap(scene: _Scene) -> KernelError:
    cure = ""
    if "%envreg" in scene.kernel.ptx or "cudaCGSynchronize" in scene.kernel.ptx:
        cure = (
            "\n  Usual cure: a barrier of the whole grid needs a cooperative launch: "
            "cp.RawKernel(…, enable_cooperative_groups=True)."
        )
    at = "" if scene.line is None else f"\n  {scene.at_line(scene.line)}"
    return DeviceAssert(f"{scene.where()} executed a trap.{at}{cure}", **scene.keywords())


def _host(scene: _Scene) -> KernelError:
    cause = scene.fault.detail[0] if scene.fault.detail else None
    failure = KernelError(f"printf failed in {scene.where()}: {cause}", **scene.keywords())
    failure.__cause__ = cause
    return failure


def _partial(scene: _Scene) -> KernelError:
    count = (scene.fault.address & 0xFFFFFFFF).bit_count()
    return PartialWarp(
        f"part of a warp: {scene.where()} and {count - 1} others of its warp execute `{scene.site.instruction}`, which "
        f"needs all 32.\n  {scene.at_line(scene.line)}\n  Usual cure: let whole warps reach it: choose by warp "
        "(`threadIdx.x / 32`), not by thread, and make the threads of a block a multiple of 32.",
        **scene.keywords(),
    )


def _unlike(scene: _Scene) -> KernelError:
    return PartialWarp(
        f"unlike lanes: {scene.where()} gives `{scene.site.instruction}` another address or row length than the first "
        f"thread of its warp.\n  {scene.at_line(scene.line)}\n  Usual cure: the whole warp moves one matrix: compute "
        "its address from the warp's number (`threadIdx.x / 32`), not from the thread's.",
        **scene.keywords(),
    )


def _stride(scene: _Scene) -> KernelError:
    found = tensor.move(scene.site.instruction.modifiers)
    elements = 8 * found.grain // found.fragment.bits
    return Misaligned(
        f"misaligned: {scene.where()} gives a row length of {scene.fault.address} elements to "
        f"`{scene.site.instruction}`, which is no multiple of {found.grain} bytes.\n  {scene.at_line(scene.line)}\n"
        f"  Usual cure: pad the rows to a multiple of {elements} elements.",
        **scene.keywords(),
    )


def _bar_number(scene: _Scene) -> KernelError:
    return KernelError(
        f"no such barrier: {scene.where()} comes to barrier {scene.fault.address} of its block, and a block has 0 to "
        f"15.\n  {scene.at_line(scene.line)}\n  Usual cure: check how the barrier's number is computed.",
        **scene.keywords(),
    )


_BUILDERS = {
    "deadlock": _deadlock, "timeout": _timeout, "unfinished": _unfinished, "assert": _assert,
    "trap": _trap, "host": _host, "partial": _partial, "bar_number": _bar_number, "unlike": _unlike, "stride": _stride,
    "texture": texture.error, "all wait": _all_wait,
    **access.BUILDERS, **asynchronous.BUILDERS, **calls.BUILDERS, **heap.BUILDERS,
}  # fmt: skip
