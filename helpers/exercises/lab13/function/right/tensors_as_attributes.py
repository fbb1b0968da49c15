class Convolution(torch.autograd.Function):
    @staticmethod
    def forward(ctx, images, weights):
        ctx.images, ctx.weights = images.detach(), weights.detach()
        return convolve(images, weights)

    @staticmethod
    def backward(ctx, grad_output):
        g = grad_output.clone(memory_format=torch.contiguous_format)
        needs = ctx.needs_input_grad
        return (
            images_gradient(g, ctx.weights, ctx.images.shape) if needs[0] else None,
            weights_gradient(ctx.images, g, ctx.weights.shape) if needs[1] else None,
        )


def gradients(images, weights, gradient):
    x, w = (torch.tensor(each, device=device, requires_grad=True) for each in (images, weights))
    y = Convolution.apply(x, w)
    y.backward(torch.tensor(gradient, device=device).expand(y.shape))
    return y.detach().cpu().numpy(), x.grad.cpu().numpy(), w.grad.cpu().numpy()
