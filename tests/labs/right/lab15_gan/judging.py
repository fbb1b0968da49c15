"""Right answers to lab15.judging by routes other than the solution's."""

KEY = "lab15.judging"

GIVEN = """

def judging(real_scores, fake_scores):
    return discriminator_loss(torch.tensor(real_scores), torch.tensor(fake_scores)).item()
"""

ROWS = [
    # which way, the solution cell
    (
        "softplus",
        """def discriminator_loss(real_scores, fake_scores):
    return torch.nn.functional.softplus(-real_scores).mean() + torch.nn.functional.softplus(fake_scores).mean()
"""
        + GIVEN,
    ),
    (
        "the logarithm of the sigmoid in one piece",
        """def discriminator_loss(real_scores, fake_scores):
    log = torch.nn.functional.logsigmoid
    return -log(real_scores).mean() - log(-fake_scores).mean()
"""
        + GIVEN,
    ),
]
