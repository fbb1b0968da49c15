"""A program written for a real GPU's modules, run on the virtual one."""

from collections.abc import Callable
from dataclasses import dataclass

import cupy
import numpy as np
import pytest
import torch
from numba import cuda

from vgpu import streams
from vgpu.standins import backend, translated
from vgpu.standins import cupy as virtual_cupy
from vgpu.standins import numba_cuda as virtual_cuda
from vgpu.tests.fake_gpu import FakeGPU

ADD = cupy.RawKernel(
    'extern "C" __global__ void add(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }', "add"
)


@cuda.jit
def double(x):
    i = cuda.grid(1)
    x[i] = 2 * x[i]


def helper(x, stream):
    ADD((1,), (32,), (x,), stream=stream)
    return x


def program(n):
    stream, other = cupy.cuda.Stream(), cuda.stream()
    x = helper(cupy.ones(n, cupy.float32), stream)
    double[1, n, other](x)
    return x


PLACE = torch.device("cuda")


class AddOne(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        more = x.detach().clone()
        helper(cupy.from_dlpack(more), None)
        return more

    @staticmethod
    def backward(ctx, slope):
        return AddOne.apply(slope)


class Base:
    def __init__(self):
        self.module = cupy


class Derived(Base):
    def __init__(self):
        super().__init__()
        self.tensor = torch.zeros(32, device=PLACE, requires_grad=True)

    @property
    def where(self):
        return self.module


@dataclass(frozen=True)
class Plan:
    work: Callable


def add_one(x):
    return AddOne.apply(x)


def users(plan):
    state = Derived()
    assert isinstance(state, Base) and isinstance(plan, Plan)
    plan.work(state.tensor).backward(torch.ones(32))
    return state


def countdown(n):
    return [n, *(countdown(n - 1) if n else [])]


def test_names_mean_the_virtual_gpu_in_the_program_and_in_what_it_calls():
    got = translated.to_virtual(program)(32)
    assert isinstance(got, virtual_cupy.ndarray) and (got.get() == 4).all()
    assert program.__globals__["cupy"] is cupy


def test_a_closure_is_transplanted_and_a_function_may_call_itself():
    module = cupy

    def inner():
        return module

    assert translated.to_virtual(inner)() is virtual_cupy
    assert translated.to_virtual(countdown)(3) == [3, 2, 1, 0]


def test_own_classes_are_copied_with_their_methods_and_objects_and_a_gpu_of_pytorch_becomes_the_cpu():
    virtual, plan = translated.to_virtual((users, Plan(add_one)))
    state = virtual(plan)
    assert state.where is virtual_cupy and type(state) is not Derived
    assert (state.tensor.grad == 2).all()
    assert Base().module is cupy


class OnTheGPU(torch.Tensor):
    """A tensor that says it is on a GPU, which no test has."""

    device = PLACE

    def detach(self):
        return self

    def cpu(self):
        return self.as_subclass(torch.Tensor) + 1


def test_a_tensor_on_a_gpu_becomes_one_of_the_cpu():
    found = translated.to_virtual([torch.zeros(2).as_subclass(OnTheGPU), torch.zeros(2)])
    assert [type(each) for each in found] == [torch.Tensor] * 2 and [each.sum() for each in found] == [2, 0]


def test_lists_and_modules_are_replaced_and_other_things_stay():
    kept = object()
    found = translated.to_virtual({"a": [cuda, cupy.cuda, kept, np], "n": 3})
    assert found == {"a": [virtual_cuda, virtual_cupy.cuda, kept, np], "n": 3}


def test_arrays_are_copied_and_the_real_ones_left_alone(monkeypatch):
    gpu = FakeGPU().install(monkeypatch)
    real = gpu.array(np.arange(32, dtype=np.float32))

    def change():
        helper(real, None)
        return real

    got = translated.to_virtual(change)()
    assert (got.get() == np.arange(32) + 1).all() and gpu.copies("out") == []


@pytest.mark.parametrize("real", [False, True])
def test_a_dry_run_is_had_with_and_without_a_gpu(monkeypatch, real):
    monkeypatch.setattr(backend, "on_gpu", lambda: real)
    timeline = streams.dry_run(program if real else translated.to_virtual(program), 32)
    (hazard,) = timeline.hazards()
    assert hazard.kind == "write after write" and "double (1 block) in stream 2" in str(hazard)
