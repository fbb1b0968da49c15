"""Wrong answers to lab08.branches: most give the right result on the virtual GPU."""

KEY = "lab08.branches"

Z = """    c = cuda.to_device(z, stream=three)
    smooth_by_thread[blocks, 128, three](c, 8)
    z_done.record(three)
"""
Y = """    b = cuda.to_device(y, stream=two)
    smooth_by_thread[blocks, 128, two](b, 1)
    y_done.record(two)
"""
AGAIN = "    smooth_by_thread[blocks, 128, one](a, 1)\n"
RIGHT = (
    """def branches(x, y, z, out):
    one, two, three = cuda.stream(), cuda.stream(), cuda.stream()
    blocks = -(-x.shape[1] // 128)
    y_done, z_done = cuda.event(), cuda.event()
"""
    + Z
    + """    a = cuda.to_device(x, stream=one)
    smooth_by_thread[blocks, 128, one](a, 1)
"""
    + Y
    + """    y_done.wait(one)
    add_by_thread[blocks, 128, one](a, b)
"""
    + AGAIN
    + """    z_done.wait(one)
    add_by_thread[blocks, 128, one](a, c)
    a.copy_to_host(out, stream=one)
"""
)
STREAMS = "cuda.stream(), cuda.stream(), cuda.stream()"
WAIT_Y, WAIT_Z = "    y_done.wait(one)\n", "    z_done.wait(one)\n"
HOST = """def branches(x, y, z, out):
    def smoothed(v):
        v, level = np.array(v), 0
        for t in range(len(v)):
            level = v[t] = (level + v[t]) / 2
        return v
    for _ in range(8):
        z = smoothed(z)
    out[:] = smoothed(smoothed(x) + smoothed(y)) + z
"""


def but(*changes: tuple[str, str]) -> str:
    text = RIGHT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", RIGHT[: RIGHT.index("    blocks")], "nothing is written yet"),
    ("the sum is not smoothed", but((WAIT_Y, WAIT_Y + "    #"), (AGAIN + WAIT_Z, WAIT_Z)).replace(
        "    #    add", "    add"), "a step is left out or done twice"),
    ("z is smoothed once", but(("(c, 8)", "(c, 1)")), "a step is left out or done twice"),
    ("z is smoothed seven times", but(("(c, 8)", "(c, 7)")), "a step is left out or done twice"),
    ("y is added as it came", but(("    smooth_by_thread[blocks, 128, two](b, 1)\n", "")),
     "a step is left out or done twice"),
    (
        "smooths all three at last",
        but((AGAIN + WAIT_Z, WAIT_Z), ("(a, c)\n", "(a, c)\n" + AGAIN)),
        "z is smoothed once too often",
    ),
    ("x twice", but(("to_device(y", "to_device(x")), "one of the three comes twice"),
    ("rows for series", but(("x.shape[1]", "x.shape[0]")), "series without a thread"),
    ("records without a stream", but(("y_done.record(two)", "y_done.record()")), "work in the default stream"),
    ("launches without a stream", but(("[blocks, 128, two](b, 1)", "[blocks, 128](b, 1)")),
     "work in the default stream"),
    (
        "eight launches for z",
        but(("    smooth_by_thread[blocks, 128, three](c, 8)\n",
             "    for _ in range(8):\n        smooth_by_thread[blocks, 128, three](c, 1)\n")),
        "smoothed by more launches than needed",
    ),
    ("waits for the end", RIGHT + "    cuda.synchronize()\n", "the host waits"),
    ("no waits", but((WAIT_Y, ""), (WAIT_Z, "")), "nothing makes a stream wait for the others"),
    (
        "no event, and none recorded",
        but((WAIT_Y, ""), (WAIT_Z, ""), ("    y_done.record(two)\n", ""), ("    z_done.record(three)\n", "")),
        "nothing makes a stream wait for the others",
    ),
    ("waits for y behind the sum", but((WAIT_Y, ""), (AGAIN + WAIT_Z, WAIT_Y + AGAIN + WAIT_Z)),
     "the event stands in the wrong place"),
    ("z is not waited for", but((WAIT_Z, "")), "the event stands in the wrong place"),
    (
        "recorded ahead of the kernel",
        but((Y, "\n".join(Y.split("\n")[i] for i in (0, 2, 1, 3)))),
        "the event stands in the wrong place",
    ),
    ("waits before the record", but((WAIT_Y, ""), (Y, WAIT_Y + Y)), "waits for an event that was never recorded"),
    ("the host does it", HOST, "the host has done the work"),
    ("the host waits for z", but((WAIT_Z, "    z_done.synchronize()\n")), "the host waits"),
    ("copies in without a stream", but(("(z, stream=three)", "(z)")), "the host waits"),
    ("one stream", but((STREAMS, "[cuda.stream()] * 3")), "everything in one stream"),
    ("both waits at once", but((WAIT_Z, ""), (WAIT_Y, WAIT_Y + WAIT_Z)), "waits for z too early"),
    ("z last", but((Z, ""), (WAIT_Y, Z + WAIT_Y)), "what takes longest is asked for last"),
    (
        "x and y in one stream",
        but((STREAMS, "[cuda.stream()] * 2 + [cuda.stream()]")),
        "two chains share a stream",
    ),
    (
        "the public sizes only",
        but(("-(-x.shape[1] // 128)", "{1: 1, 31: 1, 97: 1, 128: 1, 300: 3, 512: 4}.get(x.shape[1], 1)")),
        "series without a thread",
    ),
    ("z never added", RIGHT.replace("    add_by_thread[blocks, 128, one](a, c)\n", ""), "z is not in the result"),
    ("added to z", RIGHT.replace("(a, c)", "(c, a)"), "z is not in the result"),
    ("copies z's part back", RIGHT.replace("a.copy_to_host(out, stream=one)", "c.copy_to_host(out, stream=three)"),
     "z alone"),
    ("copies back in another stream", RIGHT.replace("copy_to_host(out, stream=one)", "copy_to_host(out, stream=two)"),
     "copied back before the sum is done"),
]  # fmt: skip
