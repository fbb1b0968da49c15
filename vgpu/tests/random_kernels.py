"""Random CUDA C kernels whose control flow is as tangled as a compiler lets it be: no two engines should disagree.

All arithmetic is on unsigned ints, loops are bounded, and barriers and shuffles stand where all threads come by.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

VARIABLES = ("a", "b", "c", "d")
# Some conditions are the same for a whole warp, some differ from lane to lane.
UNIFORM = ("n & 1", "(n >> 2) & 1", "blockIdx.x & 1", "u > 3", "(u & 3) == 1", "w == 0")
DIVERGENT = (
    "t & 1",
    "(t >> 1) % 3 == 1",
    "(a ^ b) & 4",
    "c % 5 < 2",
    "lane < (d & 31)",
    "in[(a + t) & 63] & 1",
    "t == 37",
)


# Functions that stay functions: called, called by themselves, and through pointers that differ from lane to lane.
HELPERS = """
__device__ __noinline__ unsigned deep(unsigned n, unsigned x) { return n == 0 ? x + 1u : deep(n - 1, x * 3u) ^ n; }
__device__ __noinline__ unsigned first(unsigned x, unsigned y) { return x * 5u + (y >> 1); }
__device__ __noinline__ unsigned second(unsigned x, unsigned y) {
    unsigned sum = x; for (unsigned i = 0; i < (y & 3); i++) sum = sum * 7u + i; return sum; }
