// CUDA's runtime API for the host's half of a program: each call goes to Python, which has the virtual GPU.
#include "prelude.h"
#include "runtime.h"

#include <cuda_profiler_api.h>

#include <exception>

namespace {

using Handler = long (*)(const char *name, int count, const long *arguments);
Handler handler;
thread_local cudaError_t last = cudaSuccess;
struct Exit {
    int status;
};
struct Configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    dim3 cluster = 0;  // 0: as the kernel was compiled
    bool cooperative = false, dependent = false;
};
thread_local Configuration configuration;

cudaError_t launch(const char *name, const Configuration &how, const void *const *addresses, const size_t *sizes,
                   int count) {
    return call("launch", name, how.grid.x, how.grid.y, how.grid.z, how.block.x, how.block.y, how.block.z, how.shared,
                how.stream, addresses, sizes, count, how.cluster.x, how.cluster.y, how.cluster.z, how.cooperative,
                how.dependent);
}

}  // namespace

cudaError_t vgpu_call(const char *name, int count, const long *given) {
    fflush(stdout);
    cudaError_t status = (cudaError_t)handler(name, count, given);
    if (status != cudaSuccess && status != cudaErrorNotReady) last = status;
    return status;
}

const char *vgpu_symbol(const void *address) {
    Dl_info found;
    return dladdr(address, &found) && found.dli_sname ? found.dli_sname : "";
}

extern "C" {

[[noreturn]] void vgpu_exit(int status) { throw Exit{status}; }

void vgpu_connect(Handler given) { handler = given; }

int vgpu_run(int (*program)(int, char **), int count, char **arguments) {
    int status = 1;
    try {
        status = program(count, arguments);
    } catch (const Exit &end) {
        status = end.status;
    } catch (const std::exception &error) {
        fprintf(stderr, "terminate called: %s\n", error.what());
    }
    fflush(stdout);
    fflush(stderr);
    return status;
}

void vgpu_configure(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
    configuration = {grid, block, shared, stream};
}

__attribute__((noinline)) void vgpu_launch(const vgpu_arguments *given, int count) {
    const void *addresses[256];
    size_t sizes[256];
    for (int i = 0; i < count && i < 256; ++i) {
        addresses[i] = given[i].address;
        sizes[i] = given[i].size;
    }
    launch(vgpu_symbol(__builtin_return_address(0)), configuration, addresses, sizes, count);
}

cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream) {
    return launch(vgpu_symbol(f), {grid, block, shared, stream}, args, nullptr, -1);
}
cudaError_t cudaLaunchCooperativeKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared,
                                        cudaStream_t stream) {
    return launch(vgpu_symbol(f), {grid, block, shared, stream, 0, true}, args, nullptr, -1);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *how, const void *f, void **args) {
    Configuration with = {how->gridDim, how->blockDim, how->dynamicSmemBytes, how->stream};
    for (unsigned i = 0; i < how->numAttrs; ++i) {
        const auto &given = how->attrs[i];
        if (given.id == cudaLaunchAttributeClusterDimension)
            with.cluster = {given.val.clusterDim.x, given.val.clusterDim.y, given.val.clusterDim.z};
        with.cooperative |= given.id == cudaLaunchAttributeCooperative && given.val.cooperative;
        with.dependent |= given.id == cudaLaunchAttributeProgrammaticStreamSerialization &&
                          given.val.programmaticStreamSerializationAllowed;
    }
    return launch(vgpu_symbol(f), with, args, nullptr, -1);
}

