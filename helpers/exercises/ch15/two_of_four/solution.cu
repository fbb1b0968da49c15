extern "C" __global__ void two_of_four(const float4* weights, float4* out, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= groups) return;
    float4 group = weights[i];
    float w[4] = {group.x, group.y, group.z, group.w}, kept[4];
    for (int j = 0; j < 4; ++j) {
        int ahead = 0;
        for (int k = 0; k < 4; ++k)
            ahead += fabsf(w[k]) > fabsf(w[j]) || (fabsf(w[k]) == fabsf(w[j]) && k < j);
        kept[j] = ahead < 2 ? w[j] : 0;
    }
    out[i] = make_float4(kept[0], kept[1], kept[2], kept[3]);
}
