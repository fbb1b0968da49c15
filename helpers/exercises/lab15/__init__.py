"""Lab 15, fix the GAN: two losses, a training step, real images, and a generator that draws digits."""

ORDER = ("judging", "fooling", "step", "samples", "generator")
