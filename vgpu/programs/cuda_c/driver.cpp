// Functions of the driver API: programs link to them, or ask the runtime for their addresses.
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

static CUresult described(const char *how, CUresult error, const char **text) {
    *text = nullptr;
    call(how, text, error);
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGetErrorName(CUresult error, const char **text) { return described("error_name_of_driver", error, text); }
CUresult cuGetErrorString(CUresult error, const char **text) { return described("error_string_of_driver", error, text); }

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult *found) {
    static const struct { const char *name; void *function; } known[] = {
        {"cuTensorMapEncodeTiled", (void *)cuTensorMapEncodeTiled},
        {"cuGetErrorName", (void *)cuGetErrorName},
        {"cuGetErrorString", (void *)cuGetErrorString},
    };
    *function = nullptr;
    for (const auto &each : known)
        if (!strcmp(name, each.name)) *function = each.function;
    if (found) *found = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return *function ? cudaSuccess : call("driver_function", name);
}
cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult *found) {
    return cudaGetDriverEntryPointByVersion(name, function, 0, flags, found);
}
}
