import numpy as np

@cuda.jit
def inside(points, reference, squared, found):
    i = cuda.grid(1)
    if i < found.size:
        hit = 0
        for ball in range(reference.shape[0]):
            distance = np.float32(0)
            for k in range(reference.shape[1]):
                difference = points[k, i] - reference[ball, k]
                distance += difference * difference
            if distance <= squared[ball]:
                hit = 1
        found[i] = hit
