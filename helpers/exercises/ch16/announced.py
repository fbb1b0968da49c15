"""A bulk copy whose last tile is shorter: how many bytes a phase of the mbarrier has to expect."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Budget, Case, Exercise, Mistake, Out, cover, numbers, plural

TILE, THREADS = 256, 64


def _case(n: int) -> Case:
    x = numbers(n, seed=n)
    out = np.concatenate([x[at : at + TILE][::-1] for at in range(0, n, TILE)])
    return Case(plural(n, "element"), (x, Out(out), np.int32(n)), (cover(n, TILE),), (THREADS,))


EXERCISE = Exercise(
    key="ch16.announced",
    title="announce what is copied, in CUDA C",
    language="cuda",
    name="announced",
    cases=lambda: [_case(n) for n in (4, 256, 260, 512, 764)],
    measured=lambda: _case(2048),
    sanitize=True,
    gpu="H100",
    budgets=(
        Budget(
            "load requests of ordinary instructions and cp.async",
            lambda profile: profile["global_load_requests"] + profile["async_copies"],
            0,
            "One thread of the block asks for the whole tile with one bulk copy.",
        ),
        Budget(
            "bulk copies for 8 tiles",
            lambda profile: profile["bulk_loads"],
            8,
            "One for each tile: 256 floats are 1,024 bytes, which one bulk copy can bring.",
            "bulk_loads",
        ),
    ),
    hints=(
        "For which blocks do 256 elements exist? What does the mbarrier of the last block wait for?",
        "The last tile has n - first elements, which may be fewer than 256. The copy and the announcement have to name "
        "the same number of bytes.",
        "int bytes = min(256, n - first) * 4; and then `bytes` both in mbarrier_arrive_expect_tx and in cp_async_bulk.",
    ),
    solution="""
#include <cuda/ptx>
namespace ptx = cuda::ptx;
extern "C" __global__ void announced(const float* x, float* out, int n) {
    __shared__ alignas(16) float s[256];
    __shared__ unsigned long long landed;
    int t = threadIdx.x, first = blockIdx.x * 256;
    int bytes = min(256, n - first) * 4;
    if (t == 32) {
        ptx::mbarrier_init(&landed, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &landed, bytes);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, x + first, bytes, &landed);
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&landed, 0)) { }
    for (int i = t; i < bytes / 4; i += 64)
        out[first + i] = s[bytes / 4 - 1 - i];
}
""",
    why="The mbarrier counts bytes, and knows nothing of tiles. Each copy subtracts what it brought, and the phase "
    "ends when nothing is missing. Announce one byte too many and it never ends; announce too few and it ends too "
    "early.",
    stretch="a bulk copy wants whole pieces of 16 bytes. What would you do for an n that is no multiple of 4?",
    equivalent=(
        (("s[256]", "s[257]"), "an element more than is used"),
        *((("t == 32", f"t == {other}"), "another thread orders the copy") for other in (31, 33)),
        (("i += 64", "i += 63"), "some elements are written twice, with the same value"),
    ),
    mistakes=(
        Mistake(
            "a whole tile is announced",
            "The last tile brings fewer bytes than were announced, so that its phase never ends: all threads wait.",
            (("&landed, bytes);\n        ptx::cp", "&landed, 1024);\n        ptx::cp"),),
        ),
        Mistake(
            "elements are announced",
            "The announcement is in bytes, and so is the size of the copy: 4 for each float.",
            (("&landed, bytes);\n        ptx::cp", "&landed, bytes / 4);\n        ptx::cp"),),
        ),
        Mistake(
            "the bytes are not waited for",
            "Nothing says that the bytes have landed when they are read. All threads have to wait for phase 0 of the "
            "mbarrier, whose parity is 0; asked for parity 1 it says at once that this is over, and means the phase "
            "before. And a phase for which no bytes are announced ends with its one arrival.",
            (
                ("    while (!ptx::mbarrier_try_wait_parity(&landed, 0)) { }\n", ""),
                ("parity(&landed, 0)", "parity(&landed, 1)"),
                ("&landed, bytes);\n        ptx::cp", "&landed, 0);\n        ptx::cp"),
            ),
        ),
        Mistake(
            "mirrored within 256",
            "A tile of `bytes / 4` elements is mirrored within these: the first takes the last that there is.",
            (("s[bytes / 4 - 1 - i]", "s[255 - i]"),),
        ),
    ),
)  # fmt: skip
