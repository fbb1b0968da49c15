extern "C" __global__
void add_norm(const float* x, const float* residual, const float* weight, float* out, long long offset,
              long long stride, int rows, int columns, float eps) {
    __shared__ float partial[4];
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        const float4 *left = (const float4*)(x + offset + r * stride), *right = (const float4*)(residual + r * columns);
        float4 *total = (float4*)(out + r * columns), *normed = (float4*)(out + (rows + r) * columns);
        float squares = 0;
        for (int i = threadIdx.x; i < columns / 4; i += 128) {
            float4 a = left[i], b = right[i], sum = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
            squares += sum.x * sum.x + sum.y * sum.y + sum.z * sum.z + sum.w * sum.w;
            total[i] = sum;
        }
        for (int step = 16; step > 0; step /= 2) squares += __shfl_xor_sync(0xffffffff, squares, step);
        __syncthreads();
        if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = squares;
        __syncthreads();
        float scale = rsqrtf((partial[0] + partial[1] + partial[2] + partial[3]) / columns + eps);
        for (int i = threadIdx.x; i < columns / 4; i += 128) {
            float4 sum = total[i], w = ((const float4*)weight)[i];
            normed[i] = make_float4(
                sum.x * scale * w.x, sum.y * scale * w.y, sum.z * scale * w.z, sum.w * scale * w.w);
        }
    }
}
