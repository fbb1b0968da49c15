"""Wrong answers to the exercises of chapter 01."""

SPEEDUP = "def speedup(share, factor, copies):\n    return "
BORDER = "import math\n\ndef break_even(cpu_ns, gpu_ns, start_us):\n"
NEVER = "    if gpu_ns >= cpu_ns:\n        return None\n"
KERNEL = "def standardise(x, mean, scale, limit, out):\n"
VALUE = "min(max((x[i] - mean) * scale, -limit), limit)"
ROWS = [
    # key, what is wrong, source, name of the mistake
    ("ch01.speedup", "no copies", SPEEDUP + "1 / (1 - share + share / factor)", "the copies are left out"),
    (
        "ch01.speedup",
        "copies accelerated",
        SPEEDUP + "1 / (1 - share + (share + copies) / factor)",
        "the copies become faster too",
    ),
    ("ch01.speedup", "a time", SPEEDUP + "1 - share + share / factor + copies", "that is the new time"),
    (
        "ch01.speedup",
        "the limit",
        SPEEDUP + "1 / (1 - share) if share < 1 else float('inf')",
        "that is the most it could ever be",
    ),
    ("ch01.speedup", "average", SPEEDUP + "1 - share + share * factor", "speed-ups are averaged"),
    (
        "ch01.speedup",
        "swapped",
        SPEEDUP + "1 / (share + (1 - share) / factor + copies)",
        "share and rest are swapped",
    ),
    (
        "ch01.border",
        "units",
        BORDER + NEVER + "    return math.floor(start_us / (cpu_ns - gpu_ns)) + 1",
        "microseconds taken for nanoseconds",
    ),
    (
        "ch01.border",
        "CPU only",
        BORDER + NEVER + "    return math.floor(1000 * start_us / cpu_ns) + 1",
        "the GPU's own elements are free",
    ),
    (
        "ch01.border",
        "a tie",
        BORDER + NEVER + "    return math.ceil(1000 * start_us / (cpu_ns - gpu_ns))",
        "equally fast counts as faster",
    ),
    (
        "ch01.border",
        "rounded down",
        BORDER + NEVER + "    return int(1000 * start_us / (cpu_ns - gpu_ns))",
        "one element too few",
    ),
    (
        "ch01.border",
        "divides by zero",
        BORDER + "    return math.floor(1000 * start_us / (cpu_ns - gpu_ns)) + 1",
        "a GPU that is never faster",
    ),
    ("ch01.standardise", "empty", KERNEL + "    i = cuda.grid(1)", "nothing is written yet"),
    ("ch01.standardise", "no guard", KERNEL + f"    i = cuda.grid(1)\n    out[i] = {VALUE}", "no guard"),
    (
        "ch01.standardise",
        "thread index only",
        KERNEL + f"    i = cuda.threadIdx.x\n    if i < x.size:\n        out[i] = {VALUE}",
        "every block does the work of block 0",
    ),
    (
        "ch01.standardise",
        "order",
        KERNEL + "    i = cuda.grid(1)\n    if i < x.size:\n"
        "        out[i] = (min(max(x[i], -limit), limit) - mean) * scale",
        "cut off before it is scaled",
    ),
    (
        "ch01.standardise",
        "top only",
        KERNEL + "    i = cuda.grid(1)\n    if i < x.size:\n        out[i] = min((x[i] - mean) * scale, limit)",
        "cut off on one side only",
    ),
    (
        "ch01.standardise",
        "no limit",
        KERNEL + "    i = cuda.grid(1)\n    if i < x.size:\n        out[i] = (x[i] - mean) * scale",
        "never cut off",
    ),
    (
        "ch01.standardise",
        "one thread",
        KERNEL + f"    if cuda.grid(1) == 0:\n        for i in range(x.size):\n            out[i] = {VALUE}",
        "one thread does it all",
    ),
    (
        "ch01.standardise",
        "the loop as it was",
        KERNEL + f"    for i in range(x.size):\n        out[i] = {VALUE}",
        "every thread does everything",
    ),
    (
        "ch01.standardise",
        "four in a row",
        KERNEL + "    for k in range(4):\n        i = 4 * cuda.grid(1) + k\n        if i < x.size:\n"
        f"            out[i] = {VALUE}",
        "neighbouring threads work far apart",
    ),
    ("ch01.speedup", "as given", SPEEDUP + "share * factor", "a share times a factor"),
    (
        "ch01.speedup",
        "copies subtracted",
        SPEEDUP + "1 / (1 - share + share / factor) - copies",
        "copies are taken off the speed-up",
    ),
    ("ch01.border", "as given", BORDER + "    return start_us / cpu_ns", "the start divided by the CPU's time"),
    (
        "ch01.border",
        "where the lines meet",
        BORDER + NEVER + "    return 1000 * start_us / (cpu_ns - gpu_ns)",
        "a size that is no whole number",
    ),
    (
        "ch01.standardise",
        "min for max",
        KERNEL + "    i = cuda.grid(1)\n    if i < x.size:\n"
        "        out[i] = max(min((x[i] - mean) * scale, -limit), limit)",
        "min and max swapped",
    ),
]
