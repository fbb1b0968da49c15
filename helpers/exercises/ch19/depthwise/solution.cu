extern "C" __global__
void depthwise(const float* image, const float* weight, float* out, int channels, int height, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= channels * height * width) return;
    int column = i % width;
    int row = i / width % height;
    int c = i / (width * height);
    float sum = 0;
    for (int r = 0; r < 3; ++r)
        for (int s = 0; s < 3; ++s) {
            int y = row + r - 1, x = column + s - 1;
            if (y >= 0 && y < height && x >= 0 && x < width)
                sum += image[(c * height + y) * width + x] * weight[9 * c + 3 * r + s];
        }
    out[i] = sum;
}
