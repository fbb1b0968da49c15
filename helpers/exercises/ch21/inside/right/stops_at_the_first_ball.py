import numpy as np

@cuda.jit
def inside(points, reference, squared, found):
    i = cuda.grid(1)
    if i < points.shape[1]:
        found[i] = 0
        for ball in range(reference.shape[0]):
            left = squared[ball]
            for k in range(reference.shape[1]):
                left -= (points[k, i] - reference[ball, k]) ** 2
            if left >= 0:
                found[i] = 1
                break
