@cuda.jit
def grad_images(g, weights, dx):
    """Store the gradient with respect to the images in dx (n, c, h, w); g: (n, k, oh, ow), weights: (k, c, r, r)."""
    i, r = cuda.grid(1), weights.shape[2]
    column, row = i % dx.shape[3], i // dx.shape[3] % dx.shape[2]
    c, n = i // (dx.shape[2] * dx.shape[3]) % dx.shape[1], i // (dx.shape[1] * dx.shape[2] * dx.shape[3])
    if n < dx.shape[0]:
        total = np.float32(0)
        for a in range(r):
            for b in range(r):
                p, q = row - a, column - b
                if 0 <= p < g.shape[2] and 0 <= q < g.shape[3]:
                    for f in range(weights.shape[0]):
                        total += weights[f, c, a, b] * g[n, f, p, q]
        dx[n, c, row, column] = total
        ### END SOLUTION
