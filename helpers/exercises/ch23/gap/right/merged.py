def longest_gap(kernels):
    merged = []
    for start, seconds in sorted(kernels):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], start + seconds)
        else:
            merged.append([start, start + seconds])
    where, longest = None, 0
    for (_, end), (start, _) in zip(merged, merged[1:], strict=False):
        if start - end > longest:
            where, longest = end, start - end
    return where, longest
