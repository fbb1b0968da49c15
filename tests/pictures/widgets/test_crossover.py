"""The explorer of the size from which on a GPU pays, for kernels of both languages."""

import numpy as np
import pytest

from helpers import cp, cuda, device, gpus, widgets
from helpers.workbook.run import unnamed_pictures

STEPS = r"""
extern "C" __global__ void steps_of(float* values, int n, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = values[i];
    for (int k = 0; k < steps; ++k) value = 0.999f * value + 0.5f;
    values[i] = value;
}
"""


@cuda.jit
def numba_steps(values, n, steps):
    i = cuda.grid(1)
    if i < n:
        value = values[i]
        for _ in range(steps):
            value = np.float32(0.999) * value + np.float32(0.5)
        values[i] = value


KERNELS = {"cuda": lambda: cp.RawKernel(STEPS, "steps_of"), "numba": lambda: numba_steps}


@pytest.fixture(autouse=True)
def a100():
    device("A100")
    yield
    device.reset()


def explorer(language="cuda", **options):
    values = cp.ones(1 << 13, "float32")
    arguments = lambda n, steps: (values, np.int32(n), np.int32(steps))
    return widgets.crossover(KERNELS[language](), arguments, steps=(1, 64, 4096), **options)


def choose(shown, **values) -> str:
    for name, value in values.items():
        shown.controls[name].value = value
    return shown.shown.alt


@pytest.mark.parametrize("language", KERNELS)
def test_copies_take_away_what_one_step_gains_and_work_brings_it_back(language):
    shown = explorer(language)
    first = choose(shown)
    assert first.startswith("2^20 elements: EPYC 7742 49.3 µs, A100 9.96 µs: the GPU is 5 times as fast")
    assert "the GPU wins from 120,000 elements on (modelled)" in first
    copied = choose(shown, copies="pinned")
    assert "the CPU is 7 times as fast; no size up to 2^28 lets the GPU win (modelled)" in copied
    assert "no size" in choose(shown, copies="pageable")
    assert "the GPU wins from" in choose(shown, copies="pinned", steps=4096)
    assert "the GPU wins from" in choose(shown, steps=1, launches=64)


def test_a_smaller_size_and_another_gpu_are_drawn():
    shown = explorer()
    small = choose(shown, elements=1 << 10)
    assert small.startswith("2^10 elements: EPYC 7742 48.2 ns, A100 ") and "the CPU is" in small
    assert "RTX 4090 " in choose(shown, gpu="RTX 4090")
    assert unnamed_pictures(shown.view.value) == []


@pytest.mark.parametrize("gpu", gpus.GPUS)
def test_every_gpu_of_the_table_can_be_chosen(gpu):
    assert gpu in choose(explorer(), gpu=gpu, copies="pinned")


def test_the_axes_stand_still():
    shown = explorer()
    limits = {
        shown.draw(elements=1 << 20, copies=copies, launches=1, gpu="A100", steps=steps).figure.axes[0].get_ylim()
        for copies in ("not counted", "pageable")
        for steps in (1, 4096)
    }
    assert len(limits) == 1


def test_a_cpu_may_be_measured():
    alt = explorer(cpu=1e-9).shown.alt
    assert alt.startswith("2^20 elements: your CPU 1.05 ms, A100 9.96 µs: the GPU is 105 times as fast")
    assert alt.endswith("(CPU measured, GPU modelled).")
    by_work = explorer(cpu=lambda steps: 1e-9 * steps)
    assert "your CPU 67.1 ms" in choose(by_work, steps=64)


def test_a_kernel_that_fails_says_why_in_words():
    values = cp.ones(16, "float32")
    broken = widgets.crossover(KERNELS["cuda"](), lambda n: (values, np.int32(n), np.int32(1)))
    assert "out of bounds" in broken.shown
    assert 'role="alert"' in broken.view.value


def test_an_unknown_cpu_is_answered_with_the_table():
    with pytest.raises(KeyError, match="EPYC 7742"):
        explorer(cpu="Cray-1")
