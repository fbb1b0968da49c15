extern "C" __global__ void ranks(const float* x, const int* k, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x; if (i >= n) return;
    float a=x[4*i],b=x[4*i+1],c=x[4*i+2],d=x[4*i+3]; int ra=(b<a)+(c<a)+(d<a),
    rb=(a<=b)+(c<b)+(d<b), rc=(a<=c)+(b<=c)+(d<c); int w=k[i]; out[i]= ra==w?a: rb==w?b: rc==w?c: d;
    }
