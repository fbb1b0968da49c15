"""Wrong answers to lab06.roles."""

KEY = "lab06.roles"

RIGHT = """
@cuda.jit
def roles(x, out, rounds):
    t, n = cuda.grid(1), x.size
    role, i = t // 32 % 2, t // 64 * 32 + t % 32
    if i < n:
        v = x[i]
        if role == 0:
            for _ in range(3 * rounds):
                v = np.float32(0.75) * v + np.float32(1)
        else:
            for _ in range(rounds):
                v = np.float32(0.5) * v - x[i]
        out[role, i] = v
"""
WHO = "role, i = t // 32 % 2, t // 64 * 32 + t % 32"
BODY = RIGHT[RIGHT.index("    role, i") :]
WORK = RIGHT[RIGHT.index("        if role == 0") :]
BOTH = """        w = x[i]
        for _ in range(3 * rounds):
            v = np.float32(0.75) * v + np.float32(1)
        for _ in range(rounds):
            w = np.float32(0.5) * w - x[i]
        out[role, i] = v if role == 0 else w
"""
RUN = "    for i in range(first, min(n, first + 4)):\n" + RIGHT[RIGHT.index("        v = x[i]") :]
ALL = """    if t == 0:
        for i in range(n):
            v, w = x[i], x[i]
            for _ in range(3 * rounds):
                v = np.float32(0.75) * v + np.float32(1)
            for _ in range(rounds):
                w = np.float32(0.5) * w - x[i]
            out[0, i], out[1, i] = v, w
"""
ONE_AFTER_THE_OTHER = """    if t < n:
        v = x[t]
        for _ in range(3 * rounds):
            v = np.float32(0.75) * v + np.float32(1)
        out[0, t] = v
        for _ in range(rounds):
            v = np.float32(0.5) * v - x[t]
        out[1, t] = v
"""


def but(*changes: tuple[str, str]) -> str:
    text = RIGHT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but((BODY, "    pass\n")), "nothing is written yet"),
    ("no guard", but(("if i < n", "if True")), "a thread left its array"),
    (
        "roles by turns, elements by number",
        but((WHO, "role, i = t // 32 % 2, t"), ("if i < n", "if t < n")),
        "some elements have no thread",
    ),
    ("one role", but((WHO, "role, i = 0, t")), "one role has no threads"),
    ("rows swapped", but(("out[role, i]", "out[1 - role, i]")), "the rows are swapped"),
    ("roles by turns", but((WHO, "role, i = t % 2, t // 2")), "both roles in one warp"),
    ("roles by half warps", but((WHO, "role, i = t // 16 % 2, t // 32 * 16 + t % 16")), "both roles in one warp"),
    ("one thread does it all", but((BODY, ALL)), "both roles in one warp"),
    ("both, and one kept", but((WORK, BOTH)), "every thread does both and keeps one"),
    (
        "a run of elements for each thread",
        but(
            (WHO, "role, first = t // 32 % 2, 4 * (t // 64 * 32 + t % 32)"),
            ("    if i < n:\n" + RIGHT[RIGHT.index("        v = x[i]") :], RUN),
        ),
        "stores that stride",
    ),
    (
        "the public rounds only",
        but(("range(rounds)", "range(rounds if rounds in (8, 24) else 0)")),
        "right in the public cases only",
    ),
    ("out by columns", but(("out[role, i]", "out[i, role]")), "rows and columns of out swapped"),
    ("rounds of one length", but(("range(3 * rounds)", "range(rounds)")), "a series has another number of rounds"),
    (
        "the second loop for everybody",
        but(
            (
                "        else:\n            for _ in range(rounds):\n                v",
                "        for _ in range(rounds):\n            v",
            )
        ),
        "both loops in one role",
    ),
    (
        "the second series from where the first one ends",
        but((BODY, ONE_AFTER_THE_OTHER)),
        "the short series begins where the long one ends",
    ),
    ("x added", but(("* v - x[i]", "* v + x[i]")), "the sign of x[i]"),
    (
        "one block does it all",
        but(
            (WHO, "role, first = t // 32 % 2, t // 64 * 32 + t % 32"),
            ("if i < n:", "for i in range(first, n if cuda.blockIdx.x == 0 else 0, 64):"),
        ),
        "few do the work of all",
    ),
    ("twice the rounds", but(("3 * rounds", "2 * rounds")), "a series has another number of rounds"),
    ("three times for both", but(("range(rounds)", "range(3 * rounds)")), "a series has another number of rounds"),
    ("3 rounds more", but(("3 * rounds", "3 + rounds")), "a series has another number of rounds"),
    (
        "factors exchanged",
        RIGHT.replace("0.75", "?").replace("0.5", "0.75").replace("?", "0.5"),
        "the two factors exchanged",
    ),
    ("v subtracted", but(("v - x[i]", "v - v")), "v in place of x[i]"),
    (
        "in out itself",
        but(
            (
                WORK,
                WORK.replace("v = np.float32(0.5) * v", "v = out[role, i] = np.float32(0.5) * v").replace(
                    "v = np.float32(0.75) * v", "v = out[role, i] = np.float32(0.75) * v"
                ),
            )
        ),
        "stored in every round",
    ),
]
