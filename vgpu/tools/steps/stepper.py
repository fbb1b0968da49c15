"""A block in slow motion: every step of every warp, with lanes, registers and memory, forwards and backwards.

This is the data of the warp debugger. It comes from the reference interpreter; the arrays that the kernel writes are
restored afterwards.
"""

from __future__ import annotations

import ctypes
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vgpu import reference
from vgpu.base.errors import KernelError, LaunchError
from vgpu.launch.configuration import check_block_index, check_warp
from vgpu.ptx import Instruction, Label
from vgpu.tools.prepare import Dimensions, Grid, prepare
from vgpu.tools.steps.line_names import LineNames
from vgpu.tools.steps.naming import KnownValues
from vgpu.tools.steps.recording import LANES, At, Held, MemoryAccess, Recording, Step, Written
from vgpu.tools.steps.register_types import decoded, register_types
from vgpu.tools.steps.scalars import scalars
from vgpu.tools.steps.trace import SECTOR, named, run_block

if TYPE_CHECKING:
    from vgpu.launch.launch import Prepared
    from vgpu.reference.warp import Warp
    from vgpu.storage.memory import ArrayInfo

MAX_STEPS = 10_000
MOST_HELD = 1 << 20  # bytes kept of one array, from the first that the block touches


class RecordingTooLong(LaunchError):
    """The block takes more steps than a recording may have."""


def record(
    kernel: Any, grid: Grid, block: Dimensions | None, args: Sequence,
    block_index: Dimensions = (0, 0, 0), *, warp: int | None = None, shared_bytes: int = 0,
    max_steps: int = MAX_STEPS, partial: bool = False, **meta: Any,
) -> Recording:  # fmt: skip
    """Run one block of a launch and keep every step of its warps (or of one `warp`).

    The block runs as if it were the first; others run, unrecorded, where it waits for them (grid barriers, flags).

    kernel: a Numba or Triton kernel or a `RawKernel`; grid, block, args as at its launch (Triton chooses the block:
    None, and `meta` are its constants and options); block_index: x, y, z, or one number; shared_bytes: dynamic
    shared memory; partial: keep the steps up to an error of the kernel, or up to `max_steps`, and the error in
    `Recording.stopped`. Errors: as a launch; IndexError for a block outside the grid, or a warp outside the block;
    `RecordingTooLong` beyond `max_steps`.
    """
    if block is not None:
        check_block_index(grid, block, block_index)
    _, prepared, _ = prepare("record", kernel, grid, block, args, meta)
    grid, block, block_index = check_block_index(prepared.grid or grid, prepared.block or block, block_index)
    check_warp(warp, block)
    recorder = _StepRecorder(prepared, scalars(kernel, tuple(args), meta, prepared.kernel), warp, max_steps)
    stopped = None
    try:
        run_block(
            prepared, grid, block, block_index, shared_bytes,
            on_access=recorder.access, on_step=recorder.step, on_pause=recorder.close,
        )  # fmt: skip
    except (KernelError, RecordingTooLong) as error:
        if not partial:
            raise
        stopped = error
    recorder.remove_refuted_names()
    lines = {step.line: step.source for step in recorder.steps if step.line is not None}
    text = textwrap.dedent("\n".join(prepared.kernel.source)).splitlines()
    return Recording(
        prepared.kernel.name,
        prepared.kernel.language,
        block_index,
        block,
        tuple(recorder.steps),
        dict(sorted(lines.items())),
        {prepared.kernel.first_line + at: line for at, line in enumerate(text)},
        recorder.held(grid, block),
        stopped,
    )


