"""Messages for accesses out of bounds or misaligned: which array, which index, which guard is missing."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from vgpu.base.errors import KernelError, Misaligned, OutOfBounds
from vgpu.base.words import plural
from vgpu.faults import line
from vgpu.faults.scene import ENDED
from vgpu.isa import tensor
from vgpu.storage import heap_words, layout, memory

if TYPE_CHECKING:
    from vgpu.faults.scene import Scene

_VERB = {
    "load": "read", "store": "wrote", "atomic": "updated", "copy": "copied", "bulk_load": "copied",
    "bulk_store": "copied", "mbarrier": "used an mbarrier of",
}  # fmt: skip


def _bounds(scene: Scene) -> KernelError:
    site, fault = scene.site, scene.fault
    verb, what = _VERB[site.kind], "out of bounds"
    position, fix = _position(scene)
    if site.space in ("global", "generic"):
        if heap_words.is_freed(fault.address):
            what = "use after free"
        elif (name := _constant(scene)) is not None:
            what, position, fix = "write to constant memory", f"of {name}, which kernels can only read", _CONSTANT
    message = (
        f"{what}: {scene.where()} {verb} {plural(site.nbytes, 'byte') if site.nbytes else 'many bytes'} {position}.\n"
        f"  {scene.at_line(scene.line)}\n  Usual fix: {fix}"
    )
    return OutOfBounds(message, address=fault.address, **scene.keywords())


_CONSTANT = (
    "let the kernel write to an array or a `__device__` variable. The host sets a `__constant__` variable before the "
    "launch."
)


def _constant(scene: Scene) -> str | None:
    """The constant variable that a fault's address lies in: an access inside it fails only if it writes."""
    found = memory.describe(scene.fault.address)
    if found.allocation is None or found.freed or found.allocation.kind != memory.CONSTANT:
        return None
    writes = scene.site.kind in ("store", "atomic", "bulk_store") and found.offset < found.allocation.nbytes
    return f"`{found.allocation.label}`" if writes else None


def _position(scene: Scene) -> tuple[str, str]:
    """Where an address outside all arrays lies, relative to the nearest one, and the usual fix."""
    site, address = scene.site, scene.fault.address
    if scene.fault.detail == (ENDED,):
        return (
            "of the shared memory of a block that has ended, or that its cluster doesn't have",
            "let the blocks of a cluster wait for one another before they end (cluster.sync()), and ask for ranks "
            "below the number of blocks.",
        )
    if site.space == "shared":
        described, at_launch = _shared_arrays(scene)
        return (
            f"at byte {signed(address, 32)} of the block's shared memory, {described}",
            "make the shared array as large as the block needs, and check the index against its size."
            + (f" {_AT_LAUNCH[scene.kernel.language]}" if at_launch and scene.kernel.language in _AT_LAUNCH else ""),
        )
    if site.space == "local":
        return (
            f"at byte {signed(address, 64)} of the thread's local memory, which has {scene.lowered.local_bytes} bytes",
            "check the index of the local array.",
        )
    if scene.fault.detail:
        return (
            f"in the local memory of thread {scene.named(scene.thread_index(scene.fault.detail[0]))}",
            "local arrays belong to one thread: hand values on through shared memory or shuffles, and not their "
            "addresses.",
        )
    if 0 <= address < 4096 or address < 0:
        allocates = any(other.kind == "heap" for other in scene.lowered.sites)
        return "through a null pointer", _NULL[allocates]
    if (in_heap := heap_words.location(address, scene.kernel)) is not None:
        return in_heap
    named = line.arrays(scene)
    array = min(named or scene.arrays, key=lambda each: _distance(each, address), default=None)
    found = memory.describe(address)
    if found.freed and (not named or any(map(_may_hold_addresses, named))):
        label = f"`{found.allocation.label}`" if found.allocation is not None and found.allocation.label else "an array"
        return (
            f"of {label} that was freed already",
            KEEP,
        )
    if array is None or _distance(array, address) > 1 << 40:
        return ("at an address that belongs to no array", "check the arithmetic on the pointer.")
    size = itemsize(array)
    index = (address - array.address) // size
    count = array.nbytes // size
    shape = "×".join(str(n) for n in array.shape)
    inside = 0 <= index < count
    where = (
        f"at `{array.name}[{index}]`"
        if len(array.shape) == 1
        else f"at element {index} (counted flat) of `{array.name}`"
    )
    size_text = f"`{array.name}` has {plural(count, 'element')}" + (f" ({shape})" if len(array.shape) > 1 else "")
    if inside:
        return (
            f"{where}, across its end; {size_text}",
            "check that the access is no wider than the elements.",
        )
    if index >= count:
        return f"{where}, but {size_text}", _past_the_end(scene, count)
    first = "programs" if scene.kernel.language == "triton" else "threads"
    return f"{where}, before its start; {size_text}", (
        f"check the index of the first {first}: it is negative." if index > -_OVERFLOWN else _WRAPPED
    )


def _past_the_end(scene: Scene, count: int) -> str:
    """The usual fix of an index past the end of an array of `count` elements."""
    language = scene.kernel.language
    if language != "triton" and math.prod(scene.grid) * math.prod(scene.block_size) <= count:
        return _INDEX
    return _GUARDS.get(language, _GUARDS["cuda"])[scene.site.kind == "store"]


