"""What CUDA C++ programs call: memory pools, textures, graphs, and the libraries, each in a program of its own."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from vgpu import operations
from vgpu.programs.cuda_c import build
from vgpu.programs.cuda_c.blas import Blas
from vgpu.storage import memory

pytestmark = pytest.mark.skipif(build.compiler() is None, reason="needs a C++ compiler: install g++ or clang++")

QUEUES = """\
#include <cstdio>
__global__ void add(int *x, int n) {
    extern __shared__ int unused[];
    if (threadIdx.x == 0) atomicAdd(x, n);
}
void told(void *data) { printf("told %d\\n", *(int *)data); }
int main() {
    cudaMemPool_t pool, own;
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaMemPoolProps properties = {};
    cudaMemPoolCreate(&own, &properties);
    unsigned long long threshold = 1 << 20, found = 0;
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
    cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &found);
    int least, greatest, priority;
    unsigned flags;
    cudaDeviceGetStreamPriorityRange(&least, &greatest);
    cudaStream_t stream;
    cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest);
    cudaStreamGetPriority(stream, &priority);
    cudaStreamGetFlags(stream, &flags);
    int *x, *y, seven = 7, sum;
    cudaMallocAsync(&x, 4, stream);
    cudaMallocFromPoolAsync(&y, 4, own, stream);
    cudaMemsetAsync(x, 0, 4, stream);
    cudaLaunchConfig_t how = {};
    how.gridDim = 3;
    how.blockDim = 32;
    how.stream = stream;
    cudaLaunchKernelEx(&how, add, x, 5u);
    cudaLaunchHostFunc(stream, told, &seven);
    cudaMemcpyAsync(&sum, x, 4, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    int grid, block, blocks;
    size_t shared;
    cudaOccupancyMaxPotentialBlockSize(&grid, &block, add, 0, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 16384);
    cudaOccupancyAvailableDynamicSMemPerBlock(&shared, add, 2, 256);
    cudaPointerAttributes device, host;
    cudaPointerGetAttributes(&device, x);
    cudaPointerGetAttributes(&host, &sum);
    cudaFreeAsync(x, stream);
    cudaMemPoolDestroy(own);
    printf("%llu %d %d %u %d\\n", found, greatest, priority, flags, sum);
    printf("%d %d %d %zu %d %d\\n", grid, block, blocks, shared, device.type, host.type);
}
"""
TEXTURES = """\
#include <cstdio>
__global__ void look(cudaTextureObject_t flat, cudaTextureObject_t smooth, cudaTextureObject_t box,
                     cudaSurfaceObject_t surface, float *y) {
    y[0] = tex1Dfetch<float>(flat, 3);
    y[1] = tex2D<float>(smooth, 1.0f, 0.5f);  // between texels 0 and 1
    y[2] = tex3D<float>(box, 1.5f, 0.5f, 1.5f);
    surf2Dwrite(42.0f, surface, 2 * sizeof(float), 1);
}
cudaTextureObject_t texture(cudaResourceDesc of, cudaTextureFilterMode filter) {
    cudaTextureDesc how = {};
    how.filterMode = filter;
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = cudaAddressModeClamp;
    cudaTextureObject_t made = 0;
    cudaCreateTextureObject(&made, &of, &how, nullptr);
    return made;
}
int main() {
    float h[12], back[12] = {};
    for (int i = 0; i < 12; ++i) h[i] = i;
    cudaChannelFormatDesc of = cudaCreateChannelDesc<float>();
    float *x, *y;
    cudaMalloc(&x, sizeof h);
    cudaMalloc(&y, 3 * sizeof(float));
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    cudaResourceDesc linear = {}, plane = {}, cube = {};
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear = {x, of, sizeof h};
    plane.resType = cube.resType = cudaResourceTypeArray;
    cudaMallocArray(&plane.res.array.array, &of, 4, 3, cudaArraySurfaceLoadStore);
    cudaMemcpy2DToArray(plane.res.array.array, 0, 0, h, 16, 16, 3, cudaMemcpyHostToDevice);
    cudaMalloc3DArray(&cube.res.array.array, &of, make_cudaExtent(3, 2, 2));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(h, 12, 3, 2);
    copy.dstArray = cube.res.array.array;
    copy.extent = make_cudaExtent(3, 2, 2);
    copy.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&copy);
    cudaSurfaceObject_t surface;
    cudaCreateSurfaceObject(&surface, &plane);
    auto flat = texture(linear, cudaFilterModePoint), box = texture(cube, cudaFilterModePoint);
    auto smooth = texture(plane, cudaFilterModeLinear);
    look<<<1, 1>>>(flat, smooth, box, surface, y);
    float found[3];
    cudaMemcpy(found, y, sizeof found, cudaMemcpyDeviceToHost);
    cudaMemcpy2DFromArray(back, 16, plane.res.array.array, 0, 0, 16, 3, cudaMemcpyDeviceToHost);
    cudaExtent size;
    cudaArrayGetInfo(&of, &size, nullptr, cube.res.array.array);
    printf("%g %g %g %g %d %zu %zu %zu\\n", found[0], found[1], found[2], back[6], of.x, size.width, size.height,
           size.depth);
    cudaDestroyTextureObject(flat);
    cudaFreeArray(plane.res.array.array);
    printf("%s\\n", cudaGetErrorName(cudaFreeArray(plane.res.array.array)));
}
"""
GRAPHS = """\
#include <cstdio>
__global__ void add(int *x, int n) { *x += n; }
__global__ void twice(int *x) { *x *= 2; }
void told(void *data) { ++*(int *)data; }
int value(int *x) {
    int found;
    cudaMemcpy(&found, x, 4, cudaMemcpyDeviceToHost);
    return found;
}
int main() {
    int *x, calls = 0, n = 3, m = 10;
    cudaMalloc(&x, 4);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaGraph_t captured, made;
    cudaGraphExec_t ready;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMemsetAsync(x, 0, 4, stream);
    add<<<1, 1, 0, stream>>>(x, n);
    twice<<<1, 1, 0, stream>>>(x);
    cudaStreamCaptureStatus status;
    cudaStreamIsCapturing(stream, &status);
    cudaStreamEndCapture(stream, &captured);
    cudaGraphInstantiate(&ready, captured, nullptr, nullptr, 0);
    cudaGraphLaunch(ready, stream);
    cudaStreamSynchronize(stream);
    size_t count;
    cudaGraphGetNodes(captured, nullptr, &count);
    printf("%d %d %zu\\n", (int)status, value(x), count);

    cudaGraphCreate(&made, 0);
    cudaGraphNode_t zero, first, second, host;
    void *adds[] = {&x, &n}, *adds_more[] = {&x, &m}, *doubles[] = {&x};
    cudaKernelNodeParams adding = {(void *)add, 1, 1, 0, adds, nullptr};
    cudaKernelNodeParams doubling = {(void *)twice, 1, 1, 0, doubles, nullptr};
    cudaMemsetParams clearing = {x, 4, 0, 1, 4, 1};
    cudaHostNodeParams telling = {told, &calls};
    cudaGraphAddKernelNode(&second, made, nullptr, 0, &doubling);  // its dependencies come later
    cudaGraphAddMemsetNode(&zero, made, nullptr, 0, &clearing);
    cudaGraphAddKernelNode(&first, made, &zero, 1, &adding);
    cudaGraphAddDependencies(made, &first, &second, nullptr, 1);
    cudaGraphAddHostNode(&host, made, &second, 1, &telling);
    cudaGraphExec_t other;
    cudaGraphInstantiate(&other, made, nullptr, nullptr, 0);
    for (int i = 0; i < 2; ++i) cudaGraphLaunch(other, stream);
    printf("%d %d\\n", value(x), calls);
    adding.kernelParams = adds_more;
    cudaGraphExecKernelNodeSetParams(other, first, &adding);
    cudaGraphLaunch(other, stream);
    cudaGraphExecUpdateResultInfo result;
    cudaError_t updated = cudaGraphExecUpdate(other, captured, &result);
    printf("%d %s %d\\n", value(x), cudaGetErrorName(updated), (int)result.result);
    cudaGraphDestroy(made);
    printf("%s\\n", cudaGetErrorName(cudaGraphDestroy(made)));
}
"""
THRUST = """\
#include <cstdio>
#include <cub/cub.cuh>
#include <cuda/atomic>
#include <omp.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
__device__ float twice(float x) { return 2 * x; }
struct Squares {
    __device__ float operator()(float x) const { return twice(x) * x; }
};
__global__ void sum(const float *x, float *y) {
    typedef cub::BlockReduce<float, 128> Reduce;
    __shared__ typename Reduce::TempStorage storage;
    float found = Reduce(storage).Sum(x[threadIdx.x]);
    if (threadIdx.x == 0) *y = found;
}
int main() {
    thrust::device_vector<float> a(1000), b(1000);
    thrust::sequence(a.begin(), a.end());
    thrust::transform(a.begin(), a.end(), b.begin(), Squares());
    float *y, found[2];
    cudaMalloc(&y, sizeof found);
    sum<<<1, 128>>>(thrust::raw_pointer_cast(a.data()), y);
    float *x = thrust::raw_pointer_cast(b.data());
    void *storage = nullptr;
    size_t bytes = 0;
    cub::DeviceReduce::Sum(storage, bytes, x, y + 1, 10);
    cudaMalloc(&storage, bytes);
    cub::DeviceReduce::Sum(storage, bytes, x, y + 1, 10);
    cudaMemcpy(found, y, sizeof found, cudaMemcpyDeviceToHost);
    unsigned keys[] = {5, 0x103, 0x202, 1}, values[] = {0, 1, 2, 3}, *k;
    cudaMalloc(&k, 64);
    cudaMemcpy(k, keys, 16, cudaMemcpyHostToDevice);
    cudaMemcpy(k + 4, values, 16, cudaMemcpyHostToDevice);
    cub::DeviceRadixSort::SortPairs(storage, bytes, k, k + 8, k + 4, k + 12, 4, 0, 8);
    cudaMemcpy(values, k + 12, 16, cudaMemcpyDeviceToHost);
    int beyond = cub::DeviceScan::InclusiveSum(storage, bytes, x, x, 100000);
    thrust::sort(thrust::device, a.begin(), a.end(), thrust::greater<float>());
    cuda::atomic<int> count{0};
    #pragma omp parallel for
    for (int i = 0; i < 100; ++i) count.fetch_add(1);
    float total = thrust::reduce(thrust::cuda::par.on(cudaStream_t(0)), b.begin(), b.begin() + 10);
    printf("%g %g %g %g %d\\n", found[0], found[1], total, (float)a[0], count.load());
    printf("%u %u %u %u %d\\n", values[0], values[1], values[2], values[3], beyond);
}
"""


def test_products_of_bfloat16():
    """The factor is almost 1: results that lie between two numbers of bfloat16 become the nearer one."""
    bits = lambda *values: (np.float32(values).view(np.uint32) >> 16).astype(np.uint16)
    a, b, c = memory.array((2,), np.uint16), memory.array((2,), np.uint16), memory.array((2, 2), np.uint16)
    a[:], b[:] = bits(1, 2), bits(1 + 2**-7, 3)
    factors = np.float32([1 - 2**-8, 0])
    one, none = factors.ctypes.data, factors.ctypes.data + 4
    place = lambda array: array.ctypes.data
    blas = Blas(lambda stream: operations.find_queue(stream))
    blas.do_blas_gemm(0, 0, 14, 14, 14, 0, 0, 2, 2, 1, one, place(a), 2, 0, place(b), 1, 0, none, place(c), 2, 0, 1)
    assert np.array_equal((c.astype(np.uint32) << 16).view(np.float32), np.float32([[1, 2], [2.984375, 5.96875]]))


LIBRARIES = """\
#include <cstdio>
#include <cublas_v2.h>
#include <cufft.h>
#include <curand.h>
#include <curand_kernel.h>
__global__ void draw(unsigned *x, float *means) {
    curandStatePhilox4_32_10_t philox;
    curand_init(0, 0, 0, &philox);
    for (int i = 0; i < 4; ++i) x[i] = curand(&philox);
    curand_init(0, 0, 2, &philox);
    x[4] = curand(&philox);
    curandState state;
    curand_init(1234, threadIdx.x, 0, &state);
    float sums[3] = {};
    for (int i = 0; i < 4000; ++i) {
        sums[0] += curand_uniform(&state);
        sums[1] += curand_normal(&state);
        sums[2] += curand_poisson(&state, 3.0);
    }
    for (int i = 0; i < 3; ++i) means[i] = sums[i] / 4000;
}
int main() {
    float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 0, 1, 2, 1, 0}, c[4], *x, *y, *z;  // 2 × 3 and 3 × 2, in columns
    cudaMalloc(&x, 24);
    cudaMalloc(&y, 24);
    cudaMalloc(&z, 16);
    cublasHandle_t handle;
    cublasCreate(&handle);
    cublasSetMatrix(2, 3, 4, a, 2, x, 2);
    cublasSetVector(6, 4, b, 1, y, 1);
    float one = 1, zero = 0, two = 2, dot, norm, sum;
    int most;
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &one, x, 2, y, 3, &zero, z, 2);
    cublasGetMatrix(2, 2, 4, z, 2, c, 2);
    printf("%g %g %g %g\\n", c[0], c[1], c[2], c[3]);
    cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_T, 2, 2, 3, &one, y, 3, x, 2, &one, z, 2);  // + its transpose
    cublasGetMatrix(2, 2, 4, z, 2, c, 2);
    printf("%g %g %g %g\\n", c[0], c[1], c[2], c[3]);
    cublasSdot(handle, 6, x, 1, y, 1, &dot);
    cublasIsamax(handle, 6, x, 1, &most);
    cublasSnrm2(handle, 4, y, 1, &norm);
    cublasSasum(handle, 3, x, 2, &sum);
    cublasSgemv(handle, CUBLAS_OP_T, 2, 3, &one, x, 2, y, 2, &zero, z, 1);  // by (1, 1)
    cublasSaxpy(handle, 6, &two, x, 1, y, 1);
    cublasGetVector(6, 4, y, 1, b, 1);
    cublasGetVector(3, 4, z, 1, c, 1);
    auto beyond = cublasSscal(handle, 60, &two, x, 1);
    printf("%g %d %.5f %g ", dot, most, norm, sum);
    printf("%g %g %g %g %s\\n", b[5], c[0], c[1], c[2], cublasGetStatusName(beyond));

    cufftHandle plan, real;
    cufftPlan1d(&plan, 8, CUFFT_C2C, 2);
    cufftPlan2d(&real, 2, 4, CUFFT_R2C);
    cufftComplex *f, *spectrum;
    float *plane;
    cudaMallocManaged(&f, 16 * sizeof *f);
    cudaMallocManaged(&plane, 8 * sizeof *plane);
    cudaMallocManaged(&spectrum, 6 * sizeof *spectrum);
    for (int i = 0; i < 16; ++i) f[i] = {(float)i, 0};
    for (int i = 0; i < 8; ++i) plane[i] = i;
    cufftExecC2C(plan, f, f, CUFFT_FORWARD);
    printf("%g %g ", f[0].x, f[8].x);
    cufftExecC2C(plan, f, f, CUFFT_INVERSE);
    auto wrong = cufftExecR2C(plan, plane, spectrum);
    cufftExecR2C(real, plane, spectrum);
    printf("%g %g %g %d\\n", f[3].x, spectrum[0].x, spectrum[3].x, (int)wrong);

    curandGenerator_t generator, none;
    curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
    float *numbers, twice[2];
    cudaMallocManaged(&numbers, 4000);
    for (int i = 0; i < 2; ++i) {
        curandSetPseudoRandomGeneratorSeed(generator, 7);
        curandGenerateUniform(generator, numbers, 1000);
        twice[i] = numbers[999];
    }
    curandGenerateNormal(generator, numbers, 1000, 5, 1);
    double mean = 0;
    for (int i = 0; i < 1000; ++i) mean += numbers[i] / 1000;
    auto quasi = curandCreateGenerator(&none, CURAND_RNG_QUASI_SOBOL32);
    printf("%d %d %d\\n", twice[0] == twice[1], 4.9 < mean && mean < 5.1, (int)quasi);
    unsigned *drawn;
    cudaMallocManaged(&drawn, 64);
    draw<<<1, 1>>>(drawn, numbers);
    cudaDeviceSynchronize();
    for (int i = 0; i < 5; ++i) printf("%08x ", drawn[i]);
    printf("%.1f %.1f %.1f\\n", numbers[0], numbers[1], numbers[2]);
}
"""


def run(folder, program):
    (folder / "program.cu").write_text(program)
    command = [sys.executable, "-W", "ignore", "-m", "vgpu", "run", "program.cu"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


def test_pools_priorities_host_functions_and_occupancy(tmp_path):
    shown, errors = run(tmp_path, QUEUES)
    # 108 SMs of an A100 with 2048 threads and 164 KiB of shared memory each; a block of two may have 81 KiB
    assert shown == ["told 7", "1048576 -5 -5 1 15", "216 1024 8 82944 2 0"] and errors == ""


def test_textures_surfaces_and_arrays(tmp_path):
    shown, errors = run(tmp_path, TEXTURES)
    assert shown[0] == "3 0.5 7 42 32 3 2 2"
    assert shown[1] == "cudaErrorInvalidValue" and "there is no such object" in errors


def test_graphs_captured_and_made_of_nodes(tmp_path):
    shown, errors = run(tmp_path, GRAPHS)
    assert shown[:3] == ["1 6 3", "6 2", "20 cudaErrorGraphExecUpdateFailure 2"]
    assert shown[3] == "cudaErrorInvalidValue" and "there is no such object" in errors


def test_thrust_cub_atomics_of_the_host_and_openmp(tmp_path):
    shown, errors = run(tmp_path, THRUST)
    assert shown == ["8128 570 570 999 100", "3 2 1 0 700"] and errors == ""


def test_cublas_cufft_and_curand(tmp_path):
    shown, errors = run(tmp_path, LIBRARIES)
    assert shown[:2] == ["6 8 5 8", "12 13 13 16"]
    assert shown[2] == "17 6 2.44949 9 12 3 7 11 CUBLAS_STATUS_EXECUTION_FAILED"
    assert shown[3] == "28 92 24 28 -16 4"
    assert shown[4] == "1 1 103"
    # The known answer for a counter and a key of 0 (Salmon et al., 2011).
    assert shown[5] == "6627e8d5 e169c58d bc57ac4c 9b00dbd8 bc57ac4c 0.5 0.0 3.0"
    assert "60 numbers isn't in device memory" in errors and "no quasirandom ones" in errors
