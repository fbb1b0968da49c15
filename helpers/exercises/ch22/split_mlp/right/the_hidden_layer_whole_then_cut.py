import numpy as np


def partial_outputs(x, w1, b1, w2, b2, ranks):
    hidden = np.clip(x @ w1 + b1, 0, None)
    part = hidden.shape[1] // ranks
    out = []
    for rank in range(ranks):
        mine = slice(rank * part, (rank + 1) * part)
        out.append(hidden[:, mine] @ w2[mine] + (b2 if rank == 0 else 0))
    return np.array(out)
