def discriminator_loss(real_scores, fake_scores):
    log = torch.nn.functional.logsigmoid
    return -log(real_scores).mean() - log(-fake_scores).mean()


def judging(real_scores, fake_scores):
    return discriminator_loss(torch.tensor(real_scores), torch.tensor(fake_scores)).item()
