"""Conversions of pairs of small floats in the reference interpreter."""

from __future__ import annotations

import numpy as np

from vgpu import isa
from vgpu.isa import in_numpy as py
from vgpu.isa import small
from vgpu.ptx import Instruction
from vgpu.reference.warp import Frame, Warp


def convert_pair(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> bool:
    """A `cvt` to or from two floats of 8, 6 or 4 bits; False for every other one."""
    found = small.conversion(instruction.modifiers)
    if found is None:
        return False
    target, *sources = instruction.operands
    field = found.small.field if found.small else 8
    packed = isa.TYPES[f"b{2 * field}"]
    if found.narrows:
        assert found.small is not None, "ue8m0 is only widened"
        if found.wide == "f32":
            high, low = (warp.read(frame, source, isa.TYPES["f32"]) for source in sources)
        else:
            words = warp.read(frame, sources[0], isa.TYPES["b32"]).view(np.uint16)
            low, high = (py.from_half(isa.PACKED[found.wide], words[index::2].copy()) for index in (0, 1))
        low, high = (small.encode(found.small, value, found.relu) for value in (low, high))
        warp.write(frame, target, (low | high << field).astype(packed.dtype), packed, mask)
        return True
    codes = warp.read(frame, sources[0], packed).astype(np.uint32)
    parts = [codes & ((1 << field) - 1), codes >> np.uint32(field)]
    if found.small is None:
        halves = [_power(part) for part in parts]
    else:
        numbers = [small.decode(found.small, part, found.relu) for part in parts]
        halves = [np.where(np.isnan(v), np.uint16(0x7FFF), py.to_half("f16", v)) for v in numbers]
    low, high = (half.astype(np.uint32) for half in halves)
    warp.write(frame, target, low | high << np.uint32(16), isa.TYPES["b32"], mask)
    return True


def _power(code: np.ndarray) -> np.ndarray:
    """`ue8m0`: powers of two, as bf16."""
    value = np.where(code == 255, np.nan, np.ldexp(1.0, code.astype(int) - 127))
    return py.to_half("bf16", value.astype(np.float32))
