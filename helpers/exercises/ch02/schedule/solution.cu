extern "C" __global__
void schedule(float* lr, float base, float gamma, int every, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        lr[i] = base * powf(gamma, i / every);
}
