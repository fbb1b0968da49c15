"""How long a kernel's life takes here, with the fork server and without: `python -m helpers.grading.sandbox.bench`."""

from __future__ import annotations

import argparse
import time
from statistics import median

from helpers.grading.sandbox import Sandbox, open_sandbox

CELLS = {
    "first cell": "1 + 1",
    "a kernel of Numba's": (
        "from helpers import cp, cuda\n@cuda.jit\ndef f(x):\n    x[cuda.grid(1)] = 1\nf[1, 32](cp.zeros(32))"
    ),
}


def life(sandbox: Sandbox) -> dict[str, float]:
    """Seconds from asking for a kernel until each of these things was done."""
    start, done = time.perf_counter(), {}
    with sandbox.kernel() as kernel:
        done["ready"] = time.perf_counter() - start
        for name, code in CELLS.items():
            run = kernel.execute(code, timeout=120)
            if run.outcome != "ok":
                raise RuntimeError(f"{name}: {run.outcome} {run.says} {run.error}")
            done[name] = time.perf_counter() - start
    done["closed"] = time.perf_counter() - start
    start = time.perf_counter()
    sandbox.ask("echo", {}, timeout=60)
    done["a job with one answer"] = time.perf_counter() - start
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lives", type=int, default=10, help="how many kernels of each kind (10)")
    lives = parser.parse_args().lives
    for fork_server in (True, False):
        start = time.perf_counter()
        with open_sandbox(fork_server=fork_server) as sandbox:
            how = "fork server" if sandbox.forks else "a sandbox for each job"
            print(f"{sandbox.tier.name}, {how}: open after {time.perf_counter() - start:.2f} s")
            seen = [life(sandbox) for _ in range(lives)]
            for name in seen[0]:
                print(f"  {name:<24} {median(one[name] for one in seen):6.3f} s, the median of {lives}")


if __name__ == "__main__":
    main()
