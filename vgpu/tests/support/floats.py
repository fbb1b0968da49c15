"""Floats rounded in every direction, and conversions between them and integers, against exact fractions."""

from __future__ import annotations

from fractions import Fraction

from vgpu.tests.support import Family, Row
from vgpu.tests.support.integers import sample as sample_integer
from vgpu.tests.test_isa_meaning import FORMATS, add, clamp, divide, fuse, multiply, root, signed

MODES = {"rn": "rn", "rz": "rz", "rd": "rm", "ru": "rp"}  # CUDA's names of directions, and PTX's
F32, F64, F16, BF16 = (FORMATS[name] for name in ("f32", "f64", "f16", "bf16"))


def sample(f):
    """Zeros, ones and their neighbours, subnormals, the ends of the range, NaN; near 1; and any bits."""
    one = f.encode(Fraction(1))
    smallest, span = 1 << f.precision - 1, min(20, f.highest - 1)
    edges = [0, one, one + 1, one - 1, 1, smallest - 1, smallest, f.infinity - 1, f.infinity, f.infinity + 1,
             one + (smallest >> 1), f.encode(Fraction(1, 3)), *(f.encode(Fraction(n, 2)) for n in (5, 7))]  # fmt: skip

    def draw(random) -> int:
        kind = random.random()
        if kind < 0.3:
            return random.choice(edges) | random.choice((0, f.sign))
        if kind < 0.6:
            return one + random.randrange(-span, span) * smallest + random.getrandbits(f.precision - 1) | random.choice(
                (0, f.sign)
            )
        return random.getrandbits(f.bits)

    return draw


def is_nan(f):
    return lambda raw: f.decode(raw)[1] == "nan"


def subtract(f, mode, x, y):
    return add(f, mode, x, y ^ f.sign)


