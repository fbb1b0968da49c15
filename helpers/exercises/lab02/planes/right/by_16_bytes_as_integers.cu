extern "C" __global__ void planes(const float* records, float* out, int n){int i = blockIdx.x
    * blockDim.x + threadIdx.x;
if (i < n) { float f[4]; *(int4*)f = ((const int4*)records)[i]; for (int c = 0; c < 4; c++)
    out[n * c + i] = f[c]; } }
