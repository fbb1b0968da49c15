def lanes_at_work(lengths):
    work = turns = 0
    while lengths:
        warp, lengths = lengths[:32], lengths[32:]
        letter = 0
        while any(length > letter for length in warp):
            work += sum(length > letter for length in warp)
            turns += 1
            letter += 1
    return work / turns
