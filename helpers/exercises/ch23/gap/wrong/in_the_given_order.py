def longest_gap(kernels):
    where, longest = None, 0
    for (start, seconds), (following, _) in zip(kernels, kernels[1:], strict=False):
        end = start + seconds
        if following - end > longest:
            where, longest = end, following - end
    return where, longest
