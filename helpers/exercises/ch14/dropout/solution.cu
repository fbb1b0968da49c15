extern "C" __global__
void residual_dropout(const float* x, const unsigned char* mask, const float* residual, float* out, int n,
                      float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = residual[i] + (mask[i] ? x[i] * scale : 0);
}
