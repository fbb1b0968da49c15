"""`python -m vgpu.tests.fuzz`: every case runs in a child process that is replaced when it dies."""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter

from vgpu.tests.fuzz import cases, contained, record, verified
from vgpu.tests.fuzz.record import BAD

KINDS = {**cases.KINDS, "contained": contained.case, "verified": verified.case}
FORKED = {"contained": (contained.batch, 200), "verified": (verified.batch, 20_000)}  # in forked children; how many
START = 60  # seconds that a child may take to begin


def child(kind: str, first: int, count: int) -> None:
    """Run cases and print, before each, its seed, and after it what came of it."""
    for seed in range(first, first + count):
        print(json.dumps({"seed": seed}), flush=True)
        print(json.dumps(KINDS[kind](seed)), flush=True)


def batch(kind: str, first: int, count: int, patience: float) -> tuple[list[dict], int]:
    """The outcomes of `count` cases from seed `first`, and how many were done before the child ended or hung.

    `patience` is the time in seconds that one case may take.
    """
    if kind in FORKED:
        return FORKED[kind][0](first, count, patience)
    command = [sys.executable, "-m", "vgpu.tests.fuzz", "--child", kind, str(first), str(count)]
    outcomes, seed = [], first
    with tempfile.TemporaryFile("w+") as complaints:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=complaints, text=True)
        watch = threading.Timer(patience + START, process.kill)
        watch.start()
        for line in process.stdout:
            watch.cancel()
            watch = threading.Timer(patience, process.kill)
            watch.start()
            if line.startswith("{"):
                row = json.loads(line)
                seed = row.get("seed", seed)
                outcomes += [{"seed": seed, **row}] if "outcome" in row else []
        watch.cancel()
        if process.wait():
            complaints.seek(0)
            what = "hung" if process.returncode == -signal.SIGKILL else "died"
            detail = f"exit {process.returncode}: {complaints.read()[-2000:]}"
            outcomes.append({"seed": seed, "outcome": what, "detail": detail})
    return outcomes, seed - first + 1


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m vgpu.tests.fuzz", description=__doc__)
    parser.add_argument("--kind", choices=sorted(KINDS), action="append", help="only these kinds of case")
    parser.add_argument("--minutes", type=float, default=2, help="for all kinds together")
    parser.add_argument("--cases", type=int, help="stop after so many of each kind")
    parser.add_argument("--cold", action="store_true", help="have children compile what they want of the runtime")
    parser.add_argument("--patience", type=float, default=60, help="seconds that one case may take")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--one", action="store_true", help="run the one case of --kind and --seed in this process")
    parser.add_argument("--record", action="store_true", help="add each kind's tally to runs.jsonl and FUZZING.md")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    os.environ["VGPU_CACHE"] = "off"  # nobody asks for random kernels again
    if given.child:
        return child(given.child[0], *map(int, given.child[1:]))
    kinds = given.kind or sorted(KINDS)
    if given.one:
        kind = kinds[0]
        found = batch(kind, given.seed, 1, given.patience)[0] if kind in FORKED else KINDS[kind](given.seed)
        return print(json.dumps(found, indent=1))
    bad = 0
    if "contained" in kinds and not given.cold:
        contained.warm()
    for kind in kinds:
        begin, seed, tally, ways = time.monotonic(), given.seed, Counter(), Counter()
        end = given.seed + given.cases if given.cases else math.inf
        while seed < end and time.monotonic() < begin + 60 * given.minutes / len(kinds):
            most = FORKED[kind][1] if kind in FORKED else 50
            outcomes, done = batch(kind, seed, min(most, end - seed), given.patience)
            seed += done
            for outcome in outcomes:
                tally[outcome["outcome"]] += outcome.get("times", 1)
                ways[outcome.get("way")] += 1
                if outcome["outcome"] in BAD:
                    bad += 1
                    print(f"{kind} {outcome['seed']}: {outcome['outcome']}: {outcome['detail']}", flush=True)
        note = ", ".join(f"{count:,} {way}" for way, count in sorted(ways.items(), key=str) if way)
        print(f"{kind}: {dict(tally)} {note}", flush=True)
        if given.record:
            record.add(kind, given.seed, tally, (time.monotonic() - begin) / 60, note=note)
            record.write_table()
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
