"""Wrong answers to lab02.planes."""

KEY = "lab02.planes"

RIGHT = '''PLANES = r"""extern "C" __global__ void planes(const float* records, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 r = reinterpret_cast<const float4*>(records)[i];
        out[i] = r.x;
        out[n + i] = r.y;
        out[2 * n + i] = r.z;
        out[3 * n + i] = r.w;
    }
}"""
planes = cp.RawKernel(PLANES, "planes")
'''
BODY = RIGHT[RIGHT.index("    if (i < n)") : RIGHT.index('}"""')]
APART = "if (i < n) for (int c = 0; c < 4; ++c) out[c * n + i] = records[4 * i + c];\n"
LOAD = "float4 r = reinterpret_cast<const float4*>(records)[i];"


def but(old: str, new: str, text: str = RIGHT) -> str:
    assert old in text, old
    return text.replace(old, new, 1)


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but(BODY, ""), "nothing is written yet"),
    ("no guard", but("if (i < n) {", "{"), "no guard"),
    ("a guard that counts floats", but("if (i < n) {", "if (i < 4 * n) {"), "no guard"),
    (
        "a copy",
        but(BODY, "if (i < n) reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(records)[i];\n"),
        "still records",
    ),
    (
        "planes the other way round",
        but(BODY, APART.replace("out[c * n", "out[(3 - c) * n")),
        "the fields are in another order",
    ),
    ("one float after the other", but(BODY, APART), "the same sectors again and again"),
    (
        "a run of records",
        but(BODY, f"for (int first = 4 * i, e = min(n, first + 4), i = first; i < e; ++i) {APART}"),
        "a sector for each float",
    ),
    ("one thread does it all", but(BODY, f"if (i == 0) for (; i < n; ++i) {APART}"), "a sector for each float"),
    (
        "a run of float4s",
        but(
            "int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) {",
            "int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);\n    for (int i = first; i < min(n, first + "
            "4); ++i) {",
        ),
        "stores that stride",
    ),
    (
        "the public sizes only",
        but("r.w;", "r.w * (n == 1 || n == 31 || n == 32 || n == 97 || n == 128 || n == 500 || n == 2000);"),
        "right in the public cases only",
    ),
    ("one record too many", but("i < n", "i <= n"), "no guard"),
    ("a record is four float4s", but("(records)[i]", "(records)[4 * i]"), "an index that leads too far"),
    ("fields side by side", but("n + i] = r.y", "i * n + 1] = r.y"), "an index that leads too far"),
    (
        "planes of four",
        but("out[n + i]", "out[4 + i]", but("3 * n", "12", but("2 * n", "8"))),
        "an index that leads too far",
    ),
    (
        "back again",
        but(BODY, "if (i < n) for (int c = 0; c < 4; ++c) out[4 * i + c] = records[c * n + i];\n"),
        "planes into records",
    ),
    (
        "the place in the block",
        but("blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x"),
        "every block does the work of block 0",
    ),
    (
        "two float2s",
        but(
            LOAD,
            "const float2* p = reinterpret_cast<const float2*>(records) + 2 * i; float4 r = make_float4(p[0].x, "
            "p[0].y, p[1].x, p[1].y);",
        ),
        "the same sectors again and again",
    ),
    (
        "every block does it all",
        but("if (i < n)", "for (i = threadIdx.x; i < n; i += blockDim.x)"),
        "the same work many times",
    ),
    ("a float for a float4", but(LOAD, "float4 r = records[i];"), "it does not compile"),
    (
        "one block does it all",
        but("if (i < n)", "if (blockIdx.x == 0) for (; i < n; i += blockDim.x)"),
        "few do the work of all",
    ),
    (
        "a float4 at float i",
        but(LOAD, "float4 r = *reinterpret_cast<const float4*>(records + i);"),
        "a pointer that counts floats",
    ),
    (
        "y and z swapped",
        but("out[n + i] = r.y", "out[n + i] = r.z", but("2 * n + i] = r.z", "2 * n + i] = r.y")),
        "the fields are in another order",
    ),
    ("y twice", but("r.z", "r.y"), "the fields are in another order"),
    ("no w", but("        out[3 * n + i] = r.w;\n", ""), "some planes are left out"),
    (
        "all in one plane",
        but("out[n + i]", "out[i]", but("2 * n + i", "i", but("3 * n + i", "i"))),
        "some planes are left out",
    ),
    (
        "a record of ints",
        but(LOAD, "int4 r = make_int4(records[4 * i], records[4 * i + 1], records[4 * i + 2], records[4 * i + 3]);"),
        "fractions are lost",
    ),
]
