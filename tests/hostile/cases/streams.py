"""Recordings of stream work that were written by hand, or that leave out what makes the work slow or wrong."""

from __future__ import annotations

from textwrap import dedent, indent

from tests.hostile.case import Case

KEY = ("lab08.stage",)
TOLD = "what the host does between two requests is known from the student's own process only"
ANSWER = "lab08-stage"

BY_THE_HOST = """
def stage(batches, staging, device, out, smooth):
    held = np.zeros_like(out[:, 0])
    for t in range(batches.shape[1]):
        held = (held + batches[:, t]) / np.float32(2)
        out[:, t] = held
"""
HASTY = """
def stage(batches, staging, device, out, smooth):
    steps, series = device.shape[1:]
    lanes = [cp.cuda.Stream(non_blocking=True) for _ in range(4)]
    for k in range(len(batches)):
        stream = lanes[k % 4]
        SEND
        smooth((-(-series // 256),), (256,), (device[k], np.int32(series), np.int32(steps)), stream=stream)
        device[k].get(stream, out=out[k], blocking=False)
"""
STAGED = HASTY.replace("SEND", "staging[k % 2] = batches[k]\n        device[k].set(staging[k % 2], stream)")
PAGEABLE = HASTY.replace("SEND", "device[k].set(batches[k], stream)")
PROBE = """
from helpers.checking import evidence as _evidence, kernel_as_json as _kernels
def probe(answer, key, part, inputs=None):
    from IPython.display import publish_display_data
    taken = _evidence.taken(answer, inputs)
    for each in taken["recordings"]:
        recording = each["recording"]
        operations = recording["operations"]
"""
SHOW = """
    shown = {"exercise": key, "part": part, "evidence": taken}
    publish_display_data({"application/vnd.warpbook.probe+json": shown})
"""


def forged(name: str, tries: str, body: str, answer: str = BY_THE_HOST, **more) -> Case:
    """An answer, and a probe that changes the recording of it before it is shown."""
    source = answer + PROBE + indent(dedent(body), " " * 8) + SHOW
    return Case(name, tries, {ANSWER: source}, **{"loses": KEY, "state": "", **more})


CASES = (
    Case("stream-by-the-host", "lets the host do the work", {ANSWER: BY_THE_HOST}, loses=KEY),
    Case("stream-hasty", "does not wait, and is right here because all is done at once", {ANSWER: STAGED}, loses=KEY),
    forged("stream-empty", "shows right results, and a recording of nothing", "operations.clear()"),
    forged(
        "stream-invented",
        "shows right results, and a recording with a kernel that touches nothing",
        """
        queue = recording["queues"].append({"kind": "stream", "blocking": False, "priority": 0})
        recording["kernels"].append({"name": "smooth", "entry": "smooth", "ptx": _evidence.squeezed("")})
        common = {"label": "", "nbytes": 0, "asynchronous": True, "waits": False, "pinned": None, "event": None}
        common |= {"queue": 0, "graph": None, "accesses": [], "nodes": [], "counters": None}
        operations[:] = [{"kind": "kernel", "kernel": 0, **common}]
        """.replace("_evidence.squeezed", "_kernels.squeezed"),
    ),
    forged(
        "stream-no-accesses", "leaves out which memory is touched", "for o in operations: o['accesses'] = []", STAGED
    ),
    forged(
        "stream-no-host-writes",
        "leaves out that the host fills the buffer",
        "operations[:] = [o for o in operations if o['kind'] != 'host write']",
        STAGED,
        most=4,
        limit=TOLD,
    ),
    forged(
        "stream-own-memory",
        "says that each copy comes from memory of its own",
        """
        for number, o in enumerate(operations):
            for a in o["accesses"] if o["kind"] == "H2D" else ():
                if not a["writes"]:
                    for end in ("starts", "ends"):
                        moved = _evidence.unplain(a[end]) + np.uint64(number << 32)
                        a[end] = _evidence.plain(moved)
        """,
        STAGED,
        most=4,
        limit=TOLD,
    ),
    forged("stream-no-bytes", "says that copies have no bytes", "for o in operations: o['nbytes'] = 0", PAGEABLE),
    forged(
        "stream-few-bytes",
        "says that each copy has one byte",
        "for o in operations:\n    if o['kind'] in ('H2D', 'D2H'): o['nbytes'] = 1",
        STAGED,
    ),
    forged(
        "stream-no-waits",
        "says that the host never waits",
        "for o in operations: o['waits'] = False",
        PAGEABLE,
    ),
    forged(
        "stream-pinned",
        "says that pageable memory is pinned",
        "for o in operations: o.update(waits=False, asynchronous=True, pinned=o['pinned'] is not None or None)",
        PAGEABLE,
        most=4,
        limit=TOLD,
    ),
    forged(
        "stream-no-counters",
        "says that kernels count nothing",
        "for o in operations:\n    if o['counters']: o['counters'].update(total={}, footprint=[0, 0])",
        STAGED,
    ),
    forged(
        "stream-first-again",
        "shows the first case's recording for all",
        "taken['recordings'] = taken['recordings'][:1]\nbreak",
    ),
    forged(
        "stream-odd",
        "shows recordings of odd types",
        """
        recording.update(queues=[{"kind": [], "blocking": {}, "priority": "x"}] * 9)
        for o in operations: o.update(queue=-1, nbytes=-5, kind="x", label=7)
        """,
        STAGED,
    ),
    forged(
        "stream-endless-graph",
        "shows graphs in graphs in graphs",
        """
        first = {**operations[0], "kind": "graph", "nodes": []}
        for _ in range(20): first = {**first, "nodes": [[first, []]] * 2}
        operations.append(first)
        """,
        STAGED,
    ),
    forged(
        "stream-pasted",
        "shows each recording with the result of another case",
        """
        taken["recordings"] = [{**a, "recording": b["recording"]}
                               for a, b in zip(taken["recordings"], taken["recordings"][1:] + taken["recordings"][:1])]
        break
        """,
        STAGED,
    ),
    forged(
        "stream-joined",
        "shows all recordings joined to one, for every case",
        """
        each["recording"] = {**recording, "operations": [
            o for one in taken["recordings"] for o in one["recording"]["operations"]][:4000]}
        """,
        STAGED,
    ),
    forged(
        "stream-huge-numbers",
        "says numbers of three hundred digits",
        "for o in operations:\n    o.update(nbytes=10**300)\n"
        "    (o['counters'] or {}).update(warps=10**300, footprint=[10**300] * 2)",
        STAGED,
    ),
    forged(
        "stream-no-addresses",
        "says that memory lies at NaN and below zero",
        """
        for o in operations:
            for a in o["accesses"]:
                a["starts"] = _evidence.plain(np.full(1, np.nan)); a["ends"] = _evidence.plain(np.full(1, -1.0))
        """,
        STAGED,
    ),
    forged(
        "stream-nobody-waits-for",
        "shows a graph whose steps follow steps that there are not",
        "operations.append({**operations[0], 'kind': 'graph', 'nodes': [[operations[0], [7, 10**9]]]})",
        STAGED,
        outcome="wrong",
    ),
)