class _StepRecorder:
    """Observes the interpreter: the effects of a step are read when the next one begins."""

    active: np.ndarray
    seen: list[tuple[reference.Requested, list[bytes | None]]]  # accesses of the step, with the bytes before them
    before: dict[str, np.ndarray]

    def __init__(self, prepared: Prepared, scalars: dict[str, int | float], warp: int | None, max_steps: int):
        self.kernel, self.arrays, self.scalars = prepared.kernel, tuple(prepared.arrays), scalars
        self.only, self.max_steps = warp, max_steps
        self.variables = prepared.kernel.module.variables
        self.text = prepared.kernel.ptx.splitlines()
        self.steps: list[Step] = []
        self.open: reference.Executed | None = None
        self.names: dict[int, LineNames] = {}
        self.types: dict[int, dict[str, str]] = {}

    # -- called by the interpreter

    def step(self, step: reference.Executed) -> None:
        self.close()
        if self.only is not None and step.warp != self.only:
            return
        if len(self.steps) >= self.max_steps:
            raise RecordingTooLong(
                f"block {step.block} takes more than {self.max_steps:,} steps; it is at line {step.line} now. Record "
                "fewer threads or one warp (warp=0), make the loop shorter, or allow more with max_steps=…."
            )
        self.open, self.seen = step, []
        self.before = dict(step.frame.registers)
        guard = step.instruction.guard
        self.active = step.mask
        if guard is not None:
            self.active = step.mask & step.lanes.read(step.frame, guard, reference.isa.TYPES["pred"])

    def access(self, seen: reference.Requested) -> None:
        if self.open is not None:
            self.seen.append((seen, _memory(self.open.lanes, seen)))

    def close(self) -> None:
        """Keep the step that has been executed meanwhile."""
        step, self.open = self.open, None
        if step is None:
            return
        warp, lines = step.lanes, self._lines(step)
        forgotten = lines.go_to(step.line, self.active)
        written = [
            (name, raw) for name, raw in step.frame.registers.items() if raw is not self.before.get(name)
        ] if self.active.any() else []  # fmt: skip
        marks = tuple(self._written(step, name, raw) for name, raw in written)
        forgotten = tuple(sorted({*forgotten, *lines.dropped}))
        lines.dropped.clear()
        touched = [self._touched(warp, seen, before) for seen, before in self.seen]
        waiting = np.zeros(LANES, bool)
        waiting[list(warp.waiting)] = True
        inside = np.arange(LANES) + LANES * warp.index < warp.block.threads
        standing = tuple(_line(warp, lane) if warp.live[lane] else None for lane in range(LANES))
        self.steps.append(
            Step(
                len(self.steps), step.warp, step.line, self.kernel.line_text(step.line),
                self.text[step.instruction.text - 1].strip(), _flags(step.mask), _flags(self.active),
                _flags(waiting), _flags(inside & ~warp.live), standing,
                marks, tuple(touched), forgotten,
            )
        )  # fmt: skip

    def held(self, grid: tuple[int, int, int], block: tuple[int, int, int]) -> tuple[Held, ...]:
        """The memory that the steps touched, before the block ran; to be called after it has been restored."""
        from vgpu.tools.sanitize.names import LaunchNames

        spans: dict[tuple[str, str | None], list[tuple[int, int]]] = {}
        for step in self.steps:
            for access in (touched.access for touched in step.touched):
                taking = [a for a, on in zip(access.addresses, access.lanes, strict=True) if on]
                if taking:
                    span = min(taking), max(taking) + access.nbytes
                    spans.setdefault((access.space, access.array), []).append(span)
        found = []
        for array in self.arrays:
            if ends := spans.get(("global", array.name)):
                skew = array.address % SECTOR  # addresses of an access count from the start of a sector
                first = max(0, min(start for start, _ in ends) - skew)
                last = min(array.nbytes, max(end for _, end in ends) - skew, first + MOST_HELD)
                data = ctypes.string_at(array.address + first, max(0, last - first))
                found.append(Held("global", array.name, array.dtype, array.shape, array.strides, skew, first, data))
        if ends := spans.get(("shared", None)):
            last = max(end for _, end in ends)
            for start, end, symbol in LaunchNames(self.kernel, grid, block, self.arrays).shared:
                if any(start < stop and begin < end for begin, stop in ends):
                    size = min(end, last) - start
                    name = symbol or f"shared memory from byte {start}"
                    if all(name != other.name for other in found):
                        found.append(Held("shared", name, None, (size,), (), start, 0, b""))
        return tuple(found)

    def remove_refuted_names(self) -> None:
        """Remove names that turned out to be wrong for their registers from all steps of their warp."""
        for at, step in enumerate(self.steps):
            refuted = self.names[step.warp].refuted if step.warp in self.names else set()
            if any(written.name in refuted for written in step.written):
                kept = tuple(replace(each, name=None) if each.name in refuted else each for each in step.written)
                self.steps[at] = replace(step, written=kept)

    # -- the effects of a step

    def _written(self, step: reference.Executed, name: str, raw: np.ndarray) -> Written:
        code = step.frame.code
        if code.index not in self.types:
            self.types[code.index] = register_types(code.function)
        kind = self.types[code.index].get(name, "pred")
        if kind[0] == "u":  # no instruction shows more: take the array's type
            dtype = next((a.dtype for seen, _ in self.seen for a in self.arrays if _inside(a, seen)), "")
            bits = 8 * raw.itemsize
            kind = {f"float{bits}": f"f{bits}", f"int{bits}": f"s{bits}"}.get(dtype, kind)
        values = decoded(raw, kind)
        if raw.itemsize == 8 and kind[0] in "us":
            values = [self._address(step.lanes, value, lane) for lane, value in enumerate(values)]
        label = self._lines(step).name(step, self.active, kind, name, raw)
        return Written(name, kind, tuple(v if on else None for v, on in zip(values, self.active, strict=True)), label)

    def _address(self, warp: Warp, value: int, lane: int) -> int | At:
        """A number as an address into known memory where it is one; else unchanged."""
        for array in self.arrays:
            if array.address <= value <= array.address + array.nbytes:
                return At(array.name, value - array.address)
        for name, address in self.variables.addresses.items():
            if address <= value < address + self.variables.nbytes[name]:
                return At(name, value - address)
        for space in ("shared", "local"):
            base, size = (int(np.broadcast_to(part, LANES)[lane]) for part in warp.windows(space) or ())
            if base <= value < base + size:
                return At(space, value - base)
        return value

    def _lines(self, step: reference.Executed) -> LineNames:
        if step.warp not in self.names:
            specials = {
                f"%{name}.{axis}": step.lanes.special(f"%{name}.{axis}")
                for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"
            }  # fmt: skip
            specials["%laneid"] = step.lanes.special("%laneid")
            known = KnownValues(self.kernel.language, self.arrays, self.scalars, specials)
            self.names[step.warp] = LineNames(self.kernel, known, step.frame.code)
        return self.names[step.warp]

    def _touched(self, warp: Warp, seen: reference.Requested, before: list[bytes | None]) -> MemoryAccess:
        kind = next((a.dtype for a in self.arrays if _inside(a, seen)), None) or _dtype(seen.instruction)
        moved = [tuple(_values(raw, kind) for raw in state) for state in (before, _memory(warp, seen))]
        return MemoryAccess(named(seen, self.arrays), *moved)


