# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "numpy() fails if the output requires grad, and after detach() the loss has no gradient"
# kind = "error"
# symptom = "numpy\\(\\) on Tensor that requires grad"
# messages = ["Can.{1,3}t call numpy\\(\\) on Tensor that requires grad"]
# elsewhere = ["Can.{1,3}t call numpy\\(\\) on Variable that requires grad"]
# origin = "design"
# reports = ["https://github.com/isayev/ReLeaSE/issues/39"]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html"]
# wrong = '''
# error = output.cpu().numpy() - y.cpu().numpy()
# loss = torch.tensor((error ** 2).mean())
# '''
# right = '''
# error = output - y
# loss = (error ** 2).mean()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""numpy() rejects a tensor that requires grad (docs: Tensor.numpy), because NumPy does not record a
graph. For a plot or a metric, detach().numpy() is right, as the message says.

For a loss, detach().numpy() is wrong: backward() rejects the loss (popular fix) or, with
requires_grad=True, leaves the gradient of every layer at None (isayev/ReLeaSE#39, where the
log-probabilities passed through NumPy). Compute the whole loss with torch (control).
"""

import torch


def by_numpy(output, y):
    error = output.cpu().numpy() - y.cpu().numpy()
    loss = torch.tensor((error**2).mean())
    return loss


def by_torch(output, y):
    error = output - y
    loss = (error**2).mean()
    return loss


def train(device, loss_of):
    layer = torch.nn.Linear(1, 1, bias=False).to(device)
    torch.nn.init.ones_(layer.weight)
    x, y = torch.ones(2, 1, device=device), torch.zeros(2, 1, device=device)
    try:
        loss_of(layer(x), y).backward()
    except RuntimeError as error:
        return str(error)
    if layer.weight.grad is None or layer.weight.grad.item() != 2:
        return "the gradient is not that of the mean square"


def reproduce(device):
    return train(device, by_numpy)


def control(device):
    return train(device, by_torch)


def popular_fix(device):
    return train(device, lambda output, y: by_numpy(output.detach(), y))


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
