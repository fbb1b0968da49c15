"""Mathematical functions, against mpmath, within the bounds of "CUDA C++ Programming Guide", "Mathematical Functions".

The bounds are NVIDIA's for what its compilers make of these functions: how many floats away a result may be from the
value rounded to nearest. Where an instruction of a routine is itself an approximation (`.approx`), the virtual GPU is
closer than a GPU's, so the bounds hold here too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import mpmath
from mpmath import mp, mpf

from vgpu.tests.support import Family, Row
from vgpu.tests.support.floats import F32, F64, order, sample

mp.prec = 160


@dataclass(frozen=True)
class Function:
    """A function's name in C, its bounds in units of the last place for float and double, and its value in mpmath.

    where: arguments for which the bounds are given; NaN is right where mpmath has no real value. beside: how far off a
    value may be whatever its size, for float and double.
    """

    name: str
    float_ulps: float
    double_ulps: float
    value: Callable
    where: Callable = lambda *x: True
    beside: tuple[float, float] = (0, 0)
    arity: int = 1


def real(function, *arguments) -> mpf | None:
    """The value, None where it is not a real number."""
    try:
        value = function(*arguments)
    except (ValueError, ZeroDivisionError, mpmath.libmp.ComplexResult):
        return None
    return value if isinstance(value, mpf) and not mpmath.isnan(value) else None


erfc = lambda x: mp.erfc(min(max(x, -99), 99))  # farther out it is 2, or too small for any float
below = lambda limit: lambda *x: all(abs(v) < limit for v in x)

ELEMENTARY = (
    Function("rsqrt", 2, 1, lambda x: 1 / mp.sqrt(x), lambda x: x > 0),
    Function("cbrt", 1, 1, lambda x: mp.sign(x) * mp.cbrt(abs(x))),
    Function("rcbrt", 1, 1, lambda x: mp.sign(x) / mp.cbrt(abs(x)), lambda x: x != 0),
    Function("exp", 2, 1, mp.exp), Function("exp2", 2, 1, lambda x: mpf(2) ** x),
    Function("exp10", 2, 1, lambda x: mpf(10) ** x), Function("expm1", 1, 1, mp.expm1),
    Function("log", 1, 1, mp.log, lambda x: x > 0), Function("log2", 1, 1, lambda x: mp.log(x, 2), lambda x: x > 0),
    Function("log10", 2, 1, mp.log10, lambda x: x > 0),
    Function("log1p", 1, 1, mp.log1p, lambda x: x > -1),
    Function("sin", 2, 2, mp.sin), Function("cos", 2, 2, mp.cos), Function("tan", 4, 2, mp.tan),
    Function("sinpi", 1, 2, mp.sinpi), Function("cospi", 1, 2, mp.cospi),
    Function("asin", 2, 2, mp.asin), Function("acos", 2, 2, mp.acos), Function("atan", 2, 2, mp.atan),
    Function("sinh", 3, 2, mp.sinh), Function("cosh", 2, 1, mp.cosh),
    Function("tanh", 2, 1, mp.tanh),
    Function("asinh", 3, 3, mp.asinh), Function("acosh", 4, 3, mp.acosh),
    Function("atanh", 3, 2, mp.atanh, lambda x: abs(x) != 1),
    Function("atan2", 3, 2, lambda y, x: mp.atan2(y, x), lambda y, x: y != 0, arity=2),
    Function("hypot", 3, 2, mp.hypot, arity=2),
    Function("rhypot", 2, 1, lambda x, y: 1 / mp.hypot(x, y), lambda x, y: x != 0 or y != 0, arity=2),
    Function("pow", 4, 2, lambda x, y: x**y, lambda x, y: x > 0 or (x != 0 and y == mp.floor(y)), arity=2),
)  # fmt: skip
SPECIAL = (
    Function("erf", 2, 2, mp.erf), Function("erfc", 4, 5, erfc),
    Function("erfcx", 4, 4, lambda x: mp.exp(x * x) * erfc(x), lambda x: -1000 < x < 99),
    Function("erfinv", 2, 5, mp.erfinv, lambda x: abs(x) < 1),
    Function("normcdf", 5, 5, lambda x: erfc(-x / mp.sqrt(2)) / 2),
    Function("lgamma", 6, 4, lambda x: mp.log(abs(mp.gamma(x))) if abs(x) < 1000 else mp.loggamma(x),
             lambda x: not -11.0001 < x < -2.2636 and not (x <= 0 and x == mp.floor(x)) and -1000 < x < 1e30),
    Function("tgamma", 5, 10, mp.gamma, lambda x: x > 0 or (x != mp.floor(x) and x > -1000)),
    Function("j0", 9, 7, lambda x: mp.besselj(0, x), below(1e4), (2.2e-6, 5e-12)),
    Function("j1", 9, 7, lambda x: mp.besselj(1, x), below(1e4), (2.2e-6, 5e-12)),
    Function("y0", 9, 7, lambda x: mp.bessely(0, x), lambda x: 1e-6 < x < 1e4, (2.2e-6, 5e-12)),
    Function("y1", 9, 7, lambda x: mp.bessely(1, x), lambda x: 1e-6 < x < 1e4, (2.2e-6, 5e-12)),
    Function("cyl_bessel_i0", 6, 6, lambda x: mp.besseli(0, x), below(600)),
    Function("cyl_bessel_i1", 6, 6, lambda x: mp.besseli(1, x), below(600)),
)  # fmt: skip


def exact(v: mpf, f) -> Fraction:
    """The value as a fraction; what is far beyond the format is cut to twice or half its ends."""
    top = f.highest + 1
    if mpmath.isinf(v) or (v and mp.mag(v) > top + 1):
        return Fraction(-1 if v < 0 else 1) * Fraction(2) ** top
    if v and mp.mag(v) < f.lowest - f.precision - 1:
        return Fraction(0)
    sign, mantissa, exponent, _ = v._mpf_
    return (-1 if sign else 1) * Fraction(int(mantissa)) * Fraction(2) ** exponent


def row(f, function: Function) -> Row:
    ulps, beside = (function.float_ulps, function.beside[0]) if f is F32 else (function.double_ulps, function.beside[1])

    @cache
    def wanted(*raw):
        """The value, and it as a float rounded once; None for NaN, nothing where no bound is given."""
        values = [f.decode(x)[1] for x in raw]
        if any(isinstance(v, str) for v in values):
            return () if "inf" in values or function.name == "pow" else (None, None)
        numbers = [mpf(v.numerator) / v.denominator for v in values]
        if not function.where(*numbers):
            return ()
        value = real(function.value, *numbers)
        value = None if value is None else exact(value, f)
        return value, None if value is None else f.encode(value)

    def close(got: int, *raw: int) -> bool:
        if not (found := wanted(*raw[: function.arity])):
            return True
        (value, rounded), number = found, f.decode(got)[1]
        if value is None or number == "nan":
            return value is None and number == "nan"
        return abs(order(f, got) - order(f, rounded)) <= ulps or (number != "inf" and abs(number - value) <= beside)

    arguments = "xy"[: function.arity]
    name = function.name + "f" * (f is F32)
    return Row(f"{name}({', '.join(arguments)})", close=close)


def arguments(f):
    """Moderate numbers, angles close to multiples of pi/2 and of any size, and the edges of the format."""
    any_bits = sample(f)

    def draw(random) -> int:
        kind = random.random()
        if kind < 0.45:
            return f.encode(Fraction(random.uniform(-12, 12)))
        if kind < 0.55:
            return f.encode(Fraction(random.randrange(-400, 400), 4))
        if kind < 0.65:
            return f.encode(exact(mp.pi / 2 * random.randrange(1, 2 ** random.randrange(1, 60)), f))
        return any_bits(random)

    return draw


def family(f, kind: str, functions) -> Family:
    return Family((kind,) * 2, [row(f, function) for function in functions], [arguments(f)] * 2)


FAMILIES = {
    f"{kind} functions of {name}s": family(f, name, functions)
    for name, f in (("float", F32), ("double", F64))
    for kind, functions in (("elementary", ELEMENTARY), ("special", SPECIAL))
}
