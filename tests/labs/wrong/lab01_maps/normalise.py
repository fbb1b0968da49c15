"""Wrong answers to lab01.normalise."""

KEY = "lab01.normalise"

RIGHT = '''NORMALISE = r"""extern "C" __global__
void normalise(const float* x, const float* mean, const float* scale, float* out, int channels, int pixels, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int c = i / pixels % channels;
        out[i] = (x[i] - mean[c]) * scale[c];
    }
}"""
normalise = cp.RawKernel(NORMALISE, "normalise")
'''
LOOP = "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {"
STORE = "out[i] = (x[i] - mean[c]) * scale[c];"
BODY = RIGHT[RIGHT.index("    for") : RIGHT.index('}"""')]


def but(old: str, new: str, text: str = RIGHT) -> str:
    assert old in text, old
    return text.replace(old, new, 1)


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but(BODY, ""), "nothing is written yet"),
    ("no channel modulo", but("i / pixels % channels", "i / pixels"), "the image is forgotten"),
    ("channels side by side", but("i / pixels % channels", "i % channels"), "channels are taken to lie side by side"),
    (
        "one element a thread",
        but(LOOP, "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) {"),
        "one element a thread",
    ),
    ("no guard", but(LOOP, "int i = blockIdx.x * blockDim.x + threadIdx.x; {"), "no guard"),
    ("one too far", but("i < n", "i <= n"), "no guard"),
    ("the step of a block", but("i += gridDim.x * blockDim.x", "i += blockDim.x"), "written more than once"),
    (
        "starts in the block",
        but("i = blockIdx.x * blockDim.x + threadIdx.x", "i = threadIdx.x"),
        "every block does the work of block 0",
    ),
    (
        "one thread does it all",
        but(LOOP, "if (blockIdx.x == 0 && threadIdx.x == 0) for (int i = 0; i < n; ++i) {"),
        "few threads do all the work",
    ),
    (
        "a warp's first lane",
        but(
            LOOP,
            "if (threadIdx.x % 32 == 0) for (int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32; i < n; i += "
            "gridDim.x * ((blockDim.x + 31) / 32)) {",
        ),
        "few threads do all the work",
    ),
    (
        "a run for each thread",
        but(
            LOOP,
            "int each = (n - 1) / (gridDim.x * blockDim.x) + 1, first = (blockIdx.x * blockDim.x + threadIdx.x) * "
            "each;\nfor (int i = first; i < min(n, first + each); ++i) {",
        ),
        "each thread has a run of its own",
    ),
    ("written twice", but(STORE, f"out[i] = x[i]; __threadfence(); {STORE}"), "written more than once"),
    (
        "whole rounds only",
        but("i < n;", "i < n / (gridDim.x * blockDim.x) * (gridDim.x * blockDim.x);"),
        "the end is not written",
    ),
    (
        "the public sizes only",
        but(
            "* scale[c]",
            "* scale[c] * (pixels == 1 || pixels == 31 || pixels == 97 || pixels == 101 || pixels == 128 || "
            "pixels == 1009)",
        ),
        "right in the public cases only",
    ),
    (
        "the first block does it all",
        but(LOOP, "if (blockIdx.x == 0) for (int i = threadIdx.x; i < n; i += blockDim.x) {"),
        "few blocks do all the work",
    ),
    (
        "the channel before the loop",
        but(
            LOOP,
            f"int c = (blockIdx.x * blockDim.x + threadIdx.x) / pixels % channels; {LOOP}",
            but("        int c = i / pixels % channels;\n", ""),
        ),
        "the channel of the first element for all",
    ),
    ("no brackets", but("(x[i] - mean[c]) * scale[c]", "x[i] - mean[c] * scale[c]"), "the mean is multiplied too"),
    ("channels and pixels swapped", but("/ pixels % channels", "/ channels % pixels"), "no channel of that number"),
    ("the remainder first", but("/ pixels % channels", "/ (pixels % channels)"), "no channel of that number"),
    ("the step counts blocks", but("i += gridDim.x * blockDim.x", "i += gridDim.x"), "written more than once"),
    ("in two steps", but(STORE, "out[i] = x[i] - mean[c]; out[i] *= scale[c];"), "written more than once"),
    ("one too few", but("i < n", "i < n - 1"), "the end is not written"),
    (
        "mean and scale swapped",
        but(STORE, "out[i] = (x[i] - scale[c]) * mean[c];"),
        "mean and scale have changed places",
    ),
    ("no scale", but(" * scale[c]", ""), "another formula"),
    ("divided", but("* scale[", "/ scale["), "another formula"),
    ("scaled first", but(STORE, "out[i] = x[i] * scale[c] - mean[c];"), "another formula"),
    ("added", but(STORE, "out[i] = x[i] * scale[c] + mean[c];"), "another formula"),
    ("the first channel", but(STORE, "out[i] = (x[i] - *mean) * *scale;"), "one channel for all"),
    ("the block's number", but("i / pixels % channels", "blockIdx.x % channels"), "the channel of the block"),
    ("an int", but(STORE, "int each = (x[i] - mean[c]) * scale[c]; out[i] = each;"), "fractions are lost"),
    ("a mean of type int", but(STORE, "int m = mean[c]; out[i] = (x[i] - m) * scale[c];"), "fractions are lost"),
    ("up to pixels", but("i < n", "i < pixels"), "the first plane or image only"),
    ("the first image", but("i < n", "i < channels * pixels"), "the first plane or image only"),
    ("steps of 384", but("i += gridDim.x * blockDim.x", "i += 384"), "steps that leave elements out"),
    (
        "steps of a block, squared",
        but("i += gridDim.x * blockDim.x", "i += blockDim.x * blockDim.x"),
        "steps that leave elements out",
    ),
    ("gone after one", but(STORE, STORE + " return;"), "one element a thread"),
    (
        "blocks side by side",
        but("i = blockIdx.x * blockDim.x + threadIdx.x", "i = threadIdx.x * gridDim.x + blockIdx.x"),
        "sectors come more than once",
    ),
]
