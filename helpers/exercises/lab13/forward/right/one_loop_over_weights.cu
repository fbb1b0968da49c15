extern "C" __global__ void forward(const float* x, const float* f, float* y,
                                     int c, int h, int w, int k, int r) {
    __shared__ float image[2048], filters[2048];
    int oh = h - r + 1, ow = w - r + 1, t = threadIdx.x;
    const float* mine = x + blockIdx.x * c * h * w;
    for (int i = t; i < c * h * w; i += 128) image[i] = mine[i];
    for (int i = t; i < k * c * r * r; i += 128) filters[i] = f[i];
    __syncthreads();
    for (int o = t; o < oh * ow * k; o += 128) {
        const float* window = image + o % (oh * ow) / ow * w + o % ow;
        const float* weights = filters + o / (oh * ow) * c * r * r;
        float sum = 0;
        for (int i = 0; i < c * r * r; ++i) sum += window[i / (r * r) * h * w + i / r % r * w + i % r] * weights[i];
        y[blockIdx.x * k * oh * ow + o] = sum;
    }
}
