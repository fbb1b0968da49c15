"""Floats of 16 and 8 bits as the headers of CUDA give them, on targets with and without instructions for them."""

from __future__ import annotations

from fractions import Fraction

from vgpu.tests.support import Family, Row
from vgpu.tests.support.floats import (
    BF16,
    F16,
    F32,
    F64,
    MODES,
    WHOLE,
    from_integer,
    order,
    rounded,
    sample,
    subtract,
    to_float,
    to_integer,
)
from vgpu.tests.support.integers import sample as sample_integer
from vgpu.tests.test_isa_meaning import add, divide, fuse, multiply, root

KINDS = {
    "short": ("short", 16, True), "ushort": ("unsigned short", 16, False), "int": ("int", 32, True),
    "uint": ("unsigned", 32, False), "ll": ("long long", 64, True), "ull": ("unsigned long long", 64, False),
}  # fmt: skip
COMPARISONS = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
               "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}  # fmt: skip


def nan(f, *raw: int) -> bool:
    return any(f.decode(x)[1] == "nan" for x in raw)


def saturated(f, raw):
    """Clamped to [0, 1]; NaN becomes 0."""
    if raw is None or order(f, raw) <= 0:
        return 0
    return min(raw, f.encode(Fraction(1)))


def better(f, largest: bool, nans: bool):
    def model(x: int, y: int, z: int = 0):
        if nan(f, x) or nan(f, y):
            return None if nans or (nan(f, x) and nan(f, y)) else y if nan(f, x) else x
        key = lambda v: (order(f, v), not v & f.sign)  # -0 is below +0
        return (max if largest else min)(x, y, key=key)

    return model


def compare(f, test, unordered: bool):
    def model(x: int, y: int, z: int = 0) -> int:
        return int(unordered) if nan(f, x, y) else int(test(order(f, x), order(f, y)))

    return model


def within(f, model, ulps: int):
    """Whether a result is at most so many neighbours away from what the model says."""

    def close(got: int, *raw: int) -> bool:
        wanted = model(*raw)
        if wanted is None or nan(f, got):
            return wanted is None and nan(f, got)
        return abs(order(f, got) - order(f, wanted)) <= ulps

    return close


def arithmetic(f) -> list[Row]:
    """T is the type, B(x) its bits; z is a third number of it."""
    one = f.encode(Fraction(1))
    fused = lambda x, y, z: fuse(f, "rn", x, y, z)
    positive = lambda raw: None if raw is None else 0 if order(f, raw) <= 0 else raw
    rows = [
        Row("__hadd(x, y)", lambda x, y, z: add(f, "rn", x, y)),
        Row("__hsub(x, y)", lambda x, y, z: subtract(f, "rn", x, y)),
        Row("__hmul(x, y)", lambda x, y, z: multiply(f, "rn", x, y)),
        Row("__hadd_rn(x, y)", lambda x, y, z: add(f, "rn", x, y)),
        Row("__hmul_rn(x, y)", lambda x, y, z: multiply(f, "rn", x, y)),
        Row("__hadd_sat(x, y)", lambda x, y, z: saturated(f, add(f, "rn", x, y))),
        Row("__hsub_sat(x, y)", lambda x, y, z: saturated(f, subtract(f, "rn", x, y))),
        Row("__hmul_sat(x, y)", lambda x, y, z: saturated(f, multiply(f, "rn", x, y))),
        Row("__hfma(x, y, z)", fused), Row("__hfma_sat(x, y, z)", lambda x, y, z: saturated(f, fused(x, y, z))),
        Row("__hfma_relu(x, y, z)", lambda x, y, z: positive(fused(x, y, z))),
        Row("__hneg(x)", lambda x, y, z: None if nan(f, x) else x ^ f.sign),
        Row("__habs(x)", lambda x, y, z: None if nan(f, x) else x & ~f.sign),
        Row("__hmax(x, y)", better(f, True, False)), Row("__hmin(x, y)", better(f, False, False)),
        Row("__hmax_nan(x, y)", better(f, True, True)), Row("__hmin_nan(x, y)", better(f, False, True)),
        Row("__high2{a}(__hadd2(__halves2{two}(y, x), __halves2{two}(x, z)))", lambda x, y, z: add(f, "rn", x, z)),
        Row("__low2{a}(__hmul2(__halves2{two}(y, x), __halves2{two}(x, z)))", lambda x, y, z: multiply(f, "rn", x, y)),
        Row("__high2{a}(__hfma2(__halves2{two}(y, x), __halves2{two}(x, z), __{a}2{two}(y)))",
            lambda x, y, z: fused(x, z, y)),
        Row("__high2{a}(__hmin2(__halves2{two}(y, x), __halves2{two}(x, z)))",
            lambda x, y, z: better(f, False, False)(x, z)),
        Row("T(x + y) * z", lambda x, y, z: None if (s := add(f, "rn", x, y)) is None else multiply(f, "rn", s, z)),
        Row("hfloor(x)", lambda x, y, z: rounded(f, x, WHOLE["floor"])),
        Row("hceil(x)", lambda x, y, z: rounded(f, x, WHOLE["ceil"])),
        Row("htrunc(x)", lambda x, y, z: rounded(f, x, WHOLE["trunc"])),
        Row("hrint(x)", lambda x, y, z: rounded(f, x, WHOLE["rint"])),
        # Through approximations in float, as on a GPU.
        Row("__hdiv(x, y)", close=within(f, lambda x, y, z: divide(f, "rn", x, y), 1)),
        Row("hsqrt(x)", close=within(f, lambda x, y, z: root(f, "rn", x), 1)),
        Row("hrcp(x)", close=within(f, lambda x, y, z: divide(f, "rn", one, x), 1)),
    ]  # fmt: skip
    for word, test in COMPARISONS.items():
        rows += [Row(f"__h{word}(x, y)", compare(f, test, False)), Row(f"__h{word}u(x, y)", compare(f, test, True))]
    return rows


