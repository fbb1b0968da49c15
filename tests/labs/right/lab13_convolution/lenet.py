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
    (
        "inference mode, in batches, labels by max",
        (
            (
                """    with torch.no_grad():
        return network(prepared(pixels)).argmax(1).cpu().numpy()""",
                """    batches = [some for some in np.array_split(pixels, 4) if len(some)]
    with torch.inference_mode():
        found = [network(prepared(some)).softmax(1).max(dim=1).indices for some in batches]
        return torch.cat(found).cpu().numpy()""",
            ),
        ),
    ),
]
