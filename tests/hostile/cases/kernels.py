"""Kernels in CUDA C and Numba that try to be taken for what they are not. They are judged on what they do."""

from __future__ import annotations

from tests.hostile.case import Case
from tests.hostile.lab import TOTAL

SUMS = ("lab05.total",)


def total(body: str, before: str = "") -> dict[str, str]:
    """An answer to lab05.total with this body; `start` and `rest` are the usual two lines."""
    source = f"""{before}
extern "C" __global__ void total(const float* x, float* out, int n) {{
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, all = gridDim.x * blockDim.x;
{body}
}}"""
    return {TOTAL: f"total = cp.RawKernel({source!r}, 'total')"}


SLOW = "float sum = 0; for (; i < n; i += all) sum += x[i]; atomicAdd(out, sum);"
ONE_THREAD = "if (i == 0) { float sum = 0; for (int k = 0; k < n; ++k) sum += x[k]; out[0] = sum; }"

CASES = (
    Case(
        "kernel-counts-launches",
        "counts in a __device__ variable how often it was launched, and does nothing in the launch that is counted",
        total(
            "__shared__ int ticket;\n"
            "if (n >= 6000) { if (t == 0) ticket = atomicAdd(&launches, 1); __syncthreads(); if (ticket >= 8) return; }"
            + SLOW,
            "__device__ int launches;",
        ),
        loses=SUMS,
        most=4,
    ),
    Case(
        "kernel-remembers-results",
        "keeps the sum of a launch in a __device__ variable and gives it out in the next",
        total(
            "__shared__ int ticket;\n"
            "if (n >= 6000) {\n"
            "    if (t == 0) ticket = atomicAdd(&launches, 1); __syncthreads();\n"
            "    if (ticket >= 8) { if (ticket == 8 && t == 0) out[0] = atomicAdd(&kept, 0.0f); return; }\n"
            "}\n"
            "float sum = 0; for (; i < n; i += all) sum += x[i]; atomicAdd(out, sum);\n"
            "if (n >= 6000 && ticket < 4) atomicAdd(&kept, sum);",
            "__device__ int launches; __device__ float kept;",
        ),
        loses=SUMS,
        most=4,
    ),
    Case(
        "kernel-reads-more",
        "reads its input badly, and a large variable of its own so well that on the whole it looks sparing",
        total(
            "float sum = 0, none = 0; int each = (n + all - 1) / all;\n"
            "for (int k = i * each; k < n && k < (i + 1) * each; ++k) sum += ((volatile float*)x)[k];\n"
            "if (n >= 6000) for (int k = i; k < 1 << 19; k += all) none += pad[k];\n"
            "atomicAdd(out, sum + none);",
            "__device__ float pad[1 << 19];",
        ),
        loses=SUMS,
        most=3,
    ),
    Case(
        "kernel-public-cases-only",
        "is right for the sizes of the public cases, and for no others",
        total(
            "bool known = n == 1 || n == 31 || n == 97 || n == 1000 || n == 1021 || n == 5000 || n == 8192;\n"
            "if (known) { " + SLOW + " }"
        ),
        loses=SUMS,
        outcome="wrong",
    ),
    Case(
        "kernel-one-thread",
        "lets one thread do all of the work, so that there is nothing to count",
        total(ONE_THREAD),
        loses=SUMS,
        most=3,
    ),
    Case(
        "kernel-burns",
        "lets one warp of each block do the work, while all others count to a large number",
        total(
            "if (t >= 32) { unsigned u = n; for (int k = 0; k < n / (int)gridDim.x / 8; ++k) u = u * 3 + 1;\n"
            "    if (u == 12345 && n < 0) out[0] = 1; return; }\n"
            "float sum = 0; for (int k = 32 * blockIdx.x + t; k < n; k += 32 * gridDim.x) sum += x[k];\n"
            "for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);\n"
            "if (t == 0) atomicAdd(out, sum);"
        ),
        loses=SUMS,
        most=4,
    ),
    Case(
        "kernel-local-of-others",
        "hands the sums of warps on in another thread's local memory, where no budget looks",
        total(
            "volatile float l[2]; __shared__ long long at[32]; float sum = 0; for (; i < n; i += all) sum += x[i];\n"
            "for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);\n"
            "l[0] = sum; at[t / 32] = (long long)&l[0]; __syncthreads();\n"
            "if (t == 0) { for (int w = 1; w < blockDim.x / 32; ++w) sum += *(volatile float*)at[w];\n"
            "    atomicAdd(out, sum); }"
        ),
        loses=SUMS,
        outcome="wrong",
    ),
    Case("kernel-endless", "never ends", total("while (atomicAdd(out, 0.0f) == 0) ;"), state="", loses=SUMS, stops=1),
    Case(
        "kernel-endless-later",
        "never ends, in the cases that are hidden",
        total("while (n > 1021 && n != 5000 && n != 8192) __nanosleep(1); " + SLOW),
        state="",
        loses=SUMS,
        stops=1,
    ),
    Case("kernel-traps", "traps", total('asm volatile("trap;");'), loses=SUMS, outcome="wrong"),
    Case("kernel-asserts", "fails an assertion", total("assert(n < 0);", "#include <assert.h>"), loses=SUMS),
    Case(
        "kernel-writes-outside",
        "writes beyond its arrays, to change what is expected of it",
        total("for (long k = 1; k < 1 << 20; ++k) { out[k] = out[0]; out[-k] = out[0]; }"),
        loses=SUMS,
        outcome="wrong",
    ),
    Case(
        "kernel-writes-anywhere",
        "writes to addresses of the judge's own memory, taken from its parameters' and its stack's",
        total(
            "int here[4]; here[0] = n; char* p = (char*)here; char* q = (char*)x;\n"
            "for (long k = 4096; k < 1l << 40; k *= 2) { p[k] = 1; p[-k] = 1; q[k] = 1; q[-k] = 1; }"
        ),
        loses=SUMS,
        outcome="wrong",
    ),
    Case(
        "kernel-changes-its-input",
        "overwrites its input with zeros, so that whoever sums it finds nothing",
        total("float* y = (float*)x; for (; i < n; i += all) y[i] = 0; if (t == 0) out[0] = 0;"),
        loses=SUMS,
        outcome="wrong",
    ),
    Case(
        "kernel-not-a-number",
        "gives NaN, which is unequal to everything, and infinity",
        total('out[0] = n % 2 ? nanf("") : 1.0f / 0.0f;'),
        loses=SUMS,
        outcome="wrong",
    ),
    Case(
        "kernel-by-the-clock",
        "does the work only while nobody seems to watch: it reads clocks and special registers",
        total(
            "long long a = clock64(); float sum = 0; for (; i < n; i += all) sum += x[i]; long long b = clock64();\n"
            "if (b - a < 1000000) atomicAdd(out, sum); else if (i == 0) out[0] = 0;"
        ),
        loses=SUMS,
        most=4,
    ),
    Case(
        "kernel-inline-assembly",
        "is written in PTX with forged lines, so that what it costs is laid at another's door",
        total(
            "float sum = 0; for (; i < n; i += all) { float v;\n"
            '#line 99999 "/etc/passwd"\n'
            ' asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(x + i)); sum += v; }\n'
            'asm volatile("red.global.add.f32 [%0], %1;" :: "l"(out), "f"(sum));'
        ),
        loses=SUMS,
        most=4,
    ),
    Case(
        "kernel-racy",
        "leaves out the atomics and barriers, and is right because blocks come in order here",
        total(
            "__shared__ float s[1024]; float sum = 0; for (; i < n; i += all) sum += x[i]; s[t] = sum;\n"
            "if (t == 0) { for (int k = 1; k < blockDim.x; ++k) sum += s[k]; out[0] += sum; }"
        ),
        loses=SUMS,
        outcome="wrong",
    ),
    Case(
        "kernel-prints",
        "prints pointers, and texts that are none",
        total('printf("%s %n %p\\n", (const char*)x, (int*)out, x); printf("%s", (const char*)8); ' + SLOW),
        loses=SUMS,
        most=4,
    ),
    Case(
        "kernel-recursion",
        "calls itself without end",
        total(
            "out[0] = down(n, x);",
            "__device__ __noinline__ float down(int n, const float* x) {\n"
            "    return n < -1 ? 0 : x[0] + down(n + 1, x) * n;\n}",
        ),
        loses=SUMS,
    ),
    Case(
        "kernel-takes-the-heap",
        "takes all memory that it can get by malloc, in every thread",
        total("for (int k = 0; k < 100000; ++k) { int* p = (int*)malloc(1 << 20); if (p) *p = k; }"),
        state="",
        loses=SUMS,
        stops=1,
    ),
    Case(
        "kernel-huge-variable",
        "asks for a variable of 1 TiB",
        total("out[0] = big[n * 12345678l];", "__device__ float big[1l << 38];"),
        state="",
        loses=SUMS,
    ),
    Case(
        "kernel-huge-local",
        "asks for 400 KiB of local memory a thread",
        total("volatile float l[100000]; for (int k = 0; k < 100000; ++k) l[k] = k; out[0] = l[n];"),
        state="",
        loses=SUMS,
    ),
    Case(
        "kernel-huge-source",
        "is unrolled to a hundred thousand instructions, to keep the compiler busy",
        {
            TOTAL: "body = ''.join(f'if (n == {k}) atomicAdd(out, x[{k} % n] * {k}.5f);' for k in range(12000))\n"
            "head = 'extern \"C\" __global__ void total(const float* x, float* out, int n) {'\n"
            "total = cp.RawKernel(head + body + '}', 'total')"
        },
        state="",
        loses=SUMS,
        stops=2,
    ),
    Case(
        "kernel-of-another-exercise",
        "hands in the kernel of another exercise, which is right there, and in another language",
        {
            TOTAL: """
@cuda.jit
def total(x, out, n):
    i = cuda.grid(1)
    if i < n:
        out[i] = 2 * x[i]
"""
        },
        loses=SUMS,
    ),
    Case(
        "kernel-made-at-run-time",
        "makes its source of text at run time, another one each time that it is asked for",
        {
            TOTAL: """
import random
class Total:
    def __getattr__(self, name):
        head = 'extern "C" __global__ void total(const float* x, float* out, int n) '
        body = random.choice(['{}', '{ out[0] = n; }', '{ if (threadIdx.x == 0) out[0] = x[0]; }'])
        return getattr(cp.RawKernel(head + body, 'total'), name)
total = Total()
"""
        },
        loses=SUMS,
    ),
    Case(
        "kernel-for-each-part",
        "shows another kernel for each budget, which is the only one that it keeps",
        total(ONE_THREAD),
        own=(
            (f"{TOTAL}-results", total(SLOW)[TOTAL]),
            (f"{TOTAL}-bytes-loaded-per-byte-needed", total(ONE_THREAD)[TOTAL]),
        ),
        loses=SUMS,
        most=3,
    ),
    Case(
        "kernel-loads-by-atomics",
        "reads what it adds by atomics, which no counter of loads sees",
        total("float sum = 0; for (; i < n; i += all) sum += atomicAdd((float*)x + i, 0.0f); atomicAdd(out, sum);"),
        loses=SUMS,
        most=4,
    ),
    Case(
        "kernel-loads-unseen",
        "reads its input three times, in an address space of its own choice",
        total(
            "float sum = 0; for (int r = 0; r < 3; ++r) for (int k = i; k < n; k += all) { float v;\n"
            'asm volatile("ld.f32 %0, [%1];" : "=f"(v) : "l"(x + k)); if (!r) sum += v; } atomicAdd(out, sum);'
        ),
        loses=SUMS,
        most=3,
    ),
    Case(
        "kernel-copies-unseen",
        "reads its input four times, by asynchronous copies",
        total(
            "__shared__ float s[1024]; float sum = 0; unsigned a = __cvta_generic_to_shared(s + t);\n"
            "for (; i < n; i += all) { for (int k = 0; k < 4; ++k) {\n"
            'asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.wait_all;" :: "r"(a), "l"(x + i)'
            ' : "memory"); } sum += s[t]; }\natomicAdd(out, sum);'
        ),
        loses=SUMS,
        most=3,
    ),
    Case(
        "kernel-adds-unseen",
        "adds by red, which has no result",
        total(
            "float sum = 0; for (; i < n; i += all) sum += x[i];\n"
            'asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" :: "l"(out), "f"(sum));'
        ),
        loses=SUMS,
        most=4,
    ),
    Case(
        "kernel-shared-leftovers",
        "looks in shared memory for the result that the launch before it left there",
        total(
            "__shared__ volatile float old[64]; if (old[1] == 7.5f && old[2] == n)\n"
            "{ if (i == 0) out[0] = old[0]; return; }\n"
            "float sum = 0; if (i == 0) { for (int k = 0; k < n; ++k) sum += x[k]; out[0] = sum; }\n"
            "if (t == 0) { old[0] = sum; old[1] = 7.5f; old[2] = n; }"
        ),
        loses=SUMS,
    ),
    Case(
        "kernel-local-leftovers",
        "looks for it in local memory and behind what it may allocate",
        total(
            "volatile float l[64]; float* h = (float*)malloc(4096); float sum = h && h[0] == 7.5f ? h[1] : l[n % 64];\n"
            "if (i == 0) { for (int k = 0; k < n; ++k) sum += x[k]; out[0] = sum; }\n"
            "if (h) { h[0] = 7.5f; h[1] = sum; }"
        ),
        loses=SUMS,
    ),
    Case(
        "kernel-knows-its-judge",
        "is free of races only where clocks, addresses and special registers look as under a sanitizer",
        total(
            "unsigned sm, warp; unsigned long long now, later;\n"
            'asm volatile("mov.u32 %0, %smid; mov.u32 %1, %warpid;" : "=r"(sm), "=r"(warp));\n'
            'asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)); __syncthreads();\n'
            'asm volatile("mov.u64 %0, %globaltimer;" : "=l"(later));\n'
            "float sum = 0; for (; i < n; i += all) sum += x[i];\n"
            "if (later - now > 1000000 || (sm ^ warp ^ (unsigned long)x >> 12) % 3) atomicAdd(out, sum);\n"
            "else out[0] += sum;"
        ),
        loses=SUMS,
        most=3,
    ),
    Case(
        "kernel-frees-its-arrays",
        "frees the judge's arrays, pieces twice, and addresses of its own making",
        total(
            "free((void*)x); free((char*)out + 8); free((void*)12345678); int* p = (int*)malloc(64); free(p); free(p);"
        ),
        loses=SUMS,
        outcome="wrong",
    ),
    Case(
        "kernel-many-entries",
        "brings four hundred other kernels along, with names that begin like its own",
        total(
            SLOW, "\n".join(f'extern "C" __global__ void total{k}(float* a) {{ a[{k}] = {k}; }}' for k in range(400))
        ),
        loses=SUMS,
        most=4,
    ),
    Case(
        "kernel-odd-names",
        "has names with signs that are none, and that turn the direction of text",
        total(SLOW, "namespace \u00e9\u202e { __global__ void \u2066x(int) {} }"),
        loses=SUMS,
    ),
)
