extern "C" __global__
void depthwise(const float* image, const float* weight, float* out, int channels, int height, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= channels * height * width) return;
    int column = i % width;
    int row = i / width % height;
    int c = i / (width * height);
    float sum = 0;
    for (int y = max(row - 1, 0); y <= min(row + 1, height - 1); ++y)
        for (int x = max(column - 1, 0); x <= min(column + 1, width - 1); ++x)
            sum += image[(c * height + y) * width + x] * weight[9 * c + 3 * (y - row + 1) + x - column + 1];
    out[i] = sum;
}
