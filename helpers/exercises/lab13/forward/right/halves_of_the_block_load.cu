extern "C" __global__ void forward(const float* x, const float* f, float* y,
                                     int c, int h, int w, int k, int r) {
    __shared__ float image[2048], filters[2048];
    int oh = h - r + 1, ow = w - r + 1, t = threadIdx.x;
    if (t < 64) for (int i = t; i < c * h * w; i += 64) image[i] = x[blockIdx.x * c * h * w + i];
    else for (int i = t - 64; i < k * c * r * r; i += 64) filters[i] = f[i];
    __syncthreads();
    for (int o = t; o < k * oh * ow; o += blockDim.x) {
        float sum = 0;
        for (int a = 0; a < r; ++a)
            for (int b = 0; b < r; ++b)
                for (int ch = c - 1; ch >= 0; --ch)
                    sum = fmaf(image[(ch * h + o / ow % oh + a) * w + o % ow + b],
                               filters[((o / (oh * ow) * c + ch) * r + a) * r + b], sum);
        y[blockIdx.x * k * oh * ow + o] = sum;
    }
}
