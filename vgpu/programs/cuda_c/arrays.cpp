// CUDA arrays, textures and surfaces. Arrays are rows in memory here: copies to and from them are copies of rows.
#include "runtime.h"

namespace {

struct Rows {
    char *address;
    size_t pitch, slice, texel;  // bytes between rows, between slices, and of a texel
};

cudaError_t rows(cudaArray_const_t array, Rows *found) { return call("array_rows", array, found); }

// Texels of a row or more, between memory and an array that it begins in at (x bytes, y).
cudaError_t between(bool to_array, cudaArray_const_t array, size_t x, size_t y, void *memory, size_t pitch,
                    size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream, bool asynchronous) {
    Rows at;
    if (auto status = rows(array, &at)) return status;
    char *begin = at.address + y * at.pitch + x;
    void *to = to_array ? begin : memory, *from = to_array ? memory : begin;
    size_t to_pitch = to_array ? at.pitch : pitch, from_pitch = to_array ? pitch : at.pitch;
    return asynchronous ? cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, stream)
                        : cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

// As many whole rows as `n` bytes are, for the calls that know no rows.
cudaError_t whole(bool to_array, cudaArray_const_t array, size_t x, size_t y, void *memory, size_t n,
                  cudaMemcpyKind kind, cudaStream_t stream, bool asynchronous) {
    Rows at;
    if (auto status = rows(array, &at)) return status;
    char *begin = at.address + y * at.pitch + x;
    void *to = to_array ? begin : memory, *from = to_array ? memory : begin;
    return asynchronous ? cudaMemcpyAsync(to, from, n, kind, stream) : cudaMemcpy(to, from, n, kind);
}

// A side of a copy of a box: an array counts in texels, memory in bytes.
cudaError_t side(cudaArray_t array, cudaPos at, cudaPitchedPtr memory, Rows *found, size_t *texel) {
    if (array) {
        if (auto status = rows(array, found)) return status;
        *texel = found->texel;
    } else {
        *found = {(char *)memory.ptr, memory.pitch, memory.pitch * memory.ysize, 1};
    }
    found->address += at.z * found->slice + at.y * found->pitch + at.x * found->texel;
    return cudaSuccess;
}

cudaError_t box(const cudaMemcpy3DParms *p, cudaStream_t stream, bool asynchronous) {
    Rows to, from;
    size_t texel = 1;  // of the array, if one takes part: then the width is in texels
    if (auto status = side(p->srcArray, p->srcPos, p->srcPtr, &from, &texel)) return status;
    if (auto status = side(p->dstArray, p->dstPos, p->dstPtr, &to, &texel)) return status;
    size_t width = p->extent.width * texel, height = p->extent.height ? p->extent.height : 1, depth = p->extent.depth;
    if (to.slice == to.pitch * height && from.slice == from.pitch * height) height *= depth, depth = 1;  // one copy
    for (size_t z = 0; z < depth; ++z) {
        char *target = to.address + z * to.slice, *source = from.address + z * from.slice;
        cudaError_t status = asynchronous
            ? cudaMemcpy2DAsync(target, to.pitch, source, from.pitch, width, height, p->kind, stream)
            : cudaMemcpy2D(target, to.pitch, source, from.pitch, width, height, p->kind);
        if (status) return status;
    }
    return cudaSuccess;
}

}  // namespace

extern "C" {

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
    return {x, y, z, w, kind};
}
cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *of, cudaExtent size, unsigned flags) {
    return call("array_create", array, of->x, of->y, of->z, of->w, of->f, size.width, size.height, size.depth, flags);
}
cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *of, size_t width, size_t height,
                            unsigned flags) {
    return cudaMalloc3DArray(array, of, {width, height, 0}, flags);
}
cudaError_t cudaFreeArray(cudaArray_t array) { return call("array_free", array); }
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc *of, cudaExtent *size, unsigned *flags, cudaArray_t array) {
    long values[9] = {};
    cudaError_t status = call("array_info", array, values);
    if (of) *of = {(int)values[0], (int)values[1], (int)values[2], (int)values[3], (cudaChannelFormatKind)values[4]};
    if (size) *size = {(size_t)values[5], (size_t)values[6], (size_t)values[7]};
    if (flags) *flags = values[8];
    return status;
}
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *of, cudaArray_const_t array) {
    return cudaArrayGetInfo(of, nullptr, nullptr, (cudaArray_t)array);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
    return between(true, to, x, y, (void *)from, pitch, width, height, kind, 0, false);
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    return between(true, to, x, y, (void *)from, pitch, width, height, kind, stream, true);
}
cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                  size_t height, cudaMemcpyKind kind) {
    return between(false, from, x, y, to, pitch, width, height, kind, 0, false);
}
cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                       size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    return between(false, from, x, y, to, pitch, width, height, kind, stream, true);
}
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t n, cudaMemcpyKind kind) {
    return whole(true, to, x, y, (void *)from, n, kind, 0, false);
}
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t n, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
    return whole(true, to, x, y, (void *)from, n, kind, stream, true);
}
cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t n, cudaMemcpyKind kind) {
    return whole(false, from, x, y, to, n, kind, 0, false);
}
cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y, size_t n,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
    return whole(false, from, x, y, to, n, kind, stream, true);
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p) { return box(p, 0, false); }
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *p, cudaStream_t stream) { return box(p, stream, true); }

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture, const cudaResourceDesc *of,
                                    const cudaTextureDesc *how, const cudaResourceViewDesc *view) {
    return view ? cudaErrorNotSupported : call("texture_create", texture, of, how);
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) { return call("texture_destroy", texture); }
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *surface, const cudaResourceDesc *of) {
    return call("texture_create", surface, of, nullptr);
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) { return call("texture_destroy", surface); }
}
