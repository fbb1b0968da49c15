import math
def clocks(chains, steps, lanes, latency):
    most = math.ceil(chains / lanes)
    if most < latency:
        return latency * steps
    return most * steps
