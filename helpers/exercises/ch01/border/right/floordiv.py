import math
def break_even(cpu_ns, gpu_ns, start_us):
    d = cpu_ns - gpu_ns
    return int(start_us*1000 // d) + 1 if d > 0 else None
