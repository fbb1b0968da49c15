"""The syntax of each instruction that is not arithmetic: the words after its opcode, and its operands.

An instruction that is not exactly of such a shape is refused before it is lowered, so that its lowering may rely
on the number of its operands, on their classes and on the widths of its registers. An operand is written as a letter,
the bits of its register, and `*` and a number for a vector:

    d  a register that is written         a  one that is read and written
    w  the same, or a wider one          q  a predicate that is written
    s  a register or number that is read  r  the same, or a wider register     p  a predicate that is read
    x  as `s`, or `p`                     b  as `s`, and a number from 0 to 15
    m  memory `[address]`                 t  a texture `[handle, coordinates]` i  a number             l  a name
    n  1 or -1       o  0 or 1       f  as `p`, or 0 or 1       u  a number from 0       e  a count of registers
    y  a list of names

`D` and `Q` may be the sink `_`; `d|q` is a pair of results or the first of them, `d|q!` a pair with a predicate; `?`
ends what may be missing. Source: NVIDIA "PTX ISA".
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from vgpu.isa import tensor, tensor_memory, umma, warpgroup
from vgpu.ptx import TYPE_BYTES, Imm, Instruction, Mem, Not, Pair, Reg, Special, Sym, Vec, tensor_maps

Words = tuple[str, ...]
BARRIERS = 16  # of a block
# No words of PTX, but added by `wrong_shape`: for a reducing barrier that says for how many threads it waits, for
# `wgmma` that has A in registers, and for `tcgen05.mma` that has A in tensor memory or names lanes of D to be kept.
COUNTED, IN_REGISTERS, IN_MEMORY, MASKED = "counted", "registers", "memory", "masked"


Registers: TypeAlias = Mapping[str, str]
Shape: TypeAlias = tuple[str, ...] | str | None
"""The shapes of an instruction's operands, what is wrong with the instruction, or None for an unknown one."""


def width(kind: str) -> int:
    """The bits of a register of this type."""
    return 1 if kind == "pred" else 8 * TYPE_BYTES[kind]


# ---------------------------------------------------------------- operands


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


# ---------------------------------------------------------------- words

_GROUPS = {
    "how": "weak volatile relaxed acquire release acq_rel sc", "scope": "cta cluster gpu sys",
    "space": "global shared shared::cta shared::cluster local const param param::entry param::func",
    "cache": "ca cg cs lu cv wb wt", "nc": "nc", "mmio": "mmio", "hint": "L2::cache_hint",
    "fetch": "L2::64B L2::128B L2::256B",
    "L1": "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate",
    "L2": "L2::evict_normal L2::evict_first L2::evict_last", "vector": "v2 v4 v8",
    "type": "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64",
    "operation": "add min max and or xor exch inc dec cas", "noftz": "noftz",
    "async": "async", "completion": "mbarrier::complete_tx::bytes",
}  # fmt: skip
GROUP_OF = {word: group for group, words in _GROUPS.items() for word in words.split()}
_TAKES = {
    "ld": {"how", "mmio", "scope", "space", "cache", "nc", "hint", "fetch", "L1", "L2", "vector", "type"},
    "ldu": {"space", "vector", "type"},
    "st": {"how", "mmio", "scope", "space", "cache", "hint", "L1", "L2", "vector", "type", "async", "completion"},
    "atom": {"how", "scope", "space", "operation", "hint", "noftz", "vector", "type"},
}
_TAKES["red"] = _TAKES["atom"] | {"async", "completion"}
_LANES = {"v2": 2, "v4": 4, "v8": 8}


def _groups(opcode: str, words: Words) -> dict[str, str] | str:
    """The word of each group, or what is wrong."""
    found: dict[str, str] = {}
    for word in words:
        group = GROUP_OF.get(word)
        if group not in _TAKES[opcode]:
            return f"says .{word}, which {opcode} does not know"
        if group in found:
            return f"says both .{found[group]} and .{word}"
        found[group] = word
    if not words or "type" not in found or words[-1] != found["type"]:
        return "names no type"
    return found


