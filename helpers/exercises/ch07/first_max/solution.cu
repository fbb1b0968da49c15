extern "C" __global__
void first_max(const float* x, int* out, int n) {
    __shared__ float value[256];
    __shared__ int place[256];
    int t = threadIdx.x;
    value[t] = t < n ? x[blockIdx.x * n + t] : -3e38f;
    place[t] = t;
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) {
            bool greater = value[t + d] > value[t];
            bool earlier = value[t + d] == value[t] && place[t + d] < place[t];
            if (greater || earlier) {
                value[t] = value[t + d];
                place[t] = place[t + d];
            }
        }
    }
    if (t == 0) out[blockIdx.x] = place[0];
}
