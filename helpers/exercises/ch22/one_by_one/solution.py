def order(stage, stages, micro_batches):
    ahead = min(stages - 1 - stage, micro_batches)
    work = [f"F{part}" for part in range(ahead)]
    for part in range(micro_batches):
        if ahead + part < micro_batches:
            work.append(f"F{ahead + part}")
        work.append(f"B{part}")
    return work
