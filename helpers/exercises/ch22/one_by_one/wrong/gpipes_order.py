def order(stage, stages, micro_batches):
    work = [f"F{part}" for part in range(micro_batches)]
    return work + [f"B{part}" for part in reversed(range(micro_batches))]
