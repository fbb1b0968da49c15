def clocks(chains, steps, lanes, latency):
    dealt = [0] * lanes
    for chain in range(chains):
        dealt[chain % lanes] += 1
    time = 0
    for _ in range(steps):
        time += max([latency, *dealt])
    return time
