"""Chapter 21, adversarial networks: the game by hand, checks of a training, scores of images, and kernels."""

ORDER = (
    *("game", "fault", "gradients", "modes", "penalty"),
    *("size", "spread", "frechet", "inside", "keep", "hinge"),
)
