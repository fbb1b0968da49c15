// Thrust's algorithms run on the host here (its system CPP); its vectors lie in device memory, for kernels.
#pragma once
#include <thrust/detail/raw_pointer_cast.h>
#include <thrust/system/detail/sequential/execution_policy.h>
#include <thrust/system_error.h>

THRUST_NAMESPACE_BEGIN
namespace system {
namespace detail {
namespace sequential {
template <class Policy>
void *malloc(execution_policy<Policy> &, std::size_t n) {
    void *found = nullptr;
    return ::cudaMalloc(&found, n) == cudaSuccess ? found : nullptr;
}
template <class Policy, class Pointer>
void free(execution_policy<Policy> &, Pointer p) {
    ::cudaFree(thrust::raw_pointer_cast(p));
}
}  // namespace sequential
}  // namespace detail
}  // namespace system
THRUST_NAMESPACE_END
