"""Conversions of two or four numbers at once, to and from small floats, in the reference interpreter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from vgpu import isa
from vgpu.isa import in_numpy as py
from vgpu.isa import small
from vgpu.ptx import Instruction, Vec
from vgpu.reference.warp import LANES, Frame, Warp


def convert_pair(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> bool:
    """A `cvt` of several numbers to or from small floats, or with random bits; False for every other one."""
    found = small.conversion(instruction.modifiers)
    if found is None:
        return False
    target, *sources = instruction.operands
    field = found.field(found.target)
    kind = isa.TYPES[f"b{found.count * field}"]
    result = np.zeros(LANES, np.uint32)
    for code in _codes(warp, frame, found, sources):
        result = result << np.uint32(field) | code
    warp.write(frame, target, result.astype(kind.dtype), kind, mask)
    return True


def _codes(warp: Warp, frame: Frame, found: small.Conversion, sources: list[Any]) -> Iterator[np.ndarray]:
    """The codes of the results, the highest field first."""
    random: list[Any] = [None] * found.count
    if found.rounding == "rs":
        random = small.random_fields(found, warp.read(frame, sources.pop(), isa.TYPES["b32"]))
    for number, some in zip(_numbers(warp, frame, found, sources), random, strict=True):
        if found.target == "ue8m0":
            yield small.encode_power(number, found.rounding == "rp", found.finite)
        elif found.target in small.HALVES and some is None:
            yield np.where(np.isnan(number), 0x7FFF, py.to_half(found.target, number)).astype(np.uint32)
        else:
            yield small.encode(small.SMALL[found.target], number, found.relu, found.finite, some, found.random)


def _numbers(warp: Warp, frame: Frame, found: small.Conversion, sources: list[Any]) -> list[np.ndarray]:
    """What is converted as float32, the highest field first."""
    if found.source == "f32":
        items = sources[0].items if isinstance(sources[0], Vec) else sources
        return [warp.read(frame, item, isa.TYPES["f32"]) for item in items]
    field = found.field(found.source)
    whole = warp.read(frame, sources[0], isa.TYPES[f"b{2 * field}"]).astype(np.uint32)
    parts = [whole >> np.uint32(field), whole & np.uint32((1 << field) - 1)]
    if found.source in small.HALVES:
        return [py.from_half(found.source, part.astype(np.uint16)) for part in parts]
    if found.source == "ue8m0":
        return [small.decode_power(part) for part in parts]
    return [small.decode(small.SMALL[found.source], part, found.relu) for part in parts]
