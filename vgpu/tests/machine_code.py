"""How the machine code's accesses to memory differ from those counted in PTX, over the kernels that tests launch.

`python -m pytest tests/labs tests/exercises -k solution -p vgpu.tests.machine_code` writes
`vgpu/tools/SASS.md`, with the benchmark's kernels added to those that the tests launched. A kernel is looked at
once, on four architectures.
"""

from __future__ import annotations

from collections import Counter as Tally
from pathlib import Path

from vgpu.base.errors import CompileError
from vgpu.compile.machine_code import versions
from vgpu.launch import launch
from vgpu.tools.assembled import AS_COUNTED, MERGED, accesses

TARGET = Path(__file__).resolve().parents[1] / "tools" / "SASS.md"
ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_120")
VERDICTS = ("same", "copied", "merged", "fewer", "gone", "added", "loop", "joined")
HEAD = """# What the assembler does to the accesses that are counted

The virtual GPU counts accesses to memory in PTX; a GPU executes what NVIDIA's assembler makes of it. Here both are
compared for the {kernels} kernels of the exercises' and labs' solutions and of the benchmark, line by line, on
{architectures}. Each number is of lines that access that memory, on one of the architectures.
({versions}. What NVRTC makes for CuPy is the same, instruction by instruction: `vgpu/tests/test_machine_code.py`.)

*same*: as many instructions of the same width. *copied*: more of the same, as in an unrolled loop, which changes no
count. *merged*: wider ones, such as one `LDS.128` for four loads. *fewer*, *gone*: some or all are left out (a
constant becomes an operand, an array moves to registers). *added*: the assembler's own, such as spilled registers.
*loop*: an atomic that the memory does not have becomes a loop of compare-and-swap. *joined*: an atomic that adds 1
counts the lanes that want one word (`POPC`), which then do not queue for it. Where a line is neither same nor
copied, a profile says so below its table. Written by `python -m pytest tests/labs tests/exercises -k solution -p
vgpu.tests.machine_code`.

"""


class Survey:
    """The kernels that were launched, each once."""

    def __init__(self):
        self.kernels: dict[tuple[str, str], launch.Kernel] = {}
        self.listening = launch.FINISHED.hearing(lambda run: self.heard(run.kernel))

    def heard(self, kernel: launch.Kernel) -> None:
        self.kernels.setdefault((kernel.ptx, kernel.entry), kernel)

    def pytest_sessionfinish(self, session, exitstatus) -> None:
        self.listening.__exit__(None, None, None)
        if exitstatus == 0:
            self.benchmarks()
            TARGET.write_text(self.table(), encoding="utf-8")

    def benchmarks(self) -> None:
        from vgpu.bench.__main__ import PreparedWorkload
        from vgpu.bench.kernels import WORKLOADS

        for workload in WORKLOADS.values():
            self.heard(PreparedWorkload(workload, workload.simulated).prepared.kernel)

    def table(self) -> str:
        tally: Tally = Tally()
        told: Tally = Tally()
        refused: Tally = Tally()
        for kernel in self.kernels.values():
            for arch in ARCHITECTURES:
                try:
                    rows = accesses(kernel, arch)
                except CompileError:
                    refused[arch] += 1
                    continue
                tally.update((f"{row.space} {row.op}", row.verdict) for row in rows)
                told.update(row.factor is not None for row in rows if row.verdict == MERGED)
        lines = [f"| memory | {' | '.join(VERDICTS)} |", f"|---|{'---:|' * len(VERDICTS)}"]
        for what in sorted({what for what, _ in tally}):
            lines.append(f"| {what} | {' | '.join(str(tally[what, verdict] or '–') for verdict in VERDICTS)} |")
        agree = sum(number for (_, verdict), number in tally.items() if verdict in AS_COUNTED)
        foot = [
            f"\nOf {tally.total():,} lines, {agree:,} count as the GPU does. Of {told.total()} merged ones, the code "
            f"tells for {told[True]} how many requests are left; the others are in loops that were unrolled as well."
        ]
        if refused:
            listed = ", ".join(f"{number} for {arch}" for arch, number in sorted(refused.items()))
            foot.append(f"Not every architecture can run each kernel; left out are {listed}.")
        head = HEAD.format(kernels=len(self.kernels), architectures=", ".join(ARCHITECTURES), versions=versions())
        return head + "\n".join([*lines, *foot]) + "\n"


def pytest_configure(config) -> None:
    survey = Survey()
    survey.listening.__enter__()
    config.pluginmanager.register(survey)
