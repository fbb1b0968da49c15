def discriminator_loss(real_scores, fake_scores):
    return torch.nn.functional.softplus(-real_scores).mean() + torch.nn.functional.softplus(fake_scores).mean()


def judging(real_scores, fake_scores):
    return discriminator_loss(torch.tensor(real_scores), torch.tensor(fake_scores)).item()
