def ring_bytes(elements, ranks, rank):
    return 4 * (ranks - 1) * elements
