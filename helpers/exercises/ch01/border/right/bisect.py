import math
def break_even(cpu_ns, gpu_ns, start_us):
    if gpu_ns >= cpu_ns: return None
    lo, hi = 0, 10**9
    while hi - lo > 1:
        m = (lo+hi)//2
        if m*cpu_ns > start_us*1000+m*gpu_ns: hi = m
        else: lo = m
    return hi
