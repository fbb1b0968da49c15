def stages_per_rank(layers, ranks, micro_batches, limit):
    for v in range(1, layers // ranks + 1):
        bubble = (ranks - 1) / (v * micro_batches + ranks - 1)
        if layers % (v * ranks) == 0 and bubble <= limit:
            return v
    return 0
