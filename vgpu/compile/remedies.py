"""The usual fixes of kernels that NVRTC refuses: one row for each error message."""

from __future__ import annotations

import re
from collections.abc import Iterable

# First match wins: the compiler's message → the usual fix.
REMEDIES = (
    (r'expected a ";"', "A statement ends in a semicolon."),
    (r'expected a "}"', "A brace is opened here and never closed."),
    (
        r'expected a "[)\]]"',
        "A bracket is opened before this place and never closed, or a word isn't CUDA C: `restrict` is `__restrict__`.",
    ),
    (r'identifier "print" is undefined', 'C has `printf`, with a format: `printf("%d %f\\n", i, x[i]);`.'),
    (
        r"expression must have integral or unscoped enum type",
        "`^`, `%`, `&`, `|` and shifts take whole numbers; powers are `x * x` or `powf(x, 3.0f)`, remainders `fmodf`.",
    ),
    (r'expected a "\("', "In C, what is tested or looped over stands in brackets: `if (i < n) …`, `while (i < n) …`."),
    (
        r"has no storage class or type specifier",
        "Outside functions stand declarations only: move the line into the kernel, or remove what is no C.",
    ),
    (
        r'identifier "(printf|assert)" is undefined',
        "`{0}` needs no header in a kernel; check that nothing of that name is defined.",
    ),
    (
        r'identifier "(__\w*(?:half|bfloat16|_fp[864]_)\w*|half2?)" is undefined',
        "Half precision needs `#include <cuda_fp16.h>` at the top of the source, bfloat16 `<cuda_bf16.h>`, and 8, 6 "
        "and 4 bits `<cuda_fp8.h>`, `<cuda_fp6.h>` and `<cuda_fp4.h>`.",
    ),
    (
        r'identifier "(u?int(?:8|16|32|64)_t)" is undefined',
        "`{0}` needs `#include <cuda/std/cstdint>`; or write `int`, `unsigned int`, `long long`.",
    ),
    (
        r'incomplete type "CUtensorMap|identifier "CUtensorMap" is undefined',
        "Before the first `#include`, write `struct alignas(64) CUtensorMap_st {{ unsigned long long opaque[16]; }};` "
        "and `typedef CUtensorMap_st CUtensorMap;`: the header that has them cannot be included in kernels.",
    ),
    (r'identifier "(INFINITY|NAN|HUGE_VALF?)" is undefined', "`{0}` needs `#include <cuda/std/cmath>`."),
    (
        r'identifier "(M_[A-Z0-9_]+)" is undefined',
        "Kernels have no `{0}`: `#include <math_constants.h>` has `CUDART_PI` and `CUDART_PI_F`, and others like them.",
    ),
    (
        r'identifier "((?:FLT|DBL)_\w+)" is undefined',
        "Kernels have no `{0}`: `#include <cuda/std/limits>` and write `cuda::std::numeric_limits<float>::max()`, "
        "`::min()`, `::epsilon()` (or `double`).",
    ),
    (
        r'identifier "((?:U?(?:CHAR|SHRT|INT|LONG|LLONG)|SCHAR)_(?:MIN|MAX)|CHAR_BIT)" is undefined',
        "`{0}` needs `#include <cuda/std/climits>`.",
    ),
    (
        r'identifier "u(char|short|int|long)" is undefined',
        "`u{0}` is a name of Linux's headers: write `unsigned {0}`, or `using u{0} = unsigned {0};` at the top.",
    ),
    (
        r'identifier "(?:bfloat16|float16|fp16|bf16)" is undefined',
        "The types are called `__half` (with `#include <cuda_fp16.h>`) and `__nv_bfloat16` (`#include <cuda_bf16.h>`).",
    ),
    (
        r'identifier "__(shfl\w*?|any|all|ballot)" is undefined',
        "Since Volta a warp's lanes must be named: `__{0}_sync(0xffffffff, …)` with all of them.",
    ),
    (
        r'identifier "(?:curand\w*|rand|srand|drand48|RAND_MAX)" is undefined',
        "Make random numbers with `cp.random` and pass them in, or write a small generator (xorshift is three lines).",
    ),
    (
        r'identifier "(cuda(?:Malloc|Free|Mem|Device|Get|Set|Event|Stream|Launch)\w*)" is undefined',
        "`{0}` belongs to the host: arrays come from Python (`cp.zeros`, `cp.asarray`), and only kernels and their "
        "`__device__` functions belong here.",
    ),
    (
        r"^texture is not a template",
        "CUDA 12 has no texture references: take a `cudaTextureObject_t` as a parameter and pass a "
        "`cp.cuda.texture.TextureObject`.",
    ),
    (
        r'declaration is incompatible with previous "(\w+)"',
        "Every `extern __shared__` array called `{0}` is the same one and has one type. For several types, as in "
        "templates: `extern __shared__ __align__(16) unsigned char raw[];` and `T* {0} = reinterpret_cast<T*>(raw);`.",
    ),
    (
        r'identifier "cg" is undefined|name followed by "::" must be a class or namespace name',
        "A header or an alias is missing: `#include <cooperative_groups.h>` and `namespace cg = cooperative_groups;`, "
        "`<mma.h>` for `nvcuda`, `<cuda/std/…>` for `cuda::std`, and `<cuda/atomic>`, `<cuda/barrier>` or "
        "`<cuda/pipeline>` for the rest of `cuda`.",
    ),
    (r'identifier "(?:True|False|None)" is undefined', "C writes `true`, `false`, and `nullptr` for no pointer."),
    (
        r'identifier "(\w+)" is undefined',
        "Declare `{0}` before this line, or check its spelling: capitals count, as in `threadIdx`.",
    ),
    (
        r'cannot open source file "(?:c?stdio|c?assert|c?math|c?stdlib|cuda_runtime(?:_api)?|device_launch_parameters)'
        r'(?:\.h)?"',
        "Remove this line: `printf`, `assert`, `sqrtf`, `expf` and the like need no header in a kernel.",
    ),
    (
        r'cannot open source file "(?:c?stdint)(?:\.h)?"',
        "Write `#include <cuda/std/cstdint>`, or use `int`, `unsigned int`, `long long`.",
    ),
    (
        r'cannot open source file "(?:string|memory)\.h"',
        "Remove this line: `memcpy` and `memset` need no header in a kernel.",
    ),
    (
        r'cannot open source file "(?:sys/time|time|unistd)\.h"',
        "Remove this line: a kernel has `clock64()`, and Python measures the time of a whole launch.",
    ),
    (
        r'cannot open source file "(?:climits|cfloat|limits\.h|float\.h)"',
        "Write `#include <cuda/std/climits>` for `INT_MAX` and the like, `#include <cuda/std/limits>` and "
        "`cuda::std::numeric_limits<float>::max()` for `FLT_MAX`.",
    ),
    (
        r'cannot open source file "(?:std)?(?:c?(stddef)(?:\.h)?)"',
        "Remove this line: `size_t` needs no header in a kernel.",
    ),
    (
        r'cannot open source file "(limits|type_traits|utility|tuple|array|functional|complex|numeric|initializer_list|'
        r'atomic|bit|span|optional|variant|chrono|numbers|concepts|ratio|iterator)"',
        "Write `#include <cuda/std/{0}>` and `cuda::std::` instead of `std::`.",
    ),
    (
        r'cannot open source file "(?:.*/)?helper_math\.h"',
        "This header belongs to NVIDIA's samples, not to CUDA. Write the operators that you need, as "
        "`__device__ float4 operator+(float4 a, float4 b) {{ return make_float4(a.x + b.x, a.y + b.y, …); }}`.",
    ),
    (
        r'cannot open source file "(?:.*/)?helper_\w+\.h"',
        "Remove this line: the header belongs to the host's part of NVIDIA's samples.",
    ),
    (
        r'cannot open source file "(?:cublas\w*|cufft\w*|cusparse\w*|cusolver\w*|cudnn\w*|nccl)\.h"',
        "Libraries are called from the host: use CuPy's functions, which stand on them, and leave them out of kernels.",
    ),
    (
        r'cannot open source file "(?:nvToolsExt|nvtx3/.*|cuda_profiler_api)(?:\.h)?"',
        "Remove this line: ranges are marked in Python, with `cp.cuda.nvtx`.",
    ),
    (
        r'cannot open source file "(?:cutlass|cute)/(?!util/)',
        "CUTLASS's headers, with CuTe's, come with a package: python -m pip install --no-deps nvidia-cutlass.",
    ),
    (
        r'cannot open source file "(?:cutlass/|torch/|ATen/|c10/)',
        "This library is not installed for kernels: write the part that you need yourself.",
    ),
    (
        r'cannot open source file "(?:vector|string|[io]*f?s?stream|algorithm|map|set|queue|memory|thrust/.*|random)"',
        "Kernels have no containers, streams or algorithms of the host: use arrays and loops.",
    ),
    (
        r'cannot open source file "curand\w*\.h"',
        "cuRAND's headers are not installed: make the numbers with `cp.random` and pass them in, or write a small "
        "generator (xorshift is three lines).",
    ),
    (
        r'cannot open source file "([^"]+)"',
        "NVRTC has CUDA's headers, not the host's: `<{0}>` is often not needed, else try `<cuda/std/…>`.",
    ),
    (
        r"(calling a|cannot be called from)",
        "A kernel may only call functions marked `__device__`.",
    ),
    (
        r"expected a declaration|expected an identifier",
        "A brace `{{` or `}}` too many, or one too few, usually.",
    ),
    (r"too (few|many) arguments in function call", "Compare the call with the function's parameters."),
    (
        r'a value of type "([^"]+)" cannot be used to initialize an entity of type "([^"]+)"',
        "The types differ: check `*`, `const` and the element type, or convert on purpose.",
    ),
    (
        r'argument of type "([^"]+)" is incompatible with parameter of type "([^"]+)"',
        "Pass a {1}, or change the function's parameter; `const` may not be dropped.",
    ),
    (
        r'namespace "std" has no member "(min|max|abs|round|floor|ceil|fabs|isnan|isinf|isfinite|signbit|fma|'
        r'size_t|ptrdiff_t|mem(?:cpy|set)|printf)"',
        "Write `{0}` without `std::`: it needs no header in a kernel.",
    ),
    (
        r'namespace "std" has no member "(swap|move|forward|exchange|pair|make_pair|declval)"',
        "Write `cuda::std::{0}` and `#include <cuda/std/utility>`.",
    ),
    (
        r'namespace "std" has no member "(numeric_limits)"',
        "Write `cuda::std::{0}` and `#include <cuda/std/limits>`.",
    ),
    (
        r'namespace "std" has no member "(u?int(?:8|16|32|64)_t)"',
        "Write `{0}` and `#include <cuda/std/cstdint>`.",
    ),
    (
        r'namespace "std" has no member "(array|tuple|complex|optional|span)"',
        "Write `cuda::std::{0}` and `#include <cuda/std/{0}>`.",
    ),
    (
        r'namespace "std" has no member "(is_\w+|\w+_constant|\w+_type|enable_if\w*|conditional\w*|remove_\w+|decay\w*|'
        r'common_type\w*|void_t|conjunction\w*|disjunction\w*|negation\w*)"',
        "Write `cuda::std::{0}` and `#include <cuda/std/type_traits>`.",
    ),
    (
        r'namespace "std" has no member "(a?(?:sin|cos|tan)h?|atan2|exp2?|expm1|log(?:2|10|1p)?|pow|r?sqrt|cbrt|hypot|'
        r'erfc?|ceil|trunc|fmod|copysign|[tl]gamma|fmin|fmax)"',
        "Write `{0}f` for floats, or `{0}`, without `std::`: it needs no header in a kernel.",
    ),
    (
        r'namespace "std" has no member "(\w+)"',
        "Kernels have no `std`. Types and functions that only calculate may be there as `cuda::std::{0}`, with a "
        "header `<cuda/std/…>`; containers, streams and algorithms aren't: use arrays and loops.",
    ),
    (
        r'namespace "cooperative_groups" has no member "(?:\w*cluster\w*)"|__cluster_dims__',
        'Clusters of blocks need a GPU that has them: call device("H100") first, or give --gpu H100.',
    ),
    (
        r'namespace "cooperative_groups" has no member "(?:reduce|plus|less|greater|bit_\w+)"',
        "`#include <cooperative_groups/reduce.h>`.",
    ),
    (
        r'namespace "cooperative_groups" has no member "((?:in|ex)clusive_scan|memcpy_async|wait\w*)"',
        "`#include <cooperative_groups/scan.h>` for scans, `<cooperative_groups/memcpy_async.h>` for copies.",
    ),
    (
        r"device-side kernel launch could not be processed",
        "Kernels are launched from Python, kernel(grid, block, args); `main` and `<<<…>>>` do not belong here.",
    ),
    (r"expression must be a modifiable lvalue", "What stands left of `=` is `const`, or no variable."),
    (
        r'more than one instance of overloaded function "(\w+)" matches',
        "Convert the arguments of `{0}` to one type, as in `{0}(n, (int)m)`.",
    ),
    (
        r"more than one operator .* matches",
        "Convert one operand to the type of the other, as in `a * __float2half(2.0f)`.",
    ),
    (
        r'operand of "\*" must be a pointer',
        "C has no `**`: powers are `x * x` or `powf(x, 3.0f)`. A single `*` before a value needs a pointer.",
    ),
    (
        r"expression must have a constant value",
        "What stands here must be known when the kernel is compiled: a number, a `constexpr` or a `#define`. Only a "
        "shared array can get its size at the launch: `extern __shared__ float s[];`, and `shared_mem=` its bytes.",
    ),
    (
        r"no operator .* matches these operands",
        "These types have no such operator: convert one of them first. CUDA's `float2`, `float4` … have none at all: "
        "calculate `a.x + b.x` and so on, or define `__device__ float4 operator+(float4 a, float4 b)`.",
    ),
    (
        r'class "[^"]+" has no member "(\w+)"',
        "There is no `{0}`: `threadIdx`, `float4` … have `.x .y .z (.w)`.",
    ),
    (r"must have a void return type", "A kernel returns nothing: write `__global__ void`."),
    (r"invalid value for --gpu-architecture", "Ask for compute_75 or newer."),
    (r"unrecognized option", "NVRTC knows other options than nvcc; see its documentation."),
    (r"no instance of .*\"(\w+)\" matches", "`{0}` exists, but not for arguments of this number or these types."),
)

