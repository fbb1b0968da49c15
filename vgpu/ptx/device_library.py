"""Replacements in PTX for functions of NVIDIA's device runtime library.

Kernels made by Numba call them for grid-wide barriers: `cudaCGGetIntrinsicHandle` gives the launch's barrier, which
`%envreg1` and `%envreg2` point to, and `cudaCGSynchronize` waits at it for all blocks ("CUDA Dynamic Parallelism" and
`cooperative_groups.h` describe what they do).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from vgpu import ptx

# One thread of each block adds to a word whose highest bit turns over when all blocks have come: the first block adds
# what is missing to 2³¹, the others add 1.
_TEXT = """.version 8.0
.target sm_75
.address_size 64
.visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .b32 %low, %high;
  .reg .b64 %whole;
  mov.u32 %low, %envreg2;
  mov.u32 %high, %envreg1;
  mov.b64 %whole, {%low, %high};
  st.param.b64 [handle], %whole;
  ret;
}
.visible .func (.param .b32 status) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .pred %bad, %other, %first, %same;
  .reg .b32 %x, %y, %z, %rank, %blocks, %share, %before, %now, %changed;
  .reg .b64 %barrier;
  ld.param.b64 %barrier, [handle];
  setp.ne.s64 %bad, %barrier, 0;
  @%bad bra VALID;
  trap;
VALID:
  barrier.sync 0;
  mov.u32 %x, %tid.x;
  mov.u32 %y, %tid.y;
  mov.u32 %z, %tid.z;
  or.b32 %rank, %x, %y;
  or.b32 %rank, %rank, %z;
  setp.ne.s32 %other, %rank, 0;
  @%other bra TOGETHER;
  mov.u32 %x, %nctaid.x;
  mov.u32 %y, %nctaid.y;
  mov.u32 %z, %nctaid.z;
  mul.lo.u32 %blocks, %x, %y;
  mul.lo.u32 %blocks, %blocks, %z;
  mov.u32 %x, %ctaid.x;
  mov.u32 %y, %ctaid.y;
  mov.u32 %z, %ctaid.z;
  or.b32 %rank, %x, %y;
  or.b32 %rank, %rank, %z;
  setp.eq.s32 %first, %rank, 0;
  sub.u32 %share, 0x80000001, %blocks;
  selp.u32 %share, %share, 1, %first;
  fence.acq_rel.gpu;
  atom.global.add.u32 %before, [%barrier+4], %share;
WAIT:
  ld.acquire.gpu.global.u32 %now, [%barrier+4];
  xor.b32 %changed, %now, %before;
  setp.ge.s32 %same, %changed, 0;
  @%same bra WAIT;
TOGETHER:
  barrier.sync 0;
  st.param.b32 [status], 0;
  ret;
}
"""


@lru_cache(maxsize=1)
def _library() -> dict[str, ptx.Function]:
    return ptx.parse(_TEXT).functions


def complete(module: ptx.Module) -> ptx.Module:
    """The module, with bodies for the library's functions that it only declares."""
    missing = {
        name: _library()[name]
        for name, function in module.functions.items()
        if function.body is None and name in _library()
    }
    return replace(module, functions={**module.functions, **missing}) if missing else module
