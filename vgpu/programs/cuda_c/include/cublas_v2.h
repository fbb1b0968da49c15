// cuBLAS's common functions: NumPy does them, in the process, on matrices in columns as cuBLAS has them.
#pragma once
#define CUBLAS_API_H_  // some programs ask for it
#define CUBLAS_V2_H_
#include <cuComplex.h>
#include <cuda_fp16.h>
#include <library_types.h>

#include "../runtime.h"

enum cublasStatus_t {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
};
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2 };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 };
enum cublasAtomicsMode_t { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 };
enum cublasMath_t {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3
};
enum cublasComputeType_t {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
};
struct cublasContext {
    cudaStream_t stream;
    cublasPointerMode_t mode;
    cublasMath_t math;
};
using cublasHandle_t = cublasContext *;

namespace vgpu_blas {
template <class... A>
cublasStatus_t blas(const char *name, A... given) {
    switch (call(name, given...)) {
    case cudaSuccess: return CUBLAS_STATUS_SUCCESS;
    case cudaErrorInvalidValue: return CUBLAS_STATUS_INVALID_VALUE;
    case cudaErrorNotSupported: return CUBLAS_STATUS_NOT_SUPPORTED;
    default: return CUBLAS_STATUS_EXECUTION_FAILED;
    }
}
inline cublasStatus_t status(cudaError_t found) {
    return found == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}
// The type of alpha and beta of a product.
inline cudaDataType scalar(cudaDataType of, cublasComputeType_t how) {
    if (how == CUBLAS_COMPUTE_16F || how == CUBLAS_COMPUTE_16F_PEDANTIC) return CUDA_R_16F;
    if (how == CUBLAS_COMPUTE_64F || how == CUBLAS_COMPUTE_64F_PEDANTIC) return of == CUDA_C_64F ? of : CUDA_R_64F;
    if (how == CUBLAS_COMPUTE_32I || how == CUBLAS_COMPUTE_32I_PEDANTIC) return CUDA_R_32I;
    return of == CUDA_C_32F ? of : CUDA_R_32F;
}
}  // namespace vgpu_blas

