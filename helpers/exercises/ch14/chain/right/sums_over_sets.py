def chain_bytes(operations, wanted, elements):
    made = {output for _, output in operations}
    read = set().union(*(inputs for inputs, _ in operations))
    separate = sum(1 + len(set(inputs)) for inputs, _ in operations)
    fused = len(read - made) + len(wanted)
    return 4 * elements * separate, 4 * elements * fused
