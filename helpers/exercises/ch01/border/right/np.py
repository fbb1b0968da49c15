import numpy as np

import math
def break_even(cpu_ns, gpu_ns, start_us):
    if gpu_ns >= cpu_ns: return
    return np.floor(1e3*start_us/(cpu_ns-gpu_ns)).astype(int) + 1