def arithmetic(f, prefix: str, one: int) -> list[Row]:
    fma = "__fmaf" if prefix == "f" else "__fma"
    rows = []
    for word, mode in MODES.items():
        for name, model in (("add", add), ("sub", subtract), ("mul", multiply), ("div", divide)):
            rows.append(Row(f"__{prefix}{name}_{word}(x, y)", lambda x, y, z, o=model, m=mode: o(f, m, x, y)))
        rows += [
            Row(f"{fma}_{word}(x, y, z)", lambda x, y, z, m=mode: fuse(f, m, x, y, z)),
            Row(f"__{prefix}rcp_{word}(x)", lambda x, y, z, m=mode: divide(f, m, one, x)),
            Row(f"__{prefix}sqrt_{word}(x)", lambda x, y, z, m=mode: root(f, m, x)),
        ]
    rows += [
        Row("x / y", lambda x, y, z: divide(f, "rn", x, y)),
        Row("fma(x, y, z)", lambda x, y, z: fuse(f, "rn", x, y, z)),
        Row("sqrt(x)", lambda x, y, z: root(f, "rn", x)), Row("1 / x", lambda x, y, z: divide(f, "rn", one, x)),
        Row("T(1) / T(3) * x", lambda x, y, z: multiply(f, "rn", divide(f, "rn", one, f.encode(Fraction(3))), x)),
        Row("fmod(x, y)", lambda x, y, z: modulo(f, x, y, False)),
        Row("remainder(x, y)", lambda x, y, z: modulo(f, x, y, True)),
        *[Row(f"{name}(x)", lambda x, y, z, w=whole: rounded(f, x, w)) for name, whole in WHOLE.items()],
        Row("nextafter(x, y)", lambda x, y, z: neighbour(f, x, y)),
        Row("fdim(x, y)", lambda x, y, z: positive_difference(f, x, y)),
        Row("copysign(x, y)", lambda x, y, z: x & ~f.sign | y & f.sign),
        Row("ldexp(x, int(sizeof(T) * (y > z ? 7 : -9)))",
            lambda x, y, z: scaled(f, x, f.bits // 8 * (7 if greater(f, y, z) else -9))),
        Row("split_fraction(x)", lambda x, y, z: fraction_and_exponent(f, x)[0]),
        Row("split_exponent(x)", lambda x, y, z: fraction_and_exponent(f, x)[1]),
        Row("split_whole(x)", lambda x, y, z: rounded(f, x, truncate)),
        Row("split_rest(x)", lambda x, y, z: rest(f, x)),
        Row("ilogb(x)", lambda x, y, z: binary_exponent(f, x)), Row("logb(x)", lambda x, y, z: float_exponent(f, x)),
    ]  # fmt: skip
    if prefix == "f":
        rows.append(Row("__frsqrt_rn(x)", lambda x, y, z: reciprocal_root(x)))
    return rows


SPLIT = """
__device__ T split_fraction(T x) { int e = 0; return frexp(x, &e); }
__device__ int split_exponent(T x) { int e = 0; frexp(x, &e); return isfinite(x) ? e : 0; }
__device__ T split_whole(T x) { T whole; modf(x, &whole); return whole; }
__device__ T split_rest(T x) { T whole; return modf(x, &whole); }
"""


def floor(v: Fraction) -> int:
    return v.numerator // v.denominator


def truncate(v: Fraction) -> int:
    return floor(v) if v >= 0 else -floor(-v)


WHOLE = {
    "floor": floor, "ceil": lambda v: -floor(-v), "trunc": truncate, "rint": round, "nearbyint": round,
    "round": lambda v: truncate(v + Fraction(1 if v >= 0 else -1, 2)),
}  # fmt: skip


def rounded(f, x: int, whole):
    negative, value = f.decode(x)
    if value == "nan":
        return None
    return x if value == "inf" else f.encode(Fraction(whole(value)), "rn", negative)


def rest(f, x: int):
    negative, value = f.decode(x)
    if value == "nan":
        return None
    return f.sign * negative if value == "inf" else f.encode(value - truncate(value), "rn", negative)


def modulo(f, x: int, y: int, nearest: bool):
    (negative, a), (_, b) = f.decode(x), f.decode(y)
    if "nan" in (a, b) or a == "inf" or b == 0:
        return None
    if b == "inf":
        return x
    return f.encode(a - b * (round if nearest else truncate)(a / b), "rn", negative)


def order(f, x: int) -> int:
    return -(x & ~f.sign) if x & f.sign else x


def greater(f, x: int, y: int) -> bool:
    return not is_nan(f)(x) and not is_nan(f)(y) and order(f, x) > order(f, y)


def neighbour(f, x: int, y: int):
    if is_nan(f)(x) or is_nan(f)(y):
        return None
    if order(f, x) == order(f, y):
        return y
    there = order(f, x) + (1 if greater(f, y, x) else -1)
    return f.sign | -there if there < 0 or (there == 0 and x & f.sign) else there


def positive_difference(f, x: int, y: int):
    if is_nan(f)(x) or is_nan(f)(y):
        return None
    return subtract(f, "rn", x, y) if greater(f, x, y) else 0


def scaled(f, x: int, power: int):
    negative, value = f.decode(x)
    if value == "nan":
        return None
    return x if value == "inf" else f.encode(value * Fraction(2) ** power, "rn", negative)


def exponent_of(value: Fraction) -> int:
    exponent = abs(value).numerator.bit_length() - value.denominator.bit_length()
    return exponent - (abs(value) < Fraction(2) ** exponent)


def fraction_and_exponent(f, x: int):
    _, value = f.decode(x)
    if value in ("nan", "inf", 0):
        return (None if value == "nan" else x), 0
    exponent = exponent_of(value) + 1
    return f.encode(value / Fraction(2) ** exponent), exponent & 2**32 - 1


def binary_exponent(f, x: int) -> int:
    """ilogb; INT_MIN for zero and NaN, as CUDA has FP_ILOGB0 and FP_ILOGBNAN, INT_MAX for infinities."""
    _, value = f.decode(x)
    if value in ("nan", 0):
        return 2**31
    return 2**31 - 1 if value == "inf" else exponent_of(value) & 2**32 - 1


def float_exponent(f, x: int):
    _, value = f.decode(x)
    if value == "nan":
        return None
    return f.infinity | (f.sign if value == 0 else 0) if value in ("inf", 0) else f.encode(Fraction(exponent_of(value)))


def reciprocal_root(x: int):
    """1 / sqrt(x) rounded once: by a root with so many bits that what is cut off decides no rounding."""
    negative, value = F32.decode(x)
    if value == 0:
        return F32.infinity | x
    if value == "nan" or negative:
        return None
    if value == "inf":
        return 0
    wide = FORMATS["f64"].__class__("wide", 256, 200, -(2**20))
    close = wide.decode(root(wide, "rn", wide.encode(1 / value)))[1]
    return F32.encode(close)


# ---------------------------------------------------------------- conversions

INTEGERS = {"int": (32, True), "uint": (32, False), "ll": (64, True), "ull": (64, False)}


def to_integer(f, bits: int, is_signed: bool, mode: str):
    whole = {"rn": round, "rz": truncate, "rm": floor, "rp": lambda v: -floor(-v)}[mode]
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if is_signed else (0, 2**bits - 1)

    def model(x: int) -> int:
        negative, value = f.decode(x)
        if value == "nan":
            return 2 ** (bits - 1) if bits == 64 or f.bits == 64 else 0
        number = (low if negative else high) if value == "inf" else clamp(whole(value), low, high)
        return number & 2**bits - 1

    return model


def from_integer(f, bits: int, is_signed: bool, mode: str):
    def model(x: int) -> int:
        x &= 2**bits - 1
        return f.encode(Fraction(signed(x, bits) if is_signed else x), mode)

    return model


def to_float(source, target, mode: str = "rn"):
    def model(x: int):
        negative, value = source.decode(x)
        if value == "nan":
            return None
        sign = target.sign if negative else 0
        return target.infinity | sign if value == "inf" else target.encode(value, mode, negative)

    return model


def conversions(f, name: str) -> list[Row]:
    """From a float of this name to integers and other floats."""
    rows = [Row(f"__{name}2{kind}_{word}(x)", to_integer(f, *shape, mode))
            for kind, shape in INTEGERS.items() for word, mode in MODES.items()]  # fmt: skip
    rows += [
        Row(f"({kind})x", to_integer(f, *shape, "rz"))
        for kind, shape in (("int", (32, True)), ("unsigned", (32, False)), ("long long", (64, True)),
                            ("unsigned long long", (64, False)))
    ]  # fmt: skip
    rows += [Row("lrint(x)", to_integer(f, 64, True, "rn")), Row("llrint(x)", to_integer(f, 64, True, "rn"))]
    if name == "double":
        rows += [Row(f"__double2float_{word}(x)", to_float(F64, F32, mode)) for word, mode in MODES.items()]
    else:
        rows.append(Row("double(x)", to_float(F32, F64)))
    return rows


def from_integers() -> list[Row]:
    rows = []
    for name, f in (("float", F32), ("double", F64)):
        for kind, (bits, is_signed) in INTEGERS.items():
            argument = {"int": "int(x)", "uint": "unsigned(x)", "ll": "(long long)x", "ull": "x"}[kind]
            for word, mode in MODES.items():
                if name == "double" and bits == 32 and word != "rn":
                    continue
                rows.append(Row(f"__{kind}2{name}_{word}({argument})", from_integer(f, bits, is_signed, mode)))
    return rows


WIDE = [
    *[Row(f"{name}(({sign}__int128)x * y)", lambda x, y, f=f, see=see: f.encode(Fraction(see(x, y))))
      for name, f in (("float", F32), ("double", F64))
      for sign, see in (("unsigned ", lambda x, y: x * y % 2**128), ("", lambda x, y: signed(x * y % 2**128, 128)))],
]  # fmt: skip


def whole_of_double(bits: int, is_signed: bool):
    return to_integer(F64, bits, is_signed, "rz")


FAMILIES = {
    "float": Family(
        ("T",) * 3, arithmetic(F32, "f", 0x3F800000), [sample(F32)] * 3, f"typedef float T;{SPLIT}", is_nan=is_nan(F32)
    ),
    "double": Family(
        ("T",) * 3,
        arithmetic(F64, "d", 0x3FF << 52),
        [sample(F64)] * 3,
        f"typedef double T;{SPLIT}",
        is_nan=is_nan(F64),
    ),
    "from float": Family(("float",), conversions(F32, "float"), [sample(F32)], is_nan=is_nan(F64)),
    "from double": Family(("double",), conversions(F64, "double"), [sample(F64)], is_nan=is_nan(F32)),
    "from integers": Family(("unsigned long long",), from_integers(), [sample_integer(64)]),
    "from 128 bits": Family(("unsigned long long",) * 2, WIDE, [sample_integer(64)] * 2, options=("--device-int128",)),
}
