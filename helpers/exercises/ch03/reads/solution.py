def constant_reads(which):
    reads = 0
    for start in range(0, len(which), 32):
        warp = which[start : start + 32]
        reads += len(set(warp))
    return reads
