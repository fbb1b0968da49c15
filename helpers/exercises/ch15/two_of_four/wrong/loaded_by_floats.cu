extern "C" __global__ void two_of_four(const float* weights, float* out, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= groups) return;
    float w[4];
    for (int j = 0; j < 4; ++j)
        w[j] = weights[4 * i + j];
    for (int j = 0; j < 4; ++j) {
        int ahead = 0;
        for (int k = 0; k < 4; ++k)
            ahead += fabsf(w[k]) > fabsf(w[j]) || (fabsf(w[k]) == fabsf(w[j]) && k < j);
        out[4 * i + j] = ahead < 2 ? w[j] : 0;
    }
}