def _memory(opcode: str, words: Words) -> tuple[str, ...] | str:
    found = _groups(opcode, words)
    if isinstance(found, str):
        return found
    bits, lanes = width(found["type"]), _LANES.get(found.get("vector", ""), 1)
    if bits * lanes > (256 if found.get("vector") else 128):
        return f"moves {bits * lanes} bits at once"
    vector = f"*{lanes}" if lanes > 1 else ""
    policy = ("s64",) if "hint" in found else ()
    if "async" in found:
        if found.get("space") != "shared::cluster" or "completion" not in found or "hint" in found:
            return "is no asynchronous store to a cluster's shared memory, with an mbarrier"
        policy = ("m",)
    if opcode not in ("ld", "ldu") and found.get("space") in ("const", "param::entry"):
        return f"writes .{found['space']} memory, which kernels only read"
    if opcode in ("ld", "ldu"):
        return (f"{'w' if vector else 'W'}{bits}{vector}", "m", *policy)
    if opcode == "st":
        return ("m", f"r{bits}{vector}", *policy)
    if "operation" not in found:
        return "names no operation"
    values = (f"s{bits}{vector}",) * (1 + (found["operation"] == "cas"))
    return (*((f"D{bits}{vector}",) if opcode == "atom" else ()), "m", *values, *policy)


# ---------------------------------------------------------------- what lanes and warps do together


def _one_of(choices: str, words: Words) -> bool:
    return sum(word in choices.split() for word in words) == 1


def _shuffle(opcode: str, words: Words) -> Shape:
    if not _one_of("up down bfly idx", words):
        return "says none of bfly, down, idx, up"
    if words[-1] != "b32":
        return "names no type that shfl knows"
    return ("D32|q", "s32", "s32", "s32", *(("s32",) if "sync" in words else ()))


def _vote(opcode: str, words: Words) -> Shape:
    if opcode == "activemask":
        return ("d32",)
    if not _one_of("all any uni ballot", words):
        return "is no vote that PTX has"
    return ("d32" if "ballot" in words else "q", "p", *(("s32",) if "sync" in words else ()))


def _match(opcode: str, words: Words) -> Shape:
    if not _one_of("any all", words):
        return "says none of all, any"
    if words[-1] not in ("b32", "b64"):
        return "names no type that match knows"
    return ("D32|q" if "all" in words else "d32", f"s{words[-1][1:]}", "s32")


def _redux(opcode: str, words: Words) -> Shape:
    if not _one_of("add min max and or xor", words):
        return "says none of add, and, max, min, or, xor"
    operation = next(word for word in words if word in _REDUCED)
    if words[-1] not in _REDUCED[operation]:
        return f"names no type that redux.{operation} knows"
    more = set(words) - {"sync", operation, words[-1]}
    if more - ({"abs", "NaN"} if words[-1] == "f32" else set()):
        return f"says .{sorted(more)[0]}, which redux.{operation}.{words[-1]} does not know"
    return ("d32", "s32", "s32")


_REDUCED = {
    "add": ("u32", "s32"), **dict.fromkeys(("min", "max"), ("u32", "s32", "f32")),
    **dict.fromkeys(("and", "or", "xor"), ("b32",)),
}  # fmt: skip


def _elect(opcode: str, words: Words) -> Shape:
    return ("D32|q!", "s32") if words == ("sync",) else "is no election that PTX has"


def _dependent(opcode: str, words: Words) -> Shape:
    return () if words in (("wait",), ("launch_dependents",)) else "says neither .wait nor .launch_dependents"


def _barrier(opcode: str, words: Words) -> Shape:
    if "cluster" in words:
        return () if _one_of("arrive wait", words) else "says none of arrive, wait"
    if "warp" in words:
        return ("s32",)
    if not _one_of("sync arrive red", words):
        return "is no barrier that PTX has"
    if "arrive" in words:
        return ("b32", "s32")
    if "red" in words:
        if not _one_of("popc and or", words):
            return "says none of and, or, popc"
        return ("d32" if "popc" in words else "q", "b32", *(("s32",) if COUNTED in words else ()), "p")
    return ("b32", "s32?")


def _policy(opcode: str, words: Words) -> Shape:
    """`createpolicy`: how much of an array, or which part of memory, caches should keep."""
    if not _one_of("fractional range cvt", words):
        return "says none of cvt, fractional, range"
    return ("d64", *{"fractional": ("s32?",), "range": ("m", "s32", "s32"), "cvt": ("s64",)}[
        next(word for word in words if word in ("fractional", "range", "cvt"))
    ])  # fmt: skip


def _inspect(opcode: str, words: Words) -> Shape:
    if sum(GROUP_OF.get(word) == "space" for word in words) != 1:
        return "names no space"
    return ("q", "s64")


def _address_of(opcode: str, words: Words) -> Shape:
    return ("d64", "s64") if words and words[-1] == "u64" else "takes addresses of 64 bits (.u64) here"


