"""How the operands of an instruction are written as shapes, and whether given operands fit them.

A shape is a letter, the bits of the operand's register, and `*` and a number for a vector:

    d  a register that is written         a  one that is read and written
    w  the same, or a wider one          q  a predicate that is written
    s  a register or number that is read  r  the same, or a wider register     p  a predicate that is read
    x  as `s`, or `p`                     b  as `s`, and a number from 0 to 15
    m  memory `[address]`                 t  a texture `[handle, coordinates]` i  a number             l  a name
    n  1 or -1       o  0 or 1       f  as `p`, or 0 or 1       u  a number from 0       e  a count of registers
    y  a list of names

`D` and `Q` may be the sink `_`; `d|q` is a pair of results or the first of them, `d|q!` a pair with a predicate; `?`
ends what may be missing.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from vgpu.ptx import TYPE_BYTES, Imm, Mem, Not, Pair, Reg, Special, Sym, Vec

Words = tuple[str, ...]
BARRIERS = 16  # of a block

Registers: TypeAlias = Mapping[str, str]
Shape: TypeAlias = tuple[str, ...] | str | None
"""The shapes of an instruction's operands, what is wrong with the instruction, or None for an unknown one."""


def width(kind: str) -> int:
    """The bits of a register of this type."""
    return 1 if kind == "pred" else 8 * TYPE_BYTES[kind]


def wrong_operands(given: tuple, shape: tuple[str, ...], registers: Mapping[str, str]) -> str | None:
    """What is wrong with operands that should have these shapes, in words; None if they fit."""
    least = sum(not one.endswith("?") for one in shape)
    if not least <= len(given) <= len(shape):
        return f"has {len(given)} operands, and takes {least if least == len(shape) else f'{least} to {len(shape)}'}"
    for number, (operand, one) in enumerate(zip(given, shape, strict=False), 1):
        wrong = wrong_operand(operand, one.rstrip("?"), registers)
        if wrong:
            return f"cannot have its operand {number} like this: it has to be {wrong}"
    return None


def wrong_operand(operand: Any, shape: str, registers: Mapping[str, str]) -> str | None:
    """What is expected instead of an operand, in words; None if it fits."""
    if shape.endswith("!"):
        shape = shape[:-1]
        if not isinstance(operand, Pair) or operand.second is None:
            return "a register and a predicate (`d|p`)"
    if isinstance(operand, Pair) and "|" in shape:
        first, second = shape.split("|")  # each of the two may be dropped
        both = ((operand.first, first if "*" in first else first.upper()), (operand.second, second.upper()))
        return next((wrong for one, wanted in both if (wrong := wrong_operand(one, wanted, registers))), None)
    letter, sink, bits, count = _read(shape)
    if count and (count > 1 or isinstance(operand, Vec)):
        if not isinstance(operand, Vec) or len(operand.items) != count:
            return f"a vector of {count}"
        one = f"{letter.upper() if letter in 'dw' else letter}{bits}"
        return next((wrong for item in operand.items if (wrong := wrong_operand(item, one, registers))), None)
    if sink if operand is None else _FITS[letter](operand, bits, registers):
        return None
    return _WORDS[letter].format(bits)


@lru_cache(maxsize=256)
def _read(shape: str) -> tuple[str, bool, int, int]:
    """The letter of a shape, whether it may be the sink, its bits and the length of the vector (1: or a scalar)."""
    one, _, count = shape.partition("|")[0].partition("*")
    return one[0].lower(), one[0].isupper(), int(one[1:] or 0), int(count or 0)


def _register(operand: Any, bits: int, registers: Registers, wider: bool = False) -> bool:
    if not isinstance(operand, Reg):
        return False
    have = width(registers[operand.name])
    return have > 1 and (have >= bits if wider else have == bits)


def _value(operand: Any, bits: int, registers: Registers, wider: bool = False) -> bool:
    return isinstance(operand, (Imm, Special, Sym)) or _register(operand, bits, registers, wider)


def _predicate(operand: Any, _: int, registers: Registers) -> bool:
    return isinstance(operand, Reg) and registers[operand.name] == "pred"


