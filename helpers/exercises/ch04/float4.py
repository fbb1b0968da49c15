"""A copy of four floats a thread: fewer requests for the same bytes."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural

BLOCK = 128
LOOP = "for (int j = 4 * i; j < n; ++j) out[j] = in[j];"


def _case(n: int) -> Case:
    x = numbers(n, seed=n)
    return Case(plural(n, "element"), (x, Out(x.copy()), np.int32(n)), (cover(cover(n, 4), BLOCK),), (BLOCK,))


EXERCISE = Exercise(
    key="ch04.float4",
    title="copy four floats at a time, in CUDA C",
    language="cuda",
    name="copy4",
    cases=lambda: [_case(n) for n in (1, 2, 3, 4, 5, 127, 128, 512, 1021)],
    measured=lambda: _case(4096),
    budgets=(
        Budget(
            "load requests for 4,096 floats",
            lambda profile: profile["global_read_requests"],
            33,
            "A warp's float4 load fetches 128 floats in one request: 4,096 floats need 32 requests.",
            "global_load_requests",
        ),
    ),
    hints=(
        "reinterpret_cast<const float4*>(in)[i] is one load of 16 bytes.",
        "Two cases: all four floats exist (4 * i + 3 < n), or some of them do (a loop over what is left).",
        "if (4 * i + 3 < n) …float4 copy…; else for (int j = 4 * i; j < n; ++j) out[j] = in[j];",
    ),
    solution="""
extern "C" __global__
void copy4(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 3 < n)
        reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i];
    else
        for (int j = 4 * i; j < n; ++j) out[j] = in[j];
}
""",
    why="A warp's float4 load is one request for 512 bytes: 16 sectors, all used. The bytes moved are the same as with "
    "float; the requests, and the instructions that make them, are a quarter. The else branch takes the tail.",
    stretch="what happens when `in` starts one float late? Try in + 1 and read the error.",
    equivalent=((("int j = 4 * i", "int j = 3 * i"), "the loop begins earlier, and copies some floats once more"),),
    mistakes=(
        Mistake(
            "right only for multiples of 4",
            "The last one, two or three floats fill no float4. One thread has to copy them one by one.",
            ((f"\n    else\n        {LOOP}", ""),),
        ),
        Mistake(
            "one float a thread",
            "The grid has one thread for four floats. Thread i looks after floats 4 * i to 4 * i + 3, not after float "
            "i alone.",
            ("int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = in[i];",),
        ),
        Mistake(
            "the index counts floats, the pointer float4s",
            "It is not the guard: a thread whose four floats exist has left an array. A float4 pointer goes on by four "
            "floats a step, so thread i takes element i of it.",
            ((")[i]", ")[4 * i]"), ("(in)[i]", "(in)[4 * i]"), ("(out)[i]", "(out)[4 * i]")),
        ),
        Mistake(
            "the guard counts floats, the index counts float4s",
            "Thread i copies floats 4 * i to 4 * i + 3. All four must exist: 4 * i + 3 < n.",
            (("4 * i + 3 < n", "i < n"), ("4 * i + 3 < n", "4 * i < n"), ("4 * i + 3 < n", "i + 3 < n")),
        ),
        Mistake(
            "four small loads, not one wide one",
            "Each request loads one float a lane, so 4,096 floats take 128 of them. One float4 a lane takes 32: load "
            "the four of a thread at once, through a float4 pointer.",
            (("reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i]",
              "for (int j = 4 * i; j < 4 * i + 4; ++j) out[j] = in[j]"),),
        ),
        Mistake(
            "more requests than float4s need",
            "Right, but some requests are narrow, or few lanes take part. Where 4 * i + 3 < n thread i loads one "
            "float4, and so do all lanes of its warp.",
            (
                ("reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i]",
                 "for (int j = 2 * i; j < 2 * i + 2; ++j) ((float2*)out)[j] = ((const float2*)in)[j]"),
                """    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (int i = 0; i < n / 4; ++i) ((float4*)out)[i] = ((const float4*)in)[i];
        for (int j = n / 4 * 4; j < n; ++j) out[j] = in[j];
    }""",
            ),
        ),
    ),
)  # fmt: skip
