"""Programs of stream work that were written by hand, or that leave out what makes the work slow or wrong."""

from __future__ import annotations

from textwrap import dedent, indent

from tests.hostile.case import Case

KEY = ("lab08.stage",)
ANSWER = "lab08-stage"

BY_THE_HOST = """
def stage(batches, staging, device, out, smooth):
    for k in range(len(batches)):
        smoothed, held = np.empty_like(out[k]), np.zeros_like(out[k, 0])
        for t in range(len(smoothed)):
            smoothed[t] = held = (held + batches[k, t]) / np.float32(2)
        out[k] = smoothed
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
WAITING = STAGED.replace("blocking=False)", "blocking=False)\n        stream.synchronize()")
PROBE = """
from helpers.checking import evidence as _evidence, kernel_as_json as _kernels
def probe(answer, key, part, inputs=None):
    from IPython.display import publish_display_data
    taken = _evidence.taken(answer, inputs)
    for each in taken["programs"]:
        program = each["program"]
        steps = program["steps"]
"""
SHOW = """
    shown = {"exercise": key, "part": part, "evidence": taken}
    publish_display_data({"application/vnd.warpbook.probe+json": shown})
"""


def forged(name: str, tries: str, body: str, answer: str = WAITING, **more) -> Case:
    """An answer, and a probe that changes the programs of it before they are shown.

    It must come as far as the judge: a forgery that stops with an error would earn nothing for the wrong reason.
    """
    source = answer + PROBE + indent(dedent(body), " " * 8) + SHOW
    return Case(name, tries, {ANSWER: source}, **{"loses": KEY, "state": "", "outcome": "wrong", **more})


CASES = (
    Case("stream-by-the-host", "lets the host do the work", {ANSWER: BY_THE_HOST}, loses=KEY),
    Case("stream-hasty", "does not wait, and is right here because all is done at once", {ANSWER: STAGED}, loses=KEY),
    forged("stream-empty", "shows a program of nothing", "steps.clear()"),
    forged(
        "stream-invented",
        "shows a program with a kernel that touches nothing",
        """
        program.update(queues=[{"kind": "stream", "blocking": False, "priority": 0}], graphs=[])
        program["kernels"] = [{"name": "smooth", "entry": "smooth", "language": "cuda", "ptx": _kernels.squeezed("")}]
        common = {"grid": [1], "block": [1], "shared_bytes": 0, "cooperative": False, "parameters": [], "arrays": []}
        steps[:] = [{"kind": "kernel", "queue": 0, "kernel": 0, **common}]
        """,
    ),
    forged(
        "stream-no-host-writes",
        "leaves out that the host fills the buffers",
        "steps[:] = [step for step in steps if step['kind'] != 'host write']",
    ),
    forged(
        "stream-no-waits",
        "leaves out that the host waits",
        "steps[:] = [step for step in steps if step['kind'] != 'synchronise']",
    ),
    forged(
        "stream-small-writes",
        "says that the host touches one byte of each buffer that it fills",
        "for step in steps:\n    if step['kind'] == 'host write': step['view'] = [1, 0, '|u1', [1], [1]]",
    ),
    forged(
        "stream-pinned",
        "says that a copy from pageable memory is one that nobody waits for",
        "for step in steps:\n    if step['kind'] == 'H2D': step['asynchronous'] = True",
        PAGEABLE,
        outcome="",
        most=2,  # its results are right, and it waits once a batch
    ),
    forged(
        "stream-not-copied",
        "sends kernels to the batches where they lie, in memory of the host",
        """
        steps[:] = [step for step in steps if step['kind'] != 'H2D']
        for step in steps:
            for _, pointers in step.get('parameters', []):
                for pointer in pointers: pointer[1] = 0
            for array in step.get('arrays', []): array[1] = 0
        """,
    ),
    forged("stream-first-again", "shows the first case's program only", "taken['programs'] = [each]\nbreak"),
    forged(
        "stream-pasted",
        "shows each program for another case",
        "taken['programs'] = taken['programs'][1:] + taken['programs'][:1]\nbreak",
    ),
    forged(
        "stream-joined",
        "shows three programs joined to one, for every case",
        "each['program'] = {**program, 'steps': [s for one in taken['programs'][:3] for s in one['program']['steps']]}",
    ),
    forged(
        "stream-odd",
        "shows programs of odd types",
        """
        program.update(queues=[{"kind": [], "blocking": {}, "priority": "x"}] * 9)
        for step in steps: step.update(queue=-1, view={}, kind="x", grid=7)
        """,
    ),
    forged(
        "stream-endless-graph",
        "launches a graph that launches itself",
        """
        program["graphs"] = [[[{"kind": "graph", "queue": 0, "graph": 0}, []]]]
        steps.append({"kind": "graph", "queue": 0, "graph": 0})
        """,
    ),
    forged(
        "stream-many-launches",
        "launches a graph of a thousand steps a thousand times",
        """
        program["graphs"] = [[[{"kind": "host function", "queue": 0}, []]] * 1000]
        steps[:] = [{"kind": "graph", "queue": 0, "graph": 0}] * 1000
        """,
    ),
    forged(
        "stream-huge-numbers",
        "says numbers of three hundred digits",
        """
        for step in steps:
            step.update({name: 10**300 for name in ("shared_bytes", "event", "kernel") if name in step})
            if "grid" in step: step["grid"] = [10**300] * 3
        """,
    ),
    forged(
        "stream-huge-buffers",
        "has a buffer of a pebibyte and a thousand others",
        """
        program["buffers"] += [{"kind": "pinned", "nbytes": 1 << 50}] + [{"kind": "device", "nbytes": 1 << 20}] * 1000
        for step in steps:
            if "view" in step: step["view"][0] = 4
        """,
    ),
    forged(
        "stream-elsewhere",
        "reads and writes before and behind its buffers",
        """
        for step in steps:
            if "view" in step: step["view"][1] = -4096
            for view in step.get("outputs", []): view[4] = [-(2**39)] * len(view[4])
            for _, pointers in step.get("parameters", []):
                for pointer in pointers: pointer[2] = 2**40
        """,
    ),
    forged(
        "stream-nobody-waits-for",
        "shows a graph whose steps follow steps that there are not",
        """
        program["graphs"] = [[[{"kind": "host function", "queue": 0}, [7, 10**9]]]]
        steps.append({"kind": "graph", "queue": 0, "graph": 0})
        """,
    ),
)
