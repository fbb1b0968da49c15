// The memory of Thrust's vectors: device memory, which the host's algorithms can use as well.
#pragma once
#include <thrust/mr/fancy_pointer_resource.h>
#include <thrust/mr/memory_resource.h>
#include <thrust/system/cpp/pointer.h>

#include <new>

THRUST_NAMESPACE_BEGIN
namespace system {
namespace cpp {
class vgpu_resource final : public thrust::mr::memory_resource<> {
public:
    void *do_allocate(std::size_t n, std::size_t) override {
        void *found = nullptr;
        if (::cudaMalloc(&found, n) != cudaSuccess) throw std::bad_alloc();
        return found;
    }
    void do_deallocate(void *p, std::size_t, std::size_t) override { ::cudaFree(p); }
};
using memory_resource = thrust::mr::fancy_pointer_resource<vgpu_resource, thrust::cpp::pointer<void>>;
using universal_memory_resource = thrust::mr::fancy_pointer_resource<vgpu_resource, thrust::cpp::universal_pointer<void>>;
using universal_host_pinned_memory_resource = universal_memory_resource;
}  // namespace cpp
}  // namespace system
THRUST_NAMESPACE_END
