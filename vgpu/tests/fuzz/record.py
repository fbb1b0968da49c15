"""What long runs of the fuzzer came to: each run adds a line to `runs.jsonl`, and FUZZING.md is the table of them."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import llvmlite.binding

RUNS = Path(__file__).with_name("runs.jsonl")
TABLE = Path(__file__).resolve().parents[1] / "FUZZING.md"
BAD = ("died", "hung", "internal", "stumbled", "differs", "escaped", "misshapen")  # outcomes that nobody wants to see
# What bad cases turned out to be, by the kind and the first seed of their run.
CAUSES = {
    ("programs", 200_000): "the generator put pairs of floats into 32 bits (seed 200181); mended",
    ("contained", 3_000_000): "refused, but not by name (calls on the stack); mended",
    ("contained", 4_000_000): "refused, but not by name (KeyError v4, seed 4004408); not seen with later code",
    ("contained", 9_000_000): "the interpreter met isspacep without a space; mended",
    ("verified", 21_000_000): "refused, but not by name (calls on the stack); mended",
    ("verified", 10_000_000): "words that do no harm and mean nothing there (createpolicy.v4), which the second table "
    "takes now; bar.sync.red, tld4 without a channel, tex of other than four numbers: mended",
}
HEAD = """# What random programs did to the virtual GPU

Each row is a run of `python -m vgpu.tests.fuzz --record`, which adds itself here; nothing is written by hand. Rows with
*bad* cases stay: the table tells what was found, not only what passes now.

- **programs**: random PTX of the table's rows; interpreter, plain code and counted code leave the same bits.
- **mutated**: damaged PTX of real kernels; it is refused, runs, or faults with words.
- **noise**: random bytes and random words of PTX; it is refused.
- **schedules**: race-free kernels in CUDA C++, in order and under random schedules; results are the same.
- **contained**: changed programs of every kind of instruction that the verifier accepts, compiled plain, counted,
  watched and in random schedules, and interpreted: each access is looked up in a map of what the launch may touch, by
  code that is put in front of it in LLVM IR; the remark says how many ran in which way.
- **verified**: one changed statement each; what the verifier accepts has the shape that a table of its own says.
- **soak**: one process, short of memory, that launches kernels of all shapes (`python -m vgpu.tests.soak --record`).

| date | kind | seeds | minutes | cases | good | bad | versions | remark |
|---|---|---|---:|---:|---|---|---|---|
"""


def versions() -> str:
    """Python, the compilers and the CPU's instruction set, as one cell."""
    llvm = ".".join(map(str, llvmlite.binding.llvm_version_info))
    vectors = "AVX-512" if llvmlite.binding.get_host_cpu_features().get("avx512f") else "no AVX-512"
    packages = [f"{name} {version(name)}" for name in ("numba-cuda", "nvidia-cuda-nvrtc")]
    return ", ".join([f"Python {platform.python_version()}", f"LLVM {llvm}", *packages, platform.machine(), vectors])


def add(kind: str, first: int, tally: Mapping[str, int], minutes: float, path: Path = RUNS, note: str = "") -> None:
    """Append one run to `path`: cases of `kind` from the seed `first` on, by outcome, with a remark."""
    row = {
        "date": datetime.now(UTC).date().isoformat(), "kind": kind, "first": first, "minutes": round(minutes, 1),
        "outcomes": dict(sorted(tally.items())), "versions": versions(), "note": note,
    }  # fmt: skip
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def table(lines: str) -> str:
    """FUZZING.md for the text of `runs.jsonl`."""
    rows = [json.loads(line) for line in lines.splitlines()]
    return HEAD + "".join(_row(row) for row in sorted(rows, key=lambda row: (row["kind"], row["date"], row["first"])))


def write_table() -> None:
    """Bring FUZZING.md up to date."""
    TABLE.write_text(table(RUNS.read_text(encoding="utf-8")), encoding="utf-8")


def _row(row: dict) -> str:
    outcomes = row["outcomes"]
    cases = sum(outcomes.values())
    good, bad = (
        ", ".join(f"{count:,} {name}" for name, count in outcomes.items() if (name in BAD) == wanted) or "–"
        for wanted in (False, True)
    )
    seeds = f"{row['first']:,}" + (f" to {row['first'] + cases - 1:,}" if row["kind"] != "soak" else "")
    cells = (
        row["date"],
        row["kind"],
        seeds,
        f"{row['minutes']:g}",
        f"{cases:,}",
        good,
        bad,
        row["versions"],
        "; ".join(filter(None, (row.get("note"), CAUSES.get((row["kind"], row["first"]))))) or "–",
    )
    return f"| {' | '.join(cells)} |\n"
