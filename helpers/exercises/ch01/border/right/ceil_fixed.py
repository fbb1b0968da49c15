import math
def break_even(cpu_ns, gpu_ns, start_us):
    d = cpu_ns-gpu_ns
    if d <= 0: return None
    n = math.ceil(start_us*1000/d)
    return n + (n*d == start_us*1000)
