generator, discriminator = new_networks()
torch.manual_seed(3)
discriminator.features = nn.Sequential(
    nn.Conv2d(1, 16, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Flatten(),
    nn.Dropout(0.3),
)  # fmt: skip
g_optimiser = torch.optim.Adam(generator.parameters(), lr=0.004, betas=(0.5, 0.999))
d_optimiser = torch.optim.Adam(discriminator.parameters(), lr=0.004, betas=(0.5, 0.999))
averaged = AveragedModel(generator, multi_avg_fn=get_ema_multi_avg_fn(0.99), use_buffers=True)
for _ in range(STEPS):
    chosen = torch.randint(len(pixels), (BATCH,)).numpy()
    real, digits = as_tensor(samples(pixels[chosen])), as_tensor(labels[chosen])
    inputs = generator_inputs(torch.randn(BATCH, LATENT, device=device), digits)
    train_step(generator, partial(discriminator, digits=digits), g_optimiser, d_optimiser, real, inputs)
    averaged.update_parameters(generator)


def trained():
    return layers_of(averaged.module)
