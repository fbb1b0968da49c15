"""Right answers to lab15.step by routes other than the solution's."""

KEY = "lab15.step"

GIVEN = """

def recorded_step(images, latent, pixels):
    return recorded(train_step, images, latent, pixels)
"""

ROWS = [
    # which way, the solution cell
    (
        "drawn twice, the first time without a graph",
        """def train_step(generator, discriminator, g_optimiser, d_optimiser, real, latents):
    with torch.no_grad():
        fake = generator(latents)
    d_optimiser.zero_grad()
    discriminator_loss(discriminator(real), discriminator(fake)).backward()
    d_optimiser.step()
    g_optimiser.zero_grad()
    generator_loss(discriminator(generator(latents))).backward()
    g_optimiser.step()
"""
        + GIVEN,
    ),
    (
        "the discriminator is frozen in the generator's step",
        """def train_step(generator, discriminator, g_optimiser, d_optimiser, real, latents):
    fake = generator(latents)
    d_optimiser.zero_grad(set_to_none=False)
    discriminator_loss(discriminator(real), discriminator(fake.detach())).backward()
    d_optimiser.step()
    discriminator.requires_grad_(False)
    g_optimiser.zero_grad()
    generator_loss(discriminator(fake)).backward()
    g_optimiser.step()
    discriminator.requires_grad_(True)
"""
        + GIVEN,
    ),
]
