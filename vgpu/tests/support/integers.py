"""Integers: wide arithmetic that compilers make routines of, and the functions for bits and parts of a word."""

from __future__ import annotations

from vgpu.tests.support import Family, Row
from vgpu.tests.test_isa_meaning import clamp, funnel, prmt, quotient, signed


def edges(bits: int) -> list[int]:
    top, half = 1 << bits - 1, 1 << bits // 2
    return [0, 1, 2, 3, 7, 2 * top - 1, 2 * top - 2, top, top - 1, top + 1, half, half - 1, half + 1]


def sample(bits: int):
    """Edge values, numbers of any length, and any numbers."""

    def one(random) -> int:
        kind = random.random()
        if kind < 0.3:
            return random.choice(edges(bits))
        return random.getrandbits(random.randrange(1, bits + 1) if kind < 0.7 else bits)

    return one


def truncated(a: int, b: int) -> int:
    return a - quotient(a, b) * b


ARITHMETIC = {
    "X + Y": lambda x, y: x + y, "X - Y": lambda x, y: x - y, "X * Y": lambda x, y: x * y,
    "Y ? X / Y : X": lambda x, y: quotient(x, y) if y else x,
    "Y ? X % Y : X": lambda x, y: truncated(x, y) if y else x,
    "X / T(10)": lambda x, y: quotient(x, 10), "X % T(1000000007)": lambda x, y: truncated(x, 1000000007),
    "X < Y ? X : Y": min, "T(X <= Y)": lambda x, y: x <= y, "T(X == Y)": lambda x, y: x == y,
    "-X": lambda x, y: -x, "~X ^ Y": lambda x, y: ~x ^ y,
}  # fmt: skip


def arithmetic(bits: int, kind: str, options=()) -> Family:
    """Both signs of a type of C++ against Python's integers."""
    rows, mask = [], 2**bits - 1
    shifts = {
        f"X << int(Y & {bits - 1})": lambda x, y: x << y % bits,
        f"X >> int(Y & {bits - 1})": lambda x, y: x >> y % bits,
    }
    for sign, see in (("U", lambda v: v), ("S", lambda v: signed(v, bits))):
        for text, model in (ARITHMETIC | shifts).items():
            text = text.replace("X", f"{sign}(x)").replace("Y", f"{sign}(y)").replace("T(", f"{sign}(")
            rows.append(Row(text, lambda x, y, model=model, see=see: model(see(x), see(y)) & mask))
    return Family(("U", "U"), rows, [sample(bits)] * 2, f"typedef unsigned {kind} U; typedef {kind} S;", options)


M32, M64 = 2**32 - 1, 2**64 - 1
s32, s64 = (lambda v: signed(v, 32)), (lambda v: signed(v, 64))


def lanes(count: int, function, is_signed: bool = False):
    """A function of each part of two words."""
    bits = 32 // count
    see = (lambda v: signed(v, bits)) if is_signed else (lambda v: v)

    def model(x, y, z=0):
        parts = [[see(v >> bits * i & 2**bits - 1) for v in (x, y)] for i in range(count)]
        return sum((function(a, b) & 2**bits - 1) << bits * i for i, (a, b) in enumerate(parts))

    return model


def total(count: int, is_signed: bool):
    """The sum of the absolute differences of parts."""
    apart = lanes(count, lambda a, b: abs(a - b), is_signed)
    bits = 32 // count
    return lambda x, y, z=0: sum(apart(x, y) >> bits * i & 2**bits - 1 for i in range(count))


