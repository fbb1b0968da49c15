extern "C" __global__ void schedule(float* lr, float base, float gamma, int every, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        lr[i] = base * pow((double)gamma, i / every);
}
