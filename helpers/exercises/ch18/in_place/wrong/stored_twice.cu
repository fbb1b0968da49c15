extern "C" __global__ void in_place(float* logits, const float* logsum, const int* wanted, int tokens, int words) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= tokens * words) return;
    int token = i / words, word = i % words;
    volatile float* p = logits + i;
    *p = expf(*p - logsum[token]);
    *p = *p - (word == wanted[token]);
    *p = wanted[token] == -100 ? 0 : *p / tokens;
}
