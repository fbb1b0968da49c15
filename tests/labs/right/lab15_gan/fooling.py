"""Right answers to lab15.fooling by routes other than the solution's."""

KEY = "lab15.fooling"

ROWS = [
    (
        "softplus of the negative scores",
        (
            (
                "    return binary_cross_entropy_with_logits(fake_scores, torch.ones_like(fake_scores))",
                "    return torch.nn.functional.softplus(-fake_scores).mean()",
            ),
        ),
    ),
    (
        "minus the mean of logsigmoid",
        (
            (
                "    return binary_cross_entropy_with_logits(fake_scores, torch.ones_like(fake_scores))",
                "    return -torch.nn.functional.logsigmoid(fake_scores).mean()",
            ),
        ),
    ),
]
