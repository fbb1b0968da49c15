def train_step(generator, discriminator, g_optimiser, d_optimiser, real, latents):
    with torch.no_grad():
        fake = generator(latents)
    d_optimiser.zero_grad()
    discriminator_loss(discriminator(real), discriminator(fake)).backward()
    d_optimiser.step()
    g_optimiser.zero_grad()
    generator_loss(discriminator(generator(latents))).backward()
    g_optimiser.step()


def recorded_step(images, latent, pixels):
    return recorded(train_step, images, latent, pixels)
