import numpy as np
def coverage(points, modes, reach, least):
    apart = np.array(points)[:, None] - np.array(modes)[None]
    near = (apart**2).sum(axis=2) < reach**2
    return int((near.sum(axis=0) >= least).sum()), float(near.any(axis=1).mean())
