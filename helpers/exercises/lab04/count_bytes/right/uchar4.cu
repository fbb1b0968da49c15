extern "C" __global__ void count_bytes(const unsigned* words, int* counts, int n){__shared__
    int mine[4 * 257]; int t = threadIdx.x;
for (int k = t; k < 4 * 257; k += blockDim.x) mine[k] = 0;
__syncthreads();
for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) { uchar4 v =
    reinterpret_cast<const uchar4*>(words)[i]; int* m = mine + (t & 3) * 257; atomicAdd(m +
    v.x, 1); atomicAdd(m + v.y, 1); atomicAdd(m + v.z, 1); atomicAdd(m + v.w, 1); }
__syncthreads();
for (int k = t; k < 256; k += blockDim.x) atomicAdd(&counts[k], mine[k] + mine[257 + k] +
    mine[514 + k] + mine[771 + k]);
}
