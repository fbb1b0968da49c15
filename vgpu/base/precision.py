"""How tensor cores add up products of 8-bit floats: as exactly as float32 does, or with Hopper's 14 bits."""

from __future__ import annotations

import contextlib

from vgpu.base.own import Own

BITS = 14  # that "hopper" keeps
KINDS = ("float32", "hopper")
_kind = Own("float32")


def fp8_kind() -> str:
    """The way that `fp8_accumulation` has chosen here."""
    return _kind.get()


class fp8_accumulation(contextlib.ContextDecorator):
    """Within `with fp8_accumulation("hopper"):` products of 8-bit floats keep 14 bits of their sums, as on an H100.

    kind: "hopper", or "float32", as it is outside. In an instruction, each element of D is the sum of the products (16
    or 32) and of its element of C. All of them are cut towards zero to multiples of 2^-13 times the power of two that
    the largest of them reaches, and then added exactly; `wgmma` cuts the sum to 14 bits, too. So small products are
    lost beside a large sum: the longer the sum, the more. Sums of 128 elements or so, added up in float32 by other
    instructions, lose less. It holds for sums in float32 of `mma.sync` (without scales) and `wgmma`, on the virtual
    GPU. A model: NVIDIA documents none of this. Source: DeepSeek-AI, "DeepSeek-V3 Technical Report" (arXiv
    2412.19437), sections 3.3.2 and 3.5.2, measured on an H800. Raises ValueError for another kind.
    """

    def __init__(self, kind: str = "hopper"):
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

    def __repr__(self) -> str:
        unused = f"not in use: write `with fp8_accumulation({self.kind!r}):` above the launch"
        return f"<fp8_accumulation({self.kind!r}), {'in use' if self.before else unused}>"