def _distance(array: memory.ArrayInfo, address: int) -> int:
    """Bytes from an address to an array; 0 within it."""
    return max(array.address - address, address - (array.address + max(array.nbytes, 1)) + 1, 0)


def _may_hold_addresses(array: memory.ArrayInfo) -> bool:
    """Whether an access through an address in the array may look like one to the array itself."""
    return itemsize(array) == 8 and not array.dtype.startswith(("float", "complex"))


KEEP = "free the array after the last kernel that uses it; in Python, keep a reference to it until then."
_OVERFLOWN = 1 << 28  # elements before an array: no slip of a few threads
_WRAPPED = (
    "check how the index is computed: a product or sum of 32-bit integers above 2,147,483,647 becomes negative. "
    "Compute it in 64 bits, such as `(long long)row * width`; in Triton, `row.to(tl.int64) * width`."
)
_INDEX = (
    "check how the index is computed: the grid has no more threads than there are elements. A guard has to test the "
    "index that is used, such as `i + 1 < n` for `x[i + 1]`."
)

# The usual fix of a null pointer: in most kernels, and in those that allocate.
_NULL = (
    "pass an array for every pointer of the kernel, and check them in this order.",
    "check what malloc gives: nullptr when the heap is full. `cp.cuda.runtime.deviceSetLimit(cp.cuda.runtime."
    "cudaLimitMallocHeapSize, nbytes)` before the first launch makes it larger; pointers among the parameters may be "
    "null too.",
)


def _guard(condition: str) -> str:
    return f"guard the access, such as `{condition}`: the grid has more threads than there are elements."


def _mask(call: str) -> str:
    return f"mask the access, such as `{call}`: the last program has more offsets than there are elements left."


# The usual fix of an index past the end, by language: of a read and of a write.
_GUARDS = {
    "cuda": (_guard("if (i < n)"),) * 2,
    "numba": (_guard("if i < n:"),) * 2,
    "triton": (
        _mask("tl.load(pointer + offsets, mask=offsets < n)"),
        _mask("tl.store(pointer + offsets, value, mask=offsets < n)"),
    ),
}


# How the size of dynamic shared memory is given.
_AT_LAUNCH = {
    "cuda": "The launch gives the size in bytes: `kernel(grid, block, args, shared_mem=bytes)`, or in C++ "
    "`kernel<<<grid, block, bytes>>>(args)`.",
    "numba": "The launch gives the size in bytes: `kernel[grid, block, stream, bytes]`.",
}


def itemsize(array: memory.ArrayInfo) -> int:
    """Bytes of one element of an argument; records have a dtype that is no single name."""
    try:
        return np.dtype(array.dtype).itemsize
    except (TypeError, ValueError):
        return max(1, array.nbytes // max(1, math.prod(array.shape)))


def _shared_arrays(scene: Scene) -> tuple[str, bool]:
    """Which bytes of shared memory belong to which array, and whether the launch gives the size of one."""
    module, function = scene.kernel.module.module, scene.kernel.function
    offsets, _, dynamic = layout.shared_layout(module, function)
    known = {**module.variables, **function.variables}
    described, at_launch = [], False
    for name, start in offsets.items():
        short = re.sub(r"^_ZZ.*E\d+", "", name)
        label = f"`{short}` has" if short.isidentifier() and not short.startswith("_") else "an array has"
        external = name not in known or known[name].external
        at_launch |= external
        described.append(
            f"{label} those from {dynamic} to the size given at the launch"
            if external
            else f"{label} bytes {start} to {start + known[name].nbytes - 1}"
        )
    return "where " + ", ".join(described) if described else "and the kernel has none", at_launch


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


_OF_WIDTH = {2: "half", 4: "float", 8: "float2", 16: "float4"}
BULK = 16  # bytes, of which addresses of bulk copies are multiples (PTX ISA, cp.async.bulk)


def _alignment(scene: Scene) -> KernelError:
    site, fault = scene.site, scene.fault
    if site.kind == "warp":
        found = tensor.move(site.instruction.modifiers)
        assert found is not None, "only moves of matrices are of this kind"
        grain = found.alignment
        return Misaligned(
            f"misaligned: {scene.where()} gives `{site.instruction}` a matrix at an address that is no multiple of "
            f"{grain} (it is off by {fault.address % grain}).\n  {scene.at_line(scene.line)}\n  Usual fix: let tiles "
            f"begin at multiples of {grain} bytes, and declare shared arrays with `__align__({grain})`.",
            address=fault.address, **scene.keywords(),
        )  # fmt: skip
    grain = site.nbytes or BULK  # the instruction doesn't give the length of a bulk copy
    what = f"{plural(site.nbytes, 'byte')} " if site.nbytes else ""
    example = f", such as a {_OF_WIDTH[grain]}," if grain in _OF_WIDTH else ""
    message = (
        f"misaligned: {scene.where()} {_VERB[site.kind]} {what}{line.unnamed(scene)}at an address "
        f"that is no multiple of {grain} (it is off by {fault.address % grain}).\n  {scene.at_line(scene.line)}\n"
        f"  Usual fix: an access of {grain} bytes{example} has to start at a multiple of {grain} bytes: shift the "
        "view, or fall back to single elements."
    )
    return Misaligned(message, address=fault.address, **scene.keywords())


BUILDERS = {"bounds": _bounds, "alignment": _alignment}
