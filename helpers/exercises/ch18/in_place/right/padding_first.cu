extern "C" __global__ void in_place(float* logits, const float* logsum, const int* wanted, int tokens, int words) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < tokens * words) {
        int token = i / words;
        float gradient = 0;
        if (wanted[token] != -100) {
            gradient = expf(logits[i]) / expf(logsum[token]);
            gradient = i == token * words + wanted[token] ? gradient - 1 : gradient;
        }
        logits[i] = gradient / tokens;
    }
}
