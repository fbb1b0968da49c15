"""Wrong answers to lab08.stage: most give the right result on the virtual GPU."""

KEY = "lab08.stage"

RIGHT = """def stage(batches, staging, device, out, smooth):
    steps, series = device.shape[1:]
    lanes = [cp.cuda.Stream(non_blocking=True) for _ in range(4)]
    sent = [cp.cuda.Event(), cp.cuda.Event()]
    for k in range(len(batches)):
        slot, stream = k % 2, lanes[k % 4]
        sent[slot].synchronize()
        staging[slot] = batches[k]
        device[k].set(staging[slot], stream)
        sent[slot].record(stream)
        smooth((-(-series // 256),), (256,), (device[k], np.int32(series), np.int32(steps)), stream=stream)
        device[k].get(stream, out=out[k], blocking=False)
"""
WAIT = "        sent[slot].synchronize()\n"
FILL = "        staging[slot] = batches[k]\n"
SEND = "        device[k].set(staging[slot], stream)\n"
RECORD = "        sent[slot].record(stream)\n"
SMOOTH = next(line + "\n" for line in RIGHT.splitlines() if "smooth((" in line)
LOOP = RIGHT[RIGHT.index("    for k") :]
HOST = """    for k in range(len(batches)):
        level = np.zeros(series, "float32")
        for t in range(steps):
            level = (level + batches[k, t]) / 2
            out[k, t] = level
"""


def but(*changes: tuple[str, str]) -> str:
    text = RIGHT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


ROWS = [
    # what is wrong, the solution cell, name of the mistake
    ("sends nothing", but((WAIT + FILL + SEND + RECORD, "")), "nothing is sent yet"),
    ("fills and sends nothing", but((SEND, "")), "nothing is sent yet"),
    (
        "always sends the first buffer",
        but((FILL, "        staging[0][:] = np.nan\n" + FILL), (SEND, SEND.replace("slot", "0"))),
        "the buffer that is sent is not the one that was filled",
    ),
    ("kernel ahead of the copy in", but((SEND + RECORD + SMOOTH, SMOOTH + SEND + RECORD)),
     "smoothed never, or twice"),
    ("two launches a batch", but((SMOOTH, 2 * SMOOTH)), "smoothed never, or twice"),
    ("brings the first back", but(("device[k].get", "device[0].get")), "the first batch comes back every time"),
    ("a thread for each step", but(("-(-series // 256)", "-(-steps // 256)"), ("(256,), (dev", "(32,), (dev")),
     "series without a thread"),
    ("sends the other buffer", but((SEND, SEND.replace("slot", "1 - slot"))), "what is sent was not filled before"),
    ("fills what was sent", but((FILL + SEND, SEND + FILL)), "what is sent was not filled before"),
    ("copies in without a stream", but((SEND, SEND.replace(", stream", ""))), "work in the default stream"),
    ("records without a stream", but((RECORD, RECORD.replace("(stream)", "()"))), "work in the default stream"),
    ("launches without a stream", but((", stream=stream)", ")")), "work in the default stream"),
    ("waits for the end", RIGHT + "    cp.cuda.Device().synchronize()\n", "the host waits at the end"),
    ("pins all", but((LOOP, "    pinned = cuda.pinned_array_like(batches)\n    pinned[:] = batches\n" + LOOP),
                     (WAIT + FILL, ""), (SEND, SEND.replace("staging[slot]", "pinned[k]"))),
     "sent from other memory than the two buffers"),
    ("sends from out, which is pinned", but((WAIT + FILL, "        out[k] = batches[k]\n"),
                                            (SEND, SEND.replace("staging[slot]", "out[k]"))),
     "sent from other memory than the two buffers"),
    ("get blocks", but((", blocking=False", "")), "the host waits more often than once a batch"),
    ("two streams", but(("lanes[k % 4]", "lanes[k % 2]")), "two streams where four are needed"),
    ("returns what came back", RIGHT.replace("        device[k].get(stream, out=out[k], blocking=False)",
                                             "        back = device[k].get(stream)\n    return back"),
     "nothing is written yet"),
    ("no wait", but((WAIT, "")), "the host fills a buffer that is still being sent"),
    (
        "records, and lets the stream wait",
        but((WAIT, "        stream.wait_event(sent[slot])\n")),
        "a stream waits where the host has to",
    ),
    (
        "one buffer for all, and two events",
        but((FILL, FILL.replace("slot", "0")), (SEND, SEND.replace("slot", "0"))),
        "the event stands in the wrong place",
    ),
    ("records ahead of the copy", but((SEND + RECORD, RECORD + SEND)), "the event stands in the wrong place"),
    ("waits behind the filling", but((WAIT + FILL, FILL + WAIT)), "the event stands in the wrong place"),
    (
        "copies back in another stream",
        but(("get(stream,", "get(lanes[(k + 1) % 4],")),
        "a batch's steps are in different streams",
    ),
    ("the host smooths", but((LOOP, HOST)), "the host has done the work"),
    (
        "past the pinned buffers",
        but((WAIT + FILL + SEND + RECORD, "        device[k].set(batches[k], stream)\n")),
        "from pageable memory to the device",
    ),
    ("one stream", but(("lanes[k % 4]", "lanes[0]")), "one stream only"),
    (
        "waits for the stream",
        but((WAIT, ""), (RECORD, ""), ("blocking=False)\n", "blocking=False)\n        stream.synchronize()\n")),
        "the host waits for more than the copy",
    ),
    (
        "waits for the device",
        but((WAIT, "        cp.cuda.Device().synchronize()\n")),
        "the host waits for more than the copy",
    ),
    (
        "waits twice a batch",
        but((RECORD, RECORD + "        sent[slot].synchronize()\n")),
        "the host waits more often than once a batch",
    ),
    (
        "the public sizes only",
        but(("np.int32(steps)", "np.int32(steps - (series not in (1, 31, 97, 256, 300, 512)))")),
        "right in the public cases only",
    ),
    ("one place on the device for each buffer", RIGHT.replace("device[k]", "device[slot]"),
     "batches that share a place on the device"),
    ("records behind the copy back", RIGHT.replace(RECORD, "") + RECORD, "the event stands behind more than the copy"),
    ("waits as soon as it has sent", but((WAIT, ""), (RECORD, RECORD + WAIT)), "the host waits too early"),
]  # fmt: skip
