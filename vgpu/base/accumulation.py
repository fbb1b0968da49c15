"""How products of 8-bit floats are summed: in float32, or with the few bits that Hopper's tensor cores keep.

Hopper aligns the products of one `wgmma` (k = 32) to the greatest exponent and adds only their highest 14 bits; kernels
therefore add partial sums to float32 registers every 128 elements or so. Source: DeepSeek-AI, "DeepSeek-V3 Technical
Report" (arXiv 2412.19437), section 3.3.2, increasing accumulation precision, and section 3.5.2, higher FP8 GEMM
accumulation precision. NVIDIA documents none of this, so the details are a model: the 32 products and D are cut to
multiples of 2^-13 of the power of two of the greatest, towards zero; their sum is exact, and cut to 14 bits again.
"""

from __future__ import annotations

import contextlib
import threading

BITS = 14
KINDS = ("float32", "hopper")
_thread = threading.local()


def current() -> str:
    """The accumulation of launches from this thread."""
    return getattr(_thread, "kind", KINDS[0])


class fp8_accumulation(contextlib.ContextDecorator):
    """Within `with fp8_accumulation("hopper"):` `wgmma` of 8-bit floats keeps 14 bits of its sums, as on an H100.

    kind: "hopper", or "float32" (outside). It holds for this thread's launches on the virtual GPU; `mma.sync` is not
    concerned. A model of what "DeepSeek-V3 Technical Report" (sections 3.3.2 and 3.5.2) found on the hardware, which
    NVIDIA does not document: the 32 products of an instruction and D are cut to 14 bits below the greatest of them.
    Errors: ValueError for another kind.
    """

    def __init__(self, kind: str = "hopper"):
        if kind not in KINDS:
            raise ValueError(f"accumulation is {' or '.join(map(repr, KINDS))}, not {kind!r}")
        self.kind = kind
        self.before: list[str] = []

    def __enter__(self) -> fp8_accumulation:
        self.before.append(current())
        _thread.kind = self.kind
        return self

    def __exit__(self, *error: object) -> None:
        _thread.kind = self.before.pop()

    def __repr__(self) -> str:
        state = (
            "in use" if self.before else f"not in use: write `with fp8_accumulation({self.kind!r}):` above the launch"
        )
        return f"<fp8_accumulation({self.kind!r}), {state}>"
