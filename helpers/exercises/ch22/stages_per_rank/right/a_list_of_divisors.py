def stages_per_rank(layers, ranks, micro_batches, limit):
    per_rank, left = divmod(layers, ranks)
    possible = [v for v in range(1, per_rank + 1) if left == 0 and per_rank % v == 0]
    enough = [v for v in possible if (ranks - 1) <= limit * (v * micro_batches + ranks - 1) + 1e-12]
    return enough[0] if enough else 0