// handles
inline cublasStatus_t cublasCreate(cublasHandle_t *h) {
    *h = new cublasContext{};
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t h) {
    delete h;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetStream(cublasHandle_t h, cudaStream_t stream) {
    h->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetStream(cublasHandle_t h, cudaStream_t *stream) {
    *stream = h->stream;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetPointerMode(cublasHandle_t h, cublasPointerMode_t mode) {
    h->mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetPointerMode(cublasHandle_t h, cublasPointerMode_t *mode) {
    *mode = h->mode;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetMathMode(cublasHandle_t h, cublasMath_t math) {
    h->math = math;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetMathMode(cublasHandle_t h, cublasMath_t *math) {
    *math = h->math;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetAtomicsMode(cublasHandle_t, cublasAtomicsMode_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void *, size_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasGetVersion(cublasHandle_t, int *version) {
    *version = CUDART_VERSION * 10;
    return CUBLAS_STATUS_SUCCESS;
}
inline const char *cublasGetStatusName(cublasStatus_t status) {
    switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_MAPPING_ERROR: return "CUBLAS_STATUS_MAPPING_ERROR";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
    default: return "CUBLAS_STATUS_EXECUTION_FAILED";
    }
}
inline const char *cublasGetStatusString(cublasStatus_t status) { return cublasGetStatusName(status); }

// copies
inline cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int size, const void *a, int lda, void *b, int ldb,
                                           cudaStream_t stream) {
    size_t width = (size_t)rows * size;
    return vgpu_blas::status(cudaMemcpy2DAsync(b, (size_t)ldb * size, a, (size_t)lda * size, width, columns,
                                               cudaMemcpyHostToDevice, stream));
}
inline cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int size, const void *a, int lda, void *b, int ldb,
                                           cudaStream_t stream) {
    size_t width = (size_t)rows * size;
    return vgpu_blas::status(cudaMemcpy2DAsync(b, (size_t)ldb * size, a, (size_t)lda * size, width, columns,
                                               cudaMemcpyDeviceToHost, stream));
}
inline cublasStatus_t cublasSetMatrix(int rows, int columns, int size, const void *a, int lda, void *b, int ldb) {
    return cublasSetMatrixAsync(rows, columns, size, a, lda, b, ldb, 0);
}
inline cublasStatus_t cublasGetMatrix(int rows, int columns, int size, const void *a, int lda, void *b, int ldb) {
    return cublasGetMatrixAsync(rows, columns, size, a, lda, b, ldb, 0);
}
inline cublasStatus_t cublasSetVector(int n, int size, const void *x, int incx, void *y, int incy) {
    return cublasSetMatrix(1, n, size, x, incx, y, incy);
}
inline cublasStatus_t cublasGetVector(int n, int size, const void *x, int incx, void *y, int incy) {
    return cublasGetMatrix(1, n, size, x, incx, y, incy);
}
inline cublasStatus_t cublasSetVectorAsync(int n, int size, const void *x, int incx, void *y, int incy, cudaStream_t s) {
    return cublasSetMatrixAsync(1, n, size, x, incx, y, incy, s);
}
inline cublasStatus_t cublasGetVectorAsync(int n, int size, const void *x, int incx, void *y, int incy, cudaStream_t s) {
    return cublasGetMatrixAsync(1, n, size, x, incx, y, incy, s);
}

// any types
inline cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m,
                                                 int n, int k, const void *alpha, const void *a, cudaDataType of_a,
                                                 int lda, long long to_a, const void *b, cudaDataType of_b, int ldb,
                                                 long long to_b, const void *beta, void *c, cudaDataType of_c, int ldc,
                                                 long long to_c, int count, cublasComputeType_t how, cublasGemmAlgo_t) {
    return vgpu_blas::blas("blas_gemm", h->stream, vgpu_blas::scalar(of_c, how), of_a, of_b, of_c, ta, tb, m, n, k, alpha,
                           a, lda, to_a, b, ldb, to_b, beta, c, ldc, to_c, count);
}
inline cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                                   const void *alpha, const void *a, cudaDataType of_a, int lda, const void *b,
                                   cudaDataType of_b, int ldb, const void *beta, void *c, cudaDataType of_c, int ldc,
                                   cublasComputeType_t how, cublasGemmAlgo_t algorithm) {
    return cublasGemmStridedBatchedEx(h, ta, tb, m, n, k, alpha, a, of_a, lda, 0, b, of_b, ldb, 0, beta, c, of_c, ldc, 0,
                                      1, how, algorithm);
}
inline cublasStatus_t cublasDotEx(cublasHandle_t h, int n, const void *x, cudaDataType of_x, int incx, const void *y,
                                  cudaDataType of_y, int incy, void *result, cudaDataType of, cudaDataType) {
    return vgpu_blas::blas("blas_dot", h->stream, of_x, of_y, of, n, x, incx, y, incy, result, 0);
}

// one function for each type: S, D, C and Z, and H for products
#define VGPU_PRODUCTS(S, T, of)                                                                                         \
    inline cublasStatus_t cublas##S##gemmStridedBatched(                                                                \
        cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const T *alpha, const T *a,  \
        int lda, long long to_a, const T *b, int ldb, long long to_b, const T *beta, T *c, int ldc, long long to_c,     \
        int count) {                                                                                                    \
        return vgpu_blas::blas("blas_gemm", h->stream, of, of, of, of, ta, tb, m, n, k, alpha, a, lda, to_a, b, ldb,    \
                               to_b, beta, c, ldc, to_c, count);                                                        \
    }                                                                                                                   \
    inline cublasStatus_t cublas##S##gemm(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n,   \
                                          int k, const T *alpha, const T *a, int lda, const T *b, int ldb,              \
                                          const T *beta, T *c, int ldc) {                                               \
        return cublas##S##gemmStridedBatched(h, ta, tb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);      \
    }                                                                                                                   \
    inline cublasStatus_t cublas##S##gemmBatched(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m,   \
                                                 int n, int k, const T *alpha, const T *const a[], int lda,             \
                                                 const T *const b[], int ldb, const T *beta, T *const c[], int ldc,     \
                                                 int count) {                                                           \
        for (int i = 0; i < count; ++i)                                                                                 \
            if (auto status = cublas##S##gemm(h, ta, tb, m, n, k, alpha, a[i], lda, b[i], ldb, beta, c[i], ldc))        \
                return status;                                                                                          \
        return CUBLAS_STATUS_SUCCESS;                                                                                   \
    }
VGPU_PRODUCTS(S, float, CUDA_R_32F)
VGPU_PRODUCTS(D, double, CUDA_R_64F)
VGPU_PRODUCTS(C, cuComplex, CUDA_C_32F)
VGPU_PRODUCTS(Z, cuDoubleComplex, CUDA_C_64F)
VGPU_PRODUCTS(H, __half, CUDA_R_16F)
#undef VGPU_PRODUCTS

#define VGPU_LEVELS(S, s, T, of)                                                                                           \
    inline cublasStatus_t cublas##S##axpy(cublasHandle_t h, int n, const T *alpha, const T *x, int incx, T *y,          \
                                          int incy) {                                                                   \
        return vgpu_blas::blas("blas_axpy", h->stream, of, n, alpha, x, incx, y, incy);                                 \
    }                                                                                                                   \
    inline cublasStatus_t cublas##S##scal(cublasHandle_t h, int n, const T *alpha, T *x, int incx) {                    \
        return vgpu_blas::blas("blas_scal", h->stream, of, n, alpha, x, incx);                                          \
    }                                                                                                                   \
    inline cublasStatus_t cublas##S##copy(cublasHandle_t h, int n, const T *x, int incx, T *y, int incy) {              \
        return vgpu_blas::blas("blas_copy", h->stream, of, n, x, incx, y, incy);                                        \
    }                                                                                                                   \
    inline cublasStatus_t cublas##S##swap(cublasHandle_t h, int n, T *x, int incx, T *y, int incy) {                    \
        return vgpu_blas::blas("blas_swap", h->stream, of, n, x, incx, y, incy);                                        \
    }                                                                                                                   \
    inline cublasStatus_t cublas##S##gemv(cublasHandle_t h, cublasOperation_t t, int m, int n, const T *alpha,          \
                                          const T *a, int lda, const T *x, int incx, const T *beta, T *y, int incy) {   \
        return vgpu_blas::blas("blas_gemv", h->stream, of, t, m, n, alpha, a, lda, x, incx, beta, y, incy);             \
    }                                                                                                                   \
    inline cublasStatus_t cublas##S##geam(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n,   \
                                          const T *alpha, const T *a, int lda, const T *beta, const T *b, int ldb,      \
                                          T *c, int ldc) {                                                              \
        return vgpu_blas::blas("blas_geam", h->stream, of, ta, tb, m, n, alpha, a, lda, beta, b, ldb, c, ldc);          \
    }                                                                                                                   \
    inline cublasStatus_t cublas##S##trsm(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t fill,               \
                                          cublasOperation_t t, cublasDiagType_t diagonal, int m, int n, const T *alpha, \
                                          const T *a, int lda, T *b, int ldb) {                                         \
        return vgpu_blas::blas("blas_trsm", h->stream, of, side, fill, t, diagonal, m, n, alpha, a, lda, b, ldb);       \
    }                                                                                                                   \
    inline cublasStatus_t cublasI##s##amax(cublasHandle_t h, int n, const T *x, int incx, int *result) {                \
        return vgpu_blas::blas("blas_extreme", h->stream, of, 1, n, x, incx, result);                                   \
    }                                                                                                                   \
    inline cublasStatus_t cublasI##s##amin(cublasHandle_t h, int n, const T *x, int incx, int *result) {                \
        return vgpu_blas::blas("blas_extreme", h->stream, of, 0, n, x, incx, result);                                   \
    }
