extern "C" __global__ void count_bytes(const unsigned* words, int* counts, int n){ __shared__
    int mine[256]; int t = threadIdx.x; for (int k = t; k < 256; k += 128) mine[k] = 0;
    __syncthreads();
for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) { unsigned w =
    words[i];
for (int s = 0; s < 32; s += 8) { unsigned b = w >> s & 255; unsigned a = __activemask();
    unsigned same = __match_any_sync(a, b); if (__ffs(same) - 1 == (t & 31))
    atomicAdd(&mine[b], __popc(same)); } }
__syncthreads(); for (int k = t; k < 256; k += 128) if (mine[k]) atomicAdd(&counts[k],
    mine[k]); }
