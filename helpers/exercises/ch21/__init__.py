"""Chapter 21, adversarial networks: the game by hand, checks of a training, and kernels that it needs."""

ORDER = ("game", "fault", "slopes", "modes", "size", "spread", "keep", "hinge")
