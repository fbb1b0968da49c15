// How the runtime's files, and the headers of libraries, call Python.
#pragma once
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

extern "C" cudaError_t vgpu_call(const char *name, int count, const long *given);
// The symbol of a kernel's stub, or of a variable: the one that NVRTC gives the kernel, and for what only one file can
// see, the file's number.
extern "C" const char *vgpu_symbol(const void *address);

template <class... A>
cudaError_t call(const char *name, A... arguments) {
    long given[] = {0, (long)arguments...};
    return vgpu_call(name, sizeof...(arguments), given + 1);
}
