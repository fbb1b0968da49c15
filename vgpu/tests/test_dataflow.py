"""Following elements through a kernel: who combines what when, by every route that a value can take."""

import numpy as np
import pytest

from vgpu import cp, cuda, dataflow

TREE = r"""
extern "C" __global__ void tree(const T* x, T* out, int n) {
    __shared__ T s[256];
    int t = threadIdx.x;
    s[t] = t < n ? x[t] : 0;
    for (int d = 1; d < blockDim.x; d *= 2) {
        __syncthreads();
        int k = 2 * d * t;
        if (k < blockDim.x) s[k] += s[k + d];
    }
    if (t == 0) out[0] = s[0];
}
"""
OTHERS = r"""
extern "C" __global__ void serial(const float* x, float* out, int n) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i];
    if (threadIdx.x == 0) out[0] = sum;
}
extern "C" __global__ void chain(const int* x, int* out, int n) {
    atomicAdd(out, x[threadIdx.x]);
}
extern "C" __global__ void redux(const int* x, int* out, int n) {
    int sum = __reduce_add_sync(0xffffffff, x[threadIdx.x]);
    if (threadIdx.x == 0) out[0] = sum;
}
extern "C" __global__ void quads(const float* x, float* out, int n) {
    float4 v = reinterpret_cast<const float4*>(x)[threadIdx.x];
    out[threadIdx.x] = (v.x + v.y) + (v.z + v.w);
}
extern "C" __global__ void doubles(const double* x, double* out, int n) {
    double sum = x[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    out[threadIdx.x] = sum;
}
extern "C" __global__ void upwards(const float* x, float* out, int n) {
    float sum = x[threadIdx.x];
    for (int d = 1; d < 32; d *= 2) {
        float left = __shfl_up_sync(0xffffffff, sum, d);
        if (threadIdx.x >= d) sum += left;
    }
    out[threadIdx.x] = sum;
}
extern "C" __global__ void copy(const float* x, float* out, int n) { out[threadIdx.x] = x[threadIdx.x]; }
"""


@cuda.jit
def greatest(x, out, n):
    best = x[cuda.threadIdx.x]
    for d in (16, 8, 4, 2, 1):
        best = max(best, cuda.shfl_down_sync(0xFFFFFFFF, best, d))
    if cuda.threadIdx.x == 0:
        out[0] = best


def arrays(n, dtype):
    return cp.asarray(np.arange(n) * 5 % 9 + 1, dtype), cp.zeros(n, dtype), np.int32(n)


def other(name):
    return cp.RawKernel(OTHERS, name)


@pytest.mark.parametrize("dtype", ["float32", "int32", "float64"])
def test_a_tree_is_followed_through_shared_memory(dtype):
    kernel = cp.RawKernel(TREE.replace("T*", "TYPE*").replace(" T ", " TYPE ").replace(
        "TYPE", {"float32": "float", "int32": "int", "float64": "double"}[dtype]), "tree")  # fmt: skip
    args = arrays(64, dtype)
    flow = dataflow(kernel, 1, 64, args)
    x = args[0].get()
    assert [len(each.made) for each in flow.rounds] == [32, 16, 8, 4, 2, 1]
    assert flow.operations == 63
    assert [each.warps for each in flow.rounds] == [1, 1, 1, 1, 1, 1]
    assert [len(each.idle) for each in flow.rounds] == [0, 16, 24, 28, 30, 31]
    for distance, each in enumerate(flow.rounds):
        width = 2 << distance
        sums = {t: x[width * t : width * (t + 1)].sum() for t in each.made}
        assert {t: value.value for t, value in each.made.items()} == sums
    assert all(value.used for value in flow.results)
    assert args[1].get().sum() == 0, "the arrays are put back"


def test_bank_conflicts_are_told_step_by_step():
    kernel = cp.RawKernel(TREE.replace("T*", "float*").replace(" T ", " float "), "tree")
    flow = dataflow(kernel, 1, 256, arrays(256, "float32"))
    assert [each.wavefronts for each in flow.rounds] == [2, 4, 8, 8, 8, 4, 2, 1]


def test_a_tail_of_zeros_counts_as_added():
    kernel = cp.RawKernel(TREE.replace("T*", "float*").replace(" T ", " float "), "tree")
    x, out, _ = arrays(64, "float32")
    flow = dataflow(kernel, 1, 64, (x, out, np.int32(40)))
    assert len(flow.elements) == 40 and flow.operations == 63
    assert flow.rounds[-1].made[0].value == x.get()[:40].sum()


def test_a_loop_of_one_thread_has_as_many_steps_as_additions():
    flow = dataflow(other("serial"), 1, 1, arrays(9, "float32"))
    assert (flow.operations, len(flow.rounds)) == (8, 8)  # the first element is added to a constant


def test_atomics_are_a_chain_across_warps():
    args = arrays(64, "int32")
    flow = dataflow(other("chain"), 1, 64, args)
    x = args[0].get()
    assert len(flow.rounds) == 64 and flow.operations == 0
    assert [next(iter(each.made.values())).value for each in flow.rounds] == np.cumsum(x).tolist()
    assert all(each.atomic for each in flow.rounds)


def test_one_instruction_may_add_a_whole_warp():
    args = arrays(32, "int32")
    flow = dataflow(other("redux"), 1, 32, args)
    (only,) = flow.rounds
    assert flow.operations == 31 and only.made[0].value == args[0].get().sum()


def test_wide_loads_bring_an_element_each():
    x = cp.asarray(np.arange(128), "float32")
    flow = dataflow(other("quads"), 1, 32, (x, cp.zeros(32, "float32"), np.int32(128)))
    assert len(flow.elements) == 128 and flow.operations == 96
    assert flow.rounds[-1].made[2].value == 8 + 9 + 10 + 11


def test_doubles_are_shuffled_in_halves():
    args = arrays(32, "float64")
    flow = dataflow(other("doubles"), 1, 32, args)
    assert flow.operations == 5 * 32 and all(value.used for value in flow.results)
    assert {value.value for value in flow.rounds[-1].made.values()} == {args[0].get().sum()}


def test_what_is_selected_away_is_not_used():
    flow = dataflow(other("upwards"), 1, 32, arrays(32, "float32"))
    assert [sum(value.used for value in each.made.values()) for each in flow.rounds] == [31, 30, 28, 24, 16]


def test_maxima_of_numba_have_a_tree_too():
    args = arrays(32, "float32")
    flow = dataflow(greatest, 1, 32, args)
    assert [sum(value.used for value in each.made.values()) for each in flow.rounds] == [16, 8, 4, 2, 1]
    assert flow.rounds[-1].made[0].value == args[0].get().max()


def test_a_kernel_that_combines_nothing_is_told_so():
    with pytest.raises(LookupError, match="copy never combines two values"):
        dataflow(other("copy"), 1, 32, arrays(32, "float32"))
