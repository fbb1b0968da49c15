"""The first block of a pair by an address in the second: kernels clear a bit of the rank in a shared-memory address.

In a GPU's addresses of the cluster's shared memory the rank begins at bit 24. So for tensor copies of `.cta_group::2`
kernels take an mbarrier's address without this bit for that of the same mbarrier in the block with the even rank. Here
ranks stand otherwise in an address (`runtime/cluster.py`), and `getctarank` and `mapa` say the same.
Sources: NVIDIA "PTX ISA", cp.async.bulk.tensor, .cta_group; CUTLASS, `cute/arch/copy_sm100_tma.hpp`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from vgpu.ptx import Function, Imm, Instruction, Module, Reg

_ALL_BUT_ODD = 0xFEFFFFFF
_ALIGNED = 0x3FF  # the compiler may also clear bits that it knows to be 0, since an mbarrier is aligned


def written_out(module: Module) -> Module:
    """The module with instructions that ask for the even rank, where functions have copies for pairs of blocks."""
    using = {name: _written(function) for name, function in module.functions.items() if _copies(function)}
    return replace(module, functions=module.functions | using) if using else module


def _copies(function: Function) -> bool:
    return any(
        isinstance(each, Instruction) and each.opcode == "cp" and "cta_group::2" in each.modifiers
        for each in function.body or ()
    )


def _written(function: Function) -> Function:
    body = [
        one
        for each in function.body or ()
        for one in (_even(each) if isinstance(each, Instruction) and _clears(each) else (each,))
    ]
    return replace(function, registers=function.registers | {"$even": "b32"}, body=tuple(body))


def _clears(each: Instruction) -> bool:
    return (
        (each.opcode, each.modifiers) == ("and", ("b32",))
        and isinstance(each.operands[2], Imm)
        and (each.operands[2].value | _ALIGNED) & 0xFFFFFFFF == _ALL_BUT_ODD
    )


def _even(old: Instruction) -> Iterator[Instruction]:
    def made(opcode: str, words: tuple[str, ...], *operands: Any) -> Instruction:
        return replace(old, opcode=opcode, modifiers=words, operands=operands)

    target, address, _ = old.operands
    yield made("getctarank", ("shared::cluster", "u32"), Reg("$even"), address)
    yield made("and", ("b32",), Reg("$even"), Reg("$even"), Imm(-2))
    yield made("mapa", ("shared::cluster", "u32"), target, address, Reg("$even"))
