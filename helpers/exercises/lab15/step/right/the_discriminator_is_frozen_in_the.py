def train_step(generator, discriminator, g_optimiser, d_optimiser, real, latents):
    fake = generator(latents)
    d_optimiser.zero_grad(set_to_none=False)
    discriminator_loss(discriminator(real), discriminator(fake.detach())).backward()
    d_optimiser.step()
    discriminator.requires_grad_(False)
    g_optimiser.zero_grad()
    generator_loss(discriminator(fake)).backward()
    g_optimiser.step()
    discriminator.requires_grad_(True)


def recorded_step(images, latent, pixels):
    return recorded(train_step, images, latent, pixels)
