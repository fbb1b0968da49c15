def ring_bytes(elements, ranks, rank):
    sizes = [elements // ranks + (chunk < elements % ranks) for chunk in range(ranks)]
    total = 0
    for step in range(ranks - 1):
        total += sizes[(rank - step) % ranks]
        total += sizes[(rank + 1 - step) % ranks]
    return 4 * total
