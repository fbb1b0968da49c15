"""The tree of questions to a kernel: one exit a question, and of a diagnosis what the counters say and what gains."""

import numpy as np
import pytest

from helpers import cp, diagnose, plots, profile
from helpers.results.diagnose import SYMPTOMS

N = 2**17
CODE = r"""
extern "C" __global__ void strided(const float* x, float* out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, i = t % (131072 / 8) * 8 + t / (131072 / 8);
    float y = x[i];
    for (int k = 0; k < ROUNDS; ++k) y = y * (1.5f - y * y);
    out[i] = y;
}
"""


def found(rounds: int, blocks: int = N // 256):
    kernel = cp.RawKernel(CODE, "strided", (f"-DROUNDS={rounds}",))
    return diagnose(
        profile(kernel, blocks, 256, (cp.ones(N, np.float32), cp.zeros(N, np.float32)), device="A100"), "it"
    )


def test_without_a_diagnosis_every_question_leads_on_and_to_a_cure():
    drawn = plots.questions()
    for symptom in SYMPTOMS:
        assert f">{symptom.question}<" in drawn.svg and f">{symptom.name} ({symptom.chapter})<" in drawn.svg
    assert drawn.svg.count(">no<") == drawn.svg.count(">yes<") == len(SYMPTOMS) + 1


@pytest.mark.parametrize(("rounds", "blocks", "words", "finding"), [
    (1, N // 256, "asked for: ", "no to uncoalesced access; uncoalesced access"),
    (900, N // 256, "gains next to nothing", "no to uncoalesced access; compute-bound, no symptom worth mending"),
    (900, 8, "asked for: gains next to nothing", "no to launch too small and uncoalesced access; launch too small"),
], ids=["worth mending", "not worth it", "two symptoms"])  # fmt: skip
def test_a_diagnosis_stands_beside_its_questions(rounds, blocks, words, finding):
    diagnosis = found(rounds, blocks)
    drawn = plots.questions(diagnosis)
    assert words in drawn.svg and drawn.finding.startswith(f"it: {finding}")
    assert drawn.svg.count(">no<") == 1 + sum(answer.present for answer in diagnosis.answers)
