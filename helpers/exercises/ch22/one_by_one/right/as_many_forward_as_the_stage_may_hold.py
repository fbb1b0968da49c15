def order(stage, stages, micro_batches):
    work, forward, backward = [], 0, 0
    while backward < micro_batches:
        if forward < micro_batches and forward - backward < stages - stage:
            work.append(f"F{forward}")
            forward += 1
        else:
            work.append(f"B{backward}")
            backward += 1
    return work
