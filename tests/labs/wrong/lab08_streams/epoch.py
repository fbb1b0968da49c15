"""Wrong answers to lab08.epoch."""

KEY = "lab08.epoch"

HEAD = """def epoch(batches, x, f, b, out, layer, add, depth):
    blocks, threads, sizes = (-(-x.shape[1] // 128),), (128,), (np.int32(x.shape[1]), np.int32(x.shape[0]))
    one, two = (cp.cuda.Stream(non_blocking=True) for _ in range(2))
"""
EVENTS = "    fork, join = cp.cuda.Event(), cp.cuda.Event()\n"
BEGIN = "    one.begin_capture()\n"
FORK = "    fork.record(one)\n    two.wait_event(fork)\n"
LAYERS = """    for d in range(depth):
        layer(blocks, threads, (f if d else x, f, *sizes, np.int32(0)), stream=one)
        layer(blocks, threads, (b if d else x, b, *sizes, np.int32(1)), stream=two)
"""
JOIN = "    join.record(two)\n    one.wait_event(join)\n"
ADD = "    add((-(-x.size // 256),), (256,), (f, b, np.int32(x.size)), stream=one)\n"
END = "    graph = one.end_capture()\n"
LOOP = "    for k in range(len(batches)):\n"
SET, LAUNCH = "        x.set(batches[k], one)\n", "        graph.launch(one)\n"
GET = "        f.get(one, out=out[k], blocking=False)\n"
RIGHT = HEAD + EVENTS + BEGIN + FORK + LAYERS + JOIN + ADD + END + LOOP + SET + LAUNCH + GET
HOST = """    def smoothed(v):
        v, level = np.array(v), 0
        for t in range(len(v)):
            level = v[t] = (level + v[t]) / 2
        return v
    for k in range(len(batches)):
        ahead = back = np.array(batches[k])
        for _ in range(depth):
            ahead, back = smoothed(ahead), smoothed(back[::-1])[::-1]
        out[k] = ahead + back
"""


def but(*changes: tuple[str, str]) -> str:
    text = RIGHT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def inner(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", HEAD, "nothing is written yet"),
    ("no join", but((JOIN, "")), "the two streams do not join"),
    ("no fork", but((FORK, ""), (JOIN, "")), "the second stream is outside the capture"),
    ("the fork is recorded too early", but((BEGIN + FORK, FORK + BEGIN), (JOIN, "")),
     "the second stream is outside the capture"),
    ("joins what was never forked", but((FORK, "")), "the second stream is outside the capture"),
    ("waits in the capture", but((END, "    one.synchronize()\n" + END)),
     "something was asked for that cannot be captured"),
    ("get blocks in the capture", but((END, "    f.get(one, out=out[0])\n" + END)),
     "something was asked for that cannot be captured"),
    ("never launched", but((LAUNCH, "")), "the graph is never launched"),
    (
        "the copy in is captured",
        but((BEGIN, BEGIN + "    x.set(batches[0], one)\n"), (SET, "")),
        "the graph copies the same batch each time",
    ),
    ("the copy back is captured too", but((END, "    f.get(one, out=out[0], blocking=False)\n" + END)),
     "the graph copies the same batch each time"),
    ("one launch at the end", but((LAUNCH, "")) + "    graph.launch(one)\n",
     "copied back before the graph is launched"),
    ("every layer reads x", but(("f if d else x, f", "x, f"), ("b if d else x, b", "x, b")),
     "another number of layers"),
    ("three layers", but(("range(depth)", "range(3)")), "another number of layers"),
    ("the capture is not ended", but((END, "    graph = one\n")), "it stops with an error"),
    ("a name that is not there", but((LAUNCH, "        grph.launch(one)\n")), "it stops with an error"),
    ("no sum", but((ADD, "")), "f and b are not added up"),
    ("brings b back", but(("f.get(", "b.get(")), "f and b are not added up"),
    ("adds one row", but(("np.int32(x.size)", "np.int32(x.shape[1])")), "f and b are not added up"),
    ("reads f at first", but(("f if d else x", "f")), "something is read that nobody wrote"),
    ("copies in without a stream", but((SET, SET.replace(", one", ""))), "work in the default stream"),
    ("launches without a stream", but((LAUNCH, LAUNCH.replace("one", ""))), "work in the default stream"),
    ("copies in by the second stream", but((SET, SET.replace("one", "two"))),
     "a copy is in another stream than the graph"),
    ("copies back by the second stream", but((GET, GET.replace("one", "two"))),
     "a copy is in another stream than the graph"),
    ("adds outside the graph", but((ADD, ""), (LAUNCH, LAUNCH + "    " + ADD)), "more than a graph for each batch"),
    ("launches twice", but((LAUNCH, 2 * LAUNCH)), "more than a graph for each batch"),
    ("captures the whole loop",
     HEAD + EVENTS + BEGIN + LOOP + SET + inner(FORK + LAYERS + JOIN + ADD) + GET + END + "    graph.launch(one)\n",
     "the whole loop is captured"),
    ("both forward", but(("np.int32(1)), stream=two", "np.int32(0)), stream=two")), "both chains run forward"),
    (
        "the backward chain is added without an order",
        but((JOIN + ADD, ADD + JOIN)),
        "the two directions use one array",
    ),
    ("the host does it", HEAD + HOST, "the host has done the work"),
    (
        "captured for each batch",
        HEAD + EVENTS + LOOP + inner(BEGIN + FORK + LAYERS + JOIN + ADD + END) + SET + LAUNCH + GET,
        "captured more than once",
    ),
    ("no capture", HEAD + EVENTS + LOOP + SET + inner(FORK + LAYERS + JOIN + ADD) + GET, "no graph"),
    ("get blocks", but((", blocking=False", "")), "the host waits for each batch"),
    ("one stream", but((FORK, ""), (JOIN, ""), ("stream=two", "stream=one")), "one direction after the other"),
    (
        "the backward chain waits for the forward one",
        but((LAYERS, "".join(LAYERS.splitlines(True)[:2]) + FORK + "".join(LAYERS.splitlines(True)[i] for i in (0, 2))),
            (FORK, "")),
        "one direction after the other",
    ),
    (
        "three layers at most",
        but(("range(depth)", "range(min(3, depth))")),
        "right in the public cases only",
    ),
    ("both backward", but(("np.int32(0)", "np.int32(1)")), "both chains run backward"),
    ("a layer too many", but(("range(depth)", "range(depth + 1)")), "another number of layers"),
    ("copies in behind the launch", but((SET + LAUNCH, LAUNCH + SET)), "launched before there is a batch"),
    ("launched once, ahead of all", but((LAUNCH, ""), (LOOP, LAUNCH.replace("        ", "    ") + LOOP)),
     "launched before there is a batch"),
    ("waits behind each batch", RIGHT + "        one.synchronize()\n", "the host waits for each batch"),
]  # fmt: skip
