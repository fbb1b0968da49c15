"""Floating-point formats by their bits: which values each has, and how a value is rounded to them.

Sources: IEEE 754 (FP32, FP16), "NVIDIA A100 Tensor Core GPU Architecture" (TF32, BF16), "OCP 8-bit Floating Point
Specification" (E4M3, E5M2) and "OCP Microscaling Formats Specification" (E2M1).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

MOST_LISTED = 1 << 16
"""Values that are listed one by one: all those of 16 bits."""
SPECIALS = {
    "infinity and NaN": "the largest exponent is kept for infinity and NaN, as in IEEE 754",
    "NaN only": "one code of each sign is NaN, all others are numbers",
    "none": "every code is a number",
}


@dataclass(frozen=True)
class Format:
    """A format of one sign bit, `exponent` and `mantissa` bits; `specials` is a key of `SPECIALS`.

    `bias` is 2^(exponent − 1) − 1 unless given. ValueError for numbers of bits that no format has.
    """

    name: str
    exponent: int
    mantissa: int
    specials: str = "infinity and NaN"
    bias: int = None  # type: ignore[assignment]  # None only until `__post_init__`

    def __post_init__(self) -> None:
        if not (1 <= self.exponent <= 8 and 0 <= self.mantissa <= 23):
            raise ValueError(f"{self.name}: 1 to 8 bits of exponent and 0 to 23 of mantissa, as in a float of 32 bits")
        if self.specials not in SPECIALS:
            raise ValueError(
                f"{self.name}: specials are one of {', '.join(map(repr, SPECIALS))}, not {self.specials!r}"
            )
        if self.specials == "NaN only" and self.mantissa == 0:
            raise ValueError(f"{self.name}: without a mantissa the code of NaN would take a whole exponent")
        if self.bias is None:
            object.__setattr__(self, "bias", (1 << (self.exponent - 1)) - 1)

    @property
    def bits(self) -> int:
        return 1 + self.exponent + self.mantissa

    @property
    def lowest(self) -> int:
        """The power of two of the smallest normal value; that of all subnormal ones too."""
        return 1 - self.bias

    @property
    def highest(self) -> int:
        """The power of two of the largest value."""
        return (1 << self.exponent) - 1 - self.bias - (self.specials == "infinity and NaN")

    @property
    def smallest(self) -> float:
        """The smallest value above zero, which is subnormal."""
        return 2.0 ** (self.lowest - self.mantissa)

    @property
    def smallest_normal(self) -> float:
        return 2.0**self.lowest

    @property
    def largest(self) -> float:
        """The largest finite value."""
        steps = (2 << self.mantissa) - 1 - (self.specials == "NaN only")
        return 2.0 ** (self.highest - self.mantissa) * steps

    def spacing(self, x: ArrayLike) -> np.ndarray:
        """The distance of two neighbouring values around `x`, the range having no end."""
        x = np.asarray(x, np.float64)
        power = np.where(x == 0, self.lowest, np.frexp(x)[1] - 1)
        return 2.0 ** (np.maximum(power, self.lowest) - self.mantissa)

    def nearest(self, x: ArrayLike) -> np.ndarray:
        """`x` rounded to nearest, ties to even, the range having no end: what lies beyond `largest` overflows."""
        step = self.spacing(x)
        return np.rint(np.asarray(x, np.float64) / step) * step

    def between(self, low: float, high: float) -> np.ndarray:
        """The finite values from `low` to `high`, both at least 0 and included. ValueError where there are too many."""
        found = []
        for power in range(self.lowest - 1, self.highest + 1):
            first, last = (0.0 if power < self.lowest else 2.0**power), 2.0 ** (power + 1)
            step = 2.0 ** (max(power, self.lowest) - self.mantissa)
            start, stop = max(first, np.ceil(low / step) * step), min(last - step, high, self.largest)
            count = max(0, int(np.floor((stop - start) / step)) + 1)
            if count > MOST_LISTED:
                raise ValueError(f"{self.name} has more than {MOST_LISTED:,} values from {low:g} to {high:g}")
            found.append(start + step * np.arange(count))
        return np.concatenate(found)

    def count(self, low: float, high: float) -> int:
        """How many finite values there are from `low` to `high`, 0 ≤ low ≤ high, both included."""
        return self._up_to(high) - self._up_to(low) + bool(low <= self.largest and self.nearest(low) == low)

    def _up_to(self, x: float) -> int:
        """Finite values above zero and up to `x`."""
        if x <= 0:
            return 0
        x = min(x, self.largest)
        step = float(self.spacing(x))
        power = max(int(np.frexp(x)[1]) - 1, self.lowest)
        within = int(np.floor(x / step))  # of steps of this size from zero on
        return within + (power - self.lowest) * (1 << self.mantissa)


FORMATS = MappingProxyType(
    {
        row.name: row
        for row in (
            Format("FP32", 8, 23),
            Format("TF32", 8, 10),
            Format("FP16", 5, 10),
            Format("BF16", 8, 7),
            Format("E5M2", 5, 2),
            Format("E4M3", 4, 3, "NaN only"),
            Format("E2M1", 2, 1, "none"),
        )
    }
)
"""The formats of Tensor Cores, by name; E5M2 and E4M3 are FP8, E2M1 is FP4."""


def shares(values: ArrayLike, form: Format, scale: float = 1.0) -> dict[str, float]:
    """What becomes of `values` times `scale` in a format: the share of each fate, in percent of those not zero.

    "zero": rounded to zero, "subnormal": kept with fewer bits, "normal": kept, "overflow": beyond the largest.
    """
    size = np.abs(np.asarray(values, np.float64).ravel()) * scale
    size = size[size > 0]
    if not size.size:
        return dict.fromkeys(("zero", "subnormal", "normal", "overflow"), 0.0)
    rounded = form.nearest(size)
    zero, over = rounded == 0, rounded > form.largest
    small = (rounded < form.smallest_normal) & ~zero
    parts = {"zero": zero, "subnormal": small, "normal": ~(zero | over | small), "overflow": over}
    return {name: 100 * float(part.mean()) for name, part in parts.items()}
