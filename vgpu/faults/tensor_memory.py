"""Messages for errors of tensor memory (`tcgen05`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from vgpu.base.errors import InvalidFree, KernelError, OutOfBounds
from vgpu.isa import tensor_memory, umma
from vgpu.ptx import Instruction, Mem

if TYPE_CHECKING:
    from vgpu.faults.scene import Scene


def _error(kind: type[KernelError], what: str, fix: str) -> Callable[[Scene], KernelError]:
    """A builder of errors: `what` may name the address {at}, its {lane} and {column}."""

    def build(scene: Scene) -> KernelError:
        at = scene.fault.address
        text = what.format(at=f"{at:#x}", number=at, lane=at >> 16, column=at & 0xFFFF)
        return _told(scene, kind, text, fix)

    return build


def _told(scene: Scene, kind: type[KernelError], text: str, fix: str) -> KernelError:
    where = f"{scene.where()}: `{scene.site.instruction}` {text}"
    return kind(
        f"tensor memory: {where}\n  {scene.at_line(scene.line)}\n  Usual fix: {fix}",
        address=scene.fault.address, **scene.keywords(),
    )  # fmt: skip


def _variant(instruction: Instruction) -> umma.Variant:
    found = umma.variant(instruction.modifiers, isinstance(instruction.operands[1], Mem))
    assert found is not None, "only products that are known are compiled"
    return found


def _instruction(scene: Scene) -> KernelError:
    wrong = umma.wrong_instruction(_variant(scene.site.instruction), scene.fault.address)
    return _told(
        scene, KernelError, f"has the instruction descriptor {scene.fault.address:#010x}, which {wrong}.",
        "check its fields: D's type in bits 4 and 5, A's from 7, B's from 10 on, N / 8 from 17, M / 16 from 24 on.",
    )  # fmt: skip


def _matrix(scene: Scene) -> KernelError:
    descriptor = scene.fault.address & (1 << 64) - 1
    # Of MN-major matrices only tf32 is different, and the fault doesn't say which matrix it was.
    kind = "tf32" if "kind::tf32" in scene.site.instruction.modifiers else ""
    wrong = umma.wrong_matrix(descriptor, False, kind) or umma.wrong_matrix(descriptor, True, kind)
    return _told(
        scene, KernelError, f"has the matrix descriptor {descriptor:#018x}, which {wrong}.",
        "build it for sm_100a: bit 46 is set, and the swizzling mode (bits 61 to 63) is 0 for none, 2 for 128 bytes, 4 "
        "for 64, 6 for 32.",
    )  # fmt: skip


def _quarter(scene: Scene) -> KernelError:
    lane, first = scene.fault.address >> 16, scene.fault.warp % 4 * tensor_memory.QUARTER
    last = first + tensor_memory.QUARTER - 1
    if lane >= tensor_memory.LANES:
        return _told(
            scene, OutOfBounds, f"accesses lane {lane}, and tensor memory has {tensor_memory.LANES}.",
            "leave the block's rank out of the address: each block of a pair has its own lanes 0 to 127, with its half "
            "of the rows of D (a GPU may ignore the upper bits of the lane, which nothing promises).",
        )  # fmt: skip
    return _told(
        scene, OutOfBounds, f"accesses lane {lane}, and this warp has lanes {first} to {last} "
        "(four warps have a quarter each; shapes of 16 lanes begin at a multiple of 16).",
        "add the warp's lanes to the address: `(threadIdx.x / 32 % 4) << 21`.",
    )  # fmt: skip


BUILDERS = {
    "tensor_columns": _error(
        KernelError, "asks for {number} columns.",
        "allocate 32, 64, 128, 256 or 512 columns, all lanes the same number.",
    ),
    "tensor_full": _error(
        KernelError, "asks for {number} columns, and the block has not as many left in a row.",
        "allocate all that the block needs at once, at most 512 columns, and free columns before others are allocated "
        "(on a GPU the blocks of a multiprocessor share the 512, and the instruction waits).",
    ),
    "tensor_permit": _error(
        KernelError, "asks for {number} columns after the block's relinquish_alloc_permit.",
        "relinquish the permit after the last allocation.",
    ),
    "tensor_free": _error(
        InvalidFree, "frees columns at {at} that are no allocation of the block.",
        "free each allocation once, with the address that it was given and its number of columns.",
    ),
    "tensor_leak": _error(
        KernelError, "has allocated columns that are still allocated when the block ends.",
        "free them with tcgen05.dealloc, by one warp, when no thread needs them any longer.",
    ),
    "tensor_place": _error(
        OutOfBounds, "accesses lane {lane}, column {column} ({at}), and not all that it accesses from there on is "
        "allocated to the block, or it must begin at another lane.",
        "add columns to the address that tcgen05.alloc has written, in the lower 16 bits, and allocate as many as the "
        "matrix has; products and copies begin at lane 0 (those of 64 rows also at lane 16).",
    ),
    "tensor_quarter": _quarter,
    "tensor_peer": _error(
        KernelError, "is for a pair of blocks, and this one has no peer that runs.",
        "launch clusters of an even number of blocks, and let neither of a pair end before both are done "
        "(barrier.cluster).",
    ),
    "umma_instruction": _instruction, "umma_matrix": _matrix,
}  # fmt: skip