// memory
cudaError_t cudaMalloc(void **p, size_t n) { return call("malloc", p, n); }
cudaError_t cudaMallocAsync(void **p, size_t n, cudaStream_t) { return call("malloc", p, n); }
cudaError_t cudaMallocManaged(void **p, size_t n, unsigned) { return call("malloc", p, n); }
cudaError_t cudaMallocHost(void **p, size_t n) { return call("malloc_host", p, n); }
cudaError_t cudaHostAlloc(void **p, size_t n, unsigned) { return call("malloc_host", p, n); }
cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height) {
    *pitch = (width + 511) / 512 * 512;
    return call("malloc", p, *pitch * height);
}
cudaError_t cudaMalloc3D(cudaPitchedPtr *p, cudaExtent size) {
    p->xsize = size.width;
    p->ysize = size.height;
    return cudaMallocPitch(&p->ptr, &p->pitch, size.width, size.height * size.depth);
}
cudaError_t cudaFree(void *p) { return call("free", p); }
cudaError_t cudaFreeAsync(void *p, cudaStream_t) { return call("free", p); }
cudaError_t cudaFreeHost(void *p) { return call("free_host", p); }
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned) {
    *device = host;
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t *available, size_t *total) { return call("mem_info", available, total); }
cudaError_t cudaMemcpy(void *to, const void *from, size_t n, cudaMemcpyKind kind) {
    return cudaMemcpy2D(to, n, from, n, n, 1, kind);
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, cudaMemcpyKind kind, cudaStream_t stream) {
    return cudaMemcpy2DAsync(to, n, from, n, n, 1, kind, stream);
}
cudaError_t cudaMemcpyPeer(void *to, int, const void *from, int, size_t n) {
    return cudaMemcpy(to, from, n, cudaMemcpyDeviceToDevice);
}
cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t n, cudaStream_t stream) {
    return cudaMemcpyAsync(to, from, n, cudaMemcpyDeviceToDevice, stream);
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    return call("memcpy", to, to_pitch, from, from_pitch, width, height, kind, stream, 1);
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
    return call("memcpy", to, to_pitch, from, from_pitch, width, height, kind, 0, 0);
}
cudaError_t cudaMemset(void *p, int value, size_t n) { return cudaMemsetAsync(p, value, n, 0); }
cudaError_t cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t stream) {
    return call("memset", p, n, value, n, 1, stream);
}
cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
    return call("memset", p, pitch, value, width, height, stream);
}
cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height) {
    return cudaMemset2DAsync(p, pitch, value, width, height, 0);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr p, int value, cudaExtent size, cudaStream_t stream) {
    for (size_t z = 0; z < size.depth; ++z) {
        char *slice = (char *)p.ptr + z * p.pitch * p.ysize;
        if (auto status = cudaMemset2DAsync(slice, p.pitch, value, size.width, size.height, stream)) return status;
    }
    return cudaSuccess;
}
cudaError_t cudaMemset3D(cudaPitchedPtr p, int value, cudaExtent size) { return cudaMemset3DAsync(p, value, size, 0); }
cudaError_t cudaGetSymbolAddress(void **p, const void *variable) { return call("symbol", p, vgpu_symbol(variable), 0); }
cudaError_t cudaGetSymbolSize(size_t *n, const void *variable) { return call("symbol", 0, vgpu_symbol(variable), n); }
cudaError_t cudaMemcpyToSymbolAsync(const void *variable, const void *from, size_t n, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
    void *to = nullptr;
    if (auto status = cudaGetSymbolAddress(&to, variable)) return status;
    return cudaMemcpyAsync((char *)to + offset, from, n, kind, stream);
}
cudaError_t cudaMemcpyToSymbol(const void *variable, const void *from, size_t n, size_t offset, cudaMemcpyKind kind) {
    void *to = nullptr;
    if (auto status = cudaGetSymbolAddress(&to, variable)) return status;
    return cudaMemcpy((char *)to + offset, from, n, kind);
}
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *variable, size_t n, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
    void *from = nullptr;
    if (auto status = cudaGetSymbolAddress(&from, variable)) return status;
    return cudaMemcpyAsync(to, (char *)from + offset, n, kind, stream);
}
cudaError_t cudaMemcpyFromSymbol(void *to, const void *variable, size_t n, size_t offset, cudaMemcpyKind kind) {
    void *from = nullptr;
    if (auto status = cudaGetSymbolAddress(&from, variable)) return status;
    return cudaMemcpy(to, (char *)from + offset, n, kind);
}
cudaError_t cudaMemPrefetchAsync(const void *, size_t, cudaMemLocation, unsigned, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, cudaMemLocation) { return cudaSuccess; }
cudaError_t cudaHostRegister(void *, size_t, unsigned) { return cudaSuccess; }
cudaError_t cudaHostUnregister(void *) { return cudaSuccess; }
cudaError_t cudaHostGetFlags(unsigned *flags, void *) {
    *flags = cudaHostAllocMapped;
    return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *found, const void *p) {
    long type = 0;
    memset(found, 0, sizeof *found);
    cudaError_t status = call("pointer", &type, p);
    found->type = (cudaMemoryType)type;
    found->hostPointer = (void *)p;
    found->devicePointer = type == cudaMemoryTypeUnregistered ? nullptr : (void *)p;
    return status;
}

