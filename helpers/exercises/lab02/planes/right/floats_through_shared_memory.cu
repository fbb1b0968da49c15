extern "C" __global__ void planes(const float* records, float* out, int n){__shared__ float
    s[4][129]; int first = blockIdx.x * blockDim.x * 4; for (int k = threadIdx.x; k < 512; k
    += 128) if (first + k < 4 * n) s[k % 4][k / 4] = records[first + k]; __syncthreads();int i
    = blockIdx.x * blockDim.x + threadIdx.x;
if (i < n) for (int c = 0; c < 4; ++c) out[c * n + i] = s[c][threadIdx.x];}
