import math
def break_even(cpu_ns, gpu_ns, start_us):
    if not cpu_ns > gpu_ns: return None
    n = 1
    while n*cpu_ns <= start_us*1000 + n*gpu_ns: n += 1
    return n
