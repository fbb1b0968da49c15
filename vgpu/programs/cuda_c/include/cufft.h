// cuFFT: NumPy does the transforms, in the process. Neither direction scales.
#pragma once
#define _CUFFT_H_  // some programs ask for it
#include <cuComplex.h>

#include "../runtime.h"

enum cufftResult {
    CUFFT_SUCCESS = 0,
    CUFFT_INVALID_PLAN = 1,
    CUFFT_ALLOC_FAILED = 2,
    CUFFT_INVALID_TYPE = 3,
    CUFFT_INVALID_VALUE = 4,
    CUFFT_INTERNAL_ERROR = 5,
    CUFFT_EXEC_FAILED = 6,
    CUFFT_SETUP_FAILED = 7,
    CUFFT_INVALID_SIZE = 8,
    CUFFT_UNALIGNED_DATA = 9,
    CUFFT_INVALID_DEVICE = 11,
    CUFFT_NO_WORKSPACE = 13,
    CUFFT_NOT_IMPLEMENTED = 14,
    CUFFT_NOT_SUPPORTED = 16,
    CUFFT_MISSING_DEPENDENCY = 17,
    CUFFT_NVRTC_FAILURE = 18,
    CUFFT_NVJITLINK_FAILURE = 19,
    CUFFT_NVSHMEM_FAILURE = 20
};
enum cufftType {
    CUFFT_R2C = 0x2a,
    CUFFT_C2R = 0x2c,
    CUFFT_C2C = 0x29,
    CUFFT_D2Z = 0x6a,
    CUFFT_Z2D = 0x6c,
    CUFFT_Z2Z = 0x69
};
using cufftHandle = int;
using cufftReal = float;
using cufftDoubleReal = double;
using cufftComplex = cuComplex;
using cufftDoubleComplex = cuDoubleComplex;
constexpr int CUFFT_FORWARD = -1, CUFFT_INVERSE = 1;

namespace vgpu_fft {
template <class... A>
cufftResult fft(const char *name, A... given) {
    auto status = call(name, given...);
    return status == cudaSuccess ? CUFFT_SUCCESS : status == cudaErrorInvalidValue ? CUFFT_INVALID_VALUE : CUFFT_EXEC_FAILED;
}
}  // namespace vgpu_fft

inline cufftResult cufftCreate(cufftHandle *plan) { return vgpu_fft::fft("fft_create", plan); }
inline cufftResult cufftDestroy(cufftHandle plan) { return vgpu_fft::fft("fft_destroy", plan); }
inline cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
    return vgpu_fft::fft("fft_stream", plan, stream);
}
inline cufftResult cufftMakePlanMany(cufftHandle plan, int rank, const int *n, const int *inembed, int istride, int idist,
                                     const int *onembed, int ostride, int odist, cufftType type, int batch,
                                     size_t *bytes) {
    if (bytes) *bytes = 0;
    return vgpu_fft::fft("fft_plan", plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch);
}
inline cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t *bytes) {
    return cufftMakePlanMany(plan, 1, &nx, nullptr, 1, 0, nullptr, 1, 0, type, batch, bytes);
}
inline cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t *bytes) {
    int n[] = {nx, ny};
    return cufftMakePlanMany(plan, 2, n, nullptr, 1, 0, nullptr, 1, 0, type, 1, bytes);
}
inline cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t *bytes) {
    int n[] = {nx, ny, nz};
    return cufftMakePlanMany(plan, 3, n, nullptr, 1, 0, nullptr, 1, 0, type, 1, bytes);
}
inline cufftResult cufftPlanMany(cufftHandle *plan, int rank, int *n, int *inembed, int istride, int idist, int *onembed,
                                 int ostride, int odist, cufftType type, int batch) {
    if (auto status = cufftCreate(plan)) return status;
    return cufftMakePlanMany(*plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, nullptr);
}
inline cufftResult cufftPlan1d(cufftHandle *plan, int nx, cufftType type, int batch) {
    if (auto status = cufftCreate(plan)) return status;
    return cufftMakePlan1d(*plan, nx, type, batch, nullptr);
}
inline cufftResult cufftPlan2d(cufftHandle *plan, int nx, int ny, cufftType type) {
    if (auto status = cufftCreate(plan)) return status;
    return cufftMakePlan2d(*plan, nx, ny, type, nullptr);
}
inline cufftResult cufftPlan3d(cufftHandle *plan, int nx, int ny, int nz, cufftType type) {
    if (auto status = cufftCreate(plan)) return status;
    return cufftMakePlan3d(*plan, nx, ny, nz, type, nullptr);
}
inline cufftResult cufftExecC2C(cufftHandle plan, cufftComplex *from, cufftComplex *to, int direction) {
    return vgpu_fft::fft("fft_run", plan, CUFFT_C2C, from, to, direction);
}
inline cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex *from, cufftDoubleComplex *to, int direction) {
    return vgpu_fft::fft("fft_run", plan, CUFFT_Z2Z, from, to, direction);
}
inline cufftResult cufftExecR2C(cufftHandle plan, cufftReal *from, cufftComplex *to) {
    return vgpu_fft::fft("fft_run", plan, CUFFT_R2C, from, to, CUFFT_FORWARD);
}
inline cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal *from, cufftDoubleComplex *to) {
    return vgpu_fft::fft("fft_run", plan, CUFFT_D2Z, from, to, CUFFT_FORWARD);
}
inline cufftResult cufftExecC2R(cufftHandle plan, cufftComplex *from, cufftReal *to) {
    return vgpu_fft::fft("fft_run", plan, CUFFT_C2R, from, to, CUFFT_INVERSE);
}
inline cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex *from, cufftDoubleReal *to) {
    return vgpu_fft::fft("fft_run", plan, CUFFT_Z2D, from, to, CUFFT_INVERSE);
}
