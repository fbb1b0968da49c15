def train_step(generator, discriminator, g_optimiser, d_optimiser, real, latents):
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


def recorded_step(images, latent, pixels):
    return recorded(train_step, images, latent, pixels)
