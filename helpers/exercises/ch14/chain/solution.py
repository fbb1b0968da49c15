def chain_bytes(operations, wanted, elements):
    made, read = set(), set()
    separate = 0
    for inputs, output in operations:
        separate += len(set(inputs)) + 1
        read.update(inputs)
        made.add(output)
    fused = len(read - made) + len(wanted)
    return 4 * elements * separate, 4 * elements * fused
