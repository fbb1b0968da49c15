import numpy as np


def waits(work, every):
    steps, ranks = work.shape
    waited, since = [0.0] * ranks, [0.0] * ranks
    for step in range(steps):
        since = [so_far + work[step, rank] for rank, so_far in enumerate(since)]
        if (step + 1) % every == 0 or step + 1 == steps:
            last = max(since)
            waited = [all_ + last - own for all_, own in zip(waited, since)]
            since = [0.0] * ranks
    return np.array(waited)
