"""Right answers to lab15.generator by routes other than the solution's."""

KEY = "lab15.generator"

TRAINING = """
pixels = load_digits().images
for _ in range(STEPS):
    batch = torch.tensor(samples(pixels[torch.randint(len(pixels), (BATCH,)).numpy()]))
    train_step(generator, discriminator, g_optimiser, d_optimiser, batch, torch.randn(BATCH, LATENT))


def trained():
    return layers_of(generator)
"""
OPTIMISERS = """
g_optimiser = torch.optim.Adam(generator.parameters(), lr=0.002, betas=(0.5, 0.999))
d_optimiser = torch.optim.Adam(discriminator.parameters(), lr=0.002, betas=(0.5, 0.999))
"""
CONVOLUTIONS = """
nn = torch.nn
_, discriminator = new_networks()
torch.manual_seed({seed})
generator = nn.Sequential(
    nn.Linear(LATENT, 64 * 4), nn.Unflatten(1, (64, 2, 2)), nn.BatchNorm2d(64), nn.ReLU(),
    nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.BatchNorm2d(32), nn.ReLU(),
    nn.ConvTranspose2d(32, 1, 4, 2, 1), nn.Flatten(), nn.Tanh(),
)
"""
NO_DROPOUT = """
torch.manual_seed({seed})
generator, _ = new_networks()
torch.manual_seed({seed})
nn = torch.nn
discriminator = nn.Sequential(
    nn.Linear(64, 128), nn.LeakyReLU(0.2), nn.Linear(128, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1)
)
"""

SOFTPLUS = """
def discriminator_loss(real_scores, fake_scores):
    return torch.nn.functional.softplus(-real_scores).mean() + torch.nn.functional.softplus(fake_scores).mean()


generator, discriminator = new_networks()
"""

ROWS = [
    # which way, the solution cell
    *(
        (f"{what}, seed {seed}", networks.format(seed=seed) + OPTIMISERS + TRAINING)
        for what, networks in (
            ("transposed convolutions", CONVOLUTIONS),
            ("a discriminator without dropout", NO_DROPOUT),
        )
        for seed in (1, 2)
    ),
    # Rounding takes this training elsewhere: some directions that real images hardly have vary much.
    ("the loss by softplus", SOFTPLUS + OPTIMISERS + TRAINING),
]
