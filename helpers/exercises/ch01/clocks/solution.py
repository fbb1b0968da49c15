def clocks(chains, steps, lanes, latency):
    on_a_lane = (chains + lanes - 1) // lanes
    return steps * max(latency, on_a_lane)
