def order(stage, stages, micro_batches):
    forward = [f"F{part}" for part in range(micro_batches)]
    backward = [f"B{part}" for part in range(micro_batches)]
    ahead = min(stages - stage - 1, micro_batches)
    work, forward = forward[:ahead], forward[ahead:]
    while backward:
        if forward:
            work.append(forward.pop(0))
        work.append(backward.pop(0))
    return work
