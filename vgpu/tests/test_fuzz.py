"""A short run of each kind of fuzzing; `python -m vgpu.tests.fuzz` runs longer ones."""

import ast
import subprocess
import sys

import pytest

from vgpu import isa, ptx
from vgpu.tests.fuzz import mutate, programs, record
from vgpu.tests.fuzz.__main__ import batch
from vgpu.tests.fuzz.cases import KINDS, outcome
from vgpu.tests.fuzz.record import BAD

COUNTS = {"noise": 150, "mutated": 40, "programs": 8, "schedules": 4}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_nothing_dies_hangs_or_differs(kind):
    outcomes, done = batch(kind, 10_000, COUNTS[kind], patience=60)
    assert done == COUNTS[kind] and len(outcomes) == done
    bad = [o for o in outcomes if o["outcome"] in BAD]
    assert not bad, bad
    # A generator whose cases are all turned away would show nothing.
    wanted = {"noise": "refused", "mutated": "ran"}.get(kind, "agreed")
    assert sum(o["outcome"] == wanted for o in outcomes) > done / 10


# What is put out of order in the engine, the kind of case, and a word of its tally: a bad one, as the fuzzer can fail.
FORKED = {
    "accepted programs stay within their memory": ("", "contained", "ran"),
    "accepted statements have the shapes of the other table": ("", "verified", "accepted"),
    "each array seems to have another 4 KiB": ("""
from vgpu.storage import memory
exact = memory.tables
memory.tables = lambda: tuple(words + memory.np.uint64(4096 * end) for words, end in zip(exact(), (0, 1, 1)))""",
        "contained", "escaped",
    ),
    "nothing is verified": ("""
from vgpu.ptx import verify
verify.verify = lambda module, function: None""",
        "verified", "misshapen",
    ),
    "blocks seem to have twice the shared memory": ("""
from vgpu.launch import worker
areas = worker.block_areas
worker.block_areas = lambda run: {**areas(run), "shared": areas(run)["shared"] // 2}""",
        "contained", "escaped",
    ),
}  # fmt: skip


@pytest.mark.parametrize("hole", [*list(FORKED)[:-1], pytest.param(list(FORKED)[-1], marks=pytest.mark.exhaustive)])
def test_what_is_accepted_is_contained(hole):
    """A process of its own, whose compiled code is checked access by access."""
    plant, kind, word = FORKED[hole]
    cases = {"contained": 20, "verified": 2000}[kind]
    code = f"{plant}\nfrom vgpu.tests.fuzz.__main__ import main\nmain()"
    command = [sys.executable, "-c", code, "--kind", kind, "--cases", str(cases), "--seed", "70000", "--cold"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    text = done.stdout + done.stderr[-2000:]
    tally = ast.literal_eval(text[text.index(f"{kind}: {{") :].partition(" ")[2].partition("}")[0] + "}")
    assert sum(tally.values()) == cases and tally[word] > 0, text
    assert done.returncode == (word in BAD) and bool(set(BAD) & tally.keys()) == (word in BAD), text


def test_a_child_that_dies_is_seen():
    outcomes, done = batch("no such kind", 7, 3, patience=30)
    assert [o["outcome"] for o in outcomes] == ["died"] and "KeyError" in outcomes[0]["detail"] and done == 1


def test_faults_of_ours_are_told_from_refusals():
    def wrong():
        return {}["x"]

    assert outcome(wrong)["outcome"] == "internal"
    assert outcome(lambda: ptx.parse("entry"))["outcome"] == "refused"


def test_damaged_texts_differ_from_what_the_compiler_wrote():
    texts = [mutate.mutated(seed) for seed in range(50)]
    assert len(set(texts) - set(mutate.corpus())) > 40


def test_a_run_is_recorded_by_outcome(tmp_path):
    path = tmp_path / "runs.jsonl"
    record.add("mutated", 500, {"ran": 1200, "hung": 1, "refused": 30}, 2.04, path)
    row = record.table(path.read_text(encoding="utf-8")).splitlines()[-1]
    assert "| mutated | 500 to 1,730 | 2 | 1,231 | 1,200 ran, 30 refused | 1 hung | Python 3." in row


def test_the_table_of_runs_is_what_the_runs_say():
    assert record.TABLE.read_text(encoding="utf-8") == record.table(record.RUNS.read_text(encoding="utf-8"))


def test_registers_are_as_wide_as_their_instructions():
    widths = {name: bits for bits, bank in programs.BANKS.items() for name in bank}
    seen = set()
    for seed in range(60):
        for line in programs.source(seed).splitlines():
            words = [word for word in line.replace(",", " ").replace(";", " ").split() if not word.startswith("@")]
            kind = words[0].rpartition(".")[2] if words else ""
            if kind in isa.PACKED:
                seen.add(kind)
                assert {widths[w] for w in words if w in widths} <= {2 * isa.TYPES[isa.PACKED[kind]].bits}, line
    assert {"f16x2", "f32x2"} <= seen
