extern "C" __global__ void two_of_four(const float4* weights, float4* out, int groups) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < groups; i += gridDim.x * blockDim.x) {
        float4 group = weights[i];
        float w[4] = {group.x, group.y, group.z, group.w};
        bool gone[4] = {};
        for (int round = 0; round < 2; ++round) {
            int least = -1;
            for (int k = 0; k < 4; ++k)
                if (!gone[k] && (least < 0 || fabsf(w[k]) <= fabsf(w[least]))) least = k;
            for (int k = 0; k < 4; ++k)
                gone[k] |= k == least;
        }
        for (int k = 0; k < 4; ++k)
            w[k] = gone[k] ? 0 : w[k];
        out[i] = make_float4(w[0], w[1], w[2], w[3]);
    }
}
