import numpy as np


def inside(points, reference, k):
    among = np.linalg.norm(reference[:, None] - reference[None], axis=2)
    radius = np.sort(among, axis=1)[:, k]
    distance = np.linalg.norm(points[:, None] - reference[None], axis=2)
    return (distance <= radius).any(axis=1).mean()
