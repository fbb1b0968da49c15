from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, plural, seeds


def _case(count: int, brightest: int = 255, *, seed: int) -> Case:
    pixels = np.random.default_rng(seed).integers(0, brightest + 1, (count, 16, 16)).astype(np.uint8)
    wanted = (pixels / 127.5 - 1).reshape(count, 1, 16, 16).astype(np.float32)
    name = plural(count, "image") + (f" of pixels up to {brightest}" if brightest < 255 else "")
    return Case(name, (pixels,), expected=(wanted, "float32"), plays=_with_type)


def _with_type(got: object) -> tuple:
    """What was returned, and its type beside it: a float64 array would be right to any tolerance."""
    return (got, str(getattr(got, "dtype", type(got).__name__))), None


def drawn(dice: np.random.Generator) -> list[Case]:
    return [_case(*row, seed=seed) for row, seed in zip(((3,), (11,), (5, 140)), seeds(dice, 3), strict=True)]


def cases() -> list[Case]:
    return [_case(1, seed=1), _case(2, seed=2), _case(7, seed=3), _case(4, 180, seed=4)]