__device__ __noinline__ unsigned third(unsigned x, unsigned y) { if (x & 1) return y; return deep(y & 3, x); }
typedef unsigned (*Call)(unsigned, unsigned);
__device__ Call table[3] = {first, second, third};
"""
WIDE = (
    "WHERE = deep((VALUE) & 3, WHERE);",
    "WHERE += first(WHERE, VALUE);",
    "WHERE ^= table[(VALUE) % 3u](WHERE, t);",
    "if ((WHERE) & 2) WHERE = second(WHERE, VALUE);",
    "{ uint4 four = ((const uint4*)in)[(VALUE) & 15]; WHERE += four.x ^ four.y * 3u ^ (four.z >> 5) ^ four.w; }",
    "{ uint2 two = ((const uint2*)in)[(VALUE) & 31]; WHERE -= two.x + two.y * 9u; }",
    "atomicMax(&out[256 + ((VALUE) & 3) + 4], WHERE);",
    "atomicXor(&out[256 + ((VALUE) & 3) + 8], WHERE);",
)
# Where all threads come by, and who meets whom is said by masks.
MEETINGS = (
    """
    if (t < 32) { unsigned m = __ballot_sync(0xffffffffu, a & 1); if (a & 1) b += __shfl_sync(m, a, __ffs(m) - 1);
        else c += __popc(__ballot_sync(~m, b & 2)); __syncwarp(); d += __any_sync(0xffffffffu, b == c); }
    else { b += __reduce_add_sync(0xffffffffu, a); c ^= __reduce_xor_sync(0xffffffffu, b); }
    d += __popc(__match_any_sync(0xffffffffu, a & 3)); __syncthreads();""",
    """
    tile[t] = c; if (w == 0) asm volatile("bar.arrive 3, 64;" ::: "memory");
    else { asm volatile("bar.sync 3, 64;" ::: "memory"); a += tile[t - 32]; }
    __syncthreads(); b += __syncthreads_count(a & 1);""",
)


class Writer:
    def __init__(self, seed: int, wide: bool = False):
        self.random = random.Random(seed)
        self.wide = wide
        self.loops = 0
        self.lines: list[str] = []

    def pick(self, things):
        return self.random.choice(things)

    def expression(self) -> str:
        x, y, z = (self.pick((*VARIABLES, "t", "u", "n", "7u", "in[(b + u) & 63]")) for _ in range(3))
        return self.pick((f"{x} + {y} * 3u", f"({x} ^ ({y} >> 3)) + {z}", f"{x} * {y} - {z}", f"min({x}, {y}) + {z}"))

    def condition(self) -> str:
        return self.pick(UNIFORM if self.random.random() < 0.4 else DIVERGENT)

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * (depth + 1) + text)

    def block(self, depth: int, in_loop: bool) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth, in_loop)

    def statement(self, depth: int, in_loop: bool) -> None:
        roll = self.random.random()
        if self.wide and self.random.random() < 0.2:
            self.line(depth, self.pick(WIDE).replace("VALUE", self.expression()).replace("WHERE", self.pick(VARIABLES)))
        elif depth >= 4 or roll < 0.35:
            self.line(depth, f"{self.pick(VARIABLES)} = {self.expression()};")
        elif roll < 0.42:
            self.line(depth, f"u = u * 5u + {self.random.randint(1, 9)}u;")
        elif roll < 0.48:
            self.line(depth, f"atomicAdd(&out[{self.random.randint(256, 259)}], {self.pick(VARIABLES)});")
        elif roll < 0.54 and in_loop:
            self.line(depth, f"if ({self.condition()}) {self.pick(('break', 'continue'))};")
        elif roll < 0.56:
            self.line(depth, f"if ({self.condition()} && {self.condition()}) return;")
        elif roll < 0.76:
            self.line(depth, f"if ({self.condition()}) {{")
            self.block(depth + 1, in_loop)
            if self.random.random() < 0.5:
                self.line(depth, "} else {")
                self.block(depth + 1, in_loop)
            self.line(depth, "}")
        else:
            self.loops += 1
            k = f"k{self.loops}"
            bound = self.pick(("3", "(n & 3) + 1", "(t & 3) + 1", "(a & 7)", "(u & 3)"))
            self.line(depth, "#pragma unroll 1")
            self.line(depth, f"for (unsigned {k} = 0, m{k} = {bound}; {k} < m{k}; {k}++) {{")
            self.line(depth + 1, f"{self.pick(VARIABLES)} += {k} + u;")
            self.block(depth + 1, True)
            self.line(depth, "}")


def source(seed: int, wide: bool = False, meetings: Sequence[str] = MEETINGS) -> str:
    """A kernel `k(in, out, n)` over 64 unsigned inputs and at least 260 outputs, for blocks of up to 64 threads.

    `wide`: with calls, recursion, function pointers, vector loads, and votes and shuffles of the lanes that branches
    leave together; the outputs are then 320 more than there are threads, and those from 256 on only sums. `meetings`
    are two pieces of such a kernel that all threads come by.
    """
    writer = Writer(seed, wide)
    body = []
    for part in range(3):
        writer.lines = []
        for _ in range(3):
            writer.statement(0, False)
        text = "\n".join(writer.lines)
        if part < 2:  # an early return would make a later barrier or shuffle illegal
            text = text.replace("return;", "a ^= 0x55u;")
            text += (
                "\n    tile[t] = a; __syncthreads(); b += tile[(t * 7 + u) & 63]; __syncthreads();"
                if part == 0
                else "\n    c += __shfl_xor_sync(0xffffffffu, a, 5); d ^= __ballot_sync(0xffffffffu, b & 1);"
            )
            if wide:
                text += meetings[part]
        body.append(text)
    joined = "\n".join(body)
    if wide:  # sums lie behind what each thread writes for itself
        joined = joined.replace("&out[25", "&out[gridDim.x * blockDim.x + 25")
    return f"""{HELPERS if wide else ""}extern "C" __global__ void k(const unsigned* in, unsigned* out, unsigned n) {{
    __shared__ unsigned tile[64];
    unsigned t = threadIdx.x, lane = t & 31, w = t >> 5, i = blockIdx.x * blockDim.x + t;
    unsigned a = in[t], b = t * 2654435761u, c = n + i, d = lane, u = n * 3u + blockIdx.x;
    tile[t] = t;
{joined}
    out[i] = a + b * 31u + c * 977u + d * 131071u + u;
}}
"""
