import math
import numpy as np

@cuda.jit
def attend(scores, lengths, weights):
    w = cuda.grid(1)
    if w < scores.shape[1]:
        largest = scores[0, w]
        for position in range(1, lengths[w]):
            largest = max(largest, scores[position, w])
        total = np.float32(0)
        for position in range(lengths[w]):
            total += math.exp(scores[position, w] - largest)
        for position in range(scores.shape[0]):
            if position < lengths[w]:
                weights[position, w] = math.exp(scores[position, w] - largest) / total
            else:
                weights[position, w] = np.float32(0)
