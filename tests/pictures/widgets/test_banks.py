"""The explorer of banks: what it says is what the counters count, for kernels of both languages."""

import numpy as np
import pytest

from helpers import cp, cuda, profile, widgets
from helpers.workbook.run import unnamed_pictures

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
    assert explorer.shown.alt == "stride 4: 4 wavefronts for 1 shared load request with 3 bank conflicts."
    assert unnamed_pictures(explorer.view.value) == []


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
