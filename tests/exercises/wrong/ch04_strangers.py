"""More wrong answers to the exercises of chapter 04, by other hands."""

ROWS = [
    (
        "ch04.halve",
        "transposed",
        """@cuda.jit
def halve(x, out):
    c, r = cuda.grid(2)
    if r < x.shape[0] and c < x.shape[1]:
        out[c, r] = x[r, c]/2""",
        "stored as the transposed matrix",
    ),
    (
        "ch04.halve",
        "//",
        """@cuda.jit
def halve(x, out):
    c, r = cuda.grid(2)
    if r < x.shape[0] and c < x.shape[1]:
        out[r, c] = x[r, c]//2""",
        "doubled, or rounded down",
    ),
    (
        "ch04.halve",
        "grid(1) col",
        """@cuda.jit
def halve(x, out):
    i = cuda.grid(1)
    if i < x.shape[1]:
        for j in range(x.shape[0]):
            out[j, i] = x[j, i]/2""",
        "loaded more than once",
    ),
    (
        "ch04.halve",
        "two loads",
        """@cuda.jit
def halve(x, out):
    c, r = cuda.grid(2)
    if r < x.shape[0] and c < x.shape[1]:
        out[r, c] = x[r, c]
        out[r, c] = out[r, c] - x[r, c]/2""",
        "loaded more than once",
    ),
    (
        "ch04.halve",
        "stride-2 columns",
        """@cuda.jit
def halve(x, out):
    c, r = cuda.grid(2)
    for k in range(2):
        if r < x.shape[0] and 2*c+k < x.shape[1]:
            out[r, 2*c+k] = x[r, 2*c+k]/2""",
        "neighbouring lanes are apart",
    ),
    (
        "ch04.halve",
        "all threads all",
        """@cuda.jit
def halve(x, out):
    for r in range(x.shape[0]):
        for c in range(x.shape[1]):
            out[r, c] = x[r, c]/2""",
        "every thread does everything",
    ),
    (
        "ch04.grey",
        "whole-number weights",
        """{int i = blockIdx.x*blockDim.x+threadIdx.x;
    if(i<n) out[i]=(1/4)*planes[i]+(1/2)*planes[n+i]+(1/4)*planes[2*n+i]; }""",
        "a quarter became 0",
    ),
    (
        "ch04.grey",
        "one plane missing",
        "{int i = blockIdx.x*blockDim.x+threadIdx.x; if(i<n) out[i]=.25f*planes[i]+.5f*planes[n+i]; }",
        "a colour is left out",
    ),
    (
        "ch04.grey",
        "gridsize plane",
        """{int i = blockIdx.x*blockDim.x+threadIdx.x; int m=gridDim.x*blockDim.x;
    if(i<n) out[i]=.25f*planes[i]+.5f*planes[m+i]+.25f*planes[2*m+i]; }""",
        "the index leads out of the planes",
    ),
    (
        "ch04.grey",
        "luma weights",
        """{int i = blockIdx.x*blockDim.x+threadIdx.x;
    if(i<n) out[i]=.299f*planes[i]+.587f*planes[n+i]+.114f*planes[2*n+i]; }""",
        "the weights are mixed up",
    ),
    (
        "ch04.grey",
        "thread idx",
        "{int i=threadIdx.x; if(i<n) out[i]=.25f*planes[i]+.5f*planes[n+i]+.25f*planes[2*n+i]; }",
        "every block does the work of block 0",
    ),
    (
        "ch04.grey",
        "each thread all",
        "{ for(int i=0;i<n;++i) out[i]=.25f*planes[i]+.5f*planes[n+i]+.25f*planes[2*n+i]; }",
        "every thread does everything",
    ),
    (
        "ch04.grey",
        "loads again",
        """{int i = blockIdx.x*blockDim.x+threadIdx.x; if(i<n){ out[i]=.25f*planes[i]+.5f*planes[n+i];
    out[i]=.25f*planes[i]+.5f*planes[n+i]+.25f*planes[2*n+i]; } }""",
        "loaded more than once",
    ),
    (
        "ch04.float4",
        "float2 x2",
        """{int i = blockIdx.x*blockDim.x+threadIdx.x; if(4*i+3<n){
    ((float2*)out)[2*i]=((const float2*)in)[2*i]; ((float2*)out)[2*i+1]=((const float2*)in)[2*i+1];
    } else for(int j=4*i;j<n;j++) out[j]=in[j]; }""",
        "more requests than float4s need",
    ),
    (
        "ch04.float4",
        "thread 0 all",
        """{ if(blockIdx.x==0 && threadIdx.x==0) { for(int i=0;i<n/4;
    ++i) ((float4*)out)[i]=((const float4*)in)[i]; for(int j=n/4*4;j<n;++j) out[j]=in[j]; } }""",
        "more requests than float4s need",
    ),
    (
        "ch04.float4",
        "index 4*i in float4",
        """{int i = blockIdx.x*blockDim.x+threadIdx.x;
    if(4*i+3<n) ((float4*)out)[4*i]=((const float4*)in)[4*i]; else for(int j=4*i;j<n;
    j++) out[j]=in[j]; }""",
        "the index counts floats, the pointer float4s",
    ),
    (
        "ch04.float4",
        "misaligned in+i",
        """{int i = blockIdx.x*blockDim.x+threadIdx.x; if(4*i+3<n) *(float4*)(out+i)=*(const float4*)(in+i);
    else for(int j=4*i;j<n;j++) out[j]=in[j]; }""",
        "a float4 that begins between two",
    ),
    (
        "ch04.float4",
        "threadIdx only",
        """{int i=threadIdx.x; if(4*i+3<n) ((float4*)out)[i]=((const float4*)in)[i]; else for(int j=4*i;j<n;
    j++) out[j]=in[j]; }""",
        "every block does the work of block 0",
    ),
]
