"""The autograd function that ties three kernels together: its result and both gradients, by their own launches."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, numbers
from helpers.exercises.lab13 import shared

SIZES = ((1, 1, 1, 1, 1, 1), (1, 1, 3, 3, 1, 3), (2, 3, 5, 7, 4, 3), (3, 2, 8, 9, 5, 5))
EXPANDED = (2, 2, 5, 6, 3, 2)
RETURN = "return by_x, by_w"


def _case(n: int, c: int, h: int, w: int, k: int, r: int, seed: int = 1, one: bool = False) -> Case:
    x, f = numbers((n, c, h, w), seed), numbers((k, c, r, r), seed + 1)
    g = numbers((1, 1, 1, 1) if one else (n, k, h - r + 1, w - r + 1), seed + 2)
    full = np.broadcast_to(g, (n, k, h - r + 1, w - r + 1))
    wanted = tuple(
        np.ascontiguousarray(each, np.float32)
        for each in (shared.convolved(x, f), shared.by_images(full, f), shared.by_weights(x, full, r))
    )
    called = shared.name(n, c, h, w, k, r) + (", one gradient for all" if one else "")
    return Case(called, (x, f, g), expected=wanted)


def _drawn(dice: np.random.Generator) -> list[Case]:
    first, second, _ = shared.sizes(dice, (2, 3))
    return [_case(*first), _case(*second), _case(*second[:-1], second[-1] + 1, one=True)]


EXERCISE = Exercise(
    key="lab13.function",
    title="an autograd function of your own",
    language="tensors",
    name="gradients",
    cases=lambda: [*(_case(*size) for size in SIZES), _case(*EXPANDED, one=True)],
    drawn=_drawn,
    hints=(
        "What does backward need that only forward has seen? context.save_for_backward keeps tensors, and "
        "context.saved_tensors gives them back in their order.",
        "backward returns one gradient for each argument of forward, in their order, each of its argument's shape.",
        "y.sum() hands backward a single number that is spread over a shape with strides of 0. Kernels want memory "
        "without gaps: gradient.contiguous() makes it so.",
    ),
    why="Autograd does not look into a function. It keeps what forward asks it to keep, hands backward the gradient "
    "with respect to the result, and takes back one gradient for each argument. So a kernel is part of a network as "
    "soon as you can write down its two halves. The price of the saved tensors is memory that lives until the backward "
    "pass: that is why training needs so much more memory than inference.",
    stretch="the first layer's images need no gradient: context.needs_input_grad says so. How many launches does an "
    "epoch save?",
    mistakes=(
        Mistake(
            "the gradients are swapped",
            "backward returns gradients in the order of forward's arguments: first with respect to the "
            "images, then with respect to the weights.",
            ((RETURN, "return by_w, by_x"),),
        ),
        Mistake(
            "no gradient with respect to the weights",
            "Zeros say that nothing depends on the weights: then they would never learn.",
            ((RETURN, "return by_x, 0 * by_w"),),
        ),
        Mistake(
            "no gradient with respect to the images",
            "Zeros say that nothing depends on the images: then layers before this one would never learn.",
            ((RETURN, "return 0 * by_x, by_w"),),
        ),
        Mistake(
            "a gradient is None",
            "None says that an argument needs no gradient, so autograd leaves its grad as None, too. Both arguments "
            "need one.",
            ((RETURN, "return by_x, None"), (RETURN, "return None, by_w")),
        ),
        Mistake(
            "one gradient too few",
            "backward returns one gradient for each argument of forward, and forward has two.",
            ((RETURN, "return by_x"), (RETURN, "return by_w")),
        ),
        Mistake(
            "the gradient from above is not used",
            "Whatever follows in the network has its say: both gradients are of the gradient that backward is given. "
            "Ones in its place are right for y.sum() alone.",
            (("gradient = gradient.contiguous()", "gradient = torch.ones_like(gradient).contiguous()"),),
        ),
        Mistake(
            "a gradient whose memory has gaps",
            "y.sum() hands back one number that stands for all, with strides of 0. A kernel that counts elements "
            "from a pointer reads past the end of it: make the gradient contiguous first.",
            (("gradient = gradient.contiguous()", "gradient = gradient.detach()"),),
        ),
        Mistake(
            "the mean over the batch",
            "The gradient is a sum over images. If the loss is a mean, the gradient from above holds that factor "
            "already.",
            (((RETURN, "return by_x, by_w / len(images)")),),
        ),
        Mistake(
            "PyTorch or NumPy computes it",
            "The result and both gradients must come from your three kernels. convolve, gradient_by_images and "
            "gradient_by_weights launch them. What NumPy computes from a tensor can't be followed, and is taken for a "
            "constant.",
            (
                ("return convolve(images, weights)", "return torch.nn.functional.conv2d(images, weights)"),
                (RETURN, "return by_x, torch.nn.grad.conv2d_weight(images, weights.shape, gradient)"),
                (
                    "return convolve(images, weights)",
                    "windows = np.lib.stride_tricks.sliding_window_view(images.numpy(), weights.shape[2:], (2, 3))\n"
                    "        return torch.from_numpy(np.einsum('ncpqab,kcab->nkpq', windows, weights.numpy()))",
                ),
            ),
        ),
        Mistake(
            "forward returns something else",
            "What forward returns is the result of the layer; an activation is a layer of its own, with a gradient "
            "of its own.",
            (("return convolve(images, weights)", "return torch.relu(convolve(images, weights))"),
             ("return convolve(images, weights)", "return images")),
        ),
    ),
)  # fmt: skip