// memory pools: all take from the same memory
struct CUmemPoolHandle_st {
    unsigned long values[16];
} pool;
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *found, int) {
    *found = &pool;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *found, int) { return cudaDeviceGetDefaultMemPool(found, 0); }
cudaError_t cudaDeviceSetMemPool(int, cudaMemPool_t) { return cudaSuccess; }
cudaError_t cudaMemPoolCreate(cudaMemPool_t *made, const cudaMemPoolProps *) {
    *made = new CUmemPoolHandle_st{};
    return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t given) {
    if (given != &pool) delete given;
    return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc *, size_t) { return cudaSuccess; }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t given, cudaMemPoolAttr attribute, void *value) {
    bool wide = attribute >= cudaMemPoolAttrReleaseThreshold;
    given->values[attribute & 15] = wide ? *(unsigned long *)value : *(int *)value;
    return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t given, cudaMemPoolAttr attribute, void *value) {
    if (attribute < cudaMemPoolAttrReleaseThreshold) {
        *(int *)value = given->values[attribute & 15];
    } else if (attribute == cudaMemPoolAttrReleaseThreshold) {
        *(unsigned long *)value = given->values[attribute & 15];
    } else {  // bytes reserved and used, now and at most
        size_t available = 0, total = 0;
        if (auto status = cudaMemGetInfo(&available, &total)) return status;
        *(unsigned long *)value = total - available;
    }
    return cudaSuccess;
}
cudaError_t cudaMallocFromPoolAsync(void **p, size_t n, cudaMemPool_t, cudaStream_t) { return call("malloc", p, n); }

// devices
cudaError_t cudaGetDeviceCount(int *count) {
    *count = 1;
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device) {
    *device = 0;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : (last = cudaErrorInvalidDevice); }
cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return call("synchronize", 0); }
cudaError_t cudaDeviceReset() { return call("synchronize", 0); }
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) { return call("set_limit", limit, value); }
cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit) { return call("get_limit", value, limit); }
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
    return call("attribute", value, attribute);
}
cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) {
    *can = 0;
    return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return last = cudaErrorPeerAccessUnsupported; }
cudaError_t cudaDeviceDisablePeerAccess(int) { return last = cudaErrorPeerAccessNotEnabled; }
cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *) { return cudaGetDevice(device); }
cudaError_t cudaDeviceGetPCIBusId(char *text, int room, int) {
    snprintf(text, room, "0000:00:00.0");
    return cudaSuccess;
}
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *found) {
    *found = cudaFuncCachePreferNone;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceFlags(unsigned *flags) {
    *flags = 0;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) { return cudaDriverGetVersion(version); }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *found, int device) {
    long values[17] = {};
    memset(found, 0, sizeof *found);
    cudaError_t status = call("properties", found->name, sizeof found->name, values, device);
    long *value = values;
    found->totalGlobalMem = *value++;
    found->sharedMemPerBlock = *value++;
    found->sharedMemPerBlockOptin = *value++;
    found->sharedMemPerMultiprocessor = *value++;
    found->reservedSharedMemPerBlock = *value++;
    found->regsPerBlock = *value++;
    found->regsPerMultiprocessor = *value++;
    found->warpSize = *value++;
    found->maxThreadsPerBlock = *value++;
    found->maxThreadsPerMultiProcessor = *value++;
    found->maxBlocksPerMultiProcessor = *value++;
    found->totalConstMem = *value++;
    found->major = *value++;
    found->minor = *value++;
    found->multiProcessorCount = *value++;
    found->l2CacheSize = *value++;
    found->memoryBusWidth = *value++;
    int threads[] = {1024, 1024, 64}, blocks[] = {2147483647, 65535, 65535};
    memcpy(found->maxThreadsDim, threads, sizeof threads);
    memcpy(found->maxGridSize, blocks, sizeof blocks);
    found->concurrentKernels = found->unifiedAddressing = found->managedMemory = found->canMapHostMemory = 1;
    found->cooperativeLaunch = found->concurrentManagedAccess = 1;
    return status;
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, cudaDeviceP2PAttr, int, int) {
    *value = 0;
    return cudaSuccess;
}
cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }

