import math

def break_even(cpu_ns, gpu_ns, start_us):
    return start_us / cpu_ns
