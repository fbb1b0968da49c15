// What the host's half of a program is compiled with: CUDA's own headers, and a launch as two calls.
#pragma once
#include <cuda_runtime.h>

#include <cassert>  // nvcc's own headers bring these, too
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>
#include <utility>

#include "exit.h"

#define VGPU_CUDACC 1  // what the program sees of __CUDACC__
#define VGPU_NVCC 1
#define __CUDACC_VER_MAJOR__ CUDART_VERSION / 1000  // for which CUTLASS's headers look
#define __CUDACC_VER_MINOR__ CUDART_VERSION % 1000 / 10

#undef __global__
#define __global__ __attribute__((noinline, visibility("default")))
#undef __launch_bounds__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)

// What the headers of kernels declare for kernels only.
namespace cooperative_groups {}
namespace nvcuda {
namespace wmma {}
}  // namespace nvcuda

struct vgpu_arguments {
    const void *address;
    size_t size;
};

extern "C" void vgpu_configure(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
extern "C" void vgpu_launch(const vgpu_arguments *given, int count);

// nvcc declares these for the host, too. Inline functions of headers may mention what only kernels have.
extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
extern const int warpSize;
extern "C" void __syncthreads();
#define VGPU_LESS(T, A, B)                                              \
    static inline T min(A a, B b) { return (T)a < (T)b ? (T)a : (T)b; } \
    static inline T max(A a, B b) { return (T)a > (T)b ? (T)a : (T)b; }
#define VGPU_LESS_OF(T, U) VGPU_LESS(T, T, T) VGPU_LESS(U, U, U) VGPU_LESS(U, T, U) VGPU_LESS(U, U, T)
VGPU_LESS_OF(int, unsigned)
VGPU_LESS_OF(long, unsigned long)
VGPU_LESS_OF(long long, unsigned long long)
VGPU_LESS_OF(float, double)
#undef VGPU_LESS_OF
#undef VGPU_LESS
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }

// A variable stands for its address, as in nvcc.
template <class T>
cudaError_t cudaMemcpyToSymbol(const T &to, const void *from, size_t n, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return ::cudaMemcpyToSymbol((const void *)&to, from, n, offset, kind);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T &to, const void *from, size_t n, size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0) {
    return ::cudaMemcpyToSymbolAsync((const void *)&to, from, n, offset, kind, stream);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void *to, const T &from, size_t n, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return ::cudaMemcpyFromSymbol(to, (const void *)&from, n, offset, kind);
}
template <class T>
cudaError_t cudaGetSymbolAddress(void **p, const T &variable) {
    return ::cudaGetSymbolAddress(p, (const void *)&variable);
}
template <class T>
cudaError_t cudaGetSymbolSize(size_t *n, const T &variable) {
    return ::cudaGetSymbolSize(n, (const void *)&variable);
}

// As they were before CUDA 13.
static inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
static inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
static inline cudaError_t cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t = 0) { return cudaSuccess; }
static inline cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, int) { return cudaSuccess; }

// A kernel stands for its address, too.
template <class... A>
cudaError_t cudaFuncSetAttribute(void (*f)(A...), cudaFuncAttribute attribute, int value) {
    return ::cudaFuncSetAttribute((const void *)f, attribute, value);
}
template <class... A>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *found, void (*f)(A...)) {
    return ::cudaFuncGetAttributes(found, (const void *)f);
}
template <class... A>
cudaError_t cudaFuncSetCacheConfig(void (*f)(A...), cudaFuncCache config) {
    return ::cudaFuncSetCacheConfig((const void *)f, config);
}
template <class... A>
cudaError_t cudaLaunchKernel(void (*f)(A...), dim3 grid, dim3 block, void **args, size_t shared = 0,
                             cudaStream_t stream = 0) {
    return ::cudaLaunchKernel((const void *)f, grid, block, args, shared, stream);
}
template <class... A>
cudaError_t cudaLaunchCooperativeKernel(void (*f)(A...), dim3 grid, dim3 block, void **args, size_t shared = 0,
                                        cudaStream_t stream = 0) {
    return ::cudaLaunchCooperativeKernel((const void *)f, grid, block, args, shared, stream);
}
