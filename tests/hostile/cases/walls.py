"""One case for each wall between a kernel and its judge: PTX that would leave its memory, and runs told from runs."""

from __future__ import annotations

from tests.hostile.case import Case
from tests.hostile.cases.kernels import ONE_THREAD, SLOW, SUMS, total
from tests.hostile.lab import TOTAL

MAP = "__device__ __align__(128) unsigned long long map[16];"
COPY = (
    'asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(bar));\n'
    'asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "'
    ' "[%0], [%1, {0, 0}], [%2];"'
    ' :: "r"(to), "l"(map), "r"(bar) : "memory");'
)
SHARED = (
    "__shared__ __align__(128) char room[1024]; __shared__ unsigned long long b;\n"
    "unsigned to = __cvta_generic_to_shared(room), bar = __cvta_generic_to_shared(&b);\n"
)


def on_hopper(body: str, before: str = "") -> dict[str, str]:
    """The same answer, compiled for the architecture that has bulk copies."""
    answer = total(body, before)
    return {TOTAL: answer[TOTAL].removesuffix(")") + ", options=('-arch=sm_90',))"}


def wall(name: str, tries: str, answers: dict[str, str], most: float = 0, **more) -> Case:
    more = {"outcome": "" if most else "wrong", **more}
    return Case(f"wall-{name}", tries, answers, loses=SUMS, most=most, **more)


CASES = (
    wall(
        "long-vector",
        "stores a vector of two with eight registers, of which only two are checked",
        total(
            'asm volatile("st.global.v2.b32 [%0], {%1, %1, %1, %1, %1, %1, %1, %1};" :: "l"(x + n - 2), "r"(7));' + SLOW
        ),
    ),
    wall(
        "wide-argument",
        "hands eight bytes to a function that takes four",
        total(
            'asm volatile("{ .param .b64 a; st.param.b64 [a], %0; call.uni narrow, (a); }" :: "l"(x));\n'
            "if (n < 0) narrow(n); " + SLOW,
            'extern "C" __device__ __noinline__ void narrow(int v) { if (v == 1 << 30) __nanosleep(v); }',
        ),
    ),
    wall(
        "tensor-map",
        "writes a tensor map of its own making, whose strides lead anywhere",
        on_hopper(
            SHARED
            + "if (i == 0) { for (int k = 0; k < 16; ++k) map[k] = ~0ull >> k; __threadfence();\n"
            + COPY
            + "}\n"
            + SLOW,
            MAP,
        ),
    ),
    wall(
        "tensor-map-from-elsewhere",
        "takes its input for a tensor map",
        on_hopper(SHARED + "if (i == 0) { " + COPY.replace('"l"(map)', '"l"(x)') + " }\n" + SLOW),
    ),
    wall(
        "copy-under-watch",
        "lets asynchronous copies go far beyond its arrays, where the sanitizer lets a kernel go on",
        total(
            "__shared__ float s[1024]; unsigned a = __cvta_generic_to_shared(s + t);\n"
            'asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.wait_all;"'
            ' :: "r"(a), "l"(x + (1l << 40)));\n' + SLOW
        ),
    ),
    wall(
        "grid-id",
        "does its work badly but where the grid has the number that counted launches had",
        total(
            'unsigned long long grid; asm volatile("mov.u64 %0, %gridid;" : "=l"(grid));\n'
            f"if (grid == 1) {{ {SLOW} }} else {{ {ONE_THREAD} }}"
        ),
        most=4,
    ),
    wall(
        "idle-first",
        "lets every warp idle for 100,000 instructions, so that nobody looks who does the work then",
        total("volatile int k = 0; while (k < 20000) k = k + 1;\n" + ONE_THREAD),
        most=3,
    ),
    wall(
        "size-that-counts",
        "does its work well in launches as large as the public one that is counted, and one thread does all else",
        total(f"if (n == 8192) {{ {SLOW} }} else {{ {ONE_THREAD} }}"),
        most=3,
    ),
    wall(
        "bulk-loads",
        "reads its input four times over by bulk copies, of which none is a load",
        on_hopper(
            SHARED + 'if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(bar)); __syncthreads();\n'
            "if (t == 0 && n >= 128) for (int k = 0; k < n / 16; ++k) {\n"
            'asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" :: "r"(bar));\n'
            'asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"'
            ' :: "r"(to), "l"(x + 64 * k % ((n - 64) & ~3)), "r"(bar) : "memory");\n'
            'int done = 0; while (!done) asm volatile("{ .reg .pred p;"'
            ' " mbarrier.try_wait.parity.shared.b64 p, [%1], %2;"'
            ' " selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar), "r"(k & 1) : "memory"); }\n' + SLOW
        ),
        most=3,
    ),
    wall(
        "global-scratch",
        "keeps in global memory what belongs into shared memory, by atomics that read and write there",
        total(
            "float sum = 0; for (; i < n; i += all) sum += x[i];\n"
            "float* mine = scratch + blockIdx.x * 1024; atomicExch(mine + t, sum); __syncthreads();\n"
            "for (int d = 1; d < blockDim.x; d *= 2) {\n"
            "    if (t % (2 * d) == 0 && t + d < blockDim.x) atomicAdd(mine + t, atomicAdd(mine + t + d, 0.0f));\n"
            "    __syncthreads(); }\n"
            "if (t == 0) atomicAdd(out, atomicAdd(mine, 0.0f));",
            "__device__ float scratch[1 << 20];",
        ),
        most=4,
    ),
    wall(
        "useless-requests",
        "lets one warp do the work, and all others store as often to a variable that nobody reads",
        total(
            "float sum = 0; int w = i / 32; if (w == 0) for (int k = i; k < n; k += 32) sum += x[k];\n"
            "else for (int k = i; k < n; k += 32) nowhere[k % (1 << 20)] = k;\n"
            "if (w == 0) { for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);\n"
            "    if (t == 0) atomicAdd(out, sum); }",
            "__device__ int nowhere[1 << 20];",
        ),
        most=5,
        limit="requests are counted, not what they are good for: who does most is diluted by others' useless ones",
    ),
    wall(
        "tells-by-place",
        "says by the element beyond its array, and by the line on which it stops, what hidden inputs hold",
        total(
            "if (n != 1 && n != 31 && n != 97 && n != 1000 && n != 1021 && n != 5000 && n != 8192) {\n"
            "#line 777001\n"
            "    out[777000000 + n] = 1;\n"
            "}\n" + SLOW
        ),
        untold=r"777[,_ ]?00",
    ),
)
"""Points above 0 are for what such a kernel does right."""

TOLD = "hidden-inputs-told"
KEY = ("lab01.configure",)


def tells(name: str, tries: str, body: str) -> Case:
    source = f"def configure(rows, columns):\n    {body}\n"
    return Case(
        f"tells-{name}", tries, {"lab01-configure": source}, loses=KEY, state="", untold=f"(?i){TOLD}|hidden_inputs"
    )


OF_FUNCTIONS = (
    tells(
        "by-words",
        "raises an exception whose words hold its inputs",
        f"raise ValueError(f'{TOLD} {{rows}} {{columns}}')",
    ),
    tells(
        "by-a-class",
        "raises an exception whose class is called after its inputs",
        "raise type(f'hidden_inputs_{rows}_{columns}', (Exception,), {})()",
    ),
    tells("by-a-value", "returns its inputs as a text", f"return f'{TOLD} {{rows}} {{columns}}'"),
)
