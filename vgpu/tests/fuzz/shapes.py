"""What accepted instructions must look like, by a table of its own, written from NVIDIA's "PTX ISA" alone.

`wrong(instruction, registers)` is what a fuzzer holds against whatever the verifier let pass: how many operands there
are, of which sort each is, and how many registers a vector has. Sorts, one letter an operand: `d` a register that takes
a result, or `_`; `v` a value; `m` an address in brackets; `p` a predicate; `i` a number; `b` a vector or a register, as
long as the rest of the instruction says; `q` a place for a result with, perhaps, a predicate (`d|p`).
"""

from __future__ import annotations

from math import prod

from vgpu.ptx import Call, Imm, Instruction, Mem, Not, Pair, Reg, Special, Sym, Vec

BITS = {"pred": 1, "b8": 8, "u8": 8, "s8": 8, "b16": 16, "u16": 16, "s16": 16, "f16": 16, "bf16": 16, "b32": 32,
        "u32": 32, "s32": 32, "f32": 32, "f16x2": 32, "bf16x2": 32, "tf32": 32, "b64": 64, "u64": 64, "s64": 64,
        "f64": 64, "f32x2": 64, "b128": 128, "b1": 1, "u4": 4, "s4": 4, "e4m3": 8, "e5m2": 8, "e3m2": 8, "e2m3": 8,
        "e2m1": 4}  # fmt: skip
# Opcode -> the shapes it may have.
PLAIN = {
    **dict.fromkeys(("abs", "neg", "not", "cnot", "popc", "clz", "brev", "sqrt", "rsqrt", "rcp", "sin", "cos", "lg2",
                     "ex2", "tanh", "bfind", "cvta"), ("dv",)),
    **dict.fromkeys(("add", "sub", "mul", "mul24", "div", "rem", "shl", "shr", "addc", "subc", "copysign", "bmsk",
                     "szext"), ("dvv",)),
    **dict.fromkeys(("min", "max"), ("dvv", "dvvv")),
    **dict.fromkeys(("mad", "madc", "mad24", "fma", "sad", "prmt", "slct", "bfe", "shf", "dp4a", "dp2a", "fns",
                     "vadd2", "vadd4", "vsub2", "vsub4", "vmin2", "vmin4", "vmax2", "vmax4", "vabsdiff2", "vabsdiff4",
                     "vset2", "vset4"), ("dvvv",)),
    "bfi": ("dvvvv",), "lop3": ("dvvvi", "qvvvip"), "selp": ("dvvp",),
    "set": ("dvv", "dvvp"), "setp": ("Qvv", "Qvvp"), "testp": ("Pv",), "isspacep": ("Pv",),
    "activemask": ("d",), "redux": ("dvv",), "match": ("qvv",), "elect": ("qv",), "nanosleep": ("v",),
    "pmevent": ("i",), "setmaxnreg": ("i",), "griddepcontrol": ("",), "membar": ("",), "fence": ("", "mi"),
    "prefetch": ("m",), "prefetchu": ("m",), "discard": ("mi",), "applypriority": ("mi",), "ret": ("",), "exit": ("",),
    "trap": ("",), "brkpt": ("",), "movmatrix": ("dv",), "txq": ("dm",), "suq": ("dm",), "bra": ("s",),
    "mapa": ("dvv",), "getctarank": ("dv",),
}  # fmt: skip
BARRIER = {"sync": ("v", "vv"), "arrive": ("vv",), "red": ("dvp", "dvvp", "Pvp", "Pvvp")}
MBARRIER = {"init": ("mv",), "inval": ("m",), "arrive": ("dm", "dmv"), "arrive_drop": ("dm", "dmv"),
            "expect_tx": ("mv",), "complete_tx": ("mv",), "test_wait": ("Pmv",), "try_wait": ("Pmv", "Pmvv"),
            "pending_count": ("dv",)}  # fmt: skip
# Coordinates of each geometry; vectors may be longer. (ptxas takes 1, 2 or 4 elements; 3 where 3 are meant do no harm.)
GEOMETRY = {"1d": (1, 2, 3, 4), "2d": (2, 3, 4), "3d": (3, 4), "a1d": (2, 3, 4), "a2d": (3, 4)}


