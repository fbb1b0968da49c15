import heapq
def typical(times, warmup):
    c = times[warmup:]
    h = heapq.nsmallest(len(c)//2+1, c)
    return h[-1] if len(c) % 2 else sum(h[-2:])/2
