from __future__ import annotations

from helpers.checking.exercise import Case, plural

ROWS = ((64, 1, 256, 4, 8, 1), (64, 4, 256, 4, 8, 1), (64, 4, 64, 1, 1, 10), (10, 3, 7, 2, 4, 1), (1, 1, 1, 1, 1, 1),
        (256, 2, 3072, 1, 8, 100), (64, 8, 784, 4, 8, 4))  # fmt: skip


def _case(batch: int, parts: int, pixels: int, pixel: int, label: int, every: int) -> Case:
    wanted = (batch * (pixels * pixel + label), 4 * parts / every)
    name = f"{plural(batch, 'image')} of {plural(pixels, 'pixel')} in {plural(parts, 'part')}, read every {every}"
    return Case(name, (batch, parts, pixels, pixel, label, every), expected=wanted)


def cases() -> list[Case]:
    return [_case(*row) for row in ROWS]
