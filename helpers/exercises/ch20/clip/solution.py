import math
import numpy as np

@cuda.jit
def clip(gradient, squares, limit, out):
    i = cuda.grid(1)
    if i < gradient.size:
        norm = math.sqrt(squares[0])
        factor = min(np.float32(1), limit / norm)
        out[i] = gradient[i] * factor
