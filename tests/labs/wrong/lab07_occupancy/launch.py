"""Wrong answers to lab07.launch."""

KEY = "lab07.launch"

RIGHT = """def choose(registers, floats, n, gpu):
    best, held = 0, None
    for threads in range(32, 1025, 32):
        tried = occupancy(registers, 4 * floats * threads, threads, gpu)
        if held is None or tried.warps_per_sm > held.warps_per_sm:
            best, held = threads, tried
    return best, min(held.blocks_per_sm * gpu.sms, -(-n // best))
"""


def but(*changes: tuple[str, str]) -> str:
    text = RIGHT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", "def choose(registers, floats, n, gpu):\n    return None\n", "one block size for all kernels"),
    ("256, many", "def choose(registers, floats, n, gpu):\n    return 256, -(-n // 256)\n",
     "one block size for all kernels"),
    ("floats as bytes", but(("4 * floats", "floats")), "a float has four bytes"),
    ("no shared memory", but(("4 * floats * threads", "0")), "shared memory left out"),
    ("most blocks", but(("warps_per_sm", "blocks_per_sm")), "most blocks instead of most warps"),
    ("powers of two", but(("range(32, 1025, 32)", "(32, 64, 128, 256, 512, 1024)")), "only powers of two"),
    ("the largest", but((" > held", " >= held")), "the largest of the best"),
    ("one SM", but((" * gpu.sms", "")), "one SM's blocks"),
    ("a wave whatever n", but(("min(held.blocks_per_sm * gpu.sms, -(-n // best))", "held.blocks_per_sm * gpu.sms")),
     "more blocks than there is work for"),
    ("rounded down", but(("-(-n // best)", "n // best")), "the last elements have no block"),
    (
        "the public cases only",
        but(("    best, held = 0", "    n = n if n in (1, 97, 5000, 10**5, 10**6, 10**7) else 1\n    best, held = 0")),
        "right in the public cases only",
    ),
]  # fmt: skip
