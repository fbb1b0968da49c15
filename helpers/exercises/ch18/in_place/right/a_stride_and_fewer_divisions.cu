extern "C" __global__ void in_place(float* logits, const float* logsum, const int* wanted, int tokens, int words) {
    float scale = 1.0f / tokens;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < tokens * words; i += gridDim.x * blockDim.x) {
        int token = i / words, target = wanted[token];
        float share = expf(logits[i] - logsum[token]) - (i - token * words == target);
        logits[i] = target < 0 ? 0 : scale * share;
    }
}