def _flags(mask: np.ndarray) -> tuple[bool, ...]:
    return tuple(mask.tolist())


def _line(warp: Warp, lane: int) -> int | None:
    """The line of the instruction that a lane executes next."""
    code, at = warp.block.codes[int(warp.code[lane])], int(warp.pc[lane])
    while at < len(code.body) and isinstance(code.body[at], Label):
        at += 1
    return code.lines[at] if at < len(code.lines) else None


def _inside(array: ArrayInfo, seen: reference.Requested) -> bool:
    """Whether an access to global memory falls into an argument's array."""
    if seen.space != "global" or not seen.mask.any():
        return False
    return array.address <= int(seen.addresses[np.argmax(seen.mask)]) < array.address + array.nbytes


def _memory(warp: Warp, seen: reference.Requested) -> list[bytes | None]:
    """The bytes that each lane of an access touches, as they are now."""
    window = warp.windows(seen.space)
    hosts = seen.addresses if window is None else seen.addresses + window[0]
    return [ctypes.string_at(int(at), seen.nbytes) if on else None for at, on in zip(hosts, seen.mask, strict=True)]


def _dtype(instruction: object) -> str:
    """The NumPy dtype of the values that an instruction moves: bits are unsigned; 32 bits where it has no type."""
    assert isinstance(instruction, Instruction)
    kind = next((word for word in reversed(instruction.modifiers) if word in reference.isa.TYPES), "b32")
    bits = reference.isa.TYPES[kind].bits
    return {"f16": "float16", "f32": "float32", "f64": "float64"}.get(
        kind, f"{'i' if kind[0] == 's' else 'u'}{bits // 8}"
    )


def _values(raw: bytes | None, kind: str) -> object:
    if raw is None:
        return None
    dtype = np.dtype(kind)
    if len(raw) % dtype.itemsize:
        dtype = np.dtype(np.uint8)
    found = np.frombuffer(raw, dtype).tolist()
    return found[0] if len(found) == 1 else tuple(found)
