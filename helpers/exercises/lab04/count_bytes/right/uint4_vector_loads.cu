extern "C" __global__ void count_bytes(const unsigned* words, int* counts, int n){__shared__
    int mine[4 * 257]; int t = threadIdx.x;
for (int k = t; k < 4 * 257; k += blockDim.x) mine[k] = 0;
__syncthreads();
auto one = [&](unsigned word) { for (int shift = 0; shift < 32; shift += 8) atomicAdd(&mine[t
    % 4 * 257 + (word >> shift & 255)], 1); }; int id = blockIdx.x * blockDim.x + t, step =
    gridDim.x * blockDim.x; for (int i = id; i < n / 4; i += step) { uint4 v = ((const
    uint4*)words)[i]; one(v.x); one(v.y); one(v.z); one(v.w); } for (int i = n / 4 * 4 + id; i
    < n; i += step) one(words[i]);
__syncthreads();
for (int k = t; k < 256; k += blockDim.x) atomicAdd(&counts[k], mine[k] + mine[257 + k] +
    mine[514 + k] + mine[771 + k]);
}
