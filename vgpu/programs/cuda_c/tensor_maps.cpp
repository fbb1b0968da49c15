// Tensor maps, of the driver API: programs link to the function, or ask the runtime for its address.
#include "prelude.h"
#include "runtime.h"

#include <cuda.h>

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                const cuuint64_t *sizes, const cuuint64_t *strides, const cuuint32_t *box,
                                const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
    auto status = call("tensor_map", map, type, rank, address, sizes, strides, box, steps, interleave, swizzle, fill);
    return status == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult *found) {
    bool known = !strcmp(name, "cuTensorMapEncodeTiled");
    *function = known ? (void *)cuTensorMapEncodeTiled : nullptr;
    if (found) *found = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return known ? cudaSuccess : call("driver_function", name);
}
cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult *found) {
    return cudaGetDriverEntryPointByVersion(name, function, 0, flags, found);
}
}