# The same for headers that are there and fail inside, by the name that the user includes.
HEADERS = (
    (
        r"^cub/cub\.cuh$|^cub/device/",
        "CUB's algorithms for a whole device are called from the host. In kernels, include its parts for blocks and "
        "warps one by one: `<cub/block/block_reduce.cuh>`, `<cub/block/block_scan.cuh>`, `<cub/warp/warp_reduce.cuh>`.",
    ),
    (r"^thrust/complex\.h$", "Write `#include <cuda/std/complex>` and `cuda::std::complex<float>`."),
    (
        r"^thrust/",
        "Thrust's containers and algorithms belong to the host. Kernels have `cuda::std::…`, and CUB's parts for "
        "blocks: `<cub/block/block_reduce.cuh>`, `<cub/block/block_radix_sort.cuh>` …",
    ),
    (r"^cuda\.h$", "Remove `#include <cuda.h>`: the driver's functions belong to the host."),
)


def remedy(text: str) -> str:
    """The fix for a compiler message, after two line feeds; "" where none is known."""
    return _first(REMEDIES, text)


def of_header(source: str) -> str:
    """The fix for an error inside a header that the user includes, by the header's name."""
    included = re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', source, re.MULTILINE)
    return next((found for name in included if (found := _first(HEADERS, name))), "")


def _first(table: Iterable[tuple[str, str]], text: str) -> str:
    for pattern, fix in table:
        if match := re.search(pattern, text):
            return "\n\n" + fix.format(*match.groups())
    return ""
