"""Right answers to lab06.roles by routes other than the solution's."""

KEY = "lab06.roles"

ROWS = [
    # which way, the solution cell
    (
        "one thread for both",
        """@cuda.jit
def roles(x, out, rounds):
    i = cuda.grid(1)
    if i >= x.size:
        return
    a = x[i]
    slow = a
    for _ in range(3 * rounds):
        slow = np.float32(0.75) * slow + np.float32(1)
    out[0, i] = slow
    fast = a
    for _ in range(rounds):
        fast = np.float32(0.5) * fast - a
    out[1, i] = fast
""",
    ),
    (
        "half of the grid for a role",
        """@cuda.jit
def roles(x, out, rounds):
    t = cuda.grid(1)
    half = cuda.gridsize(1) // 2
    role = 0 if t < half else 1
    i = t - role * half
    if i < x.size:
        v = x[i]
        if role == 0:
            for _ in range(3 * rounds):
                v = np.float32(0.75) * v + np.float32(1)
        else:
            for _ in range(rounds):
                v = np.float32(0.5) * v - x[i]
        out[role, i] = v
""",
    ),
    (
        "roles by quotient",
        """@cuda.jit
def roles(x, out, rounds):
    t = cuda.grid(1)
    n = x.size
    if t < 2 * n:
        role = t // n
        i = t % n
        v = x[i]
        if role == 0:
            for _ in range(3 * rounds):
                v = np.float32(0.75) * v + np.float32(1)
        else:
            for _ in range(rounds):
                v = np.float32(0.5) * v - x[i]
        out[role, i] = v
""",
    ),
    (
        "coefficients in place of a branch",
        """@cuda.jit
def roles(x, out, rounds):
    t = cuda.grid(1)
    w, lane = t // 32, t % 32
    role, i = w & 1, (w >> 1) * 32 + lane
    if i < x.size:
        v = x[i]
        a = np.float32(0.5) if role else np.float32(0.75)
        c = -v if role else np.float32(1)
        n = rounds if role else 3 * rounds
        for _ in range(n):
            v = a * v + c
        out[role, i] = v
""",
    ),
    (
        "both in one loop of 3 rounds with shared instructions",
        """@cuda.jit
def roles(x, out, rounds):
    i = cuda.grid(1)
    if i < x.size:
        a = b = x[i]
        for k in range(rounds):
            a = np.float32(0.75) * a + np.float32(1)
            a = np.float32(0.75) * a + np.float32(1)
            a = np.float32(0.75) * a + np.float32(1)
            b = np.float32(0.5) * b - x[i]
        out[0, i] = a
        out[1, i] = b
""",
    ),
    (
        "whole blocks for a role",
        """@cuda.jit
def roles(x, out, rounds):
    role = cuda.blockIdx.x % 2
    i = cuda.blockIdx.x // 2 * cuda.blockDim.x + cuda.threadIdx.x
    if i >= x.size:
        return
    v = x[i]
    if role == 0:
        for _ in range(3 * rounds):
            v = np.float32(0.75) * v + np.float32(1)
    else:
        for _ in range(rounds):
            v = np.float32(0.5) * v - x[i]
    out[role, i] = v
""",
    ),
]
