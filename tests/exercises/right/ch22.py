"""Right answers to the exercises of chapter 22, by other routes than the solution."""

ROWS = [
    (
        "ch22.chunk",
        "ranks added before the remainder",
        (
            (
                """    sent = (rank - step) % ranks
    added = (rank - step - 1) % ranks
    return sent, added""",
                """    sent = (rank + ranks - step % ranks) % ranks
    return sent, (sent + ranks - 1) % ranks""",
            ),
        ),
    ),
    (
        "ch22.chunk",
        "step by step",
        """def chunks(rank, step, ranks):
    sent = rank
    for _ in range(step):
        sent = sent - 1 if sent else ranks - 1
    return sent, (sent - 1) % ranks""",
    ),
    (
        "ch22.ring_bytes",
        "all chunks but one, twice",
        """def ring_bytes(elements, ranks, rank):
    base, more = divmod(elements, ranks)
    sizes = [base + 1] * more + [base] * (ranks - more)
    scatter = sum(size for chunk, size in enumerate(sizes) if chunk != (rank + 1) % ranks)
    gather = sum(size for chunk, size in enumerate(sizes) if chunk != (rank + 2) % ranks)
    return 4 * (scatter + gather)""",
    ),
    (
        "ch22.ring_bytes",
        "one loop over both halves",
        (
            (
                """    for step in range(ranks - 1):
        total += sizes[(rank - step) % ranks]
        total += sizes[(rank + 1 - step) % ranks]
""",
                """    for begin in (rank, rank + 1):
        total += sum(sizes[(begin - step) % ranks] for step in range(ranks - 1))
""",
            ),
        ),
    ),
    (
        "ch22.average",
        "weights first",
        (
            (
                """    total = sum(size * gradient for size, gradient in zip(sizes, gradients))
    return total / sum(sizes)""",
                """    whole = sum(sizes)
    return sum(gradient * (size / whole) for size, gradient in zip(sizes, gradients))""",
            ),
        ),
    ),
    (
        "ch22.average",
        "np.average",
        """import numpy as np


def whole_gradient(gradients, sizes):
    return np.average(np.asarray(gradients), axis=0, weights=sizes)""",
    ),
    (
        "ch22.shard",
        "rows counted",
        """def shard(rows, ranks, rank):
    length = -(-rows // ranks)
    mine = [row for row in range(rank * length, (rank + 1) * length) if row < rows]
    first = mine[0] if mine else rows
    return first, first + len(mine), length - len(mine)""",
    ),
    (
        "ch22.shard",
        "bounds cut at both ends",
        (
            (
                """    first = min(rank * length, rows)
    last = min(first + length, rows)
    padding = length - (last - first)""",
                """    first, last = (min(edge * length, rows) for edge in (rank, rank + 1))
    padding = length - last + first""",
            ),
        ),
    ),
    (
        "ch22.split_mlp",
        "np.split",
        """import numpy as np


def partial_outputs(x, w1, b1, w2, b2, ranks):
    columns, biases, rows = np.split(w1, ranks, 1), np.split(b1, ranks), np.split(w2, ranks)
    out = np.stack([np.maximum(x @ w + b, 0) @ v for w, b, v in zip(columns, biases, rows)])
    out[0] += b2
    return out""",
    ),
    (
        "ch22.split_mlp",
        "the hidden layer whole, then cut",
        """import numpy as np


def partial_outputs(x, w1, b1, w2, b2, ranks):
    hidden = np.clip(x @ w1 + b1, 0, None)
    part = hidden.shape[1] // ranks
    out = []
    for rank in range(ranks):
        mine = slice(rank * part, (rank + 1) * part)
        out.append(hidden[:, mine] @ w2[mine] + (b2 if rank == 0 else 0))
    return np.array(out)""",
    ),
    (
        "ch22.one_by_one",
        "a queue of what is forward",
        """def order(stage, stages, micro_batches):
    forward = [f"F{part}" for part in range(micro_batches)]
    backward = [f"B{part}" for part in range(micro_batches)]
    ahead = min(stages - stage - 1, micro_batches)
    work, forward = forward[:ahead], forward[ahead:]
    while backward:
        if forward:
            work.append(forward.pop(0))
        work.append(backward.pop(0))
    return work""",
    ),
    (
        "ch22.one_by_one",
        "as many forward as the stage may hold",
        """def order(stage, stages, micro_batches):
    work, forward, backward = [], 0, 0
    while backward < micro_batches:
        if forward < micro_batches and forward - backward < stages - stage:
            work.append(f"F{forward}")
            forward += 1
        else:
            work.append(f"B{backward}")
            backward += 1
    return work""",
    ),
    (
        "ch22.waiting",
        "np.add.reduceat",
        """import numpy as np


def waits(work, every):
    groups = np.add.reduceat(work, np.arange(0, len(work), every), axis=0)
    return (groups.max(1, keepdims=True) - groups).sum(0)""",
    ),
    (
        "ch22.waiting",
        "plain loops",
        """import numpy as np


def waits(work, every):
    steps, ranks = work.shape
    waited, since = [0.0] * ranks, [0.0] * ranks
    for step in range(steps):
        since = [so_far + work[step, rank] for rank, so_far in enumerate(since)]
        if (step + 1) % every == 0 or step + 1 == steps:
            last = max(since)
            waited = [all_ + last - own for all_, own in zip(waited, since)]
            since = [0.0] * ranks
    return np.array(waited)""",
    ),
    (
        "ch22.efficiency",
        "the share that is not waiting",
        (
            (
                """    computing = seconds
    if strong:
        computing = seconds / ranks
    return computing / (computing + ring)""",
                """    computing = seconds / (ranks if strong else 1)
    return 1 / (1 + ring / computing)""",
            ),
        ),
    ),
    (
        "ch22.efficiency",
        "steps of the ring summed",
        (
            (
                "    ring = 2 * (ranks - 1) * (latency + nbytes / ranks / bandwidth)",
                "    ring = sum(latency + nbytes / (ranks * bandwidth) for _ in range(2 * ranks - 2))",
            ),
        ),
    ),
]
