extern "C" __global__ void fill(const int* x, int* out, int n) {
    __shared__ int s[8];  // what each warp found last
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
int v = t < n ? x[blockIdx.x * n + t] : -1; if (t < n) { for (int k = t - 1; k >= 0 && v < 0; --k) v = x[blockIdx.x * n + k]; out[blockIdx.x * n + t] = v; }
}
