import numpy as np

@cuda.jit(device=True)
def square_of_distance(points, i, centre):
    total = np.float32(0)
    for k in range(centre.size):
        step = abs(points[k, i] - centre[k])
        total = cuda.fma(step, step, total)
    return total

@cuda.jit
def inside(points, reference, squared, found):
    for i in range(cuda.grid(1), found.size, cuda.gridsize(1)):
        hits = 0
        for ball in range(squared.size):
            hits += square_of_distance(points, i, reference[ball]) <= squared[ball]
        found[i] = hits > 0
