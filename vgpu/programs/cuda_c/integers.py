"""The integer types of `<cstdint>` in the device half: the host's, by which both halves name kernels.

NVRTC's own header calls integers of 64 bits `long long`. The host's compiler calls them `long` where that has 64 bits,
and so does nvcc: overloads, specializations and symbols of kernels go by it.
"""

from __future__ import annotations

_LONG = ("int64_t", "int_fast16_t", "int_fast32_t", "int_fast64_t", "int_least64_t", "intmax_t", "intptr_t")
_TYPES = {f"{sign[:1]}{name}": f"{sign} long".strip() for sign in ("", "unsigned") for name in _LONG}
_WITH_THEIR_OWN = ("cuda_pipeline.h", "cuda_awbarrier.h")
"""Headers that declare `uint64_t` themselves under NVRTC; others, such as those of cooperative groups, include them."""


def standard_integers() -> str:
    """What stands before a device half: `<cstdint>`, and the headers that declare such types themselves."""
    headers = ["cuda/std/climits", "cuda/std/cstdint", *_WITH_THEIR_OWN]
    lines = ["#ifdef __LP64__", *(f"#define {name} nvrtc_{name}" for name in _TYPES), "#endif"]
    lines += [f"#include <{header}>" for header in headers]
    lines += ["#ifdef __LP64__", *(f"#undef {name}\nusing {name} = {type};" for name, type in _TYPES.items())]
    # The header's own namespace in it: older versions of CCCL name it where they use these types.
    lines += ["#ifdef _LIBCUDACXX_ABI_NAMESPACE", "namespace cuda::std::_LIBCUDACXX_ABI_NAMESPACE {"]
    lines += ["#else", "namespace cuda::std {", "#endif", *(f"using ::{name};" for name in _TYPES), "}", "#endif\n"]
    return "\n".join(lines)
