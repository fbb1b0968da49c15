import torch

def fake(x, residual, weight):
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    h = x.new_empty(x.shape)
    y = x.new_empty(x.shape)
    r = x.new_empty(x.shape[0], dtype=wide)
    return h, y, r
