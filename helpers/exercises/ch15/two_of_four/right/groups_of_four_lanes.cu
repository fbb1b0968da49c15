extern "C" __global__ void two_of_four(const float* weights, float* out, int groups) {
    int threads = gridDim.x * blockDim.x, lane = threadIdx.x % 4;
    for (int part = 0; part < 4; ++part) {
        int i = part * threads + blockIdx.x * blockDim.x + threadIdx.x, ahead = 0;
        float mine = i < 4 * groups ? weights[i] : 0;
        for (int step = 1; step < 4; ++step) {
            int other = (lane + step) % 4;
            float theirs = fabsf(__shfl_sync(0xffffffff, mine, other, 4));
            ahead += theirs > fabsf(mine) || (theirs == fabsf(mine) && other < lane);
        }
        if (i < 4 * groups) out[i] = ahead < 2 ? mine : 0;
    }
}