def _cluster(opcode: str, words: Words) -> Shape:
    """`mapa` and `getctarank`: of 32 bits with a space, of either size without."""
    if words[-1:] not in (("u32",), ("u64",)) or not set(words[:-1]) <= {"shared::cluster"}:
        return "takes addresses of type u32 or u64"
    bits = words[-1][1:]
    return (f"d{bits}", f"s{bits}", "s32") if opcode == "mapa" else ("d32", f"s{bits}")


def _fence(opcode: str, words: Words) -> Shape:
    if opcode == "griddepcontrol":
        return _dependent(opcode, words)
    if opcode == "fence" and "proxy" in words and any("generic" in word for word in words):
        return ("m?", "i?")
    if opcode == "setmaxnreg" and words not in (("inc", "sync", "aligned", "u32"), ("dec", "sync", "aligned", "u32")):
        return "is no setmaxnreg that PTX has: those are setmaxnreg.inc.sync.aligned.u32 and .dec"
    return _FENCES[opcode]


_FENCES = {
    "membar": (), "fence": (), "nanosleep": ("s32",), "prefetch": ("m",), "prefetchu": ("m",), "discard": ("m", "i"),
    "applypriority": ("m", "i"), "pmevent": ("i",), "setmaxnreg": ("e",),
}  # fmt: skip


# ---------------------------------------------------------------- tensor cores


def _fragment(f: tensor.Fragment, wmma: bool) -> str:
    # `wmma` gives 16-bit floats of A and B eight registers whatever their shape.
    count = 8 if wmma and f.type == "f16" and not f.accumulates else f.registers
    return f"{f.width}*{count}"


def _tensor(opcode: str, words: Words) -> Shape:
    if opcode in ("ldmatrix", "stmatrix"):
        rows = tensor.rows(opcode, words)
        if rows is None:
            return None
        registers = f"32*{rows.matrices * rows.registers}"
        return ("d" + registers, "m") if opcode == "ldmatrix" else ("m", "s" + registers)
    if opcode == "movmatrix":
        return ("d32", "s32")
    if opcode == "wgmma":
        return _warpgroup(words)
    if opcode == "wmma" and "mma" not in words:
        if len(words) < 2 or words[0] not in ("load", "store") or words[1] not in "abcd":
            return "is no move of a matrix that PTX has"
        moved = tensor.move(words)
        if moved is None:
            return None
        registers = _fragment(moved.fragment, True)
        return ("d" + registers, "m", "s32?") if words[0] == "load" else ("m", "s" + registers, "s32?")
    found = tensor.product(opcode, words)
    if found is None:
        return None
    *sources, result = (_fragment(each, opcode == "wmma") for each in found.fragments)
    return ("d" + result, *("s" + one for one in sources), *(("s32", "s16*2") * (2 if found.scales else 0)))


def _wrong_selector(instruction: Instruction) -> str | None:
    """What is wrong with the numbers that select scales, in words."""
    found = tensor.product(instruction.opcode, instruction.modifiers)
    for operand, allowed in zip(instruction.operands[5::2], found.selectors if found else (), strict=False):
        for item, values in zip(operand.items, allowed, strict=True):
            if isinstance(item, Imm) and item.value not in values:
                return f"selects scales by {item.value}: it has to be one of {', '.join(map(str, values))}"
    return None


def _warpgroup(words: Words) -> Shape:
    if words and words[0] in warpgroup.WAITS:
        right = words[1:] == ("sync", "aligned")
        return warpgroup.WAITS[words[0]] if right else f"is no wgmma.{words[0]} that PTX has: it is .sync.aligned"
    in_registers = IN_REGISTERS in words
    found = warpgroup.product(tuple(word for word in words if word != IN_REGISTERS))
    return None if found is None else warpgroup.operands(found, in_registers)


def _tensor_memory(opcode: str, words: Words) -> Shape:
    said = tuple(word for word in words if word not in (IN_MEMORY, MASKED))
    name, found = tensor_memory.form(said) or ("", ())
    if name in ("ld", "st"):
        moved = tensor_memory.move(said)
        if moved is None:
            return f"moves .x{found[1]} of .{found[0]}, which PTX doesn't have"
        split = ("j",) if moved.splits else ()
        registers = f"32*{moved.registers}"
        return ("z", *split, "s" + registers) if moved.store else ("d" + registers, "z", *split)
    if name == "commit":
        return ("m", "s16") if found[2] else ("m",)
    if name != "mma":
        return _IN_TENSOR_MEMORY.get(name)
    product = umma.variant(said, IN_MEMORY in words)
    if product is None:
        return None
    lanes = (f"s32*{4 * product.ctas}",) if MASKED in words and not product.scales else ()
    more = ("z", "z", "f") if product.scales else (*lanes, "f", *(("h?",) if product.kind in ("f16", "tf32") else ()))
    return ("z", "z" if product.in_tensor_memory else "s64", "s64", "s32", *more)


