import math

def break_even(cpu_ns, gpu_ns, start_us):
    saved = cpu_ns - gpu_ns
    if saved <= 0:
        return None
    return math.floor(1000 * start_us / saved) + 1
