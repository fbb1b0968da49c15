"""Lab 15, mend the GAN: two losses, a training step that steps, real data, and a generator that draws digits."""

ORDER = ("judging", "fooling", "step", "samples", "generator")
