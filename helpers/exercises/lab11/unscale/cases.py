from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, plural
from helpers.exercises.lab11.budgets import WIDE, stores, wide_loads
from helpers.exercises.lab11.codes import place_of

BAD = {"": (), "inf": (np.inf,), "-inf": (-np.inf,), "nan": (np.nan,), "many": (np.nan, np.inf)}


def _case(
    n: int, scale: float, blocks: int, threads: int = 128, bad: str = "", seed: int = 0, of_four: int | None = None
) -> Case:
    dice = np.random.default_rng(seed or n)
    g = (dice.standard_normal(n) * 2.0 ** dice.integers(-12, 4, n)).astype(np.float16)
    for value in BAD[bad]:
        place = place_of(value, n, dice)
        place = place if of_four is None else place // 4 * 4 + of_four
        g[dice.random(n) < 0.2 if bad == "many" else place] = value
    expected = np.zeros(n + 1, np.float32)
    expected[:n] = g.astype(np.float32) / np.float32(scale)
    expected[n] = not np.isfinite(g).all()
    what = f"{plural(n, 'gradient')}, scale {scale:g}" + (f", {bad}" if bad else "")
    arguments = (g, Out(expected, np.zeros(n + 1, np.float32)), np.int32(n), np.float32(scale))
    return Case(f"{what}, {plural(blocks, 'block')} of {threads}", arguments, (blocks,), (threads,))


def drawn(dice: np.random.Generator) -> list[Case]:
    kinds = [str(each) for each in dice.permutation(["", "inf", "-inf", "nan"])]
    cases = [
        _case(4 * int(dice.integers(2, 300)), 2.0 ** int(dice.integers(3, 17)), int(dice.integers(1, 6)),
              32 * int(dice.integers(1, 9)), kind, int(dice.integers(1, 10**6)))
        for kind in kinds
    ]  # fmt: skip
    scale, seed = 2.0 ** int(dice.integers(3, 17)), int(dice.integers(1, 10**6))
    last = _case(2048 * int(dice.integers(4, 7)), scale, 4, 256, "many", seed)
    return [*cases, last]


def cases() -> list[Case]:
    return [
        _case(4, 8, 1, 32),
        _case(100, 65536, 1, 64, "nan", of_four=0),
        _case(516, 1024, 3, 96, "inf", of_four=1),
        _case(1000, 65536, 2, 64, "-inf", of_four=2),
        _case(52, 16, 1, 32, "nan", of_four=3),
        _case(2048, 65536, 4, 128),
        _case(2044, 4, 3, 256, "many"),
    ]


def measured() -> Case:
    return _case(8192, 1024, 4, 256, "many")


MEASURES = {
    "load requests per 512 bytes": wide_loads,
    "store requests per 512 bytes": lambda profile: WIDE / 128 * stores(profile),
}
