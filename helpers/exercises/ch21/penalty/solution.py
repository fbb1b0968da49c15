import numpy as np


def penalty(w, strength):
    norm = np.linalg.norm(w)
    value = strength * (norm - 1) ** 2
    direction = w / norm if norm > 0 else np.zeros_like(w)
    gradient = 2 * strength * (norm - 1) * direction
    return np.array([value, *gradient])
