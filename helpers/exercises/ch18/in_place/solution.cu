extern "C" __global__ void in_place(float* logits, const float* logsum, const int* wanted, int tokens, int words) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= tokens * words) return;
    int token = i / words, word = i % words;
    float gradient = expf(logits[i] - logsum[token]);
    if (word == wanted[token]) gradient -= 1;
    if (wanted[token] == -100) gradient = 0;
    logits[i] = gradient / tokens;
}
