def ring_bytes(elements, ranks, rank):
    base, more = divmod(elements, ranks)
    sizes = [base + 1] * more + [base] * (ranks - more)
    scatter = sum(size for chunk, size in enumerate(sizes) if chunk != (rank + 1) % ranks)
    gather = sum(size for chunk, size in enumerate(sizes) if chunk != (rank + 2) % ranks)
    return 4 * (scatter + gather)