def simd() -> list[Row]:
    """The functions of two halves or four bytes ("CUDA Math API", SIMD intrinsics)."""
    rows = []
    order = {"eq": "__eq__", "ne": "__ne__", "lt": "__lt__", "le": "__le__", "gt": "__gt__", "ge": "__ge__"}
    for count, bits in ((2, 16), (4, 8)):
        low, high, top = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1, 2**bits - 1
        plain = {
            "vadd": lambda a, b: a + b, "vsub": lambda a, b: a - b,
            "vavgu": lambda a, b: (a + b + 1) // 2, "vabsdiffu": lambda a, b: abs(a - b),
            "vmaxu": max, "vminu": min, "vhaddu": lambda a, b: (a + b) // 2,
            "vaddus": lambda a, b, top=top: min(a + b, top), "vsubus": lambda a, b: max(a - b, 0),
        }  # fmt: skip
        as_signed = {
            "vaddss": lambda a, b, low=low, high=high: clamp(a + b, low, high),
            "vsubss": lambda a, b, low=low, high=high: clamp(a - b, low, high),
            "vavgs": lambda a, b: (a + b + (a + b >= 0)) >> 1, "vabsdiffs": lambda a, b: abs(a - b),
            "vmaxs": max, "vmins": min,
        }  # fmt: skip
        for sign, names in ((False, plain), (True, as_signed)):
            rows += [Row(f"__{name}{count}(x, y)", lanes(count, f, sign)) for name, f in names.items()]
            letter = "s" if sign else "u"
            for word, method in order.items():
                if sign and word in ("eq", "ne"):
                    continue
                kind = "" if word in ("eq", "ne") else letter
                test = lambda a, b, method=method: getattr(a, method)(b)
                rows.append(Row(f"__vcmp{word}{kind}{count}(x, y)", lanes(count, lambda a, b, t=test: -t(a, b), sign)))
                rows.append(Row(f"__vset{word}{kind}{count}(x, y)", lanes(count, lambda a, b, t=test: t(a, b), sign)))
            rows.append(Row(f"__vsad{letter}{count}(x, y)", total(count, sign)))
        rows += [
            Row(f"__vabs{count}(x)", lanes(count, lambda a, b: abs(a), True)),
            Row(f"__vabsss{count}(x)", lanes(count, lambda a, b, high=high: min(abs(a), high), True)),
            Row(f"__vneg{count}(x)", lanes(count, lambda a, b: -a, True)),
            Row(f"__vnegss{count}(x)", lanes(count, lambda a, b, high=high: min(-a, high), True)),
        ]
    for count, kind in ((2, "16x2"), (1, "32")):
        bits = 32 // count
        for sign, letter in ((True, "s"), (False, "u")):
            see = (lambda v, bits=bits: signed(v, bits)) if sign else (lambda v: v)

            def three(pick, relu, bits=bits, count=count, see=see):
                def model(x, y, z):
                    parts = [[see(v >> bits * i & 2**bits - 1) for v in (x, y, z)] for i in range(count)]
                    return sum(
                        (max(pick(*p), 0 if relu else -(2**40)) & 2**bits - 1) << bits * i for i, p in enumerate(parts)
                    )

                return model

            for relu in ("", "_relu")[: 2 if sign else 1]:
                for name, pick in (("max3", max), ("min3", min)):
                    rows.append(
                        Row(
                            f"__vi{name}_{letter}{kind}{relu}(x, y, z)", three(lambda a, b, c, p=pick: p(a, b, c), relu)
                        )
                    )
                for name, pick in (("max", max), ("min", min)):
                    wrap = lambda v, bits=bits, sign=sign: signed(v & 2**bits - 1, bits) if sign else v & 2**bits - 1
                    rows.append(
                        Row(
                            f"__viadd{name}_{letter}{kind}{relu}(x, y, z)",
                            three(lambda a, b, c, p=pick, w=wrap: p(w(a + b), c), relu),
                        )
                    )
    return rows  # fmt: skip


def dot(x: int, y: int, z: int, count: int, a_signed: bool, b_signed: bool, high: int = 0) -> int:
    """__dp4a, or __dp2a of the low or the high two bytes of y."""
    bits = 32 // count
    see = lambda v, b, is_signed: signed(v & 2**b - 1, b) if is_signed else v & 2**b - 1
    parts = [see(x >> bits * i, bits, a_signed) * see(y >> 8 * (i + 2 * high), 8, b_signed) for i in range(count)]
    return sum(parts) + z & M32


