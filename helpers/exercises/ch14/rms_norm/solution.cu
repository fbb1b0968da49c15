__device__ float block_sum(float value) {                     // of 128 threads, and all of them get it
    __shared__ float partial[4];
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffff, value, step);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = value;
    __syncthreads();
    return partial[0] + partial[1] + partial[2] + partial[3];
}

extern "C" __global__
void rms_norm(const float* x, const float* weight, float* out, int columns, float eps) {
    __shared__ float row[1024];
    int first = blockIdx.x * columns;
    float squares = 0;
    for (int i = threadIdx.x; i < columns; i += 128) {
        row[i] = x[first + i];
        squares += row[i] * row[i];
    }
    float scale = rsqrtf(block_sum(squares) / columns + eps);
    for (int i = threadIdx.x; i < columns; i += 128)
        out[first + i] = row[i] * scale * weight[i];
}
