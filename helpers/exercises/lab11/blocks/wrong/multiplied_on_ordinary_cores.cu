extern "C" __global__ void blocks(const signed char* x, const signed char* w, const float* sx, const float* sw,
                                  float* y, int m, int k, int n) {
    int column = 32 * blockIdx.x + threadIdx.x % 32, slices = k / 64;
    for (int row = 32 * blockIdx.y + threadIdx.x / 32; row < 32 * blockIdx.y + 32; row += 4) {
        float total = 0;
        for (int slice = 0; slice < slices; ++slice) {
            int sum = 0;
            for (int i = 64 * slice; i < 64 * slice + 64; ++i) sum += x[row * k + i] * w[column * k + i];
            total += sum * sx[row * slices + slice] * sw[blockIdx.x * slices + slice];
        }
        y[row * n + column] = total;
    }
}
