"""Registers of 128 bits in the reference interpreter: move, load, store, exchange, compare and swap."""

from __future__ import annotations

import ctypes

import numpy as np

from vgpu import isa
from vgpu.base.errors import Unsupported
from vgpu.ptx import Instruction, Reg
from vgpu.ptx import Vec as Vector
from vgpu.reference import memory as mem
from vgpu.reference.warp import LANES, Frame, Warp

B64 = isa.TYPES["b64"]


def is_wide(instruction: Instruction) -> bool:
    return "b128" in instruction.modifiers


def read(warp: Warp, frame: Frame, operand: object) -> np.ndarray:
    """32 rows of 16 bytes."""
    if isinstance(operand, Vector):
        halves = [warp.read(frame, item, B64) for item in operand.items]
        return np.ascontiguousarray(np.stack(halves, axis=1)).view(np.uint8)
    if not isinstance(operand, Reg):
        raise Unsupported(f"An operand {operand} of 128 bits is not known to the virtual GPU.")
    return frame.wide.setdefault(operand.name, np.zeros((LANES, 16), np.uint8))


def write(warp: Warp, frame: Frame, operand: Vector | Reg | None, rows: np.ndarray, mask: np.ndarray) -> None:
    """Write 32 rows of 16 bytes where `mask` is set."""
    if isinstance(operand, Vector):
        halves = np.ascontiguousarray(rows).view(np.uint64)
        for index, item in enumerate(operand.items):
            warp.write(frame, item, halves[:, index], B64, mask)
    elif operand is not None:
        frame.wide[operand.name] = np.where(mask[:, None], rows, read(warp, frame, operand))


def move(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    target, source = instruction.operands
    write(warp, frame, target, read(warp, frame, source), mask)


def access(warp: Warp, frame: Frame, instruction: Instruction, mask: np.ndarray) -> None:
    """`ld`, `st` and `atom` of 128 bits."""
    operands, store = list(instruction.operands), instruction.opcode == "st"
    kind = {"ld": "load", "st": "store"}.get(instruction.opcode, "atomic")
    target = None if store else operands.pop(0)
    space = mem.space_of(instruction.modifiers)
    hosts = mem.access(warp, instruction, mask, warp.addresses(frame, operands[0]), space, kind, 16)
    given = [read(warp, frame, operand) for operand in operands[1:]]
    if store:
        mem.write(hosts, mask, given[0])
    elif kind == "load":
        write(warp, frame, target, mem.read(hosts, mask, 16), mask)
    else:
        write(warp, frame, target, _atomic(instruction, hosts, mask, given), mask)


def _atomic(instruction: Instruction, hosts: np.ndarray, mask: np.ndarray, given: list[np.ndarray]) -> np.ndarray:
    if not {"cas", "exch"} & set(instruction.modifiers):
        raise Unsupported(f"The atomic instruction {instruction} is not known to the virtual GPU.")
    before = np.zeros((LANES, 16), np.uint8)
    for lane in np.flatnonzero(mask):
        old = ctypes.string_at(int(hosts[lane]), 16)
        before[lane] = np.frombuffer(old, np.uint8)
        if "exch" in instruction.modifiers or old == given[0][lane].tobytes():
            ctypes.memmove(int(hosts[lane]), given[-1][lane].tobytes(), 16)
    return before
