"""Machine code: what stays of a kernel that was changed and compiled again, as a notebook's cell is."""

import subprocess
import sys

CHANGED = 200
MANY = f"""
import gc, psutil
from vgpu import cp

SOURCE = '''extern "C" __global__ void k(float* x, int n) {{
    __shared__ float s[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = x[i];
    __syncthreads();
    float t = 0;
    #pragma unroll
    for (int j = 0; j < 12; j++) t += s[(threadIdx.x + j) % 64] * 3;
    x[i] = i < n ? t + NUMBER : 0;
}}'''

def changed(number):
    kernel = cp.RawKernel(SOURCE.replace("NUMBER", str(number)), "k")
    return kernel

def right(kernel, number):
    x = cp.ones(64, cp.float32)
    kernel((1,), (64,), (x, 64))
    return x.get().tolist() == [36.0 + number] * 64

first = changed(0)
assert all(right(changed(number), number) for number in range(1, 40))
gc.collect()
before = psutil.Process().memory_info().rss
assert all(right(changed(number), number) for number in range(40, 40 + {CHANGED}))
gc.collect()
print((psutil.Process().memory_info().rss - before) / {CHANGED} / 1024)
assert right(first, 0)
"""


def test_sources_changed_often_leave_little_behind():
    done = subprocess.run([sys.executable, "-c", MANY], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 160, "KiB for each source: its machine code stays, what it was made of should not"
