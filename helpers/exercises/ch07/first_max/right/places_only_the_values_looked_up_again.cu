extern "C" __global__ void first_max(const float* x, int* out, int n) {
    __shared__ int place[256];
    int t = threadIdx.x;
    const float* row = x + blockIdx.x * n;
    place[t] = t;
    for (int d = 128; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d && place[t + d] < n) {
            int a = place[t], b = place[t + d];
            if (a >= n || row[b] > row[a] || (row[b] == row[a] && b < a)) place[t] = b;
        }
    }
    if (t == 0) out[blockIdx.x] = place[0];
}
