"""The explorers of accesses: what they say is what is counted, for kernels of both languages."""

import numpy as np
import pytest

from helpers import Launch, cp, cuda, profile, widgets
from tests.pictures.widgets.choose import choose

PICK = r"""
extern "C" __global__ void pick(float* out, int stride) {
    __shared__ float tile[1024];
    for (int i = threadIdx.x; i < 1024; i += 32) tile[i] = i;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x * stride % 1024];
}
"""
TURN = r"""
extern "C" __global__ void turn(const float* in, float* out) {
    __shared__ float tile[32][WIDTH];
    tile[threadIdx.y][threadIdx.x] = in[32 * threadIdx.y + threadIdx.x];
    __syncthreads();
    out[32 * threadIdx.y + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""
WIDE = r"""
extern "C" __global__ void wide(float* out, int stride) {
    __shared__ KIND tile[256];
    for (int i = threadIdx.x; i < 256; i += 32) tile[i] = KIND();
    __syncthreads();
    ((KIND*)out)[threadIdx.x] = tile[threadIdx.x * stride % 256];
}
"""


@cuda.jit
def numba_pick(out, stride):
    tile = cuda.shared.array(1024, np.float32)
    lane = cuda.threadIdx.x
    for i in range(lane, 1024, 32):
        tile[i] = i
    cuda.syncthreads()
    out[lane] = tile[lane * stride % 1024]


KERNELS = {"cuda": lambda: cp.RawKernel(PICK, "pick"), "numba": lambda: numba_pick}


def count(explorer) -> int:
    return int(explorer.shown.alt.split(": ")[-1].split()[0])


@pytest.mark.parametrize("language", KERNELS)
def test_strides_take_the_wavefronts_that_are_counted(language):
    kernel, out = KERNELS[language](), cp.zeros(1024, np.float32)
    explorer = widgets.banks(kernel, stride=(0, 33))
    seen = {}
    for stride in (0, 1, 2, 3, 4, 8, 16, 31, 32, 33):
        explorer.controls["stride"].value = stride
        seen[stride] = count(explorer)
        assert seen[stride] == profile(kernel, 1, 32, (out, np.int32(stride)))["shared_load_wavefronts"]
    assert seen == {0: 1, 1: 1, 2: 2, 3: 1, 4: 4, 8: 8, 16: 16, 31: 1, 32: 32, 33: 1}


def test_it_says_what_is_broadcast_and_what_conflicts():
    explorer = widgets.banks(KERNELS["cuda"](), stride=(0, 4))
    assert explorer.shown.alt == (
        "stride 0: 1 wavefront for 1 shared load request with no bank conflict; 1 word broadcast to several lanes."
    )
    explorer.controls["stride"].value = 4
    at_the_left = [
        text.get_text() for text in explorer.draw(stride=4).figure.axes[0].texts if text.get_position()[0] < 0
    ]
    assert at_the_left == ["1", "2", "3", "4"]
    assert explorer.shown.alt == "stride 4: 4 wavefronts for 1 shared load request with 3 bank conflicts."


def test_versions_and_requests_are_chosen_by_controls():
    versions = {
        name: cp.RawKernel(f"#define WIDTH {w}\n{TURN}", "turn") for name, w in {"tile": 32, "padded": 33}.items()
    }
    arguments = (cp.zeros((32, 32), np.float32), cp.zeros((32, 32), np.float32))
    explorer = widgets.banks(versions, arguments, block=(32, 32), op=("store", "load"))
    said = {}
    for version in versions:
        for op in ("store", "load"):
            explorer.controls["version"].value, explorer.controls["request"].value = version, op
            said[version, op] = count(explorer)
    assert said == {("tile", "store"): 1, ("tile", "load"): 32, ("padded", "store"): 1, ("padded", "load"): 1}
    assert explorer.shown.alt.startswith("padded: 1 wavefront for 1 shared load")


@pytest.mark.parametrize(("kind", "stride", "words"), [
    ("double", 1, "2 wavefronts for 1 shared load request, 8 bytes a lane, with no bank conflict."),
    ("double", 2, "4 wavefronts for 1 shared load request, 8 bytes a lane, with 2 bank conflicts."),
    ("float4", 1, "4 wavefronts for 1 shared load request, 16 bytes a lane, with no bank conflict."),
])  # fmt: skip
def test_wide_accesses_need_several_wavefronts_without_a_conflict(kind, stride, words):
    explorer = widgets.banks(cp.RawKernel(f"#define KIND {kind}\n{WIDE}", "wide"), stride=(stride, stride))
    assert explorer.shown.alt == f"stride {stride}: {words}"


def test_the_worst_request_still_fits_a_page():
    shown = widgets.banks(numba_pick, stride=(32, 32)).shown
    assert shown.alt == "stride 32: 32 wavefronts for 1 shared load request with 31 bank conflicts."
    assert shown.image.count("<svg") == 1


def test_a_kernel_without_such_a_request_is_told_so():
    explorer = widgets.banks(KERNELS["cuda"](), stride=(1, 2), line=99)
    assert explorer.shown.startswith("the warp makes no shared load on line 99; it makes ")
    assert "shared load on line " in explorer.shown.split(";")[1]
    assert 'role="alert"' in explorer.view.value


N = 32
COPY = r"""
extern "C" __global__ void again(const float* x, float* out, int times) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < times; ++k) sum += ((const volatile float*)x)[i];
    out[i] = sum;
}
"""


@cuda.jit
def numba_strided(x, out, times):
    i = cuda.grid(1)
    out[i] = x[i * times]


def launch_cuda(times):
    x, out = cp.zeros(N, np.float32), cp.zeros(N, np.float32)
    return Launch(cp.RawKernel(COPY, "again"), 1, N, (x, out, np.int32(times)))


def launch_numba(times):
    return Launch(numba_strided, 1, N, (cp.zeros(8 * N, np.float32), cp.zeros(N, np.float32), times))


@pytest.mark.parametrize(
    ("launch", "words"),
    [
        (launch_cuda, "times 4: sectors bring 0.5 KiB for 0.5 KiB requested, 4 times the 0.125 KiB"),
        (launch_numba, "times 4: sectors bring 0.5 KiB for 0.125 KiB requested, 1 times the 0.5 KiB"),
    ],
    ids=["cuda", "numba"],
)
def test_it_tells_asked_brought_and_distinct_bytes_apart(launch, words):
    explorer = widgets.traffic(launch, times=(1, 2, 4))
    assert explorer.shown.alt.startswith("times 1: sectors bring 0.125 KiB for 0.125 KiB requested, 1 times")
    assert choose(explorer, times=4) == f"{words} that even a perfect cache must fetch."


def test_the_axis_holds_still_for_all_choices():
    explorer = widgets.traffic(launch_cuda, times=(1, 4))
    first = explorer.draw(times=1).figure.axes[0].get_xlim()
    assert explorer.draw(times=4).figure.axes[0].get_xlim() == first
    assert first[1] > 0.5


TWICE = r"""
extern "C" __global__ void twice(const float* x, float* out, int n) {
    float sum = 0;
    for (int r = 0; r < 2; ++r)
        for (int i = threadIdx.x; i < n; i += 32) sum += ((const volatile float*)x)[i];
    out[threadIdx.x] = sum;
}
"""


@cuda.jit
def numba_twice(x, out, n):
    total = np.float32(0)
    for _ in range(2):
        for i in range(cuda.threadIdx.x, n, 32):
            total += x[i]
    out[cuda.threadIdx.x] = total


def arguments(kib):
    return cp.ones(256 * kib, np.float32), cp.zeros(32, np.float32), np.int32(256 * kib)


@pytest.mark.parametrize("kernel", [cp.RawKernel(TWICE, "twice"), numba_twice], ids=["cuda", "numba"])
def test_a_round_is_found_if_the_array_fits(kernel):
    explorer = widgets.working_set({"twice": kernel}, arguments, array=(1, 2), cache=(1, 2), start=(2, 1))
    assert explorer.shown.alt == "A cache of 1 KiB (modelled): twice, 2 KiB: 0 of 128 sectors are found."
    assert choose(explorer, cache=2) == "A cache of 2 KiB (modelled): twice, 2 KiB: 64 of 128 sectors are found."
    assert choose(explorer, array=1) == "A cache of 2 KiB (modelled): twice, 1 KiB: 32 of 64 sectors are found."


def test_what_is_given_is_checked():
    with pytest.raises(TypeError, match="args is a function"):
        widgets.working_set(numba_twice, arguments(1), array=(1,), cache=(1,))
    with pytest.raises(ValueError, match="array, KiB cannot be 3"):
        widgets.working_set(numba_twice, arguments, array=(1, 2), cache=(1,), start=(3, 1))
