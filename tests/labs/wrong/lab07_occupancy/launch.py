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
PUBLIC = (1, 97, 5000, 6400, 10**5, 10**6, 10**7)


def but(*changes: tuple[str, str]) -> str:
    text = RIGHT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", "def choose(registers, floats, n, gpu):\n    return None\n", "no tuple of two whole numbers"),
    ("a dictionary", but(("return best, min(", "return dict(threads=best, blocks=min("),
                          ("n // best))", "n // best)))")),
     "no tuple of two whole numbers"),
    ("a part of a block", but(("-(-n // best)", "n / best")), "no tuple of two whole numbers"),
    ("blocks first", but(("return best, min(held.blocks_per_sm * gpu.sms, -(-n // best))",
                          "return min(held.blocks_per_sm * gpu.sms, -(-n // best)), best")), "the two are exchanged"),
    ("an A100 whatever is asked", but(("    best, held = 0", "    gpu = gpus.find('A100')\n    best, held = 0")),
     "one GPU for all"),
    ("one thread's floats", but(("4 * floats * threads", "4 * floats")), "too little shared memory is reckoned with"),
    ("what was tried last", but(("held.blocks_per_sm * gpu", "tried.blocks_per_sm * gpu")),
     "the last size that was tried"),
    ("counts warps", but(("held.blocks_per_sm * gpu", "held.warps_per_sm * gpu")), "warps taken for blocks"),
    ("n blocks", but(("-(-n // best)", "n")), "elements taken for blocks"),
    ("a thread for each element", but(("min(held.blocks_per_sm * gpu.sms, -(-n // best))", "-(-n // best)")),
     "more than one wave"),
    ("the greater number", but(("min(", "max(")), "more than one wave"),
    ("one more to be safe", but(("-(-n // best)", "n // best + 1")), "a block without an element"),
    ("any size", but(("range(32, 1025, 32)", "range(1, 1025)")), "no multiple of 32"),
    ("steps of 64", but(("range(32, 1025, 32)", "range(64, 1025, 64)")), "a better block size is left out"),
    ("begins at 64", but(("range(32, ", "range(64, ")), "a better block size is left out"),
    ("256, many", "def choose(registers, floats, n, gpu):\n    return 256, -(-n // 256)\n",
     "one block size for all kernels"),
    ("floats as bytes", but(("4 * floats", "floats")), "a float has four bytes"),
    ("no shared memory", but(("4 * floats * threads", "0")), "too little shared memory is reckoned with"),
    ("most blocks", but(("warps_per_sm", "blocks_per_sm")), "most blocks instead of most warps"),
    ("powers of two", but(("range(32, 1025, 32)", "(32, 64, 128, 256, 512, 1024)")), "only powers of two"),
    ("the largest", but((" > held", " >= held")), "the largest of the best"),
    ("one SM", but((" * gpu.sms", "")), "one SM's blocks"),
    ("a wave whatever n", but(("min(held.blocks_per_sm * gpu.sms, -(-n // best))", "held.blocks_per_sm * gpu.sms")),
     "more blocks than there is work for"),
    ("rounded down", but(("-(-n // best)", "n // best")), "the last elements have no block"),
    (
        "the public cases only",
        but(("    best, held = 0", f"    n = n if n in {PUBLIC} else 1\n    best, held = 0")),
        "another number of blocks",
    ),
    ("doubles", but(("4 * floats", "8 * floats")), "a float has four bytes"),
    ("to the nearest", but(("-(-n // best)", "round(n / best)")), "the last elements have no block"),
    ("two waves", but(("min(held.blocks_per_sm * gpu.sms, -(-n // best))", "2 * held.blocks_per_sm * gpu.sms")),
     "another number of blocks"),
    ("all warps of an SM", but(("held.blocks_per_sm * gpu", "gpu.warps_per_sm * 32 // best * gpu")),
     "another number of blocks"),
]  # fmt: skip