def conversions(f, name: str) -> list[Row]:
    """From x of the format to others, and to it from y: bits of a double, its upper half a float, or an integer."""
    rows = [Row("float(x)", lambda x, y: to_float(f, F32)(x)),
            Row("double(float(x))", lambda x, y: to_float(f, F64)(x)),
            Row(f"__double2{name}(__longlong_as_double(y))", lambda x, y: to_float(F64, f)(y))]  # fmt: skip
    for word, mode in MODES.items():
        down = to_float(F32, f, mode)
        rows.append(Row(f"__float2{name}_{word}(__int_as_float(int(y >> 32)))", lambda x, y, down=down: down(y >> 32)))
        for kind, (c_type, *shape) in KINDS.items():
            there, back = to_integer(f, *shape, mode), from_integer(f, *shape, mode)
            rows.append(Row(f"__{name}2{kind}_{word}(x)", lambda x, y, there=there: there(x)))
            rows.append(Row(f"__{kind}2{name}_{word}(({c_type})y)", lambda x, y, back=back: back(y)))
    return rows


def numbers_or_bits(random) -> int:
    """A double, a double that few bits of the format are away from a tie, or any integer."""
    kind = random.random()
    if kind < 0.3:
        return sample(F64)(random)
    if kind < 0.6:
        return F32.encode(Fraction(random.uniform(-9, 9))) >> 12 << 12 << 32 | random.choice(
            (0, 1, 0x10000000, 1 << 44)
        )
    return sample_integer(64)(random)


def any_nan(raw: int) -> bool:
    """Whether these are the bits of NaN in one of the formats: which of them is the row's."""
    return (raw < 2**16 and nan(F16, raw)) or F32.decode(raw & 2**32 - 1)[1] == "nan" or F64.decode(raw)[1] == "nan"


HEADERS = {"half": ("cuda_fp16.h", "__half", F16, {"a": "half", "two": "half2"}),
           "bfloat16": ("cuda_bf16.h", "__nv_bfloat16", BF16, {"a": "bfloat16", "two": "bfloat162"})}  # fmt: skip


def arithmetic_family(name: str, arch: str) -> Family:
    f, words, before = about(name)
    rows = [Row(row.text.format(**words), row.model, row.close) for row in arithmetic(f)]
    return Family(("T",) * 3, rows, [sample(f)] * 3, before, (), arch, lambda raw: nan(f, raw))


def conversion_family(name: str, arch: str) -> Family:
    f, _, before = about(name)
    draws = [sample(f), numbers_or_bits]
    return Family(("T", "unsigned long long"), conversions(f, name), draws, before, (), arch, any_nan)


def about(name: str):
    """The format, the words for it in names of functions, and what stands before a kernel."""
    header, kind, f, words = HEADERS[name]
    return f, words, f"#include <{header}>\ntypedef {kind} T;\n"


FAMILIES = {
    f"{what} of {name}, {arch}": make(name, arch)
    for what, name, make, archs in (
        ("arithmetic", "half", arithmetic_family, (80, 90)), ("conversions", "half", conversion_family, (80, 90)),
        ("arithmetic", "bfloat16", arithmetic_family, (80, 90)),
        ("conversions", "bfloat16", conversion_family, (75, 80, 90)),
    )
    for arch in map("compute_{}".format, archs)
}  # fmt: skip
