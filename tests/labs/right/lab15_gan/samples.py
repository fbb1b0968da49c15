"""Right answers to lab15.samples by routes other than the solution's."""

KEY = "lab15.samples"

ROWS = [
    (
        "halves of the range",
        (
            (
                "    return np.float32(pixels.reshape(len(pixels), 64) / 8 - 1)",
                """    rows = pixels.reshape(-1, 64).astype(np.float32)
    return (rows - 8) / 8""",
            ),
        ),
    ),
    (
        "a sixteenth, doubled",
        (
            (
                "    return np.float32(pixels.reshape(len(pixels), 64) / 8 - 1)",
                "    return (2 * pixels.reshape(len(pixels), -1) / 16 - 1).astype('float32')",
            ),
        ),
    ),
]
