def discriminator_loss(real_scores, fake_scores):
    return nn.functional.softplus(-real_scores).mean() + nn.functional.softplus(fake_scores).mean()


generator, discriminator = new_networks()
torch.manual_seed(7)
g_optimiser = torch.optim.Adam(generator.parameters(), lr=0.003, betas=(0.5, 0.999))
d_optimiser = torch.optim.Adam(discriminator.parameters(), lr=0.003, betas=(0.5, 0.999))
averaged = AveragedModel(generator, multi_avg_fn=get_ema_multi_avg_fn(0.99), use_buffers=True)
dice = np.random.default_rng(7)
for _ in range(STEPS):
    chosen = dice.choice(len(pixels), BATCH, replace=False)
    digits = torch.tensor(labels[chosen], device=device)
    real = torch.tensor(samples(pixels[chosen]), device=device)
    inputs = generator_inputs(torch.randn(BATCH, LATENT, device=device), digits)
    train_step(generator, lambda images: discriminator(images, digits), g_optimiser, d_optimiser, real, inputs)
    averaged.update_parameters(generator)


def trained():
    return layers_of(averaged.module)
