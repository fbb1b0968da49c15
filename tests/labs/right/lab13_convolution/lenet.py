"""Right answers to lab13.lenet by routes other than the solution's."""

KEY = "lab13.lenet"

ROWS = [
    (
        "another loss function, labels by max",
        (
            (
                "cross_entropy(network(train_images[batch]), train_labels[batch])",
                "torch.nn.functional.nll_loss(network(train_images[batch]).log_softmax(1), train_labels[batch])",
            ),
            (
                "        return network(prepared(pixels)).argmax(1).cpu().numpy()",
                """        scores = network(prepared(pixels))
        return scores.argmax(dim=-1).cpu().numpy()""",
            ),
        ),
    ),
    (
        "gradients cleared at the end of a step",
        (
            (
                """        optimiser.zero_grad()
        loss.backward()
        optimiser.step()""",
                """        loss.backward()
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)""",
            ),
        ),
    ),
]