// errors
cudaError_t cudaPeekAtLastError() { return last; }
cudaError_t cudaGetLastError() {
    cudaError_t found = last;
    last = cudaSuccess;
    return found;
}
const char *cudaGetErrorString(cudaError_t error) {
    const char *text = "";
    const long given[] = {(long)&text, (long)error};
    handler("error_string", 2, given);
    return text;
}
const char *cudaGetErrorName(cudaError_t error) {
    const char *text = "";
    const long given[] = {(long)&text, (long)error};
    handler("error_name", 2, given);
    return text;
}

// streams and events
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
    return call("stream_create", stream, flags, priority);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    return call("stream_create", stream, flags, 0);
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) { return call("stream_create", stream, 0, 0); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) { return call("stream_destroy", stream); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return call("synchronize", stream); }
cudaError_t cudaStreamQuery(cudaStream_t) { return call("synchronize", 0); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    return call("stream_wait", stream, event);
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags) {
    int priority;
    return call("stream_info", stream, flags, &priority);
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority) {
    unsigned flags;
    return call("stream_info", stream, &flags, priority);
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id) {
    *id = (unsigned long long)stream;
    return cudaSuccess;
}
cudaError_t cudaStreamGetDevice(cudaStream_t, int *device) { return cudaGetDevice(device); }
cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID, const cudaStreamAttrValue *) { return cudaSuccess; }
cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void *, size_t, unsigned) { return cudaSuccess; }
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t f, void *data) {
    return call("host_function", stream, f, data);
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t f, void *data, unsigned) {
    if (auto status = cudaStreamSynchronize(stream)) return status;
    f(stream, cudaSuccess, data);
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) { return call("event_create", event); }
cudaError_t cudaEventCreate(cudaEvent_t *event) { return call("event_create", event); }
cudaError_t cudaEventDestroy(cudaEvent_t event) { return call("event_destroy", event); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) { return call("event_record", event, stream); }
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
    return call("event_record", event, stream);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return call("event_synchronize", event); }
cudaError_t cudaEventQuery(cudaEvent_t event) { return call("event_synchronize", event); }
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to) {
    return call("event_elapsed", ms, from, to);
}
cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }

// kernels
cudaError_t cudaFuncSetCacheConfig(const void *, cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaFuncSetAttribute(const void *f, cudaFuncAttribute attribute, int value) {
    return call("function_set", vgpu_symbol(f), attribute, value);
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *found, const void *f) {
    long values[5] = {};
    memset(found, 0, sizeof *found);
    cudaError_t status = call("function_get", vgpu_symbol(f), values);
    found->numRegs = values[0];
    found->sharedSizeBytes = values[1];
    found->localSizeBytes = values[2];
    found->constSizeBytes = values[3];
    found->maxThreadsPerBlock = values[4];
    found->ptxVersion = found->binaryVersion = 80;
    found->maxDynamicSharedSizeBytes = 48 * 1024 - values[1];
    return status;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *f, int threads, size_t shared,
                                                                   unsigned) {
    return call("occupancy", blocks, vgpu_symbol(f), threads, shared);
}
cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *f, const cudaLaunchConfig_t *how) {
    unsigned size = 1;
    for (unsigned i = 0; i < how->numAttrs; ++i)
        if (how->attrs[i].id == cudaLaunchAttributeClusterDimension) {
            const auto &given = how->attrs[i].val.clusterDim;
            size = given.x * given.y * given.z;
        }
    const dim3 &block = how->blockDim;
    return call("occupancy_clusters", clusters, vgpu_symbol(f), block.x * block.y * block.z, how->dynamicSmemBytes, size);
}
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *f, int blocks, int threads) {
    return call("occupancy_shared", bytes, vgpu_symbol(f), blocks, threads);
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *f, int threads, size_t shared) {
    return call("occupancy", blocks, vgpu_symbol(f), threads, shared);
}
}
