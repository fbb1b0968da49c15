"""Messages for errors of asynchronous copies and mbarriers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from vgpu.base.context import BARRIER_FIELD, BARRIER_LIMIT
from vgpu.base.errors import BarrierError, Deadlock, KernelError, Misaligned

if TYPE_CHECKING:
    from vgpu.faults.scene import RunningWorker, Scene


def barrier_word(worker: RunningWorker) -> tuple[int, ...]:
    """The bits of the mbarrier at a worker's error, from shared memory; () outside it."""
    offset = worker["error_address"]
    if not 0 <= offset <= worker["shared_bytes"] - 8:
        return ()
    return (int(np.ascontiguousarray(worker.shared[offset : offset + 8]).view(np.int64)[0]),)


def _fields(word: int) -> tuple[int, int, int]:
    """(arrivals missing, arrivals of a full phase, bytes missing)."""
    missing = word >> BARRIER_FIELD["bytes"] & (2 * BARRIER_LIMIT + 1)
    if missing > BARRIER_LIMIT:
        missing -= 2 * BARRIER_LIMIT + 2
    return word & BARRIER_LIMIT, word >> BARRIER_FIELD["expected"] & BARRIER_LIMIT, missing


def _message(scene: Scene, what: str, fix: str) -> str:
    return f"{what}\n  {scene.at_line(scene.line)}\n  Usual fix: {fix}"


def _barrier(what: str, fix: str) -> Callable[[Scene], KernelError]:
    """A builder of errors about one mbarrier: `what` may name its fields {pending}, {expected} and {missing}."""

    def build(scene: Scene) -> KernelError:
        fields: tuple[object, ...] = _fields(scene.fault.detail[0]) if scene.fault.detail else ("?",) * 3
        names = dict(zip(("pending", "expected", "missing"), fields, strict=True))
        text = f"mbarrier: {scene.where()} " + what.format(**names, value=scene.fault.address)
        return BarrierError(_message(scene, text, fix), address=scene.fault.address, **scene.keywords())

    return build


def _copy(what: str, fix: str, error: type[KernelError] = KernelError) -> Callable[[Scene], KernelError]:
    """A builder of errors about one copy, which may name the thread ({where}), the fault's {value} and the {size}."""

    def build(scene: Scene) -> KernelError:
        names = {"where": scene.where(), "value": scene.fault.address, "size": scene.site.nbytes}
        return error(_message(scene, what.format(**names), fix.format(**names)), **scene.keywords())

    return build


def _alone(scene: Scene) -> KernelError:
    text = (
        f"deadlock: {scene.where()} waits for products of its warpgroup, and the other warps of the four (threads "
        "128·i to 128·i + 127 of a block) have not issued and committed as many."
    )
    return Deadlock(
        _message(scene, text, "choose what threads do by warpgroup (`threadIdx.x / 128`), not by warp or thread."),
        **scene.keywords(),
    )


def _stalled(scene: Scene) -> KernelError:
    if scene.site.kind == "warpgroup":
        return _alone(scene)
    pending, expected, missing = _fields(scene.fault.detail[0]) if scene.fault.detail else ("?",) * 3
    lacking = f"{pending} of {expected} arrivals" + (f" and {missing} bytes of copies" if missing else "")
    text = (
        f"deadlock: every thread of block {scene.named_block()} that still runs waits at an mbarrier or a barrier, and "
        f"nothing is in flight that could complete it. {scene.where()} waits for a phase that lacks {lacking}."
    )
    fix = (
        "the arrivals a phase gets must be as many as its barrier was initialised with, the bytes announced with "
        "expect_tx must be those that are copied, and a wait must name the parity of the phase it means."
    )
    return Deadlock(_message(scene, text, fix), **scene.keywords())


BUILDERS = {
    "copy_size": _copy(
        "asynchronous copy: {where} copies {value} bytes in a copy of {size}.",
        "the source size may be 0 to {size}; what it leaves is filled with zeros.",
    ),
    "barrier_lost": _barrier(
        "uses an mbarrier that is not initialised, or was overwritten.",
        "one thread calls mbarrier.init (or `init(&bar, count)`), then all threads meet at __syncthreads() before the "
        "first use.",
    ),
    "barrier_arrivals": _barrier(
        "arrives at an mbarrier whose phase waits for {pending} of {expected} arrivals only.",
        "initialise it with the number of arrivals that a phase really gets, and wait for the phase before arriving "
        "for the next.",
    ),
    "barrier_bytes": _barrier(
        "makes an mbarrier wait for more than 2^20 - 1 bytes.", "copy less in one phase, or use several barriers."
    ),
    "barrier_early": _barrier(
        "completes a phase by an arrival with noComplete.", "use a plain arrive where it may be the last one."
    ),
    "barrier_count": _barrier(
        "gives an mbarrier a count of {value}; 1 to 2^20 - 1 are possible.",
        "initialise it with the number of arrivals of a phase, often the threads of the block.",
    ),
    "stalled": _stalled,
    "bulk_alignment": _copy(
        "bulk copy: {where} copies from or to an address that is off by {value} bytes.",
        "bulk copies need global and shared addresses at multiples of 16 bytes, tensor copies shared ones at multiples "
        "of 128: declare the array with alignas(128).",
        Misaligned,
    ),
    "bulk_size": _copy(
        "bulk copy: {where} copies {value} bytes, which is no multiple of 16.",
        "copy whole pieces of 16 bytes, the rest with ordinary stores.",
    ),
    "tensor_map": _copy(
        "tensor copy: {where} uses something that is no tensor map, or one of other dimensions or mode.",
        "pass the object that `tensor_map(array, box)` returns to a parameter `const __grid_constant__ CUtensorMap`, "
        "and give as many coordinates as the array has dimensions. `tile::gather4` and `tile::scatter4` take maps of "
        "two dimensions whose box is one row.",
    ),
    "tensor_type": _copy(
        "tensor copy: {where} reduces elements in a way that the tensor map's type doesn't have.",
        "make the map with the type that is meant (as bytes, float16 is no number), and reduce it in a way that this "
        "type has in PTX.",
    ),
}