def _condition(operand: Any, _: int, registers: Registers) -> bool:
    """A source predicate, perhaps negated, or a number in its place."""
    return isinstance(operand, Imm) or _predicate(operand.reg if isinstance(operand, Not) else operand, _, registers)


def _address(operand: Any, _: int, registers: Registers) -> bool:
    """`[address]`: a register of 32 or 64 bits, a name or a number."""
    if not isinstance(operand, Mem) or operand.coordinates is not None:
        return False
    return not isinstance(operand.base, Reg) or width(registers[operand.base.name]) in (32, 64)


def _in_tensor_memory(operand: Any, _: int, registers: Registers) -> bool:
    """`[address]` of tensor memory: a register of 32 bits."""
    plain = isinstance(operand, Mem) and operand.coordinates is None and isinstance(operand.base, Reg)
    return plain and width(registers[operand.base.name]) == 32


def _box(operand: Any, least: int, most: int, registers: Registers) -> bool:
    """`[handle, {coordinates}]` with so many coordinates; compilers add some that are ignored."""
    if not isinstance(operand, Mem) or not least <= len(operand.coordinates or ()) <= most:
        return False
    plain = Mem(operand.base, operand.offset)
    return _address(plain, 0, registers) and all(_value(one, 32, registers) for one in operand.coordinates or ())


_NUMBERS: dict[str, Container[int]] = {  # what `setmaxnreg` sets: "PTX ISA", setmaxnreg
    "n": (1, -1), "o": (0, 1), "u": range(1 << 32), "e": range(24, 257, 8), "h": range(16), "j": range(512),
}  # fmt: skip


def _one_number(values: Container[int]) -> Callable[[Any, int, Registers], bool]:
    return lambda operand, bits, registers: isinstance(operand, Imm) and operand.value in values


_FITS: dict[str, Callable[[Any, int, Registers], bool]] = {
    "d": _register,
    "a": _register,
    "w": lambda operand, bits, registers: _register(operand, bits, registers, True),
    "q": _predicate,
    "s": _value,
    "r": lambda operand, bits, registers: _value(operand, bits, registers, True),
    "p": _condition,
    "x": lambda operand, bits, registers: _condition(operand, bits, registers) or _value(operand, bits, registers),
    "b": lambda operand, bits, registers: (
        _value(operand, bits, registers) and (not isinstance(operand, Imm) or 0 <= operand.value < BARRIERS)
    ),
    "m": _address,
    "z": _in_tensor_memory,
    "t": lambda operand, axes, registers: _box(operand, axes, 4, registers),
    "c": lambda operand, axes, registers: _box(operand, axes, axes, registers),
    "i": lambda operand, bits, registers: isinstance(operand, Imm),
    "f": lambda operand, bits, registers: (
        _condition(operand, bits, registers) and (not isinstance(operand, Imm) or operand.value in (0, 1))
    ),
    **{letter: _one_number(values) for letter, values in _NUMBERS.items()},
    "l": lambda operand, bits, registers: isinstance(operand, Sym) and not operand.offset,
    "y": lambda operand, bits, registers: (
        isinstance(operand, Vec) and bool(operand.items) and all(_FITS["l"](one, 0, registers) for one in operand.items)
    ),
}
_WORDS = {
    "d": "a register of {} bits", "a": "a register of {} bits", "w": "a register of {} bits or more",
    "q": "a predicate",
    "s": "a register of {} bits or a number", "r": "a register of {} bits or more or a number", "p": "a predicate",
    "x": "a register of {} bits, a number or a predicate", "b": "the number of a barrier, 0 to 15",
    "m": "an address in brackets, in a register of 32 or 64 bits", "t": "a texture and its coordinates in brackets",
    "c": "a tensor map and {} coordinates in brackets",
    "i": "a number", "l": "a name", "n": "1 or -1", "o": "0 or 1", "f": "a predicate, 0 or 1",
    "u": "a number from 0", "h": "a number from 0 to 15", "j": "a number from 0 to 511",
    "z": "an address of tensor memory in brackets, in a register of 32 bits",
    "e": "a multiple of 8 from 24 to 256", "y": "the name of a list of labels (`.branchtargets`) above",
}  # fmt: skip
