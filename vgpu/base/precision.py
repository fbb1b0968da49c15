"""How tensor cores add up products of 8-bit floats: as exactly as float32 does, or with Hopper's 14 bits."""

from __future__ import annotations

import contextlib

from vgpu.base.own import Own

KINDS = ("float32", "hopper")
_kind = Own("float32")


def fp8_kind() -> str:
    """The way that `fp8_accumulation` has chosen here."""
    return _kind.get()


class fp8_accumulation(contextlib.ContextDecorator):
    """Within `with fp8_accumulation("hopper"):` products of 8-bit floats keep about 14 bits of their sums.

    kind: "hopper", or "float32", as it is outside. In a product with k of 16 or 32, each element of D is the sum of k
    products and of its element of C, all cut (towards minus infinity) to multiples of 2^-13 times the power of two
    that the largest of them reaches, and then added exactly. So small products are lost beside a large sum, as on
    Hopper: the longer the sum, the more; sums of a part each, added up in float32 by other instructions, lose less.
    It holds for `mma.sync` of e4m3 and e5m2 (and narrower floats in bytes) without scales and with sums in float32, on
    the virtual GPU. NVIDIA doesn't specify the order; source: DeepSeek-AI, "DeepSeek-V3 Technical Report", section
    3.5.2, which measured 14 bits on an H800. Raises ValueError for another kind.
    """

    def __init__(self, kind: str):
        if kind not in KINDS:
            raise ValueError(f"8-bit floats are added up as {' or '.join(map(repr, KINDS))}, not {kind!r}")
        self.kind = kind
        self.before: list[str] = []

    def __enter__(self) -> fp8_accumulation:
        self.before.append(_kind.get())
        _kind.set(self.kind)
        return self

    def __exit__(self, *error: object) -> None:
        _kind.set(self.before.pop())
