"""Wrong answers to lab06.refine."""

KEY = "lab06.refine"

RIGHT = '''REFINE = r"""__device__ float costly(float v) {
    #pragma unroll 1
    for (int k = 0; k < 32; ++k) v = 0.9f * v + 0.25f;
    return v;
}
extern "C" __global__ void refine(const float* x, float* out, int n, float limit) {
    __shared__ int list[1024], count;
    int first = blockIdx.x * 1024, end = min(n, first + 1024);
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    for (int i = first + threadIdx.x; i < end; i += blockDim.x) {
        float v = x[i];
        if (v > limit) list[atomicAdd(&count, 1)] = i;
        else out[i] = v;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < count; k += blockDim.x) out[list[k]] = costly(x[list[k]]);
}"""
refine = cp.RawKernel(REFINE, "refine")
'''
ZERO = "    if (threadIdx.x == 0) count = 0;\n    __syncthreads();\n"
NOTE = "if (v > limit) list[atomicAdd(&count, 1)] = i;\n        else out[i] = v;"
WORK = "for (int k = threadIdx.x; k < count; k += blockDim.x) out[list[k]] = costly(x[list[k]]);"
BODY = RIGHT[RIGHT.index("    __shared__") : RIGHT.index('}"""')]
IN_PLACE = "for (int i = blockIdx.x * 1024 + threadIdx.x; i < min(n, (int)blockIdx.x * 1024 + 1024); i += blockDim.x) "


def but(*changes: tuple[str, str]) -> str:
    text = RIGHT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but((BODY, "")), "nothing is written yet"),
    ("the count not set to 0", but((ZERO, "")), "shared memory that nobody has written"),
    ("no barrier behind the 0", but((ZERO, ZERO.replace("    __syncthreads();\n", ""))), "a barrier is missing"),
    (
        "no barrier behind the list",
        but(("    }\n    __syncthreads();\n    for", "    }\n    for")),
        "a barrier is missing",
    ),
    ("a count without an atomic", but(("list[atomicAdd(&count, 1)] = i", "list[count++] = i")), "a barrier is missing"),
    ("room for 128", but(("list[1024]", "list[128]")), "the list is too short"),
    ("no guard", but(("min(n, first + 1024)", "first + 1024")), "no guard for the last block"),
    ("all of it costly", but((BODY, f"{IN_PLACE} out[i] = costly(x[i]);\n")), "everything is refined"),
    ("a copy", but((BODY, f"{IN_PLACE} out[i] = x[i];\n")), "nothing is refined"),
    ("cheap ones not stored", but(("        else out[i] = v;\n", "")), "only what is rare is written"),
    (
        "no loop over the list",
        but((WORK, "if (threadIdx.x < count) out[list[threadIdx.x]] = costly(x[list[threadIdx.x]]);")),
        "the list is not worked off to its end",
    ),
    ("the list forgotten", but((WORK, "")), "the list is never worked off"),
    ("in place", but((BODY, f"{IN_PLACE} out[i] = x[i] > limit ? costly(x[i]) : x[i];\n")), "most lanes wait"),
    (
        "one thread works the list off",
        but((WORK, "if (threadIdx.x == 0) for (int k = 0; k < count; ++k) out[list[k]] = costly(x[list[k]]);")),
        "most lanes wait",
    ),
    (
        "all of it computed",
        but((BODY, f"{IN_PLACE} {{ float v = costly(x[i]); out[i] = x[i] > limit ? v : x[i]; }}\n")),
        "more work than there is",
    ),
    (
        "the public limits only",
        but(("v > limit", "v > limit && (limit == 6.5f || limit == -9 || limit == 9 || (limit == 0 && n == 1000))")),
        "right in the public cases only",
    ),
    (
        "the list read one too far",
        but(("k < count", "k <= count")),
        "more of the list is read than was written",
    ),
    ("the whole list read", but(("k < count", "k < 1024")), "more of the list is read than was written"),
    ("places in the block", but(("] = i;", "] = i - first;")), "blocks that meet each other's elements"),
    ("the list as a map", but(("out[list[k]] =", "out[k] =")), "blocks that meet each other's elements"),
    ("costly of out", but(("costly(x[list[k]])", "costly(out[list[k]])")), "out is read before it is written"),
    (
        "cheap threads go home",
        but(("else out[i] = v;", "else { out[i] = v; return; }")),
        "threads that never come to the barrier",
    ),
    ("the limit itself too", but(("v > limit", "v >= limit")), "elements at the limit are refined"),
    ("those below", but(("v > limit", "v < limit")), "the wrong ones are refined"),
    ("an int in between", but(("float v = x[i]", "int v = x[i]")), "fractions are cut off"),
    (
        "one warp works the list off",
        but((WORK, WORK.replace("for (", "if (threadIdx.x < 32) for (").replace("blockDim.x", "32"))),
        "one warp works the list off",
    ),
    (
        "the place of what atomicAdd leaves",
        but(("list[atomicAdd(&count, 1)] = i;", "{ atomicAdd(&count, 1); list[count] = i; }")),
        "more of the list is read than was written",
    ),
    ("refines the index", but(("costly(x[list[k]])", "costly(list[k])")), "the index is refined"),
    (
        "stores by the list's order",
        but(("out[list[k]] = costly", "out[first + k] = costly")),
        "stored by the place on the list",
    ),
    (
        "costly without a store",
        but(("out[list[k]] = costly(x[list[k]]);", "costly(x[list[k]]);")),
        "the list is never worked off",
    ),
    (
        "blocks 128 apart",
        but(("blockIdx.x * 1024", "blockIdx.x * blockDim.x"), ("min(n, first + 1024)", "min(n, first + 128)")),
        "the last elements have no thread",
    ),
    ("the last element", but(("i < end;", "i < end - (end == n);")), "the last elements have no thread"),
    ("the list one by one", but(("k += blockDim.x) out", "++k) out")), "several threads work off the same"),
    (
        "the whole list in every thread",
        but(("int k = threadIdx.x; k < count; k += blockDim.x", "int k = 0; k < count; ++k")),
        "several threads work off the same",
    ),
]
