extern "C" __global__ void schedule(float* lr, float base, float gamma, int every, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float rate = base;
    for (int k = every; k <= i; k += every) rate *= gamma;
    lr[i] = rate;
}
