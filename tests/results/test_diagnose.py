"""A diagnosis: each symptom is found by its counters, weighed by the model, and let be where it does not matter."""

import numpy as np
import pytest

from helpers import cp, cuda, diagnose, profile
from helpers.results.diagnose import LEAST_GAIN, SYMPTOMS, fixed_model

CODE = r"""
extern "C" __global__ void chunks(const float* x, float* out, int n) {
    int first = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = first; i < first + 8; ++i) out[i] = x[i] / 2;
}
extern "C" __global__ void strided(const float* x, float* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = x[i] / 2;
}
extern "C" __global__ void roots(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float r = x[i];
    if (i % 4 == 0) for (int k = 0; k < 60; ++k) r = 0.5f * (r + x[i] / r);
    out[i] = r;
}
extern "C" __global__ void rows(const float* x, float* out, int n) {
    __shared__ float tile[128 * WIDTH];
    int t = threadIdx.x;
    for (int k = t; k < 128 * 32; k += 128) tile[k / 32 * WIDTH + k % 32] = x[blockIdx.x * 128 * 32 + k];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 32; ++k) sum += tile[t * WIDTH + k];
    out[blockIdx.x * 128 + t] = sum;
}
extern "C" __global__ void table(const float* x, float* out, int n) {
    float mine[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 64; ++k) mine[k] = x[i] * k;
    float sum = 0;
    for (int k = 0; k < 64; ++k) sum += mine[(k * n + i) & 63];
    out[i] = sum;
}
"""
N = 2**19


@cuda.jit
def numba_chunks(x, out, n):
    first = 8 * cuda.grid(1)
    for i in range(first, first + 8):
        out[i] = x[i] / np.float32(2)


def counted(name, blocks, block=256, width=32, n=N, gpu="A100"):
    kernel = name if callable(name) else cp.RawKernel(CODE, name, (f"-DWIDTH={width}",))
    x, out = cp.full(N, 2, np.float32), cp.zeros(N, np.float32)
    return profile(kernel, blocks, block, (x, out, np.int32(n)), device=gpu)


@pytest.mark.parametrize(("kernel", "blocks", "block", "name"), [
    ("chunks", N // 8 // 256, 256, "uncoalesced access"),
    (numba_chunks, N // 8 // 256, 256, "uncoalesced access"),
    ("strided", 1, 256, "launch too small"),
    ("roots", N // 256, 256, "divergence"),
    ("rows", N // 32 // 128, 128, "bank conflicts"),
    ("table", N // 256, 256, "local memory"),
], ids=["CUDA C: chunks", "Numba: chunks", "one block", "roots", "rows", "table"])  # fmt: skip
def test_what_ails_a_kernel_most_is_named(kernel, blocks, block, name):
    found = diagnose(counted(kernel, blocks, block))
    assert found.name == name, repr(found)
    assert found.worst.gain == max(a.gain for a in found.answers if a.present)
    assert found.remedy == next(symptom.remedy for symptom in SYMPTOMS if symptom.name == name)


@pytest.mark.parametrize("width", [33, 35])
def test_a_mended_kernel_has_the_symptom_no_more(width):
    sick, well = (diagnose(counted("rows", N // 32 // 128, 128, wide)) for wide in (32, width))
    assert sick["bank conflicts"].present and not well["bank conflicts"].present
    assert well.name != "bank conflicts"


def test_the_gain_is_the_model_of_the_mended_counters():
    sick = counted("rows", N // 32 // 128, 128)
    answer = diagnose(sick)["bank conflicts"]
    model = fixed_model(sick, {"total": {"shared_load_wavefronts": sick["shared_load_requests"]}})
    assert answer.gain == pytest.approx(sick.model.seconds / model.seconds)
    assert model.terms["DRAM"] == sick.model.terms["DRAM"]


def test_a_symptom_that_gains_nothing_is_let_be():
    found = diagnose(counted("roots", N // 256, 256, gpu="T4"))  # DRAM takes longer than the idle lanes
    assert found["divergence"].present and found["divergence"].gain < LEAST_GAIN
    assert found.worst is None and found.name == "memory-bound"
    assert "gains next to nothing" in repr(found) and "no symptom worth fixing" in found.verdict


def test_the_verdict_depends_on_the_gpu():
    seen = counted("roots", N // 256, 256)
    assert {gpu: diagnose(seen.on(gpu)).name for gpu in ("A100", "T4")} == {"A100": "divergence", "T4": "memory-bound"}


def test_it_reads_as_text_and_as_a_table_with_the_line_to_look_at():
    found = diagnose(counted("chunks", N // 8 // 256))
    assert "line 4: for (int i = first; i < first + 8; ++i) out[i] = x[i] / 2;" in repr(found)
    page = found._repr_html_()
    assert page.count("<tr>") == 1 + len(SYMPTOMS) and "i &lt; first + 8" in page
    assert "12% of the sectors&#x27; bytes are requested" in page


def test_every_question_has_one_polarity():
    found = diagnose(counted("strided", 1), "one block")
    answers = {question: reading.split(":")[0] for question, reading, _ in found._rows()}
    assert answers == {symptom.question: "no" if found[symptom.name].present else "yes" for symptom in SYMPTOMS}
    assert list(answers.values()).count("no") == 1 and repr(found).startswith("one block: launch too small")


def test_a_symptom_is_asked_for_by_name():
    found = diagnose(counted("strided", 64))
    with pytest.raises(KeyError, match="divergence"):
        found["conflicts"]


def test_what_is_no_profile_is_told_so():
    with pytest.raises(TypeError, match="diagnose takes what profile"):
        diagnose(numba_chunks)


def test_a_kernel_without_memory_or_branches_has_no_symptom_of_them():
    @cuda.jit
    def nothing(x):
        pass

    found = diagnose(profile(nothing, 4096, 256, (cp.zeros(1, np.float32),), device="A100"))
    assert not any(answer.present for answer in found.answers)
    assert found.name == "launch-bound"
