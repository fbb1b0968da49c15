import math
import numpy as np

@cuda.jit
def one_pass(scores, state):
    query = cuda.grid(1)
    if query < scores.shape[1]:
        largest = scores[0, query]
        total = np.float32(1)
        for key in range(1, scores.shape[0]):
            s = scores[key, query]
            now = max(largest, s)
            total = total * math.exp(largest - now) + math.exp(s - now)
            largest = now
        state[0, query] = largest
        state[1, query] = total
