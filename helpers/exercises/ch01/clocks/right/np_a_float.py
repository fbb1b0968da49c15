import numpy as np
def clocks(chains, steps, lanes, latency):
    return steps * np.maximum(latency, np.ceil(chains / lanes))
