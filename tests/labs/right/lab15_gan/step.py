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
    (
        "one batch for the discriminator, gradients by torch.autograd.grad",
        """def train_step(generator, discriminator, g_optimiser, d_optimiser, real, latents):
    fake = generator(latents)
    scores = discriminator(torch.cat([real, fake.clone().detach()]))
    parameters = list(discriminator.parameters())
    loss = discriminator_loss(scores[: len(real)], scores[len(real) :])
    for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters)):
        parameter.grad = gradient
    d_optimiser.step()
    for parameter in parameters:
        parameter.requires_grad = False
    for parameter in generator.parameters():
        parameter.grad = None
    generator_loss(discriminator(fake)).backward()
    g_optimiser.step()
    for parameter in parameters:
        parameter.requires_grad = True
"""
        + GIVEN,
    ),
]
