extern "C" __global__ void normalise(const float* x, const float* mean, const float* scale,
    float* out, int channels, int pixels, int n){int i = blockIdx.x * blockDim.x +
    threadIdx.x; int step = gridDim.x * blockDim.x; const float4* x4 = (const float4*)x;
    float4* o4 = (float4*)out; int n4 = n / 4; auto f = [&](float v, int j) { int c = j /
    pixels % channels; return (v - mean[c]) * scale[c]; }; for (int j = i; j < n4; j += step)
    { float4 v = x4[j]; o4[j] = make_float4(f(v.x, 4*j), f(v.y, 4*j+1), f(v.z, 4*j+2), f(v.w,
    4*j+3)); } for (int j = 4 * n4 + i; j < n; j += step) out[j] = f(x[j], j);}
