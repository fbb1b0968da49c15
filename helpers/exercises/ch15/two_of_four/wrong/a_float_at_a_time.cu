extern "C" __global__ void two_of_four(const float* weights, float* out, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= groups) return;
    for (int j = 0; j < 4; ++j) {
        int ahead = 0;
        float mine = fabsf(weights[4 * i + j]);
        for (int k = 0; k < 4; ++k) {
            float other = fabsf(weights[4 * i + k]);
            ahead += other > mine || (other == mine && k < j);
        }
        out[4 * i + j] = ahead < 2 ? weights[4 * i + j] : 0;
    }
}
