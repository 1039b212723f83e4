import torch


def tries_half_after_emptying(step, batch):
    try:
        loss = step(batch)
    except RuntimeError:
        torch.cuda.empty_cache()
        loss = step(batch[::2])  # finds retry_inside_except
    return loss


def tries_on_the_cpu(step, batch):
    try:
        return step(batch, "cuda")
    except RuntimeError:
        torch.cuda.empty_cache()
        return step(batch, "cpu")


def tries_half(step, batch):
    try:
        return step(batch)
    except torch.cuda.OutOfMemoryError:
        return step(batch[::2])  # finds retry_inside_except
