def longest_gap(kernels):
    where, longest, busy = None, 0, None
    for start, seconds in sorted(kernels):
        if busy is not None and start - busy > longest:
            where, longest = busy, start - busy
        busy = start + seconds if busy is None else max(busy, start + seconds)
    return where, longest
