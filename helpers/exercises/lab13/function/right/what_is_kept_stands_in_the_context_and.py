class Convolution(torch.autograd.Function):
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


def gradients(images, weights, gradient):
    x, w = (torch.tensor(each, device=device, requires_grad=True) for each in (images, weights))
    y = Convolution.apply(x, w)
    y.backward(torch.tensor(gradient, device=device).expand(y.shape))
    return y.detach().cpu().numpy(), x.grad.cpu().numpy(), w.grad.cpu().numpy()