VGPU_LEVELS(S, s, float, CUDA_R_32F)
VGPU_LEVELS(D, d, double, CUDA_R_64F)
VGPU_LEVELS(C, c, cuComplex, CUDA_C_32F)
VGPU_LEVELS(Z, z, cuDoubleComplex, CUDA_C_64F)
#undef VGPU_LEVELS

#define VGPU_SUMS(norm, sum, T, R, of)                                                                            \
    inline cublasStatus_t norm(cublasHandle_t h, int n, const T *x, int incx, R *result) {                              \
        return vgpu_blas::blas("blas_norm", h->stream, of, 2, n, x, incx, result);                                      \
    }                                                                                                                   \
    inline cublasStatus_t sum(cublasHandle_t h, int n, const T *x, int incx, R *result) {                               \
        return vgpu_blas::blas("blas_norm", h->stream, of, 1, n, x, incx, result);                                      \
    }
VGPU_SUMS(cublasSnrm2, cublasSasum, float, float, CUDA_R_32F)
VGPU_SUMS(cublasDnrm2, cublasDasum, double, double, CUDA_R_64F)
VGPU_SUMS(cublasScnrm2, cublasScasum, cuComplex, float, CUDA_C_32F)
VGPU_SUMS(cublasDznrm2, cublasDzasum, cuDoubleComplex, double, CUDA_C_64F)
#undef VGPU_SUMS

#define VGPU_PAIRS(dot, ger, T, of, conjugated)                                                                         \
    inline cublasStatus_t dot(cublasHandle_t h, int n, const T *x, int incx, const T *y, int incy, T *result) {         \
        return vgpu_blas::blas("blas_dot", h->stream, of, of, of, n, x, incx, y, incy, result, conjugated);             \
    }                                                                                                                   \
    inline cublasStatus_t ger(cublasHandle_t h, int m, int n, const T *alpha, const T *x, int incx, const T *y,         \
                              int incy, T *a, int lda) {                                                                \
        return vgpu_blas::blas("blas_ger", h->stream, of, m, n, alpha, x, incx, y, incy, a, lda, conjugated);           \
    }
VGPU_PAIRS(cublasSdot, cublasSger, float, CUDA_R_32F, 0)
VGPU_PAIRS(cublasDdot, cublasDger, double, CUDA_R_64F, 0)
VGPU_PAIRS(cublasCdotu, cublasCgeru, cuComplex, CUDA_C_32F, 0)
VGPU_PAIRS(cublasCdotc, cublasCgerc, cuComplex, CUDA_C_32F, 1)
VGPU_PAIRS(cublasZdotu, cublasZgeru, cuDoubleComplex, CUDA_C_64F, 0)
VGPU_PAIRS(cublasZdotc, cublasZgerc, cuDoubleComplex, CUDA_C_64F, 1)
#undef VGPU_PAIRS