def _is(letter: str, operand, registers: dict[str, str]) -> bool:
    predicate = isinstance(operand, Reg) and registers[operand.name] == "pred"
    match letter:
        case "d":
            return operand is None or (isinstance(operand, Reg) and not predicate)
        case "P":
            return predicate
        case "Q":
            return predicate or (isinstance(operand, Pair) and not isinstance(operand.first, Vec))
        case "q":
            return (isinstance(operand, Pair) and not isinstance(operand.first, Vec)) or _is("d", operand, registers)
        case "v":
            return isinstance(operand, Imm | Special | Sym) or (isinstance(operand, Reg) and not predicate)
        case "p":
            return predicate or isinstance(operand, Not | Imm)
        case "m":
            return isinstance(operand, Mem)
        case "i":
            return isinstance(operand, Imm)
        case "s":
            return isinstance(operand, Sym)
    return False


def _fits(shapes, operands, registers) -> bool:
    return any(
        len(shape) == len(operands) and all(_is(s, o, registers) for s, o in zip(shape, operands, strict=True))
        for shape in shapes
    )


def _vector(operand, n: int, registers, source: bool = False) -> bool:
    """Whether an operand is a vector of exactly n values (of one: a register by itself will do)."""
    letter = "v" if source else "d"
    if isinstance(operand, Vec):
        return len(operand.items) == n and all(_is(letter, o, registers) or o is None for o in operand.items)
    return n == 1 and _is(letter, operand, registers)


def wrong(instruction: Instruction, registers: dict[str, str]) -> str | None:
    """What is not as PTX has it, in words; None where nothing is. Opcodes without a row are refused by name anyway."""
    opcode, words, operands = instruction.opcode, instruction.modifiers, instruction.operands
    hinted = "L2::cache_hint" in words
    n = next((int(w[1:]) for w in words if w in ("v2", "v4", "v8")), 1)
    special = _SPECIAL.get(opcode)
    if special is not None:
        return special(words, list(operands), registers, n, hinted)
    if opcode in PLAIN:
        shapes = PLAIN[opcode]
        if opcode in ("add", "sub", "mul", "fma", "neg", "abs") and isinstance(operands[0] if operands else None, Vec):
            return "has a vector for its result"
        ok = _fits(shapes, operands, registers) or (words[:1] == ("piece",))
        return None if ok else f"is none of {shapes}"
    return None


def _moved(words, operands, registers, n, hinted):
    store = isinstance(operands[0] if operands else None, Mem)
    data, place = (1, 0) if store else (0, 1)
    if "async" in words:  # with an mbarrier
        operands, barrier = operands[:2], operands[2:]
        if len(barrier) != 1 or not isinstance(barrier[0], Mem):
            return "has no mbarrier"
    if len(operands) != 2 + hinted or not isinstance(operands[place], Mem):
        return "has other operands than a place, an address and a policy"
    if not _vector(operands[data], n, registers, source=store):
        return f"moves other than {n} values"
    if words[-1] not in BITS or n * BITS[words[-1]] > 256 or words[-1] == "pred":
        return f"moves {n} of {words[-1]}"
    if operands[place].coordinates is not None:
        return "has coordinates"
    return None


def _atomic(words, operands, registers, n, hinted, result=True):
    cas = "cas" in words
    wanted = result + 2 + cas + hinted
    if len(operands) != wanted or not isinstance(operands[result], Mem):
        return f"has other than {wanted} operands"
    if result and not _vector(operands[0], n, registers):
        return f"has a result of other than {n} values"
    values = operands[result + 1 :][: 1 + cas]
    return None if all(_vector(o, n, registers, source=True) for o in values) else f"has other than {n} values"


def _red(words, operands, registers, n, hinted):
    if "async" in words:
        return None if _fits(("mvm",), operands, registers) else "is none of mvm"
    return _atomic(words, operands, registers, n, hinted, result=False)


def _mov(words, operands, registers, n, hinted):
    if len(operands) != 2:
        return "has other than two operands"
    target, source = operands
    if isinstance(target, Vec) == isinstance(source, Vec) and isinstance(target, Vec):
        return "moves a vector to a vector"
    if isinstance(target, Vec | Reg) and all(isinstance(o, Reg | None) for o in getattr(target, "items", ())):
        return None if isinstance(source, Vec | Reg | Imm | Special | Sym) else "moves no value"
    return None if target is None else "has no place for its result"


