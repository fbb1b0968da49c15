"""What the virtual GPU lacks, in the words a user knows, and what to use instead."""

from __future__ import annotations

import re

from vgpu.base.errors import Unsupported

# First match wins, searched for in the PTX instruction or name: what it belongs to, and what to use instead.
_TABLE = (
    (
        r"\b(?:tex|tld4|txq|suld|sust|suq|sured)\b",
        "texture or surface access of this kind",
        "use 1-D, 2-D, 3-D or layered textures of one level, with a texture object that is a parameter",
    ),
    (
        r"\bmma_async\.sp\b",
        "tensor-core products of sparse matrices",
        "multiply the dense matrices with `wgmma.mma_async`",
    ),
    (
        r"\bwgmma\b",
        "product of a warpgroup of this shape or type",
        "use m64nNk16 of f16 or bf16, m64nNk8 of tf32, m64nNk32 of 8-bit floats or integers, or m64nNk256 of bits with "
        ".and.popc",
    ),
    (
        r"\btcgen05\.mma\.(?:ws\.)?sp\b",
        "tensor-core products of sparse matrices",
        "multiply the dense matrices with `tcgen05.mma`",
    ),
    (
        r"\btcgen05\.mma\.ws\b",
        "products of tensor memory with stationary weights (`.ws`)",
        "use `tcgen05.mma` without .ws, with M = 64 or 128",
    ),
    (
        r"\btcgen05\b",
        "instruction for tensor memory of this form",
        "see the list of what runs in vgpu/README.md; `.ashift` and `.red` are not among it",
    ),
    (
        r"\bmma\.sp\b",
        "tensor-core products of sparse matrices",
        "multiply the dense matrices with `mma.sync`",
    ),
    (
        r"\b(?:wmma|mma|ldmatrix|stmatrix|movmatrix)\b",
        "tensor-core instruction of this shape or type",
        "use `nvcuda::wmma` with half, __nv_bfloat16, tf32, 8-bit integers or double, or `mma.sync` with shapes from "
        "m16n8k8 on",
    ),
    (
        r"im2col::w",
        "tensor copies along W with a halo (`.im2col::w` and `.im2col::w::128`)",
        "copy columns with `.im2col`, whose pixels go on along W, H and D",
    ),
    (
        r"cp_mask",
        "bulk copies of single bytes (`.cp_mask`)",
        "copy whole pieces of 16 bytes, the rest with ordinary stores",
    ),
    (
        r"the reduction",
        "bulk reductions of this form",
        "add with `atomicAdd`, or reduce runs of memory with `cp.reduce.async.bulk` and add, min, max, and, or, xor",
    ),
    (
        r"a call of `",
        "functions from elsewhere, nor launches by a kernel",
        "define the function in the same source, and launch kernels from the host",
    ),
)


def lacking(what: str, line: int | None = None) -> Unsupported:
    """The error for `what`, a PTX instruction or a description of it, at the user's line."""
    where = "" if line is None else f" (line {line})"
    for pattern, belongs, instead in _TABLE:
        if re.search(pattern, what):
            text = f"the virtual GPU has no {belongs}{where}: {instead}. It met {what}."
            break
    else:
        text = (
            f"the virtual GPU cannot run {what}{where} yet. Use a simpler form of the operation, or run this kernel "
            "on a GPU."
        )
    error = Unsupported(text)
    error.line = line
    return error


def plain(symbol: str) -> str:
    """A function's name without C++'s decoration: `_Z3fibi` is `fib`."""
    found = re.match(r"_ZN?K?(\d+)(.*)", symbol)
    name = ""
    while found:
        name, rest = found[2][: int(found[1])], found[2][int(found[1]) :]
        found = re.match(r"(\d+)(.*)", rest) if symbol.startswith("_ZN") else None
    return name or symbol
