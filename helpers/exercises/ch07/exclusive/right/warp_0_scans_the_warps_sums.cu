struct Scan { int inclusive, own; };
__device__ int warp_inclusive(int v, int lane, unsigned mask) {
    #pragma unroll
    for (int d = 1; d < 32; d *= 2) { int l = __shfl_up_sync(mask, v, d); v += lane >= d ? l : 0; }
    return v;
}
extern "C" __global__ void exclusive(const int* __restrict__ x, int* __restrict__ out) {
    __shared__ int s[32];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32, n = blockDim.x;
    const int lanes = min(32, n - warp * 32), warps = (n + 31) / 32;
    const unsigned mask = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1u;
    Scan a; a.own = x[t]; a.inclusive = warp_inclusive(a.own, lane, mask);
    if (lane == lanes - 1) s[warp] = a.inclusive;
    __syncthreads();
    if (warp == 0) {
        int v = lane < warps ? s[lane] : 0;
        v = warp_inclusive(v, lane, mask);
        if (lane < warps) s[lane] = v;
    }
    __syncthreads();
    out[t] = a.inclusive - a.own + (warp ? s[warp - 1] : 0);
}