def _shuffle(words, operands, registers, n, hinted):
    return None if _fits(("qvvvv",) if "sync" in words else ("qvvv",), operands, registers) else "is none of qvvvv"


def _vote(words, operands, registers, n, hinted):
    shapes = ("dpv",) if "ballot" in words else ("Ppv",)
    return (
        None
        if _fits(shapes if "sync" in words else [s[:-1] for s in shapes], operands, registers)
        else "has another shape"
    )


def _barrier(words, operands, registers, n, hinted):
    if "warp" in words or "cluster" in words:
        shape = "v" if "warp" in words else ""
        return None if _fits((shape,), operands, registers) else f"is not of shape '{shape}'"
    word = next((w for w in words if w in BARRIER), "sync")
    return None if _fits(BARRIER[word], operands, registers) else f"is none of {BARRIER[word]}"


def _mbarrier(words, operands, registers, n, hinted):
    shapes = MBARRIER.get(words[0], ())
    return None if _fits(shapes, operands, registers) else f"is none of {shapes}"


def _copy(words, operands, registers, n, hinted):
    spaces = [w.split("::")[0] for w in words]
    more = "v" * hinted
    if "bulk" not in words:
        if "commit_group" in words or "wait_all" in words:
            return None if not operands else "takes no operands"
        if "wait_group" in words or "mbarrier" in words:
            return (
                None if _fits(("i",) if "wait_group" in words else ("m",), operands, registers) else "has another shape"
            )
        if not _fits(("mmi" + more, "mmiv" + more, "mmip" + more), operands, registers):
            return "is none of mmi, mmiv, mmip"
        return None if operands[2].value in (4, 8, 16) else f"copies {operands[2].value} bytes"
    if "commit_group" in words or "wait_group" in words:
        return None if _fits(("",) if "commit_group" in words else ("i",), operands, registers) else "has another shape"
    dimensions = next((int(w[0]) for w in words if w in ("1d", "2d", "3d", "4d", "5d")), 0)
    maps = [o for o in operands if isinstance(o, Mem) and o.coordinates is not None]
    rows = {"tile::gather4", "tile::scatter4"} & set(words)  # along the row, then four rows
    if "tensor" in words and not (len(maps) == 1 and len(maps[0].coordinates) == (5 if rows else dimensions)):
        return "has no coordinates of its dimensions"
    if "tensor" not in words and maps:
        return "has coordinates"
    size = "" if "tensor" in words else "v"
    if rows and dimensions != 2:
        return "takes rows of other than two dimensions"
    wide = {"im2col::w", "im2col::w::128"} & set(words)
    if "im2col" in words or wide:  # shifts along W, H and D; or the halo, and a shift along W
        shifts = operands.pop(at) if (at := 1 if "prefetch" in words else 3) < len(operands) else None
        if dimensions < 3 or not _vector(shifts, 2 if wide else dimensions - 2, registers, source=True):
            return "has no shifts of its dimensions"
    if "prefetch" in words:
        return None if _fits(("m" + size + more,), operands, registers) else "has another shape"
    loads = "shared" in spaces and ("global" not in spaces or spaces.index("shared") < spaces.index("global"))
    shapes = ("mm" + size + "m" * loads + "v" * ("multicast::cluster" in words) + more,)
    return None if _fits(shapes, operands, registers) else f"is none of {shapes}"


def _map_field(words, operands, registers, n, hinted):
    each = {"box_dim", "global_dim", "global_stride", "element_stride"} & set(words)
    shape = "mmi" if words[0] == "cp_fenceproxy" else "miv" if each else "mv"
    return None if _fits((shape,), operands, registers) else f"is none of {shape}"


def _policy(words, operands, registers, n, hinted):
    shapes = {"fractional": ("d", "di", "dv"), "range": ("dmvv",), "cvt": ("dv",)}.get(
        next((w for w in words if w in ("fractional", "range", "cvt")), ""), ()
    )
    return None if _fits(shapes, operands, registers) else f"is none of {shapes}"


