"""Wrong answers to lab08.carry: most give the right result on the virtual GPU."""

KEY = "lab08.carry"

RIGHT = """def carry(x, buffers, level, out, smooth):
    steps, series = buffers.shape[1:]
    blocks, threads = (-(-series // 256),), (256,)
    lanes = [cp.cuda.Stream(non_blocking=True) for _ in range(2)]
    done = cp.cuda.Event()
    for k, first in enumerate(range(0, len(x), steps)):
        part = x[first : first + steps]
        room, stream = buffers[k % 2][: len(part)], lanes[k % 2]
        room.set(part, stream)
        if k:
            stream.wait_event(done)
        smooth(blocks, threads, (room, level, np.int32(series), np.int32(len(part))), stream=stream)
        done.record(stream)
        room.get(stream, out=out[first : first + steps], blocking=False)
"""
WAIT = "        if k:\n            stream.wait_event(done)\n"
SET = "        room.set(part, stream)\n"
RECORD = "        done.record(stream)\n"
GET = "        room.get(stream, out=out[first : first + steps], blocking=False)\n"
LOOP = RIGHT[RIGHT.index("    lanes") :]
HOST = """    held = level.get()
    for t in range(len(x)):
        held = (held + x[t]) / 2
        out[t] = held
"""


def but(*changes: tuple[str, str]) -> str:
    text = RIGHT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("does nothing", but((LOOP, "")), "nothing is written yet"),
    (
        "a fresh level for every piece",
        but(("(room, level,", "(room, level.copy(),")),
        "every piece begins anew",
    ),
    ("a thread for each step", but(("-(-series // 256)", "-(-steps // 256)"), ("(256,)\n", "(32,)\n")),
     "series without a thread"),
    ("copies in without a stream", but((SET, SET.replace(", stream", ""))), "work in the default stream"),
    ("launches without a stream", but((", stream=stream)", ")")), "work in the default stream"),
    ("copies back without a stream", but((GET, GET.replace("stream, ", ""))), "work in the default stream"),
    ("brings all to the beginning", but(("out=out[first : first + steps]", "out=out[: len(part)]")),
     "pieces come back to the same place"),
    ("copies the pieces first", but(("part = x[first : first + steps]", "part = np.array(x[first : first + steps])")),
     "the host waits"),
    ("no event", but((WAIT, ""), (RECORD, "")), "nothing orders the kernels"),
    ("recorded ahead of the kernel", but((RECORD, ""), (WAIT, WAIT + RECORD)), "nothing orders the kernels"),
    (
        "waits for an event that comes later",
        but((WAIT, "        done = cp.cuda.Event()\n" + WAIT)),
        "waits for an event that was never recorded",
    ),
    (
        "one buffer for both streams",
        but(("buffers[k % 2]", "buffers[0]")),
        "a buffer is filled while it is still in use",
    ),
    (
        "copies in go through a stream of their own",
        but(
            (SET, "        lanes[1].wait_event(done) if k else None\n        room.set(part, lanes[1])\n"
                  "        lanes[0].wait_event(lanes[1].record())\n"),
            ("lanes[k % 2]", "lanes[0]"),
        ).replace("buffers[k % 2]", "buffers[0]"),
        "a buffer is filled while it is still in use",
    ),
    (
        "copies out go through a stream of their own",
        but(
            ("range(2)]", "range(3)]"),
            (GET, GET.replace("get(stream", "get(lanes[2]")),
            (SET, "        stream.wait_event(lanes[2].record())\n" + SET),
        ),
        "copied out before the kernel is done",
    ),
    ("the host does it", but((LOOP, HOST)), "the host has done the work"),
    ("get blocks", but((", blocking=False", "")), "the host waits"),
    ("waits for each piece", but((GET, GET + "        stream.synchronize()\n")), "the host waits"),
    (
        "room for the whole series",
        but(("buffers[k % 2][: len(part)]", "whole[first : first + steps]"),
            ("    done =", "    whole = cp.empty(x.shape, 'float32')\n    done =")),
        "more memory than the two buffers",
    ),
    ("one stream", but(("lanes[k % 2]", "lanes[0]")), "one stream only"),
    (
        "waits for the copy back",
        but((RECORD, ""), (GET, GET + RECORD)),
        "the next piece waits for more than the kernel",
    ),
    (
        "the copy in waits too",
        but((SET, ""), (WAIT, WAIT + SET)),
        "the next piece waits for more than the kernel",
    ),
    (
        "the public sizes only",
        but(("np.int32(len(part))", "np.int32(len(part) - (series not in (1, 31, 97, 128, 200, 512)))")),
        "right in the public cases only",
    ),
]  # fmt: skip
