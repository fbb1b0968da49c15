import torch

def fake(x, residual, weight):
    rows, columns = x.shape
    wide = torch.promote_types(x.dtype, torch.float32)
    results = [torch.empty((rows, columns), dtype=x.dtype, device=x.device) for _ in range(2)]
    results.append(torch.empty(rows, dtype=wide, device=x.device))
    return tuple(results)
