def chain_bytes(operations, wanted, elements):
    one = 4 * elements
    separate = fused = 0
    inside = {output for _, output in operations}
    outside = set()
    for inputs, _ in operations:
        separate += one * (len(set(inputs)) + 1)
        outside |= {name for name in inputs if name not in inside}
    fused = one * (len(outside) + len(wanted))
    return separate, fused
