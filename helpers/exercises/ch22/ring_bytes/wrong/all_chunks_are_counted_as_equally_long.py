def ring_bytes(elements, ranks, rank):
    return 8 * (ranks - 1) * elements // ranks
