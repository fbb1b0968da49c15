torch.manual_seed(2)
generator, _ = new_networks()
torch.manual_seed(2)
nn = torch.nn
discriminator = nn.Sequential(
    nn.Linear(64, 128), nn.LeakyReLU(0.2), nn.Linear(128, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1)
)

g_optimiser = torch.optim.Adam(generator.parameters(), lr=0.002, betas=(0.5, 0.999))
d_optimiser = torch.optim.Adam(discriminator.parameters(), lr=0.002, betas=(0.5, 0.999))

pixels = load_digits().images
for _ in range(STEPS):
    batch = torch.tensor(samples(pixels[torch.randint(len(pixels), (BATCH,)).numpy()]))
    train_step(generator, discriminator, g_optimiser, d_optimiser, batch, torch.randn(BATCH, LATENT))


def trained():
    return layers_of(generator)
