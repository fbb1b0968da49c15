"""Clusters whose size a launch of a CUDA C++ program sets, and those that a GPU refuses."""

from __future__ import annotations

import subprocess
import sys

import pytest

from vgpu.programs.cuda_c import build

pytestmark = pytest.mark.skipif(build.compiler() is None, reason="needs a C++ compiler: install g++ or clang++")

# The histogram in distributed shared memory of NVIDIA's "CUDA C++ Programming Guide", thread-block clusters.
PROGRAM = """\
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
namespace cg = cooperative_groups;
__constant__ int weight;
__global__ void histogram(int *bins, int per_block, const int *x, int n) {
    extern __shared__ int own[];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < per_block; i += blockDim.x) own[i] = 0;
    cluster.sync();
    for (int i = cg::this_grid().thread_rank(); i < n; i += blockDim.x * gridDim.x)
        atomicAdd(cluster.map_shared_rank(own, x[i] / per_block) + x[i] % per_block, weight);
    cluster.sync();
    for (int i = threadIdx.x; i < per_block; i += blockDim.x)
        atomicAdd(&bins[cluster.block_rank() * per_block + i], own[i]);
}
__global__ void __cluster_dims__(2, 1, 1) fixed(unsigned *sizes) {
    if (threadIdx.x == 0) sizes[blockIdx.x] = cg::this_cluster().num_blocks();
}
cudaLaunchConfig_t how = {};
cudaLaunchAttribute attribute[1];
void clusters_of(unsigned size) {
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim = {size, 1, 1};
    how.gridDim = 16;
    how.blockDim = 128;
    how.attrs = attribute;
    how.numAttrs = 1;
}
int main() {
    const int n = 5000, most = 64;
    int *x, *bins, three = 3, held;
    cudaMallocManaged(&x, n * sizeof(int));
    cudaMallocManaged(&bins, most * sizeof(int));
    cudaMemcpyToSymbol(weight, &three, sizeof(int));
    for (int i = 0; i < n; i++) x[i] = i * 7919L % 61;
    bool refused = false;
    for (unsigned size : {1, 2, 4, 8, 3, 16, 16}) {
        if (refused) cudaFuncSetAttribute(histogram, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
        refused = size == 16;
        memset(bins, 0, most * sizeof(int));
        clusters_of(size);
        how.dynamicSmemBytes = most / size * sizeof(int);
        cudaError_t status = cudaLaunchKernelEx(&how, histogram, bins, most / (int)size, (const int *)x, n);
        int wrong = 0;
        for (int i = 0; i < n; i++) bins[x[i]] -= 3;
        for (int i = 0; i < most; i++) wrong += bins[i] != 0;
        printf("%u: %s, %d wrong\\n", size, cudaGetErrorName(status), wrong);
    }
    clusters_of(4);
    how.dynamicSmemBytes = 0;
    printf("fixed: %s ", cudaGetErrorName(cudaLaunchKernelEx(&how, fixed, (unsigned *)bins)));
    clusters_of(2);
    printf("%s ", cudaGetErrorName(cudaLaunchKernelEx(&how, fixed, (unsigned *)bins)));
    cudaOccupancyMaxActiveClusters(&held, fixed, &how);
    printf("%d %d\\n", bins[15], held);
}
"""


def test_sizes_of_clusters(tmp_path):
    (tmp_path / "program.cu").write_text(PROGRAM)
    command = [sys.executable, "-W", "ignore", "-m", "vgpu", "run", "--gpu", "H100", "program.cu"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.stdout.splitlines() == [
        *(f"{size}: cudaSuccess, 0 wrong" for size in (1, 2, 4, 8)),
        *(f"{size}: cudaErrorInvalidConfiguration, 61 wrong" for size in (3, 16)),
        "16: cudaSuccess, 0 wrong",
        "fixed: cudaErrorInvalidConfiguration cudaSuccess 2 1056",
    ]
    assert "histogram runs in clusters of (3, 1, 1) blocks, and the grid of (16, 1, 1) blocks can't" in done.stderr
    assert "histogram has clusters of 16 × 1 × 1 = 16 blocks; a GPU takes 1 to 8, and up to 16 after" in done.stderr
    assert "fixed was compiled for clusters of (2, 1, 1) blocks, and can't have (4, 1, 1)." in done.stderr