_IN_TENSOR_MEMORY = {
    "alloc": ("m", "s32"), "dealloc": ("s32", "s32"), "relinquish": (), "wait": (), "fence": (), "cp": ("z", "s64"),
    "shift": ("z",),
}  # fmt: skip


# ---------------------------------------------------------------- textures and surfaces

_AXES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3}  # coordinates, the layer among them
_SLOPES = {"1d": 1, "a1d": 1, "2d": 2, "a2d": 2, "3d": 4}  # how many numbers each derivative of `.grad` has


def _texture(opcode: str, words: Words) -> Shape:
    if [word for word in words if word in _LANES] != ["v4"]:
        return "gives other than four numbers (.v4)"
    if opcode == "tld4" and not _one_of("r g b a", words):
        return "names none of the channels .r, .g, .b, .a"
    axes = next((_SLOPES[word] for word in words if word in _SLOPES), 1)
    return (
        "d32*4|q",
        _position(words),
        *((f"s32*{axes}",) * 2 if "grad" in words else ("s32",) if "level" in words else ()),
    )


def _position(words: Words) -> str:
    return f"t{next((_AXES[word] for word in words if word in _AXES), 1)}"


def _surface(opcode: str, words: Words) -> Shape:
    bits = next((int(w[1:]) for w in words if w in ("b8", "b16", "b32", "b64")), 0)
    lanes = next((_LANES[w] for w in words if w in _LANES), 1)
    if not bits or bits * lanes > 128:
        return "names no type that surfaces know"
    position = _position(words)
    return (position, f"r{bits}*{lanes}") if opcode == "sust" else (f"w{bits}*{lanes}", position)


def _query(opcode: str, words: Words) -> Shape:
    return ("d32", "m", *(("s32",) if "level" in words else ()))


def _indexed_branch(opcode: str, words: Words) -> Shape:
    return ("s32", "y") if words in (("idx",), ("idx", "uni")) else "is no branch that PTX has"


# Kind (`isa.KINDS`) -> the shape of an instruction of it: its operands, or in a string what is wrong, or None where the
# virtual GPU has no such instruction, which is said by name when the kernel is compiled.
SHAPES: dict[str, Callable[[str, Words], tuple[str, ...] | str | None]] = {
    "load": _memory, "store": _memory, "atomic": _memory, "address": _address_of, "inspect": _inspect,
    "cluster": _cluster,
    "branch": lambda opcode, words: ("l",), "indexed_branch": _indexed_branch,
    "leave": lambda opcode, words: (), "trap": lambda opcode, words: (),
    "barrier": _barrier, "fence": _fence, "shuffle": _shuffle, "vote": _vote, "match": _match, "redux": _redux,
    "policy": _policy, "tensor_map": lambda opcode, words: tensor_maps.shape(words),
    "elect": _elect, "tensor": _tensor, "tensor_memory": _tensor_memory, "texture": _texture, "surface": _surface,
    "texture_query": _query,
}  # fmt: skip


@lru_cache(maxsize=4096)
def _shape(kind: str, opcode: str, words: Words) -> Shape:
    return SHAPES[kind](opcode, words)


def wrong_shape(kind: str, instruction: Instruction, registers: Mapping[str, str]) -> str | None:
    """What is wrong with an instruction of a kind with a row in `SHAPES`, in words; None if it is right."""
    words, given = instruction.modifiers, instruction.operands
    if kind == "barrier" and "red" in words and len(given) == 4:
        words = (*words, COUNTED)
    if instruction.opcode == "wgmma" and len(given) > 1 and isinstance(given[1], Vec):
        words = (*words, IN_REGISTERS)
    if instruction.opcode == "tcgen05" and "mma" in words:
        words = (*words, *([IN_MEMORY] if len(given) > 1 and isinstance(given[1], Mem) else []))
        words = (*words, *([MASKED] if len(given) > 4 and isinstance(given[4], Vec) else []))
    shape = _shape(kind, instruction.opcode, words)
    if shape is None or isinstance(shape, str):
        return shape
    more = {"tensor": _wrong_selector, "tensor_map": tensor_maps.wrong_number}.get(kind)
    return wrong_operands(given, shape, registers) or (more(instruction) if more else None)
