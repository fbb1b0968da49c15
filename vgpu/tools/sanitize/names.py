"""From addresses, places and thread numbers to the user's names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from vgpu import faults
from vgpu.ptx.lines import line_of
from vgpu.storage import heap, layout, memory
from vgpu.tools.sanitize.heap_watch import name_of

if TYPE_CHECKING:
    from vgpu.launch.launch import Kernel
    from vgpu.ptx import Instruction
    from vgpu.tools.sanitize.findings import Index


class LaunchNames:
    """The names of one launch: of its kernel's lines, its arguments and its shared arrays."""

    def __init__(self, kernel: Kernel, grid: Index, block: Index, arrays: Sequence[memory.ArrayInfo]):
        self.kernel, self.grid, self.block, self.arrays = kernel, grid, block, arrays
        self.own = {i for i, name in kernel.module.module.files.items() if name == kernel.filename}

    def line(self, instruction: Instruction) -> int | None:
        return line_of(instruction.location, self.own)

    def text(self, line: int | None) -> str:
        return self.kernel.line_text(line)

    def thread_index(self, number: int) -> Index:
        x, y, _ = self.block
        return (number % x, number // x % y, number // (x * y))

    def block_index(self, number: int) -> Index:
        x, y, _ = self.grid
        return (number % x, number // x % y, number // (x * y))

    def said(self, thread: Index, block: Index | None = None) -> str:
        """Thread and block in as many dimensions as the launch has."""
        words = f"thread {_short(thread, self.block)}"
        return words if block is None else f"{words} of block {_short(block, self.grid)}"

    @cached_property
    def shared(self) -> list[tuple[int, int, str | None]]:
        """(start, end, name) of every shared array. A dynamic one ends at 2**62; the compiler's have no name."""
        module, function = self.kernel.module.module, self.kernel.function
        offsets, _, _ = layout.shared_layout(module, function)
        known = {**module.variables}
        for each in layout.reachable(module, function):
            known.update(each.variables)
        ordered = sorted(offsets.items(), key=lambda item: item[1])
        python_names = self._python_names(list(offsets))
        return [
            (
                start, 1 << 62 if known[name].external else start + known[name].nbytes,
                python_names.get(name) or plain(name),
            )
            for name, start in ordered if name in known
        ]  # fmt: skip

    def _python_names(self, symbols: list[str]) -> dict[str, str]:
        """The variables that a Numba kernel's shared arrays are assigned to: Numba numbers them in source order."""
        if self.kernel.language != "numba":
            return {}
        text = "\n".join(self.kernel.source)
        found = re.findall(r"(?:^|;)\s*(\w+)\s*=\s*(?:\w+\.)*shared\.array\(", text, re.M)
        return dict(zip(symbols, found, strict=True)) if len(found) == len(symbols) else {}

    def element(self, space: str, address: int, nbytes: int) -> tuple[str | None, int | tuple[int, ...] | None]:
        """The name of the array an address lies in, and the element's index; None where unknown."""
        if space == "shared":
            for start, end, name in self.shared:
                if start <= address < end:
                    return name, (address - start) // max(1, nbytes)
            return None, None
        if space == "local":
            return None, None
        for array in self.arrays:
            if array.holds(address):
                return array.name, _index(array, address)
        for name, start in self.kernel.module.variables.addresses.items():
            size = self.kernel.module.variables.nbytes[name]
            if start <= address < start + max(1, size):
                return plain(name), (address - start) // max(1, nbytes)
        area = heap.current()
        if area is not None and (piece := area.find(address)) is not None:
            return name_of(piece), (address - piece.address) // max(1, nbytes)
        label = memory.describe(address).allocation
        return (label.label if label is not None else None), None


def _index(array: memory.ArrayInfo, address: int) -> int | tuple[int, ...]:
    """The index of an array's element at an address, by dimensions where it has several."""
    size = faults.access.itemsize(array)
    flat = (address - array.address) // size
    if len(array.shape) < 2:
        return flat
    strides = tuple(array.strides or ())
    rest, index = address - array.address, [0] * len(array.shape)
    if len(strides) == len(array.shape) and all(s > 0 for s in strides):
        for axis in sorted(range(len(strides)), key=lambda a: -strides[a]):
            index[axis], rest = divmod(rest, strides[axis])
        if all(i < n for i, n in zip(index, array.shape, strict=True)):
            return tuple(index)
    return flat


def element_text(name: str | None, index: int | tuple[int, ...] | None) -> str:
    if name is None:
        return "an array"
    if index is None:
        return f"`{name}`"
    inside = ", ".join(map(str, index)) if isinstance(index, tuple) else str(index)
    return f"`{name}[{inside}]`"


def plain(symbol: str) -> str | None:
    """The user's name in a compiler's symbol; None for a symbol that the compiler invented."""
    short = re.sub(r"^_ZZ.*?E(\d+)(?=\w)", lambda m: "", symbol) if symbol.startswith("_ZZ") else symbol
    found = re.match(r"^_ZZ.*E(\d+)(\w+)$", symbol)
    if found:
        short = found[2][: int(found[1])] if len(found[2]) >= int(found[1]) else found[2]
    return short if short.isidentifier() and not short.startswith("_") else None


def _short(index: Index, sizes: Index) -> str:
    used = max((axis for axis in range(3) if sizes[axis] > 1), default=0) + 1
    return "(" + ", ".join(str(i) for i in index[:used]) + ")"
