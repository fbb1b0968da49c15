nn = torch.nn
_, discriminator = new_networks()
torch.manual_seed(2)
generator = nn.Sequential(
    nn.Linear(LATENT, 64 * 4), nn.Unflatten(1, (64, 2, 2)), nn.BatchNorm2d(64), nn.ReLU(),
    nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.BatchNorm2d(32), nn.ReLU(),
    nn.ConvTranspose2d(32, 1, 4, 2, 1), nn.Flatten(), nn.Tanh(),
)

g_optimiser = torch.optim.Adam(generator.parameters(), lr=0.002, betas=(0.5, 0.999))
d_optimiser = torch.optim.Adam(discriminator.parameters(), lr=0.002, betas=(0.5, 0.999))

pixels = load_digits().images
for _ in range(STEPS):
    batch = torch.tensor(samples(pixels[torch.randint(len(pixels), (BATCH,)).numpy()]))
    train_step(generator, discriminator, g_optimiser, d_optimiser, batch, torch.randn(BATCH, LATENT))


def trained():
    return layers_of(generator)
