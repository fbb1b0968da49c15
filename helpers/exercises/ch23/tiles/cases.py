from __future__ import annotations

from helpers.checking.exercise import Case

LAYERS = (
    (16384, 6, 25), (1024, 16, 150), (4096, 6, 400), (16, 16, 16), (1, 1, 1), (17, 16, 16), (16, 17, 32),
    (100, 33, 47), (256, 64, 576),
)  # fmt: skip
"""Positions, filters, depth: LeNet's first convolution, its second, and the backward pass of that one come first."""


def _tiles(positions: int, filters: int, depth: int) -> tuple[int, float]:
    products = 1
    for size in (positions, filters, depth):
        products *= (size + 15) // 16
    return products, positions * filters * depth / (products * 16**3)


def _case(*layer: int) -> Case:
    positions, filters, depth = layer
    return Case(f"{positions} positions, {filters} filters, depth {depth}", layer, expected=_tiles(*layer))


def cases() -> list[Case]:
    return [_case(*layer) for layer in LAYERS]
