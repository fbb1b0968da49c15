"""Right answers to the exercises of chapter 23, by other routes than the solution."""

ROWS = [
    (
        "ch23.waits",
        "a sum of conditions",
        """def waits(operations):
    def waiting(kind, memory, asynchronous):
        copy = kind in {"H2D", "D2H"}
        return kind == "synchronise" or (copy and not (asynchronous and memory == "pinned"))

    return sum(waiting(*operation) for operation in operations)""",
    ),
    (
        "ch23.waits",
        "what does not wait is left out",
        (
            (
                """        elif kind in ("H2D", "D2H"):
            if memory == "pageable" or not asynchronous:
                count += 1
""",
                """            continue
        if kind.startswith("launch") or kind not in ("H2D", "D2H"):
            continue
        count += 0 if memory == "pinned" and asynchronous else 1
""",
            ),
        ),
    ),
    (
        "ch23.next_mend",
        "min over what is left",
        """def next_mend(step, suspects):
    left = {name: step - part * (1 - 1 / factor) for name, (part, factor) in suspects.items()}
    best = min(left, key=left.get, default=None)
    if best is None or left[best] >= step:
        return None, step
    return best, left[best]""",
    ),
    (
        "ch23.next_mend",
        "by the largest saving",
        """def next_mend(step, suspects):
    name, most = None, 0
    for suspect, (part, factor) in suspects.items():
        if part - part / factor > most:
            name, most = suspect, part - part / factor
    return name, step - most""",
    ),
    (
        "ch23.copied",
        "pixels and labels apart",
        (
            (
                """    to_gpu = batch * (pixels * pixel_bytes + label_bytes)
    back = 4 * parts / read_every""",
                """    to_gpu = batch * pixels * pixel_bytes
    to_gpu += label_bytes * batch
    back = parts * 4 / read_every""",
            ),
        ),
    ),
    (
        "ch23.copied",
        "bytes of one image first",
        """def copied(batch, parts, pixels, pixel_bytes, label_bytes, read_every):
    image = pixels * pixel_bytes + label_bytes
    losses = 4 * parts
    return image * batch, losses / read_every""",
    ),
    (
        "ch23.fused",
        "shuffles within a warp, then four partial sums",
        (
            (
                """    __shared__ float part[128];
""",
                """    __shared__ float part[4];
""",
            ),
            (
                """    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) bias[blockIdx.x] = part[0];""",
                """    for (int half = 16; half > 0; half /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, half);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) bias[blockIdx.x] = part[0] + part[1] + part[2] + part[3];""",
            ),
        ),
    ),
    (
        "ch23.fused",
        "images outside, pixels inside",
        (
            (
                """    for (int i = threadIdx.x; i < images * pixels; i += 128) {
        int at = (i / pixels * channels + blockIdx.x) * pixels + i % pixels;
""",
                """    int image = threadIdx.x / pixels, pixel = threadIdx.x % pixels;
    for (int i = threadIdx.x; i < images * pixels; i += 128, image = i / pixels, pixel = i % pixels) {
        int at = (image * channels + blockIdx.x) * pixels + pixel;
""",
            ),
        ),
    ),
    (
        "ch23.tiles",
        "shares of each direction",
        """import math


def tiles(positions, filters, depth):
    counts = [math.ceil(size / 16) for size in (positions, filters, depth)]
    shares = [size / (16 * count) for size, count in zip((positions, filters, depth), counts)]
    return math.prod(counts), math.prod(shares)""",
    ),
    (
        "ch23.tiles",
        "negative floor division",
        (
            (
                "((positions + 15) // 16) * ((filters + 15) // 16) * ((depth + 15) // 16)",
                "-(-positions // 16) * (-filters // 16) * (-depth // 16)",
            ),
        ),
    ),
    (
        "ch23.take_back",
        "what is kept stands in a list",
        """import math


def take_back(log, tolerance):
    kept = [log[0]]
    back = []
    for entry in log[1:]:
        name, seconds, loss = entry
        same = math.fabs(loss - kept[0][2]) <= tolerance * math.fabs(kept[0][2])
        (kept if same and seconds < kept[-1][1] else back).append(entry)
    return [name for name, _, _ in back]""",
    ),
    (
        "ch23.take_back",
        "two reasons apart",
        (
            (
                """        if abs(other - loss) > tolerance * abs(loss) or seconds >= best:
            names.append(name)
        else:
            best = seconds""",
                """        if abs(other - loss) > abs(tolerance * loss):
            names.append(name)
            continue
        if seconds < best:
            best = seconds
        else:
            names.append(name)""",
            ),
        ),
    ),
]
