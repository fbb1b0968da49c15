"""Wrong answers to lab04.count_bytes."""

KEY = "lab04.count_bytes"

RIGHT = '''COUNT = r"""extern "C" __global__ void count_bytes(const unsigned* words, int* counts, int n) {
    __shared__ int mine[4 * 257];
    int t = threadIdx.x;
    for (int k = t; k < 4 * 257; k += blockDim.x) mine[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) {
        unsigned word = words[i];
        for (int shift = 0; shift < 32; shift += 8) atomicAdd(&mine[t % 4 * 257 + (word >> shift & 255)], 1);
    }
    __syncthreads();
    for (int k = t; k < 256; k += blockDim.x)
        atomicAdd(&counts[k], mine[k] + mine[257 + k] + mine[514 + k] + mine[771 + k]);
}"""
count_bytes = cp.RawKernel(COUNT, "count_bytes")
'''
BODY = RIGHT[RIGHT.index("    __shared__") : RIGHT.index('}"""')]
SYNC = "    __syncthreads();\n"
ADD = "atomicAdd(&mine[t % 4 * 257 + (word >> shift & 255)], 1)"
LOOP = "for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)"
UP = "atomicAdd(&counts[k], mine[k] + mine[257 + k] + mine[514 + k] + mine[771 + k])"
RUNS = """int each = (n - 1) / (gridDim.x * blockDim.x) + 1, first = (blockIdx.x * blockDim.x + t) * each;
    for (int i = first; i < min(n, first + each); ++i)"""
ALONE = """    if (blockIdx.x + threadIdx.x > 0) return;
    for (int i = 0; i < 4 * n; ++i) ++counts[((const unsigned char*)words)[i]];
"""


def but(old: str, new: str, text: str = RIGHT) -> str:
    return text.replace(old, new, 1)


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but(BODY, ""), "nothing is counted yet"),
    ("no mask", but(" & 255", "").replace("(word >> shift)", "word >> shift"), "bytes taken for signed ones"),
    (
        "signed bytes",
        but("(word >> shift & 255)", "(char)(word >> shift)").replace("t % 4 * 257 + ", ""),
        "bytes taken for signed ones",
    ),
    (
        "a barrier in the loop",
        but("        unsigned word", "        __syncthreads();\n        unsigned word"),
        "a barrier that not every thread reaches",
    ),
    ("never set to zero", but("mine[k] = 0", "k = k"), "shared memory that nobody has written"),
    ("no atomic", but(ADD, "mine[t % 4 * 257 + (word >> shift & 255)]++"), "counted without an atomic"),
    ("no barrier after the zeros", but(SYNC, ""), "a barrier is missing"),
    ("no barrier before adding up", but("    }\n" + SYNC, "    }\n"), "a barrier is missing"),
    (
        "stored, not added",
        but(UP, "counts[k] = mine[k] + mine[257 + k] + mine[514 + k] + mine[771 + k]"),
        "the last block wins",
    ),
    ("the lowest byte", but("shift < 32", "shift < 8"), "one byte of four"),
    ("no loop", but(LOOP, "int i = blockIdx.x * blockDim.x + t; if (i < n)"), "one word a thread"),
    ("global memory", but("atomicAdd(&mine[t % 4 * 257 + ", "atomicAdd(&counts["), "atomics on global memory"),
    (
        "every copy to global memory",
        but(UP, "for (int c = 0; c < 4; ++c) atomicAdd(&counts[k], mine[257 * c + k])"),
        "atomics on global memory",
    ),
    ("one thread does it all", but(BODY, ALONE), "lanes that do not read neighbours"),
    (
        "one copy",
        RIGHT.replace("t % 4 * 257 + ", "").replace(" + mine[257 + k] + mine[514 + k] + mine[771 + k]", ""),
        "a queue at the hot bin",
    ),
    ("a copy a warp", RIGHT.replace("t % 4 * 257", "t / 32 * 257"), "a queue at the hot bin"),
    (
        "the public sizes only",
        but(
            UP,
            UP.replace(
                "mine[k] +",
                "-9 * (n != 1 && n != 31 && n != 97 && n != 512 && n != 1021 && n != 600 && n != 2500) + mine[k] +",
            ),
        ),
        "right in the public cases only",
    ),
    (
        "+= for an atomic",
        but(ADD, ADD.replace("atomicAdd(&", "(").replace(", 1)", ") += 1")),
        "counted without an atomic",
    ),
    ("one word too many", but("i < n;", "i <= n;"), "a thread reads past the words"),
    ("room for 256 a copy", but("mine[4 * 257]", "mine[4 * 256]"), "too little room for the bins"),
    ("seven bits", but("& 255", "& 127"), "in other bins"),
    ("the first 128 bins", but("for (int k = t; k < 256; k += blockDim.x)", "int k = t;"), "counts are missing"),
    ("three copies of four", but(" + mine[771 + k]", ""), "counts are missing"),
    ("steps of a block", but("i += gridDim.x * blockDim.x", "i += blockDim.x"), "counted more than once"),
    ("half bytes", but("shift += 8", "shift += 4"), "counted more than once"),
    ("a fifth byte", but("shift < 32", "shift <= 32"), "counted more than once"),
    (
        "copies in one bank",
        RIGHT.replace("257", "256").replace("514", "512").replace("771", "768"),
        "a queue at the hot bin",
    ),
    ("a copy for each byte of a word", RIGHT.replace("t % 4 * 257", "shift / 8 * 257"), "a queue at the hot bin"),
    (
        "zeros in counts",
        but("    int t = threadIdx.x;\n", "    int t = threadIdx.x;\n    counts[t] = counts[128 + t] = 0;\n"),
        "the last block wins",
    ),
    (
        "one block does it all",
        but(LOOP, "if (blockIdx.x == 0) for (int i = t; i < n; i += blockDim.x)"),
        "few do the work of all",
    ),
    ("a run of words for each thread", but(LOOP, RUNS), "lanes that do not read neighbours"),
    (
        "one thread adds all bins",
        but("for (int k = t; k < 256; k += blockDim.x)\n", "if (t == 0) for (int k = 0; k < 256; ++k)\n"),
        "atomics on global memory",
    ),
    ("sums of a byte", but(UP, UP.replace("mine[k] +", "(unsigned char)mine[k] +")), "counts are missing"),
]
