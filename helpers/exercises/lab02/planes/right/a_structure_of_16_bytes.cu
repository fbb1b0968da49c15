struct __align__(16) Rec { float x, y, z, w; };
extern "C" __global__ void planes(const float* records, float* out, int n){int i = blockIdx.x
    * blockDim.x + threadIdx.x;
if (i < n) { Rec r = reinterpret_cast<const Rec*>(records)[i]; float* p = out + i; *p = r.x; p
    += n; *p = r.y; p += n; *p = r.z; p += n; *p = r.w; } }
