extern "C" __global__ void count_bytes(const unsigned* words, int* counts, int n){__shared__
    int mine[4 * 256]; int t = threadIdx.x;
for (int k = t; k < 4 * 256; k += blockDim.x) mine[k] = 0;
__syncthreads();
for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) { unsigned word
    = words[i];
for (int shift = 0; shift < 32; shift += 8) atomicAdd(&mine[(word >> shift & 255) * 4 + t %
    4], 1); }
__syncthreads();
for (int k = t; k < 256; k += blockDim.x) atomicAdd(&counts[k], mine[4 * k] + mine[4 * k + 1]
    + mine[4 * k + 2] + mine[4 * k + 3]);
}
