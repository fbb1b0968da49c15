def discriminator_loss(real_scores, fake_scores):
    return torch.nn.functional.softplus(-real_scores).mean() + torch.nn.functional.softplus(fake_scores).mean()


generator, discriminator = new_networks()

g_optimiser = torch.optim.Adam(generator.parameters(), lr=0.002, betas=(0.5, 0.999))
d_optimiser = torch.optim.Adam(discriminator.parameters(), lr=0.002, betas=(0.5, 0.999))

pixels = load_digits().images
for _ in range(STEPS):
    batch = torch.tensor(samples(pixels[torch.randint(len(pixels), (BATCH,)).numpy()]))
    train_step(generator, discriminator, g_optimiser, d_optimiser, batch, torch.randn(BATCH, LATENT))


def trained():
    return layers_of(generator)
