"""Wrong answers to lab07.room."""

KEY = "lab07.room"

RIGHT = """def room(registers, kib, threads, gpu):
    def fitting(r, k):
        return occupancy(r, 1024 * k, threads, gpu).blocks_per_sm
    held = fitting(registers, kib)
    if not held:
        return 0, 0
    most = max(r for r in range(registers, 256) if fitting(r, kib) == held)
    return most, max(k for k in range(kib, 229) if fitting(registers, k) == held)
"""
HEAD = RIGHT[: RIGHT.index("    most =")]
NOT = "    if not held:\n        return 0, 0\n"


def but(*changes: tuple[str, str]) -> str:
    text = RIGHT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", "def room(registers, kib, threads, gpu):\n    return None\n", "no tuple of two whole numbers"),
    ("a list", but(("return most, max(k for k in range(kib, 229) if fitting(registers, k) == held)",
                    "return [most, max(k for k in range(kib, 229) if fitting(registers, k) == held)]")),
     "no tuple of two whole numbers"),
    ("registers alone", HEAD + "    return max(r for r in range(registers, 256) if fitting(r, kib) == held)\n",
     "no tuple of two whole numbers"),
    ("KiB first", but(("return most, max(k for k in range(kib, 229) if fitting(registers, k) == held)",
                       "return max(k for k in range(kib, 229) if fitting(registers, k) == held), most")),
     "the two are exchanged"),
    ("answers in bytes", but(("return most, max(", "return most, 1024 * max(")), "bytes instead of KiB"),
    ("an A100 whatever is asked", but(("    def", "    gpu = gpus.find('A100')\n    def")), "one GPU for all"),
    ("compares all that occupancy says", but((".blocks_per_sm", ""), ("not held", "not held.blocks_per_sm")),
     "nothing more than now"),
    ("up to 254", but(("registers, 256", "registers, 255")), "the last register is left out"),
    ("without shared memory while registers grow", but(("fitting(r, kib) ==", "fitting(r, 0) ==")),
     "no value is as good as the present one"),
    ("the answer to the first case", "def room(registers, kib, threads, gpu):\n    return 64, 40\n",
     "the same for all kernels"),
    ("a kernel that does not fit may be anything", but((NOT, "")), "a kernel that does not fit"),
    ("a kernel that does not fit gives None", but(("return 0, 0", "return None")), "a kernel that does not fit"),
    (
        "the first that do not fit",
        but(("return most, max(", "return most + 1, 1 + max(")),
        "one step too far",
    ),
    (
        "what may be added",
        but(("return most, max(", "return most - registers, -kib + max(")),
        "how much more, instead of how much",
    ),
    (
        "for all places of an SM",
        but((NOT, ""), ("held = fitting(registers, kib)", "held = gpu.warps_per_sm // (threads // 32)"),
            ("range(registers, 256)", "range(256)"), ("range(kib, 229)", "range(229)"),
            ("== held)\n", ">= held), default=0)\n"), ("max(r for", "max((r for"), ("max(k for", "max((k for"),
            ("fitting(registers, k) == held)", "fitting(registers, k) >= held), default=0)")),
        "what full occupancy would need",
    ),
    (
        "registers by hand",
        but(("max(r for r in range(registers, 256) if fitting(r, kib) == held)",
             "gpu.registers_per_sm // held // threads")),
        "divided by hand",
    ),
    (
        "shared memory by hand",
        but(("max(k for k in range(kib, 229) if fitting(registers, k) == held)", "gpu.shared_per_sm // held // 1024")),
        "divided by hand",
    ),
    ("KiB taken for bytes", but(("1024 * k", "k")), "KiB are taken for bytes"),
    (
        "the public cases only",
        but(("held = f", "held = 0 if gpu.name not in ('A100', 'RTX 4090', 'H100', 'T4') else f")),
        "right in the public cases only",
    ),
    ("steps of 8", but(("range(registers, 256)", "range(registers, 256, 8)")), "values are left out"),
    ("one block", RIGHT.replace("== held", ">= 1"), "what one block could have"),
    ("a KiB of 1000", but(("1024 * k", "1000 * k")), "KiB are taken for bytes"),
    ("the first that is worse", RIGHT.replace("max(", "min(").replace("== held", "< held"),
     "no value is worse than the present one"),
]  # fmt: skip
