"""Wrong answers to lab02.embed."""

KEY = "lab02.embed"

RIGHT = '''EMBED = r"""extern "C" __global__
void embed(const int* token, const float* table, float* out, int tokens, int width) {
    const float4* rows = reinterpret_cast<const float4*>(table);
    float4* result = reinterpret_cast<float4*>(out);
    int each = width / 4;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < tokens * each; i += gridDim.x * blockDim.x) {
        int row = token[i / each];
        result[i] = row < 0 ? make_float4(0, 0, 0, 0) : rows[row * each + i % each];
    }
}"""
embed = cp.RawKernel(EMBED, "embed")
'''
LOOP = "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < tokens * each; i += gridDim.x * blockDim.x) {"
STORE = "result[i] = row < 0 ? make_float4(0, 0, 0, 0) : rows[row * each + i % each];"
BODY = RIGHT[RIGHT.index("    const float4* rows") : RIGHT.index('}"""')]
START = "int start = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;\n"
SCALAR = f"""{START}for (int i = start; i < tokens * width; i += step) {{
    int row = token[i / width];
    out[i] = row < 0 ? 0 : table[row * width + i % width];
}}
"""
ROW = f"""{START}for (int t = start; t < tokens; t += step)
    for (int k = 0; k < width; ++k) out[t * width + k] = token[t] < 0 ? 0 : table[token[t] * width + k];
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
    ("no look at the sign", but(("row < 0 ? make_float4(0, 0, 0, 0) : ", "")), "no row for a negative token"),
    ("a float's width for a float4's", but(("row * each", "row * width")), "a thread left its array"),
    ("no guard", but((LOOP, "int i = blockIdx.x * blockDim.x + threadIdx.x; {")), "a thread left its array"),
    ("row of the place", but(("row * each", "i / each * each")), "the row of its place, not of its token"),
    (
        "row 0 for none",
        but((STORE, STORE.replace("row < 0 ? make_float4(0, 0, 0, 0) : ", "").replace("row *", "max(row, 0) *"))),
        "row 0 for a negative token",
    ),
    (
        "none left alone",
        but((STORE, "if (row >= 0) result[i] = rows[row * each + i % each];")),
        "no zeros for a negative token",
    ),
    (
        "no loop",
        but((LOOP, "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < tokens * each) {")),
        "too few threads, and no loop",
    ),
    ("one float at a time", but((BODY, SCALAR)), "less than 16 bytes a lane"),
    ("a row for each thread", but((BODY, ROW)), "sectors are stored to again and again"),
    (
        "one thread does it all",
        but((BODY, ROW.replace("= start;", "= 0; start == 0 &&").replace("t += step", "++t"))),
        "sectors are stored to again and again",
    ),
    (
        "a float4 row for each thread",
        but(
            (
                LOOP,
                f"{START}for (int t = start; t < tokens; t += step) for (int i = t * each; i < t * each + each; "
                f"++i) {{",
            )
        ),
        "sectors are stored to again and again",
    ),
    (
        "the step of a block",
        but(("i += gridDim.x * blockDim.x", "i += blockDim.x")),
        "sectors are stored to again and again",
    ),
    (
        "the public sizes only",
        but(
            (
                "row < 0 ?",
                "row < 0 || !(width == 4 || width == 8 || width == 12 || width == 36 || width == 64 || width == 20 "
                "|| width == 260 || (width == 256 && tokens == 50)) ?",
            )
        ),
        "right in the public cases only",
    ),
    ("one piece too many", but(("i < tokens * each", "i <= tokens * each")), "a thread left its array"),
    ("tokens by floats", but(("token[i / each]", "token[i / width]")), "floats are counted for pieces"),
    ("no zero", but(("row < 0", "row <= 0")), "token 0 is taken for none"),
    ("no sign", but(("int row", "unsigned row")), "no row for a negative token"),
    (
        "starts in the block",
        but(("blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x")),
        "every block does the work of block 0",
    ),
    (
        "a warp for each row, and no loop along it",
        but(
            (
                LOOP,
                f"{START}for (int t = start / 32; t < tokens; t += step / 32) if (start % 32 < each) {{ int i = t * "
                "each + start % 32;",
            )
        ),
        "too few threads, and no loop",
    ),
    (
        "8 bytes a lane",
        but((BODY, RIGHT[RIGHT.index("    const float4* rows") : RIGHT.index('}"""')].replace("float4", "float2")))
        .replace("width / 4", "width / 2")
        .replace("(0, 0, 0, 0)", "(0, 0)"),
        "less than 16 bytes a lane",
    ),
    ("zeros without a type", but(("make_float4(0, 0, 0, 0)", "0.0f")), "it does not compile"),
    (
        "one block does it all",
        but((LOOP, "if (blockIdx.x == 0) for (int i = threadIdx.x; i < tokens * each; i += blockDim.x) {")),
        "few do the work of all",
    ),
    (
        "a float4 at float i",
        but(
            (
                STORE,
                STORE.replace(
                    "rows[row * each + i % each]", "*reinterpret_cast<const float4*>(table + row * width + i % each)"
                ),
            )
        ),
        "a pointer that counts floats",
    ),
    ("-1 for none", but(("(0, 0, 0, 0)", "(-1, -1, -1, -1)")), "a negative token's row is not 0"),
    (
        "a part of the zeros",
        but((STORE, "if (row < 0) result[i].x = 0; else " + STORE.replace("row < 0 ? make_float4(0, 0, 0, 0) : ", ""))),
        "a negative token's row is not 0",
    ),
    (
        "the last row for none",
        but(
            (
                STORE,
                STORE.replace("row < 0 ? make_float4(0, 0, 0, 0) : ", "").replace("row *", "(row < 0 ? 119 : row) *"),
            )
        ),
        "a negative token's row is not 0",
    ),
    ("gone at none", but((STORE, "if (row < 0) return; " + STORE)), "a thread ends at a negative token"),
    ("gone after none", but((STORE, STORE + " if (row < 0) break;")), "a thread ends at a negative token"),
    (
        "the token before the loop",
        but(
            (
                LOOP,
                "int first = blockIdx.x * blockDim.x + threadIdx.x, row = token[min(first / each, tokens - 1)];\n    "
                + LOOP,
            ),
            ("        int row = token[i / each];\n", ""),
        ),
        "the token of the first piece for all",
    ),
    ("up to tokens", but(("i < tokens * each", "i < tokens")), "tokens are counted for pieces"),
    (
        "zeros everywhere first",
        but((LOOP, LOOP + " result[i] = make_float4(0, 0, 0, 0); }\n    " + LOOP), (STORE, "if (row >= 0) " + STORE)),
        "sectors are stored to again and again",
    ),
]
