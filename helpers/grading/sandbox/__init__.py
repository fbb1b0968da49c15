"""Where code that nobody has looked at runs: a sandbox, kernels and jobs in it, and their clients outside.

    with open_sandbox() as sandbox, sandbox.kernel() as kernel:
        run = kernel.execute("1 + 1", timeout=10)

`tiers` has the kinds of sandbox, and says what each protects from; `view` what files are seen there; `zygote` starts
jobs, `inside` takes from each all that it must not have, `jobs` is the table of them; `box`, `live` and `kernel` are
the grader's side, `wire` is what the two sides speak.
"""

from __future__ import annotations

from helpers.grading.sandbox.box import Sandbox, open_sandbox
from helpers.grading.sandbox.faults import InfrastructureFault, JobFault, SandboxUnavailable
from helpers.grading.sandbox.kernel import Run, SandboxedKernel
from helpers.grading.sandbox.limits import Limits
from helpers.grading.sandbox.tiers import TIERS, Tier, best

__all__ = [
    "TIERS",
    "InfrastructureFault",
    "JobFault",
    "Limits",
    "Run",
    "Sandbox",
    "SandboxUnavailable",
    "SandboxedKernel",
    "Tier",
    "best",
    "open_sandbox",
]
