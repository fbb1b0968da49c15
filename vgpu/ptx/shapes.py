"""The syntax of each instruction that is not arithmetic: the words after its opcode, and its operands.

An instruction that is not exactly of such a shape is refused before it is lowered, so that its lowering may rely
on the number of its operands, on their classes and on the widths of its registers (`operand_shapes`).
Source: NVIDIA "PTX ISA".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from vgpu.ptx import Instruction, tensor_maps
from vgpu.ptx.operand_shapes import Shape, Words, width, wrong_operands
from vgpu.ptx.tensor_shapes import in_tensor_memory, matrices, with_operands, wrong_selector

COUNTED = "counted"  # no word of PTX, but added for a reducing barrier that says for how many threads it waits

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


def _shuffle(opcode: str, words: Words) -> Shape:
    if words[-1] != "b32":
        return "names no type that shfl knows"
    return ("D32|q", "s32", "s32", "s32", *(("s32",) if "sync" in words else ()))


def _vote(opcode: str, words: Words) -> Shape:
    if opcode == "activemask":
        return ("d32",)
    return ("d32" if "ballot" in words else "q", "p", *(("s32",) if "sync" in words else ()))


def _match(opcode: str, words: Words) -> Shape:
    if words[-1] not in ("b32", "b64"):
        return "names no type that match knows"
    return ("D32|q" if "all" in words else "d32", f"s{words[-1][1:]}", "s32")


def _redux(opcode: str, words: Words) -> Shape:
    return ("d32", "s32", "s32") if words[-1] in ("u32", "s32", "b32", "f32") else "names no type that redux knows"


def _elect(opcode: str, words: Words) -> Shape:
    return ("D32|q!", "s32")


def _barrier(opcode: str, words: Words) -> Shape:
    if "cluster" in words:
        return ()
    if "warp" in words:
        return ("s32",)
    if "arrive" in words:
        return ("b32", "s32")
    if "red" in words:
        return ("d32" if "popc" in words else "q", "b32", *(("s32",) if COUNTED in words else ()), "p")
    return ("b32", "s32?")


def _policy(opcode: str, words: Words) -> Shape:
    """`createpolicy`: how much of an array, or which part of memory, caches should keep."""
    return ("d64", *{"fractional": ("s32?",), "range": ("m", "s32", "s32"), "cvt": ("s64",)}[
        next(word for word in words if word in ("fractional", "range", "cvt"))
    ])  # fmt: skip


def _inspect(opcode: str, words: Words) -> Shape:
    return ("q", "s64")


def _address_of(opcode: str, words: Words) -> Shape:
    return ("d64", "s64") if words and words[-1] == "u64" else "takes addresses of 64 bits (.u64) here"


def _cluster(opcode: str, words: Words) -> Shape:
    """`mapa` and `getctarank`: of 32 bits with a space, of either size without."""
    if words[-1] not in ("u32", "u64"):
        return "takes addresses of type u32 or u64"
    bits = words[-1][1:]
    return (f"d{bits}", f"s{bits}", "s32") if opcode == "mapa" else ("d32", f"s{bits}")


def _fence(opcode: str, words: Words) -> Shape:
    if opcode == "fence" and "proxy" in words and any("generic" in word for word in words):
        return ("m?", "i?")
    return _FENCES[opcode]


_FENCES = {
    "membar": (), "fence": (), "nanosleep": ("s32",), "prefetch": ("m",), "prefetchu": ("m",), "discard": ("m", "i"),
    "applypriority": ("m", "i"), "pmevent": ("i",), "setmaxnreg": ("e",), "griddepcontrol": (),
}  # fmt: skip


# ---------------------------------------------------------------- textures and surfaces

_AXES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3}  # coordinates, the layer among them
_SLOPES = {"1d": 1, "a1d": 1, "2d": 2, "a2d": 2, "3d": 4}  # how many numbers each derivative of `.grad` has


def _texture(opcode: str, words: Words) -> Shape:
    if [word for word in words if word in _LANES] != ["v4"]:
        return "gives other than four numbers (.v4)"
    if opcode == "tld4" and len({*"rgba"} & {*words}) != 1:
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
    "elect": _elect, "tensor": matrices, "tensor_memory": in_tensor_memory, "texture": _texture, "surface": _surface,
    "texture_query": _query,
}  # fmt: skip


@lru_cache(maxsize=4096)
def _shape(kind: str, opcode: str, words: Words) -> Shape:
    return SHAPES[kind](opcode, words)


def has_shape(kind: str, instruction: Instruction) -> bool:
    """Whether an instruction of a kind in `SHAPES` is one that the virtual GPU runs, so that its operands are known."""
    return isinstance(_shape(kind, instruction.opcode, with_operands(instruction)), tuple)


def wrong_shape(kind: str, instruction: Instruction, registers: Mapping[str, str]) -> str | None:
    """What is wrong with an instruction of a kind with a row in `SHAPES`, in words; None if it is right.

    None, too, for one that the virtual GPU doesn't run, whatever its operands: its lowering refuses it by name.
    """
    words, given = with_operands(instruction), instruction.operands
    if kind == "barrier" and "red" in words and len(given) == 4:
        words = (*words, COUNTED)
    shape = _shape(kind, instruction.opcode, words)
    if shape is None or isinstance(shape, str):
        return shape
    more = {"tensor": wrong_selector, "tensor_map": tensor_maps.wrong_number}.get(kind)
    return wrong_operands(given, shape, registers) or (more(instruction) if more else None)
