# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "loss[0] or loss.data[0] fails, because a loss is a tensor without dimensions"
# kind = "error"
# symptom = "invalid index of a 0-dim tensor"
# messages = ["invalid index of a 0-dim tensor"]
# elsewhere = ["\\.numpy\\(\\)\\[\\d{1,9}\\].{0,40}?too many indices for array"]
# origin = "design"
# reports = [
#     "https://github.com/foolwood/pytorch-slimming/issues/12",
#     "https://github.com/higgsfield/np-hard-deep-reinforcement-learning/issues/5",
#     "https://github.com/xbresson/spectral_graph_convnets/issues/6",
#     "https://github.com/pytorch/pytorch/issues/15585",
# ]
# documents = [
#     "https://pytorch.org/blog/pytorch-0_4_0-migration-guide/",
#     "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.item.html",
# ]
# wrong = '''
# total += loss.data[0]
# '''
# right = '''
# total += loss.item()
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A training script for an old release of torch fails at the line that logs the loss
(foolwood/pytorch-slimming#12).

Since torch 0.4, a loss has no dimensions (PyTorch 0.4.0 Migration Guide), so it has no element 0
(ATen/TensorIndexing.h). Calling item() returns its value as a Python number. The accuracies of
older scripts, such as prec1[0], fail in the same way (pytorch#15585).

If the indexed tensor should be a batch of outputs, item() only hides the mistake. In that case,
look for a squeeze() that removes the batch dimension of a single sample.
"""

import torch


def by_index(total, loss):
    total += loss.data[0]
    return total


def by_item(total, loss):
    total += loss.item()
    return total


def train(device, add):
    layer = torch.nn.Linear(1, 1, bias=False).to(device)
    torch.nn.init.ones_(layer.weight)
    total = 0.0
    try:
        for value in (1.0, 2.0, 3.0):
            x = torch.full((4, 1), value, device=device)
            loss = torch.nn.functional.mse_loss(layer(x), 0 * x)
            loss.backward()
            total = add(total, loss)
    except IndexError as error:
        return str(error)
    if total != 14 or layer.weight.grad.item() != 28:
        return f"the sum of the losses is {total}"


def reproduce(device):
    return train(device, by_index)


def control(device):
    return train(device, by_item)


def messages(device):
    try:
        return torch.ones(1, device=device).squeeze()[0]
    except IndexError as error:
        return str(error)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