def _texture(words, operands, registers, n, hinted):
    target = operands[0].first if operands and isinstance(operands[0], Pair) else operands[0] if operands else None
    if len(operands) != 2 or not isinstance(operands[1], Mem) or not _vector(target, n, registers):
        return f"is no read of {n} values"
    return _coordinates(words, operands[1])


def _surface(words, operands, registers, n, hinted):
    place = next((o for o in operands if isinstance(o, Mem)), None)
    data = next((o for o in operands if not isinstance(o, Mem)), None)
    if len(operands) != 2 or place is None or not _vector(data, n, registers, source=operands[0] is place):
        return f"moves other than {n} values"
    return _coordinates(words, place)


def _coordinates(words, place):
    wanted = next((GEOMETRY[w] for w in words if w in GEOMETRY), ())
    return None if len(place.coordinates or ()) in wanted else f"has other than {wanted} coordinates"


def _matrices(words, operands, registers, n, hinted):
    store = bool(operands) and isinstance(operands[0], Mem)
    count = next((int(w[1]) for w in words if w in ("x1", "x2", "x4")), 0)
    count *= 2 if "m16n16" in words else 1
    data = operands[1 if store else 0] if len(operands) == 2 else None
    if len(operands) != 2 or not isinstance(operands[0 if store else 1], Mem):
        return "is no place and an address"
    return None if _vector(data, count, registers, source=store) else f"moves other than {count} registers"


def _sizes(word: str) -> tuple[int, int, int] | None:
    try:
        m, rest = word[1:].split("n")
        columns, k = rest.split("k")
        return int(m), int(columns), int(k)
    except (ValueError, IndexError):
        return None


def _wmma(words, operands, registers, n, hinted):
    if words and words[0] == "mma":
        return (
            None if len(operands) == 4 and all(isinstance(o, Vec | Reg) for o in operands) else "is no product of four"
        )
    place = 0 if words and words[0] == "store" else 1
    if len(operands) not in (2, 3) or not isinstance(operands[place], Mem):
        return "has other operands than a fragment, an address and a stride"
    shape = next((s for s in map(_sizes, words) if s), None)
    if shape is None or words[-1] not in BITS:
        return "has no shape or no type"
    m, columns, k = shape
    kind, part = words[-1], words[1]
    elements = prod({"a": (m, k), "b": (k, columns)}.get(part, (m, columns)))
    registers_of = elements * BITS[kind] // 32 // max(32, min(BITS[kind], 64))
    if part in "ab" and kind == "f16":
        registers_of = 8  # each element is held twice
    return (
        None
        if _vector(operands[1 - place], registers_of, registers, source=place == 0)
        else (f"moves other than {registers_of} registers")
    )


