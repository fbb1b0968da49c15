"""Chapter 21, adversarial networks: checks of a training, and kernels that it needs."""

ORDER = ("fault", "modes", "size", "spread", "hinge")