WORDS = [
    Row("__mulhi(int(x), int(y))", lambda x, y, z: s32(x) * s32(y) >> 32 & M32),
    Row("__umulhi(x, y)", lambda x, y, z: x * y >> 32),
    Row("__mul24(int(x), int(y))", lambda x, y, z: signed(x & 0xFFFFFF, 24) * signed(y & 0xFFFFFF, 24) & M32),
    Row("__umul24(x, y)", lambda x, y, z: (x & 0xFFFFFF) * (y & 0xFFFFFF) & M32),
    Row("__sad(int(x), int(y), z)", lambda x, y, z: abs(s32(x) - s32(y)) + z & M32),
    Row("__usad(x, y, z)", lambda x, y, z: abs(x - y) + z & M32),
    Row("__hadd(int(x), int(y))", lambda x, y, z: s32(x) + s32(y) >> 1 & M32),
    Row("__rhadd(int(x), int(y))", lambda x, y, z: s32(x) + s32(y) + 1 >> 1 & M32),
    Row("__uhadd(x, y)", lambda x, y, z: x + y >> 1), Row("__urhadd(x, y)", lambda x, y, z: x + y + 1 >> 1),
    Row("__brev(x)", lambda x, y, z: int(f"{x:032b}"[::-1], 2)),
    Row("__byte_perm(x, y, z)", lambda x, y, z: prmt(x, y, z & 0x7777)),
    Row("__funnelshift_l(x, y, z)", lambda x, y, z: funnel(x, y, z, True, True)),
    Row("__funnelshift_lc(x, y, z)", lambda x, y, z: funnel(x, y, z, True, False)),
    Row("__funnelshift_r(x, y, z)", lambda x, y, z: funnel(x, y, z, False, True)),
    Row("__funnelshift_rc(x, y, z)", lambda x, y, z: funnel(x, y, z, False, False)),
    Row("__popc(x)", lambda x, y, z: x.bit_count()), Row("__clz(x)", lambda x, y, z: 32 - x.bit_length()),
    Row("__ffs(x)", lambda x, y, z: (x & -x).bit_length()), Row("abs(int(x))", lambda x, y, z: abs(s32(x)) & M32),
    Row("int(x) >> (z & 31)", lambda x, y, z: s32(x) >> z % 32 & M32),
    Row("(signed char)x", lambda x, y, z: x & 255),
    Row("int((signed char)x)", lambda x, y, z: signed(x & 255, 8) & M32),
    Row("int((short)x)", lambda x, y, z: signed(x & 65535, 16) & M32),
    Row("int((short)x) / ((short)y ? (short)y : 1)",
        lambda x, y, z: quotient(signed(x & 65535, 16), signed(y & 65535, 16) or 1) & M32),
    Row("__dp4a(x, y, z)", lambda x, y, z: dot(x, y, z, 4, False, False)),
    Row("__dp4a(int(x), int(y), int(z))", lambda x, y, z: dot(x, y, z, 4, True, True)),
    Row("__dp2a_lo(x, y, z)", lambda x, y, z: dot(x, y, z, 2, False, False)),
    Row("__dp2a_hi(x, y, z)", lambda x, y, z: dot(x, y, z, 2, False, False, 1)),
    Row("__dp2a_lo(int(x), int(y), int(z))", lambda x, y, z: dot(x, y, z, 2, True, True)),
    Row("__dp2a_hi(int(x), int(y), int(z))", lambda x, y, z: dot(x, y, z, 2, True, True, 1)),
    *simd(),
]  # fmt: skip

LONGS = [
    Row("__mul64hi((long long)x, (long long)y)", lambda x, y: s64(x) * s64(y) >> 64 & M64),
    Row("__umul64hi(x, y)", lambda x, y: x * y >> 64),
    Row("__brevll(x)", lambda x, y: int(f"{x:064b}"[::-1], 2)), Row("__popcll(x)", lambda x, y: x.bit_count()),
    Row("__clzll(x)", lambda x, y: 64 - x.bit_length()), Row("__ffsll(x)", lambda x, y: (x & -x).bit_length()),
    Row("llabs((long long)x)", lambda x, y: abs(s64(x)) & M64),
    Row("(unsigned long long)(unsigned)x * (unsigned)y", lambda x, y: (x & M32) * (y & M32)),
    Row("(long long)(int)x * (int)y", lambda x, y: s32(x & M32) * s32(y & M32) & M64),
    Row("x % 1000000007ull * (y % 1000000007ull) % 1000000007ull",
        lambda x, y: x % 1000000007 * (y % 1000000007) % 1000000007),
    Row("(unsigned long long)((unsigned __int128)x * y % 0xffffffff00000001ull)",
        lambda x, y: x * y % 0xFFFFFFFF00000001),
]  # fmt: skip

FAMILIES = {
    "int": arithmetic(32, "int"),
    "long long": arithmetic(64, "long long"),
    "__int128": arithmetic(128, "__int128", ("--device-int128",)),
    "words": Family(("unsigned",) * 3, WORDS, [sample(32)] * 3),
    "longs": Family(("unsigned long long",) * 2, LONGS, [sample(64)] * 2, options=("--device-int128",)),
}