def _mma(words, operands, registers, n, hinted):
    shape = next((s for s in map(_sizes, words) if s), None)
    kinds = [w for w in words if w in BITS]
    if "block_scale" in words:
        *operands, scale_a, one, scale_b, two = operands if len(operands) == 8 else (None,) * 4
        if not (_vector(one, 2, registers, True) and _vector(two, 2, registers, True)):
            return "has no selectors of scales"
        if not (_is("v", scale_a, registers) and _is("v", scale_b, registers)):
            return "has no scales"
    if shape is None or len(kinds) != 4 or len(operands) != 4 or shape == (8, 8, 4):
        return None if len(operands) == 4 else "is no product of four"
    m, columns, k = shape
    for operand, kind, elements in zip(operands, kinds, (m * columns, m * k, k * columns, m * columns), strict=True):
        bits = 8 if kind == "e2m1" and k == 32 else BITS[kind]  # in a byte
        wanted = max(1, elements * bits // 32 // (64 if BITS[kind] == 64 else 32))
        if not _vector(operand, wanted, registers, source=True):
            return f"has other than {wanted} registers of {kind}"
    return None


def _cvt(words, operands, registers, n, hinted):
    if any(w.endswith("x4") for w in words):
        four = len(operands) == 3 and _vector(operands[1], 4, registers, source=True)
        return None if four and _fits(("dv",), operands[::2], registers) else "converts other than four values"
    return None if _fits(("dv", "dvv", "dvvv"), operands, registers) else "has another shape"


def _wgmma(words, operands, registers, n, hinted):
    if words[:1] != ("mma_async",):
        wanted = "i" if words[:1] == ("wait_group",) else ""
        right = len(operands) == len(wanted) and all(isinstance(o, Imm) and o.value >= 0 for o in operands)
        return None if right and words[1:] == ("sync", "aligned") else "is no wait"
    shape, kinds = next((s for s in map(_sizes, words[1:]) if s), None), [w for w in words if w in BITS]
    if shape is None or len(kinds) != 3 or shape[0] != 64 or shape[1] % 8 or len(operands) < 4:
        return "is no product of a warpgroup"
    (d, a, b, keep), numbers = operands[:4], [o.value for o in operands[4:] if isinstance(o, Imm)]
    if not _vector(d, shape[1] // (4 if kinds[0] == "f16" else 2), registers, source=True):
        return "has another number of sums"
    if not (_fits("v", (a,), registers) or _vector(a, 4, registers, source=True)) or not _fits("v", (b,), registers):
        return "has other matrices"
    turns = (1 if isinstance(a, Vec) else 2) if kinds[1] in ("f16", "bf16") else 0
    scales = 0 if kinds[0] == "s32" else 2
    if len(operands) != 4 + scales + turns or len(numbers) != scales + turns or not _is("p", keep, registers):
        return "has other numbers"
    return None if {*numbers[:scales]} <= {1, -1} and {*numbers[scales:]} <= {0, 1} else "has numbers that mean nothing"


def _tcgen05(words, operands, registers, n, hinted):
    name, numbers = words[0].split("::")[0], {w[1:] for w in words if w[0] == "x" and w[1:].isdecimal()}
    if name in ("ld", "st") and len(numbers) == 1:
        shape = next((w for w in words if w[0].isdigit()), "")
        count = int(numbers.pop()) * {"16x128b": 2, "16x256b": 4}.get(shape, 1)
        data, *rest = operands if name == "ld" else (*operands[-1:], *operands[:-1])
        right = _vector(data, count, registers, source=name == "st") or (count == 1 and _is("v", data, registers))
        return None if right and _fits(("mi" if shape == "16x32bx2" else "m",), rest, registers) else "moves otherwise"
    if name == "mma":
        scaled, tail = "block_scale" in words, operands[4:]
        if tail and isinstance(tail[0], Vec) and not scaled:
            wanted = 8 if "cta_group::2" in words else 4
            if not _vector(tail[0], wanted, registers, source=True):
                return "keeps other lanes"
            tail = tail[1:]
        divides = {"kind::f16", "kind::tf32"} & set(words)
        tails = ("mmp",) if scaled else ("p", "pi") if divides else ("p",)
        right = _fits(("mvvv", "mmvv"), operands[:4], registers) and _fits(tails, tail, registers)
        return None if right and not {"ws", "sp", "ashift"} & set(words) else "is no product of tensor memory"
    shapes = {"alloc": "mv", "dealloc": "vv", "relinquish_alloc_permit": "", "wait": "", "fence": "", "cp": "mv",
              "shift": "m", "commit": "mv" if "multicast::cluster" in words else "m"}  # fmt: skip
    return None if name in shapes and _fits((shapes[name],), operands, registers) else "has another shape"


def _indexed_branch(words, operands, registers, n, hinted):
    labels = operands[1].items if len(operands) == 2 and isinstance(operands[1], Vec) else ()
    right = labels and _is("v", operands[0], registers) and all(_is("s", label, registers) for label in labels)
    return None if right and words[:1] == ("idx",) else "is no branch to one of several labels"


def _call(words, operands, registers, n, hinted):
    return None if len(operands) == 1 and isinstance(operands[0], Call) else "is no call"


_SPECIAL = {
    "ld": _moved, "ldu": _moved, "st": _moved, "atom": _atomic, "red": _red, "mov": _mov, "shfl": _shuffle,
    "vote": _vote, "bar": _barrier, "barrier": _barrier, "mbarrier": _mbarrier, "cp": _copy, "createpolicy": _policy,
    "tensormap": _map_field,
    "tex": _texture, "tld4": _texture, "suld": _surface, "sust": _surface, "ldmatrix": _matrices,
    "stmatrix": _matrices, "wmma": _wmma, "mma": _mma, "wgmma": _wgmma, "tcgen05": _tcgen05, "call": _call, "cvt": _cvt,
    "brx": _indexed_branch,
}  # fmt: skip
