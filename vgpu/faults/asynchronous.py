"""Errors of asynchronous copies and mbarriers in words; the package has the others."""

from __future__ import annotations

import numpy as np

from vgpu.base.context import BARRIER_FIELD, BARRIER_LIMIT
from vgpu.base.errors import BarrierError, Deadlock, KernelError, Misaligned


def barrier_word(worker) -> tuple[int, ...]:
    """The mbarrier that a worker's error is about, as it stands in shared memory."""
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


def _told(scene, what: str, cure: str) -> str:
    return f"{what}\n  {scene.at_line(scene.line)}\n  Usual cure: {cure}"


def _barrier(what: str, cure: str):
    """A builder of errors about one mbarrier: `what` may name its fields {pending}, {expected} and {missing}."""

    def build(scene) -> KernelError:
        names = dict.fromkeys(("pending", "expected", "missing"), "?")
        if scene.fault.detail:
            names = dict(zip(names, _fields(scene.fault.detail[0]), strict=True))
        text = f"mbarrier: {scene.where()} " + what.format(**names, value=scene.fault.address)
        return BarrierError(_told(scene, text, cure), address=scene.fault.address, **scene.keywords())

    return build


def _stalled(scene) -> KernelError:
    pending, expected, missing = _fields(scene.fault.detail[0]) if scene.fault.detail else ("?",) * 3
    lacking = f"{pending} of {expected} arrivals" + (f" and {missing} bytes of copies" if missing else "")
    text = (
        f"deadlock: every thread of block {scene.named_block()} that still runs waits at an mbarrier or a barrier, and "
        f"nothing is under way that could complete it. {scene.where()} waits for a phase that lacks {lacking}."
    )
    cure = (
        "the arrivals a phase gets must be as many as its barrier was initialised with, the bytes announced with "
        "expect_tx must be those that are copied, and a wait must name the parity of the phase it means."
    )
    return Deadlock(_told(scene, text, cure), **scene.keywords())


def _copy_size(scene) -> KernelError:
    size = scene.site.nbytes
    text = f"asynchronous copy: {scene.where()} copies {scene.fault.address} bytes in a copy of {size}."
    cure = f"the source size may be 0 to {size}; what it leaves is filled with zeros."
    return KernelError(_told(scene, text, cure), **scene.keywords())


def _bulk_alignment(scene) -> KernelError:
    text = f"bulk copy: {scene.where()} copies from or to an address that is off by {scene.fault.address} bytes."
    cure = (
        "bulk copies need global and shared addresses at multiples of 16 bytes, tensor copies shared ones at multiples "
        "of 128: declare the array with alignas(128)."
    )
    return Misaligned(_told(scene, text, cure), **scene.keywords())


def _bulk_size(scene) -> KernelError:
    text = f"bulk copy: {scene.where()} copies {scene.fault.address} bytes, which is no multiple of 16."
    return KernelError(
        _told(scene, text, "copy whole pieces of 16 bytes, the rest with ordinary stores."), **scene.keywords()
    )


def _tensor_map(scene) -> KernelError:
    text = f"tensor copy: {scene.where()} uses something that is no tensor map, or one of other dimensions."
    cure = (
        "pass the object that `tensor_map(array, box)` returns to a parameter `const __grid_constant__ CUtensorMap`, "
        "and give as many coordinates as the array has dimensions."
    )
    return KernelError(_told(scene, text, cure), **scene.keywords())


BUILDERS = {
    "copy_size": _copy_size,
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
    "bulk_alignment": _bulk_alignment,
    "bulk_size": _bulk_size,
    "tensor_map": _tensor_map,
}
