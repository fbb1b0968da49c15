import numpy as np


def frechet(mean_a, covariance_a, mean_b, covariance_b):
    apart = np.square(mean_a - mean_b).sum()
    eigenvalues = np.linalg.eigvals(covariance_a @ covariance_b).real
    shared = np.sqrt(np.maximum(eigenvalues, 0)).sum()
    return apart + np.trace(covariance_a) + np.trace(covariance_b) - 2 * shared
