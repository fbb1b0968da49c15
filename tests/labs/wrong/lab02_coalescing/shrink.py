"""Wrong answers to lab02.shrink."""

KEY = "lab02.shrink"

RIGHT = '''SHRINK = r"""extern "C" __global__
void shrink(const float* x, float* out, int rows, int columns, int pitch, int out_pitch) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y < rows && c < columns / 2) {
        float2 p = reinterpret_cast<const float2*>(x + y * pitch)[c];
        out[y * out_pitch + c] = 0.5f * (p.x + p.y);
    }
}"""
shrink = cp.RawKernel(SHRINK, "shrink")
'''
LOAD = "float2 p = reinterpret_cast<const float2*>(x + y * pitch)[c];"
APART = "float2 p = make_float2(x[y * pitch + 2 * c], x[y * pitch + 2 * c + 1]);"
GUARD = "y < rows && c < columns / 2"
PLACE = "int c = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;"
BODY = RIGHT[RIGHT.index("    if (y") : RIGHT.index('}"""')]
ONE_BLOCK = f"""    if (blockIdx.x + blockIdx.y > 0) return;
    for (int y = threadIdx.y; y < rows; y += blockDim.y)
        for (int c = threadIdx.x; c < columns / 2; c += blockDim.x) {{
            {LOAD}
            out[y * out_pitch + c] = 0.5f * (p.x + p.y);
        }}
"""


def but(*changes: tuple[str, str]) -> str:
    text = RIGHT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but((BODY, "")), "nothing is written yet"),
    ("no guard", but((GUARD, "true")), "no guard below"),
    ("no guard below", but((GUARD, "c < columns / 2")), "no guard below"),
    ("no pitch", but((LOAD, APART.replace("y * pitch", "y * columns"))), "the pitch of x is forgotten"),
    ("into the padding", but((GUARD, "y < rows && c < out_pitch")), "something is stored behind the rows"),
    ("an odd column as well", but((GUARD, "y < rows && c < (columns + 1) / 2")), "something is stored behind the rows"),
    ("the pitch of x for out", but(("y * out_pitch", "y * pitch")), "an index that leads too far"),
    ("half the pitch of x for out", but(("y * out_pitch", "y * (pitch / 2)")), "an index that leads too far"),
    ("the pitch of out for x", but(("y * pitch", "y * out_pitch")), "the two pitches are mixed up"),
    ("rows of out without a pitch", but(("y * out_pitch", "y * (columns / 2)")), "the two pitches are mixed up"),
    ("two loads", but((LOAD, APART)), "both of a pair by themselves"),
    (
        "lanes down the rows",
        but((PLACE, PLACE.replace("int c", "int t").replace(" y ", " c ").replace("int t", "int y"))),
        "lanes down the rows",
    ),
    (
        "one thread does it all",
        but(
            (
                BODY,
                "if (c == 0 && y == 0) for (; y < rows; ++y) for (c = 0; c < columns / 2; ++c)"
                + BODY.strip()[len(f"if ({GUARD})") :]
                + "\n",
            )
        ),
        "lanes down the rows",
    ),
    (
        "a row for each thread",
        but(
            (BODY, "if (c == 0 && y < rows) for (; c < columns / 2; ++c)" + BODY.strip()[len(f"if ({GUARD})") :] + "\n")
        ),
        "lanes down the rows",
    ),
    (
        "the public sizes only",
        but(
            (
                "0.5f *",
                "0.5f * (columns == 2 || columns == 71 || columns == 3 || columns == 37 || columns == 26 || columns "
                "== 128 || columns == 200) *",
            )
        ),
        "right in the public cases only",
    ),
    ("one row too many", but(("y < rows", "y <= rows")), "no guard below"),
    ("a column for a pair", but(("c < columns / 2", "c < columns")), "an index that leads too far"),
    (
        "a pitch of float2s",
        but(("reinterpret_cast<const float2*>(x + y * pitch)[c]", "reinterpret_cast<const float2*>(x)[y * pitch + c]")),
        "an index that leads too far",
    ),
    ("every other float2", but(("(x + y * pitch)[c]", "(x + y * pitch)[2 * c]")), "an index that leads too far"),
    ("one block below", but(("blockIdx.y * blockDim.y + ", "")), "some pixels are never written"),
    ("half the rows", but(("y < rows", "y < rows / 2")), "some pixels are never written"),
    ("half in whole numbers", but(("0.5f", "1 / 2")), "half of it is 0"),
    ("the sum", but(("0.5f * ", "")), "the sum, not the mean"),
    ("pairs from column to column", but((LOAD, APART.replace("2 * c", "c"))), "pairs that overlap"),
    (
        "a pitch of bytes",
        but(("x + y * pitch", "reinterpret_cast<const char*>(x) + y * pitch")),
        "the two pitches are mixed up",
    ),
    (
        "every thread goes down its column",
        but((BODY, "if (c < columns / 2) for (y = 0; y < rows; ++y)" + BODY.strip()[len(f"if ({GUARD})") :] + "\n")),
        "the same work many times",
    ),
    (
        "two pixels one after the other",
        but(
            (
                BODY,
                "for (int k = 0; k < 2; ++k) { int j = 2 * c + k; if (y < rows && j < columns / 2) { float2 p = "
                "reinterpret_cast<const float2*>(x + y * pitch)[j]; out[y * out_pitch + j] = 0.5f * (p.x + p.y); } }\n",
            )
        ),
        "stores that stride",
    ),
    ("one block does it all", but((PLACE, ""), (BODY, ONE_BLOCK)), "few do the work of all"),
    (
        "a float2 at float c",
        but(
            ("reinterpret_cast<const float2*>(x + y * pitch)[c]", "*reinterpret_cast<const float2*>(x + y * pitch + c)")
        ),
        "a pointer that counts floats",
    ),
    ("the greatest", but(("0.5f * (p.x + p.y)", "fmaxf(p.x, p.y)")), "not the mean of the two"),
    ("no brackets", but(("0.5f * (p.x + p.y)", "0.5f * p.x + p.y")), "not the mean of the two"),
    ("the left one", but(("0.5f * (p.x + p.y)", "p.x")), "not the mean of the two"),
    ("a difference", but(("(p.x + p.y)", "(p.y - p.x)")), "not the mean of the two"),
    ("added", but(("out[y * out_pitch + c] =", "out[y * out_pitch + c] +=")), "added to what was there"),
    (
        "a mean of type int",
        but(
            (
                "out[y * out_pitch + c] = 0.5f * (p.x + p.y);",
                "int mean = 0.5f * (p.x + p.y); out[y * out_pitch + c] = mean;",
            )
        ),
        "fractions are lost",
    ),
    ("guards swapped", but((GUARD, "c < rows && y < columns / 2")), "no guard below"),
]
