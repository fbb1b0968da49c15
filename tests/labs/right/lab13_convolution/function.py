"""Right answers to lab13.function by routes other than the solution's."""

KEY = "lab13.function"

GIVEN = """

def gradients(images, weights, gradient):
    x, w = (torch.tensor(each, device=device, requires_grad=True) for each in (images, weights))
    y = Convolution.apply(x, w)
    y.backward(torch.tensor(gradient, device=device).expand(y.shape))
    return y.detach().cpu().numpy(), x.grad.cpu().numpy(), w.grad.cpu().numpy()
"""

ROWS = [
    # which way, the solution cell
    (
        "what is kept stands in the context, and only gradients that are needed are found",
        """class Convolution(torch.autograd.Function):
    @staticmethod
    def forward(context, images, weights):
        context.images, context.weights = images.detach(), weights.detach()
        return convolve(images, weights)

    @staticmethod
    def backward(context, gradient):
        g = gradient.clone(memory_format=torch.contiguous_format)
        needs = context.needs_input_grad
        return (
            gradient_by_images(g, context.weights, context.images.shape) if needs[0] else None,
            gradient_by_weights(context.images, g, context.weights.shape) if needs[1] else None,
        )
"""
        + GIVEN,
    ),
    (
        "the gradient copied before it is used",
        (
            (
                """        gradient = gradient.contiguous()  # one number for all has strides of 0, and kernels know no strides
""",
                """        gradient = gradient.clone(memory_format=torch.contiguous_format)
""",
            ),
        ),
    ),
    (
        "only what is needed",
        (
            (
                """        by_x = gradient_by_images(gradient, weights, images.shape)
        by_w = gradient_by_weights(images, gradient, weights.shape)
        return by_x, by_w""",
                """        needs_x, needs_w = context.needs_input_grad
        by_x = gradient_by_images(gradient, weights, images.shape) if needs_x else None
        by_w = gradient_by_weights(images, gradient, weights.shape) if needs_w else None
        return by_x, by_w""",
            ),
        ),
    ),
    (
        "the gradient with respect to the images by the forward kernel: padded, under flipped filters",
        (
            (
                """        by_x = gradient_by_images(gradient, weights, images.shape)
""",
                """        edge = weights.shape[2] - 1
        padded = torch.nn.functional.pad(gradient, (edge,) * 4)
        by_x = convolve(padded, weights.flip(2, 3).transpose(0, 1).contiguous())
""",
            ),
        ),
    ),
]
