// thrust::cuda::par, for programs that name a stream: the host runs the algorithm when it is called.
#pragma once
#include_next <thrust/system/cpp/execution_policy.h>

THRUST_NAMESPACE_BEGIN
namespace cuda {
struct vgpu_policy : std::remove_cv_t<std::remove_reference_t<decltype(thrust::cpp::par)>> {
    auto on(cudaStream_t) const { return thrust::cpp::par; }
};
inline constexpr vgpu_policy par{}, par_nosync{};
}  // namespace cuda
THRUST_NAMESPACE_END
