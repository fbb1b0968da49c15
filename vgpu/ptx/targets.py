"""Which GPUs have an instruction; as in ptxas, those of a file's `.target` must have it.

Source: NVIDIA "PTX ISA", the target notes of each instruction, compared with what ptxas 12.9 accepts. Targets
below sm_75, for which no compiler in use generates code, are not distinguished.
"""

from __future__ import annotations

import re
from functools import lru_cache

from vgpu.ptx import Instruction

# What is searched for in `opcode.words/number of operands` -> the least architecture; the highest counts.
_LEAST = (
    # asynchronous copies and barriers
    (r"^cp\.async|^mbarrier\.", 80),
    (r"^cp\.\S*\bbulk\b|^mbarrier\.\S*(?:expect_tx|complete_tx|try_wait)", 90),
    (r"^mbarrier\.arrive(?!\S*noComplete)\S*/3", 90),
    (r"^fence\.\S*(?:proxy\.(?:async|tensormap)|mbarrier_init|sync_restrict)", 90),
    (r"^cp\.\S*tile::gather4", 100),
    # memory and caches
    (r"^(?:discard|applypriority|createpolicy)\b|L2::cache_hint|L2::256B|^prefetch\.\S*L2::evict", 80),
    (r"^prefetch\.tensormap|^tensormap\.cp_fenceproxy|\bcluster\b|^(?:atom|red)\.\S*(?:bf16|b128|\bv[248]\b)", 90),
    (r"^(?:ld|st)\.\S*(?:\bv8\b|\bv4\.[busf]64\b)", 100),
    # warps
    (r"^redux\.", 80),
    (r"^(?:elect|griddepcontrol|stmatrix)\b", 90),
    # tensor cores
    (r"^wmma\.\S*\b(?:bf16|tf32|f64)\b|^mma\.\S*\b(?:m16n8k(?:4|16|32|64|128|256)|bf16|tf32|f64)\b", 80),
    (r"^w?mma\.\S*\band\b", 80),
    (r"^mma\.\S*\b(?:e4m3|e5m2)\b", 89),
    (r"^mma\.\S*\bm16n8\S*\bf64\b", 90),
    # arithmetic
    (r"^(?:abs|neg)\.\S*bf16|^fma\.\S*(?:bf16|\brelu\b)|^(?:min|max)\.\S*(?:f16|\bNaN\b)", 80),
    (r"^(?:min|max)\.\S*\bxorsign\b", 86),
    (r"^(?:add|sub|mul|set|setp|tanh|ex2)\.\S*bf16", 90),
    (r"^(?:add|min|max)\.\S*[us]16x2|^(?:min|max)\.\S*\brelu\.s32\b", 90),
    (r"^(?:add|sub|mul|fma)\.\S*\bf32x2\b|^(?:min|max)\.\S*\bf32/4", 100),
    # conversions
    (r"^cvt\.\S*(?:bf16|tf32|\brelu\b|f16x2)", 80),
    (r"^cvt\.\S*\b(?:e4m3x2|e5m2x2)\b", 89),
    (r"^cvt\.(?!\S*\bbf16\.f32/|\S*\bf32\.bf16/)\S*\bbf16\b|^cvt\.\S*\br[nz]\b\S*\btf32\b", 90),
    (r"^cvt\.\S*\bsatfinite\b\S*\btf32\b", 100),
)
# … and those that only the GPUs themselves have, by targets that end in a letter, which no later GPU need have: from an
# architecture on, and up to another one.
_LAST = 999
_OWN = (
    (r"^setmaxnreg\b|^tensormap\.replace\b", 90, _LAST),
    (r"^wgmma\b", 90, 99),
    (r"^tcgen05\b|^cp\.\S*(?:scatter4|cta_group|(?:cluster\.global|prefetch)\S*gather4)", 100, 119),
    (r"^cvt\.\S*(?:e2m1x2|e2m3x2|e3m2x2|ue8m0x2)|^cvt\.\S*e[45]m[23]x2\.bf16x2", 100, _LAST),
    (r"^(?:ld|st)matrix\.\S*\bb8", 100, _LAST),
    (r"^cvt\.\S*\brs\b|^redux\.\S*\bf32\b", 100, 119),
    (r"^mma\.\S*\bkind::", 120, 129),
)
_MODELS = {80: "A100", 86: "RTX 3090", 89: "RTX 4090", 90: "H100", 100: "B200"}  # a GPU of each architecture


def too_new(instruction: Instruction, target: str) -> str | None:
    """What is wrong with an instruction for a `.target`, in words; None if it has it, or where no target is named."""
    have = re.fullmatch(r"sm_(\d+)([af]?)", target)
    if have is None:
        return None
    least, last = _needs(f"{instruction}/{len(instruction.operands)}")
    if least <= int(have[1]) <= (last or _LAST) and (have[2] or not last):
        return None
    word = f"sm_{least}a" if last else f"sm_{least} or a newer one"
    remedies = []
    if least in _MODELS and int(have[1]) != least:
        remedies.append(f'call device("{_MODELS[least]}") first')
    if last:  # CuPy and nvcc compile for targets without a letter, too, unless they are told
        remedies.append(f'compile CUDA C with -arch=sm_{least}a: RawKernel(…, options=("-arch=sm_{least}a",))')
    remedy = f"; for code that is compiled here, {', and '.join(remedies)}" if remedies else ""
    return f"needs .target {word} and the file says {target}{remedy}"


@lru_cache(maxsize=4096)
def _needs(text: str) -> tuple[int, int]:
    """The oldest architecture with an instruction, and the last one if only targets that end in a letter have it."""
    own = max(((least, last) for pattern, least, last in _OWN if re.search(pattern, text)), default=None)
    return own or (max((least for pattern, least in _LEAST if re.search(pattern, text)), default=0), 0)
